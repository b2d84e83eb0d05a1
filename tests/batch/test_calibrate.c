/* What --calibrate reads in recorded spans of the CPU and of a GPU. */
#include <math.h>

#include "bench/calibrate.h"
#include "support.h"

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

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-3 * fabs(b);
}

static struct gf_seen seen_in(const char *chain, const struct recorded *recorded)
{
    const struct gf_options options = gf_options_default();
    struct gf_seen seen = {0};
    gf_calibrate_see(chain, &options, &recorded->profile, &seen);
    return seen;
}

/* The value that was found for a figure; 0: none. */
static double found(const struct gf_seen *seen, int figure)
{
    const struct gf_seen_figure *const of = &seen->figure[figure];
    return of->unit_s > 0 ? of->measured_s / of->unit_s : 0;
}

static int figure_of(const char *filter, bool cuda)
{
    return gf_figure_of_filter(gf_filter_find(filter), cuda);
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

static void test_cpu(void **state)
{
    struct recorded recorded;
    record_cpu(&recorded);
    const struct gf_seen seen = seen_in("blur=2,equalize", &recorded);
    assert_true(is_near(found(&seen, GF_FIGURE_JPEG_DECODE), 12e6 / pixels));
    assert_true(is_near(found(&seen, GF_FIGURE_JPEG_ENCODE), 9e6 / pixels));
    assert_true(is_near(found(&seen, figure_of("equalize", false)), 5e6 / pixels / 1.2));
    assert_true(found(&seen, GF_FIGURE_CUDA_UPLOAD) == 0);
}

static void test_gpu(void **state)
{
    struct recorded recorded;
    record(&recorded, "cuda:0 NVIDIA H200");
    add_span(&recorded, GF_SPAN_UPLOAD, -1, 160, 6, 200e6);
    add_span(&recorded, GF_SPAN_UPLOAD, -1, 163, 7, 200e6); /* beside the other: 10 ms together */
    add_span(&recorded, GF_SPAN_STAGE, 0, 170, 6, 0);
    add_span(&recorded, GF_SPAN_STAGE, 0, 172, 8, 0);
    add_span(&recorded, GF_SPAN_DOWNLOAD, -1, 180, 8, 400e6);
    const struct gf_seen seen = seen_in("blur=2,equalize", &recorded);
    assert_true(is_near(found(&seen, GF_FIGURE_CUDA_UPLOAD), 0.025));
    assert_true(is_near(found(&seen, GF_FIGURE_CUDA_DOWNLOAD), 0.02));
    assert_true(found(&seen, figure_of("blur", true)) > 0);
    assert_true(found(&seen, figure_of("blur", false)) == 0);
    assert_true(found(&seen, GF_FIGURE_JPEG_DECODE) == 0);
}

/* A PNG that the GPU encodes: what codes it and what writes it, unless the encoder had to start. */
static void test_gpu_png(void **state)
{
    for (int started = 0; started < 2; started++) {
        struct recorded recorded;
        record(&recorded, "cuda:0 NVIDIA H200");
        snprintf(recorded.profile.out_file, sizeof recorded.profile.out_file, "PNG");
        recorded.profile.device_encoded = true;
        if (started)
            add_span(&recorded, GF_SPAN_START, -1, 0, 156, 0);
        add_span(&recorded, GF_SPAN_ENCODE, -1, 160, 3, 100e6);
        add_span(&recorded, GF_SPAN_ENCODE, -1, 163, 12, 0);
        const struct gf_seen seen = seen_in("blur=2,equalize", &recorded);
        assert_true(is_near(found(&seen, GF_FIGURE_CUDA_PNG_FILE), 12e6 / pixels));
        const double coded = found(&seen, GF_FIGURE_CUDA_PNG_ENCODE);
        assert_true(started ? coded == 0 : is_near(coded, 3e6 / pixels));
        assert_true(found(&seen, GF_FIGURE_CUDA_ENCODE) == 0);
    }
}

/* Stages that the plan does not have teach nothing of filters. */
static void test_other_stages(void **state)
{
    static const char *const chains[] = {"blur=2", "no such filter"};
    struct recorded recorded;
    record_cpu(&recorded);
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        const struct gf_seen seen = seen_in(chains[i], &recorded);
        assert_true(found(&seen, figure_of("blur", false)) == 0);
        assert_true(found(&seen, GF_FIGURE_JPEG_DECODE) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_gpu),
        cmocka_unit_test(test_gpu_png),
        cmocka_unit_test(test_other_stages),
    };
    return cmocka_run_group_tests_name("calibrate", tests, NULL, NULL);
}
