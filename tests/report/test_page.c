/* The page: no text of its data can end a script, and the parts hold what the structs hold. What
 * the script draws of them is tested by tests/page.sh. */
#include "printed.h"

#include <math.h>

#include "report/page/page.h"
#include "report/profile/profile_report.h"

static struct gf_page page;

static FILE *page_begin(const char *kind, const char *name)
{
    struct gf_error error = {0};
    assert_int_equal(gf_page_begin(&page, print_begin(), "A title", "", &error), GF_OK);
    return gf_page_part(&page, kind, name);
}

static char *page_end(void)
{
    gf_page_end(&page);
    return print_end();
}

/* Reads the data of the only part of this kind. */
static struct gf_json_tree data_of(const char *text, const char *kind)
{
    struct gf_json_tree tree;
    struct gf_error error = {0};
    char begin[100];
    snprintf(begin, sizeof begin, "<script type=\"application/json\">{\"kind\":\"%s\",", kind);
    assert_int_equal(count_of(text, begin), 1);
    const char *const at = strchr(strstr(text, begin), '{');
    if (gf_json_read(kind, 1, at, (size_t)(strstr(at, "</script>") - at), &tree, &error))
        fail_msg("%s", error.text);
    return tree;
}

static const struct gf_json_value *data(const struct gf_json_tree *tree)
{
    return gf_json_member(tree->value, "data");
}

static void test_text_stays_text(void **state)
{
    static const char hostile[] =
        "</script><script>alert(1)</script><!-- <b \"' & \xff\x1b[31m\xe2\x80\xa8";
    struct gf_json json = gf_json_begin(page_begin("labs", hostile));
    gf_json_string(&json, NULL, hostile);
    char *const text = page_end();
    assert_int_equal(count_of(text, "<script"), 3); /* two parts and the page's own */
    assert_int_equal(count_of(text, "</script"), 3);
    assert_null(strstr(text, "<!--"));
    assert_int_equal(count_of(text, "\\u003c/script>\\u003cscript>alert"), 2);
    struct gf_json_tree tree = data_of(text, "labs");
    assert_string_equal(gf_json_text_of(tree.value, "name"), hostile);
    assert_string_equal(data(&tree)->text, hostile);
    gf_json_tree_free(&tree);
    free(text);
}

/* The escape of < holds wherever the stream's buffer ends. */
static void test_long_text(void **state)
{
    char *const hostile = malloc(100001);
    memset(hostile, '<', 100000);
    hostile[100000] = '\0';
    struct gf_json json = gf_json_begin(page_begin("labs", ""));
    gf_json_string(&json, NULL, hostile);
    char *const text = page_end();
    struct gf_json_tree tree = data_of(text, "labs");
    assert_string_equal(data(&tree)->text, hostile);
    gf_json_tree_free(&tree);
    free(hostile);
    free(text);
}

static void test_frame(void **state)
{
    fputs("1", page_begin("run", "a name"));
    char *const text = page_end();
    assert_int_equal(strncmp(text, "<!doctype html>", 15), 0);
    assert_int_equal(
        count_of(text, "{style}") + count_of(text, "{data}") + count_of(text, "{script}"), 0);
    assert_non_null(strstr(text, "<noscript>"));
    assert_non_null(strstr(text, "</html>"));
    struct gf_json_tree head = data_of(text, "page"), run = data_of(text, "run");
    assert_string_equal(gf_json_text_of(data(&head), "title"), "A title");
    assert_string_equal(gf_json_text_of(run.value, "name"), "a name");
    assert_true(data(&run)->number == 1);
    gf_json_tree_free(&head);
    gf_json_tree_free(&run);
    free(text);
}

static struct gf_page_picture picture_of(const char *bytes)
{
    return (struct gf_page_picture){strdup(bytes), strlen(bytes)};
}

static void test_pictures(void **state)
{
    static const char *const cases[][2] = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"\xff\xfe\xfd\xfc", "//79/A=="}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gf_page_picture before = picture_of(cases[i][0]), after = picture_of("x"),
                               none = {0};
        fputs("1", page_begin("run", ""));
        gf_page_pictures(&page, &before, &after);
        assert_null(before.data);
        char *text = page_end();
        struct gf_json_tree tree = data_of(text, "pictures");
        assert_string_equal(gf_json_text_of(data(&tree), "before"), cases[i][1]);
        assert_string_equal(gf_json_text_of(data(&tree), "after"), "eA==");
        gf_json_tree_free(&tree);
        free(text);
        after = picture_of("x");
        fputs("1", page_begin("run", ""));
        gf_page_pictures(&page, &none, &after);
        text = page_end();
        assert_null(strstr(text, "\"kind\":\"pictures\""));
        free(text);
    }
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
                               .device = "a <b>GPU</b>",
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
    assert_int_equal(gf_page_begin(&page, print_begin(), "", "", &error), GF_OK);
    assert_int_equal(gf_profile_page(&page, &report, profile, "A run", &error), GF_OK);
    gf_profile_report_free(&report);
    return page_end();
}

static void test_run(void **state)
{
    const struct gf_profile profile = profile_of(10);
    char *const text = page_of(&profile);
    struct gf_json_tree tree = data_of(text, "run");
    assert_string_equal(gf_json_text_of(data(&tree), "device"), profile.device);
    assert_string_equal(gf_json_text_of(data(&tree), "bound_by"), "blur");
    assert_int_equal(gf_json_count(gf_json_first_of(data(&tree), "spans")), 10);
    assert_null(strstr(text, "\"kind\":\"spans\""));
    gf_json_tree_free(&tree);
    free(text);
}

/* So many spans that they are joined: the page stays small, and no span is lost. */
static void test_many_spans(void **state)
{
    const struct gf_profile profile = profile_of(SPANS);
    char *const text = page_of(&profile);
    struct gf_json_tree tree = data_of(text, "spans");
    const struct gf_json_value *const first = gf_json_first_of(data(&tree), "spans");
    double bytes = 0, times = 0, end_ms = 0;
    for (const struct gf_json_value *one = first; one; one = one->next) {
        const struct gf_json_value *const begin = one->first->next->next, *const end = begin->next;
        assert_true(one->first->number == 0);
        assert_true(begin->number < end->number);
        end_ms = fmax(end_ms, end->number);
        bytes += end->next->number;
        times += end->next->next->number;
    }
    assert_in_range(gf_json_count(first), 2, 2400);
    assert_true(gf_json_number_of(data(&tree), "count") == SPANS);
    assert_true(bytes == SPANS * 1000.0 && times == SPANS && fabs(end_ms - SPANS) < 1e-6);
    assert_in_range(strlen(text), 1000, 400000);
    gf_json_tree_free(&tree);
    free(text);
}

/* Spans of two stages are not joined, nor are those that overlap. */
static void test_what_is_not_joined(void **state)
{
    struct gf_profile profile = profile_of(6000);
    for (int i = 0; i < 6000; i++)
        span[i] = (struct gf_span){i % 3 ? GF_SPAN_STAGE : GF_SPAN_DECODE,
                                   i % 3 ? 0 : -1,
                                   i % 3 ? 0 : -1,
                                   i * 1e-6 + (i % 3 == 1),
                                   5,
                                   1};
    char *const text = page_of(&profile);
    struct gf_json_tree tree = data_of(text, "spans");
    for (const struct gf_json_value *one = gf_json_first_of(data(&tree), "spans"); one;
         one = one->next)
        assert_true(one->first->next->next->next->next->next->number == 1);
    gf_json_tree_free(&tree);
    free(text);
}

static void test_nothing(void **state)
{
    const struct gf_profile profile = {.device = "cpu, 1 thread"};
    char *const text = page_of(&profile);
    struct gf_json_tree tree = data_of(text, "run");
    assert_true(isnan(gf_json_number_of(data(&tree), "pictures_per_s")));
    assert_null(gf_json_first_of(data(&tree), "stages"));
    gf_json_tree_free(&tree);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_stays_text),
        cmocka_unit_test(test_long_text),
        cmocka_unit_test(test_frame),
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_many_spans),
        cmocka_unit_test(test_what_is_not_joined),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
