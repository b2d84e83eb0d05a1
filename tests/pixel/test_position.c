/* Point filters that use the pixel's position: against their definition in double precision, in
 * bands, and between filters that do not. */
#include <math.h>

#include "chain/chain.h"
#include "pixel/point/point_program.h"
#include "support.h"

/* ---- two filters ---- */

static const double colour[3] = {1, 0.25, 0.5};

static double across(const void *context, int x)
{
    return (double)x / ((const struct gf_format *)context)->width;
}

/* Its sum with the column leaves 0..1 on either side. */
static double down(const void *context, int y)
{
    return 2.0 * y / ((const struct gf_format *)context)->height - 0.5;
}

static double square(const void *context, double sum)
{
    return sum * sum;
}

static void append_mix(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct gf_point_field field = {across, down, square, &stage->in};
    gf_point_mix(builder, &field, colour);
}

static double mixed(struct gf_format f, double v, int x, int y, int c)
{
    const double sum = fmin(fmax(across(&f, x) + down(&f, y), 0), 1);
    return v + (colour[c] * gf_sample_max(f) - v) * sum * sum;
}

/* An ordered dither of 2x2: the curve is read where it stands, without interpolation. */
static const double thresholds[4] = {0, 0.5, 0.75, 0.25};

static double odd_column(const void *context, int x)
{
    return x % 2 / (double)GF_POINT_CURVE_STEPS;
}

static double odd_row(const void *context, int y)
{
    return y % 2 * 2 / (double)GF_POINT_CURVE_STEPS;
}

static double threshold(const void *context, double sum)
{
    return thresholds[(int)(sum * GF_POINT_CURVE_STEPS) % 4];
}

static void append_dither(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct gf_point_field field = {odd_column, odd_row, threshold, NULL};
    gf_point_add(builder, &field, 1.0 / 16);
}

static double dithered(struct gf_format f, double v, int x, int y)
{
    const int max = gf_sample_max(f);
    return fmin(v + max / 16.0 * thresholds[x % 2 + 2 * (y % 2)], max);
}

static const struct gf_filter mix = {.name = "mix", .kind = GF_POINT, .point = append_mix};
static const struct gf_filter dither = {.name = "dither", .kind = GF_POINT, .point = append_dither};

/* ---- runs ---- */

static struct gf_image run_filters(const struct gf_point_list *points, const struct gf_image *in,
                                   int band_rows)
{
    struct gf_stage stage;
    struct gf_error error = {0};
    assert_ok("bind", gf_stage_bind(&stage, &gf_point, points, in->format, &error), &error);
    assert_ok("prepare", gf_stage_prepare(&stage, &error), &error);
    const struct gf_image out = picture_new(stage.out, 4);
    const int height = in->format.height;
    for (int y = 0; y < height; y += band_rows) {
        const int rows = height - y < band_rows ? height - y : band_rows;
        const struct gf_view from = {in->data + (size_t)y * in->pitch, in->pitch, in->format, y,
                                     rows};
        const struct gf_view to = {out.data + (size_t)y * out.pitch, out.pitch, out.format, y,
                                   rows};
        stage.filter->cpu(&stage, &from, &to, NULL);
    }
    gf_stage_release(&stage);
    return out;
}

/* invert, mix, invert, dither: a table before the first position, an operation between two. */
static double expected_of(struct gf_format f, int v, int x, int y, int c)
{
    const int max = gf_sample_max(f);
    if (gf_has_alpha(f) && c == f.channels - 1)
        return v;
    return dithered(f, max - mixed(f, max - v, x, y, c), x, y);
}

static void check(struct gf_format format)
{
    const struct gf_filter *const invert = gf_filter_find("invert");
    const struct gf_point_list points = {
        .count = 4, .item = {{invert, NULL}, {&mix, NULL}, {invert, NULL}, {&dither, NULL}}};
    struct gf_image in = picture_random(format, 0, 7);
    struct gf_image whole = run_filters(&points, &in, format.height);
    struct gf_image bands = run_filters(&points, &in, 2);
    assert_same("bands", &bands, &whole);
    for (int y = 0; y < format.height; y++) {
        for (int i = 0; i < format.width * format.channels; i++) {
            const int x = i / format.channels, c = i % format.channels;
            const double expected = expected_of(format, sample_at(&in, x, y, c), x, y, c);
            const int v = sample_at(&whole, x, y, c);
            if (fabs(v - expected) > 0.55)
                fail_msg("%dx%dx%d of %d bits: %d instead of %.3f at %d,%d channel %d",
                         format.width, format.height, format.channels, format.bits, v, expected, x,
                         y, c);
        }
    }
    picture_free(&bands);
    picture_free(&whole);
    picture_free(&in);
}

static void test_definition(void **state)
{
    static const int sizes[][2] = {{1, 1}, {9, 1}, {1, 9}, {77, 55}, {512, 3}, {1111, 7}};
    for (int s = 0; s < 6; s++) {
        for (int k = 0; k < 8; k++)
            check(format_of(sizes[s][0], sizes[s][1], 1 + k % 4, k < 4 ? 8 : 16));
    }
}

/* As many fields as a run has filters. */
static void test_many_fields(void **state)
{
    struct gf_point_list points = {.count = GF_POINT_LIST_MAX};
    for (int i = 0; i < GF_POINT_LIST_MAX; i++)
        points.item[i].filter = &mix;
    struct gf_image in = picture_random(format_of(40, 30, 3, 8), 0, 1);
    struct gf_image out = run_filters(&points, &in, 30);
    for (int c = 0; c < 3; c++) {
        double v = sample_at(&in, 39, 15, c);
        for (int i = 0; i < GF_POINT_LIST_MAX; i++)
            v = mixed(in.format, v, 39, 15, c);
        assert_true(fabs(sample_at(&out, 39, 15, c) - v) < 0.55);
        assert_int_equal(sample_at(&out, 0, 0, c), sample_at(&in, 0, 0, c));
    }
    picture_free(&out);
    picture_free(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_many_fields),
    };
    return cmocka_run_group_tests_name("position", tests, NULL, NULL);
}
