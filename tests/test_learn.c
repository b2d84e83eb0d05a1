/* What runs teach: recorded spans of the CPU and of a GPU, and a run of a batch. */
#include <math.h>

#include "batch/batch.h"
#include "batch/cost.h"
#include "batch/figures_cache.h"
#include "support.h"
#include "temp_folder.h"

enum { WIDTH = 1920, HEIGHT = 1080, SPANS_MAX = 32 };
static const double pixels = (double)WIDTH * HEIGHT;

/* A profile as a run of blur=2,equalize leaves it. */
struct recorded {
    struct gf_profile profile;
    struct gf_profile_stage stage[2];
    struct gf_span span[SPANS_MAX];
};

static void record(struct recorded *recorded, const char *device)
{
    *recorded = (struct recorded){
        .stage = {{.name = "blur", .segment = 0}, {.name = "equalize", .segment = 1}}};
    struct gf_profile *const profile = &recorded->profile;
    snprintf(profile->device, sizeof profile->device, "%s", device);
    snprintf(profile->in_file, sizeof profile->in_file, "JPEG");
    snprintf(profile->out_file, sizeof profile->out_file, "JPEG");
    profile->in = profile->out = format_of(WIDTH, HEIGHT, 3, 8);
    profile->in_bytes = (long long)(0.28 * pixels); /* what is usual */
    profile->reduction = 1;
    profile->spans = recorded->span;
    profile->stages = recorded->stage;
    profile->stage_count = 2;
}

static void add_span(struct recorded *recorded, enum gf_span_kind kind, int stage, double begin_ms,
                     double ms, double bytes)
{
    assert_true(recorded->profile.span_count < SPANS_MAX);
    recorded->span[recorded->profile.span_count++] =
        (struct gf_span){.kind = kind,
                         .stage = stage,
                         .begin_s = begin_ms * 1e-3,
                         .end_s = (begin_ms + ms) * 1e-3,
                         .bytes = (size_t)bytes};
}

static struct gf_learning learning_of(size_t files, bool serial, int processors)
{
    return (struct gf_learning){.chain = "blur=2,equalize",
                                .options = gf_options_default(),
                                .processors = processors,
                                .serial = serial,
                                .files = files};
}

static bool is_near(double a, double b, double part)
{
    return fabs(a - b) <= part * fabs(b);
}

/* The value that the run found for a figure; 0: none. */
static double found(const struct gf_learning *learning, int figure)
{
    const struct gf_learned *const seen = &learning->seen[figure];
    return seen->unit_s > 0 ? seen->measured_s / seen->unit_s : 0;
}

static void record_cpu(struct recorded *recorded)
{
    record(recorded, "cpu, 1 thread");
    add_span(recorded, GF_SPAN_DECODE, -1, 0, 6, 0);
    add_span(recorded, GF_SPAN_STAGE, 0, 6, 2, 0);
    add_span(recorded, GF_SPAN_DECODE, -1, 8, 6, 0);
    add_span(recorded, GF_SPAN_STAGE, 0, 14, 2, 0);
    add_span(recorded, GF_SPAN_STATISTIC, 1, 16, 3, 0);
    add_span(recorded, GF_SPAN_STAGE, 1, 19, 2, 0);
    add_span(recorded, GF_SPAN_ENCODE, -1, 21, 9, 0);
}

static void test_serial(void **state)
{
    struct recorded recorded;
    struct gf_learning learning = learning_of(100, true, 1);
    struct gf_figures figures = {0};
    record_cpu(&recorded);
    for (int i = 0; i < 3; i++)
        gf_learning_add(&learning, &recorded.profile);
    gf_learning_conclude(&learning, 1, 1);
    assert_true(is_near(found(&learning, GF_FIGURE_JPEG_DECODE), 12e6 / pixels, 1e-3));
    assert_true(is_near(found(&learning, GF_FIGURE_JPEG_ENCODE), 9e6 / pixels, 1e-3));
    const int equalize = gf_figure_of_filter(gf_filter_find("equalize"), false);
    assert_true(is_near(found(&learning, equalize), 5e6 / pixels / 1.2, 1e-3));
    assert_true(found(&learning, GF_FIGURE_CUDA_START) == 0);
    assert_true(gf_learning_apply(&learning, &figures));
    /* Half of the way, as ratios go. */
    const double declared = gf_figure(NULL, GF_FIGURE_JPEG_DECODE);
    assert_true(
        is_near(gf_figure(&figures, GF_FIGURE_JPEG_DECODE), sqrt(declared * 12e6 / pixels), 1e-3));
    assert_int_equal(figures.state[GF_FIGURE_JPEG_DECODE].runs, 1);
    assert_int_equal(figures.state[GF_FIGURE_PNG_DECODE].runs, 0);
}

/* Half of the rows were passed over: the time is that of the others. */
static void test_passed_over(void **state)
{
    struct recorded recorded;
    struct gf_learning learning = learning_of(100, true, 1);
    record(&recorded, "cpu, 1 thread");
    add_span(&recorded, GF_SPAN_DECODE, -1, 0, 12, 3 * pixels / 2);
    add_span(&recorded, GF_SPAN_ENCODE, -1, 12, 9, 0);
    gf_learning_add(&learning, &recorded.profile);
    assert_true(is_near(found(&learning, GF_FIGURE_JPEG_DECODE), 12e6 / (pixels / 2), 1e-3));
    assert_true(is_near(found(&learning, GF_FIGURE_JPEG_ENCODE), 9e6 / pixels, 1e-3));
}

/* On busy processors a thread is slower than it would be alone, by the figure for that. */
static void test_share(void **state)
{
    struct recorded recorded;
    struct gf_learning learning = learning_of(100, true, 16);
    record_cpu(&recorded);
    gf_learning_add(&learning, &recorded.profile);
    assert_true(is_near(found(&learning, GF_FIGURE_JPEG_ENCODE),
                        9e6 / pixels * gf_figure(NULL, GF_FIGURE_SHARE), 1e-3));
}

/* Where threads share a picture, the codecs took what the stages left of the processor time. */
static void test_processor_time(void **state)
{
    struct recorded recorded;
    struct gf_learning learning = learning_of(1, false, 16);
    record_cpu(&recorded);
    gf_learning_add(&learning, &recorded.profile);
    const double stages_s = 9e-3, expected_s = (gf_figure(NULL, GF_FIGURE_JPEG_DECODE) +
                                                gf_figure(NULL, GF_FIGURE_JPEG_ENCODE)) *
                                               pixels * 1e-9 * gf_figure(NULL, GF_FIGURE_STRIPS) /
                                               gf_figure(NULL, GF_FIGURE_SHARE);
    gf_learning_conclude(&learning, 1, stages_s + 1.5 * expected_s);
    assert_true(is_near(found(&learning, GF_FIGURE_JPEG_DECODE),
                        1.5 * gf_figure(NULL, GF_FIGURE_JPEG_DECODE), 1e-3));
    assert_true(is_near(found(&learning, GF_FIGURE_JPEG_ENCODE),
                        1.5 * gf_figure(NULL, GF_FIGURE_JPEG_ENCODE), 1e-3));
}

static void test_gpu_picture(void **state)
{
    struct recorded recorded;
    struct gf_learning learning = learning_of(1, false, 16);
    struct gf_figures figures = {0};
    record(&recorded, "cuda:0 NVIDIA H200");
    add_span(&recorded, GF_SPAN_START, -1, 0, 156, 0);
    add_span(&recorded, GF_SPAN_UPLOAD, -1, 160, 6, 200e6);
    add_span(&recorded, GF_SPAN_UPLOAD, -1, 163, 7, 200e6); /* beside the other: 10 ms together */
    add_span(&recorded, GF_SPAN_STAGE, 0, 170, 6, 0);
    add_span(&recorded, GF_SPAN_STAGE, 0, 172, 8, 0);
    add_span(&recorded, GF_SPAN_DOWNLOAD, -1, 180, 8, 400e6);
    gf_learning_add(&learning, &recorded.profile);
    gf_learning_conclude(&learning, 0.2, 0.1);
    assert_true(is_near(found(&learning, GF_FIGURE_CUDA_START), 156, 1e-3));
    assert_true(is_near(found(&learning, GF_FIGURE_CUDA_UPLOAD), 0.025, 1e-3));
    assert_true(is_near(found(&learning, GF_FIGURE_CUDA_DOWNLOAD), 0.02, 1e-3));
    const int blur = gf_figure_of_filter(gf_filter_find("blur"), true);
    assert_true(found(&learning, blur) > 0);
    assert_true(found(&learning, gf_figure_of_filter(gf_filter_find("blur"), false)) == 0);
    assert_true(found(&learning, GF_FIGURE_JPEG_DECODE) == 0);
    /* Runs lead the start to what it is now, and the choice with it. */
    for (int i = 0; i < 40; i++)
        assert_true(gf_learning_apply(&learning, &figures));
    assert_true(is_near(gf_figure(&figures, GF_FIGURE_CUDA_START), 156, 0.02));
}

static void test_gpu_batch(void **state)
{
    enum { PICTURES = 1000 };
    struct recorded recorded;
    struct gf_learning learning = learning_of(PICTURES, true, 16);
    record(&recorded, "cuda:0 NVIDIA H200");
    recorded.profile.device_decoded = recorded.profile.device_encoded = true;
    for (int i = 0; i < PICTURES; i++) {
        recorded.profile.span_count = 0;
        if (!i)
            add_span(&recorded, GF_SPAN_START, -1, 0, 200, 0);
        gf_learning_add(&learning, &recorded.profile);
    }
    const double crowd_s = gf_figure(NULL, GF_FIGURE_CUDA_CROWD) * 1e-3;
    gf_learning_conclude(&learning, 0.2 + crowd_s + 0.3, 1);
    assert_true(
        is_near(found(&learning, GF_FIGURE_CUDA_DECODE), 0.3e9 / (2 * PICTURES * pixels), 1e-3));
    assert_true(
        is_near(found(&learning, GF_FIGURE_CUDA_ENCODE), 0.3e9 / (2 * PICTURES * pixels), 1e-3));
}

static void test_gpu_batch_of_pngs(void **state)
{
    enum { PICTURES = 200 };
    struct recorded recorded;
    struct gf_learning learning = learning_of(PICTURES, true, 16);
    record(&recorded, "cuda:0 NVIDIA H200");
    recorded.profile.device_decoded = recorded.profile.device_encoded = true;
    snprintf(recorded.profile.in_file, sizeof recorded.profile.in_file, "PNG");
    snprintf(recorded.profile.out_file, sizeof recorded.profile.out_file, "PNG");
    for (int i = 0; i < PICTURES; i++) {
        recorded.profile.span_count = 0;
        if (!i)
            add_span(&recorded, GF_SPAN_START, -1, 0, 200, 0);
        gf_learning_add(&learning, &recorded.profile);
    }
    const double crowd_s = gf_figure(NULL, GF_FIGURE_CUDA_PNG_CROWD) * 1e-3,
                 encode_ns = gf_figure(NULL, GF_FIGURE_CUDA_PNG_ENCODE);
    gf_learning_conclude(&learning, 0.2 + 2 * crowd_s, 1); /* mostly waiting */
    assert_true(found(&learning, GF_FIGURE_CUDA_PNG_DECODE) == 0);
    gf_learning_conclude(&learning, 0.2 + crowd_s + 0.3, 1);
    assert_true(is_near(found(&learning, GF_FIGURE_CUDA_PNG_DECODE),
                        0.3e9 / (PICTURES * pixels) - encode_ns, 1e-3));
    assert_true(found(&learning, GF_FIGURE_CUDA_DECODE) == 0);
}

/* A PNG that the GPU encodes: what codes it and what writes it, unless the encoder had to start. */
static void test_gpu_png(void **state)
{
    for (int started = 0; started < 2; started++) {
        struct recorded recorded;
        struct gf_learning learning = learning_of(1, false, 1);
        record(&recorded, "cuda:0 NVIDIA H200");
        snprintf(recorded.profile.out_file, sizeof recorded.profile.out_file, "PNG");
        recorded.profile.device_encoded = true;
        if (started)
            add_span(&recorded, GF_SPAN_START, -1, 0, 156, 0);
        add_span(&recorded, GF_SPAN_ENCODE, -1, 160, 3, 100e6);
        add_span(&recorded, GF_SPAN_ENCODE, -1, 163, 12, 0);
        gf_learning_add(&learning, &recorded.profile);
        gf_learning_conclude(&learning, 0.2, 0.1);
        assert_true(is_near(found(&learning, GF_FIGURE_CUDA_PNG_FILE), 12e6 / pixels, 1e-3));
        const double coded = found(&learning, GF_FIGURE_CUDA_PNG_ENCODE);
        assert_true(started ? coded == 0 : is_near(coded, 3e6 / pixels, 1e-3));
        assert_true(found(&learning, GF_FIGURE_CUDA_ENCODE) == 0);
    }
}

static void test_nothing(void **state)
{
    struct recorded recorded;
    struct gf_figures figures = {0}, none = {0};
    /* Too little work to say anything. */
    struct gf_learning learning = learning_of(100, true, 1);
    record(&recorded, "cpu, 1 thread");
    add_span(&recorded, GF_SPAN_DECODE, -1, 0, 2, 0);
    add_span(&recorded, GF_SPAN_STAGE, 0, 2, 2, 0);
    gf_learning_add(&learning, &recorded.profile);
    gf_learning_conclude(&learning, 1, 1);
    assert_false(gf_learning_apply(&learning, &figures));
    /* Stages that the plan does not have: the picture was turned upright. */
    learning = learning_of(100, true, 1);
    record_cpu(&recorded);
    snprintf(recorded.stage[0].name, sizeof recorded.stage[0].name, "rotate");
    gf_learning_add(&learning, &recorded.profile);
    assert_true(found(&learning, gf_figure_of_filter(gf_filter_find("blur"), false)) == 0);
    assert_true(found(&learning, GF_FIGURE_JPEG_DECODE) > 0);
    /* A file that was decoded at a fraction of its size. */
    learning = learning_of(1, false, 4);
    record_cpu(&recorded);
    recorded.profile.reduction = 4;
    gf_learning_add(&learning, &recorded.profile);
    gf_learning_conclude(&learning, 1, 1);
    assert_false(gf_learning_apply(&learning, &figures));
    /* A run without a picture, and one whose chain is wrong. */
    learning = learning_of(0, false, 4);
    gf_learning_conclude(&learning, 1, 1);
    assert_false(gf_learning_apply(&learning, &figures));
    learning.chain = "no such filter";
    gf_learning_add(&learning, &recorded.profile);
    assert_memory_equal(&figures, &none, sizeof figures);
}

/* ---- a run ---- */

/* Runs the chain over some pictures; whatever the clocks say, the work must have been counted. */
static void test_batch(void **state)
{
    enum { FILES = 3 };
    struct gf_input_name name[FILES] = {0};
    const struct gf_inputs inputs = {.item = name, .count = FILES};
    struct gf_template output = {0};
    struct gf_batch_state counts;
    struct gf_error error = {0};
    struct gf_learning learning;
    struct gf_options options = gf_options_default();
    struct gf_image image = picture_new(format_of(640, 480, 3, 8), 0);
    char path[FILES][400];
    for (int i = 0; i < FILES; i++) {
        char file[20];
        snprintf(file, sizeof file, "in%d.ppm", i);
        snprintf(path[i], sizeof path[i], "%s", in_folder(file));
        write_ppm(path[i], &image, picture_bytes(&image));
        name[i].path = path[i];
    }
    options.device = GF_DEVICE_CPU;
    options.threads = 1;
    assert_ok("output", gf_template_parse(in_folder("out/"), GF_FILE_AUTO, true, &output, &error),
              &error);
    const struct gf_batch_request request = {.chain = "blur=2,equalize",
                                             .options = options,
                                             .inputs = &inputs,
                                             .output = &output,
                                             .learning = &learning};
    assert_ok("run", gf_batch_run(&request, &counts, &error), &error);
    assert_int_equal(learning.pictures, FILES);
    assert_int_equal(learning.on_cuda, 0);
    assert_int_equal(learning.stages, 2);
    const double all = FILES * 640.0 * 480;
    assert_true(learning.seen[gf_figure_of_filter(gf_filter_find("blur"), false)].unit_s > 0);
    assert_true(learning.seen[gf_figure_of_filter(gf_filter_find("equalize"), false)].unit_s > 0);
    if (learning.serial)
        assert_true(is_near(learning.seen[GF_FIGURE_PNM_DECODE].unit_s, all * 1e-9, 1e-6));
    /* A figure of which enough was seen is kept in the file, and only such a one. */
    struct gf_figures kept;
    assert_int_equal(setenv("XDG_CACHE_HOME", folder, 1), 0);
    memset(learning.seen, 0, sizeof learning.seen);
    gf_learning_keep(&learning);
    gf_figures_load(&kept);
    assert_true(gf_figure(&kept, GF_FIGURE_PNM_DECODE) == gf_figure(NULL, GF_FIGURE_PNM_DECODE));
    learning.seen[GF_FIGURE_PNM_DECODE] = (struct gf_learned){.measured_s = 0.7, .unit_s = 1};
    learning.seen[GF_FIGURE_PNM_ENCODE] = (struct gf_learned){.measured_s = 0.001, .unit_s = 0.001};
    gf_learning_keep(&learning);
    gf_learning_keep(&learning);
    gf_figures_load(&kept);
    assert_int_equal(kept.state[GF_FIGURE_PNM_DECODE].runs, 2);
    assert_int_equal(kept.state[GF_FIGURE_PNM_ENCODE].runs, 0);
    assert_true(gf_figure(&kept, GF_FIGURE_PNM_DECODE) > gf_figure(NULL, GF_FIGURE_PNM_DECODE));
    gf_template_free(&output);
    picture_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serial),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_passed_over),
        cmocka_unit_test(test_processor_time),
        cmocka_unit_test(test_gpu_picture),
        cmocka_unit_test(test_gpu_batch),
        cmocka_unit_test(test_gpu_batch_of_pngs),
        cmocka_unit_test(test_gpu_png),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_batch),
    };
    return cmocka_run_group_tests_name("learn", tests, make_folder, remove_folder);
}
