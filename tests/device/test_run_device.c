/* Pictures in the caller's device memory: the same bits as on the CPU, whatever the alignment of
 * their rows, in the order of the caller's stream; memory of another kind is refused. */
#include "gpu_test.h"
#include "gpufilter/gpufilter.h"
#include "pixel/float_rows.h"

#ifdef GF_WITH_CUDA

static struct gf_error error;

static struct gf_pipeline *open_on(enum gf_device_kind device, const char *chain)
{
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    options.device = device;
    assert_ok(chain, gf_pipeline_open(chain, &options, &pipeline, &error), &error);
    return pipeline;
}

static struct gf_image alloc_on_device(struct gf_format format, size_t alignment)
{
    const size_t pitch = (gf_row_bytes(format) + alignment - 1) / alignment * alignment;
    void *data;
    assert_int_equal(cudaMalloc(&data, pitch * (size_t)format.height + alignment), cudaSuccess);
    return (struct gf_image){.format = format, .pitch = pitch, .data = data};
}

/* The upload is still queued when the pipeline is called. */
static void run_queued(struct gf_pipeline *pipeline, const struct gf_image *input,
                       const struct gf_image *there, const struct gf_image *out)
{
    cudaStream_t stream;
    assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaMemcpy2DAsync(there->data, there->pitch, input->data, input->pitch,
                                       gf_row_bytes(input->format), (size_t)input->format.height,
                                       cudaMemcpyHostToDevice, stream),
                     cudaSuccess);
    assert_ok("run", gf_pipeline_run_device(pipeline, there, out, stream, &error), &error);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
}

static void check(const char *chain, struct gf_format format, size_t alignment)
{
    struct gf_image input = picture_random(format, 0, 1), expected = {.data = NULL}, back;
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, chain), *const cpu = open_on(
                                                                        GF_DEVICE_CPU, chain);
    assert_ok(chain, gf_pipeline_run_image(cpu, &input, &expected, &error), &error);
    const struct gf_image there = alloc_on_device(format, alignment),
                          out = alloc_on_device(expected.format, alignment);
    assert_ok(chain, gf_image_alloc(&back, expected.format, &error), &error);
    for (int i = 0; i < 2; i++) {
        memset(back.data, 0, back.pitch * (size_t)back.format.height);
        run_queued(gpu, &input, &there, &out);
        assert_int_equal(cudaMemcpy2D(back.data, back.pitch, out.data, out.pitch,
                                      gf_row_bytes(out.format), (size_t)out.format.height,
                                      cudaMemcpyDeviceToHost),
                         cudaSuccess);
        assert_memory_equal(back.data, expected.data, back.pitch * (size_t)back.format.height);
    }
    cudaFree(there.data);
    cudaFree(out.data);
    gf_image_free(&back);
    gf_image_free(&expected);
    gf_pipeline_close(gpu);
    gf_pipeline_close(cpu);
    picture_free(&input);
}

static void test_same_bits(void **state)
{
    static const char *const chains[] = {"",
                                         "blur=2",
                                         "gamma=2,unsharp,invert",
                                         "resize=50%",
                                         "blur,equalize,hflip",
                                         "rotate=90,median"};
    need_gpu();
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        check(chains[c], format_of(64, 48, 3, 8), 16);
        check(chains[c], format_of(61, 47, 3, 8), 1);
        check(chains[c], format_of(61, 47, 4, 16), 2);
        check(chains[c], format_of(33, 70, 1, 8), 16);
    }
}

/* Wide halves have kernels of their own, and blocks for their edges. */
static void test_wide_halves(void **state)
{
    static const int widths[] = {3000, 3002, 3004, 3006, 3074};
    need_gpu();
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        check("resize=50%:50%:kernel=lanczos3", format_of(widths[i], 38, 3, 8), 16);
        check("resize=50%:50%:kernel=cubic", format_of(widths[i], 30, 3, 8), 16);
        check("resize=50%:50%:light=linear", format_of(widths[i], 26, 3, 8), 16);
    }
}

static void test_like_pillow(void **state)
{
    static const char *const chains[] = {"resize=30:21:like=pillow",
                                         "resize=61:90:hamming:like=pillow",
                                         "resize=90:100:linear:like=pillow:box=1.5 2.25 30 40",
                                         "resize=20:64:nearest:like=pillow",
                                         "resize=19:11:cubic:like=pillow:reducing_gap=1.2",
                                         "resize=19:11:cubic:like=pillow13:reducing_gap=1.2",
                                         "resize=50:9:like=pillow13"};
    need_gpu();
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        for (int channels = 1; channels <= 4; channels++)
            check(chains[c], format_of(61, 47, channels, 8), 16);
        if (!strstr(chains[c], "gap"))
            check(chains[c], format_of(61, 47, 1, 16), 16);
    }
    check("thumbnail=20:like=pillow", format_of(300, 200, 3, 8), 16);
    check("resize=30:21:like=pillow", format_of(61, 47, 4, 8), 1);
    check("resize=7:2:like=pillow", format_of(61, 300, 3, 8), 1);
    check("resize=3:1:area:like=pillow:reducing_gap=1", format_of(61, 300, 3, 8), 16);
    check("resize=40:70:like=pillow:box='60.999 0 61 300'", format_of(61, 300, 4, 8), 16);
}

/* Makes floats of -0.5..2 from the bytes, with or without an infinite one, and alpha that is 0 in
 * places. */
static void fill_floats(struct gf_image *picture, bool has_infinity)
{
    const struct gf_format format = picture->format;
    const int channels = format.channels;
    for (int y = 0; y < format.height; y++) {
        unsigned char *const row = picture->data + (size_t)y * picture->pitch;
        for (int i = format.width * channels - 1; i >= 0; i--) {
            const bool is_alpha = channels % 2 == 0 && i % channels == channels - 1;
            const float byte = row[i * format.bits / 8];
            const float v = is_alpha                              ? fmaxf(byte - 60, 0) / 195
                            : has_infinity && y == 75 && i == 100 ? INFINITY
                                                                  : byte / 100 - 0.5f;
            gf_floats_to_row(&v, format, 1, row + (size_t)i * (size_t)format.bits / 8);
        }
    }
}

static void check_floats(const char *chain, struct gf_format format)
{
    struct gf_image input = picture_random(format, 0, 1), expected = {.data = NULL},
                    made = {.data = NULL};
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, chain), *const cpu = open_on(
                                                                        GF_DEVICE_CPU, chain);
    /* Weights below 0 would make a NaN of an infinity, and so would alpha. */
    fill_floats(&input, strstr(chain, ":linear") && format.channels % 2);
    assert_ok(chain, gf_pipeline_run_image(cpu, &input, &expected, &error), &error);
    assert_ok(chain, gf_pipeline_run_image(gpu, &input, &made, &error), &error);
    for (int y = 0; y < expected.format.height; y++) {
        if (memcmp(made.data + (size_t)y * made.pitch, expected.data + (size_t)y * expected.pitch,
                   gf_row_bytes(expected.format)))
            fail_msg("%s: %d channels of %d bits: row %d", chain, format.channels, format.bits, y);
    }
    gf_image_free(&expected);
    gf_image_free(&made);
    gf_pipeline_close(gpu);
    gf_pipeline_close(cpu);
    picture_free(&input);
}

/* Floats: halves and other sizes, in one kernel and in two, at edges and with alpha. */
static void test_resized_floats(void **state)
{
    static const char *const chains[] = {
        "resize=50%:50%",       "resize=50%:50%:cubic",   "resize=50%:50%:linear",
        "resize=50%:50%:area",  "resize=37%:70%",         "resize=140%:15%",
        "resize=9:110:area",    "resize=50%:50%:nearest", "resize=50%:60%:light=linear",
        "resize=8%:90%:linear", "resize=50%:9%:hamming",  "resize=80:30:linear:fit=cover"};
    need_gpu();
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        for (int kind = 0; kind < 8; kind++) {
            struct gf_format format = format_of(210 + kind, 150, 1 + kind % 4, kind < 4 ? 16 : 32);
            format.samples = GF_SAMPLES_FLOAT;
            check_floats(chains[c], format);
        }
    }
}

/* A pipeline keeps what it needs for some formats, one of which makes room for another. */
static void test_many_formats(void **state)
{
    need_gpu();
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, "blur,equalize"), *const cpu = open_on(
                                                                                  GF_DEVICE_CPU,
                                                                                  "blur,equalize");
    for (int turn = 0; turn < 30; turn++) {
        const struct gf_format format = format_of(20 + 7 * (turn % 10), 30, 1 + turn % 4, 8);
        const size_t pitch = gf_row_bytes(format), bytes = pitch * (size_t)format.height;
        struct gf_image input = picture_random(format, 0, (unsigned)turn + 1), result = {0}, back;
        const struct gf_image there = alloc_on_device(format, 1 + 15 * (size_t)(turn % 3)),
                              out = alloc_on_device(format, 1);
        assert_ok("cpu", gf_pipeline_run_image(cpu, &input, &result, &error), &error);
        assert_ok("back", gf_image_alloc(&back, format, &error), &error);
        run_queued(gpu, &input, &there, &out);
        assert_int_equal(cudaMemcpy(back.data, out.data, bytes, cudaMemcpyDeviceToHost),
                         cudaSuccess);
        assert_memory_equal(back.data, result.data, bytes);
        cudaFree(there.data);
        cudaFree(out.data);
        gf_image_free(&back);
        gf_image_free(&result);
        picture_free(&input);
    }
    gf_pipeline_close(gpu);
    gf_pipeline_close(cpu);
}

/* Where the pictures of a batch lie. */
enum layout { ONE_BELOW_THE_OTHER, WITH_GAPS, AT_ODD_ADDRESSES, ANYWHERE };
enum { BATCH = 7, BATCH_MOST = 65 };

static void place_batch(struct gf_format format, enum layout layout, int count,
                        struct gf_image *image)
{
    const size_t row = gf_row_bytes(format),
                 pitch = layout == AT_ODD_ADDRESSES ? row : (row + 15) / 16 * 16,
                 step = pitch * ((size_t)format.height + (layout == WITH_GAPS));
    void *data;
    assert_int_equal(cudaMalloc(&data, 2 * (size_t)count * step), cudaSuccess);
    assert_int_equal(cudaMemset(data, 0xA5, 2 * (size_t)count * step), cudaSuccess);
    for (int i = 0; i < count; i++)
        image[i] =
            (struct gf_image){.format = format,
                              .pitch = pitch,
                              .data = (unsigned char *)data +
                                      step * (size_t)(layout == ANYWHERE ? 3 * i % count : i)};
}

static void check_some(const char *chain, struct gf_format format, enum layout in_layout,
                       enum layout out_layout, int count)
{
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, chain), *const cpu = open_on(
                                                                        GF_DEVICE_CPU, chain);
    struct gf_image input[BATCH_MOST], expected[BATCH_MOST] = {{.data = NULL}}, in[BATCH_MOST],
                                       out[BATCH_MOST];
    place_batch(format, in_layout, count, in);
    for (int i = 0; i < count; i++) {
        input[i] = picture_random(format, 0, (unsigned)i + 1);
        assert_ok(chain, gf_pipeline_run_image(cpu, &input[i], &expected[i], &error), &error);
        assert_int_equal(cudaMemcpy2D(in[i].data, in[i].pitch, input[i].data, input[i].pitch,
                                      gf_row_bytes(format), (size_t)format.height,
                                      cudaMemcpyHostToDevice),
                         cudaSuccess);
    }
    place_batch(expected[0].format, out_layout, count, out);
    for (int turn = 0; turn < 2; turn++)
        assert_ok(chain, gf_pipeline_run_device_batch(gpu, in, out, count, NULL, &error), &error);
    for (int i = 0; i < count; i++) {
        const struct gf_format result = expected[i].format;
        struct gf_image back;
        assert_ok(chain, gf_image_alloc(&back, result, &error), &error);
        assert_int_equal(cudaMemcpy2D(back.data, back.pitch, out[i].data, out[i].pitch,
                                      gf_row_bytes(result), (size_t)result.height,
                                      cudaMemcpyDeviceToHost),
                         cudaSuccess);
        assert_memory_equal(back.data, expected[i].data, back.pitch * (size_t)result.height);
        gf_image_free(&back);
        gf_image_free(&expected[i]);
        picture_free(&input[i]);
    }
    unsigned char after; /* the row after the first picture of a batch with gaps */
    assert_int_equal(cudaMemcpy(&after, out[0].data + out[0].pitch * (size_t)out[0].format.height,
                                1, cudaMemcpyDeviceToHost),
                     cudaSuccess);
    if (out_layout == WITH_GAPS)
        assert_int_equal(after, 0xA5);
    cudaFree(in[0].data);
    cudaFree(out[0].data);
    gf_pipeline_close(gpu);
    gf_pipeline_close(cpu);
}

static void check_batch(const char *chain, struct gf_format format, enum layout in_layout,
                        enum layout out_layout)
{
    check_some(chain, format, in_layout, out_layout, BATCH);
}

static void test_batches(void **state)
{
    static const char *const chains[] = {"",
                                         "resize=28:30,blur=1",
                                         "blur=4",
                                         "gamma=2,resize=70%,unsharp,invert",
                                         "vignette,rotate=90,blur=0.7",
                                         "saturation=1.5,hflip,colormatrix=sepia",
                                         "equalize,blur=1",
                                         "resize=20:9:gravity=attention,blur=1",
                                         "median,boxblur=3:border=reflect,sobel",
                                         "dilate=2,convolve=0 1 0/1 -3 1/0 1 0:border=constant"};
    need_gpu();
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        check_batch(chains[c], format_of(32, 36, 3, 8), ONE_BELOW_THE_OTHER, ONE_BELOW_THE_OTHER);
        check_batch(chains[c], format_of(32, 36, 3, 8), ANYWHERE, ONE_BELOW_THE_OTHER);
        check_batch(chains[c], format_of(32, 36, 3, 8), WITH_GAPS, ANYWHERE);
        check_batch(chains[c], format_of(33, 29, 1, 8), AT_ODD_ADDRESSES, WITH_GAPS);
        check_batch(chains[c], format_of(31, 40, 4, 16), ANYWHERE, AT_ODD_ADDRESSES);
    }
}

/* As many pictures as a launch takes where they lie, and one more. */
static void test_long_batches(void **state)
{
    need_gpu();
    for (int count = BATCH_MOST - 1; count <= BATCH_MOST; count++) {
        check_some("resize=70%", format_of(21, 13, 3, 8), ANYWHERE, ONE_BELOW_THE_OTHER, count);
        check_some("resize=70%,blur", format_of(21, 13, 1, 8), ANYWHERE, ANYWHERE, count);
    }
}

/* Pictures that together are larger than a stack, while their results are small: they are read
 * where they lie, or, by kernels that cannot, in smaller stacks. */
static void test_large_batches(void **state)
{
    static const char *const chains[] = {"resize=23:17:like=pillow",      "resize=23:17:lanczos3",
                                         "resize=23:17:linear",           "resize=23:17:nearest",
                                         "resize=23:17:area:like=opencv", "resize=23:17,blur"};
    need_gpu();
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        check_batch(chains[c], format_of(1403, 1100, 3, 8), ANYWHERE, ANYWHERE);
        check_batch(chains[c], format_of(61, 47, 4, 8), ANYWHERE, ONE_BELOW_THE_OTHER);
        check_batch(chains[c], format_of(61, 47, 2, 8), ONE_BELOW_THE_OTHER, WITH_GAPS);
        if (!strstr(chains[c], "opencv"))
            check_batch(chains[c], format_of(61, 47, 1, 16), AT_ODD_ADDRESSES, ANYWHERE);
    }
}

/* Every filter that makes a picture of this one, by a chain whose effect is easy to see; but floats
 * run on the CPU alone. */
static void test_every_filter_in_batches(void **state)
{
    const struct gf_format format = format_of(32, 36, 3, 8);
    struct gf_image input = picture_random(format, 0, 1);
    int checked = 0;
    need_gpu();
    for (int f = 0; gf_filter_at(f); f++) {
        const struct gf_filter *const filter = gf_filter_at(f);
        const char *const example = gf_filter_example(filter), *const chain =
                                                                   example ? example
                                                                           : gf_filter_name(filter);
        struct gf_options options = gf_options_default();
        struct gf_pipeline *cpu = NULL;
        struct gf_image result = {.data = NULL};
        struct gf_format fixed;
        options.device = GF_DEVICE_CPU;
        const bool fits = !gf_pipeline_open(chain, &options, &cpu, &error) &&
                          !gf_pipeline_format(cpu, format, &fixed, &error) &&
                          !gf_pipeline_run_image(cpu, &input, &result, &error) &&
                          !memcmp(&fixed, &result.format, sizeof fixed);
        gf_image_free(&result);
        gf_pipeline_close(cpu);
        if (!fits || !strncmp(chain, "float", 5) || !strncmp(chain, "integer", 7))
            continue;
        struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, chain);
        const bool looks_for_box =
            gf_pipeline_run_device_batch(gpu, &input, &input, 0, NULL, &error) == GF_ERROR_UNFIT;
        gf_pipeline_close(gpu);
        if (looks_for_box)
            continue;
        check_batch(chain, format, ONE_BELOW_THE_OTHER, ANYWHERE);
        checked++;
    }
    assert_true(checked > 40);
    picture_free(&input);
}

/* A batch of pictures of several formats, and failures that name one of them. */
static void test_mixed_batch(void **state)
{
    need_gpu();
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, "invert");
    struct gf_image in[4], out[4];
    for (int i = 0; i < 4; i++) {
        const struct gf_format format = format_of(i < 2 ? 32 : 48, 20, 1 + 2 * (i == 3), 8);
        in[i] = alloc_on_device(format, 16);
        out[i] = alloc_on_device(format, 16);
        assert_int_equal(cudaMemset(in[i].data, i, in[i].pitch * 20), cudaSuccess);
    }
    assert_ok("mixed", gf_pipeline_run_device_batch(gpu, in, out, 4, NULL, &error), &error);
    assert_ok("none", gf_pipeline_run_device_batch(gpu, in, out, 0, NULL, &error), &error);
    for (int i = 0; i < 4; i++) {
        unsigned char last;
        assert_int_equal(
            cudaMemcpy(&last, out[i].data + 19 * out[i].pitch, 1, cudaMemcpyDeviceToHost),
            cudaSuccess);
        assert_int_equal(last, 255 - i);
    }
    const struct gf_image whole = out[1];
    out[1].format.height--;
    assert_int_equal(gf_pipeline_run_device_batch(gpu, in, out, 4, NULL, &error), GF_ERROR_USAGE);
    assert_non_null(strstr(error.text, "[1]: output: its format"));
    out[1] = whole;
    out[1].data = NULL;
    assert_int_equal(gf_pipeline_run_device_batch(gpu, in, out, 4, NULL, &error), GF_ERROR_USAGE);
    assert_non_null(strstr(error.text, "[1]: output: no pixels"));
    assert_int_equal(gf_pipeline_run_device_batch(gpu, in, out, -1, NULL, &error), GF_ERROR_USAGE);
    out[1] = whole;
    for (int i = 0; i < 4; i++) {
        cudaFree(in[i].data);
        cudaFree(out[i].data);
    }
    gf_pipeline_close(gpu);
}

static bool count_bands(void *context, double part)
{
    ++*(int *)context;
    return part <= 1;
}

/* Calls that are watched, that have a profile or that another kind of call comes between. */
static void test_other_calls_between(void **state)
{
    need_gpu();
    struct gf_options options = gf_options_default();
    struct gf_image host = picture_random(format_of(64, 40, 3, 8), 0, 1), expected = {0};
    const struct gf_image in = alloc_on_device(host.format, 16),
                          out = alloc_on_device(host.format, 16);
    struct gf_pipeline *gpu = open_on(GF_DEVICE_CUDA, "blur,gamma=2");
    const size_t bytes = in.pitch * (size_t)in.format.height;
    unsigned char *const back = malloc(bytes);
    int bands = 0;
    assert_int_equal(cudaMemcpy(in.data, host.data, bytes, cudaMemcpyHostToDevice), cudaSuccess);
    for (int i = 0; i < 6; i++) {
        if (i == 4) {
            gf_pipeline_close(gpu);
            options.device = GF_DEVICE_CUDA;
            options.profile = true;
            assert_ok("open", gf_pipeline_open("blur,gamma=2", &options, &gpu, &error), &error);
        }
        gf_pipeline_watch(gpu, i == 2 ? count_bands : NULL, &bands);
        if (i % 2)
            assert_ok("image", gf_pipeline_run_image(gpu, &host, &expected, &error), &error);
        assert_int_equal(cudaMemset(out.data, 0, bytes), cudaSuccess);
        assert_ok("device", gf_pipeline_run_device(gpu, &in, &out, NULL, &error), &error);
        assert_int_equal(cudaMemcpy(back, out.data, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
        if (expected.data)
            assert_memory_equal(back, expected.data, bytes);
        assert_string_equal(gf_pipeline_profile(gpu)->stages[0].name, "blur+gamma");
        assert_non_null(strstr(gf_pipeline_profile(gpu)->device, "cuda:0"));
        assert_int_equal(bands > 0, i >= 2);
    }
    assert_true(gf_pipeline_profile(gpu)->span_count > 0);
    free(back);
    cudaFree(in.data);
    cudaFree(out.data);
    gf_image_free(&expected);
    gf_pipeline_close(gpu);
    picture_free(&host);
}

static void assert_on_device(const struct gf_image *image, const struct gf_image *expected)
{
    struct gf_image back;
    assert_ok("back", gf_image_alloc(&back, expected->format, &error), &error);
    assert_memory_equal(&image->format, &expected->format, sizeof image->format);
    assert_int_equal(cudaMemcpy2D(back.data, back.pitch, image->data, image->pitch,
                                  gf_row_bytes(back.format), (size_t)back.format.height,
                                  cudaMemcpyDeviceToHost),
                     cudaSuccess);
    assert_memory_equal(back.data, expected->data, back.pitch * (size_t)back.format.height);
    gf_image_free(&back);
}

/* Results that the library allocates, beside one in the caller's memory; they are inputs again. */
static void test_allocated_results(void **state)
{
    enum { COUNT = 4 };
    static const char chain[] = "blur=2,grayscale";
    need_gpu();
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, chain), *const cpu = open_on(
                                                                        GF_DEVICE_CPU, chain);
    struct gf_image in[COUNT], out[COUNT] = {{.data = NULL}}, again[COUNT] = {{.data = NULL}};
    struct gf_image expected[COUNT] = {{.data = NULL}}, host[COUNT];
    for (int i = 0; i < COUNT; i++) {
        host[i] = picture_random(format_of(i < 2 ? 40 : 51, 30, i == 3 ? 4 : 3, 8), 0, 1 + i);
        in[i] = alloc_on_device(host[i].format, 16);
        assert_int_equal(cudaMemcpy2D(in[i].data, in[i].pitch, host[i].data, host[i].pitch,
                                      gf_row_bytes(in[i].format), (size_t)in[i].format.height,
                                      cudaMemcpyHostToDevice),
                         cudaSuccess);
        assert_ok(chain, gf_pipeline_run_image(cpu, &host[i], &expected[i], &error), &error);
    }
    const struct gf_image own = alloc_on_device(expected[1].format, 16);
    out[1] = own;
    assert_ok(chain, gf_filter_batch(gpu, COUNT, in, out, NULL, &error), &error);
    assert_ptr_equal(out[1].data, own.data);
    assert_ok(chain, gf_filter_batch(gpu, COUNT, out, again, NULL, &error), &error);
    for (int i = 0; i < COUNT; i++) {
        struct gf_image twice = {.data = NULL};
        assert_on_device(&out[i], &expected[i]);
        assert_ok(chain, gf_pipeline_run_image(cpu, &expected[i], &twice, &error), &error);
        assert_on_device(&again[i], &twice);
        gf_image_free(&twice);
    }
    out[1].data = NULL;
    gf_pipeline_free_images(gpu, out, COUNT);
    gf_pipeline_free_images(gpu, again, COUNT);
    unsigned char *const there = in[3].data;
    in[3].data = host[3].data;
    assert_int_equal(gf_filter_batch(gpu, COUNT, in, again, NULL, &error), GF_ERROR_USAGE);
    assert_ok(chain, gf_filter_batch(gpu, 0, in, again, NULL, &error), &error);
    for (int i = 0; i < COUNT; i++)
        assert_null(again[i].data);
    in[3].data = there;
    for (int i = 0; i < COUNT; i++) {
        cudaFree(in[i].data);
        gf_image_free(&expected[i]);
        picture_free(&host[i]);
    }
    cudaFree(own.data);
    gf_pipeline_close(gpu);
    gf_pipeline_close(cpu);
}

/* A failure names its picture among all, whatever the formats of those before are. */
static void test_failures_are_numbered(void **state)
{
    enum { COUNT = 4 };
    need_gpu();
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, "blur"), *const crop =
                                                                         open_on(GF_DEVICE_CUDA,
                                                                                 "crop=35:5:0:0");
    struct gf_image in[COUNT], out[COUNT], made[2] = {{.data = NULL}};
    for (int i = 0; i < COUNT; i++) {
        in[i] = alloc_on_device(format_of(i ? 40 : 32, 20, 3, 8), 16);
        out[i] = in[i];
        out[i].data += in[i].pitch * 20 / 2;
        out[i].format.height = in[i].format.height = 10;
    }
    for (int i = 0; i < COUNT; i++) {
        char start[20];
        const struct gf_image good = out[i];
        out[i].format.width--;
        snprintf(start, sizeof start, "[%d]: output: its", i);
        assert_int_equal(gf_pipeline_run_device_batch(gpu, in, out, COUNT, NULL, &error),
                         GF_ERROR_USAGE);
        assert_memory_equal(error.text, start, strlen(start));
        out[i] = good;
    }
    assert_ok("blur", gf_pipeline_run_device_batch(gpu, in, out, COUNT, NULL, &error), &error);
    const struct gf_image swapped[2] = {in[1], in[0]};
    assert_int_equal(gf_filter_batch(crop, 2, swapped, made, NULL, &error), GF_ERROR_UNFIT);
    assert_memory_equal(error.text, "[1]: crop", 9);
    for (int i = 0; i < COUNT; i++)
        cudaFree(in[i].data);
    gf_pipeline_close(gpu);
    gf_pipeline_close(crop);
}

static void test_refused(void **state)
{
    need_gpu();
    struct gf_image host = picture_random(format_of(32, 20, 3, 8), 0, 1);
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, "blur"),
                              *const cpu = open_on(GF_DEVICE_CPU, "blur"),
                              *const box = open_on(GF_DEVICE_CUDA, "trim");
    const struct gf_image in = alloc_on_device(host.format, 16),
                          out = alloc_on_device(host.format, 16);
    struct gf_image other = out;
    assert_int_equal(gf_pipeline_run_device(gpu, &host, &out, NULL, &error), GF_ERROR_USAGE);
    assert_non_null(strstr(error.text, "is not in the memory of cuda:0"));
    assert_int_equal(gf_pipeline_run_device(gpu, &in, &host, NULL, &error), GF_ERROR_USAGE);
    assert_int_equal(gf_pipeline_run_device(gpu, &in, &in, NULL, &error), GF_ERROR_USAGE);
    assert_int_equal(gf_pipeline_run_device(cpu, &in, &out, NULL, &error), GF_ERROR_USAGE);
    assert_non_null(strstr(error.text, "options.device=GF_DEVICE_CUDA"));
    assert_int_equal(gf_pipeline_run_device(box, &in, &out, NULL, &error), GF_ERROR_UNFIT);
    other.format.width--;
    assert_int_equal(gf_pipeline_run_device(gpu, &in, &other, NULL, &error), GF_ERROR_USAGE);
    assert_ok("blur", gf_pipeline_run_device(gpu, &in, &out, NULL, &error), &error);
    cudaFree(in.data);
    cudaFree(out.data);
    gf_pipeline_close(gpu);
    gf_pipeline_close(cpu);
    gf_pipeline_close(box);
    picture_free(&host);
}

/* Work on one stream waits for the work of the call before on another, which a copy delays. */
static void test_order_of_streams(void **state)
{
    enum { BYTES = 32 << 20, COPIES = 4, STREAMS = 3, CALLS = 8 };
    static const int turns[CALLS] = {0, 0, 1, 0, 1, 2, 2, 0}; /* 0: the null stream */
    need_gpu();
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, "blur");
    const struct gf_format format = format_of(61, 47, 3, 8);
    const struct gf_image in = alloc_on_device(format, 1), out = alloc_on_device(format, 1);
    cudaStream_t stream[STREAMS] = {NULL};
    void *host, *there;
    assert_int_equal(cudaMallocHost(&host, BYTES), cudaSuccess);
    assert_int_equal(cudaMalloc(&there, BYTES), cudaSuccess);
    for (int i = 1; i < STREAMS; i++)
        assert_int_equal(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking), cudaSuccess);
    assert_ok("ready", gf_pipeline_run_device(gpu, &in, &out, NULL, &error), &error);
    for (int i = 1; i < CALLS; i++) {
        const cudaStream_t before = stream[turns[i - 1]], now = stream[turns[i]];
        assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
        for (int n = 0; n < COPIES; n++)
            assert_int_equal(cudaMemcpyAsync(there, host, BYTES, cudaMemcpyHostToDevice, before),
                             cudaSuccess);
        assert_ok("before", gf_pipeline_run_device(gpu, &in, &out, before, &error), &error);
        assert_ok("now", gf_pipeline_run_device(gpu, &in, &out, now, &error), &error);
        assert_int_equal(cudaStreamSynchronize(now), cudaSuccess);
        assert_int_equal(cudaStreamQuery(before), cudaSuccess);
    }
    for (int i = 1; i < STREAMS; i++)
        assert_int_equal(cudaStreamDestroy(stream[i]), cudaSuccess);
    cudaFreeHost(host);
    cudaFree(there);
    cudaFree(in.data);
    cudaFree(out.data);
    gf_pipeline_close(gpu);
}

/* Nothing is queued on a stream that is being captured, and the capture goes on. */
static void test_captured_stream(void **state)
{
    need_gpu();
    cudaStream_t stream;
    cudaGraph_t graph;
    const struct gf_format format = format_of(32, 20, 3, 8);
    struct gf_pipeline *const gpu = open_on(GF_DEVICE_CUDA, "blur");
    const struct gf_image in = alloc_on_device(format, 16), out = alloc_on_device(format, 16);
    for (int turn = 0; turn < 2; turn++) { /* before and after a call that has made a plan */
        assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
        const cudaError_t begun = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
        if (begun == cudaErrorNotSupported)
            break;
        assert_int_equal(begun, cudaSuccess);
        assert_int_equal(gf_pipeline_run_device(gpu, &in, &out, stream, &error), GF_ERROR_USAGE);
        assert_non_null(strstr(error.text, "stream: it is being captured"));
        struct gf_image made = {.data = NULL};
        assert_int_equal(gf_filter_batch(gpu, 1, &in, &made, stream, &error), GF_ERROR_USAGE);
        assert_null(made.data);
        assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
        assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
        assert_ok("after", gf_pipeline_run_device(gpu, &in, &out, stream, &error), &error);
        assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
        assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
    }
    cudaFree(in.data);
    cudaFree(out.data);
    gf_pipeline_close(gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits),
                                       cmocka_unit_test(test_wide_halves),
                                       cmocka_unit_test(test_like_pillow),
                                       cmocka_unit_test(test_resized_floats),
                                       cmocka_unit_test(test_many_formats),
                                       cmocka_unit_test(test_batches),
                                       cmocka_unit_test(test_long_batches),
                                       cmocka_unit_test(test_large_batches),
                                       cmocka_unit_test(test_every_filter_in_batches),
                                       cmocka_unit_test(test_mixed_batch),
                                       cmocka_unit_test(test_other_calls_between),
                                       cmocka_unit_test(test_allocated_results),
                                       cmocka_unit_test(test_order_of_streams),
                                       cmocka_unit_test(test_captured_stream),
                                       cmocka_unit_test(test_failures_are_numbered),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
