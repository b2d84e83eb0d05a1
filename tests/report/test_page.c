/* The page: whatever text comes into it stays text, and its parts hold the figures of the structs.
 */
#include "printed.h"

#include <math.h>

#include "report/page/html.h"
#include "report/profile/profile_report.h"

static void assert_html(const char *text, const char *expected)
{
    gf_html(print_begin(), "<b title=\"%s\">", text);
    char *const page = print_end();
    char whole[400];
    snprintf(whole, sizeof whole, "<b title=\"%s\">", expected);
    assert_string_equal(page, whole);
    free(page);
}

static void test_text_stays_text(void **state)
{
    assert_html("plain", "plain");
    assert_html("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;");
    assert_html("\"' onload=x & &lt;", "&quot;&#39; onload=x &amp; &amp;lt;");
    assert_html("\xc3\xa4\xe2\x82\xac", "\xc3\xa4\xe2\x82\xac");
    assert_html("a\xff\xc3", "a\xef\xbf\xbd\xef\xbf\xbd");       /* not UTF-8 */
    assert_html("\x1b[31m\x7f", "\xef\xbf\xbd[31m\xef\xbf\xbd"); /* controls */
    assert_html("\xe2\x80\xae.gnp", "\xef\xbf\xbd.gnp");         /* turns the text around */
    assert_html("two\nlines", "two lines");
    assert_html("%s%n%d", "%s%n%d");
    assert_html("?", "?");
}

static void test_conversions(void **state)
{
    FILE *const file = print_begin();
    gf_html(file, "%d|%5.1f|%.*f|%zu|%g|%%|%s|%x", -3, 2.25, 3, 0.5, (size_t)7, 1e-9, "<", 255u);
    char *const page = print_end();
    assert_string_equal(page, "-3|  2.2|0.500|7|1e-09|%|&lt;|ff");
    free(page);
}

static void test_base64(void **state)
{
    static const char *const cases[][2] = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"\xff\xfe\xfd\xfc", "//79/A=="}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *const file = print_begin();
        gf_html_base64(file, cases[i][0], strlen(cases[i][0]));
        char *const page = print_end();
        assert_string_equal(page, cases[i][1]);
        free(page);
    }
}

static void test_frame(void **state)
{
    FILE *const file = print_begin();
    gf_html_begin(file, "</title><script>", "");
    gf_html_end(file);
    char *const page = print_end();
    assert_int_equal(strncmp(page, "<!doctype html>", 15), 0);
    assert_int_equal(count_of(page, "&lt;/title&gt;&lt;script&gt;"), 2);
    assert_int_equal(count_of(page, "<script"), 1);
    assert_int_equal(count_of(page, "{title}") + count_of(page, "{body}"), 0);
    assert_non_null(strstr(page, "</html>"));
    free(page);
}

/* ---- a run ---- */

enum { SPANS = 20000 };
static struct gf_span span[SPANS];
static const struct gf_profile_stage stage[] = {{"blur", 0}};

/* Spans of 1 ms on two lanes, one after the other. */
static struct gf_profile profile_of(int spans)
{
    for (int i = 0; i < spans; i++)
        span[i] = (struct gf_span){GF_SPAN_STAGE, 0, i % 2, i * 1e-3, (i + 1) * 1e-3, 1000};
    return (struct gf_profile){.spans = span,
                               .span_count = (size_t)spans,
                               .stages = stage,
                               .stage_count = 1,
                               .wall_s = spans * 1e-3,
                               .device = "<b>GPU</b>",
                               .reason = "asked for",
                               .lanes = 2,
                               .segments = 1,
                               .band_rows = 16,
                               .in = {640, 480, 3, 8},
                               .out = {640, 480, 3, 8},
                               .device_copy_peak = 4e6};
}

static char *page_of(const struct gf_profile *profile)
{
    struct gf_profile_report report;
    struct gf_error error = {0};
    assert_int_equal(gf_profile_report_make(profile, &report, &error), GF_OK);
    assert_int_equal(gf_profile_html(print_begin(), &report, profile, "run", "A run", &error),
                     GF_OK);
    char *const page = print_end();
    gf_profile_report_free(&report);
    return page;
}

static void test_run(void **state)
{
    const struct gf_profile profile = profile_of(10);
    char *const page = page_of(&profile);
    assert_int_equal(count_of(page, "<rect "), 10);
    assert_non_null(strstr(page, "<title>blur: 1.000 ms at 3.000 ms, 1.0 kB</title>"));
    assert_non_null(strstr(page, "<li>lane 0</li><li>lane 1</li>"));
    assert_non_null(strstr(page, "10.0 ms"));
    assert_non_null(strstr(page, "<strong>blur</strong> bounds the run: it is busy for 100%"));
    assert_non_null(strstr(page, "25.0%")); /* of the peak: 1 MB/s */
    assert_non_null(strstr(page, "&lt;b&gt;GPU&lt;/b&gt;"));
    assert_null(strstr(page, "<b>GPU"));
    free(page);
}

/* So many spans that they are joined: the page stays small, and says so. */
static void test_many_spans(void **state)
{
    const struct gf_profile profile = profile_of(SPANS);
    char *const page = page_of(&profile);
    assert_in_range(count_of(page, "<rect "), 2, 2400);
    assert_non_null(strstr(page, "20000 spans are drawn as "));
    assert_in_range(strlen(page), 1000, 400000);
    free(page);
}

static void test_nothing(void **state)
{
    const struct gf_profile profile = {.device = "cpu, 1 thread"};
    char *const page = page_of(&profile);
    assert_null(strstr(page, "<svg"));
    assert_null(strstr(page, "bounds the run"));
    assert_null(strstr(page, "nan"));
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_stays_text),
        cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_frame),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_many_spans),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
