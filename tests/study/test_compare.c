/* --profile=compare and --explain: measurements of a made-up device, the arithmetic of the rows,
 * and the keys that scripts count on. */
#include "fake_device.h"
#include "printed.h"
#include "study/compare/compare.h"
#include "study/explain/explain.h"

#include <stdatomic.h>

#include "base/cpu.h"
#include "chain/chain.h"
#include "codec/common/rows/source.h"
#include "pixel/gauss/gauss.h"
#include "report/profile/profile_report.h"
#include "selftest/selftest_case.h"
#include "study/report/study_report.h"

/* ---- a filter with variants, on a device whose clock is set by the test ---- */

static int launches_nothing(const struct gf_launch *launch)
{
    return 0;
}

static int counts_nothing(const struct gf_view *view, enum gf_statistic statistic,
                          unsigned long long *count, const void *tables, void *stream)
{
    return 0;
}

static const char *always_refuses(const struct gf_stage *stage)
{
    return "takes nothing at all";
}

static void invert_cpu(const struct gf_stage *stage, const struct gf_view *in,
                       const struct gf_view *out, void *scratch)
{
    for (int y = out->y; y < out->y + out->rows; y++) {
        for (size_t i = 0; i < gf_row_bytes(stage->out); i++)
            gf_view_row(out, y)[i] = (unsigned char)~gf_view_row(in, y)[i];
    }
}

static enum gf_statistic of_channels(const void *params)
{
    return GF_STATISTIC_CHANNELS;
}

/* The constants name the variant, so that fake_time() sees whether they are its own. */
static enum gf_status prepare_for_kernel(struct gf_stage *stage, struct gf_error *error)
{
    const enum gf_status status = gf_stage_constants(stage, sizeof stage->variant, error);
    if (!status)
        memcpy(stage->constants, &stage->variant, sizeof stage->variant);
    return status;
}

static size_t no_scratch(const struct gf_stage *stage, int rows)
{
    return 0;
}

static const struct gf_filter variants = {
    .name = "variants",
    .kind = GF_GEOMETRY,
    .prepare = prepare_for_kernel,
    .cpu = invert_cpu,
    .cuda =
        (const struct gf_variant[]){
            {.name = "fast", .launch = launches_nothing, .summary = "the default"},
            {.name = "plain", .launch = launches_nothing, .summary = "slower"},
            {.name = "naive", .launch = launches_nothing, .summary = "slowest"},
            {.name = "never", .launch = launches_nothing, .refuses = always_refuses},
            {.name = "far", .launch = launches_nothing, .architecture = 900},
            {.name = "hungry", .launch = launches_nothing, .scratch = no_scratch},
            {0}},
};
static const struct gf_filter counting = {
    .name = "counting",
    .kind = GF_GEOMETRY,
    .cpu = invert_cpu,
    .statistic = of_channels,
    .cuda =
        (const struct gf_variant[]){
            {.name = "stage", .launch = launches_nothing},
            {.name = "slow", .count = counts_nothing},
            {.name = "half", .count = counts_nothing, .count_extremes = true},
            {0}},
};

static double seconds_of(const struct gf_stage_work *work, bool cold)
{
    static const struct {
        const char *name;
        double seconds;
    } clock[] = {{"fast", 1e-3},  {"plain", 2e-3}, {"naive", 8e-3}, {"hungry", 4e-3},
                 {"stage", 1e-3}, {"slow", 3e-3},  {"half", 1e-3}};
    for (size_t i = 0; i < sizeof clock / sizeof *clock; i++) {
        if (!strcmp(work->stage->variant->name, clock[i].name))
            return clock[i].seconds * (cold ? 1.5 : 1);
    }
    fail_msg("%s was timed", work->stage->variant->name);
    return 0;
}

static enum gf_status fake_time(struct gf_lane *lane, const struct gf_stage_work *work, bool cold,
                                int runs, double *seconds, struct gf_error *error)
{
    if (work->stage->filter == &variants)
        assert_memory_equal(work->constants, &work->stage->variant, sizeof work->stage->variant);
    for (int i = 0; i < runs; i++)
        seconds[i] = seconds_of(work, cold) * (1 + 0.1 * (i % 3));
    return GF_OK;
}

static enum gf_status fake_inspect(struct gf_lane *lane, const struct gf_stage_work *work,
                                   struct gf_kernel_info *use, int capacity, int *count,
                                   struct gf_error *error)
{
    assert_true(capacity >= 2);
    fake_check_view((struct fake_device *)lane->backend, &work->in, "inspect");
    use[0] = (struct gf_kernel_info){.name = "first<3>",
                                     .grid = {4, 5, 1},
                                     .block = {32, 8, 1},
                                     .cluster = 1,
                                     .registers = 40,
                                     .shared_bytes = 1024,
                                     .occupancy = 1};
    use[1] = (struct gf_kernel_info){.name = "second",
                                     .grid = {7, 1, 1},
                                     .block = {256, 1, 1},
                                     .cluster = 2,
                                     .registers = 64,
                                     .local_bytes = 16,
                                     .occupancy = 0.5};
    *count = 2;
    return GF_OK;
}

static enum gf_status load_near(struct gf_backend *backend, struct gf_lane *lane,
                                const struct gf_stage *stage, const void **constants,
                                struct gf_error *error)
{
    if (stage->variant && stage->variant->architecture == 900)
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "variant=far needs more");
    return fake_load(backend, lane, stage, constants, error);
}

static void open_probe(struct fake_device *device)
{
    fake_open(device);
    device->calls.time = fake_time;
    device->calls.inspect = fake_inspect;
    device->calls.load = load_near;
}

/* Compares a chain of that one filter on a noisy picture. asked: the chain's variant, or NULL. */
static struct gf_comparison compare_on(uint64_t memory_bytes, const struct gf_filter *filter,
                                       const char *asked)
{
    struct fake_device device;
    open_probe(&device);
    device.memory_bytes = memory_bytes;
    struct gf_chain_item item = {.filter = filter};
    for (int i = 0; asked && filter->cuda[i].name; i++) {
        if (!strcmp(filter->cuda[i].name, asked))
            item.variant = &filter->cuda[i];
    }
    const struct gf_chain chain = {.item = &item, .count = 1};
    struct gf_image picture =
        picture_random((struct gf_format){50, 40, 3, 8, GF_SAMPLES_INTEGER}, 3, 7);
    struct gf_plan plan;
    struct gf_spans spans;
    struct gf_error error = {0};
    struct gf_comparison comparison = {.on_cuda = true, .threads = 2};
    struct gf_compare_setup setup = {
        .backend = &device.base, .threads = 2, .budget_s = 0.01, .copy_peak = 24e6};
    gf_spans_init(&spans);
    assert_ok("plan", gf_plan_make(&chain, picture.format, 1, &plan, &error), &error);
    assert_ok("ready", fake_ready(&device.base, &error), &error);
    assert_ok("lane", fake_lane_open(&device.base, 0, &spans, &setup.lane, &error), &error);
    assert_ok("compare", gf_compare_stages(&setup, &plan, &picture, &comparison, &error), &error);
    fake_lane_close(setup.lane);
    fake_assert_clean("compare", &device);
    gf_plan_free(&plan);
    gf_spans_free(&spans);
    picture_free(&picture);
    return comparison;
}

static struct gf_comparison compare_of(const struct gf_filter *filter, const char *asked)
{
    return compare_on(0, filter, asked);
}

static const struct gf_compare_row *row_of(const struct gf_compare_group *group, const char *name)
{
    for (int i = 0; i < group->rows; i++) {
        if (!strcmp(group->row[i].name, name))
            return &group->row[i];
    }
    fail_msg("%s: there is no row %s", group->name, name);
    return NULL;
}

static void test_rows_of_a_stage(void **state)
{
    struct gf_comparison comparison = compare_of(&variants, NULL);
    assert_int_equal(comparison.groups, 1);
    const struct gf_compare_group *const group = &comparison.group[0];
    assert_string_equal(group->name, "variants");
    assert_int_equal(group->rows, 6);
    assert_true(group->bytes == 2 * 50 * 40 * 3);
    const struct gf_compare_row *const fast = row_of(group, "fast");
    assert_true(fast->chosen);
    assert_int_equal(fast->warm.runs, 6); /* 10 ms of budget, 1.5 ms for each cold run */
    assert_true(fabs(fast->warm.least_s - 1e-3) < 1e-9 &&
                fabs(fast->warm.median_s - 1.1e-3) < 1e-9 &&
                fabs(fast->warm.most_s - 1.2e-3) < 1e-9);
    assert_true(fabs(fast->cold.median_s - 1.65e-3) < 1e-9);
    assert_true(fabs(fast->rate - 12000 / 1.1e-3) < 1);
    assert_true(fabs(fast->copy_percent - 100 * fast->rate / 24e6) < 1e-6);
    assert_true(fast->difference == 0);
    assert_true(fabs(fast->over_naive - row_of(group, "naive")->warm.median_s / 1.1e-3) < 1e-9);
    assert_true(fabs(fast->over_cpu - group->cpu.median_s / 1.1e-3) < 1e-9);
    assert_true(row_of(group, "naive")->over_naive == 1);
    assert_int_equal(row_of(group, "naive")->warm.runs, 1); /* 12 ms do not fit into the budget */
    gf_comparison_free(&comparison);
}

static void test_what_cannot_run_says_why(void **state)
{
    struct gf_comparison comparison = compare_of(&variants, "plain");
    const struct gf_compare_group *const group = &comparison.group[0];
    assert_string_equal(row_of(group, "never")->refused, "takes nothing at all");
    assert_string_equal(row_of(group, "far")->refused, "variant=far needs more");
    assert_int_equal(row_of(group, "far")->warm.runs, 0);
    assert_true(isnan(row_of(group, "far")->difference));
    assert_true(row_of(group, "plain")->chosen);
    assert_false(row_of(group, "fast")->chosen);
    gf_comparison_free(&comparison);
}

static void test_a_picture_that_does_not_fit(void **state)
{
    struct gf_comparison comparison = compare_on(8000, &variants, NULL);
    assert_int_equal(comparison.group[0].rows, 1);
    assert_non_null(strstr(row_of(&comparison.group[0], "all")->refused,
                           "out of memory for a picture of 50x40"));
    assert_true(comparison.group[0].cpu.runs > 0);
    gf_comparison_free(&comparison);
}

static void test_the_kernel_of_least_occupancy(void **state)
{
    struct gf_comparison comparison = compare_of(&variants, NULL);
    const struct gf_compare_row *const fast = row_of(&comparison.group[0], "fast");
    assert_int_equal(fast->kernels, 2);
    assert_string_equal(gf_compare_kernel(fast)->name, "second");
    assert_null(gf_compare_kernel(row_of(&comparison.group[0], "never")));
    gf_comparison_free(&comparison);
}

static void test_rows_of_a_histogram(void **state)
{
    struct gf_comparison comparison = compare_of(&counting, NULL);
    assert_int_equal(comparison.groups, 2);
    const struct gf_compare_group *const counts = &comparison.group[0];
    assert_string_equal(counts->name, "counting histogram");
    assert_true(counts->statistic && counts->bytes == 50 * 40 * 3);
    assert_int_equal(counts->rows,
                     3); /* the counter that all filters share, and the two of its own */
    assert_string_equal(counts->row[0].name, "default");
    assert_true(counts->row[0].chosen);
    for (int i = 0; i < 3; i++)
        assert_true(counts->row[i].difference == 0);
    assert_int_equal(comparison.group[1].rows, 1);
    assert_string_equal(comparison.group[1].row[0].name, "stage");
    gf_comparison_free(&comparison);
}

/* ---- arithmetic ---- */

static void test_times(void **state)
{
    double even[] = {4, 1, 3, 2}, odd[] = {9, 1, 5};
    assert_int_equal(gf_timing_runs(0.2, 0.1), 1);
    assert_int_equal(gf_timing_runs(0.09, 0.1), 3);
    assert_int_equal(gf_timing_runs(0.01, 0.1), 10);
    assert_int_equal(gf_timing_runs(0, 0.1), GF_TIMING_RUNS_MAX);
    const struct gf_timing four = gf_timing_of(even, 4), three = gf_timing_of(odd, 3);
    assert_true(four.median_s == 2.5 && four.least_s == 1 && four.most_s == 4 && four.runs == 4);
    assert_true(three.median_s == 5 && three.least_s == 1 && three.most_s == 9);
    assert_int_equal(gf_timing_of(NULL, 0).runs, 0);
}

static void test_estimate(void **state)
{
    assert_true(gf_compare_estimate(1, 4, 1) == 5);
    assert_true(gf_compare_estimate(1, 4, 4) == 4.25);
    assert_true(gf_compare_estimate(8, 4, 2) == 10);
}

static int difference_of(const struct gf_image *a, const struct gf_image *b)
{
    const struct gf_view p = gf_image_view(a), q = gf_image_view(b);
    return gf_view_difference(&p, &q);
}

/* The part around the pixel that differs most lies inside the picture, with both results as they
 * are, and the difference on a scale whose white is the largest. */
static void assert_spot(int bits, int channels, int width, int height, int x, int y)
{
    struct gf_image a =
        picture_random((struct gf_format){width, height, channels, bits, GF_SAMPLES_INTEGER}, 2, 3);
    struct gf_image b =
        picture_random((struct gf_format){width, height, channels, bits, GF_SAMPLES_INTEGER}, 6, 3);
    const int channel = channels - 1, was = sample_at(&b, x, y, channel), other = (x + 1) % width;
    sample_set(&b, x, y, channel, was < 100 ? was + 80 : was - 80);
    const int near = sample_at(&b, other, y, 0);
    sample_set(&b, other, y, 0, near < 100 ? near + 40 : near - 40);
    const struct gf_view found = gf_image_view(&b), expected = gf_image_view(&a);
    struct gf_compare_spot *const spot = gf_compare_spot_make(&found, &expected);
    assert_non_null(spot);
    assert_int_equal(spot->width, width < GF_SPOT_SIDE ? width : GF_SPOT_SIDE);
    assert_int_equal(spot->height, height < GF_SPOT_SIDE ? height : GF_SPOT_SIDE);
    assert_in_range(x - spot->x, 0, spot->width - 1);
    assert_in_range(y - spot->y, 0, spot->height - 1);
    assert_in_range(spot->x + spot->width, 1, width);
    assert_in_range(spot->y + spot->height, 1, height);
    const int at = 3 * ((y - spot->y) * spot->width + x - spot->x);
    assert_int_equal(spot->difference[at], 255);
    assert_int_equal(spot->expected[at], sample_at(&a, x, y, 0) / (bits == 8 ? 1 : 257));
    if (other - spot->x < spot->width && other >= spot->x)
        assert_int_equal(spot->difference[3 * ((y - spot->y) * spot->width + other - spot->x)],
                         127);
    free(spot);
    assert_null(gf_compare_spot_make(&expected, &expected));
    picture_free(&a);
    picture_free(&b);
}

static void test_spots(void **state)
{
    for (int bits = 8; bits <= 16; bits += 8) {
        assert_spot(bits, 3, 100, 90, 50, 45);
        assert_spot(bits, 4, 100, 90, 99, 89);
        assert_spot(bits, 2, 100, 90, 0, 0);
        assert_spot(bits, 1, 7, 90, 3, 2);
        assert_spot(bits, 3, 2, 1, 1, 0);
    }
}

static void test_differences(void **state)
{
    for (int bits = 8; bits <= 16; bits += 8) {
        struct gf_image a =
            picture_random((struct gf_format){31, 9, 2, bits, GF_SAMPLES_INTEGER}, 2, 3);
        struct gf_image b =
            picture_random((struct gf_format){31, 9, 2, bits, GF_SAMPLES_INTEGER}, 6, 3);
        assert_int_equal(difference_of(&a, &b), 0);
        sample_set(&b, 30, 8, 1,
                   sample_at(&a, 30, 8, 1) < 100 ? sample_at(&a, 30, 8, 1) + 77
                                                 : sample_at(&a, 30, 8, 1) - 77);
        assert_int_equal(difference_of(&a, &b), 77);
        assert_int_equal(difference_of(&b, &a), 77);
        picture_free(&a);
        picture_free(&b);
    }
    uint64_t p[] = {0, 5, 7, 0}, q[] = {0, 9, 1, 0};
    const struct gf_histogram a = {.channels = 1, .bins = 4, .count = p},
                              b = {.channels = 1, .bins = 4, .count = q};
    assert_true(gf_histogram_difference(&a, &b, false) == 6);
    assert_true(gf_histogram_difference(&a, &b, true) == 0);
    q[3] = 1;
    assert_true(gf_histogram_difference(&a, &b, true) == 1);
}

/* ---- the CPU's rows ---- */

static atomic_int bands_with, bands_without;
static const double BAND_S = 1e-4;

/* The switch is on except during the rows that are named for it. */
static void check_switch(const struct gf_stage *stage, const struct gf_view *in,
                         const struct gf_view *out, void *scratch)
{
    const bool fastest = gf_gauss_simd_best() != gf_gauss_simd_level(0);
    const bool possible = gf_gauss_simd_level(1) || gf_gauss_simd_level(2);
    memcpy(gf_view_row(out, out->y), gf_view_row(in, out->y),
           gf_row_bytes(stage->out) * (size_t)out->rows);
    assert_int_equal(fastest, possible && gf_cpu_intrinsics_allowed());
    atomic_fetch_add(gf_cpu_intrinsics_allowed() ? &bands_with : &bands_without, 1);
}

static void take_a_while(const struct gf_stage *stage, const struct gf_view *in,
                         const struct gf_view *out, void *scratch)
{
    const double begin_s = gf_now();
    (void)stage, (void)in, (void)out, (void)scratch;
    while (gf_now() < begin_s + BAND_S)
        ;
}

static struct gf_comparison compare_on_cpu(const struct gf_chain *chain, struct gf_format format)
{
    struct gf_plan plan;
    struct gf_error error = {0};
    struct gf_image picture = picture_random(format, 2, (uint64_t)format.bits);
    struct gf_comparison comparison = {.threads = 3};
    struct gf_backend *backend;
    assert_ok("cpu", gf_backend_cpu_open(3, &backend, &error), &error);
    struct gf_compare_setup setup = {.backend = backend, .threads = 3};
    assert_ok("plan", gf_plan_make(chain, format, 1, &plan, &error), &error);
    assert_ok("compare", gf_compare_stages(&setup, &plan, &picture, &comparison, &error), &error);
    gf_plan_free(&plan);
    backend->calls->close(backend);
    picture_free(&picture);
    return comparison;
}

static void test_rows_without_intrinsics(void **state)
{
    static const struct gf_filter filters[] = {
        {.name = "with", .kind = GF_GEOMETRY, .cpu = check_switch, .cpu_intrinsics = true},
        {.name = "none", .kind = GF_GEOMETRY, .cpu = check_switch}};
    static const char *const names[] = {"no intrinsics, 1 thread", "no intrinsics, 3 threads",
                                        "1 thread", "2 threads", "3 threads"};
    for (int i = 0; i < 2; i++) {
        struct gf_chain_item item = {.filter = &filters[i]};
        const struct gf_chain chain = {.item = &item, .count = 1};
        struct gf_comparison comparison =
            compare_on_cpu(&chain, (struct gf_format){64, 48, 3, 8, GF_SAMPLES_INTEGER});
        const struct gf_compare_group *const group = &comparison.group[0];
        const int left_out = i ? 2 : 0;
        assert_int_equal(group->rows, 5 - left_out);
        for (int r = 0; r < group->rows; r++) {
            assert_string_equal(group->row[r].name, names[r + left_out]);
            assert_int_equal(group->row[r].chosen, r + 1 == group->rows);
        }
        assert_int_equal(atomic_exchange(&bands_without, 0) > 0, !i);
        assert_true(atomic_exchange(&bands_with, 0) > 0);
        assert_true(gf_cpu_intrinsics_allowed());
        gf_comparison_free(&comparison);
    }
}

static void test_every_row_makes_the_same_picture(void **state)
{
    static const char *const chains[] = {"blur=2",
                                         "boxblur=5",
                                         "convolve=0 1 0/1 4 1/0 1 0",
                                         "unsharp",
                                         "sobel",
                                         "normalmap",
                                         "median=2",
                                         "bilateral",
                                         "equalize=mode=lightness",
                                         "normalize",
                                         "threshold=otsu",
                                         "transpose",
                                         "rotate=90",
                                         "hflip",
                                         "vflip",
                                         "resize=w=60%:h=70%",
                                         "crop=20:20:1:1",
                                         "saturation=1.5",
                                         "gamma=2.2"};
    for (size_t i = 0; i < 2 * sizeof chains / sizeof *chains; i++) {
        const struct gf_format format = {53, 47, i % 2 ? 4 : 3, i % 2 ? 16 : 8, GF_SAMPLES_INTEGER};
        struct gf_chain chain;
        struct gf_error error = {0};
        assert_ok(chains[i / 2], gf_chain_parse(chains[i / 2], &chain, &error), &error);
        struct gf_comparison comparison = compare_on_cpu(&chain, format);
        for (int g = 0; g < comparison.groups; g++) {
            const struct gf_compare_group *const group = &comparison.group[g];
            assert_true(group->rows >= 3 && group->naive == 0);
            for (int r = 0; r < group->rows; r++) {
                if (group->row[r].difference > 0 || !group->row[r].warm.runs)
                    fail_msg("%s: %s differs by %g", group->name, group->row[r].name,
                             group->row[r].difference);
            }
        }
        gf_comparison_free(&comparison);
        gf_chain_free(&chain);
    }
}

/* With more threads than processors some threads wake up late, but no run is shorter than one band.
 */
static void test_more_threads_than_processors(void **state)
{
    static const struct gf_filter slow = {.name = "slow", .cpu = take_a_while};
    struct gf_error error = {0};
    struct gf_image in = picture_random((struct gf_format){8, 64, 3, 8, GF_SAMPLES_INTEGER}, 0, 1);
    struct gf_image out = picture_random(in.format, 0, 2);
    const struct gf_stage stage = {.filter = &slow, .in = in.format, .out = out.format};
    const struct gf_compare_subject subject = {.stage = &stage, .in = &in, .out = &out};
    struct gf_timing timing;
    assert_ok("slow",
              gf_compare_cpu_time(&subject, 2 * gf_cpu_count() + 6, 1, &out, NULL, &timing, &error),
              &error);
    assert_true(timing.runs > 1);
    assert_true(timing.least_s >= BAND_S);
    picture_free(&in);
    picture_free(&out);
}

/* ---- the pipeline's rows ---- */

static const struct gf_compare_run *run_of(const struct gf_comparison *comparison, const char *name)
{
    for (int i = 0; i < comparison->runs; i++) {
        if (!strcmp(comparison->run[i].name, name))
            return &comparison->run[i];
    }
    fail_msg("there is no setting %s", name);
    return NULL;
}

static void test_settings_of_the_cpu(void **state)
{
    struct gf_image picture =
        picture_random((struct gf_format){64, 640, 3, 8, GF_SAMPLES_INTEGER}, 0, 1);
    struct gf_options options = gf_options_default();
    struct gf_comparison comparison = {.threads = 3, .in = picture.format, .out = picture.format};
    struct gf_error error = {0};
    options.device = GF_DEVICE_CPU;
    options.threads = 3;
    assert_ok("runs", gf_compare_runs("gamma=2,invert", &options, &picture, &comparison, &error),
              &error);
    const int rows = comparison.run[0].band_rows;
    assert_string_equal(comparison.run[0].name, "as asked");
    assert_int_equal(comparison.run[0].lanes, 3);
    assert_int_equal(run_of(&comparison, "threads=1")->lanes, 1);
    assert_int_equal(run_of(&comparison, "threads=2")->lanes, 2);
    assert_int_equal(run_of(&comparison, "threads=3")->lanes, 3);
    assert_true(run_of(&comparison, "no-fuse")->options.no_fuse);
    char name[40];
    snprintf(name, sizeof name, "band-rows=%d", 2 * rows);
    assert_int_equal(run_of(&comparison, name)->band_rows, 2 * rows);
    for (int i = 0; i < comparison.runs; i++) {
        assert_true(comparison.run[i].total.runs > 0 && comparison.run[i].total.median_s > 0);
        assert_true(comparison.run[i].overlap >= 0 && comparison.run[i].overlap < 1);
        assert_true(isnan(comparison.run[i].estimate_s));
    }
    gf_comparison_free(&comparison);
    assert_ok("runs", gf_compare_runs("blur", &options, &picture, &comparison, &error), &error);
    assert_string_equal(run_of(&comparison, "no-fuse")->refused, "nothing in the chain is fused");
    gf_comparison_free(&comparison);
    picture_free(&picture);
}

static void test_judgement(void **state)
{
    struct gf_compare_row row[] = {{.name = "first", .difference = NAN},
                                   {.name = "second", .difference = 1, .tolerance = 1}};
    struct gf_compare_group group = {.name = "sobel", .row = row, .rows = 2};
    const struct gf_comparison comparison = {.group = &group, .groups = 1};
    struct gf_error error = {0};
    assert_int_equal(gf_compare_judge(&comparison, &error), GF_OK);
    row[1].difference = 2;
    assert_int_equal(gf_compare_judge(&comparison, &error), GF_ERROR_DIFFERENT);
    assert_string_equal(error.text,
                        "sobel: wrong result: second differs from the CPU's by 2, more than 1");
}

/* ---- the forms ---- */

static char *write_form(void (*form)(const struct gf_comparison *, FILE *),
                        const struct gf_comparison *comparison)
{
    form(comparison, print_begin());
    return print_end();
}

/* A comparison with rows that ran and rows that were refused, of stages and of the pipeline. */
static struct gf_comparison whole_comparison(void)
{
    struct gf_comparison comparison = compare_of(&variants, NULL);
    snprintf(comparison.device, sizeof comparison.device, "cuda:0 \"Fake\"");
    comparison.copy_peak = 4e12;
    comparison.in = comparison.out = comparison.group[0].in;
    comparison.run = calloc(2, sizeof *comparison.run);
    comparison.runs = 2;
    comparison.run[0] = (struct gf_compare_run){.name = "as asked",
                                                .lanes = 4,
                                                .band_rows = 270,
                                                .total = {9, 3e-3, 2e-3, 4e-3},
                                                .window = {9, 2.5e-3, 2e-3, 3e-3},
                                                .overlap = 0.25,
                                                .kernels_s = 1e-3,
                                                .copies_s = 2e-3,
                                                .estimate_s = 2.25e-3};
    comparison.run[1] = (struct gf_compare_run){.name = "transfer=zero-copy",
                                                .refused = "odd, \"rows\"",
                                                .overlap = NAN,
                                                .kernels_s = NAN,
                                                .copies_s = NAN,
                                                .estimate_s = NAN};
    return comparison;
}

static void test_json(void **state)
{
    struct gf_comparison comparison = whole_comparison();
    char *const json = write_form(gf_compare_json, &comparison);
    for (const struct gf_key_help *key = gf_compare_keys; key->path; key++) {
        char quoted[64];
        const char *const dot = strrchr(key->path, '.');
        snprintf(quoted, sizeof quoted, "\"%s\": ", dot ? dot + 1 : key->path);
        if (!strstr(json, quoted))
            fail_msg("%s is not there", key->path);
    }
    assert_non_null(strstr(json, "\"device\": \"cuda:0 \\\"Fake\\\"\""));
    assert_non_null(
        strstr(json, "{\"name\": \"never\", \"summary\": null, \"chosen\": false, \"refused\": "
                     "\"takes nothing at all\", \"runs\": 0, \"warm_ms\": null, "));
    assert_non_null(
        strstr(json, "{\"name\": \"second\", \"grid\": [7, 1, 1], \"block\": [256, 1, 1], "
                     "\"cluster\": 2, \"registers\": 64, \"shared_bytes\": 0, \"local_bytes\": 16, "
                     "\"occupancy_percent\": 50.000000}"));
    assert_non_null(
        strstr(json, "\"total_ms\": 3.000000, \"total_least_ms\": 2.000000, \"total_most_ms\": "
                     "4.000000, \"window_ms\": 2.500000, \"overlap\": 0.250000, "
                     "\"kernels_ms\": 1.000000, \"transfers_ms\": 2.000000, "
                     "\"estimate_ms\": 2.250000}"));
    free(json);
    gf_comparison_free(&comparison);
}

static void test_table(void **state)
{
    struct gf_comparison comparison = whole_comparison();
    char *const table = write_form(gf_compare_table, &comparison);
    assert_non_null(strstr(table, "\n* fast"));
    assert_non_null(strstr(table, "\n  never    not run: takes nothing at all\n"));
    assert_non_null(strstr(table, "x naive"));
    assert_non_null(strstr(table, "transfer=zero-copy     not run: odd, \"rows\"\n"));
    for (const char *line = table; *line; line = strchr(line, '\n') + 1)
        assert_in_range(strcspn(line, "\n"), 0, 140);
    free(table);
    gf_comparison_free(&comparison);
}

/* ---- --explain ---- */

static struct gf_explanation explanation_of(struct fake_device *device, const char *text,
                                            struct gf_format format)
{
    static struct gf_source source;
    static struct gf_sink sink;
    struct gf_explanation explanation = {.on_cuda = true};
    struct gf_options options = gf_options_default();
    struct gf_error error = {0};
    struct gf_chain chain;
    struct gf_plan plan;
    struct gf_spans spans;
    options.memory_bytes = 1 << 20;
    gf_spans_init(&spans);
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
    assert_ok(text, gf_plan_make(&chain, format, 1, &plan, &error), &error);
    const struct gf_schedule run = {.plan = &plan,
                                    .backend = &device->base,
                                    .options = &options,
                                    .spans = &spans,
                                    .lanes = 2,
                                    .band_rows = 10,
                                    .source = &source,
                                    .sink = &sink};
    assert_ok(text, fake_ready(&device->base, &error), &error);
    assert_ok(text, gf_explain_plan(&run, &explanation, &error), &error);
    fake_assert_clean(text, device);
    assert_int_equal(device->runs, 0);
    assert_int_equal(device->uploads, 0);
    gf_plan_free(&plan);
    gf_chain_free(&chain);
    gf_spans_free(&spans);
    return explanation;
}

static void test_explanation(void **state)
{
    struct fake_device device;
    open_probe(&device);
    /* With radius 2 a band of 10 rows reads 14 rows, or 12 at an edge. */
    struct gf_explanation found =
        explanation_of(&device, "boxblur=2,gamma=2,invert,equalize,transpose",
                       (struct gf_format){32, 40, 3, 8, GF_SAMPLES_INTEGER});
    const double picture = 32 * 40 * 3;
    assert_int_equal(found.segments, 3);
    assert_int_equal(found.lanes, 2);
    assert_int_equal(found.segment[0].bands, 4);
    assert_int_equal(found.segment[0].band_rows, 10);
    assert_int_equal(found.segment[0].in_rows, 14);
    assert_true(found.segment[0].up_bytes == 32 * 3 * (12 + 14 + 14 + 12));
    assert_true(found.segment[0].down_bytes == 0 && found.segment[0].keeps_on_device);
    assert_int_equal(found.segment[0].stages, 3);
    assert_string_equal(found.segment[0].stage[1].name, "gamma+invert");
    assert_int_equal(found.segment[0].stage[1].filters, 2);
    assert_string_equal(found.segment[0].stage[2].name, "equalize histogram");
    assert_true(found.segment[0].stage[2].bytes == picture);
    assert_true(found.segment[1].up_bytes == 0);
    assert_true(found.segment[2].whole && found.segment[2].stage[0].bytes == 2 * picture);
    assert_true(found.segment[2].down_bytes == picture);
    assert_int_equal(found.segment[2].stage[0].kernels, 2);
    assert_string_equal(found.segment[2].stage[0].kernel[0].name, "first<3>");
    found.upload_peak = found.download_peak = 1e3;
    found.copy_peak = 1e6;
    const double up = found.segment[0].up_bytes / 1e3, down = picture / 1e3;
    assert_true(fabs(gf_explain_seconds(&found, true) - up - found.segment[1].device_bytes / 1e6 -
                     down) < 1e-9);
    assert_true(gf_explain_seconds(&found, false) > gf_explain_seconds(&found, true));
    gf_explain_free(&found);
}

static void test_explanation_without_memory(void **state)
{
    struct fake_device device;
    open_probe(&device);
    device.memory_bytes = 8000; /* less than a picture, which then lies in host memory */
    struct gf_explanation found = explanation_of(
        &device, "equalize,transpose", (struct gf_format){64, 40, 3, 8, GF_SAMPLES_INTEGER});
    assert_false(found.segment[0].keeps_on_device);
    assert_true(found.segment[0].down_bytes == 64 * 40 * 3);
    assert_true(found.segment[2].first_on_host);
    gf_explain_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_of_a_stage),
        cmocka_unit_test(test_what_cannot_run_says_why),
        cmocka_unit_test(test_a_picture_that_does_not_fit),
        cmocka_unit_test(test_the_kernel_of_least_occupancy),
        cmocka_unit_test(test_rows_of_a_histogram),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_estimate),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_spots),
        cmocka_unit_test(test_rows_without_intrinsics),
        cmocka_unit_test(test_every_row_makes_the_same_picture),
        cmocka_unit_test(test_more_threads_than_processors),
        cmocka_unit_test(test_settings_of_the_cpu),
        cmocka_unit_test(test_judgement),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_explanation),
        cmocka_unit_test(test_explanation_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
