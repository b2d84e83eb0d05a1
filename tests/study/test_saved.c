/* Saved reports: what is written as JSON is recognised and stands on the page as it was, logs are
 * summed up, and files that are not ours are refused by a clear line. */
#include "printed.h"
#include "temp_folder.h"

#include <math.h>
#include <string.h>

#include "gpufilter/pipeline.h"
#include "report/profile/profile_report.h"
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
    const struct gf_lab_run run = {.lab = gf_lab_find("offset"), .result = result};
    double *values = NULL;
    for (int i = 0; i < 3; i++) {
        values = gf_lab_row(&run, i, "%d", i);
        values[0] = 1000 - i;
    }
    values[1] = 0.125;
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

static struct gf_saved read_saved(const char *path)
{
    struct gf_saved saved;
    struct gf_error error = {0};
    if (gf_saved_read(path, &saved, &error))
        fail_msg("%s", error.text);
    return saved;
}

/* Returns the page of a saved report, and its data of this kind. */
static char *page_of(const struct gf_saved *saved, const char *kind, struct gf_json_tree *tree)
{
    struct gf_error error = {0};
    char begin[100];
    assert_int_equal(gf_saved_page(print_begin(), saved, 1, &error), GF_OK);
    char *const page = print_end();
    snprintf(begin, sizeof begin, "{\"kind\":\"%s\",", kind);
    assert_int_equal(count_of(page, begin), 1);
    const char *const at = strstr(page, begin);
    if (gf_json_read(kind, 1, at, (size_t)(strstr(at, "</script>") - at), tree, &error))
        fail_msg("%s", error.text);
    assert_null(strstr(page, "<script>window"));
    return page;
}

static const struct gf_json_value *data_of(const struct gf_json_tree *tree)
{
    return gf_json_member(tree->value, "data");
}

/* Returns a copy of the text in which each < is escaped as on the page. */
static char *escaped(const char *text)
{
    char *const copy = calloc(6, strlen(text) + 1), *to = copy;
    for (; *text; text++)
        to += sprintf(to, *text == '<' ? "\\u003c" : "%c", *text);
    return copy;
}

/* A report is recognised, and its text is on the page. */
static void assert_kept(void (*write)(FILE *file, const void *what), const void *what,
                        enum gf_saved_kind kind, const char *name)
{
    char *const text = text_of(write, what), *const kept = escaped(text);
    struct gf_saved saved = read_saved(save_text(in_folder("saved.json"), text));
    struct gf_json_tree tree;
    assert_int_equal(saved.kind, kind);
    char *const page = page_of(&saved, name, &tree);
    assert_non_null(strstr(page, kept));
    assert_string_equal(gf_json_text_of(data_of(&tree), "version"), gf_version());
    gf_json_tree_free(&tree);
    gf_saved_free(&saved);
    free(page);
    free(kept);
    free(text);
}

static void test_kinds(void **state)
{
    const struct gf_comparison comparison = comparison_of(1);
    struct gf_lab_result *const lab = calloc(1, sizeof *lab);
    assert_non_null(lab);
    fill_lab(lab);
    assert_kept(write_run, &profile, GF_SAVED_RUN, "run");
    assert_kept(write_comparison, &comparison, GF_SAVED_COMPARISON, "comparison");
    assert_kept(write_lab, lab, GF_SAVED_LABS, "labs");
    free(lab);
}

/* The guide's figures and the axes are of this program, not of the file. */
static void test_a_list_of_labs(void **state)
{
    struct gf_lab_result *const lab = calloc(1, sizeof *lab);
    struct gf_json_tree tree;
    assert_non_null(lab);
    fill_lab(lab);
    char *const one = text_of(write_lab, lab), *list = NULL;
    assert_true(asprintf(&list, "[\n%s,\n%s]\n", one, one) > 0);
    struct gf_saved saved = read_saved(save_text(in_folder("labs.json"), list));
    assert_int_equal(saved.kind, GF_SAVED_LABS);
    char *const page = page_of(&saved, "plots", &tree);
    const struct gf_json_value *const offset = gf_json_member(data_of(&tree), "offset");
    assert_string_equal(gf_json_text_of(offset, "x_unit"), "floats");
    assert_true((gf_json_member(offset, "bars")->number != 0) ==
                (gf_lab_find("offset")->axes.form & GF_LAB_BARS));
    assert_string_equal(gf_json_text_of(gf_json_first_of(offset, "marks"), "name"),
                        gf_lab_find("offset")->marks->name);
    gf_json_tree_free(&tree);
    gf_saved_free(&saved);
    free(page);
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
    struct gf_json_tree tree;
    assert_int_equal(saved.kind, GF_SAVED_COUNTERS);
    assert_int_equal(saved.counters.kernels, 4);
    assert_string_equal(saved.counters.kernel[0].name,
                        "void <unnamed>::k<(int)3>(const unsigned char *, a \"b\")");
    assert_true(saved.counters.issue_peak == 4e6);
    char *const page = page_of(&saved, "counters", &tree);
    const struct gf_json_value *kernel = gf_json_first_of(data_of(&tree), "kernels");
    assert_true(gf_json_number_of(data_of(&tree), "issue_peak") == 4e6);
    assert_true(gf_json_number_of(kernel, "instructions") == 99);
    assert_true(gf_json_first_of(kernel, "block")->next->number == 8);
    kernel = kernel->next->next;
    assert_string_equal(gf_json_text_of(kernel, "name"), "<script>(int)");
    assert_true(gf_json_number_of(kernel->next, "instructions") == 1843200);
    gf_json_tree_free(&tree);
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

/* The places where pictures differ are on the page of a comparison that was just made. */
static void test_spots(void **state)
{
    static struct gf_compare_spot spot = {.x = 7, .y = 9, .width = 2, .height = 1};
    const struct gf_comparison comparison = comparison_of(1);
    struct gf_page page;
    struct gf_error error = {0};
    comparison.group->row[2].spot = &spot;
    memcpy(spot.found, "\x01\x02\x03\xfe\x05\x06", 6);
    assert_int_equal(gf_page_begin(&page, print_begin(), "", "", &error), GF_OK);
    gf_compare_page(&page, &comparison);
    gf_page_end(&page);
    char *const text = print_end();
    assert_non_null(
        strstr(text, "{\"stage\":0,\"row\":2,\"x\":7,\"y\":9,\"width\":2,\"height\":1,"));
    assert_non_null(strstr(text, "\"found\":\"010203fe0506\",\"difference\":\"000000000000\"}"));
    free(text);
}

static void test_labs_that_ran(void **state)
{
    struct gf_lab_result *const lab = calloc(1, sizeof *lab);
    struct gf_page page;
    struct gf_error error = {0};
    struct gf_json_tree tree;
    assert_non_null(lab);
    fill_lab(lab);
    const struct gf_lab_found found[] = {{gf_lab_find("offset"), lab},
                                         {gf_lab_find("transpose"), lab}};
    for (int count = 0; count <= 2; count++) {
        assert_int_equal(gf_page_begin(&page, print_begin(), "", "", &error), GF_OK);
        gf_labs_page(&page, found, count);
        gf_page_end(&page);
        char *const text = print_end(), *const at = strstr(text, "{\"kind\":\"labs\"");
        assert_int_equal(
            gf_json_read("", 1, at, (size_t)(strstr(at, "</script>") - at), &tree, &error), GF_OK);
        assert_int_equal(gf_json_count(gf_json_first_of(tree.value, "data")), count);
        assert_int_equal(count_of(text, "\"kind\":\"plots\""), 1);
        gf_json_tree_free(&tree);
        free(text);
    }
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
    assert_int_equal(batch->most, 2); /* filter */
    assert_true(batch->total.median_s == 0.1 && batch->total.least_s == 0.1);
    assert_int_equal(batch->outliers, 2);
    assert_true(batch->picture[batch->outlier[0]].ms.total == 900);
    assert_true(batch->picture[batch->outlier[1]].ms.total == 400);
    assert_int_equal(batch->messages, 2);
    assert_string_equal(batch->message[0].text, "truncated");
    assert_int_equal(batch->message[0].pictures, 2);
    assert_int_equal(batch->ways, 2);
    assert_int_equal(batch->way[0].pictures, 50);
    struct gf_json_tree tree;
    char *const page = page_of(&saved, "batch", &tree);
    const struct gf_json_value *const data = data_of(&tree), *const failure =
                                                                 gf_json_first_of(data, "failures");
    assert_true(gf_json_number_of(data, "done") == 100 && gf_json_number_of(data, "damaged") == 2);
    assert_true(gf_json_number_of(data, "total_ms") == 100);
    assert_true(fabs(gf_json_number_of(data, "rate") - batch->rate) < 1e-6);
    assert_string_equal(gf_json_text_of(gf_json_first_of(data, "stages")->next->next, "name"),
                        "filter");
    assert_true(gf_json_number_of(gf_json_first_of(data, "outliers"), "total_ms") == 900);
    assert_string_equal(gf_json_first_of(failure, "names")->text, "101.jpg");
    assert_string_equal(gf_json_first_of(failure, "names")->next->text, "102.jpg");
    gf_json_tree_free(&tree);
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
        cmocka_unit_test(test_kinds),         cmocka_unit_test(test_a_list_of_labs),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_spots),
        cmocka_unit_test(test_labs_that_ran), cmocka_unit_test(test_counters),
        cmocka_unit_test(test_batch),         cmocka_unit_test(test_runs_and_jobs),
        cmocka_unit_test(test_many_outliers),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
