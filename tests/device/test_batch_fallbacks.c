/* A program of its own. Batches of pictures on a fake device whose coders do them, decline them
 * or fail: the pictures and files are those of single calls on the CPU, and nothing stays in the
 * device's memory. */
#include "device/fake_coders.h"
#include "gpufilter/pipeline_batch.h"

enum { FILES = 40 };

static struct gf_error error;

struct files {
    void *data[FILES];
    size_t size[FILES];
};

static struct gf_pipeline *open_cpu(const char *chain)
{
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    options.device = GF_DEVICE_CPU;   /* does not start a real one */
    options.memory_bytes = 256 << 20; /* no further pipelines, which would start one */
    options.threads = 4;
    assert_ok(chain, gf_pipeline_open(chain, &options, &pipeline, &error), &error);
    return pipeline;
}

static enum gf_status fake_owns(struct gf_backend *backend, const void *memory, size_t size,
                                struct gf_memory_range *known, struct gf_error *failure)
{
    return GF_OK;
}

static enum gf_status fake_await(struct gf_backend *backend, void *stream, struct gf_error *failure)
{
    return GF_OK;
}

static void fake_settle(struct gf_backend *backend)
{
}

enum { BEFORE = 3 };

static int fake_bind(struct gf_backend *backend)
{
    return BEFORE;
}

static void fake_unbind(struct gf_backend *backend, int before)
{
    assert_int_equal(before, BEFORE);
}

static bool fake_is_pinned(struct gf_backend *backend, const void *host)
{
    return (uintptr_t)host / 4096 % 2; /* of some, but always the same */
}

static int captured; /* its address is that of a stream that is being captured */

static bool fake_is_captured(struct gf_backend *backend, void *stream)
{
    return stream == &captured;
}

static struct gf_pipeline *open_fake(const char *chain, struct fake_device *device)
{
    struct gf_pipeline *const pipeline = open_cpu(chain);
    fake_open(device);
    device->calls.coders = open_coders;
    device->calls.await = fake_await;
    device->calls.is_captured = fake_is_captured;
    device->calls.settle = fake_settle;
    device->calls.owns = fake_owns;
    device->calls.bind = fake_bind;
    device->calls.unbind = fake_unbind;
    device->calls.is_pinned = fake_is_pinned;
    gf_pipeline_replace_backend(pipeline, &device->base, true);
    gf_pipeline_options(pipeline)->device = GF_DEVICE_CUDA;
    return pipeline;
}

static void close_fake(struct gf_pipeline *pipeline, const struct fake_device *device)
{
    gf_pipeline_close(pipeline);
    close_coders();
    fake_assert_clean("batch", device);
}

/* JPEGs of several sizes, PNGs that the device decodes and others. */
static void make_files(struct files *files)
{
    struct gf_options options = gf_options_default();
    struct gf_pipeline *jpeg, *png;
    options.device = GF_DEVICE_CPU;
    assert_ok("JPEG", gf_pipeline_open("", &options, &jpeg, &error), &error);
    options.png_level = 6;
    assert_ok("PNG", gf_pipeline_open("", &options, &png, &error), &error);
    for (int i = 0; i < FILES; i++) {
        const bool is_png = i % 5 == 4;
        struct gf_image image =
            picture_random(format_of(30 + i, 50, i % 3 ? 3 : 1, 8), 0, (uint64_t)i);
        assert_ok("file",
                  gf_pipeline_encode(is_png && i % 2 ? png : jpeg, &image,
                                     is_png ? GF_FILE_PNG : GF_FILE_JPEG, &files->data[i],
                                     &files->size[i], &error),
                  &error);
        picture_free(&image);
    }
    gf_pipeline_close(jpeg);
    gf_pipeline_close(png);
}

static void free_files(struct files *files)
{
    for (int i = 0; i < FILES; i++)
        gf_free(files->data[i]);
}

/* Decodes all on the fake device, and compares: its memory is the host's. */
static void check_decoding(const char *chain, const struct files *files)
{
    struct fake_device device;
    struct gf_image images[FILES] = {{.data = NULL}};
    struct gf_pipeline *const pipeline = open_fake(chain, &device), *const cpu = open_cpu(chain);
    assert_ok(chain,
              gf_decode_batch(pipeline, FILES, (const void *const *)files->data, files->size,
                              images, NULL, NULL, &error),
              &error);
    for (int i = 0; i < FILES; i++) {
        struct gf_image expected = {.data = NULL};
        assert_ok(chain, gf_pipeline_decode(cpu, files->data[i], files->size[i], &expected, &error),
                  &error);
        assert_true(same_format(images[i].format, expected.format));
        for (int y = 0; y < expected.format.height; y++)
            assert_memory_equal(images[i].data + (size_t)y * images[i].pitch,
                                expected.data + (size_t)y * expected.pitch,
                                gf_row_bytes(expected.format));
        gf_image_free(&expected);
    }
    gf_pipeline_free_images(pipeline, images, FILES);
    close_fake(pipeline, &device);
    gf_pipeline_close(cpu);
}

static void test_decoding(void **state)
{
    static const enum gf_status failures[] = {GF_OK, GF_ERROR_DEVICE, GF_ERROR_DEVICE_MEMORY};
    struct files files;
    make_files(&files);
    check_decoding("trim=tolerance=0.3,invert", &files);
    for (int i = 0; i < 8; i++) {
        reset_fake();
        fake.declines = i / 2 == 3;
        fake.decode_status = failures[i / 2 % 3];
        check_decoding(i % 2 ? "resize=50%,invert" : "", &files);
        assert_true(i / 2 ? !fake.decoded : fake.decoded > FILES * 4 / 5);
        assert_true(i / 2 || fake.largest_group > 1);
    }
    reset_fake();
    free_files(&files);
}

/* With little device memory a picture is done, or its own failure. */
static void test_little_memory(void **state)
{
    struct files files;
    int failed = 0, done = 0;
    make_files(&files);
    for (uint64_t bytes = 4096; bytes < 1 << 20; bytes += bytes / 2) {
        struct fake_device device;
        struct gf_image images[FILES] = {{.data = NULL}};
        struct gf_error errors[FILES];
        struct gf_pipeline *const pipeline = open_fake("blur", &device);
        device.memory_bytes = bytes;
        const enum gf_status status =
            gf_decode_batch(pipeline, FILES, (const void *const *)files.data, files.size, images,
                            NULL, errors, &error);
        for (int i = 0; i < FILES; i++) {
            assert_true(errors[i].status == GF_OK || errors[i].status == GF_ERROR_DEVICE_MEMORY);
            assert_true(!images[i].data == (errors[i].status != GF_OK));
            failed += errors[i].status != GF_OK;
            done += errors[i].status == GF_OK;
            if (errors[i].status)
                assert_int_equal(errors[i].text[0], '[');
            assert_true(status || !errors[i].status);
        }
        gf_pipeline_free_images(pipeline, images, FILES);
        close_fake(pipeline, &device);
    }
    assert_true(failed && done);
    free_files(&files);
}

static void check_encoding(const char *chain, enum gf_file_format format)
{
    struct fake_device device;
    struct gf_image images[FILES], here[FILES];
    void *results[FILES] = {NULL};
    size_t sizes[FILES];
    enum { ROOM = 40000 };
    struct gf_pipeline *const pipeline = open_fake(chain, &device), *const cpu = open_cpu(chain);
    for (int i = 0; i < FILES; i++) {
        here[i] = picture_random(format_of(33, 20 + i, 1 + i % 4, 8), 0, (uint64_t)i);
        fake_entered = &device;
        assert_ok("alloc", gf_pipeline_alloc_image(pipeline, here[i].format, &images[i], &error),
                  &error);
        for (int y = 0; y < here[i].format.height; y++)
            memcpy(images[i].data + (size_t)y * images[i].pitch,
                   here[i].data + (size_t)y * here[i].pitch, gf_row_bytes(here[i].format));
        if (i % 3 == 2) { /* the caller's memory */
            results[i] = malloc(ROOM);
            sizes[i] = ROOM;
            assert_non_null(results[i]);
        }
    }
    assert_ok(chain,
              gf_encode_batch(pipeline, FILES, images, format, results, sizes, NULL, NULL, &error),
              &error);
    for (int i = 0; i < FILES; i++) {
        void *expected;
        size_t size;
        assert_ok(chain, gf_pipeline_encode(cpu, &here[i], format, &expected, &size, &error),
                  &error);
        assert_int_equal(sizes[i], size);
        assert_memory_equal(results[i], expected, size);
        gf_free(expected);
        gf_free(results[i]);
        picture_free(&here[i]);
    }
    unsigned char little[100];
    results[0] = little;
    sizes[0] = sizeof little - 1;
    little[sizes[0]] = 0xA5;
    assert_int_equal(
        gf_encode_batch(pipeline, 1, images, format, results, sizes, NULL, NULL, &error),
        GF_ERROR_UNFIT);
    assert_non_null(strstr(error.text, "bytes, and the memory for it 99"));
    assert_int_equal(little[sizeof little - 1], 0xA5);
    gf_pipeline_free_images(pipeline, images, FILES);
    close_fake(pipeline, &device);
    gf_pipeline_close(cpu);
}

static void test_encoding(void **state)
{
    static const enum gf_status failures[] = {GF_OK, GF_ERROR_DEVICE, GF_ERROR_DEVICE_MEMORY};
    check_encoding("blur,trim=tolerance=0.3,invert", GF_FILE_JPEG);
    check_encoding("trim=tolerance=0.3", GF_FILE_PNG);
    for (int i = 0; i < 12; i++) {
        reset_fake();
        fake.encode_status = failures[i / 4];
        check_encoding(i % 2 ? "invert" : "", i / 2 % 2 ? GF_FILE_PNG : GF_FILE_JPEG);
        assert_true(i / 4 ? !fake.encoded : fake.encoded > 0);
    }
    reset_fake();
}

/* A failure names its picture, whoever has encoded it. */
static void test_failures_are_numbered(void **state)
{
    for (int coders = 0; coders < 2; coders++) {
        struct fake_device device;
        struct gf_pipeline *const pipeline = open_fake("", &device);
        struct gf_image images[2];
        struct gf_error errors[2];
        void *results[2] = {NULL};
        size_t sizes[2];
        reset_fake();
        fake.encode_status = coders ? GF_OK : GF_ERROR_DEVICE;
        gf_pipeline_options(pipeline)->max_output_bytes = 700;
        fake_entered = &device;
        for (int i = 0; i < 2; i++) {
            assert_ok(
                "alloc",
                gf_pipeline_alloc_image(pipeline, format_of(64, 64, 3, 8), &images[i], &error),
                &error);
            for (size_t at = 0; at < 64 * images[i].pitch; at++)
                images[i].data[at] = (unsigned char)(at * at / 7);
        }
        assert_int_equal(gf_encode_batch(pipeline, 2, images, GF_FILE_JPEG, results, sizes, NULL,
                                         errors, &error),
                         GF_ERROR_UNFIT);
        assert_int_equal(fake.encoded > 0, coders);
        assert_string_equal(errors[0].text, "[0]: output: is over options.max_output_bytes=700");
        assert_string_equal(errors[1].text, "[1]: output: is over options.max_output_bytes=700");
        assert_string_equal(error.text, errors[0].text);
        assert_null(results[0]);
        gf_pipeline_free_images(pipeline, images, 2);
        close_fake(pipeline, &device);
    }
    reset_fake();
}

static void test_captured_stream(void **state)
{
    struct fake_device device;
    struct gf_pipeline *const pipeline = open_fake("", &device);
    const void *const data[] = {"P5 1 1 255\na"};
    const size_t size = 12;
    unsigned char pixels[32];
    struct gf_image image = {{3, 3, 3, 8, GF_SAMPLES_INTEGER}, 9, pixels, false},
                    made = {.data = NULL};
    void *result = NULL;
    size_t result_size;
    assert_int_equal(gf_decode_batch(pipeline, 1, data, &size, &made, &captured, NULL, &error),
                     GF_ERROR_USAGE);
    assert_non_null(strstr(error.text, "stream: it is being captured"));
    assert_int_equal(gf_encode_batch(pipeline, 1, &image, GF_FILE_PNG, &result, &result_size,
                                     &captured, NULL, &error),
                     GF_ERROR_USAGE);
    assert_int_equal(gf_filter_batch(pipeline, 1, &image, &made, &captured, &error),
                     GF_ERROR_USAGE);
    assert_non_null(strstr(error.text, "stream: it is being captured"));
    assert_null(made.data);
    assert_null(result);
    close_fake(pipeline, &device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decoding), cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_encoding), cmocka_unit_test(test_failures_are_numbered),
        cmocka_unit_test(test_captured_stream)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
