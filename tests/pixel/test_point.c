/* Point filters and histograms on the CPU against their definitions, rounded once at the end of a
 * run. */
#include "base/cpu.h"
#include "chain/chain.h"
#include "pixel/histogram/histogram.h"
#include "pixel/point/point.h"
#include "pixel/point/point_planes.h"
#include "point_reference.h"
#include "stage/border.h"

/* ---- the stage ---- */

static void bind(struct gf_stage *stage, struct gf_point_list *points, const struct gf_chain *chain,
                 struct gf_format in)
{
    struct gf_error error = {0};
    *points = (struct gf_point_list){.count = chain->count};
    for (int i = 0; i < chain->count; i++) {
        points->item[i].filter = chain->item[i].filter;
        points->item[i].params = chain->item[i].params;
    }
    assert_ok("bind", gf_stage_bind(stage, &gf_point, points, in, &error), &error);
}

static struct gf_view view_of(const struct gf_image *image, int y, int rows)
{
    return (struct gf_view){.data = image->data + (size_t)y * image->pitch,
                            .pitch = image->pitch,
                            .format = image->format,
                            .y = y,
                            .rows = rows};
}

/* In two bands, the second one first. */
static void run_bands(const struct gf_stage *stage, const struct gf_image *in,
                      const struct gf_image *out)
{
    const int height = in->format.height, cut = height / 3;
    for (int part = 1; part >= 0; part--) {
        const int y = part ? cut : 0, rows = part ? height - cut : cut;
        const struct gf_view from = view_of(in, y, rows), to = view_of(out, y, rows);
        stage->filter->cpu(stage, &from, &to, NULL);
    }
}

static void take_histogram(enum gf_statistic statistic, const struct gf_image *in,
                           struct gf_histogram *histogram)
{
    *histogram = (struct gf_histogram){.channels = gf_statistic_channels(statistic, in->format),
                                       .bins = 1 << in->format.bits};
    histogram->count =
        calloc((size_t)(histogram->channels * histogram->bins), sizeof *histogram->count);
    assert_non_null(histogram->count);
    const int cut = in->format.height / 2;
    const struct gf_view upper = view_of(in, 0, cut);
    const struct gf_view lower = view_of(in, cut, in->format.height - cut);
    gf_histogram_add(&lower, statistic, histogram);
    gf_histogram_add(&upper, statistic, histogram);
}

static struct gf_image apply_chain(const char *text, const struct gf_image *in)
{
    struct gf_error error = {0};
    struct gf_chain chain;
    struct gf_point_list points;
    struct gf_stage stage;
    struct gf_histogram histogram = {0};
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
    bind(&stage, &points, &chain, in->format);
    const enum gf_statistic statistic = gf_point.statistic(&points);
    if (statistic)
        take_histogram(statistic, in, &histogram);
    stage.histogram = &histogram;
    assert_ok(text, gf_stage_prepare(&stage, &error), &error);
    const struct gf_image out = picture_new(stage.out, 6);
    run_bands(&stage, in, &out);
    gf_stage_release(&stage);
    gf_chain_free(&chain);
    free(histogram.count);
    return out;
}

/* ---- filters ---- */

static const int sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {3, 3}, {77, 55}, {1111, 7}};

enum { SIZES = sizeof sizes / sizeof *sizes };

/* slack: how far, in steps before rounding, from the definition; 0: the very sample, a half rounded
 * up. */
struct point_case {
    const char *chain;
    double slack_8, slack_16;
};

static void assert_close(const char *chain, const struct gf_image *is,
                         const struct reference *expected, double slack)
{
    if (!guards_intact(is))
        fail_msg("%s: bytes outside the rows were written", chain);
    assert_true(same_format(is->format, expected->format));
    const struct gf_format f = is->format;
    for (int i = 0; i < pixels_of(f) * f.channels; i++) {
        const int x = i / f.channels % f.width, y = i / f.channels / f.width, c = i % f.channels;
        const int v = sample_at(is, x, y, c);
        const bool right = slack == 0 ? v == (int)floor(expected->v[i] + 0.5)
                                      : fabs(v - expected->v[i]) <= 0.5 + slack;
        if (!right)
            fail_msg("%s, %dx%dx%d of %d bits: %d instead of %.4f at %d,%d channel %d", chain,
                     f.width, f.height, f.channels, f.bits, v, expected->v[i], x, y, c);
    }
}

static void check_case(const struct point_case *test, struct gf_format format)
{
    struct gf_image in = picture_random(format, 10, 7);
    struct gf_image out = apply_chain(test->chain, &in);
    struct reference expected = reference_of(&in, test->chain);
    assert_close(test->chain, &out, &expected, format.bits == 8 ? test->slack_8 : test->slack_16);
    free(expected.v);
    picture_free(&out);
    picture_free(&in);
}

static void check_cases(const struct point_case *tests, int count_)
{
    for (int t = 0; t < count_; t++) {
        for (int s = 0; s < SIZES; s++) {
            for (int channels = 1; channels <= 4; channels++) {
                check_case(&tests[t], format_of(sizes[s][0], sizes[s][1], channels, 8));
                check_case(&tests[t], format_of(sizes[s][0], sizes[s][1], channels, 16));
            }
        }
    }
}

#define CHECK_CASES(tests) check_cases(tests, (int)(sizeof(tests) / sizeof *(tests)))

static void test_tables(void **state)
{
    static const struct point_case tests[] = {
        {"invert", 0, 0},         {"gamma", 0, 0},
        {"gamma=0.01", 0, 0},     {"gamma=2.2", 0, 0},
        {"gamma=100", 0, 0},      {"brightness", 0, 0},
        {"brightness=-1", 0, 0},  {"brightness=1", 0, 0},
        {"brightness=0.1", 0, 0}, {"contrast", 0, 0},
        {"contrast=0", 0, 0},     {"contrast=1.7", 0, 0},
        {"contrast=10", 0, 0},    {"invert,gamma=2,contrast=1.3,brightness=-0.1", 0, 0},
    };
    CHECK_CASES(tests);
}

static void test_levels(void **state)
{
    /* equalize of 8 bits has OpenCV's arithmetic: a half may go either way, in a table of L* too.
     */
    static const struct point_case tests[] = {
        {"equalize", 0.51, 0},
        {"equalize=channel", 0.51, 0},
        {"equalize=joint", 0.51, 0},
        {"equalize=lightness", 2, 12},
        {"normalize", 0, 0},
        {"normalize=2.5", 0, 0},
        {"normalize=49.9", 0, 0},
        {"normalize=1:luma", 0, 0},
        {"normalize=1,gamma=0.7,invert", 0, 0},
    };
    CHECK_CASES(tests);
}

static void test_luma(void **state)
{
    static const struct point_case tests[] = {
        {"grayscale", 0, 0.01},   {"grayscale=bt709", 0, 0.01},       {"threshold", 0, 0},
        {"threshold=0", 0, 0},    {"threshold=0.25", 0, 0},           {"threshold=1", 0, 0},
        {"threshold=otsu", 0, 0}, {"grayscale,threshold=0.25", 0, 0}, {"grayscale,invert", 0, 0.01},
    };
    CHECK_CASES(tests);
}

static void test_saturation(void **state)
{
    static const struct point_case tests[] = {
        {"saturation", 0, 0},        {"saturation=0", 0.15, 4},  {"saturation=0.5", 0.15, 1},
        {"saturation=1.8", 0.15, 1}, {"saturation=10", 0.3, 40},
    };
    CHECK_CASES(tests);
}

static void test_runs(void **state)
{
    static const struct point_case tests[] = {
        {"gamma=2,grayscale,gamma=0.5,contrast=1.2", 0.001, 0.1},
        {"invert,saturation=1.5", 0.15, 1},
        {"saturation=2,brightness=0.1,saturation=0.6,invert", 0.01, 3},
        {"saturation=2,saturation=0.5", 0.2, 3},
        {"normalize=2,saturation=1.3,grayscale", 0.001, 1},
        {"equalize=channel,gamma=2,grayscale", 3, 0.1},
    };
    CHECK_CASES(tests);
}

/* Colour without saturation has no tint. */
static void test_gray_stays_gray(void **state)
{
    static const char *const chains[] = {"saturation=0", "saturation=0,gamma=2"};
    for (int t = 0; t < 4; t++) {
        struct gf_image in = picture_random(format_of(301, 40, 3, t % 2 ? 16 : 8), 0, 3);
        struct gf_image out = apply_chain(chains[t / 2], &in);
        for (int y = 0; y < out.format.height; y++) {
            for (int x = 0; x < out.format.width; x++) {
                assert_int_equal(sample_at(&out, x, y, 0), sample_at(&out, x, y, 1));
                assert_int_equal(sample_at(&out, x, y, 0), sample_at(&out, x, y, 2));
            }
        }
        picture_free(&out);
        picture_free(&in);
    }
}

/* ---- alpha ---- */

static struct gf_image run_filter(const struct gf_filter *const *filter, const void *const *params,
                                  int count_, const struct gf_image *in)
{
    struct gf_error error = {0};
    struct gf_point_list points = {.count = count_};
    struct gf_stage stage;
    for (int i = 0; i < count_; i++) {
        points.item[i].filter = filter[i];
        points.item[i].params = params[i];
    }
    assert_ok("bind", gf_stage_bind(&stage, &gf_point, &points, in->format, &error), &error);
    assert_ok("prepare", gf_stage_prepare(&stage, &error), &error);
    const struct gf_image out = picture_new(stage.out, 2);
    run_bands(&stage, in, &out);
    gf_stage_release(&stage);
    return out;
}

static void check_alpha(struct gf_format format)
{
    const struct gf_unpremultiply straight = {.bits = format.bits};
    const struct gf_filter *const filters[] = {&gf_premultiply, &gf_unpremultiply};
    const void *const params[] = {NULL, &straight};
    const double max = max_of(format);
    struct gf_image in = picture_random(format, 4, 5);
    struct gf_image pre = run_filter(filters, params, 1, &in);
    struct gf_image back = run_filter(filters + 1, params + 1, 1, &pre);
    assert_int_equal(pre.format.bits, 16);
    assert_true(same_format(back.format, format));
    for (int i = 0; i < pixels_of(format) * format.channels; i++) {
        const int x = i / format.channels % format.width, y = i / format.channels / format.width;
        const int c = i % format.channels, alpha_at = format.channels - 1;
        const double v = sample_at(&in, x, y, c), a = sample_at(&in, x, y, alpha_at);
        const double p = c == alpha_at ? v * 65535 / max : v * 65535 / max * a / max;
        assert_true(fabs(sample_at(&pre, x, y, c) - p) <= 0.51);
        const double q = sample_at(&pre, x, y, c), b = sample_at(&pre, x, y, alpha_at);
        const double straight_v = c == alpha_at ? v : b > 0 ? fmin(q * max / b, max) : 0;
        assert_true(fabs(sample_at(&back, x, y, c) - straight_v) <= 0.51);
        if (format.bits == 8 && a > 0)
            assert_int_equal(sample_at(&back, x, y, c), v);
    }
    picture_free(&back);
    picture_free(&pre);
    picture_free(&in);
}

static void test_alpha(void **state)
{
    for (int s = 0; s < SIZES; s++) {
        for (int channels = 2; channels <= 4; channels += 2) {
            check_alpha(format_of(sizes[s][0], sizes[s][1], channels, 8));
            check_alpha(format_of(sizes[s][0], sizes[s][1], channels, 16));
        }
    }
}

/* Every value at every alpha. */
static void test_alpha_round_trip(void **state)
{
    const struct gf_unpremultiply straight = {.bits = 8};
    const struct gf_filter *const filters[] = {&gf_premultiply, &gf_unpremultiply};
    const void *const params[] = {NULL, &straight};
    struct gf_image in = picture_new(format_of(256, 256, 2, 8), 0);
    for (int i = 0; i < 256 * 256; i++) {
        sample_set(&in, i % 256, i / 256, 0, i % 256);
        sample_set(&in, i % 256, i / 256, 1, i / 256);
    }
    struct gf_image pre = run_filter(filters, params, 1, &in);
    struct gf_image back = run_filter(filters + 1, params + 1, 1, &pre);
    for (int i = 0; i < 256 * 256; i++) {
        const int v = i % 256, a = i / 256;
        assert_int_equal(sample_at(&pre, v, a, 0), (v * a * 257 * 2 + 255) / 510);
        assert_int_equal(sample_at(&back, v, a, 0), a ? v : 0);
        assert_int_equal(sample_at(&back, v, a, 1), a);
    }
    picture_free(&back);
    picture_free(&pre);
    picture_free(&in);
}

/* ---- histograms ---- */

static void check_histogram(struct gf_format format, enum gf_statistic statistic)
{
    struct gf_image in = picture_random(format, 8, 11);
    struct reference r = reference_of(&in, "");
    struct gf_histogram is;
    uint64_t *const bins = malloc(3 * sizeof *bins << format.bits);
    take_histogram(statistic, &in, &is);
    count(&r, statistic, bins);
    const size_t counters = (size_t)(is.channels * is.bins);
    if (memcmp(is.count, bins, counters * sizeof *bins))
        fail_msg("statistic %d of %dx%dx%d, %d bits is wrong", (int)statistic, format.width,
                 format.height, format.channels, format.bits);
    free(bins);
    free(is.count);
    free(r.v);
    picture_free(&in);
}

/* Tiles of gray pictures by their definition: they may reach beyond the picture, which is reflected
 * there. A row is counted in pieces of 1024 pixels. */
static void check_tiles(int width, int height, int columns, int rows)
{
    struct gf_image in = picture_random(format_of(width, height, 1, 8), 1, (uint64_t)width);
    const enum gf_statistic statistic = gf_statistic_of_tiles(columns, rows);
    const struct gf_tiles tiles = gf_tiles_of(statistic, in.format);
    struct gf_histogram is;
    take_histogram(statistic, &in, &is);
    uint64_t *const expected = calloc(gf_histogram_counters(&is), sizeof *expected);
    assert_non_null(expected);
    for (int y = 0; y < rows * tiles.height; y++) {
        const int row = gf_border_index(y, height, GF_BORDER_REFLECT);
        for (int x = 0; x < columns * tiles.width; x++) {
            const int column = gf_border_index(x, width, GF_BORDER_REFLECT);
            const size_t tile =
                (size_t)(y / tiles.height) * (size_t)columns + (size_t)(x / tiles.width);
            expected[tile * 256 + in.data[(size_t)row * in.pitch + (size_t)column]]++;
        }
    }
    assert_memory_equal(is.count, expected, gf_histogram_counters(&is) * sizeof *expected);
    free(expected);
    free(is.count);
    picture_free(&in);
}

static void test_tiles(void **state)
{
    static const int grids[][4] = {
        {3000, 2, 8, 8}, {2049, 3, 16, 2}, {1024, 9, 7, 4}, {3, 2, 8, 16}, {64, 64, 4, 4}};
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        check_tiles(grids[i][0], grids[i][1], grids[i][2], grids[i][3]);
}

static void test_histograms(void **state)
{
    for (int s = 0; s < SIZES; s++) {
        for (int channels = 1; channels <= 4; channels++) {
            for (int statistic = 1; statistic < GF_STATISTIC_KINDS; statistic++) {
                check_histogram(format_of(sizes[s][0], sizes[s][1], channels, 8), statistic);
                check_histogram(format_of(sizes[s][0], sizes[s][1], channels, 16), statistic);
            }
        }
    }
}

/* A picture of one level, or all transparent, stays as it is. */
static void test_flat(void **state)
{
    static const char *const chains[] = {"equalize",       "equalize=channel",
                                         "equalize=joint", "equalize=lightness",
                                         "normalize",      "normalize=5:luma"};
    for (int t = 0; t < 6; t++) {
        for (int channels = 1; channels <= 4; channels++) {
            struct gf_image in = picture_new(format_of(20, 10, channels, 8), 0);
            memset(in.data, channels % 2 ? 93 : 0, picture_bytes(&in));
            struct gf_image out = apply_chain(chains[t], &in);
            assert_int_equal(compare(&in, &out).most, 0);
            picture_free(&out);
            picture_free(&in);
        }
    }
}

/* The look-up of the device makes the bin that interpolation makes. */
static void test_lightness_steps(void **state)
{
    size_t size;
    struct gf_lightness *const tables = gf_lightness_tables(8, &size);
    assert_non_null(tables);
    for (int y = 0; y < 1 << 24; y++) {
        if ((int)((tables->step[y >> 12] + (uint32_t)y) >> 13) !=
            gf_lightness_interpolated(y, tables->curve))
            fail_msg("luminance %d / 2^24", y);
    }
    free(tables);
}

/* Vector instructions look up what a loop does, whatever the length of a row; the sample behind it
 * is left alone. */
static void test_map_simd(void **state)
{
    enum { ROOM = 500 };
    uint64_t seed = 7;
    uint8_t table[4 * 256], in[ROOM], out[ROOM];
    for (size_t i = 0; i < sizeof table; i++)
        table[i] = (uint8_t)random_below(&seed, 256);
    for (int i = 0; i < ROOM; i++)
        in[i] = (uint8_t)random_below(&seed, 256);
    if (!gf_cpu_has(GF_CPU_SSSE3))
        skip();
    for (int channels = 1; channels <= 4; channels++) {
        for (int same = gf_cpu_has(GF_CPU_VBMI) ? 0 : 1; same < 2; same++) {
            for (int c = 1; same && c < channels; c++)
                memcpy(table + (size_t)c * 256, table, 256);
            for (int count = 0; count < ROOM; count += 1 + random_below(&seed, 7)) {
                memset(out, 0xa5, sizeof out);
                assert_true(gf_bytes_map(in, out, (size_t)count, channels, table));
                for (int i = 0; i < count; i++)
                    assert_int_equal(out[i], table[in[i] + 256 * (i % channels)]);
                assert_int_equal(out[count], 0xa5);
            }
        }
        for (size_t i = 0; i < sizeof table; i++)
            table[i] = (uint8_t)random_below(&seed, 256);
    }
    gf_cpu_allow_intrinsics(false);
    assert_false(gf_cpu_has(GF_CPU_SSSE3));
    gf_cpu_allow_intrinsics(true);
}

/* RGB pixels go to planes and back the same with vector instructions as without, whatever the
 * width, and nothing beyond a row is written. */
static void test_planes_simd(void **state)
{
    static const int widths[] = {1, 7, 8, 9, 10, 11, 17, 18, 19, 511, 512, 513, 530, 1100};
    for (int i = 0; i < (int)(sizeof widths / sizeof *widths); i++) {
        struct gf_image in = picture_random(format_of(widths[i], 3, 3, 8), 1, (uint64_t)i + 1);
        struct gf_image fast = apply_chain("saturation=1.5,gamma=0.8", &in);
        gf_cpu_allow_intrinsics(false);
        struct gf_image plain = apply_chain("saturation=1.5,gamma=0.8", &in);
        gf_cpu_allow_intrinsics(true);
        assert_same("vector instructions", &fast, &plain);
        picture_free(&plain);
        picture_free(&fast);
        picture_free(&in);
    }
}

static uint16_t limited(int v)
{
    return (uint16_t)(v < 0 ? 0 : v > 65535 ? 65535 : v);
}

/* What is computed in place of a table of 16 bits is what the table has, for each level. */
static void test_words(void **state)
{
    static const int offsets[] = {0, 1, -1, 13107, -30000, 32767};
    static const int levels[] = {0, 1, 32768, 65535};
    static uint16_t table[65536], all[65536], found[65536];
    struct gf_point_op op;
    for (int v = 0; v < 65536; v++)
        all[v] = (uint16_t)v;
    for (int k = 0; k < 16; k++) {
        for (int v = 0; v < 65536; v++)
            table[v] = k < 6    ? limited(v + offsets[k])
                       : k < 12 ? limited(65535 - v + offsets[k - 6])
                                : (uint16_t)(v >= levels[k - 12] ? 65535 : 0);
        assert_true(gf_words_recognise(table, &op));
        for (size_t n = 65536; n > 65500; n -= 17) {
            memset(found, 77, sizeof found);
            gf_words_map(&op, all, found, n);
            assert_memory_equal(found, table, n * sizeof *found);
        }
        table[1000 + k] ^= 1;
        assert_false(gf_words_recognise(table, &op));
    }
    memset(table, 0, sizeof table); /* no level is enough */
    assert_true(gf_words_recognise(table, &op));
    gf_words_map(&op, all, found, 65536);
    assert_memory_equal(found, table, sizeof table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map_simd),
        cmocka_unit_test(test_planes_simd),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_luma),
        cmocka_unit_test(test_saturation),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_gray_stays_gray),
        cmocka_unit_test(test_alpha),
        cmocka_unit_test(test_alpha_round_trip),
        cmocka_unit_test(test_histograms),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_lightness_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
