/* resize against its definition in double precision, and the sizes that its parameters mean. */
#include <math.h>

#include "one_stage.h"
#include "chain/chain.h"
#include "pixel/resample/resample.h"
#include "pixel/sample.h"

static const char *const kernels[] = {"lanczos3", "cubic", "linear", "area"};

/* ---- the definition ---- */

static double sinc(double x)
{
    return x == 0 ? 1 : sin(M_PI * x) / (M_PI * x);
}

static double kernel_at(int kernel, double x)
{
    const double a = fabs(x);
    switch (kernel) {
    case 0:
        return a < 3 ? sinc(a) * sinc(a / 3) : 0;
    case 1:
        return a < 1   ? 1.5 * a * a * a - 2.5 * a * a + 1
               : a < 2 ? -0.5 * a * a * a + 2.5 * a * a - 4 * a + 2
                       : 0;
    case 2:
        return a < 1 ? 1 - a : 0;
    default:
        return x > -0.5 && x <= 0.5;
    }
}

/* Weights of all inputs for output i of an axis. */
static void weights_of(int kernel, int i, int in, double scale, double offset, double *weight)
{
    static const double reach[] = {3, 2, 1, 0.5};
    const double centre = (i + offset + 0.5) * scale, widening = scale > 1 ? scale : 1;
    double sum = 0;
    for (int k = 0; k < in; k++) {
        /* A pixel belongs to the window where its centre does, to the nearest one. */
        const bool is_inside = k >= floor(centre - reach[kernel] * widening + 0.5) &&
                               k < floor(centre + reach[kernel] * widening + 0.5);
        weight[k] = is_inside ? kernel_at(kernel, (k + 0.5 - centre) / widening) : 0;
        sum += weight[k];
    }
    for (int k = 0; k < in; k++)
        weight[k] /= sum;
}

static double decode(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double encode(double v)
{
    v = v < 0 ? 0 : v > 1 ? 1 : v;
    return v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055;
}

struct sizes {
    int width, height;              /* of the result */
    double full_width, full_height; /* of the scaled picture that it is the middle of */
};

/* Every sample of the result, before rounding. */
static double *reference(const struct gf_image *in, const struct sizes *s, int kernel, bool linear)
{
    const struct gf_format f = in->format;
    const double most = f.bits == 8 ? 255 : 65535;
    const double x_offset = floor((s->full_width - s->width) / 2);
    const double y_offset = floor((s->full_height - s->height) / 2);
    const size_t n = (size_t)f.channels;
    double *const between = calloc((size_t)s->width * (size_t)f.height * n, sizeof(double));
    double *const out = calloc((size_t)s->width * (size_t)s->height * n, sizeof(double));
    double *const weight =
        malloc(sizeof(double) * (size_t)(f.width > f.height ? f.width : f.height));
    assert_true(between && out && weight);
    for (int x = 0; x < s->width; x++) {
        weights_of(kernel, x, f.width, f.width / s->full_width, x_offset, weight);
        for (int i = 0; i < f.height * f.channels; i++) {
            const int y = i / f.channels, c = i % f.channels;
            double sum = 0;
            for (int k = 0; k < f.width; k++) {
                const double v = sample_at(in, k, y, c) / most;
                sum += weight[k] * (linear ? decode(v) : v);
            }
            between[((size_t)y * (size_t)s->width + (size_t)x) * n + (size_t)c] = sum < 0   ? 0
                                                                                  : sum > 1 ? 1
                                                                                            : sum;
        }
    }
    for (int y = 0; y < s->height; y++) {
        weights_of(kernel, y, f.height, f.height / s->full_height, y_offset, weight);
        for (size_t i = 0; i < (size_t)s->width * n; i++) {
            double sum = 0;
            for (int k = 0; k < f.height; k++)
                sum += weight[k] * between[(size_t)k * (size_t)s->width * n + i];
            out[(size_t)y * (size_t)s->width * n + i] = most * (linear    ? encode(sum)
                                                                : sum < 0 ? 0
                                                                : sum > 1 ? 1
                                                                          : sum);
        }
    }
    free(between);
    free(weight);
    return out;
}

static void assert_resized(const char *text, const struct gf_image *in, const struct sizes *s,
                           int kernel, bool linear)
{
    struct gf_image out = chain_result(text, in);
    assert_int_equal(out.format.width, s->width);
    assert_int_equal(out.format.height, s->height);
    assert_true(guards_intact(&out));
    double *const value = reference(in, s, kernel, linear);
    const double slack = in->format.bits == 8 ? 0.003 : linear ? 0.1 : 0.05;
    for (size_t i = 0; i < (size_t)s->width * (size_t)s->height * (size_t)in->format.channels;
         i++) {
        const int c = (int)(i % (size_t)in->format.channels);
        const int x = (int)(i / (size_t)in->format.channels) % s->width;
        const int y = (int)(i / (size_t)in->format.channels) / s->width;
        const int v = sample_at(&out, x, y, c);
        if (!(fabs(v - value[i]) <= 0.5 + slack))
            fail_msg("%s: %d instead of %g at %d,%d channel %d (%dx%dx%d, %d bits)", text, v,
                     value[i], x, y, c, in->format.width, in->format.height, in->format.channels,
                     in->format.bits);
    }
    free(value);
    picture_free(&out);
}

static void check_kernels(const struct gf_image *in, const void *context)
{
    const int w = in->format.width, h = in->format.height;
    const int sizes[][2] = {{w, h}, {(w + 1) / 2, (h + 1) / 2}, {w + 7, h * 2}, {1, 1}, {10, 4}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int kernel = 0; kernel < 4; kernel++) {
            const struct sizes s = {sizes[i][0], sizes[i][1], sizes[i][0], sizes[i][1]};
            char text[100];
            snprintf(text, sizeof text, "resize=%d:%d:%s", s.width, s.height, kernels[kernel]);
            assert_resized(text, in, &s, kernel, false);
        }
    }
}

static void test_kernels(void **state)
{
    each_stage_picture(9000, check_kernels, NULL);
}

static void check_linear(const struct gf_image *in, const void *context)
{
    const struct sizes small = {20, 13, 20, 13}, large = {31, 90, 31, 90};
    if (gf_has_alpha(in->format))
        return;
    assert_resized("resize=20:13:light=linear", in, &small, 0, true);
    assert_resized("resize=31:90:cubic:linear", in, &large, 1, true);
}

static void test_linear_light(void **state)
{
    each_stage_picture(13000, check_linear, NULL);
}

/* Linear light of premultiplied colour: what is opaque comes out as without alpha, and what is not
 * there has no colour. */
static void test_linear_alpha(void **state)
{
    struct gf_image rgb = picture_random(format_of(30, 20, 3, 16), 0, 4);
    struct gf_image rgba = picture_new(format_of(30, 20, 4, 16), 0);
    for (int y = 0; y < 20; y++) {
        for (int x = 0; x < 30; x++) {
            for (int c = 0; c < 4; c++)
                sample_set(&rgba, x, y, c, y < 10 ? (c < 3 ? sample_at(&rgb, x, y, c) : 65535) : 0);
            for (int c = 0; c < 3 && y >= 10; c++)
                sample_set(&rgb, x, y, c, 0);
        }
    }
    struct gf_image plain = chain_result("resize=15:10:area:linear", &rgb);
    struct gf_image out = chain_result("resize=15:10:area:linear", &rgba);
    for (int y = 0; y < 10; y++) {
        for (int x = 0; x < 15; x++) {
            for (int c = 0; c < 3; c++)
                assert_in_range(sample_at(&out, x, y, c) + 1, sample_at(&plain, x, y, c),
                                sample_at(&plain, x, y, c) + 2);
            assert_int_equal(sample_at(&out, x, y, 3), y < 5 ? 65535 : 0);
        }
    }
    picture_free(&rgb);
    picture_free(&rgba);
    picture_free(&plain);
    picture_free(&out);
}

/* ---- nearest ---- */

static bool is_nearest(int from, int i, int in, int out)
{
    const double at = (i + 0.5) * in / out;
    return from <= at + 1e-6 && at - 1e-6 <= from + 1;
}

/* Which input each output is, read off a picture that counts its columns or rows. */
static void check_nearest(int in, int out)
{
    char text[80];
    snprintf(text, sizeof text, "resize=w=%d:h=%d:kernel=nearest", out, out);
    struct gf_image picture = picture_new(format_of(in, in, 2, 16), 0);
    for (int y = 0; y < in; y++) {
        for (int x = 0; x < in; x++) {
            sample_set(&picture, x, y, 0, x);
            sample_set(&picture, x, y, 1, y);
        }
    }
    struct gf_image result = chain_result(text, &picture);
    for (int y = 0; y < out; y++) {
        for (int x = 0; x < out; x++) {
            if (!is_nearest(sample_at(&result, x, y, 0), x, in, out) ||
                !is_nearest(sample_at(&result, x, y, 1), y, in, out))
                fail_msg("%s: %d,%d at %d,%d", text, sample_at(&result, x, y, 0),
                         sample_at(&result, x, y, 1), x, y);
        }
    }
    picture_free(&picture);
    picture_free(&result);
}

static void check_nearest_formats(const struct gf_image *in, const void *context)
{
    char text[80];
    snprintf(text, sizeof text, "resize=%d:%d:nearest:linear", 3 * in->format.width,
             5 * in->format.height); /* the light makes no difference */
    struct gf_image out = chain_result(text, in);
    for (int y = 0; y < out.format.height; y++) {
        for (int x = 0; x < out.format.width; x++) {
            for (int c = 0; c < in->format.channels; c++)
                assert_int_equal(sample_at(&out, x, y, c), sample_at(in, x / 3, y / 5, c));
        }
    }
    picture_free(&out);
}

static void test_nearest(void **state)
{
    static const int sizes[][2] = {{1, 1}, {7, 1}, {1, 7}, {30, 9}, {9, 30}, {64, 33}, {90, 91}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_nearest(sizes[i][0], sizes[i][1]);
    each_stage_picture(9000, check_nearest_formats, NULL);
}

/* ---- sizes ---- */

static void test_sizes(void **state)
{
    static const struct {
        const char *text;
        int in_width, in_height, width, height;
    } cases[] = {
        {"resize=100", 400, 300, 100, 75},
        {"resize=h=100", 400, 300, 133, 100},
        {"resize=w=50%", 401, 300, 201, 150},
        {"resize=50%:20%", 400, 300, 200, 60},
        {"resize=50%", 11, 100, 6, 50}, /* of 5.5 columns, before they are rounded */
        {"resize=h=50%", 100, 11, 50, 6},
        {"resize=33%:33%:fit=inside", 1001, 10, 330, 3},
        {"resize=33%:33%:fit=cover", 1001, 10, 330, 3},
        {"resize=33%:50%:fit=inside", 10, 1001, 3, 330},
        {"resize=1", 4000, 3, 1, 1},
        {"resize=100:100", 400, 300, 100, 100},
        {"resize=100:100:fit=fill", 400, 300, 100, 100},
        {"resize=100:100:fit=inside", 400, 300, 100, 75},
        {"resize=100:100:fit=inside", 300, 400, 75, 100},
        {"resize=100:50:fit=inside", 20, 10, 100, 50},
        {"resize=800:800:fit=inside", 400, 300, 800, 600},
        {"resize=100:100:fit=cover", 400, 300, 100, 100},
        {"resize=w=65535:h=1", 77, 55, 65535, 1},
        {"resize=w=1:h=65535", 77, 55, 1, 65535},
        {"resize=0.001%", 77, 55, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gf_chain chain;
        struct gf_stage stage;
        struct gf_error error = {0};
        assert_ok(cases[i].text, gf_chain_parse(cases[i].text, &chain, &error), &error);
        assert_ok(cases[i].text,
                  gf_stage_bind(&stage, chain.item[0].filter, chain.item[0].params,
                                format_of(cases[i].in_width, cases[i].in_height, 3, 8), &error),
                  &error);
        assert_int_equal(stage.out.width, cases[i].width);
        assert_int_equal(stage.out.height, cases[i].height);
        gf_chain_free(&chain);
    }
}

static void test_cover(void **state)
{
    struct gf_image in = picture_random(format_of(60, 31, 3, 8), 0, 8);
    const struct sizes wide = {20, 20, 39, 20}, tall = {50, 10, 50, 26};
    assert_resized("resize=20:20:fit=cover", &in, &wide, 0, false);
    assert_resized("resize=50:10:cubic:fit=cover", &in, &tall, 1, false);
    picture_free(&in);
}

/* A vector of columns picks from 64 bytes: here the last one's later taps lie wholly behind the
 * row, which sanitizers watch. */
static void test_last_vector(void **state)
{
    struct gf_image in = picture_random(format_of(97, 1, 1, 8), 0, 5);
    const struct sizes half = {49, 1, 49, 1};
    assert_resized("resize=50%", &in, &half, 0, false);
    picture_free(&in);
}

static void test_longest(void **state)
{
    struct gf_image in = picture_random(format_of(7, 3, 1, 8), 0, 8);
    const struct sizes wide = {65535, 1, 65535, 1}, tall = {1, 65535, 1, 65535};
    assert_resized("resize=w=65535:h=1", &in, &wide, 0, false);
    assert_resized("resize=w=1:h=65535", &in, &tall, 0, false);
    picture_free(&in);
}

static void test_refused(void **state)
{
    assert_refused("resize", 40, 30, "resize: w or h is missing: pixels, or per cent as in 50%");
    assert_refused("resize=kernel=area", 40, 30,
                   "resize: w or h is missing: pixels, or per cent as in 50%");
    assert_refused("resize=10:box=1 1 3 3", 40, 30, "resize: box needs like=pillow");
    assert_refused("resize=10:reducing_gap=2", 40, 30, "resize: reducing_gap needs like=pillow");
    assert_refused("resize=10:like=pillow:light=linear", 40, 30,
                   "resize: Pillow has no light=linear: like=pillow");
    assert_refused("resize=10:like=pillow:load=reduced", 40, 30,
                   "resize: Pillow has no load=reduced: like=pillow");
    assert_refused("resize=10:like=opencv", 40, 30,
                   "resize: like=opencv needs kernel=linear or kernel=area");
    assert_refused("resize=10:like=cv2:kernel=area:load=reduced", 40, 30,
                   "resize: OpenCV has no load=reduced: like=cv2");
    assert_refused("resize=10:like=cv2:kernel=area:reducing_gap=2", 40, 30,
                   "resize: reducing_gap needs like=pillow");
    assert_refused("resize=10:like=pillow:reducing_gap=0.5", 40, 30,
                   "resize: reducing_gap=0.5 is less than 1");
    assert_refused("resize=10:9:like=pillow:box=1 2 3", 40, 30, "resize: box is not four numbers");
    assert_refused("resize=10:9:like=pillow:box=3 1 3 3", 40, 30,
                   "resize: box is empty: left top right bottom");
    assert_refused("resize=10:9:like=pillow:box=0 0 0 3", 40, 30,
                   "resize: box is empty: left top right bottom");
    assert_refused("resize=10:like=pillow:box=1 1 3 3", 40, 30,
                   "resize: box needs w and h in pixels and fit=fill");
    assert_refused("thumbnail=10:fit=cover:like=pillow", 40, 30,
                   "thumbnail: like=pillow takes fit=inside, and sides from 1 on");
    assert_refused("resize=0", 40, 30, "resize: w=0 is outside 0.001..65535 (columns)");
    assert_refused("resize=65536", 40, 30, "resize: w=65536 is outside 0.001..65535 (columns)");
    assert_refused("resize=60000", 30, 40,
                   "resize: 60000x80000 is larger than 65535 pixels a side");
    assert_refused("resize=1000%", 40, 7000,
                   "resize: 400x70000 is larger than 65535 pixels a side");
    assert_refused("resize=65535:65535:fit=cover", 1, 20000,
                   "resize: 1x20000 is too narrow to cover 65535x65535");
}

/* ---- what the device makes of the tables ---- */

static struct gf_stage prepared(const char *text, struct gf_format format, struct gf_chain *chain)
{
    struct gf_stage stage;
    struct gf_error error = {0};
    assert_ok(text, gf_chain_parse(text, chain, &error), &error);
    assert_ok(text,
              gf_stage_bind(&stage, chain->item[0].filter, chain->item[0].params, format, &error),
              &error);
    assert_ok(text, gf_stage_prepare(&stage, &error), &error);
    return stage;
}

/* Around every change of the sample, and at the ends of buckets. */
static void test_encode_table(void **state)
{
    struct gf_chain chain;
    struct gf_stage stage = prepared("resize=50%:light=linear", format_of(64, 64, 3, 8), &chain);
    const struct gf_resample *const resample = stage.constants;
    const uint32_t *const table =
        (const uint32_t *)gf_resample_ints(stage.constants, resample->walk.encode);
    int doubtful = 0, tried = 0;
    for (uint32_t bits = 0; bits <= 0x3f800000; bits += bits < 0x3b000000 ? 4099 : 67, tried++) {
        const float light = gf_float_of_bits(bits);
        const uint32_t at = gf_bits_of_float(light + GF_RESAMPLE_ENCODE_OFFSET);
        const uint32_t sum = table[gf_resample_encode_bucket(at)] + at;
        if (((sum + GF_RESAMPLE_ENCODE_GUARD) & 65535) <= 2 * GF_RESAMPLE_ENCODE_GUARD)
            doubtful++;
        else if ((int)(sum >> 16) != gf_round_sample(gf_resample_encode(light) * 255.0f, 255.0f))
            fail_msg("light %.9g becomes %u", (double)light, sum >> 16);
    }
    assert_in_range(doubtful, 1, tried / 1000);
    gf_stage_release(&stage);
    gf_chain_free(&chain);
}

static void assert_halves(const char *text, struct gf_format format)
{
    struct gf_chain chain;
    struct gf_stage stage = prepared(text, format, &chain);
    const struct gf_resample *const resample = stage.constants;
    const bool is_half = resample->walk.width_kind == GF_RESAMPLE_HALVES;
    const int reach = resample->walk.reach;
    const int *const start = gf_resample_ints(stage.constants, resample->columns.start);
    const int *const count = gf_resample_ints(stage.constants, resample->columns.count);
    for (int i = 0; is_half && i < stage.out.width; i++) {
        if (start[i] <= 2 * i - reach || start[i] + count[i] > 2 * i + reach + 1)
            fail_msg("%s of %dx%dx%d: column %d is made of pixels %d..%d, with a reach of %d", text,
                     format.width, format.height, format.channels, i, start[i],
                     start[i] + count[i] - 1, reach);
    }
    const float *const weight = gf_resample_floats(stage.constants, resample->columns.weight);
    const int first = reach / 2, taps = resample->columns.taps;
    for (int i = first; is_half && 2 * i + 1 + reach <= format.width; i++) {
        if (start[i] - start[first] != 2 * (i - first) || count[i] != count[first] ||
            memcmp(weight + i * taps, weight + first * taps, sizeof *weight * (size_t)count[i]))
            fail_msg("%s of %dx%dx%d: columns %d and %d have other weights", text, format.width,
                     format.height, format.channels, first, i);
    }
    gf_stage_release(&stage);
    gf_chain_free(&chain);
}

/* The device's threads read as many pixels on both sides of a half's column as the reach says, and
 * take the same weights for all columns that are not at an edge. */
static void test_halves(void **state)
{
    assert_halves("resize=50%:50%", format_of(30000, 16, 3, 8));
    for (int width = 2; width <= 40; width++) {
        for (int height = 1; height <= 16; height++) {
            assert_halves("resize=50%:50%", format_of(width, height, 1, 8));
            assert_halves("resize=50%:50%", format_of(width, height, 3, 16));
            assert_halves("resize=50%:50%:kernel=cubic", format_of(width, height, 3, 8));
            assert_halves("resize=50%:50%:kernel=linear", format_of(width, height, 1, 8));
            assert_halves("resize=50%:50%:light=linear", format_of(width, height, 3, 8));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),      cmocka_unit_test(test_linear_light),
        cmocka_unit_test(test_linear_alpha), cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_sizes),        cmocka_unit_test(test_cover),
        cmocka_unit_test(test_last_vector),  cmocka_unit_test(test_longest),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_encode_table),
        cmocka_unit_test(test_halves),
    };
    return cmocka_run_group_tests_name("resize", tests, NULL, NULL);
}
