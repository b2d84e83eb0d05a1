/* Many pictures decoded, encoded and made numbers of in device memory: the bits and bytes of the
 * same pictures one by one on the CPU, whatever the files and the alignment of rows are; failures
 * are those of their pictures alone. */
#include "gpu_test.h"
#include "gpufilter/gpufilter.h"
#include "pixel/floats.h"

#ifdef GF_WITH_CUDA

enum { MOST = 64 };

static struct gf_error error;

static struct gf_pipeline *open_on(enum gf_device_kind device, const char *chain)
{
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    options.device = device;
    options.sandbox = GF_SANDBOX_OFF;
    assert_ok(chain, gf_pipeline_open(chain, &options, &pipeline, &error), &error);
    return pipeline;
}

/* ---- files ---- */

struct files {
    int count;
    void *data[MOST];
    size_t size[MOST];
};

/* A picture that codecs find natural: shades with a little noise. */
static struct gf_image shaded(struct gf_format format, uint64_t seed)
{
    const struct gf_image image = picture_new(format, 0);
    for (int y = 0; y < format.height; y++) {
        for (int x = 0; x < format.width; x++) {
            for (int c = 0; c < format.channels; c++)
                sample_set(&image, x, y, c,
                           (3 * x + (c + 1) * y + random_below(&seed, 12)) * (format.bits - 7) &
                               ((1 << format.bits) - 1));
        }
    }
    return image;
}

static void add_file(struct files *files, enum gf_file_format file_format, struct gf_format format,
                     void (*choose)(struct gf_options *))
{
    struct gf_options options = gf_options_default();
    struct gf_image image = shaded(format, (uint64_t)files->count);
    struct gf_pipeline *pipeline;
    options.device = GF_DEVICE_CPU;
    options.sandbox = GF_SANDBOX_OFF;
    if (choose)
        choose(&options);
    assert_ok("file", gf_pipeline_open("", &options, &pipeline, &error), &error);
    assert_ok("file",
              gf_pipeline_encode(pipeline, &image, file_format, &files->data[files->count],
                                 &files->size[files->count], &error),
              &error);
    files->count++;
    gf_pipeline_close(pipeline);
    picture_free(&image);
}

static void make_444(struct gf_options *options)
{
    options->subsampling = GF_SUBSAMPLING_444;
}

static void make_progressive(struct gf_options *options)
{
    options->progressive = true;
}

static void make_marked(struct gf_options *options)
{
    options->png_level = 1;
}

/* Files that the device decodes, and others; the orientation of one is not 1. */
static void make_files(struct files *files)
{
    files->count = 0;
    for (int i = 0; i < 12; i++)
        add_file(files, GF_FILE_JPEG, format_of(90 + 7 * i, 60 + i, i % 5 ? 3 : 1, 8),
                 i % 2 ? make_444 : NULL);
    add_file(files, GF_FILE_JPEG, format_of(80, 50, 3, 8), make_progressive);
    add_file(files, GF_FILE_PNG, format_of(70, 50, 4, 8), make_marked);
    add_file(files, GF_FILE_PNG, format_of(33, 41, 3, 16), NULL);
    add_file(files, GF_FILE_PNM, format_of(20, 30, 1, 16), NULL);
    add_file(files, GF_FILE_JPEG, format_of(64, 48, 3, 8), NULL);
    /* EXIF that turns the last one */
    static const unsigned char exif[] = "\xFF\xE1\0\x22"
                                        "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\3\0\0\0\1\0\6\0\0"
                                        "\0\0\0";
    enum { SOI = 2, EXIF_BYTES = 36 };
    const int last = files->count - 1;
    unsigned char *const turned = malloc(files->size[last] + EXIF_BYTES);
    assert_non_null(turned);
    memcpy(turned, files->data[last], SOI);
    memcpy(turned + SOI, exif, EXIF_BYTES);
    memcpy(turned + SOI + EXIF_BYTES, (char *)files->data[last] + SOI, files->size[last] - SOI);
    gf_free(files->data[last]);
    files->data[last] = turned;
    files->size[last] += EXIF_BYTES;
}

static void drop_files(struct files *files)
{
    for (int i = 0; i < files->count; i++)
        gf_free(files->data[i]);
}

/* ---- pictures in device memory ---- */

static struct gf_image copy_of(const struct gf_image *there)
{
    struct gf_image here;
    assert_ok("copy", gf_image_alloc(&here, there->format, &error), &error);
    assert_int_equal(cudaMemcpy2D(here.data, here.pitch, there->data, there->pitch,
                                  gf_row_bytes(there->format), (size_t)there->format.height,
                                  cudaMemcpyDeviceToHost),
                     cudaSuccess);
    return here;
}

/* Memory for a picture whose rows begin at multiples of `alignment`. */
static struct gf_image alloc_on_device(struct gf_format format, size_t alignment)
{
    const size_t pitch = (gf_row_bytes(format) + alignment - 1) / alignment * alignment;
    void *data;
    assert_int_equal(cudaMalloc(&data, pitch * (size_t)format.height), cudaSuccess);
    return (struct gf_image){.format = format, .pitch = pitch, .data = data};
}

static struct gf_image copy_to_device(const struct gf_image *here, size_t alignment)
{
    const struct gf_image there = alloc_on_device(here->format, alignment);
    assert_int_equal(cudaMemcpy2D(there.data, there.pitch, here->data, here->pitch,
                                  gf_row_bytes(here->format), (size_t)here->format.height,
                                  cudaMemcpyHostToDevice),
                     cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    return there;
}

/* ---- decoding ---- */

static void check_decoded(struct gf_pipeline *cpu, const struct files *files, int i,
                          const struct gf_image *there)
{
    struct gf_image expected = {.data = NULL};
    assert_ok("decode", gf_pipeline_decode(cpu, files->data[i], files->size[i], &expected, &error),
              &error);
    struct gf_image is = copy_of(there);
    assert_memory_equal(&is.format, &expected.format, sizeof is.format);
    assert_memory_equal(is.data, expected.data, picture_bytes(&is));
    gf_image_free(&is);
    gf_image_free(&expected);
}

static void check_decoding(const char *chain, const struct files *files, const void *const *data)
{
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, chain), *const cpu = open_on(
                                                                        GF_DEVICE_CPU, chain);
    struct gf_image images[MOST] = {{.data = NULL}};
    struct gf_error errors[MOST];
    for (int run = 0; run < 2; run++) {
        assert_ok(
            chain,
            gf_decode_batch(gpu, files->count, data, files->size, images, NULL, errors, &error),
            &error);
        for (int i = 0; i < files->count; i++) {
            assert_int_equal(errors[i].status, GF_OK);
            check_decoded(cpu, files, i, &images[i]);
        }
        gf_pipeline_free_images(gpu, images, files->count);
        assert_null(images[0].data);
    }
    gf_pipeline_close(gpu);
    gf_pipeline_close(cpu);
}

static void test_decoding(void **state)
{
    struct files files;
    need_gpu();
    make_files(&files);
    check_decoding("", &files, (const void *const *)files.data);
    check_decoding("resize=50%,blur", &files, (const void *const *)files.data);
    check_decoding("thumbnail=20", &files, (const void *const *)files.data);
    check_decoding("equalize,rotate=90", &files, (const void *const *)files.data);
    check_decoding("thumbnail=20x20:gravity=attention", &files, (const void *const *)files.data);
    check_decoding("trim", &files, (const void *const *)files.data);
    drop_files(&files);
}

static void test_pinned_bytes(void **state)
{
    struct files files;
    const void *pinned[MOST];
    need_gpu();
    make_files(&files);
    for (int i = 0; i < files.count; i++) {
        void *memory;
        assert_int_equal(cudaHostAlloc(&memory, files.size[i], 0), cudaSuccess);
        memcpy(memory, files.data[i], files.size[i]);
        pinned[i] = memory;
    }
    check_decoding("", &files, pinned);
    for (int i = 0; i < files.count; i++)
        cudaFreeHost((void *)pinned[i]);
    drop_files(&files);
}

/* The caller's memory, with rows that are aligned or not, and what does not fit. */
static void test_callers_images(void **state)
{
    struct files files;
    struct gf_image images[MOST];
    struct gf_error errors[MOST];
    need_gpu();
    make_files(&files);
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, ""), *const cpu =
                                                                     open_on(GF_DEVICE_CPU, "");
    for (int i = 0; i < files.count; i++) {
        struct gf_image expected = {.data = NULL};
        assert_ok("decode",
                  gf_pipeline_decode(cpu, files.data[i], files.size[i], &expected, &error), &error);
        if (i == 3)
            expected.format.width--;
        images[i] = alloc_on_device(expected.format, i % 3 ? 16 : (size_t)expected.format.bits / 8);
        gf_image_free(&expected);
    }
    struct gf_image host = picture_random(images[5].format, 0, 1);
    void *const there = images[5].data;
    images[5].data = host.data;
    assert_int_equal(gf_decode_batch(gpu, files.count, (const void *const *)files.data, files.size,
                                     images, NULL, errors, &error),
                     GF_ERROR_USAGE);
    assert_non_null(strstr(error.text, "[3]"));
    images[5].data = there;
    for (int i = 0; i < files.count; i++) {
        assert_int_equal(errors[i].status, i == 3 || i == 5 ? GF_ERROR_USAGE : GF_OK);
        if (!errors[i].status)
            check_decoded(cpu, &files, i, &images[i]);
        cudaFree(images[i].data);
    }
    assert_non_null(strstr(errors[5].text, "[5]: "));
    picture_free(&host);
    gf_pipeline_close(gpu);
    gf_pipeline_close(cpu);
    drop_files(&files);
}

static void test_damaged_files(void **state)
{
    struct files files;
    struct gf_image images[MOST] = {{.data = NULL}};
    struct gf_error errors[MOST];
    struct gf_image expected = {.data = NULL};
    need_gpu();
    make_files(&files);
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, ""), *const cpu =
                                                                     open_on(GF_DEVICE_CPU, "");
    files.size[2] /= 2;
    ((char *)files.data[4])[0] = 'x';
    assert_int_equal(gf_decode_batch(gpu, files.count, (const void *const *)files.data, files.size,
                                     images, NULL, errors, &error),
                     GF_ERROR_INPUT);
    assert_string_equal(error.text, errors[2].text);
    for (int i = 0; i < files.count; i++) {
        if (i != 2 && i != 4) {
            check_decoded(cpu, &files, i, &images[i]);
            continue;
        }
        assert_int_equal(errors[i].status, GF_ERROR_INPUT);
        assert_null(images[i].data);
        assert_int_equal(gf_pipeline_decode(cpu, files.data[i], files.size[i], &expected, &error),
                         GF_ERROR_INPUT);
        assert_string_equal(strchr(errors[i].text, ':'), strchr(error.text, ':'));
    }
    gf_pipeline_free_images(gpu, images, files.count);
    gf_pipeline_close(gpu);
    gf_pipeline_close(cpu);
    drop_files(&files);
}

/* ---- encoding ---- */

static bool note_part(void *context, double part)
{
    *(double *)context = part;
    return true;
}

static void check_encoding(const char *chain, enum gf_file_format file_format, int png_level,
                           enum gf_jpeg_maker jpeg_encoder)
{
    static const int shape[][4] = {{64, 48, 3, 8},  {61, 47, 1, 8}, {50, 30, 4, 8},
                                   {33, 20, 3, 16}, {80, 64, 3, 8}, {17, 90, 3, 8}};
    enum { COUNT = sizeof shape / sizeof *shape };
    struct gf_options options = gf_options_default();
    struct gf_pipeline *gpu, *cpu;
    struct gf_image here[COUNT], there[COUNT];
    void *results[COUNT] = {NULL};
    size_t sizes[COUNT];
    options.png_level = png_level;
    options.jpeg_encoder = jpeg_encoder;
    options.sandbox = GF_SANDBOX_OFF;
    options.device = GF_DEVICE_CUDA;
    assert_ok(chain, gf_pipeline_open(chain, &options, &gpu, &error), &error);
    options.device = GF_DEVICE_CPU;
    assert_ok(chain, gf_pipeline_open(chain, &options, &cpu, &error), &error);
    for (int i = 0; i < COUNT; i++) {
        here[i] = shaded(format_of(shape[i][0], shape[i][1], shape[i][2], shape[i][3]), 1);
        there[i] = copy_to_device(&here[i], i == 5 ? 1 : 16);
    }
    for (int run = 0; run < 3; run++) {
        const bool watched = run == 2;
        double part = 0;
        gf_pipeline_watch(gpu, watched ? note_part : NULL, &part);
        assert_ok(
            chain,
            gf_encode_batch(gpu, COUNT, there, file_format, results, sizes, NULL, NULL, &error),
            &error);
        assert_true(part == (watched ? 1 : 0));
        for (int i = 0; i < COUNT; i++) {
            void *expected;
            size_t size;
            assert_ok(chain,
                      gf_pipeline_encode(cpu, &here[i], file_format, &expected, &size, &error),
                      &error);
            assert_int_equal(sizes[i], size);
            assert_memory_equal(results[i], expected, size);
            gf_free(expected);
            gf_free(results[i]);
            results[i] = NULL;
        }
    }
    for (int i = 0; i < COUNT; i++) {
        picture_free(&here[i]);
        cudaFree(there[i].data);
    }
    gf_pipeline_close(gpu);
    gf_pipeline_close(cpu);
}

static void test_encoding(void **state)
{
    need_gpu();
    check_encoding("", GF_FILE_JPEG, 1, GF_JPEG_LIBJPEG);
    check_encoding("", GF_FILE_PNG, 1, GF_JPEG_LIBJPEG);
    check_encoding("", GF_FILE_PNG, 6, GF_JPEG_LIBJPEG);
    check_encoding("", GF_FILE_JPEG, 1, GF_JPEG_PERCEPTUAL);
    check_encoding("blur=1", GF_FILE_JPEG, 1, GF_JPEG_LIBJPEG);
    check_encoding("resize=50%", GF_FILE_AUTO, 1, GF_JPEG_LIBJPEG);
    check_encoding("trim=tolerance=0.1,invert", GF_FILE_PNG, 1, GF_JPEG_LIBJPEG);
}

static void test_pictures_elsewhere(void **state)
{
    need_gpu();
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, "");
    struct gf_image images[2] = {shaded(format_of(40, 30, 3, 8), 1)};
    void *results[2] = {NULL};
    size_t sizes[2];
    struct gf_error errors[2];
    images[1] = copy_to_device(&images[0], 16);
    assert_int_equal(
        gf_encode_batch(gpu, 2, images, GF_FILE_JPEG, results, sizes, NULL, errors, &error),
        GF_ERROR_USAGE);
    assert_non_null(strstr(error.text, "[0]: "));
    assert_null(results[0]);
    assert_int_equal(errors[1].status, GF_OK);
    gf_free(results[1]);
    assert_int_equal(
        gf_encode_batch(gpu, 0, images, GF_FILE_JPEG, results, sizes, NULL, NULL, &error), GF_OK);
    assert_int_equal(
        gf_encode_batch(gpu, -1, images, GF_FILE_JPEG, results, sizes, NULL, NULL, &error),
        GF_ERROR_USAGE);
    cudaFree(images[1].data);
    picture_free(&images[0]);
    gf_pipeline_close(gpu);
}

/* ---- numbers ---- */

static void check_floats(struct gf_pipeline *gpu, struct gf_format format, int channels,
                         enum gf_floats layout, enum gf_number type, size_t alignment)
{
    enum { COUNT = 3 };
    static const float mean[] = {0.485f, 0.456f, 0.406f, 0.5f},
                       deviation[] = {0.229f, 0.224f, 0.225f, 0.3f};
    struct gf_numbers form = {type, layout, channels, 2.5f, mean, deviation, 0, 0, 0};
    if (type == GF_NUMBER_UINT8)
        form = (struct gf_numbers){.type = type, .layout = layout, .channels = channels};
    const size_t size = type == GF_NUMBER_FLOAT32 ? 4 : type == GF_NUMBER_UINT8 ? 1 : 2;
    const size_t numbers = (size_t)format.width * (size_t)format.height *
                           (size_t)(channels ? channels : format.channels);
    struct gf_image here[COUNT], there[COUNT];
    unsigned char *const expected = malloc(numbers * size), *const is =
                                                                malloc(COUNT * numbers * size);
    void *values;
    cudaStream_t stream;
    assert_int_equal(cudaMalloc(&values, COUNT * numbers * size), cudaSuccess);
    assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    for (int i = 0; i < COUNT; i++) {
        here[i] = picture_random(format, 0, (uint64_t)i);
        there[i] = copy_to_device(&here[i], alignment);
    }
    assert_ok("floats", gf_pipeline_to_numbers(gpu, COUNT, there, &form, values, stream, &error),
              &error);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    assert_int_equal(cudaMemcpy(is, values, COUNT * numbers * size, cudaMemcpyDeviceToHost),
                     cudaSuccess);
    for (int i = 0; i < COUNT; i++) {
        assert_ok("floats", gf_image_to_numbers(&here[i], &form, expected, &error), &error);
        assert_memory_equal(is + (size_t)i * numbers * size, expected, numbers * size);
        picture_free(&here[i]);
        cudaFree(there[i].data);
    }
    cudaStreamDestroy(stream);
    cudaFree(values);
    free(expected);
    free(is);
}

static void test_floats(void **state)
{
    need_gpu();
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, "");
    for (int kind = 0; kind < 8; kind++) {
        const enum gf_floats layout = kind % 2 ? GF_FLOATS_NCHW : GF_FLOATS_NHWC;
        const enum gf_number type = (enum gf_number)(kind / 2);
        for (int bits = 8; bits <= 16; bits += 8) {
            for (int channels = 1; channels <= 4; channels++) {
                check_floats(gpu, format_of(64, 20, channels, bits), 0, layout, type, 16);
                check_floats(gpu, format_of(61, 23, channels, bits), 0, layout, type,
                             (size_t)bits / 8);
            }
            check_floats(gpu, format_of(50, 33, 1, bits), 3, layout, type, 16);
        }
    }
    gf_pipeline_close(gpu);
}

/* Patches of pictures of several sizes, in one call. */
static void test_patches(void **state)
{
    enum { COUNT = 3, SIDE = 28, MOST = 5 * SIDE * SIDE * 3 * 2 };
    static float expected[MOST], is[COUNT * MOST];
    static const int sizes[COUNT][2] = {{5, 1}, {1, 2}, {2, 2}};
    const struct gf_numbers form = {
        .layout = GF_FLOATS_PATCHES, .patch = SIDE / 2, .merge = 2, .temporal = 2};
    struct gf_image here[COUNT], there[COUNT];
    void *values;
    need_gpu();
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, "");
    assert_int_equal(cudaMalloc(&values, sizeof is), cudaSuccess);
    for (int i = 0; i < COUNT; i++) {
        here[i] = picture_random(format_of(sizes[i][0] * SIDE, sizes[i][1] * SIDE, 3, 8), 0, 1);
        there[i] = copy_to_device(&here[i], 16);
    }
    assert_ok("patches", gf_pipeline_to_numbers(gpu, COUNT, there, &form, values, NULL, &error),
              &error);
    assert_int_equal(cudaMemcpy(is, values, sizeof is, cudaMemcpyDeviceToHost), cudaSuccess);
    size_t at = 0;
    for (int i = 0; i < COUNT; i++) {
        const size_t count = (size_t)sizes[i][0] * (size_t)sizes[i][1] * SIDE * SIDE * 3 * 2;
        assert_ok("patches", gf_image_to_numbers(&here[i], &form, expected, &error), &error);
        assert_memory_equal(is + at, expected, count * sizeof *is);
        at += count;
    }
    there[1].format.width--;
    assert_int_equal(gf_pipeline_to_numbers(gpu, COUNT, there, &form, values, NULL, &error),
                     GF_ERROR_UNFIT);
    assert_non_null(strstr(error.text, "[1]: picture: 27x56 pixels are no multiples of patch=14"));
    for (int i = 0; i < COUNT; i++) {
        cudaFree(there[i].data);
        picture_free(&here[i]);
    }
    cudaFree(values);
    gf_pipeline_close(gpu);
}

/* More pictures than a launch has. */
static void test_many_floats(void **state)
{
    enum { COUNT = 130, SIDE = 20, NUMBERS = SIDE * SIDE * 3 };
    struct gf_image images[COUNT];
    float expected[NUMBERS], *is = malloc(COUNT * sizeof expected);
    void *values;
    need_gpu();
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, "");
    struct gf_image here = picture_random(format_of(SIDE, SIDE, 3, 8), 0, 1), other = here;
    assert_non_null(is);
    assert_int_equal(cudaMalloc(&values, COUNT * sizeof expected), cudaSuccess);
    images[0] = copy_to_device(&here, 16);
    for (int i = 1; i < COUNT; i++)
        images[i] = images[0];
    assert_ok("floats",
              gf_pipeline_to_floats(gpu, COUNT, images, GF_FLOATS_NCHW, 0, NULL, NULL, values, NULL,
                                    &error),
              &error);
    assert_int_equal(cudaMemcpy(is, values, COUNT * sizeof expected, cudaMemcpyDeviceToHost),
                     cudaSuccess);
    assert_ok("floats", gf_image_to_floats(&here, GF_FLOATS_NCHW, 0, NULL, NULL, expected, &error),
              &error);
    for (int i = 0; i < COUNT; i++)
        assert_memory_equal(is + i * NUMBERS, expected, sizeof expected);
    assert_int_equal(
        gf_pipeline_to_floats(gpu, 1, &other, GF_FLOATS_NCHW, 0, NULL, NULL, values, NULL, &error),
        GF_ERROR_USAGE);
    images[1].format.width--;
    assert_int_equal(
        gf_pipeline_to_floats(gpu, 2, images, GF_FLOATS_NCHW, 0, NULL, NULL, values, NULL, &error),
        GF_ERROR_UNFIT);
    cudaFree(values);
    cudaFree(images[0].data);
    free(is);
    picture_free(&here);
    gf_pipeline_close(gpu);
}

static void set_number(unsigned char *values, enum gf_number type, size_t i, float number)
{
    const uint32_t bits = gf_number_of_float(type, number);
    memcpy(values + i * gf_number_bytes(type), &bits, gf_number_bytes(type));
}

/* Numbers of a type as samples: those of the host, or its failure. */
static void check_samples(struct gf_pipeline *gpu, struct gf_format format, enum gf_number type,
                          float black, float white, float odd)
{
    const size_t size = gf_number_bytes(type),
                 count = (size_t)format.width * (size_t)format.height * (size_t)format.channels;
    struct gf_image here = picture_random(format, 0, 1), there = copy_to_device(&here, 2);
    unsigned char *const numbers = malloc(count * size);
    const float mean = (white - black) / 8 - black;
    const struct gf_numbers form = {
        .type = type,
        .scale = (white - black) * 1.25f,
        .mean = (const float[]){mean, mean, mean, mean}}; /* beyond the range, too */
    struct gf_error on_host;
    void *values;
    assert_non_null(numbers);
    assert_ok("numbers", gf_image_to_numbers(&here, &form, numbers, &error), &error);
    set_number(numbers, type, count / 3, odd);
    set_number(numbers, type, count / 2, odd);
    assert_int_equal(cudaMalloc(&values, count * size), cudaSuccess);
    assert_int_equal(cudaMemcpy(values, numbers, count * size, cudaMemcpyHostToDevice),
                     cudaSuccess);
    const enum gf_status expected =
        gf_image_from_numbers(numbers, type, black, white, &here, &on_host);
    assert_int_equal(
        gf_pipeline_from_numbers(gpu, values, type, black, white, &there, NULL, &error), expected);
    if (expected)
        assert_string_equal(error.text, on_host.text);
    if (!expected) {
        struct gf_image is = copy_of(&there);
        assert_same("samples", &here, &is);
        gf_image_free(&is);
    }
    cudaFree(values);
    cudaFree(there.data);
    free(numbers);
    picture_free(&here);
}

static void test_samples(void **state)
{
    static const float odd[] = {0.75f, 1.99f, 3.5f, -4, NAN, INFINITY};
    need_gpu();
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, "");
    for (int type = GF_NUMBER_FLOAT32; type <= GF_NUMBER_BFLOAT16; type++) {
        for (int channels = 1; channels <= 4; channels++)
            check_samples(gpu, format_of(61 + 90 * channels, 23, channels, 16),
                          (enum gf_number)type, 0, 1, 0.5f);
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
            check_samples(gpu, format_of(40, 30, 3, 16), (enum gf_number)type, -1, 1, odd[i]);
    }
    struct gf_image here = picture_random(format_of(4, 4, 1, 16), 0, 1),
                    there = copy_to_device(&here, 16);
    assert_int_equal(
        gf_pipeline_from_numbers(gpu, here.data, GF_NUMBER_FLOAT16, 0, 1, &there, NULL, &error),
        GF_ERROR_USAGE);
    assert_int_equal(
        gf_pipeline_from_numbers(gpu, there.data, GF_NUMBER_FLOAT16, 0, 1, &here, NULL, &error),
        GF_ERROR_USAGE);
    assert_int_equal(
        gf_pipeline_from_numbers(gpu, there.data, GF_NUMBER_UINT8, 0, 1, &there, NULL, &error),
        GF_ERROR_USAGE);
    cudaFree(there.data);
    picture_free(&here);
    gf_pipeline_close(gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decoding),       cmocka_unit_test(test_pinned_bytes),
        cmocka_unit_test(test_callers_images), cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_encoding),       cmocka_unit_test(test_pictures_elsewhere),
        cmocka_unit_test(test_floats),         cmocka_unit_test(test_patches),
        cmocka_unit_test(test_many_floats),    cmocka_unit_test(test_samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
