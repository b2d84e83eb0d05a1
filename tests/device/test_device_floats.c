/* Pictures of floats in the caller's device memory: the bits of the CPU's results, by kernels
 * alone; numbers that become such pictures and that they become; files of floats. */
#include "float_pictures.h"
#include "gpu_test.h"
#include "gpufilter/gpufilter.h"
#include "pixel/floats.h"

#ifdef GF_WITH_CUDA

#include <math.h>

static struct gf_pipeline *open_on(enum gf_device_kind device, const char *chain, bool profile)
{
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    options.device = device;
    options.profile = profile;
    options.sandbox = GF_SANDBOX_OFF;
    options.png_level = 1; /* which a device encodes, of integers */
    assert_ok(chain, gf_pipeline_open(chain, &options, &pipeline, &error), &error);
    return pipeline;
}

static struct gf_image room_on_device(struct gf_format format, size_t alignment)
{
    const size_t pitch = (gf_row_bytes(format) + alignment - 1) / alignment * alignment;
    void *data;
    assert_int_equal(cudaMalloc(&data, pitch * (size_t)format.height), cudaSuccess);
    return (struct gf_image){.format = format, .pitch = pitch, .data = data};
}

static struct gf_image to_device(const struct gf_image *image, size_t alignment)
{
    const struct gf_image there = room_on_device(image->format, alignment);
    assert_int_equal(cudaMemcpy2D(there.data, there.pitch, image->data, image->pitch,
                                  gf_row_bytes(image->format), (size_t)image->format.height,
                                  cudaMemcpyHostToDevice),
                     cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    return there;
}

static void assert_there(const char *label, const struct gf_image *there,
                         const struct gf_image *expected)
{
    const size_t row = gf_row_bytes(expected->format);
    struct gf_image back;
    assert_memory_equal(&there->format, &expected->format, sizeof there->format);
    assert_ok(label, gf_image_alloc(&back, expected->format, &error), &error);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(cudaMemcpy2D(back.data, back.pitch, there->data, there->pitch, row,
                                  (size_t)back.format.height, cudaMemcpyDeviceToHost),
                     cudaSuccess);
    for (int y = 0; y < back.format.height; y++) {
        if (memcmp(back.data + (size_t)y * back.pitch, expected->data + (size_t)y * expected->pitch,
                   row))
            fail_msg("%s: row %d of %dx%dx%d, %d bits, is another", label, y, back.format.width,
                     back.format.height, back.format.channels, back.format.bits);
    }
    gf_image_free(&back);
}

/* Samples far outside of 0..1 beside the usual ones. */
static struct gf_image make_wide(int channels, int bits)
{
    static const float odd[] = {INFINITY, -INFINITY, 65504, -1e-7f, -0.0f, 6e-5f};
    const struct gf_image image = make(channels, bits);
    for (int i = 0; i < 6; i++)
        put(&image, 7 * i, 5 * i, 0, odd[i]);
    return image;
}

static void check(const char *chain, const struct gf_image *input, size_t alignment, bool profile)
{
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, chain, profile);
    struct gf_image expected = run(chain, input), there = to_device(input, alignment),
                    out = room_on_device(expected.format, alignment);
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(cudaMemset(out.data, 0, out.pitch * (size_t)out.format.height),
                         cudaSuccess);
        assert_ok(chain, gf_pipeline_run_device(gpu, &there, &out, NULL, &error), &error);
        assert_there(chain, &out, &expected);
    }
    cudaFree(there.data);
    cudaFree(out.data);
    gf_image_free(&expected);
    gf_pipeline_close(gpu);
}

static void test_same_bits(void **state)
{
    static const char *const chains[] = {"",
                                         "invert,gamma=2",
                                         "exposure=1",
                                         "blur=2,unsharp",
                                         "resize=50%,rotate=90",
                                         "float=16",
                                         "integer,blur=1",
                                         "boxblur=3,hflip",
                                         "crop=20:21:3:4,pad=60:60",
                                         "float=32",
                                         "brightness=0.25",
                                         "convolve=1 2 1/2 4 2/1 2 1"};
    need_gpu();
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        for (int channels = 1; channels <= 4; channels++) {
            for (int bits = 16; bits <= 32; bits += 16) {
                struct gf_image input = c < 3 ? make_wide(channels, bits) : make(channels, bits);
                check(chains[c], &input, channels % 2 ? 16 : (size_t)bits / 8, c == 3);
                gf_image_free(&input);
            }
        }
    }
    struct gf_image bytes = picture_random((struct gf_format){61, 47, 3, 8, 0}, 0, 1);
    check("float,blur=1", &bytes, 16, false);
    check("float=16", &bytes, 1, false);
    picture_free(&bytes);
}

/* The device's quotient of a power (gf_quotient()) for the one divisor, 2 - 2^-23, for which it
 * depends on how the device rounds a reciprocal; this power shows the last bit of it. */
static void test_hard_quotient(void **state)
{
    need_gpu();
    struct gf_image input = make(1, 32);
    for (int x = 0; x < WIDTH; x++)
        put(&input, x, 3, 0, ldexpf(0x1.fffffcp-1f, x - WIDTH / 2));
    check("gamma=0.08510632771831904", &input, 16, false);
    gf_image_free(&input);
}

/* Small pictures, of which those of integers share launches; some lie at addresses that are not
 * aligned. Results that the library allocates are inputs again. */
static void test_batches(void **state)
{
    enum { COUNT = 9 };
    static const char *const chains[] = {"", "blur=2:border=constant,invert", "resize=30%,boxblur"};
    need_gpu();
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, chains[c], false);
        struct gf_image here[COUNT], in[COUNT], out[COUNT], made[COUNT] = {{.data = NULL}};
        struct gf_image expected[COUNT];
        for (int i = 0; i < COUNT; i++) {
            here[i] = i < 7 ? make(3 + i / 5, i < 4 ? 32 : 16)
                            : picture_random((struct gf_format){WIDTH, HEIGHT, 3, 16, 0}, 0, 1);
            expected[i] = run(chains[c], &here[i]);
            in[i] = to_device(&here[i], i % 4 == 1 ? 4 : 16);
            out[i] = room_on_device(expected[i].format, i % 4 == 2 ? 4 : 16);
        }
        assert_ok(chains[c], gf_pipeline_run_device_batch(gpu, in, out, COUNT, NULL, &error),
                  &error);
        assert_ok(chains[c], gf_filter_batch(gpu, COUNT, in, made, NULL, &error), &error);
        for (int i = 0; i < COUNT; i++) {
            assert_there(chains[c], &out[i], &expected[i]);
            assert_there(chains[c], &made[i], &expected[i]);
            cudaFree(in[i].data);
            cudaFree(out[i].data);
            gf_image_free(&expected[i]);
            i < 7 ? gf_image_free(&here[i]) : picture_free(&here[i]);
        }
        gf_pipeline_free_images(gpu, made, COUNT);
        gf_pipeline_close(gpu);
    }
}

/* Nothing is filtered by the CPU instead. */
static void test_without_kernels(void **state)
{
    need_gpu();
    struct gf_image here = make(3, 32), there = to_device(&here, 16),
                    out = room_on_device(here.format, 16), made = {.data = NULL};
    for (int profile = 0; profile < 2; profile++) {
        struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, "blur=1,equalize", profile);
        for (int turn = 0; turn < 2; turn++) {
            assert_int_equal(gf_pipeline_run_device(gpu, &there, &out, NULL, &error),
                             GF_ERROR_UNAVAILABLE);
            assert_non_null(strstr(error.text, "equalize: floats are filtered on the CPU only"));
        }
        assert_int_equal(gf_filter_batch(gpu, 1, &there, &made, NULL, &error),
                         GF_ERROR_UNAVAILABLE);
        assert_null(made.data);
        gf_pipeline_close(gpu);
    }
    struct gf_pipeline *gpu = open_on(GF_DEVICE_CUDA, "median=3", false);
    assert_int_equal(gf_pipeline_run_device(gpu, &there, &out, NULL, &error), GF_ERROR_UNAVAILABLE);
    assert_non_null(
        strstr(error.text, "median: a GPU takes radius 1 and 2 of floats, the CPU all"));
    gf_pipeline_close(gpu);
    gpu = open_on(GF_DEVICE_CUDA, "blur=1", false);
    out.format.bits = 16;
    assert_int_equal(gf_pipeline_run_device(gpu, &there, &out, NULL, &error), GF_ERROR_USAGE);
    assert_string_equal(error.text, "output: its format is not that of the result");
    there.data++;
    assert_int_equal(gf_pipeline_run_device(gpu, &there, &out, NULL, &error), GF_ERROR_USAGE);
    assert_string_equal(error.text, "input: samples of 32 bits at uneven addresses");
    cudaFree(there.data - 1);
    cudaFree(out.data);
    gf_image_free(&here);
    gf_pipeline_close(gpu);
}

static void check_numbers(struct gf_pipeline *gpu, const struct gf_image *here, size_t alignment,
                          const struct gf_numbers *form)
{
    const size_t channels = (size_t)(form->channels ? form->channels : here->format.channels),
                 count = (size_t)(here->format.width * here->format.height) * channels,
                 bytes = count * gf_number_bytes(form->type);
    const struct gf_image there[2] = {to_device(here, alignment), to_device(here, alignment)};
    unsigned char *const expected = malloc(bytes), *const is = malloc(2 * bytes);
    void *values;
    assert_true(expected && is);
    assert_int_equal(cudaMalloc(&values, 2 * bytes), cudaSuccess);
    assert_ok("numbers", gf_image_to_numbers(here, form, expected, &error), &error);
    assert_ok("numbers", gf_pipeline_to_numbers(gpu, 2, there, form, values, NULL, &error), &error);
    assert_int_equal(cudaMemcpy(is, values, 2 * bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_memory_equal(is, expected, bytes);
    assert_memory_equal(is + bytes, expected, bytes);
    cudaFree(values);
    cudaFree(there[0].data);
    cudaFree(there[1].data);
    free(expected);
    free(is);
}

/* As they are, and as networks take them, beyond all limits. */
static void test_numbers(void **state)
{
    static const float mean[] = {0.485f, 0.456f, 0.406f, 0.5f},
                       deviation[] = {0.229f, 0.224f, 0.225f, 0.3f};
    need_gpu();
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, "", false);
    for (int kind = 0; kind < 16; kind++) {
        const int bits = kind % 2 ? 32 : 16;
        struct gf_numbers form = {.type = (enum gf_number)(kind / 4),
                                  .layout = kind / 2 % 2 ? GF_FLOATS_NCHW : GF_FLOATS_NHWC};
        for (int channels = 1; channels <= 4; channels++) {
            struct gf_image here = make_wide(channels, bits);
            put(&here, 9, 9, channels - 1, NAN);
            form.channels = channels == 1 && kind % 4 < 2 ? 3 : 0;
            form.mean = form.deviation = NULL;
            check_numbers(gpu, &here, 16, &form);
            if (form.type != GF_NUMBER_UINT8) {
                form.mean = mean;
                form.deviation = deviation;
            }
            here.format.width -= channels % 4; /* whole vectors for 1 */
            check_numbers(gpu, &here, (size_t)bits / 8, &form);
            here.format.width = here.format.height = 40;
            check_numbers(
                gpu, &here, 16,
                &(struct gf_numbers){
                    .type = form.type, .layout = GF_FLOATS_PATCHES, .patch = 5, .merge = 2});
            here.format.width = WIDTH;
            gf_image_free(&here);
        }
    }
    gf_pipeline_close(gpu);
}

/* Numbers of all types as pictures of floats: bfloat16 has its bits in those of 32 bits. */
static void test_pictures_of_numbers(void **state)
{
    need_gpu();
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, "", false);
    for (int kind = 0; kind < 12; kind++) {
        const enum gf_number type = (enum gf_number)(kind / 4);
        const struct gf_numbers form = {.type = type};
        const float black = kind & 2 ? -1.5f : 0, white = kind & 2 ? 255 : 1;
        struct gf_image from = make_wide(1 + kind % 4, 32),
                        here = make(1 + kind % 4, 16 << kind % 2),
                        there = to_device(&here, (size_t)here.format.bits / 8);
        const size_t count = (size_t)(WIDTH * HEIGHT * from.format.channels);
        unsigned char *const numbers = malloc(4 * count);
        void *values;
        assert_non_null(numbers);
        assert_int_equal(cudaMalloc(&values, 4 * count), cudaSuccess);
        assert_ok("numbers", gf_image_to_numbers(&from, &form, numbers, &error), &error);
        assert_int_equal(
            cudaMemcpy(values, numbers, count * gf_number_bytes(type), cudaMemcpyHostToDevice),
            cudaSuccess);
        assert_ok("host", gf_image_from_numbers(numbers, type, black, white, &here, &error),
                  &error);
        assert_ok("device",
                  gf_pipeline_from_numbers(gpu, values, type, black, white, &there, NULL, &error),
                  &error);
        assert_there("samples", &there, &here);
        for (size_t i = 0;
             type == GF_NUMBER_BFLOAT16 && here.format.bits == 32 && !black && i < count; i++)
            assert_int_equal(((uint32_t *)(void *)here.data)[i],
                             (uint32_t)((uint16_t *)(void *)numbers)[i] << 16);
        cudaFree(values);
        cudaFree(there.data);
        gf_image_free(&from);
        gf_image_free(&here);
        free(numbers);
    }
    gf_pipeline_close(gpu);
}

/* Files that hold floats, and those that get integers. */
static void test_files(void **state)
{
    static const enum gf_file_format formats[] = {GF_FILE_NPY, GF_FILE_PFM, GF_FILE_PNG,
                                                  GF_FILE_JPEG};
    enum { COUNT = 2 };
    need_gpu();
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, "", false), *const cpu =
                                                                            open_on(GF_DEVICE_CPU,
                                                                                    "", false);
    for (int kind = 0; kind < 8; kind++) {
        const enum gf_file_format format = formats[kind / 2];
        struct gf_image here = make(3, 16 << kind % 2), decoded[COUNT] = {{.data = NULL}};
        struct gf_image there[COUNT] = {to_device(&here, 16), to_device(&here, 4)};
        void *file, *files[COUNT] = {NULL};
        size_t size, sizes[COUNT];
        assert_ok("host", gf_pipeline_encode(cpu, &here, format, &file, &size, &error), &error);
        assert_ok("device",
                  gf_encode_batch(gpu, COUNT, there, format, files, sizes, NULL, NULL, &error),
                  &error);
        for (int i = 0; i < COUNT; i++) {
            struct gf_image expected = {.data = NULL};
            assert_int_equal(sizes[i], size);
            assert_memory_equal(files[i], file, size);
            assert_ok("host", gf_pipeline_decode(cpu, file, size, &expected, &error), &error);
            if (i)
                decoded[i] = room_on_device(expected.format, 4);
            assert_ok("device",
                      gf_decode_batch(gpu, 1, (const void *const *)&files[i], &sizes[i],
                                      &decoded[i], NULL, NULL, &error),
                      &error);
            assert_there("file", &decoded[i], &expected);
            gf_image_free(&expected);
            gf_free(files[i]);
            cudaFree(there[i].data);
        }
        gf_pipeline_free_images(gpu, decoded, 1);
        cudaFree(decoded[1].data);
        gf_free(file);
        gf_image_free(&here);
    }
    gf_pipeline_close(gpu);
    gf_pipeline_close(cpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits), cmocka_unit_test(test_hard_quotient),
        cmocka_unit_test(test_batches),   cmocka_unit_test(test_without_kernels),
        cmocka_unit_test(test_numbers),   cmocka_unit_test(test_pictures_of_numbers),
        cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
