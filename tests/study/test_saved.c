/* Saved reports: what is written as JSON is read back as it was, files that are not ours are
 * refused by a clear line, and the page of several shows what changed. */
#include "printed.h"
#include "temp_folder.h"

#include <math.h>
#include <string.h>

#include "gpufilter/pipeline.h"
#include "report/page/html.h"
#include "study/report/study_report.h"
#include "study/saved/saved.h"

#define HOSTILE "</script><script>window.hostile=1</script>\"'&\x1b[1m\xff"

/* ---- what is saved ---- */

static const struct gf_span spans[] = {
    {GF_SPAN_START, -1, -1, 0.0, 0.0015, 0},
    {GF_SPAN_DECODE, -1, -1, 0.0, 0.002, 3000000},
    {GF_SPAN_UPLOAD, -1, 0, 0.001, 0.002, 1500000},
    {GF_SPAN_STATISTIC, 0, 0, 0.002, 0.0025, 1500000},
    {GF_SPAN_STAGE, 0, 0, 0.003, 0.006, 4000000},
    {GF_SPAN_ENCODE, -1, -1, 0.006, 0.007, 3000000},
};
static const struct gf_profile_stage stages[] = {{HOSTILE, 1}};
static const struct gf_profile profile = {.spans = spans,
                                          .span_count = sizeof spans / sizeof *spans,
                                          .stages = stages,
                                          .stage_count = 1,
                                          .wall_s = 0.01,
                                          .device = "cuda:0 \"Quoted\\ \x01GPU\"",
                                          .reason = HOSTILE,
                                          .lanes = 2,
                                          .segments = 2,
                                          .band_rows = 16,
                                          .in = {1000, 500, 3, 8},
                                          .out = {500, 1000, 4, 16},
                                          .device_copy_peak = 4e9,
                                          .upload_peak = 3e9};

/* A comparison of two variants and one that did not run; milli: the default's time. */
static struct gf_comparison comparison_of(double milli)
{
    static struct gf_compare_row rows[3];
    static struct gf_compare_group group;
    static struct gf_compare_run runs[3];
    const struct gf_timing fast = {5, milli * 1e-3, milli * 0.9e-3, milli * 1.1e-3},
                           slow = {5, 0.004, 0.0039, 0.0042};
    rows[0] = (struct gf_compare_row){.name = "tiled",
                                      .summary = HOSTILE,
                                      .chosen = true,
                                      .warm = fast,
                                      .cold = fast,
                                      .rate = 1e9,
                                      .copy_percent = 50,
                                      .over_naive = 4 / milli,
                                      .over_cpu = 8,
                                      .difference = 1,
                                      .tolerance = 1,
                                      .kernels = 1,
                                      .kernel = {{.name = "k",
                                                  .grid = {8, 2, 1},
                                                  .block = {32, 8, 1},
                                                  .cluster = 1,
                                                  .registers = 40,
                                                  .shared_bytes = 1024,
                                                  .local_bytes = 16,
                                                  .occupancy = 0.75}}};
    rows[1] = (struct gf_compare_row){.name = "naive",
                                      .warm = slow,
                                      .cold = slow,
                                      .rate = 2.5e8,
                                      .copy_percent = 12.5,
                                      .over_naive = 1,
                                      .over_cpu = 2,
                                      .difference = 0};
    rows[2] = (struct gf_compare_row){.name = "packed",
                                      .refused = HOSTILE,
                                      .rate = NAN,
                                      .copy_percent = NAN,
                                      .over_naive = NAN,
                                      .over_cpu = NAN,
                                      .difference = NAN};
    group = (struct gf_compare_group){.name = "blur",
                                      .in = {64, 48, 3, 8},
                                      .out = {64, 48, 3, 8},
                                      .bytes = 18432,
                                      .cpu = {1, 0.008, 0.008, 0.008},
                                      .row = rows,
                                      .rows = 3,
                                      .naive = 1};
    static const char *const names[] = {"as asked", "lanes=1", "lanes=2"};
    for (int i = 0; i < 3; i++) {
        runs[i] = (struct gf_compare_run){.lanes = i ? i : 4,
                                          .band_rows = 16,
                                          .total = slow,
                                          .window = fast,
                                          .overlap = 0.25,
                                          .kernels_s = 0.001,
                                          .copies_s = 0.002,
                                          .estimate_s = 0.0025};
        snprintf(runs[i].name, sizeof runs->name, "%s", names[i]);
    }
    return (struct gf_comparison){.device = "cuda:0 NVIDIA H200",
                                  .reason = "asked for",
                                  .on_cuda = true,
                                  .threads = 16,
                                  .in = {64, 48, 3, 8},
                                  .out = {64, 48, 3, 8},
                                  .copy_peak = 2e9,
                                  .upload_peak = 1e9,
                                  .download_peak = 1e9,
                                  .group = &group,
                                  .groups = 1,
                                  .run = runs,
                                  .runs = 3,
                                  .wall_s = 1.5};
}

static void fill_lab(struct gf_lab_result *result)
{
    *result = (struct gf_lab_result){.device = "cuda:0 GPU", .settings = "size=1", .elapsed_s = 2};
    snprintf(result->rows_name, sizeof result->rows_name, "offset (floats)");
    const struct gf_lab_run run = {.result = result};
    const int rate = gf_lab_column(&run, "read and write", "GB/s", 1);
    const int part = gf_lab_column(&run, "part", "", 3);
    for (int i = 0; i < 3; i++) {
        gf_lab_row(&run, i, "%d", i);
        gf_lab_value(&run, rate, 1000 - i);
    }
    gf_lab_value(&run, part, 0.125);
    gf_lab_reason(&run, "%s", HOSTILE);
    gf_lab_check(&run, true, "right");
    gf_lab_claim(&run, true, "it holds");
    gf_lab_claim(&run, false, "%s", HOSTILE);
    gf_lab_note(&run, "a note");
}

/* ---- files ---- */

/* Text in memory, written by one of the functions below. */
static char *text_of(void (*write)(FILE *file, const void *what), const void *what)
{
    write(print_begin(), what);
    return print_end();
}

static void write_run(FILE *file, const void *what)
{
    struct gf_profile_report report;
    struct gf_error error = {0};
    assert_int_equal(gf_profile_report_make(what, &report, &error), GF_OK);
    gf_profile_report_json(&report, what, file);
    gf_profile_report_free(&report);
}

static void write_comparison(FILE *file, const void *what)
{
    gf_compare_json(what, file);
}

static void write_lab(FILE *file, const void *what)
{
    gf_lab_json(file, gf_lab_find("offset"), what);
}

static void write_saved(FILE *file, const void *what)
{
    const struct gf_saved *const saved = what;
    if (saved->kind == GF_SAVED_RUN)
        gf_profile_report_json(&saved->report, &saved->profile, file);
    else if (saved->kind == GF_SAVED_COMPARISON)
        gf_compare_json(&saved->comparison, file);
    else
        gf_lab_json(file, saved->lab[0].lab, saved->lab[0].result);
}

static struct gf_saved read_saved(const char *path)
{
    struct gf_saved saved;
    struct gf_error error = {0};
    if (gf_saved_read(path, &saved, &error))
        fail_msg("%s", error.text);
    return saved;
}

/* What is written, read and written again is the same text. */
static void assert_round_trip(void (*write)(FILE *file, const void *what), const void *what,
                              enum gf_saved_kind kind)
{
    char *const once = text_of(write, what);
    struct gf_saved saved = read_saved(save_text(in_folder("saved.json"), once));
    assert_int_equal(saved.kind, kind);
    assert_string_equal(saved.version, gf_version());
    char *const twice = text_of(write_saved, &saved);
    assert_string_equal(twice, once);
    gf_saved_free(&saved);
    free(once);
    free(twice);
}

static void test_round_trips(void **state)
{
    const struct gf_comparison comparison = comparison_of(1);
    struct gf_lab_result *const lab = calloc(1, sizeof *lab);
    assert_non_null(lab);
    fill_lab(lab);
    assert_round_trip(write_run, &profile, GF_SAVED_RUN);
    assert_round_trip(write_comparison, &comparison, GF_SAVED_COMPARISON);
    assert_round_trip(write_lab, lab, GF_SAVED_LABS);
    free(lab);
}

static void test_a_list_of_labs(void **state)
{
    struct gf_lab_result *const lab = calloc(1, sizeof *lab);
    assert_non_null(lab);
    fill_lab(lab);
    char *const one = text_of(write_lab, lab), *list = NULL;
    assert_true(asprintf(&list, "[\n%s,\n%s]\n", one, one) > 0);
    struct gf_saved saved = read_saved(save_text(in_folder("labs.json"), list));
    assert_int_equal(saved.labs, 2);
    assert_int_equal(saved.lab[1].result->remarks, 4);
    assert_non_null(saved.lab[1].lab->marks); /* the guide's figures are this program's */
    gf_saved_free(&saved);
    free(one);
    free(list);
    free(lab);
}

static void assert_refused(const char *text, const char *message)
{
    struct gf_saved saved;
    struct gf_error error = {0};
    assert_int_equal(gf_saved_read(save_text(in_folder("bad.json"), text), &saved, &error),
                     GF_ERROR_INPUT);
    if (!strstr(error.text, "bad.json: ") || !strstr(error.text, message))
        fail_msg("'%s', not '%s'", error.text, message);
}

static char *comparison_page(const struct gf_comparison *comparison)
{
    gf_compare_html(print_begin(), comparison, "id", "");
    return print_end();
}

/* What Nsight Compute prints: its own lines, names, units, and a kernel's name with its parameters.
 */
static void test_counters(void **state)
{
    static const char csv[] =
        "==PROF== Connected to process 1\n"
        "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid "
        "Size\",\"smsp__cycles_elapsed.avg.per_second\","
        "\"smsp__inst_executed.sum\",\"smsp__inst_executed.sum.peak_sustained\"\n"
        "\"\",\"\",\"\",\"\",\"cycle/second\",\"inst\",\"inst/cycle\"\r\n"
        "\"0\",\"void <unnamed>::k<(int)3>(const unsigned char *, a \"\"b\"\")\",\"(32, 8, 1)\","
        "\"(8, 2, 1)\",\"1,000,000.0\",\"99\",\"4\"\n"
        "\"1\",\"k(int)\",\"(32, 8, 1)\",\"(8, 2, 2)\",\"1000000\",\"98\",\"4\"\n"
        "\"2\",\"<script>(int)\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"n/a\",\"7\",\"4\"\n"
        "\"3\",\"k(int)\",\"(32, 8, 1)\",\"(8, 2, 1)\",\"1000000\",\"1,843,200\",\"4\"";
    struct gf_saved saved = read_saved(save_text(in_folder("counters.csv"), csv));
    struct gf_comparison counted = comparison_of(1);
    assert_int_equal(saved.kind, GF_SAVED_COUNTERS);
    assert_int_equal(saved.counters.kernels, 4);
    assert_string_equal(saved.counters.kernel[0].name, "k<3>");
    assert_true(saved.counters.issue_peak == 4e6);
    char *before = comparison_page(&counted);
    assert_null(strstr(before, "Instructions against bytes"));
    gf_saved_count(&saved.counters, &counted);
    assert_true(counted.group[0].row[0].instructions == 1843200);
    assert_true(counted.issue_peak == 4e6);
    char *const page = comparison_page(&counted);
    assert_non_null(strstr(page, "Instructions against bytes"));
    assert_non_null(strstr(page, " at 100")); /* 1843200 instructions for 18432 bytes */
    free(before);
    free(page);
    gf_saved_free(&saved);
    assert_refused("\"ID\",\"Kernel Name\"\n", "has no column Block Size");
}

static void test_refusals(void **state)
{
    assert_refused("", "is empty");
    assert_refused("hello", "line 1 is no JSON");
    assert_refused("{\"version\": \"0.1.0\",\n \"stages\": [", "line 2 is no JSON: the file ends");
    assert_refused("{\"a\": 1}", "no profile, comparison, lab or log of this program");
    assert_refused("[]", "no profile, comparison, lab or log of this program");
    assert_refused("12", "no profile, comparison, lab or log of this program");
    assert_refused("{\"version\": \"99.0\", \"stages\": [], \"wall_ms\": 1}",
                   "written by gpufilter 99.0, which is newer than this one");
    struct gf_saved saved;
    struct gf_error error = {0};
    assert_int_equal(gf_saved_read(in_folder("missing.json"), &saved, &error), GF_ERROR_READ);
    assert_non_null(strstr(error.text, "missing.json: No such file"));
    assert_int_equal(gf_saved_read(folder, &saved, &error), GF_ERROR_READ);
}

/* A saved run has the timeline of the run itself, unless it had too many spans. */
static void test_spans(void **state)
{
    static struct gf_span many[GF_PROFILE_SPANS_SAVED + 1];
    char *text = text_of(write_run, &profile);
    struct gf_saved saved = read_saved(save_text(in_folder("run.json"), text));
    free(text);
    assert_int_equal(saved.profile.span_count, profile.span_count);
    assert_int_equal(saved.profile.spans[0].kind, GF_SPAN_START);
    assert_int_equal(saved.profile.spans[4].kind, GF_SPAN_STAGE);
    assert_int_equal(saved.profile.spans[4].lane, 0);
    assert_true(fabs(saved.profile.spans[4].end_s - 0.006) < 1e-9);
    assert_int_equal(saved.profile.spans[4].bytes, 4000000);
    gf_saved_free(&saved);
    struct gf_profile long_one = profile;
    long_one.spans = many;
    long_one.span_count = sizeof many / sizeof *many;
    text = text_of(write_run, &long_one);
    assert_non_null(strstr(text, "\"spans\": null"));
    saved = read_saved(save_text(in_folder("run.json"), text));
    assert_int_equal(saved.profile.span_count, 0);
    gf_saved_free(&saved);
    free(text);
}

/* Members of other types, out of range or missing: nothing that a page could stumble over. */
static void test_odd_values(void **state)
{
    static const char *const texts[] = {
        "{\"wall_ms\": null, \"stages\": {\"a\": 1}}",
        "{\"wall_ms\": -1e300, \"lanes\": 1e99, \"in\": 3, \"stages\": [1, null, {\"name\": []}]}",
        "{\"stages\": [{\"variants\": [{}, 1, {\"warm_ms\": 1e300, \"kernels\": [{}, 2]}]}, 7], "
        "\"pipeline\": [{\"name\": \"lanes=\", \"total_ms\": 0}, {\"name\": \"lanes=x\", "
        "\"total_ms\": 1}]}",
        "{\"lab\": 1, \"rows\": [{\"values\": {\"a\": 1}}, 2], \"columns\": [{\"name\": \"a\"}], "
        "\"remarks\": [{}]}",
        "{\"lab\": \"none\", \"rows\": []}",
        "{\"wall_ms\": 1, \"stages\": [{\"name\": \"a\"}], \"spans\": [[0, 1e9, 5, 1, -1], 3, [], "
        "[-7, 1, 1e300, null], [9, 0, 2, 3, 4, 5, 6]]}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct gf_saved saved = read_saved(save_text(in_folder("odd.json"), texts[i]));
        struct gf_error error = {0};
        assert_int_equal(gf_saved_html(print_begin(), &saved, 1, &error), GF_OK);
        char *const page = print_end();
        assert_null(strstr(page, "nan"));
        assert_null(strstr(page, "inf\""));
        gf_saved_free(&saved);
        free(page);
    }
}

/* ---- side by side ---- */

static void test_changes(void **state)
{
    const struct gf_timing a = {5, 10, 9, 11}, near = {5, 12, 10.9, 13}, slower = {5, 12, 11.5, 13},
                           faster = {5, 8, 7, 8.9}, once = {1, 20, 20, 20};
    assert_int_equal(gf_change_of(&a, &a), GF_CHANGE_NONE);
    assert_int_equal(gf_change_of(&a, &near), GF_CHANGE_NONE);
    assert_int_equal(gf_change_of(&near, &a), GF_CHANGE_NONE);
    assert_int_equal(gf_change_of(&a, &slower), GF_CHANGE_SLOWER);
    assert_int_equal(gf_change_of(&a, &faster), GF_CHANGE_FASTER);
    assert_int_equal(gf_change_of(&a, &once), GF_CHANGE_UNKNOWN);
}

struct reports {
    const struct gf_saved *saved;
    int count;
};

static void write_page(FILE *file, const void *what)
{
    const struct reports *const reports = what;
    struct gf_error error = {0};
    assert_int_equal(gf_saved_html(file, reports->saved, reports->count, &error), GF_OK);
}

static char *page_of(const struct gf_saved *saved, int count)
{
    const struct reports reports = {saved, count};
    return text_of(write_page, &reports);
}

static void test_sides(void **state)
{
    struct gf_saved saved[2];
    for (int i = 0; i < 2; i++) {
        const struct gf_comparison comparison = comparison_of(i ? 0.5 : 1);
        char *const text = text_of(write_comparison, &comparison);
        saved[i] = read_saved(save_text(in_folder(i ? "b.json" : "a.json"), text));
        free(text);
    }
    const struct gf_saved *const both[] = {&saved[0], &saved[1]};
    struct gf_sides sides;
    struct gf_error error = {0};
    assert_int_equal(gf_sides_make(both, 2, &sides, &error), GF_OK);
    assert_int_equal(sides.rows,
                     5); /* two variants, three settings; what did not run is left out */
    assert_string_equal(sides.row[0].name, "tiled");
    assert_true(sides.row[0].side[1].median_s == 0.0005);
    gf_sides_free(&sides);
    char *const page = page_of(saved, 2);
    assert_non_null(strstr(page, "id=\"sides1\""));
    assert_non_null(strstr(page, "<span class=\"what good\">\xe2\x96\xbc -50.0%</span>"));
    assert_non_null(strstr(page, "<span class=\"what\">+0.0%</span>")); /* the naive one */
    assert_null(strstr(page, "<script>window"));
    free(page);
    gf_saved_free(&saved[0]);
    gf_saved_free(&saved[1]);
}

/* ---- a comparison and labs on the page ---- */

static void test_comparison_page(void **state)
{
    const struct gf_comparison comparison = comparison_of(1);
    char *text = text_of(write_comparison, &comparison);
    struct gf_saved saved = read_saved(save_text(in_folder("c.json"), text));
    free(text);
    char *const page = page_of(&saved, 1);
    /* From naive to default, and the chosen one marked. */
    char *const tiled = strstr(page, "<tr class=\"chosen\"><th scope=\"row\">tiled");
    assert_non_null(tiled);
    assert_null(strstr(tiled, "<th scope=\"row\">naive"));
    assert_non_null(strstr(page, "<th scope=\"row\">naive"));
    assert_non_null(strstr(page, "4.00\xc3\x97"));
    assert_non_null(strstr(page, "50.0%"));
    assert_non_null(strstr(page, "75%")); /* occupancy */
    assert_non_null(strstr(page, "not run: &lt;/script&gt;"));
    assert_non_null(strstr(page, "Bands in flight"));
    assert_null(strstr(page, "<script>window"));
    free(page);
    gf_saved_free(&saved);
}

static void test_wrong_result(void **state)
{
    static struct gf_compare_spot spot = {.x = 7, .y = 9, .width = 2, .height = 1};
    const struct gf_comparison comparison = comparison_of(1);
    comparison.group->row[0].difference = 3;
    comparison.group->row[0].spot = &spot;
    memcpy(spot.found, "\x01\x02\x03\x04\x05\x06", 6);
    char *const page = comparison_page(&comparison);
    assert_non_null(strstr(page, "3: wrong"));
    assert_non_null(strstr(page, "2x1 pixels at 7, 9"));
    /* Of the BMP's 62 bytes the last are two pixels, blue first, and two of padding. */
    assert_non_null(strstr(page, "data:image/bmp;base64,Qk0+AAAAAAAAADYAAAAoAAAAAgAAAAEAAAABABgA"));
    assert_non_null(strstr(page, "AwIBBgUEAAA=\""));
    free(page);
}

static void test_lab_page(void **state)
{
    struct gf_lab_result *const lab = calloc(1, sizeof *lab);
    assert_non_null(lab);
    fill_lab(lab);
    const struct gf_lab_found found[] = {{gf_lab_find("offset"), lab},
                                         {gf_lab_find("transpose"), lab}};
    gf_labs_html(print_begin(), found, 2, "labs", "");
    char *const page = print_end();
    assert_non_null(strstr(page, "<strong>2 hold</strong> here, and <strong>2 do not</strong>"));
    assert_non_null(strstr(page, "<a href=\"#labs-1\">transpose</a>"));
    assert_non_null(strstr(page, ">V100, offset 0</text>")); /* the guide's figure in the curve */
    assert_non_null(strstr(page, "it holds"));
    assert_null(strstr(page, "<script>window"));
    free(page);
    free(lab);
}

/* ---- a batch ---- */

/* A line of a log about the picture, which took `ms`, done `at` seconds after the first. */
static void put_line_of(FILE *file, const char *job, int index, const char *status,
                        const char *message, double ms, double at)
{
    char name[80];
    struct gf_json json = gf_json_begin(file);
    snprintf(name, sizeof name, "%d%s.jpg", index, index == 7 ? HOSTILE : "");
    gf_json_object(&json, NULL, GF_JSON_COMPACT);
    gf_json_number(&json, "index", index, 0);
    gf_json_string(&json, "input", name);
    gf_json_string(&json, "status", status);
    char text[200];
    snprintf(text, sizeof text, "%s: %s", name, message);
    gf_json_string(&json, "message", *message ? text : "");
    gf_json_number(&json, "width", 64, 0);
    gf_json_number(&json, "height", 48, 0);
    gf_json_object(&json, "ms", GF_JSON_COMPACT);
    gf_json_number(&json, "total", ms, 3);
    gf_json_number(&json, "decode", ms / 4, 3);
    gf_json_number(&json, "filter", ms / 2, 3);
    gf_json_end(&json);
    gf_json_number(&json, "finished", 1.7e9 + at, 3);
    gf_json_string(&json, "device", index % 2 ? "cuda:0 GPU" : "cpu, 1 thread");
    gf_json_string(&json, "decoder", "cpu");
    gf_json_string(&json, "encoder", "cpu");
    if (*job)
        gf_json_string(&json, "job", job);
    gf_json_end(&json);
}

static void put_line(FILE *file, int index, const char *status, const char *message, double ms,
                     double at)
{
    put_line_of(file, "", index, status, message, ms, at);
}

/* 100 pictures in 10 s, of which two are slow, three that failed and two torn lines. */
static void write_log(FILE *file, const void *what)
{
    for (int i = 1; i <= 100; i++)
        put_line(file, i, "ok", "", i == 7 ? 900 : i == 8 ? 400 : 100, 0.1 * i);
    put_line(file, 101, "failed", "truncated", 0, 5);
    put_line(file, 102, "failed", "truncated", 0, 6);
    put_line(file, 103, "failed", HOSTILE, 0, 7);
    put_line(file, 104, "skipped", "is there already", 0, 7);
    fputs("{\"index\":105,\"inp\n{\"index\":106,\"input\":\"", file);
}

static void test_batch(void **state)
{
    char *const text = text_of(write_log, NULL);
    struct gf_saved saved = read_saved(save_text(in_folder("run.log"), text));
    const struct gf_batch_report *const batch = &saved.batch;
    size_t in_slices = 0;
    assert_int_equal(saved.kind, GF_SAVED_LOG);
    assert_int_equal(batch->done, 100);
    assert_int_equal(batch->failed, 3);
    assert_int_equal(batch->skipped, 1);
    assert_int_equal(batch->damaged, 2);
    assert_true(fabs(batch->end_s - batch->begin_s - 10.2) < 1e-3); /* the slow one began first */
    assert_true(fabs(batch->work_s - 10.2) < 1e-3);
    assert_true(fabs(batch->rate - 100 / batch->work_s) < 1e-9);
    for (int i = 0; i < GF_BATCH_SLICES; i++)
        in_slices += batch->slice[i];
    assert_int_equal(in_slices, 100);
    assert_string_equal(gf_batch_stage_name(batch->most), "filter");
    assert_true(batch->total.median_s == 0.1 && batch->total.least_s == 0.1);
    assert_int_equal(batch->outliers, 2);
    assert_true(batch->picture[batch->outlier[0]].ms.total == 900);
    assert_true(batch->picture[batch->outlier[1]].ms.total == 400);
    assert_int_equal(batch->messages, 2);
    assert_string_equal(batch->message[0].text, "truncated");
    assert_int_equal(batch->message[0].pictures, 2);
    assert_int_equal(batch->ways, 2);
    assert_int_equal(batch->way[0].pictures, 50);
    char *const page = page_of(&saved, 1);
    assert_non_null(strstr(page, "<strong>filter</strong> takes most"));
    assert_non_null(strstr(page, "101.jpg, 102.jpg"));
    assert_non_null(strstr(page, "9.0\xc3\x97"));
    assert_null(strstr(page, "<script>window"));
    free(page);
    gf_saved_free(&saved);
    free(text);
}

/* Two pictures at a time for 2 s, a day's pause, and 1 s of one at a time: 3 s of work; and what
 * another job did meanwhile. */
static void write_runs(FILE *file, const void *what)
{
    for (int i = 1; i <= 20; i++)
        put_line_of(file, "a1", i, "ok", "", 200, 0.2 * ((i + 1) / 2));
    for (int i = 1; i <= 10; i++)
        put_line_of(file, "b2", i, "ok", "", 1000, 3600 + i);
    put_line_of(file, "b2", 11, "failed", "truncated", 0, 3610);
    for (int i = 1; i <= 10; i++)
        put_line_of(file, "a1", 20 + i, "ok", "", 100, 86400 + 0.1 * i);
    fputs("{\"index\":5,\"inp", file);
}

static void test_runs_and_jobs(void **state)
{
    char *const text = text_of(write_runs, NULL);
    struct gf_saved saved = read_saved(save_text(in_folder("runs.log"), text));
    assert_int_equal(saved.other_jobs, 1);
    const struct gf_batch_report *const a = &saved.batch, *const b = &saved.other_job[0].batch;
    assert_true(fabs(a->work_s - 3) < 1e-3);
    assert_true(a->end_s - a->begin_s > 86400);
    assert_true(fabs(a->rate - 10) < 1e-2);
    assert_int_equal(a->done, 30);
    assert_int_equal(a->failed, 0);
    assert_int_equal(a->damaged, 1);
    size_t in_first_third = 0;
    for (int i = 0; i < GF_BATCH_SLICES / 3; i++)
        in_first_third += a->slice[i];
    assert_in_range(in_first_third, 8, 12);
    assert_int_equal(b->done, 10);
    assert_int_equal(b->failed, 1);
    assert_true(fabs(b->work_s - 10) < 1e-3);
    assert_non_null(strstr(saved.name, "runs.log, job 1 of 2: a1"));
    assert_non_null(strstr(saved.other_job[0].name, "runs.log, job 2 of 2: b2"));
    gf_saved_free(&saved);
    free(text);
}

/* More slow pictures than the list holds: the slowest stay, in their order. */
static void test_many_outliers(void **state)
{
    struct gf_batch_report report = {0};
    struct gf_error error = {0};
    for (int i = 0; i < 1000; i++) {
        const struct gf_batch_log_entry entry = {
            .input = "a.png",
            .outcome = GF_OUTCOME_DONE,
            .ms = {.total = i < 900 ? 10 : 100 + (i * 37) % 100}};
        assert_int_equal(gf_batch_report_add(&report, &entry, NAN, &error), GF_OK);
    }
    assert_int_equal(gf_batch_report_finish(&report, &error), GF_OK);
    assert_int_equal(report.beyond, 100);
    assert_int_equal(report.outliers, GF_BATCH_OUTLIERS_MAX);
    for (int i = 0; i < GF_BATCH_OUTLIERS_MAX; i++)
        assert_true(report.picture[report.outlier[i]].ms.total == 199 - i);
    assert_true(isnan(report.rate));
    gf_batch_report_free(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),   cmocka_unit_test(test_a_list_of_labs),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_spans),
        cmocka_unit_test(test_odd_values),    cmocka_unit_test(test_changes),
        cmocka_unit_test(test_sides),         cmocka_unit_test(test_comparison_page),
        cmocka_unit_test(test_wrong_result),  cmocka_unit_test(test_lab_page),
        cmocka_unit_test(test_counters),      cmocka_unit_test(test_batch),
        cmocka_unit_test(test_runs_and_jobs), cmocka_unit_test(test_many_outliers),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
