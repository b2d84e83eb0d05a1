/* JPEG decoded and encoded on a device. The device is tests/fake_device.h, and its codec a fake
 * too: libjpeg behind jpeg_device.h. The rows of a picture that it takes do not cross to the host;
 * a picture that it declines or fails at goes through the CPU's codec, with the same result. */
#include <stdio.h>
#include <unistd.h>

#include <jpeglib.h>

#include "fake_device.h"
#include "pipeline/pipeline_state.h"
#include "temp_folder.h"

struct gf_jpeg_lease {
    bool taken;
};

struct gf_jpeg_device {
    /* Set by the test. */
    bool without_engines;
    enum gf_status start, encode_status; /* of a failure; GF_OK: none */
    bool declines;
    /* Counted by the fake. */
    int waits, decoded, encoded, opened;
    struct gf_jpeg_lease lease;
    unsigned char *bytes;
    unsigned long size;
};

/* ---- the fake ---- */

enum gf_status gf_jpeg_device_open(int device, struct gf_jpeg_device **codec,
                                   struct gf_error *error)
{
    (void)device;
    (void)codec;
    return gf_fail(error, GF_ERROR_UNAVAILABLE, "fake: not opened like this");
}

void gf_jpeg_device_close(struct gf_jpeg_device *codec)
{
    if (codec)
        codec->opened--;
}

bool gf_jpeg_device_likely(void)
{
    return true;
}

enum gf_status gf_jpeg_device_engines(struct gf_jpeg_device *codec, int *engines,
                                      struct gf_error *error)
{
    codec->waits++;
    *engines = codec->without_engines ? 0 : 7;
    return codec->start ? gf_fail(error, codec->start, "fake: does not start") : GF_OK;
}

bool gf_jpeg_device_takes(const struct gf_jpeg_info *info)
{
    return info->width <= 1000 && info->height <= 1000;
}

enum gf_status gf_jpeg_device_decode(struct gf_jpeg_device *codec, unsigned char *data,
                                     const struct gf_jpeg_info *info, const struct gf_view *out,
                                     struct gf_error *error)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    assert_true(codec->waits);
    if (codec->declines)
        return gf_fail(error, GF_ERROR_INPUT, "fake: declined");
    codec->decoded++;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, data, info->end);
    jpeg_read_header(&jpeg, TRUE);
    jpeg_start_decompress(&jpeg);
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW row = gf_view_row(out, (int)jpeg.output_scanline);
        jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    return GF_OK;
}

struct gf_jpeg_lease *gf_jpeg_lease_acquire(struct gf_jpeg_device *codec)
{
    assert_false(codec->lease.taken);
    codec->lease.taken = true;
    return &codec->lease;
}

void gf_jpeg_lease_release(struct gf_jpeg_device *codec, struct gf_jpeg_lease *lease)
{
    assert_ptr_equal(lease, &codec->lease);
    assert_true(lease->taken);
    lease->taken = false;
}

enum gf_status gf_jpeg_device_encode(struct gf_jpeg_device *codec, struct gf_jpeg_lease *lease,
                                     const struct gf_view *in, const struct gf_options *options,
                                     size_t *size, struct gf_error *error)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    assert_true(codec->waits && lease && lease->taken);
    if (codec->encode_status)
        return gf_fail(error, codec->encode_status, "fake: encoding fails");
    codec->encoded++;
    free(codec->bytes);
    codec->bytes = NULL;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &codec->bytes, &codec->size);
    jpeg.image_width = (JDIMENSION)in->format.width;
    jpeg.image_height = (JDIMENSION)in->format.height;
    jpeg.input_components = in->format.channels;
    jpeg.in_color_space = in->format.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, options->quality, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW row = gf_view_row(in, (int)jpeg.next_scanline);
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    *size = codec->size;
    return GF_OK;
}

enum gf_status gf_jpeg_device_fetch(struct gf_jpeg_device *codec, struct gf_jpeg_lease *lease,
                                    void *data, size_t size, struct gf_error *error)
{
    (void)error;
    assert_true(lease->taken);
    assert_int_equal(size, codec->size);
    memcpy(data, codec->bytes, size);
    return GF_OK;
}

/* ---- runs ---- */

struct trial {
    const char *chain, *input, *output; /* defaults: blur,equalize, in.jpg, out.jpg */
    struct gf_jpeg_device codec;
    enum gf_codec kind; /* GF_CODEC_AUTO: the GPU's */
    uint64_t memory_bytes, device_bytes;
    bool serial, in_memory;
    /* Results. */
    enum gf_status status;
    int warnings, runs;
    size_t crossed; /* bytes of rows, up and down */
    struct gf_error error;
};

static void count_warning(void *context, const char *text)
{
    (void)text;
    ++*(int *)context;
}

static struct gf_pipeline *open_cpu(const char *chain, const struct gf_options *options)
{
    struct gf_pipeline *pipeline;
    struct gf_error error = {0};
    assert_ok(chain, gf_pipeline_open(chain, options, &pipeline, &error), &error);
    return pipeline;
}

/* The same from bytes to bytes. */
static enum gf_status run_in_memory(struct gf_pipeline *pipeline, struct trial *trial)
{
    unsigned char data[100000];
    void *result;
    size_t size;
    FILE *file = fopen(in_folder(trial->input), "rb");
    assert_non_null(file);
    const size_t read = fread(data, 1, sizeof data, file);
    fclose(file);
    const enum gf_status status =
        gf_pipeline_run_bytes(pipeline, data, read, GF_FILE_AUTO, &result, &size, &trial->error);
    if (status)
        return status;
    file = fopen(in_folder(trial->output), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(result, 1, size, file), size);
    fclose(file);
    gf_free(result);
    return GF_OK;
}

static void run_trial(struct trial *trial)
{
    struct fake_device device;
    struct gf_options options = gf_options_default();
    trial->chain = trial->chain ? trial->chain : "blur,equalize";
    trial->input = trial->input ? trial->input : "in.jpg";
    trial->output = trial->output ? trial->output : "out.jpg";
    trial->kind = trial->kind ? trial->kind : GF_CODEC_GPU;
    options.device = GF_DEVICE_CPU; /* does not start a real one */
    options.warn = count_warning;
    options.warn_context = &trial->warnings;
    options.memory_bytes = trial->memory_bytes;
    options.serial = trial->serial;
    struct gf_pipeline *const pipeline = open_cpu(trial->chain, &options);
    fake_open(&device);
    device.memory_bytes = trial->device_bytes;
    gf_pipeline_replace_backend(pipeline, &device.base, true);
    gf_pipeline_options(pipeline)->codec = trial->kind;
    gf_pipeline_options(pipeline)->device = GF_DEVICE_CUDA;
    pipeline->codec.jpeg = &trial->codec;
    trial->codec.opened = 1;
    trial->status = trial->in_memory
                        ? run_in_memory(pipeline, trial)
                        : gf_pipeline_run_file(pipeline, in_folder(trial->input),
                                               in_folder(trial->output), &trial->error);
    gf_pipeline_close(pipeline);
    assert_false(trial->codec.lease.taken);
    assert_int_equal(trial->codec.opened, 0);
    fake_assert_clean(trial->chain, &device);
    trial->runs = device.runs;
    trial->crossed = device.upload_bytes + device.download_bytes;
    free(trial->codec.bytes);
}

static void on_cpu(const char *chain, const char *input, const char *output)
{
    struct gf_options options = gf_options_default();
    struct gf_error error = {0};
    options.device = GF_DEVICE_CPU;
    struct gf_pipeline *const pipeline = open_cpu(chain, &options);
    assert_ok(chain, gf_pipeline_run_file(pipeline, in_folder(input), in_folder(output), &error),
              &error);
    gf_pipeline_close(pipeline);
}

/* The trial's result is the CPU's. Two JPEGs are compared as pictures: their headers differ. */
static void assert_same_result(const struct trial *trial)
{
    assert_ok(trial->chain, trial->status, &trial->error);
    on_cpu(trial->chain, trial->input, strstr(trial->output, ".jpg") ? "cpu.jpg" : "cpu.ppm");
    if (strstr(trial->output, ".jpg")) {
        on_cpu("", "cpu.jpg", "cpu.ppm");
        on_cpu("", trial->output, "is.ppm");
    }
    struct gf_image expected = netpbm_read(in_folder("cpu.ppm"));
    struct gf_image is =
        netpbm_read(in_folder(strstr(trial->output, ".jpg") ? "is.ppm" : trial->output));
    assert_same(trial->chain, &is, &expected);
    picture_free(&is);
    picture_free(&expected);
}

static void test_nothing_crosses(void **state)
{
    static const char *const chains[] = {"invert",    "blur,equalize", "transpose,resize=50%:50%",
                                         "grayscale", "equalize",      "normalize,rotate=180"};
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        for (int serial = 0; serial < 2; serial++) {
            struct trial trial = {.chain = chains[i], .serial = serial};
            run_trial(&trial);
            assert_same_result(&trial);
            assert_int_equal(trial.codec.decoded, 1);
            assert_int_equal(trial.codec.encoded, 1);
            assert_int_equal(trial.crossed, 0);
            assert_int_equal(trial.warnings, 0);
        }
    }
}

static void test_one_end(void **state)
{
    (void)state;
    struct trial down = {.output = "out.ppm"}, up = {.input = "in.ppm"};
    run_trial(&down);
    assert_same_result(&down);
    assert_int_equal(down.codec.decoded, 1);
    run_trial(&up);
    assert_same_result(&up);
    assert_int_equal(up.codec.encoded, 1);
    struct trial neither = {.input = "in.ppm", .output = "out.ppm"};
    run_trial(&neither);
    assert_same_result(&neither);
    assert_int_equal(neither.codec.waits, 0); /* its start is not waited for */
}

static void test_conversion(void **state)
{
    (void)state;
    struct trial trial = {.chain = ""};
    run_trial(&trial);
    assert_same_result(&trial);
    assert_int_equal(trial.codec.decoded, 1);
    assert_int_equal(trial.codec.encoded, 1);
    assert_int_equal(trial.runs, 0);
    struct trial other = {.chain = "", .output = "out.ppm"};
    run_trial(&other);
    assert_same_result(&other);
    assert_int_equal(other.codec.decoded, 0);
}

/* A second attempt reads the bytes and writes the result from the start. */
static void test_in_memory(void **state)
{
    (void)state;
    struct trial trial = {.in_memory = true}, failing = {.in_memory = true};
    failing.codec.encode_status = GF_ERROR_DEVICE;
    run_trial(&trial);
    assert_same_result(&trial);
    assert_int_equal(trial.codec.decoded, 1);
    assert_int_equal(trial.codec.encoded, 1);
    run_trial(&failing);
    assert_same_result(&failing);
    assert_int_equal(failing.warnings, 1);
}

/* What the device's codec cannot do, libjpeg does. */
static void test_gives_way(void **state)
{
    (void)state;
    struct trial declined = {.codec.declines = true};
    run_trial(&declined);
    assert_same_result(&declined);
    assert_int_equal(declined.warnings, 0);
    struct trial failing = {.codec.encode_status = GF_ERROR_DEVICE};
    run_trial(&failing);
    assert_same_result(&failing);
    assert_int_equal(failing.warnings, 1);
    struct trial crowded = {.codec.encode_status = GF_ERROR_DEVICE_MEMORY};
    run_trial(&crowded);
    assert_same_result(&crowded);
    assert_int_equal(crowded.warnings, 0);
    struct trial bounded = {.memory_bytes = 1 << 20};
    run_trial(&bounded);
    assert_same_result(&bounded);
    assert_int_equal(bounded.codec.decoded, 0);
}

/* With little device memory the picture is done, or the error names the file. */
static void test_little_memory(void **state)
{
    int done = 0, refused = 0;
    (void)state;
    for (uint64_t bytes = 4096; bytes < 1 << 20; bytes += bytes / 3) {
        struct trial trial = {.chain = "blur", .device_bytes = bytes};
        run_trial(&trial);
        done += !trial.status;
        refused += trial.status == GF_ERROR_DEVICE_MEMORY;
        if (!trial.status)
            assert_same_result(&trial);
        else if (trial.status != GF_ERROR_DEVICE_MEMORY || !strstr(trial.error.text, "in.jpg: "))
            fail_msg("%d bytes: %s", (int)bytes, trial.error.text);
    }
    assert_true(done > 5);
    assert_true(refused > 0);
}

static void test_if_fast(void **state)
{
    (void)state;
    struct trial fast = {.kind = GF_CODEC_GPU_IF_FAST};
    run_trial(&fast);
    assert_same_result(&fast);
    assert_int_equal(fast.codec.decoded, 1);
    struct trial slow = {.kind = GF_CODEC_GPU_IF_FAST, .codec.without_engines = true};
    run_trial(&slow);
    assert_same_result(&slow);
    assert_int_equal(slow.codec.decoded + slow.codec.encoded, 0);
    struct trial absent = {.kind = GF_CODEC_GPU_IF_FAST, .codec.start = GF_ERROR_UNAVAILABLE};
    run_trial(&absent);
    assert_same_result(&absent);
    struct trial asked = {.codec.start = GF_ERROR_UNAVAILABLE};
    run_trial(&asked);
    assert_int_equal(asked.status, GF_ERROR_UNAVAILABLE);
}

static int make_pictures(void **state)
{
    struct gf_image picture = picture_random(format_of(150, 110, 3, 8), 0, 5);
    assert_int_equal(make_folder(state), 0);
    write_ppm(in_folder("in.ppm"), &picture, picture_bytes(&picture));
    picture_free(&picture);
    on_cpu("blur=3", "in.ppm", "in.jpg");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_crosses), cmocka_unit_test(test_one_end),
        cmocka_unit_test(test_conversion),      cmocka_unit_test(test_gives_way),
        cmocka_unit_test(test_little_memory),   cmocka_unit_test(test_if_fast),
        cmocka_unit_test(test_in_memory),
    };
    return cmocka_run_group_tests_name("device_codec", tests, make_pictures, remove_folder);
}
