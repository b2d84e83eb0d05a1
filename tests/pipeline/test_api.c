/* The public functions as a caller sees them who makes mistakes, and pictures from bytes to bytes.
 */
#include "codec/codec_test.h"

#include <math.h>

#include "gpufilter/gpufilter.h"

static void assert_usage(enum gf_status status, const char *words)
{
    if (status != GF_ERROR_USAGE || !strstr(failure.text, words))
        fail_msg("%s: \"%s\" does not say \"%s\"", gf_status_name(status), failure.text, words);
}

static void test_version(void **state)
{
    char text[40];
    snprintf(text, sizeof text, "%d.%d.%d", GF_VERSION_MAJOR, GF_VERSION_MINOR, GF_VERSION_PATCH);
    assert_string_equal(GF_VERSION, text);
    assert_string_equal(gf_version(), text);
}

static void test_unknown_numbers(void **state)
{
    assert_string_equal(gf_status_name(GF_ERROR_INPUT), "GF_ERROR_INPUT");
    for (int number = -1; number < 100; number += 100) {
        assert_string_equal(gf_status_name((enum gf_status)number), "unknown status");
        assert_non_null(gf_status_meaning((enum gf_status)number));
        assert_string_equal(gf_span_kind_name((enum gf_span_kind)number), "unknown");
    }
    const char *volatile no_format = NULL;
    (void)gf_fail(&failure, GF_ERROR_INPUT, no_format, 0);
    assert_string_equal(failure.text, gf_status_meaning(GF_ERROR_INPUT));
    assert_string_equal(gf_status_name(GF_STATUS_COUNT), "unknown status");
    assert_string_equal(gf_span_kind_name(GF_SPAN_KINDS), "unknown");
}

static void line_ignored(void *context, const char *text)
{
}

#define ASSERT_NULL_REFUSED(function, argument, ...) \
    assert_usage(function(__VA_ARGS__, &failure), #function ": " #argument " is NULL")

static void test_null_arguments(void **state)
{
    struct gf_pipeline *pipeline;
    struct gf_image image = {0}, *const no_image = NULL;
    struct gf_format format = {10, 10, 3, 8, GF_SAMPLES_INTEGER}, *const no_format = NULL;
    struct gf_selftest_counts counts;
    struct gf_device_info *const no_info = NULL;
    void *result;
    size_t size;
    int architecture;
    bool built_in;
    ASSERT_NULL_REFUSED(gf_pipeline_open, pipeline, "", NULL, NULL);
    assert_int_equal(gf_pipeline_open(NULL, NULL, &pipeline, NULL), GF_OK);
    ASSERT_NULL_REFUSED(gf_pipeline_run_file, pipeline, NULL, "a", "b");
    ASSERT_NULL_REFUSED(gf_pipeline_run_file, input, pipeline, NULL, "b");
    ASSERT_NULL_REFUSED(gf_pipeline_run_file, output, pipeline, "a", NULL);
    ASSERT_NULL_REFUSED(gf_pipeline_run_bytes, pipeline, NULL, "a", 1, GF_FILE_AUTO, &result,
                        &size);
    ASSERT_NULL_REFUSED(gf_pipeline_run_bytes, data, pipeline, NULL, 1, GF_FILE_AUTO, &result,
                        &size);
    ASSERT_NULL_REFUSED(gf_pipeline_run_bytes, result, pipeline, "a", 1, GF_FILE_AUTO, NULL, &size);
    ASSERT_NULL_REFUSED(gf_pipeline_run_bytes, result_size, pipeline, "a", 1, GF_FILE_AUTO, &result,
                        NULL);
    ASSERT_NULL_REFUSED(gf_pipeline_run_image, pipeline, NULL, &image, &image);
    ASSERT_NULL_REFUSED(gf_pipeline_run_image, input, pipeline, NULL, &image);
    ASSERT_NULL_REFUSED(gf_pipeline_run_image, output, pipeline, &image, NULL);
    ASSERT_NULL_REFUSED(gf_pipeline_decode, pipeline, NULL, "a", 1, &image);
    ASSERT_NULL_REFUSED(gf_pipeline_decode, data, pipeline, NULL, 1, &image);
    ASSERT_NULL_REFUSED(gf_pipeline_decode, output, pipeline, "a", 1, NULL);
    ASSERT_NULL_REFUSED(gf_pipeline_encode, pipeline, NULL, &image, GF_FILE_PNG, &result, &size);
    ASSERT_NULL_REFUSED(gf_pipeline_encode, input, pipeline, NULL, GF_FILE_PNG, &result, &size);
    ASSERT_NULL_REFUSED(gf_pipeline_encode, result, pipeline, &image, GF_FILE_PNG, NULL, &size);
    ASSERT_NULL_REFUSED(gf_pipeline_encode, result_size, pipeline, &image, GF_FILE_PNG, &result,
                        NULL);
    const void *const data[] = {"a"};
    float value;
    ASSERT_NULL_REFUSED(gf_decode_batch, pipeline, NULL, 1, data, &size, &image, NULL, NULL);
    ASSERT_NULL_REFUSED(gf_decode_batch, data, pipeline, 1, NULL, &size, &image, NULL, NULL);
    ASSERT_NULL_REFUSED(gf_decode_batch, sizes, pipeline, 1, data, NULL, &image, NULL, NULL);
    ASSERT_NULL_REFUSED(gf_decode_batch, images, pipeline, 1, data, &size, NULL, NULL, NULL);
    ASSERT_NULL_REFUSED(gf_encode_batch, pipeline, NULL, 1, &image, GF_FILE_PNG, &result, &size,
                        NULL, NULL);
    ASSERT_NULL_REFUSED(gf_encode_batch, images, pipeline, 1, NULL, GF_FILE_PNG, &result, &size,
                        NULL, NULL);
    ASSERT_NULL_REFUSED(gf_encode_batch, results, pipeline, 1, &image, GF_FILE_PNG, NULL, &size,
                        NULL, NULL);
    ASSERT_NULL_REFUSED(gf_encode_batch, sizes, pipeline, 1, &image, GF_FILE_PNG, &result, NULL,
                        NULL, NULL);
    ASSERT_NULL_REFUSED(gf_pipeline_to_floats, pipeline, NULL, 1, &image, GF_FLOATS_NHWC, 0, NULL,
                        NULL, &value, NULL);
    ASSERT_NULL_REFUSED(gf_pipeline_to_floats, images, pipeline, 1, NULL, GF_FLOATS_NHWC, 0, NULL,
                        NULL, &value, NULL);
    ASSERT_NULL_REFUSED(gf_pipeline_to_floats, values, pipeline, 1, &image, GF_FLOATS_NHWC, 0, NULL,
                        NULL, NULL, NULL);
    const struct gf_numbers form = {.type = GF_NUMBER_FLOAT16};
    ASSERT_NULL_REFUSED(gf_pipeline_to_numbers, pipeline, NULL, 1, &image, &form, &value, NULL);
    ASSERT_NULL_REFUSED(gf_pipeline_to_numbers, images, pipeline, 1, NULL, &form, &value, NULL);
    ASSERT_NULL_REFUSED(gf_pipeline_to_numbers, numbers, pipeline, 1, &image, NULL, &value, NULL);
    ASSERT_NULL_REFUSED(gf_pipeline_to_numbers, values, pipeline, 1, &image, &form, NULL, NULL);
    ASSERT_NULL_REFUSED(gf_image_to_numbers, image, NULL, &form, &value);
    ASSERT_NULL_REFUSED(gf_image_to_numbers, numbers, &image, NULL, &value);
    ASSERT_NULL_REFUSED(gf_image_from_numbers, values, NULL, GF_NUMBER_FLOAT32, 0, 1, &image);
    ASSERT_NULL_REFUSED(gf_image_from_numbers, image, &value, GF_NUMBER_FLOAT32, 0, 1, NULL);
    ASSERT_NULL_REFUSED(gf_pipeline_format, pipeline, NULL, format, &format);
    ASSERT_NULL_REFUSED(gf_pipeline_format, output, pipeline, format, no_format);
    ASSERT_NULL_REFUSED(gf_image_alloc, image, no_image, format);
    ASSERT_NULL_REFUSED(gf_selftest, line, true, "", NULL, NULL, &counts);
    ASSERT_NULL_REFUSED(gf_selftest, counts, true, "", line_ignored, NULL, NULL);
    ASSERT_NULL_REFUSED(gf_device_describe, info, 0, no_info);
    ASSERT_NULL_REFUSED(gf_device_code, architecture, 0, NULL, &built_in);
    ASSERT_NULL_REFUSED(gf_device_code, built_in, 0, &architecture, NULL);
    gf_pipeline_close(pipeline);
}

/* Pictures in a device's memory are for pipelines on a device that was asked for. */
static void test_batches_without_a_device(void **state)
{
    unsigned char pixels[30] = {0};
    struct gf_options options = gf_options_default();
    struct gf_image image = {{3, 3, 3, 8, GF_SAMPLES_INTEGER}, 9, pixels, false};
    const void *const data[] = {pixels};
    struct gf_pipeline *pipeline;
    void *result = NULL;
    size_t size = sizeof pixels;
    float values[27];
    options.device = GF_DEVICE_CPU;
    assert_int_equal(gf_pipeline_open("", &options, &pipeline, NULL), GF_OK);
    assert_usage(gf_decode_batch(pipeline, 1, data, &size, &image, NULL, NULL, &failure),
                 "pictures in a device's memory need options.device=GF_DEVICE_CUDA");
    assert_usage(
        gf_encode_batch(pipeline, 1, &image, GF_FILE_PNG, &result, &size, NULL, NULL, &failure),
        "pictures in a device's memory need options.device=GF_DEVICE_CUDA");
    assert_usage(gf_filter_batch(pipeline, 1, &image, &image, NULL, &failure),
                 "pictures in a device's memory need options.device=GF_DEVICE_CUDA");
    assert_usage(gf_filter_batch(pipeline, -1, &image, &image, NULL, &failure),
                 "count=-1 is negative");
    ASSERT_NULL_REFUSED(gf_filter_batch, inputs, pipeline, 1, NULL, &image, NULL);
    ASSERT_NULL_REFUSED(gf_filter_batch, outputs, pipeline, 1, &image, NULL, NULL);
    assert_usage(gf_pipeline_to_floats(pipeline, 1, &image, GF_FLOATS_NCHW, 0, NULL, NULL, values,
                                       NULL, &failure),
                 "pictures in a device's memory need options.device=GF_DEVICE_CUDA");
    assert_usage(gf_pipeline_to_floats(pipeline, 0, &image, GF_FLOATS_NCHW, 0, NULL, NULL, values,
                                       NULL, &failure),
                 "count=0 is below 1");
    gf_pipeline_free_images(pipeline, &image, 1);
    gf_pipeline_close(pipeline);
}

/* What a watch has seen, and when it cancels. */
struct seen {
    int calls, most;
    double last;
    bool in_order;
};

static bool count_call(void *context, double part)
{
    struct seen *const seen = context;
    seen->in_order &= part > seen->last && part <= 1;
    seen->last = part;
    return ++seen->calls < seen->most;
}

static void test_watch(void **state)
{
    enum { WIDTH = 64, HEIGHT = 4000 };
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    struct gf_image image, result = {0};
    options.band_rows = 100;
    options.device = GF_DEVICE_CPU;
    assert_int_equal(
        gf_image_alloc(&image, (struct gf_format){WIDTH, HEIGHT, 3, 8, GF_SAMPLES_INTEGER}, NULL),
        GF_OK);
    memset(image.data, 1, image.pitch * HEIGHT);
    for (int threads = 1; threads <= 4; threads += 3) {
        options.threads = threads;
        assert_int_equal(gf_pipeline_open("blur=2", &options, &pipeline, &failure), GF_OK);
        struct seen seen = {.most = 1000, .in_order = true};
        gf_pipeline_watch(pipeline, count_call, &seen);
        assert_int_equal(gf_pipeline_run_image(pipeline, &image, &result, &failure), GF_OK);
        gf_image_free(&result);
        assert_int_equal(seen.calls, HEIGHT / 100);
        assert_true(seen.in_order && seen.last >= 1);
        seen = (struct seen){.most = 3, .in_order = true};
        assert_int_equal(gf_pipeline_run_image(pipeline, &image, &result, &failure),
                         GF_ERROR_CANCELLED);
        assert_string_equal(failure.text, "the run was cancelled");
        assert_null(result.data);
        assert_int_equal(seen.calls, 3);
        seen = (struct seen){.most = 1000, .in_order = true}; /* the next run begins anew */
        assert_int_equal(gf_pipeline_run_image(pipeline, &image, &result, &failure), GF_OK);
        gf_image_free(&result);
        gf_pipeline_watch(pipeline, NULL, NULL);
        assert_int_equal(gf_pipeline_run_image(pipeline, &image, &result, &failure), GF_OK);
        gf_image_free(&result);
        assert_int_equal(seen.calls, HEIGHT / 100);
        gf_pipeline_close(pipeline);
    }
    gf_image_free(&image);
}

/* A file that is only decoded, or only coded again, is watched, too; nothing of a cancelled output
 * is left. */
static void test_watch_of_files(void **state)
{
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    struct gf_image image, result = {0};
    void *file = NULL, *other = NULL;
    size_t size, other_size;
    options.band_rows = 50;
    options.device = GF_DEVICE_CPU;
    assert_int_equal(
        gf_image_alloc(&image, (struct gf_format){64, 1000, 3, 8, GF_SAMPLES_INTEGER}, NULL),
        GF_OK);
    memset(image.data, 1, image.pitch * 1000);
    assert_int_equal(gf_pipeline_open("", &options, &pipeline, &failure), GF_OK);
    assert_int_equal(gf_pipeline_encode(pipeline, &image, GF_FILE_PNG, &file, &size, &failure),
                     GF_OK);
    struct seen seen = {.most = 2, .in_order = true};
    gf_pipeline_watch(pipeline, count_call, &seen);
    assert_int_equal(gf_pipeline_decode(pipeline, file, size, &result, &failure),
                     GF_ERROR_CANCELLED);
    seen = (struct seen){.most = 2, .in_order = true};
    assert_int_equal(
        gf_pipeline_run_bytes(pipeline, file, size, GF_FILE_JPEG, &other, &other_size, &failure),
        GF_ERROR_CANCELLED);
    seen = (struct seen){.most = 1000, .in_order = true};
    assert_int_equal(gf_pipeline_decode(pipeline, file, size, &result, &failure), GF_OK);
    assert_true(seen.calls > 1 && seen.last >= 1);
    gf_image_free(&result);
    gf_image_free(&image);
    gf_free(file);
    gf_pipeline_close(pipeline);
}

static void test_null_allowed(void **state)
{
    const struct gf_filter *const blur = gf_filter_find("blur");
    struct gf_pipeline *pipeline = (void *)1;
    gf_pipeline_free_images(NULL, NULL, 1);
    gf_pipeline_close(NULL);
    gf_image_free(NULL);
    gf_free(NULL);
    gf_options_init(NULL, 100);
    gf_pipeline_watch(NULL, NULL, NULL);
    assert_null(gf_pipeline_profile(NULL));
    assert_null(gf_filter_find(NULL));
    assert_null(gf_filter_suggest(NULL));
    assert_null(gf_filter_name(NULL));
    assert_null(gf_filter_alias(NULL));
    assert_null(gf_filter_summary(NULL));
    assert_null(gf_filter_definition(NULL));
    assert_null(gf_filter_example(NULL));
    assert_null(gf_filter_params(NULL));
    assert_null(gf_filter_variant(NULL, 0, NULL));
    assert_null(gf_filter_variant(blur, -1, NULL));
    assert_non_null(gf_filter_variant(blur, 0, NULL));
    assert_true(gf_device_count(NULL) >= 0);
    assert_int_equal(gf_pipeline_open("wobble", NULL, &pipeline, NULL), GF_ERROR_USAGE);
    assert_null(pipeline); /* so that closing it is harmless */
    assert_int_equal(gf_fail(NULL, GF_ERROR_INPUT, "%s", ""), GF_ERROR_INPUT);
}

static void assert_option_refused(const struct gf_options *options, const char *words)
{
    struct gf_pipeline *pipeline;
    assert_usage(gf_pipeline_open("blur", options, &pipeline, &failure), words);
    assert_null(pipeline);
}

#define ASSERT_OPTION_REFUSED(member, value, words) \
    do { \
        struct gf_options options_ = gf_options_default(); \
        options_.member = value; \
        assert_option_refused(&options_, "options." #member "=" words); \
    } while (0)

static void test_wrong_options(void **state)
{
    ASSERT_OPTION_REFUSED(device, (enum gf_device_kind)3, "3 is outside 0..2");
    ASSERT_OPTION_REFUSED(device_index, -1, "-1 is outside 0..1023");
    ASSERT_OPTION_REFUSED(lanes, -3, "-3 is outside 0..64");
    ASSERT_OPTION_REFUSED(lanes, 65, "65 is outside 0..64");
    ASSERT_OPTION_REFUSED(band_rows, -7, "-7 is outside 0..1000000");
    ASSERT_OPTION_REFUSED(threads, -1, "-1 is outside 0..1024");
    ASSERT_OPTION_REFUSED(max_pixels, 0, "0 allows no picture");
    ASSERT_OPTION_REFUSED(host_memory, (enum gf_host_memory)2, "2 is outside 0..1");
    ASSERT_OPTION_REFUSED(transfer, (enum gf_transfer)(-1), "-1 is outside 0..1");
    ASSERT_OPTION_REFUSED(codec, (enum gf_codec)3, "3 is outside 0..2");
    ASSERT_OPTION_REFUSED(format, (enum gf_file_format)21, "21 is outside 0..20");
    ASSERT_OPTION_REFUSED(quality, 1000, "1000 is outside 1..100");
    ASSERT_OPTION_REFUSED(quality, 0, "0 is outside 1..100");
    ASSERT_OPTION_REFUSED(subsampling, (enum gf_subsampling)9, "9 is outside 0..3");
    ASSERT_OPTION_REFUSED(png_level, 77, "77 is outside 0..9");
    ASSERT_OPTION_REFUSED(formats, 1 << GF_FILE_AUTO, "0x1 has bits of no format");
    ASSERT_OPTION_REFUSED(formats, 1 << GF_FILE_COUNT, "0x200000 has bits of no format");
    ASSERT_OPTION_REFUSED(kept, 1 << GF_METADATA_ITEMS, "0x2000 has bits of no item");
    ASSERT_OPTION_REFUSED(timeout_s, -1, "-1 is outside 0..1000000");
    ASSERT_OPTION_REFUSED(timeout_s, (double)NAN, "nan is outside 0..1000000");
    struct gf_options options = gf_options_default();
    options.transfer = GF_TRANSFER_ZERO_COPY;
    options.host_memory = GF_HOST_PAGEABLE;
    assert_option_refused(&options, "zero copy needs pinned host memory");
}

/* What a caller's struct was if an older header had no more members. */
struct older_options {
    size_t size;
    enum gf_device_kind device;
    int device_index, lanes, band_rows;
};

static void test_options_of_other_versions(void **state)
{
    struct gf_options now = gf_options_default();
    struct older_options *const older =
        malloc(sizeof *older); /* its end is the end of the memory */
    struct gf_pipeline *pipeline;
    assert_int_equal(now.size, sizeof now);
    assert_int_equal(offsetof(struct gf_options, threads), sizeof *older);
    gf_options_init((void *)older, sizeof *older);
    assert_int_equal(older->size, sizeof *older);
    older->device = GF_DEVICE_CPU;
    assert_int_equal(gf_pipeline_open("blur", (void *)older, &pipeline, &failure), GF_OK);
    gf_pipeline_close(pipeline);
    older->lanes = 1000;
    assert_option_refused((void *)older, "options.lanes=1000");
    free(older);

    const size_t newer = sizeof now + 8;
    unsigned char *const large = malloc(newer);
    memset(large, 0xff, newer);
    gf_options_init((void *)large, newer);
    memcpy(&now, large, sizeof now);
    assert_int_equal(now.quality, 90);
    assert_int_equal(large[sizeof now] | large[newer - 1], 0);
    assert_option_refused(&now, "gf_options_default() sets it");
    free(large);
    now.size = 0;
    assert_option_refused(&now, "options.size=0 is outside");
}

/* ---- bytes to bytes ---- */

static struct gf_pipeline *open_cpu(const char *chain, enum gf_file_format format)
{
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    warnings = 0;
    options.device = GF_DEVICE_CPU;
    options.format = format;
    options.warn = take_warning;
    assert_int_equal(gf_pipeline_open(chain, &options, &pipeline, &failure), GF_OK);
    return pipeline;
}

/* An input with a colour profile and a density, where the format can hold them. */
static struct bytes make_file(const char *name)
{
    const struct gf_options options = plain_options();
    struct picture picture = smooth_picture(300, 200, 3, 8);
    unsigned char *const icc = calloc(1, 200);
    memcpy(icc + 16, "RGB ", 4);
    picture.metadata.icc = (struct gf_blob){icc, 200};
    picture.metadata.density_x = picture.metadata.density_y = 11811;
    assert_int_equal(encode(in_folder(name), &picture, &options), GF_OK);
    free_picture(&picture);
    return load(in_folder(name));
}

static struct bytes run_bytes(struct gf_pipeline *pipeline, struct bytes from,
                              enum gf_file_format format)
{
    struct bytes to = {0};
    void *data = NULL;
    if (gf_pipeline_run_bytes(pipeline, from.data, from.size, format, &data, &to.size, &failure))
        fail_msg("%s", failure.text);
    to.data = data;
    return to;
}

static const struct {
    const char *extension;
    enum gf_file_format format;
} kinds[] = {
    {"png", GF_FILE_PNG}, {"jpg", GF_FILE_JPEG}, {"ppm", GF_FILE_PNM}, {"pam", GF_FILE_PAM}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void assert_same_bytes(struct bytes a, struct bytes b)
{
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
}

static void test_bytes_are_the_files(void **state)
{
    struct gf_pipeline *const pipeline = open_cpu("blur,equalize,transpose", GF_FILE_AUTO);
    for (int i = 0; i < KINDS; i++) {
        char in[20];
        snprintf(in, sizeof in, "in.%s", kinds[i].extension);
        struct bytes from = make_file(in);
        for (int o = 0; o < KINDS; o++) {
            char out[20];
            snprintf(out, sizeof out, "out.%s", kinds[o].extension);
            assert_int_equal(
                gf_pipeline_run_file(pipeline, in_folder(in), in_folder(out), &failure), GF_OK);
            struct bytes file = load(in_folder(out));
            struct bytes memory = run_bytes(pipeline, from, kinds[o].format);
            assert_same_bytes(memory, file);
            gf_free(memory.data);
            if (i == o) {
                memory = run_bytes(pipeline, from, GF_FILE_AUTO); /* the input's own format */
                assert_same_bytes(memory, file);
                gf_free(memory.data);
            }
            const struct gf_profile *const profile = gf_pipeline_profile(pipeline);
            assert_int_equal(profile->in_bytes, from.size);
            assert_int_equal(profile->out_bytes, file.size);
            free(file.data);
        }
        free(from.data);
    }
    gf_pipeline_close(pipeline);
}

static void test_bytes_keep_metadata(void **state)
{
    const struct gf_options options = plain_options();
    struct gf_pipeline *const pipeline = open_cpu("invert", GF_FILE_AUTO);
    struct bytes from = make_file("meta.png"), to = run_bytes(pipeline, from, GF_FILE_JPEG);
    struct picture back;
    save(in_folder("meta.jpg"), to.data, to.size);
    assert_int_equal(decode(in_folder("meta.jpg"), &options, &back), GF_OK);
    assert_int_equal(back.metadata.icc.size, 200);
    free_picture(&back);
    gf_free(to.data);
    free(from.data);
    gf_pipeline_close(pipeline);
}

/* The call's format goes before the option's, which goes before the input's. */
static void test_format_of_the_result(void **state)
{
    struct gf_pipeline *const pipeline = open_cpu("", GF_FILE_JPEG);
    struct bytes from = make_file("format.png"), to = run_bytes(pipeline, from, GF_FILE_AUTO);
    assert_int_equal(gf_file_format_of(to.data, to.size), GF_FILE_JPEG);
    gf_free(to.data);
    to = run_bytes(pipeline, from, GF_FILE_PAM);
    assert_int_equal(gf_file_format_of(to.data, to.size), GF_FILE_PAM);
    gf_free(to.data);
    void *data;
    assert_usage(gf_pipeline_run_bytes(pipeline, from.data, from.size, (enum gf_file_format)21,
                                       &data, &to.size, &failure),
                 "format=21 is outside 0..20");
    free(from.data);
    gf_pipeline_close(pipeline);
}

/* The size of a trimmed picture is known only when it is made. */
static void test_size_by_pixels(void **state)
{
    const struct gf_format format = {.width = 9, .height = 7, .channels = 1, .bits = 8};
    unsigned char pixels[63] = {[3 * 9 + 2] = 200, [4 * 9 + 5] = 100};
    const struct gf_image image = {.format = format, .pitch = 9, .data = pixels};
    struct gf_pipeline *const pipeline = open_cpu("trim,invert", GF_FILE_AUTO);
    struct gf_format largest;
    assert_int_equal(gf_pipeline_format(pipeline, format, &largest, &failure), GF_OK);
    assert_int_equal(largest.width, 9);
    for (int i = 0; i < 2; i++) {
        struct gf_image made = {.data = NULL};
        assert_int_equal(gf_pipeline_run_image(pipeline, &image, &made, &failure), GF_OK);
        assert_int_equal(made.format.width, 4);
        assert_int_equal(made.format.height, 2);
        assert_int_equal(made.data[0], 55);
        assert_int_equal(made.data[made.pitch + 3], 155);
        gf_image_free(&made);
    }
    unsigned char room[63];
    struct gf_image given = {.format = format, .pitch = 9, .data = room};
    assert_usage(
        gf_pipeline_run_image(pipeline, &image, &given, &failure),
        "output: the result is 4x2x1 of 8 bits, which depends on the picture: leave the memory "
        "to the library");
    gf_pipeline_close(pipeline);
}

static void assert_bytes_refused(struct gf_pipeline *pipeline, const void *data, size_t size,
                                 enum gf_status expected, const char *words)
{
    void *result = (void *)1;
    size_t result_size = 99;
    const enum gf_status status =
        gf_pipeline_run_bytes(pipeline, data, size, GF_FILE_PNG, &result, &result_size, &failure);
    if (status != expected || strncmp(failure.text, words, strlen(words)))
        fail_msg("%s: \"%s\" instead of \"%s\"", gf_status_name(status), failure.text, words);
    assert_ptr_equal(result, (void *)1);
    assert_int_equal(result_size, 99);
}

static void test_bad_bytes(void **state)
{
    struct gf_pipeline *const pipeline = open_cpu("blur,equalize", GF_FILE_AUTO);
    assert_bytes_refused(pipeline, "", 0, GF_ERROR_INPUT, "input: no bytes");
    assert_bytes_refused(pipeline, "what?!", 6, GF_ERROR_INPUT,
                         "input: not a picture of a known format");
    for (int i = 0; i < KINDS; i++) {
        char in[20];
        snprintf(in, sizeof in, "bad.%s", kinds[i].extension);
        struct bytes from = make_file(in);
        for (size_t size = 1; size < from.size; size += size / 3 + 1) {
            unsigned char *const part = malloc(size); /* its end is the end of the memory */
            memcpy(part, from.data, size);
            assert_bytes_refused(pipeline, part, size, GF_ERROR_INPUT, "input: ");
            free(part);
        }
        struct bytes to = run_bytes(pipeline, from, GF_FILE_AUTO); /* it goes on working */
        gf_free(to.data);
        free(from.data);
    }
    gf_pipeline_close(pipeline);
}

static void test_several_pictures_in_bytes(void **state)
{
    static const char two[] = "P5 2 1 255\nabP5 2 1 255\ncd", more[] = "P5 2 1 255\nabx";
    struct gf_pipeline *const pipeline = open_cpu("invert", GF_FILE_AUTO);
    struct bytes from = {(unsigned char *)two, sizeof two - 1};
    struct bytes to = run_bytes(pipeline, from, GF_FILE_AUTO);
    assert_int_equal(warnings, 1);
    assert_int_equal(to.size, sizeof more - 2);
    gf_free(to.data);
    from = (struct bytes){(unsigned char *)more, sizeof more - 1};
    to = run_bytes(pipeline, from, GF_FILE_AUTO);
    assert_int_equal(warnings, 2);
    assert_int_equal(to.size, sizeof more - 2);
    assert_int_equal(to.data[to.size - 1], 255 - 'b');
    gf_free(to.data);
    gf_pipeline_close(pipeline);
}

/* More than the buffers of input and output hold. */
static void test_large_bytes(void **state)
{
    struct gf_pipeline *const pipeline = open_cpu("", GF_FILE_AUTO);
    const struct gf_options options = plain_options();
    struct picture picture = random_picture(2000, 1000, 3, 8);
    assert_int_equal(encode(in_folder("large.ppm"), &picture, &options), GF_OK);
    struct bytes from = load(in_folder("large.ppm"));
    struct bytes png = run_bytes(pipeline, from, GF_FILE_PNG);
    struct bytes back = run_bytes(pipeline, png, GF_FILE_PNM);
    assert_same_bytes(back, from);
    gf_free(png.data);
    gf_free(back.data);
    free(from.data);
    free_picture(&picture);
    gf_pipeline_close(pipeline);
}

/* Bytes to pixels to bytes, each with half of the chain, is what the whole chain does. */
static void test_pixels_between_bytes(void **state)
{
    struct gf_pipeline *const first = open_cpu("resize=50%,trim", GF_FILE_AUTO);
    struct gf_pipeline *const second = open_cpu("blur,grayscale", GF_FILE_PAM);
    struct gf_pipeline *const whole = open_cpu("resize=50%,trim,blur,grayscale", GF_FILE_PAM);
    struct bytes from = make_file("between.ppm"), to = {0};
    struct bytes expected = run_bytes(whole, from, GF_FILE_AUTO);
    struct gf_image pixels = {.data = NULL};
    void *data;
    assert_int_equal(gf_pipeline_decode(first, from.data, from.size, &pixels, &failure), GF_OK);
    assert_int_equal(gf_pipeline_profile(first)->out.width, pixels.format.width);
    assert_int_equal(gf_pipeline_encode(second, &pixels, GF_FILE_AUTO, &data, &to.size, &failure),
                     GF_OK);
    to.data = data;
    assert_same_bytes(to, expected);
    gf_free(to.data);
    struct gf_image other =
        pixels; /* the caller's memory: of the result's format, and of another */
    other.owned = false;
    memset(other.data, 0, other.pitch);
    assert_int_equal(gf_pipeline_decode(first, from.data, from.size, &other, &failure), GF_OK);
    other.format.channels--;
    assert_usage(gf_pipeline_decode(first, from.data, from.size, &other, &failure),
                 "output: the result is ");
    assert_int_equal(gf_pipeline_encode(second, &pixels, GF_FILE_PNG, &data, &to.size, &failure),
                     GF_OK);
    assert_int_equal(gf_file_format_of(data, to.size), GF_FILE_PNG);
    gf_free(data);
    assert_usage(gf_pipeline_encode(second, &pixels, GF_FILE_HEIC, &data, &to.size, &failure),
                 "HEIC is read, not written");
    gf_image_free(&pixels);
    assert_int_equal(gf_pipeline_decode(first, from.data, from.size / 2, &pixels, &failure),
                     GF_ERROR_INPUT);
    assert_null(pixels.data);
    gf_free(expected.data);
    free(from.data);
    gf_pipeline_close(first);
    gf_pipeline_close(second);
    gf_pipeline_close(whole);
}

/* A picture in memory has metadata if it is given those of a file; else it has none. */
static void test_metadata_between_bytes(void **state)
{
    static const char exif[] = "MM\0\x2a\0\0\0\x08\0\1\1\x0f\0\2\0\0\0\4Abc\0\0\0\0\0";
    struct gf_pipeline *const pipeline = open_cpu("", GF_FILE_PNG);
    const struct gf_options options = plain_options();
    struct picture picture = random_picture(20, 10, 3, 8);
    assert_true(gf_metadata_add_exif(&picture.metadata, exif, sizeof exif - 1));
    assert_int_equal(encode(in_folder("exif.png"), &picture, &options), GF_OK);
    struct bytes from = load(in_folder("exif.png"));
    struct gf_image pixels = {.data = NULL};
    assert_int_equal(gf_pipeline_decode(pipeline, from.data, from.size, &pixels, &failure), GF_OK);
    struct gf_metadata *const metadata = gf_pipeline_take_metadata(pipeline);
    assert_non_null(metadata);
    assert_null(gf_pipeline_take_metadata(pipeline));
    for (int given = 0; given <= 2; given++) {
        void *data;
        size_t size;
        gf_pipeline_give_metadata(pipeline, given == 1 ? metadata : NULL);
        assert_int_equal(
            gf_pipeline_encode(pipeline, &pixels, GF_FILE_AUTO, &data, &size, &failure), GF_OK);
        assert_true((memmem(data, size, "Abc", 4) != NULL) == (given == 1));
        gf_free(data);
    }
    gf_pipeline_give_metadata(pipeline, NULL);
    gf_metadata_close(metadata);
    gf_metadata_close(NULL);
    gf_image_free(&pixels);
    free(from.data);
    free_picture(&picture);
    gf_pipeline_close(pipeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_unknown_numbers),
        cmocka_unit_test(test_null_arguments),
        cmocka_unit_test(test_batches_without_a_device),
        cmocka_unit_test(test_null_allowed),
        cmocka_unit_test(test_watch),
        cmocka_unit_test(test_watch_of_files),
        cmocka_unit_test(test_wrong_options),
        cmocka_unit_test(test_options_of_other_versions),
        cmocka_unit_test(test_bytes_are_the_files),
        cmocka_unit_test(test_bytes_keep_metadata),
        cmocka_unit_test(test_format_of_the_result),
        cmocka_unit_test(test_size_by_pixels),
        cmocka_unit_test(test_bad_bytes),
        cmocka_unit_test(test_several_pictures_in_bytes),
        cmocka_unit_test(test_large_bytes),
        cmocka_unit_test(test_pixels_between_bytes),
        cmocka_unit_test(test_metadata_between_bytes),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
