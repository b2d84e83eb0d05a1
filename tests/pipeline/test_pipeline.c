/* Bands, lanes, threads, pitch, streaming and a device's own memory do not change a bit of the
 * result of any filter, nor of chains of filters. */
#include "pipeline/pipeline_internal.h"
#include "pipeline/pipeline_state.h"
#include "runner.h"

static const struct gf_format sizes[] = {
    {.width = 1, .height = 1}, {.width = 1, .height = 23},  {.width = 23, .height = 1},
    {.width = 3, .height = 3}, {.width = 77, .height = 55},
};

/* The run_counting() of a device whose every kernel can count what it writes. */
static enum gf_status run_and_count(struct gf_lane *lane, const struct gf_stage *stage,
                                    const void *constants, const struct gf_view *in,
                                    const struct gf_view *out, void *scratch, bool *counted,
                                    struct gf_error *error)
{
    const enum gf_status status = fake_run(lane, stage, constants, in, out, scratch, error);
    *counted = !status;
    return status ? status : fake_statistic_add(lane, out, error);
}

/* From the first way on, by steps: 0 and 1 are all. */
static void check_ways(const char *chain, const struct gf_image *input, size_t first, size_t step)
{
    struct fake_device device[5];
    for (int i = 0; i < 5; i++)
        fake_open(&device[i]);
    device[3].zero_copy = true;
    device[1].calls.run_counting = run_and_count;
    const struct way ways[] = {
        {.name = "bands of 1 row on 3 lanes", .lanes = 3, .band_rows = 1},
        {.name = "bands of 7 rows, padded", .lanes = 1, .band_rows = 7, .padding = 6},
        {.name = "streams, 4 lanes",
         .lanes = 4,
         .band_rows = 4,
         .streams_in = true,
         .streams_out = true},
        {.name = "streams, chosen bands", .lanes = 2, .streams_in = true, .streams_out = true},
        {.name = "a device, padded",
         .device = &device[0],
         .lanes = 3,
         .band_rows = 5,
         .padding = 10},
        {.name = "a device that counts what it writes, streams",
         .device = &device[1],
         .lanes = 2,
         .band_rows = 3,
         .streams_in = true,
         .streams_out = true},
        {.name = "zero copy, streams",
         .device = &device[3],
         .lanes = 2,
         .band_rows = 6,
         .streams_in = true,
         .streams_out = true},
        {.name = "on the device",
         .device = &device[4],
         .lanes = 2,
         .band_rows = 9,
         .on_device = true},
        {.name = "a device, chosen bands, streams in",
         .device = &device[2],
         .lanes = 4,
         .streams_in = true},
    };
    struct gf_image expected = reference(chain, input, 0);
    for (size_t i = first; i < sizeof ways / sizeof *ways; i += step)
        assert_way(chain, ways[i], input, &expected);
    picture_free(&expected);
}

/* The tables of clahe's 64 tiles would take a third of the time of all filters. */
static const char *with_few_tiles(const char *chain)
{
    return strcmp(chain, "clahe") ? chain : "clahe=columns=3:rows=2";
}

/* The large picture goes all ways. A small one, which few bands cut, goes every third, and which
 * these are turns with its size, its kind and the chain. */
static void check_chain(const char *chain, void *context)
{
    int *const checked = context, before = *checked;
    chain = with_few_tiles(chain);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const bool is_large = s + 1 == sizeof sizes / sizeof *sizes;
        for (int kind = 0; kind < 8; kind++) {
            struct gf_format format = sizes[s], out;
            if (is_large)
                format.height = unless_small(format.height, 20);
            format.channels = kind % 4 + 1;
            format.bits = kind < 4 ? 8 : 16;
            if ((before + (int)s + kind) % unless_small(1, 4) ||
                !chain_format(chain, format, 1, &out))
                continue;
            struct gf_image input = picture_random(format, 0, 7 * s + (uint64_t)kind);
            const size_t step = (size_t)(is_large ? unless_small(1, 3) : 3);
            check_ways(chain, &input, ((size_t)before + s + (size_t)kind) % step, step);
            picture_free(&input);
            ++*checked;
        }
    }
    if (*checked == before)
        fail_msg("%s: no picture suits it", chain);
}

static void test_every_filter(void **state)
{
    int checked = 0;
    each_filter_chain(check_chain, &checked);
    assert_true(checked > 1000);
}

static const char *const chains[] = {
    "",
    "blur,equalize,transpose",
    "crop=w=80%:h=80%,rotate=270,median",
    "gamma=0.7,crop=60%:50%:gravity=attention,blur",
    "resize=40:40:gravity=entropy,crop=aspect=2:gravity=attention",
    "equalize,equalize",
    "resize=w=130%:h=40%,blur=2",
    "blur=2,sobel,normalmap",
    "gamma=1.7,contrast=1.4,invert,blur,brightness=0.1,invert",
    "transpose,transpose,hflip,vflip",
    "normalize,median,equalize=lightness,unsharp",
    "vflip,equalize=channel,rotate=180,normalize=clip=1",
    "grayscale,threshold=otsu,boxblur=4",
    "blur=border=wrap,boxblur=3:reflect,convolve=1 2 1/0 0 0/-1 -2 -1,unsharp=1:1",
    "median=2,saturation=1.4,equalize=joint,resize=w=50%",
    "boxblur=20,transpose,boxblur=3:constant,crop=w=50%:h=50%:x=0:y=50%",
};

static void test_chains(void **state)
{
    int checked = 0;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        check_chain(chains[i], &checked);
}

/* Pictures between segments that the device cannot hold lie in host memory; stages that read them
 * whole run there too. */
static void test_whole_pictures_on_the_host(void **state)
{
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        const struct gf_format format = format_of(61, 1000, 3, 8);
        struct gf_format out;
        if (!chain_format(chains[i], format, 1, &out))
            continue;
        struct gf_image input = picture_random(format, 0, i);
        struct gf_image expected = reference(chains[i], &input, 0);
        for (int rows = 1; rows <= 7; rows += 3) {
            struct fake_device device;
            fake_open(&device);
            device.memory_bytes = gf_row_bytes(format) * (uint64_t)format.height * 9 / 10;
            struct way way = {.name = "a device with little memory",
                              .device = &device,
                              .lanes = 1,
                              .band_rows = rows,
                              .streams_in = true,
                              .streams_out = true};
            assert_way(chains[i], way, &input, &expected);
        }
        picture_free(&input);
        picture_free(&expected);
    }
}

static void test_orientations(void **state)
{
    for (int orientation = 1; orientation <= 8; orientation++) {
        struct gf_image input = picture_random(format_of(19, 12, 3, 8), 0, 3);
        struct gf_image expected = reference("blur", &input, orientation);
        struct fake_device device;
        fake_open(&device);
        assert_way("blur",
                   (struct way){.name = "oriented, streams",
                                .lanes = 2,
                                .band_rows = 2,
                                .streams_in = true,
                                .streams_out = true,
                                .orientation = orientation},
                   &input, &expected);
        assert_way("blur",
                   (struct way){.name = "oriented, a device",
                                .device = &device,
                                .lanes = 2,
                                .band_rows = 3,
                                .orientation = orientation},
                   &input, &expected);
        picture_free(&input);
        picture_free(&expected);
    }
}

/* EXIF 2.32, tag 274, says where the stored row 0 and column 0 are to be seen; here, where each
 * pixel goes. */
static void test_orientation_of_pixels(void **state)
{
    enum { W = 4, H = 3 };
    struct gf_image input = picture_random(format_of(W, H, 1, 8), 0, 3);
    for (int orientation = 1; orientation <= 8; orientation++) {
        struct gf_image output = reference("", &input, orientation);
        assert_int_equal(output.format.width, orientation < 5 ? W : H);
        for (int y = 0; y < H; y++) {
            for (int x = 0; x < W; x++) {
                const int seen[9][2] = {[1] = {x, y},
                                        [2] = {W - 1 - x, y},
                                        [3] = {W - 1 - x, H - 1 - y},
                                        [4] = {x, H - 1 - y},
                                        [5] = {y, x},
                                        [6] = {H - 1 - y, x},
                                        [7] = {H - 1 - y, W - 1 - x},
                                        [8] = {y, W - 1 - x}};
                assert_int_equal(sample_at(&output, seen[orientation][0], seen[orientation][1], 0),
                                 sample_at(&input, x, y, 0));
            }
        }
        picture_free(&output);
    }
    picture_free(&input);
}

/* Rows that no band needs are read too, above and below those that are needed. */
static void test_skipped_rows(void **state)
{
    static const char *const crops[] = {"crop=5:1:0:0", "crop=5:1:3:49", "crop=9:4:3:23",
                                        "crop=9:4:3:46,blur"};
    for (size_t i = 0; i < 4; i++) {
        struct gf_image input = picture_random(format_of(20, 50, 3, 8), 0, i);
        struct gf_image expected = reference(crops[i], &input, 0);
        for (int rows = 1; rows < 6; rows += 2)
            assert_way(crops[i],
                       (struct way){.name = "skipping",
                                    .lanes = 2,
                                    .band_rows = rows,
                                    .streams_in = true,
                                    .streams_out = true},
                       &input, &expected);
        picture_free(&input);
        picture_free(&expected);
    }
}

/* ---- spans ---- */

static size_t bytes_of(const struct gf_spans *spans, enum gf_span_kind kind, int stage, int *calls)
{
    size_t bytes = 0;
    *calls = 0;
    for (size_t i = 0; i < spans->count; i++) {
        const struct gf_span *const span = &spans->item[i];
        assert_true(span->end_s >= span->begin_s && span->begin_s >= 0);
        if (span->kind != kind || (stage >= 0 && span->stage != stage))
            continue;
        bytes += span->bytes;
        ++*calls;
    }
    return bytes;
}

/* invert,equalize,transpose on 16 x 40 gray in bands of 8 rows: 5 bands, 640 bytes. */
static void check_spans(struct fake_device *device, bool no_fuse)
{
    const bool on_device = device != NULL;
    const bool counted = on_device && device->calls.run_counting && !no_fuse;
    struct gf_image input = picture_random(format_of(16, 40, 1, 8), 0, 1), output;
    struct gf_spans spans;
    struct gf_error error = {0};
    struct way way = {.name = "spans",
                      .device = device,
                      .lanes = 2,
                      .band_rows = 8,
                      .streams_in = true,
                      .streams_out = true,
                      .no_fuse = no_fuse,
                      .spans = &spans};
    int calls;
    gf_spans_init(&spans);
    gf_spans_restart(&spans, true);
    assert_ok("spans", run_way("invert,equalize,transpose", &way, &input, &output, &error), &error);
    assert_int_equal(bytes_of(&spans, GF_SPAN_DECODE, -1, &calls), 640);
    assert_int_equal(calls, 5);
    assert_int_equal(bytes_of(&spans, GF_SPAN_ENCODE, -1, &calls), 640);
    assert_int_equal(calls, 2 + 1); /* 16 rows now, and the end of the file */
    for (int stage = 0; stage < 2; stage++) {
        assert_int_equal(bytes_of(&spans, GF_SPAN_STAGE, stage, &calls), 2 * 640);
        assert_int_equal(calls, 5);
    }
    (void)bytes_of(&spans, GF_SPAN_STAGE, 2, &calls);
    assert_int_equal(calls, 2);
    assert_int_equal(bytes_of(&spans, GF_SPAN_STATISTIC, 1, &calls), counted ? 0 : 640);
    assert_int_equal(calls, counted ? 0 : 5);
    assert_int_equal(bytes_of(&spans, GF_SPAN_UPLOAD, -1, &calls), on_device ? 640 : 0);
    assert_int_equal(bytes_of(&spans, GF_SPAN_DOWNLOAD, -1, &calls), on_device ? 640 : 0);
    assert_int_equal(calls, on_device ? 2 : 0);
    gf_spans_free(&spans);
    picture_free(&input);
    picture_free(&output);
}

static void test_spans(void **state)
{
    struct fake_device device;
    fake_open(&device);
    check_spans(NULL, false);
    check_spans(&device, false);
    device.calls.run_counting = run_and_count;
    check_spans(&device, false);
    check_spans(&device, true);
}

static void test_profile(void **state)
{
    struct gf_image input = picture_random(format_of(16, 40, 1, 8), 0, 1), output = {0};
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    struct gf_error error = {0};
    options.device = GF_DEVICE_CPU;
    options.threads = 3;
    options.band_rows = 8;
    options.profile = true;
    assert_ok("open", gf_pipeline_open("invert,gamma=2,equalize", &options, &pipeline, &error),
              &error);
    for (int run = 0; run < 3; run++) { /* each run's profile is its own */
        assert_ok("run", gf_pipeline_run_image(pipeline, &input, &output, &error), &error);
        const struct gf_profile *const profile = gf_pipeline_profile(pipeline);
        assert_int_equal(profile->span_count, 5 + 5 + 5);
        assert_int_equal(profile->stage_count, 2);
        assert_string_equal(profile->stages[0].name, "invert+gamma");
        assert_string_equal(profile->stages[1].name, "equalize");
        assert_int_equal(profile->stages[1].segment, 1);
        assert_int_equal(profile->segments, 2);
        assert_int_equal(profile->lanes, 3);
        assert_int_equal(profile->band_rows, 8);
        assert_string_equal(profile->device, "cpu, 3 threads");
        assert_true(profile->device_copy_peak > 0);
        assert_true(same_format(profile->in, input.format) &&
                    same_format(profile->out, input.format));
        for (size_t i = 0; i < profile->span_count; i++) {
            assert_true(profile->spans[i].begin_s >= 0 &&
                        profile->spans[i].end_s <= profile->wall_s);
            assert_in_range(profile->spans[i].lane, 0, 2);
        }
    }
    gf_pipeline_close(pipeline);
    gf_image_free(&output);
    picture_free(&input);
}

/* The rows that neighbouring bands share are decoded once, and uploaded with each. */
static void test_halos(void **state)
{
    struct gf_image input = picture_random(format_of(16, 40, 1, 8), 0, 1), output;
    struct gf_error error = {0};
    struct fake_device device;
    fake_open(&device);
    struct way way = {.name = "halos",
                      .device = &device,
                      .lanes = 2,
                      .band_rows = 10,
                      .streams_in = true,
                      .streams_out = true};
    assert_ok("halos", run_way("boxblur=2", &way, &input, &output, &error), &error);
    assert_int_equal(device.uploads, 4);
    assert_int_equal(device.upload_bytes, 16 * (12 + 14 + 14 + 12));
    assert_int_equal(device.download_bytes, 16 * 40);
    picture_free(&input);
    picture_free(&output);
}

/* With zero copy the stages at either end of a segment take host memory: nothing is copied, unless
 * it does not lie as kernels want it. */
static void test_zero_copy(void **state)
{
    for (int odd = 0; odd < 2; odd++) {
        struct gf_image input = picture_random(format_of(64, 40, 3, 8), 0, 1), output;
        struct gf_error error = {0};
        struct fake_device device;
        fake_open(&device);
        device.zero_copy = true;
        struct way way = {
            .name = "zero copy", .device = &device, .lanes = 2, .band_rows = 10, .padding = odd};
        assert_ok("zero copy", run_way("blur,invert,equalize", &way, &input, &output, &error),
                  &error);
        assert_int_equal(device.uploads > 0, odd);
        assert_int_equal(device.downloads > 0, odd);
        assert_int_equal(device.complaints, 0);
        picture_free(&input);
        picture_free(&output);
    }
}

/* A picture that lies on the device is not copied. */
static void test_on_device(void **state)
{
    struct gf_image input = picture_random(format_of(64, 40, 3, 8), 0, 1), output;
    struct gf_error error = {0};
    struct fake_device device;
    fake_open(&device);
    struct way way = {
        .name = "on the device", .device = &device, .lanes = 1, .band_rows = 10, .on_device = true};
    assert_ok("on the device", run_way("blur,equalize", &way, &input, &output, &error), &error);
    assert_int_equal(device.uploads + device.downloads, 0);
    picture_free(&input);
    picture_free(&output);
}

static void test_budget(void **state)
{
    struct gf_image input = picture_random(format_of(64, 100, 3, 8), 0, 5);
    struct gf_image expected = reference("median,equalize,boxblur=3", &input, 0), output;
    struct gf_error error = {0};
    struct way way = {.name = "no memory",
                      .lanes = 3,
                      .streams_in = true,
                      .streams_out = true,
                      .memory_bytes = 1};
    assert_ok("budget", run_way("median,equalize,boxblur=3", &way, &input, &output, &error),
              &error);
    assert_int_equal(way.first_band_rows, 1);
    assert_same("budget", &output, &expected);
    picture_free(&output);
    way.memory_bytes = 64 * 3 * 7 * 20; /* 7 slots of input, or less beside the scratch memory */
    assert_ok("budget", run_way("median,equalize,boxblur=3", &way, &input, &output, &error),
              &error);
    assert_in_range(way.first_band_rows, 4, 18);
    picture_free(&output);
    picture_free(&expected);
    picture_free(&input);
}

/* A pipeline is opened once and run on pictures of any size, on any number of threads. */
static void test_reuse(void **state)
{
    struct gf_pipeline *pipeline[2];
    struct gf_error error = {0};
    for (int i = 0; i < 2; i++) {
        struct gf_options options = gf_options_default();
        options.device = GF_DEVICE_CPU;
        options.threads = 1 + 3 * i;
        assert_ok("open", gf_pipeline_open("blur,equalize", &options, &pipeline[i], &error),
                  &error);
    }
    for (int run = 0; run < 6; run++) {
        struct gf_image input =
            picture_random(format_of(5 + 31 * run, 90 - 13 * run, run % 4 + 1, 8), 0, 9);
        struct gf_image output[2] = {{.data = NULL}, {.data = NULL}};
        for (int i = 0; i < 2; i++)
            assert_ok("run", gf_pipeline_run_image(pipeline[i], &input, &output[i], &error),
                      &error);
        assert_int_equal(compare(&output[0], &output[1]).most, 0);
        gf_image_free(&output[0]);
        gf_image_free(&output[1]);
        picture_free(&input);
    }
    gf_pipeline_close(pipeline[0]);
    gf_pipeline_close(pipeline[1]);
}

static struct gf_image fresh_result(const char *chain, const struct gf_image *in,
                                    const struct gf_options *options)
{
    struct gf_image out;
    struct gf_error error = {0};
    assert_ok(chain, pipeline_result(chain, options, in, &out, &error), &error);
    return out;
}

/* Whether a filter of the chain looks into the picture before its plan is made: reference() does
 * not do that. */
static bool looks_first(const char *text)
{
    struct gf_chain chain;
    struct gf_error error = {0};
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
    const bool looks = gf_chain_next_box(&chain, 0) < chain.count;
    gf_chain_free(&chain);
    return looks;
}

/* What one picture's stages have prepared serves the next of its format, and no other. context: the
 * device. */
static void check_one_after_another(const char *chain, void *context)
{
    enum { SIZES = 4 };
    static const struct gf_format order[SIZES] = {{.width = 37, .height = 23},
                                                  {.width = 37, .height = 23},
                                                  {.width = 23, .height = 37},
                                                  {.width = 37, .height = 23}};
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    struct gf_error error = {0};
    options.device = *(const enum gf_device_kind *)context;
    chain = with_few_tiles(chain);
    assert_ok(chain, gf_pipeline_open(chain, &options, &pipeline, &error), &error);
    for (int i = 0; i < 8 * SIZES; i++) {
        const struct gf_format format = format_of(order[i % SIZES].width, order[i % SIZES].height,
                                                  i / SIZES % 4 + 1, i < 4 * SIZES ? 8 : 16);
        struct gf_format shape;
        if (i / SIZES % unless_small(1, 3) || !chain_format(chain, format, 1, &shape))
            continue;
        struct gf_image input = picture_random(format, 0, (uint64_t)i);
        struct gf_image expected = options.device == GF_DEVICE_CPU && !looks_first(chain)
                                       ? reference(chain, &input, 0)
                                       : fresh_result(chain, &input, &options);
        struct gf_image output = picture_new(expected.format, 4);
        assert_ok(chain, gf_pipeline_run_image(pipeline, &input, &output, &error), &error);
        assert_same(chain, &output, &expected);
        picture_free(&output);
        picture_free(&expected);
        picture_free(&input);
    }
    gf_pipeline_close(pipeline);
}

static void reuse_every_filter(enum gf_device_kind device)
{
    each_filter_chain(check_one_after_another, &device);
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        check_one_after_another(chains[i], &device);
}

static void test_reuse_of_every_filter(void **state)
{
    reuse_every_filter(GF_DEVICE_CPU);
}

/* A server's pipeline gets another chain for each picture. Chains take turns whose parameters are
 * as large, so that the new ones may lie where the old ones were freed. */
static void test_reuse_with_other_chains(void **state)
{
    static const char *const turn[] = {"gamma=2,blur=1", "gamma=0.5,blur=1", "gamma=0.5,blur=2",
                                       "gamma=3,blur=2"};
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    struct gf_error error = {0};
    options.device = GF_DEVICE_CPU;
    assert_ok("open", gf_pipeline_open(turn[0], &options, &pipeline, &error), &error);
    for (int i = 0; i < 8; i++) {
        const char *const chain = turn[i % 4];
        struct gf_image input = picture_random(format_of(37, 23, 3, 8), 0, (uint64_t)i);
        struct gf_image expected = reference(chain, &input, 0);
        struct gf_image output = picture_new(expected.format, 4);
        assert_ok(chain, gf_pipeline_configure(pipeline, chain, &options, &error), &error);
        assert_ok(chain, gf_pipeline_run_image(pipeline, &input, &output, &error), &error);
        assert_same(chain, &output, &expected);
        picture_free(&output);
        picture_free(&expected);
        picture_free(&input);
    }
    gf_pipeline_close(pipeline);
}

static void test_reuse_on_a_gpu(void **state)
{
    const char *why = "";
    if (!gf_device_count(&why))
        skip();
    reuse_every_filter(GF_DEVICE_CUDA);
}

/* Impossible pictures in memory are errors. */
static void test_bad_pictures(void **state)
{
    struct gf_image input = picture_random(format_of(16, 40, 1, 8), 0, 1), output = {0};
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    struct gf_error error = {0};
    options.device = GF_DEVICE_CPU;
    assert_ok("open", gf_pipeline_open("transpose", &options, &pipeline, &error), &error);
    const struct gf_format bad[] = {format_of(0, 40, 1, 8),  format_of(16, -1, 1, 8),
                                    format_of(16, 40, 5, 8), format_of(16, 40, 1, 12),
                                    format_of(17, 40, 1, 8), format_of((1 << 24) + 1, 1, 1, 8)};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gf_image image = input;
        image.format = bad[i];
        assert_int_equal(gf_pipeline_run_image(pipeline, &image, &output, &error), GF_ERROR_USAGE);
        assert_null(output.data);
    }
    struct gf_image odd = picture_new(format_of(16, 40, 1, 16), 1);
    assert_int_equal(gf_pipeline_run_image(pipeline, &odd, &output, &error), GF_ERROR_USAGE);
    assert_non_null(strstr(error.text, "odd addresses"));
    picture_free(&odd);
    struct gf_image wrong = picture_new(format_of(16, 40, 1, 8), 0);
    assert_int_equal(gf_pipeline_run_image(pipeline, &input, &wrong, &error), GF_ERROR_USAGE);
    picture_free(&wrong);
    wrong = input;
    wrong.format = format_of(40, 16, 1, 8);
    wrong.pitch = 40;
    assert_int_equal(gf_pipeline_run_image(pipeline, &input, &wrong, &error), GF_ERROR_USAGE);
    assert_non_null(strstr(error.text, "overlaps"));
    gf_pipeline_close(pipeline);
    picture_free(&input);
}

/* Pictures that are so high that a device's bands taper at both ends. */
static void test_tapered(void **state)
{
    static const char *const of_bands[] = {"sobel", "blur=1", "invert", "vflip"};
    for (size_t i = 0; i < sizeof of_bands / sizeof *of_bands; i++) {
        struct gf_image input = picture_random(format_of(5, 401, 3, 8), 0, 11 + i);
        check_ways(of_bands[i], &input, 0, 1);
        picture_free(&input);
    }
}

/* A serial run waits for a picture of one band once for its histogram and once for its result, and
 * constants come in the lane's order. */
/* From memory to memory the bands are queued, and a lane is waited for when it has 8; where memory
 * cannot be pinned threads wait for each band. */
static void test_queued(void **state)
{
    static const char *const of_segments[] = {"blur=1,invert", "blur=1,equalize,median"};
    enum { BANDS = 40, LANES = 3, SEGMENTS_MOST = 2 };
    for (int pageable = 0; pageable < 2; pageable++) {
        for (int segments = 1; segments <= SEGMENTS_MOST; segments++) {
            const char *const chain = of_segments[segments - 1];
            struct gf_image input = picture_random(format_of(17, 3 * BANDS, 3, 8), 0, 9),
                            expected = reference(chain, &input, 0);
            struct fake_device device;
            fake_open(&device);
            device.pageable = pageable;
            const struct way way = {
                .name = "queued", .device = &device, .lanes = LANES, .band_rows = 3};
            assert_way(chain, way, &input, &expected);
            assert_int_equal(device.uploads, BANDS);
            assert_int_equal(device.downloads, BANDS);
            const int full = BANDS / LANES / GF_BANDS_QUEUED * LANES;
            /* The fake device also waits for each histogram. */
            assert_int_equal(device.waits,
                             segments * (pageable ? BANDS : full + LANES) + (segments - 1) * LANES);
            picture_free(&input);
            picture_free(&expected);
        }
    }
}

static void test_queued_failures(void **state)
{
    for (int run = 1; run <= 40; run += 13) {
        for (int late = 0; late < 2; late++) {
            struct gf_image input = picture_random(format_of(17, 120, 3, 8), 0, 9), output;
            struct gf_error error = {0};
            struct fake_device device;
            fake_open(&device);
            device.fail_run = run;
            device.fail_late = late;
            struct way way = {.name = "queued", .device = &device, .lanes = 3, .band_rows = 3};
            assert_int_equal(run_way("blur=1", &way, &input, &output, &error), GF_ERROR_DEVICE);
            assert_non_null(strstr(error.text, "unspecified launch failure"));
            picture_free(&input);
            picture_free(&output);
        }
    }
}

static void test_serial_waits(void **state)
{
    static const char chain[] = "blur,equalize";
    struct gf_image input = picture_random(format_of(40, 30, 3, 8), 0, 3),
                    expected = reference(chain, &input, 0);
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    struct gf_error error = {0};
    struct fake_device device;
    fake_open(&device);
    options.device = GF_DEVICE_CPU; /* does not start a real one */
    options.serial = true;
    assert_ok("open", gf_pipeline_open(chain, &options, &pipeline, &error), &error);
    gf_pipeline_replace_backend(pipeline, &device.base, true);
    for (int run = 1; run <= 3; run++) {
        struct gf_image output = {0};
        assert_ok("run", gf_pipeline_run_image(pipeline, &input, &output, &error), &error);
        assert_int_equal(compare(&output, &expected).most, 0);
        assert_int_equal(device.waits, 2 * run);
        gf_image_free(&output);
    }
    gf_pipeline_close(pipeline);
    fake_assert_clean("serial", &device);
    picture_free(&input);
    picture_free(&expected);
}

/* ---- on a GPU ---- */

/* What the next filter wants counted, behind stages whose kernels count it and others; every kind
 * of statistic; one table for all channels and one for each. */
static const char *const counting_chains[] = {
    "gamma=2.2,equalize",
    "invert,normalize",
    "contrast=1.3,normalize=clip=1",
    "threshold=0.3,equalize=joint",
    "gamma=0.4,equalize=channel",
    "levels=0.1:0.9:1.2,threshold=otsu",
    "temperature=4000,equalize",
    "temperature=4000,equalize=channel",
    "temperature=4000,equalize=joint",
    "invert,equalize=lightness",
    "invert,clahe",
    "median,gamma=2.2,equalize,invert,normalize",
    "gamma=2.2,equalize=variant=shared",
    "gamma=2.2:variant=words,equalize",
};

/* Widths of whole vectors and others, rows without gaps and with. */
static void test_counting_on_a_gpu(void **state)
{
    static const int widths[] = {1, 15, 64, 203};
    const char *why = "";
    if (!gf_device_count(&why))
        skip();
    for (size_t i = 0; i < sizeof counting_chains / sizeof *counting_chains * 4; i++) {
        const char *const chain = counting_chains[i / 4];
        const struct gf_format format = format_of(widths[(i + i / 4) % 4], 67, 1 + (int)i % 4, 8);
        struct gf_format out;
        if (!chain_format(chain, format, 1, &out))
            continue;
        struct gf_image input = picture_random(format, 0, i),
                        expected = reference(chain, &input, 0);
        struct gf_options options = gf_options_default();
        options.device = GF_DEVICE_CUDA;
        for (int way = 0; way < 2; way++) {
            options.band_rows = way ? 17 : 0;
            options.lanes = way ? 3 : 1;
            struct gf_image found = fresh_result(chain, &input, &options);
            assert_same(chain, &found, &expected);
            picture_free(&found);
        }
        picture_free(&expected);
        picture_free(&input);
    }
}

/* How many bands of the histogram a kernel of its own has counted. */
static int histogram_spans(const char *chain, struct gf_format format, bool no_fuse)
{
    struct gf_image input = picture_random(format, 0, 1), output = {0};
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    struct gf_error error = {0};
    int count = 0;
    options.device = GF_DEVICE_CUDA;
    options.band_rows = 20;
    options.profile = true;
    options.no_fuse = no_fuse;
    assert_ok(chain, gf_pipeline_open(chain, &options, &pipeline, &error), &error);
    assert_ok(chain, gf_pipeline_run_image(pipeline, &input, &output, &error), &error);
    const struct gf_profile *const profile = gf_pipeline_profile(pipeline);
    for (size_t i = 0; i < profile->span_count; i++)
        count += profile->spans[i].kind == GF_SPAN_STATISTIC;
    gf_pipeline_close(pipeline);
    gf_image_free(&output);
    picture_free(&input);
    return count;
}

static void test_what_is_counted_on_a_gpu(void **state)
{
    const char *why = "";
    if (!gf_device_count(&why))
        skip();
    const struct gf_format rgb8 = format_of(64, 60, 3, 8), gray16 = format_of(64, 60, 1, 16);
    assert_int_equal(histogram_spans("gamma=2.2,equalize", rgb8, false), 0);
    assert_int_equal(histogram_spans("gamma=2.2,equalize", rgb8, true), 3);
    assert_int_equal(histogram_spans("gamma=2.2,equalize", gray16, false), 3);
    assert_int_equal(histogram_spans("gamma=2.2,equalize=variant=shared", rgb8, false), 3);
    assert_int_equal(histogram_spans("gamma=2.2,equalize=lightness", rgb8, false), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_filter),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_whole_pictures_on_the_host),
        cmocka_unit_test(test_orientations),
        cmocka_unit_test(test_orientation_of_pixels),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_bad_pictures),
        cmocka_unit_test(test_skipped_rows),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_halos),
        cmocka_unit_test(test_zero_copy),
        cmocka_unit_test(test_on_device),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_reuse_of_every_filter),
        cmocka_unit_test(test_reuse_with_other_chains),
        cmocka_unit_test(test_reuse_on_a_gpu),
        cmocka_unit_test(test_tapered),
        cmocka_unit_test(test_queued),
        cmocka_unit_test(test_queued_failures),
        cmocka_unit_test(test_serial_waits),
        cmocka_unit_test(test_counting_on_a_gpu),
        cmocka_unit_test(test_what_is_counted_on_a_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
