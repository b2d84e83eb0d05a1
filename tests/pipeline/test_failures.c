/* Failures in the middle of a run: damaged inputs, full disks, devices that are short of memory or
 * fail. Every thread stops, all memory is returned, no partial file is left, and the pipeline goes
 * on where it can. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpufilter/pipeline_stream.h"
#include "pipeline/pipeline_internal.h"
#include "runner.h"
#include "temp_folder.h"

static const char *const chains[] = {"", "blur", "blur,equalize,transpose",
                                     "crop=20:5:1:3,boxblur=9"};

static void assert_failure(const char *chain, struct way way, enum gf_status expected,
                           const char *text)
{
    struct gf_image input = picture_random(format_of(40, 60, 3, 8), 0, 1), output;
    struct gf_error error = {0};
    const enum gf_status status = run_way(chain, &way, &input, &output, &error);
    if (status != expected || !strstr(error.text, text))
        fail_msg("'%s', %s: %s (%s) instead of %s", chain, way.name, gf_status_name(status),
                 error.text, gf_status_name(expected));
    picture_free(&output);
    picture_free(&input);
}

static void test_truncated_source(void **state)
{
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        for (int row = 0; row < 60; row += row < 8 ? 1 : 17) {
            for (int lanes = 1; lanes <= 4; lanes += 3) {
                struct fake_device device;
                fake_open(&device);
                struct way way = {.name = "truncated",
                                  .lanes = lanes,
                                  .band_rows = 4,
                                  .streams_in = true,
                                  .streams_out = true,
                                  .source_fails_at = row + 1};
                assert_failure(chains[i], way, GF_ERROR_INPUT, "truncated after row");
                way.device = &device;
                assert_failure(chains[i], way, GF_ERROR_INPUT, "truncated after row");
            }
        }
        assert_failure(chains[i],
                       (struct way){.name = "damaged end",
                                    .lanes = 2,
                                    .streams_in = true,
                                    .streams_out = true,
                                    .finish_fails = true},
                       GF_ERROR_INPUT, "bad checksum");
    }
}

static void test_full_disk(void **state)
{
    for (size_t i = 0; i < 3; i++) {
        for (int row = 0; row < 40; row += 13) {
            struct fake_device device;
            fake_open(&device);
            struct way way = {.name = "full disk",
                              .lanes = 3,
                              .band_rows = 3,
                              .streams_in = true,
                              .streams_out = true,
                              .sink_fails_at = row + 1};
            assert_failure(chains[i], way, GF_ERROR_OUTPUT, "no space left");
            way.device = &device;
            assert_failure(chains[i], way, GF_ERROR_OUTPUT, "no space left");
        }
    }
}

static void test_failing_device(void **state)
{
    for (int run = 1; run < 40; run += 7) {
        for (int late = 0; late < 2; late++) {
            struct fake_device device;
            fake_open(&device);
            device.fail_run = run;
            device.fail_late = late;
            assert_failure("blur,equalize,transpose",
                           (struct way){.name = "failing",
                                        .device = &device,
                                        .lanes = 3,
                                        .band_rows = 4,
                                        .streams_in = true,
                                        .streams_out = true},
                           GF_ERROR_DEVICE, "launch failure");
        }
    }
}

static void test_device_out_of_memory(void **state)
{
    for (uint64_t bytes = 1; bytes < 20000; bytes = 2 * bytes + 1) {
        struct fake_device device;
        fake_open(&device);
        device.memory_bytes = bytes;
        struct way way = {.name = "no memory",
                          .device = &device,
                          .lanes = 4,
                          .band_rows = 10,
                          .streams_in = true,
                          .streams_out = true};
        assert_failure("blur,equalize,transpose", way, GF_ERROR_DEVICE_MEMORY, "out of memory");
    }
    /* The memory that free_bytes() reported is gone when it is needed. */
    for (uint64_t bytes = 4096; bytes < 60000; bytes += 6000) {
        struct gf_image input = picture_random(format_of(40, 60, 3, 8), 0, 1), output;
        struct gf_error error = {0};
        struct fake_device device;
        fake_open(&device);
        device.memory_bytes = bytes;
        device.lies = true;
        struct way way = {
            .name = "vanishing memory", .device = &device, .lanes = 2, .band_rows = 5};
        const enum gf_status status =
            run_way("blur,equalize,transpose", &way, &input, &output, &error);
        assert_true(status == GF_OK || status == GF_ERROR_DEVICE_MEMORY);
        picture_free(&output);
        picture_free(&input);
    }
}

/* ---- the pipeline's recovery ---- */

struct warnings {
    int count;
    char last[500];
};

static void note_warning(void *context, const char *text)
{
    struct warnings *const warnings = context;
    warnings->count++;
    snprintf(warnings->last, sizeof warnings->last, "%s", text);
}

/* A pipeline whose GPU is the fake device. */
static struct gf_pipeline *open_on(struct fake_device *device, const char *chain,
                                   enum gf_device_kind kind, struct warnings *warnings)
{
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    struct gf_error error = {0};
    options.device = GF_DEVICE_CPU; /* does not start a real one */
    options.threads = 2;
    options.warn = note_warning;
    options.warn_context = warnings;
    assert_ok(chain, gf_pipeline_open(chain, &options, &pipeline, &error), &error);
    gf_pipeline_options(pipeline)->device = kind;
    gf_pipeline_replace_backend(pipeline, &device->base, true);
    return pipeline;
}

static void assert_result(struct gf_pipeline *pipeline, const char *chain,
                          const struct gf_image *input)
{
    struct gf_image expected = reference(chain, input, 0), output = {0};
    struct gf_error error = {0};
    assert_ok(chain, gf_pipeline_run_image(pipeline, input, &output, &error), &error);
    assert_int_equal(compare(&output, &expected).most, 0);
    gf_image_free(&output);
    picture_free(&expected);
}

static void test_smaller_bands(void **state)
{
    struct gf_image input = picture_random(format_of(40, 600, 3, 8), 0, 1);
    struct warnings warnings = {0};
    struct fake_device device;
    fake_open(&device);
    device.calls.band_bytes_least = 24000; /* chosen: bands of 187 rows */
    device.calls.band_bytes_most = 24000;
    device.memory_bytes = 100000;
    struct gf_pipeline *const pipeline =
        open_on(&device, "invert,hflip", GF_DEVICE_CUDA, &warnings);
    gf_pipeline_options(pipeline)->lanes = 4;
    for (int run = 0; run < 2; run++) {
        warnings.count = 0;
        assert_result(pipeline, "invert,hflip", &input);
        assert_int_equal(warnings.count, 2);
        assert_non_null(strstr(warnings.last, "trying with bands of 46 rows"));
        assert_int_equal(gf_pipeline_profile(pipeline)->band_rows, 46);
        assert_string_equal(gf_pipeline_profile(pipeline)->device, "fake:0");
    }
    gf_pipeline_close(pipeline);
    fake_assert_clean("smaller bands", &device);
    assert_true(device.closed);
    picture_free(&input);
}

static void test_device_too_small(void **state)
{
    struct gf_image input = picture_random(format_of(40, 300, 3, 8), 0, 1);
    struct warnings warnings = {0};
    struct fake_device device;
    fake_open(&device);
    device.memory_bytes = 100;
    struct gf_pipeline *pipeline = open_on(&device, "blur,transpose", GF_DEVICE_AUTO, &warnings);
    for (int run = 0; run < 2; run++) { /* the second run stays on the CPU and does not warn */
        assert_result(pipeline, "blur,transpose", &input);
        assert_non_null(strstr(warnings.last, "done on the CPU"));
        assert_string_equal(gf_pipeline_profile(pipeline)->device, "cpu, 2 threads");
        assert_non_null(strstr(gf_pipeline_profile(pipeline)->reason, "out of memory"));
        assert_true(device.closed);
        assert_true(run == 0 || warnings.count == 0);
        warnings.count = 0;
    }
    gf_pipeline_close(pipeline);

    struct gf_image output = {0};
    struct gf_error error = {0};
    pipeline = open_on(&device, "blur,transpose", GF_DEVICE_CUDA, &warnings);
    assert_int_equal(gf_pipeline_run_image(pipeline, &input, &output, &error),
                     GF_ERROR_DEVICE_MEMORY);
    gf_pipeline_close(pipeline);
    fake_assert_clean("too small", &device);
    picture_free(&input);
}

static void test_redone_on_cpu(void **state)
{
    static const char chain[] = "blur,equalize,rotate=90";
    struct gf_image input = picture_random(format_of(40, 300, 3, 8), 0, 1), output = {0};
    struct gf_error error = {0};
    for (int run = 1; run < 20; run += 6) {
        struct warnings warnings = {0};
        struct fake_device device;
        fake_open(&device);
        device.fail_run = run;
        device.fail_late = run % 2;
        struct gf_pipeline *pipeline = open_on(&device, chain, GF_DEVICE_AUTO, &warnings);
        assert_result(pipeline, chain, &input);
        assert_int_equal(warnings.count, 1);
        assert_non_null(strstr(warnings.last, "launch failure; the picture is done on the CPU"));
        gf_pipeline_close(pipeline);
        fake_assert_clean(chain, &device);

        fake_open(&device);
        device.fail_run = run;
        pipeline = open_on(&device, chain, GF_DEVICE_CUDA, &warnings);
        assert_int_equal(gf_pipeline_run_image(pipeline, &input, &output, &error), GF_ERROR_DEVICE);
        assert_null(output.data);
        gf_pipeline_close(pipeline);
        fake_assert_clean(chain, &device);
    }
    picture_free(&input);
}

/* The CPU filters floats; for the next picture of integers a device is chosen anew. */
static void test_floats_leave_the_device(void **state)
{
    struct gf_image input = picture_random(format_of(40, 30, 3, 8), 0, 1), floats, output = {0};
    struct gf_format format = format_of(20, 10, 3, 32);
    struct gf_error error = {0};
    struct warnings warnings = {0};
    struct fake_device device;
    format.samples = GF_SAMPLES_FLOAT;
    assert_ok("floats", gf_image_alloc(&floats, format, &error), &error);
    memset(floats.data, 0, floats.pitch * 10);
    fake_open(&device);
    struct gf_pipeline *pipeline = open_on(&device, "median=3,hflip", GF_DEVICE_AUTO, &warnings);
    for (int run = 0; run < 4; run++) {
        if (run % 2) {
            assert_result(pipeline, "median=3,hflip", &input);
            assert_null(strstr(gf_pipeline_profile(pipeline)->reason, "floats"));
            continue;
        }
        assert_ok("floats", gf_pipeline_run_image(pipeline, &floats, &output, &error), &error);
        assert_true(gf_is_float(output.format));
        assert_non_null(strstr(gf_pipeline_profile(pipeline)->device, "cpu"));
        if (!run)
            assert_non_null(strstr(gf_pipeline_profile(pipeline)->reason, "floats"));
        gf_image_free(&output);
    }
    gf_pipeline_close(pipeline);
    assert_int_equal(warnings.count, 0);
    pipeline = open_on(&device, "median=3,hflip", GF_DEVICE_CUDA, &warnings);
    assert_int_equal(gf_pipeline_run_image(pipeline, &floats, &output, &error),
                     GF_ERROR_UNAVAILABLE);
    assert_null(output.data);
    assert_result(pipeline, "median=3,hflip", &input);
    assert_string_equal(gf_pipeline_profile(pipeline)->device, "fake:0");
    gf_pipeline_close(pipeline);
    fake_assert_clean("floats", &device);
    gf_image_free(&floats);
    picture_free(&input);
}

static void test_no_device(void **state)
{
    struct gf_image input = picture_random(format_of(40, 30, 1, 8), 0, 1), output = {0};
    struct gf_error error = {0};
    struct warnings warnings = {0};
    struct fake_device device;
    fake_open(&device);
    device.unavailable = true;
    struct gf_pipeline *pipeline = open_on(&device, "median", GF_DEVICE_AUTO, &warnings);
    assert_result(pipeline, "median", &input);
    assert_int_equal(warnings.count, 0);
    assert_string_equal(gf_pipeline_profile(pipeline)->reason, "fake: there is no device");
    gf_pipeline_close(pipeline);
    pipeline = open_on(&device, "median", GF_DEVICE_CUDA, &warnings);
    assert_int_equal(gf_pipeline_run_image(pipeline, &input, &output, &error),
                     GF_ERROR_UNAVAILABLE);
    gf_pipeline_close(pipeline);
    picture_free(&input);
}

/* ---- files ---- */

static int files_in_folder(bool remove_them)
{
    DIR *const listing = opendir(folder);
    int count = 0;
    assert_non_null(listing);
    for (const struct dirent *entry; (entry = readdir(listing));) {
        if (entry->d_name[0] == '.' && (!entry->d_name[1] || entry->d_name[1] == '.'))
            continue;
        count++;
        if (remove_them)
            unlink(in_folder(entry->d_name));
    }
    closedir(listing);
    return count;
}

static void test_no_partial_output(void **state)
{
    struct gf_image input = picture_random(format_of(50, 80, 3, 8), 0, 1);
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    struct gf_error error = {0};
    options.device = GF_DEVICE_CPU;
    options.threads = 3;
    options.band_rows = 5;
    write_ppm(in_folder("whole.ppm"), &input, picture_bytes(&input));
    write_ppm(in_folder("cut.ppm"), &input, picture_bytes(&input) / 2);
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        assert_ok("open", gf_pipeline_open(chains[i], &options, &pipeline, &error), &error);
        assert_int_equal(
            gf_pipeline_run_file(pipeline, in_folder("cut.ppm"), in_folder("out.ppm"), &error),
            GF_ERROR_INPUT);
        assert_int_equal(files_in_folder(false), 2);
        assert_int_equal(
            gf_pipeline_run_file(pipeline, in_folder("none.ppm"), in_folder("out.ppm"), &error),
            GF_ERROR_READ);
        assert_int_equal(gf_pipeline_run_file(pipeline, in_folder("whole.ppm"),
                                              in_folder("no/such/out.ppm"), &error),
                         GF_ERROR_OUTPUT);
        assert_int_equal(files_in_folder(false), 2);
        assert_ok(
            "whole",
            gf_pipeline_run_file(pipeline, in_folder("whole.ppm"), in_folder("out.ppm"), &error),
            &error);
        assert_int_equal(files_in_folder(false), 3);
        unlink(in_folder("out.ppm"));
        gf_pipeline_close(pipeline);
    }
    picture_free(&input);
}

/* Input and output may be one file; after the device failed the input is read again, even from a
 * pipe. */
static void test_read_again(void **state)
{
    struct gf_image input = picture_random(format_of(50, 80, 3, 8), 0, 1);
    struct gf_image expected = reference("blur,vflip", &input, 0);
    struct gf_error error = {0};
    write_ppm(in_folder("whole.ppm"), &input, picture_bytes(&input));
    for (int piped = 0; piped < 2; piped++) {
        struct warnings warnings = {0};
        struct fake_device device;
        struct bytes whole = load(in_folder("whole.ppm"));
        struct feed feed = {.pause_ms = 0};
        fake_open(&device);
        device.fail_run = 5;
        struct gf_pipeline *const pipeline =
            open_on(&device, "blur,vflip", GF_DEVICE_AUTO, &warnings);
        if (piped)
            feed_begin(&feed, in_folder("pipe"), whole);
        const char *const target = in_folder(piped ? "out.ppm" : "whole.ppm");
        assert_ok(
            "again",
            gf_pipeline_run_file(pipeline, in_folder(piped ? "pipe" : "whole.ppm"), target, &error),
            &error);
        assert_int_equal(warnings.count, 1);
        if (piped)
            feed_end(&feed);
        free(whole.data);
        struct gf_image output = netpbm_read(target);
        assert_same("again", &output, &expected);
        picture_free(&output);
        gf_pipeline_close(pipeline);
        write_ppm(in_folder("whole.ppm"), &input, picture_bytes(&input));
    }
    picture_free(&input);
    picture_free(&expected);
}

static enum gf_status read_file(void *context, void *data, size_t size, size_t *got,
                                struct gf_error *error)
{
    *got = fread(data, 1, size < 1000 ? size : 1000, context);
    return GF_OK;
}

/* A caller's function gives its bytes once, and a later attempt finds them again. */
static void test_read_once_from_the_caller(void **state)
{
    struct gf_image input = picture_random(format_of(500, 400, 3, 8), 0, 1), output = {0};
    struct gf_image expected = reference("blur,vflip", &input, 0);
    struct gf_error error = {0};
    struct warnings warnings = {0};
    struct fake_device device;
    write_ppm(in_folder("once.ppm"), &input, picture_bytes(&input));
    FILE *const file = fopen(in_folder("once.ppm"), "rb");
    const struct gf_reader reader = {.size = sizeof reader, .read = read_file, .context = file};
    fake_open(&device);
    device.fail_run = 5;
    struct gf_pipeline *const pipeline = open_on(&device, "blur,vflip", GF_DEVICE_AUTO, &warnings);
    assert_ok("once", gf_pipeline_decode_from(pipeline, &reader, &output, &error), &error);
    assert_int_equal(warnings.count, 1);
    assert_int_equal(compare(&output, &expected).most, 0);
    gf_pipeline_close(pipeline);
    fclose(file);
    gf_image_free(&output);
    picture_free(&input);
    picture_free(&expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncated_source), cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_failing_device),   cmocka_unit_test(test_device_out_of_memory),
        cmocka_unit_test(test_smaller_bands),    cmocka_unit_test(test_device_too_small),
        cmocka_unit_test(test_redone_on_cpu),    cmocka_unit_test(test_floats_leave_the_device),
        cmocka_unit_test(test_no_device),        cmocka_unit_test(test_no_partial_output),
        cmocka_unit_test(test_read_again),       cmocka_unit_test(test_read_once_from_the_caller),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
