/* The labs without a GPU: requests, declarations, and the forms of a result. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/help/help.h"
#include "printed.h"
#include "study/labs/lab.h"
#include "study/report/study_report.h"
#include "temp_folder.h"

static void assert_refused(const char *text, const char *message)
{
    struct gf_lab_request request;
    struct gf_error error = {0};
    if (!gf_lab_parse(text, &request, &error))
        fail_msg("accepted: %s", text);
    assert_int_equal(error.status, GF_ERROR_USAGE);
    assert_string_equal(error.text, message);
}

static struct gf_lab_request parsed(const char *text)
{
    struct gf_lab_request request;
    struct gf_error error = {0};
    if (gf_lab_parse(text, &request, &error))
        fail_msg("%s: %s", text, error.text);
    return request;
}

static void test_requests(void **state)
{
    struct gf_lab_request request = parsed("offset");
    assert_string_equal(request.lab->name, "offset");
    assert_int_equal(request.values.param[0], 256);
    assert_int_equal(request.values.runs, 15);
    assert_int_equal(request.values.form, GF_LAB_TABLE);
    assert_string_equal(request.values.plot, "");

    request = parsed("offset:size=64:runs=3:format=json:plot='a:b,c.png'");
    assert_int_equal(request.values.param[0], 64);
    assert_int_equal(request.values.runs, 3);
    assert_int_equal(request.values.form, GF_LAB_JSON);
    assert_string_equal(request.values.plot, "a:b,c.png");

    request = parsed("offset=64:8");
    assert_int_equal(request.values.param[0], 64);

    request = parsed("all:runs=2");
    assert_null(request.lab);
    assert_int_equal(request.values.runs, 2);

    request = parsed("offset:help");
    assert_true(request.help);
}

static void test_refusals(void **state)
{
    assert_refused("ofset", "unknown lab 'ofset'; did you mean 'offset'?");
    assert_refused("al", "unknown lab 'al'; did you mean 'all'?");
    assert_refused("wobble", "unknown lab 'wobble' (--lab lists them)");
    assert_refused("", "unknown lab '' (--lab lists them)");
    assert_refused("offset:sise=3", "offset: unknown parameter 'sise'; did you mean 'size'?");
    assert_refused("offset:size=0",
                   "offset: size=0 is outside 1..4096 (of each of the two arrays, in MB)");
    assert_refused("offset:size=2.5", "offset: size=2.5 is not a whole number");
    assert_refused("offset:runs=0",
                   "offset: runs=0 is outside 1..1000 (timings that each figure is the median of)");
    assert_refused("offset:format=xml", "offset: format=xml is none of table, json");
    assert_refused("offset:plot=a.gif", "offset: plot=a.gif ends in neither .png nor .svg");
    assert_refused("offset,stride", "offset: one lab at a time, or all: ',stride'");
    assert_refused("banks:plot=a.png",
                   "banks: unknown parameter 'plot'; it has loads, runs, format, html");
    assert_refused("all:plot=a.png", "all: unknown parameter 'plot'; it has runs, format, html");
    assert_refused("all:size=3", "all: unknown parameter 'size'; it has runs, format, html");
    assert_refused("all:help", "all: runs=help is not a number");
    assert_refused("l2-window:least=9:most=8", "l2-window: most=8 is less than least=9");
}

/* Every lab's declaration is complete, and its defaults are within its ranges. */
static void test_declarations(void **state)
{
    const struct gf_lab *lab;
    for (int i = 0; (lab = gf_lab_at(i)); i++) {
        struct gf_param params[GF_LAB_PARAMS_MAX];
        bool has_curve = !lab->axes.x;
        assert_ptr_equal(gf_lab_find(lab->name), lab);
        assert_true(strlen(lab->name) < 20);
        assert_null(strchr(lab->name, '_'));
        assert_true(*lab->summary && *lab->guide);
        /* Either every axis is named or none. */
        assert_int_equal(!lab->axes.x, !lab->axes.y);
        assert_int_equal(!lab->axes.x, !lab->axes.x_unit);
        assert_int_equal(!lab->axes.x, !lab->axes.y_unit);
        for (int k = 0; k < gf_lab_columns(lab); k++) {
            assert_non_null(lab->columns[k].unit);
            has_curve = has_curve || !strcmp(lab->columns[k].unit, lab->axes.y_unit);
        }
        assert_true(has_curve);
        assert_true(!lab->right || strstr(lab->right, "%llu"));
        for (const struct gf_param *param = lab->params; param->name; param++) {
            if (param->type == GF_TYPE_INT)
                assert_true(param->value >= param->least && param->value <= param->greatest);
            else
                assert_int_equal(param->type, GF_TYPE_CHOICE);
            for (const struct gf_param *common = gf_lab_common_params(); common->name; common++)
                assert_string_not_equal(common->name, param->name);
        }
        gf_lab_params(lab, params);
        parsed(lab->name);
    }
}

/* ---- a made-up result ---- */

static const struct gf_lab curve = {
    .name = "made-up",
    .summary = "a lab of the test",
    .guide = "7, 1.2",
    .figure = "Z80: 3 GB/s",
    .rows = "stride",
    .columns = {{"padded", "GB/s", 1}, {"error", "ulp", 2}},
    .right = "%llu differ",
    .axes = {"stride", "floats", "bandwidth", "GB/s", GF_LAB_LINEAR},
};

static struct gf_lab_result made_up(void)
{
    struct gf_lab_result result = {.device = "cuda:0 \"GPU\"",
                                   .settings = "size=1 runs=2",
                                   .elapsed_s = 0.25,
                                   .rows_name = "stride"};
    const struct gf_lab_run run = {.lab = &curve, .result = &result};
    double *const first = gf_lab_row(&run, 1, "%d", 1);
    first[0] = 123.45;
    first[1] = 1e-7;
    gf_lab_row(&run, 2, "%d", 2)[0] = 61.75;
    gf_lab_row(&run, NAN, "copy");
    gf_lab_reason(&run, "needs %d GPUs", 2);
    gf_lab_note(&run, "a note");
    gf_lab_claim(&run, true, "padded beats unpadded");
    gf_lab_claim(&run, false, "and by far");
    gf_lab_check(&run, true, "all %d are right", 2);
    return result;
}

static char *text_of(void (*print)(FILE *, const struct gf_lab *, const struct gf_lab_result *),
                     const struct gf_lab *lab, const struct gf_lab_result *result)
{
    print(print_begin(), lab, result);
    return print_end();
}

static void test_table(void **state)
{
    const struct gf_lab_result result = made_up();
    char *const table = text_of(gf_lab_table, &curve, &result);
    assert_string_equal(table, "made-up: a lab of the test\n"
                               "  guide 7, 1.2; Z80: 3 GB/s\n"
                               "  here  cuda:0 \"GPU\"; size=1 runs=2; 0.25 s\n"
                               "\n"
                               "  stride  padded  error\n"
                               "            GB/s    ulp\n"
                               "  1        123.5  1e-07\n"
                               "  2         61.8      -\n"
                               "  copy    needs 2 GPUs\n"
                               "\n"
                               "  right   all 2 are right\n"
                               "  agrees  padded beats unpadded\n"
                               "  differs and by far\n"
                               "  note    a note\n");
    free(table);
}

static void test_json(void **state)
{
    const struct gf_lab_result result = made_up();
    char *const json = text_of(gf_lab_json, &curve, &result);
    for (const struct gf_key_help *key = gf_lab_keys; key->path; key++) {
        char quoted[64];
        const char *const dot = strrchr(key->path, '.');
        snprintf(quoted, sizeof quoted, "\"%s\": ", dot ? dot + 1 : key->path);
        if (!strstr(json, quoted))
            fail_msg("no %s in %s", quoted, json);
    }
    assert_non_null(strstr(json, "\"device\": \"cuda:0 \\\"GPU\\\"\""));
    assert_non_null(
        strstr(json, "{\"label\": \"2\", \"x\": 2, \"values\": [61.75, null], \"reason\": null}"));
    assert_non_null(strstr(json, "{\"label\": \"copy\", \"x\": null, \"values\": [null, null], "
                                 "\"reason\": \"needs 2 GPUs\"}"));
    assert_non_null(strstr(json, "{\"kind\": \"differs\", \"text\": \"and by far\"}"));
    free(json);
}

static void test_data(void **state)
{
    const struct gf_lab_result result = made_up();
    char *const data = text_of(gf_lab_data, &curve, &result);
    /* The row without an x is left out. */
    assert_string_equal(data, "# made-up on cuda:0 \"GPU\"\n"
                              "# label, stride (floats), padded (GB/s), error (ulp)\n"
                              "\"1\" 1 123.45 1e-07\n"
                              "\"2\" 2 61.75 NaN\n");
    free(data);
}

/* A full result sets `full`, and nothing is written beyond its arrays. */
static void test_room(void **state)
{
    struct gf_lab_result *const result = calloc(1, sizeof *result);
    const struct gf_lab_run run = {.lab = &curve, .result = result};
    assert_non_null(result);
    for (int i = 0; i < GF_LAB_ROWS_MAX; i++)
        gf_lab_row(&run, i, "a label that is longer than what a row's label may take: %d",
                   i)[GF_LAB_COLUMNS_MAX - 1] = i;
    for (int i = 0; i < GF_LAB_REMARKS_MAX; i++)
        gf_lab_note(&run, "%d", i);
    assert_false(result->full);
    gf_lab_note(&run, "one more");
    assert_true(result->full);
    gf_lab_row(&run, 0, "one more");
    assert_int_equal(result->rows, GF_LAB_ROWS_MAX);
    assert_int_equal(result->remarks, GF_LAB_REMARKS_MAX);
    *result = (struct gf_lab_result){0};
    gf_lab_reason(&run, "of no row");
    assert_true(result->full);
    free(result);
}

/* A wrong result is an error; a claim of the guide that does not hold is none. */
static void test_verdicts(void **state)
{
    struct gf_lab_result result = made_up();
    const struct gf_lab_run run = {.lab = &curve, .result = &result};
    struct gf_error error = {0};
    assert_int_equal(gf_lab_judge(&curve, &result, &error), GF_OK);
    gf_lab_check(&run, false, "%d of 4 differ", 3);
    assert_int_equal(gf_lab_judge(&curve, &result, &error), GF_ERROR_DIFFERENT);
    assert_string_equal(error.text, "made-up: wrong result: 3 of 4 differ");
    result = made_up();
    result.full = true;
    assert_int_equal(gf_lab_judge(&curve, &result, &error), GF_ERROR_MEMORY);
    result = made_up();
    result.remarks = 0; /* values, and not one check */
    assert_int_equal(gf_lab_judge(&curve, &result, &error), GF_ERROR_DIFFERENT);
    assert_string_equal(error.text, "made-up: no result was checked");
    result.rows = 0;
    assert_int_equal(gf_lab_judge(&curve, &result, &error), GF_OK);
}

/* The first number of a claim's text is the one that is judged. */
static void test_claims(void **state)
{
    struct gf_lab_result result = {0};
    const struct gf_lab_run run = {.lab = &curve, .result = &result};
    gf_lab_above(&run, 1.5, "%.1f of %d", 1.6, 3);
    gf_lab_above(&run, 1.5, "%.1f", 1.5);
    gf_lab_above(&run, 1.5, "%.1f", NAN);
    gf_lab_below(&run, 1.5, "%.1f of %d", 1.4, 3);
    gf_lab_below(&run, 1.5, "%.1f", 1.5);
    gf_lab_below(&run, 1.5, "%.1f", NAN);
    for (int i = 0; i < result.remarks; i++)
        assert_int_equal(result.remark[i].kind, i % 3 ? GF_LAB_DIFFERS : GF_LAB_AGREES);
    assert_int_equal(result.remarks, 6);
    assert_string_equal(result.remark[0].text, "1.6 of 3");
}

#ifdef GF_WITH_LABS
static void test_running(void **state)
{
    skip(); /* with CUDA the end of a lab waits for a real device */
}
#else
static enum gf_status run_right(const struct gf_lab_run *run)
{
    gf_lab_row(run, NAN, "%d", run->runs)[0] = run->param[1];
    gf_lab_count(run, 0);
    return GF_OK;
}

static enum gf_status run_wrong(const struct gf_lab_run *run)
{
    gf_lab_count(run, 0);
    gf_lab_count(run, 3);
    gf_lab_count(run, 1);
    return GF_OK;
}

static enum gf_status run_failing(const struct gf_lab_run *run)
{
    return gf_fail(run->error, GF_ERROR_DEVICE_MEMORY, "cuda:0: no memory");
}

static void test_running(void **state)
{
    static const struct gf_device_info device = {.name = "GPU", .major = 9};
    struct gf_lab lab = *gf_lab_find("offset");
    struct gf_lab_result *const result = calloc(1, sizeof *result);
    struct gf_error error = {0};
    assert_non_null(result);
    lab.run = run_right;
    assert_int_equal(gf_lab_run(&lab, &device, 7, NULL, result, &error), GF_OK);
    assert_string_equal(result->row[0].label, "7");
    assert_string_equal(result->device, "cuda:0 GPU, sm_90");
    assert_string_equal(result->settings, "size=256 most=32 runs=7");
    assert_string_equal(result->rows_name, "offset (floats)");
    assert_true(result->row[0].value[0] == 32);
    assert_int_equal(result->remark[0].kind, GF_LAB_RIGHT);
    assert_string_equal(result->remark[0].text,
                        "every copy equals its input, shifted (0 bytes differ)");
    lab.run = run_wrong;
    assert_int_equal(gf_lab_run(&lab, &device, 7, (int[]){8, 9}, result, &error),
                     GF_ERROR_DIFFERENT);
    assert_string_equal(result->settings, "size=8 most=9 runs=7");
    assert_string_equal(
        error.text, "offset: wrong result: every copy equals its input, shifted (4 bytes differ)");
    lab.right = NULL; /* what is wrong is told with no text of the lab, too */
    assert_int_equal(gf_lab_run(&lab, &device, 7, NULL, result, &error), GF_ERROR_DIFFERENT);
    assert_string_equal(error.text, "offset: wrong result: 4 results are wrong");
    lab.run = run_failing;
    assert_int_equal(gf_lab_run(&lab, &device, 1, NULL, result, &error), GF_ERROR_DEVICE_MEMORY);
    assert_string_equal(error.text, "offset: cuda:0: no memory");
    free(result);
}
#endif

/* ---- plots, with a script in the place of gnuplot ---- */

/* Fails where a plot has left another file. */
static int remove_known(void **state)
{
    static const char *const names[] = {"gnuplot", "curve.png", "curve.svg", "curve.dat"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(in_folder(names[i]));
    return rmdir(folder);
}

static void stand_in(const char *script)
{
    char text[200];
    snprintf(text, sizeof text, "#!/bin/sh\n%s\n", script);
    save_text(in_folder("gnuplot"), text);
    assert_int_equal(chmod(in_folder("gnuplot"), 0755), 0);
}

static enum gf_status draw(const char *name, const struct gf_lab *lab, char *said, size_t size,
                           struct gf_error *error)
{
    const struct gf_lab_result result = made_up();
    char before[4096];
    snprintf(before, sizeof before, "%s", getenv("PATH"));
    setenv("PATH", folder, 1);
    const enum gf_status status = gf_lab_draw(in_folder(name), lab, &result, said, size, error);
    setenv("PATH", before, 1);
    return status;
}

static const char *content(const char *name)
{
    static char text[4096];
    FILE *const file = fopen(in_folder(name), "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void test_plot_without_gnuplot(void **state)
{
    char said[600] = "", wanted[600];
    struct gf_error error = {0};
    assert_int_equal(draw("curve.png", &curve, said, sizeof said, &error), GF_OK);
    snprintf(wanted, sizeof wanted,
             "made-up: there is no gnuplot to draw %s/curve.png; its data is in %s/curve.dat",
             folder, folder);
    assert_string_equal(said, wanted);
    assert_non_null(strstr(content("curve.dat"), "\"2\" 2 61.75 NaN\n"));
    assert_int_not_equal(access(in_folder("curve.png"), F_OK), 0);
}

/* The script draws the curves and holds no name of a file. */
static void test_plot_script(void **state)
{
    struct gf_lab bars = curve;
    char said[300] = "";
    struct gf_error error = {0};
    stand_in("exec /bin/cat");
    assert_int_equal(draw("curve.png", &curve, said, sizeof said, &error), GF_OK);
    const char *script = content("curve.png");
    assert_non_null(strstr(script, "set xlabel \"stride (floats)\"\n"));
    assert_non_null(strstr(script, "set ylabel \"bandwidth (GB/s)\"\n"));
    assert_non_null(strstr(script, "set terminal pngcairo"));
    assert_non_null(strstr(script, "plot $data using 2:3 title \"padded\" with linespoints\n"));
    assert_null(strstr(script, folder));
    assert_non_null(strstr(script, "set title \"made-up: cuda:0 'GPU'\"\n"));

    bars.axes = (struct gf_lab_axes){"row", "", "error", "ulp", GF_LAB_LOG_Y | GF_LAB_BARS};
    assert_int_equal(draw("curve.svg", &bars, said, sizeof said, &error), GF_OK);
    script = content("curve.svg");
    assert_non_null(strstr(script, "set terminal svg"));
    assert_non_null(strstr(script, "set logscale y 10\n"));
    assert_non_null(strstr(script, "plot $data using 4:xtic(1) title \"error\"\n"));
    assert_non_null(strstr(script, "\"copy\" 2 NaN NaN\n"));
}

static void test_plot_failing(void **state)
{
    char said[300] = "";
    struct gf_error error = {0};
    stand_in("/bin/cat >/dev/null; echo >&2; echo 'line 3: no such terminal' >&2; exit 1");
    assert_int_equal(draw("curve.png", &curve, said, sizeof said, &error), GF_ERROR_OUTPUT);
    assert_non_null(strstr(error.text, "curve.png: gnuplot failed: line 3: no such terminal"));
    assert_string_equal(said, "");
    stand_in("kill -9 $$");
    assert_int_equal(draw("curve.png", &curve, said, sizeof said, &error), GF_ERROR_OUTPUT);
    assert_int_not_equal(access(in_folder("curve.png"), F_OK), 0);
}

static void test_plot_by_gnuplot(void **state)
{
    struct gf_lab bars = curve;
    const struct gf_lab_result result = made_up();
    char said[300] = "";
    struct gf_error error = {0};
    if (system("gnuplot -V >/dev/null 2>&1"))
        skip();
    bars.axes.form = GF_LAB_BARS;
    const struct gf_lab *const labs_of_test[] = {&curve, &bars};
    for (int i = 0; i < 2; i++) {
        if (gf_lab_draw(in_folder("curve.png"), labs_of_test[i], &result, said, sizeof said,
                        &error))
            fail_msg("%s", error.text);
        assert_memory_equal(content("curve.png"), "\x89PNG\r\n\x1a\n", 8);
        assert_int_equal(unlink(in_folder("curve.png")), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_declarations),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_claims),
        cmocka_unit_test(test_running),
        cmocka_unit_test_setup_teardown(test_plot_without_gnuplot, make_folder, remove_known),
        cmocka_unit_test_setup_teardown(test_plot_script, make_folder, remove_known),
        cmocka_unit_test_setup_teardown(test_plot_failing, make_folder, remove_known),
        cmocka_unit_test_setup_teardown(test_plot_by_gnuplot, make_folder, remove_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
