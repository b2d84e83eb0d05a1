/* Conversions from HDR against their formulas, which stand here anew, with the C library's pow()
 * and the matrix of ITU-R BT.2087. */
#include "codec/codec_test.h"

#include <math.h>

#include "icc/icc_build.h"
#include "icc/icc_hdr.h"

enum { COLOURS = 100000, BT2020 = 9 };

static double nits_of_pq(double v)
{
    const double p = pow(v, 1 / 78.84375);
    return 10000 * pow(fmax(p - 0.8359375, 0) / (18.8515625 - 18.6875 * p), 1 / 0.1593017578125);
}

static double pq_of_nits(double nits)
{
    const double p = pow(nits / 10000, 0.1593017578125);
    return pow((0.8359375 + 18.8515625 * p) / (1 + 18.6875 * p), 78.84375);
}

static double hlg_scene(double v)
{
    return v <= 0.5 ? v * v / 3 : (exp((v - 0.55991073) / 0.17883277) + 0.28466892) / 12;
}

/* The EETF of BT.2390 from a black of 0. */
static double eetf(double nits, double white, double peak)
{
    const double most = pq_of_nits(peak), goal = pq_of_nits(white) / most, ks = 1.5 * goal - 0.5;
    const double e = pq_of_nits(nits) / most, t = (e - ks) / (1 - ks);
    const double p = (2 * t * t * t - 3 * t * t + 1) * ks + (t * t * t - 2 * t * t + t) * (1 - ks) +
                     (-2 * t * t * t + 3 * t * t) * goal;
    return e < ks ? nits : nits_of_pq(p * most);
}

static double srgb(double v)
{
    return v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055;
}

/* Converts a colour of BT.2020, parts of the full scale, or linear light of BT.709 to sRGB. */
static void convert(const struct gf_tone_wish *wish, const double in[3], double out[3])
{
    static const double to709[3][3] = {{1.660491, -0.587641, -0.072850},
                                       {-0.124550, 1.132900, -0.008349},
                                       {-0.018151, -0.100579, 1.118730}};
    const bool is_linear = wish->hdr[1] == GF_CURVE_LINEAR;
    double v[3], low = 1, high = 1;
    for (int c = 0; c < 3; c++)
        v[c] = is_linear                     ? 203 * in[c]
               : wish->hdr[1] == GF_CURVE_PQ ? nits_of_pq(in[c])
                                             : hlg_scene(in[c]);
    double y = is_linear ? fmax(0.2126390 * v[0] + 0.7151687 * v[1] + 0.0721923 * v[2], 0)
                         : 0.2627 * v[0] + 0.6780 * v[1] + 0.0593 * v[2];
    const double scene = fmax(y, 1e-9);
    if (wish->hdr[1] == GF_CURVE_HLG)
        y = 1000 * pow(scene, 1.2);
    const double toned = fmin(eetf(y, wish->white, fmax(wish->peak, wish->white)) / wish->white, 1);
    for (int i = 0; i < 3; i++) {
        out[i] = 0;
        for (int j = 0; j < 3; j++)
            out[i] += (is_linear ? i == j : to709[i][j]) * v[j] * toned / scene;
        if (out[i] < 0)
            low = fmin(low, toned / (toned - out[i]));
        if (out[i] > 1)
            high = fmin(high, (1 - toned) / (out[i] - toned));
    }
    for (int i = 0; i < 3; i++)
        out[i] = srgb(fmin(fmax(toned + (out[i] - toned) * fmin(low, high), 0), 1));
}

static struct gf_icc_transform *built(const struct gf_tone_wish *wish)
{
    struct gf_icc_transform *transform;
    struct gf_error error = {0};
    assert_int_equal(gf_tone_build(wish, &transform, &error), GF_OK);
    return transform;
}

/* The largest difference of random colours from convert(), in samples. */
static double worst(const struct gf_tone_wish *wish)
{
    struct gf_icc_transform *const transform = built(wish);
    const int most = wish->bits == 8 ? 255 : 65535;
    unsigned seed = 7;
    double off = 0;
    for (int i = 0; i < COLOURS; i++) {
        uint16_t wide[3], wide_out[3];
        unsigned char narrow[3], narrow_out[3];
        float floats[3], floats_out[3];
        double in[3], out[3];
        for (int c = 0; c < 3; c++) {
            wide[c] = (uint16_t)(next_random(&seed) & (unsigned)most);
            narrow[c] = (unsigned char)wide[c];
            in[c] = (double)wide[c] / most;
            if (wish->hdr[1] == GF_CURVE_LINEAR) /* -0.1 .. the peak, dark ones above all */
                in[c] = in[c] * in[c] * in[c] * (wish->peak / 203 + 0.1) - 0.1;
            floats[c] = (float)in[c];
        }
        convert(wish, in, out);
        if (wish->bits == 32) {
            gf_icc_convert_floats(transform, floats, 3, floats_out, 3, 1);
            for (int c = 0; c < 3; c++)
                off = fmax(off, fabs((double)floats_out[c] - out[c]) * most);
            continue;
        }
        gf_icc_convert(transform, wish->bits == 8 ? (void *)narrow : wide, 3,
                       wish->bits == 8 ? (void *)narrow_out : wide_out, 3, 1);
        for (int c = 0; c < 3; c++)
            off = fmax(off, fabs((wish->bits == 8 ? narrow_out[c] : wide_out[c]) - out[c] * most));
    }
    free(transform);
    return off;
}

static void test_formulas(void **state)
{
    for (int i = 0; i < 8; i++) {
        struct gf_tone_wish wish = {.hdr = {BT2020, i & 1 ? GF_CURVE_HLG : GF_CURVE_PQ},
                                    .to = &gf_icc_srgb,
                                    .inputs = 3,
                                    .bits = i & 2 ? 16 : 8,
                                    .white = 203,
                                    .peak = i & 4 ? 1000 : 4000};
        const double off = worst(&wish);
        print_message("# transfer %d, %d bits: at most %.2f off\n", wish.hdr[1], wish.bits, off);
        assert_true(off < (wish.bits == 8 ? 0.75 : 48));
    }
}

static void test_floats(void **state)
{
    for (int i = 0; i < 6; i++) {
        static const unsigned char hdr[3][2] = {
            {BT2020, GF_CURVE_PQ}, {BT2020, GF_CURVE_HLG}, {1, GF_CURVE_LINEAR}};
        const struct gf_tone_wish wish = {.hdr = {hdr[i / 2][0], hdr[i / 2][1]},
                                          .to = &gf_icc_srgb,
                                          .inputs = 3,
                                          .bits = 32,
                                          .white = 203,
                                          .peak = i & 1 ? 1000 : 4000};
        const double off = worst(&wish);
        print_message("# transfer %d, floats: at most %.2f of 65535 off\n", wish.hdr[1], off);
        assert_true(off < 48);
    }
    /* NaN stays, infinite light is white, darkness below 0 is black; gray is as colour. */
    struct gf_tone_wish wish = {.hdr = {1, GF_CURVE_LINEAR},
                                .to = &gf_icc_display_p3,
                                .inputs = 3,
                                .bits = 32,
                                .white = 203,
                                .peak = 10000};
    const float in[] = {NAN, 1, 1, INFINITY, INFINITY, INFINITY, -INFINITY, -1, -2, 0, 0, 0};
    float out[12], gray[12];
    struct gf_icc_transform *transform = built(&wish);
    gf_icc_convert_floats(transform, in, 3, out, 3, 4);
    free(transform);
    for (int i = 0; i < 12; i++)
        assert_true(i < 3 ? isnan(out[i]) : fabs((double)out[i] - (i < 6)) < 1e-6);
    wish.inputs = 1;
    transform = built(&wish);
    gf_icc_convert_floats(transform, in, 1, gray, 1, 12);
    free(transform);
    assert_true(isnan(gray[0]) && fabs((double)gray[3] - 1) < 1e-6 && gray[6] == 0);
    assert_true(gray[1] > 0.5f && gray[1] <= 1);
}

/* A picture whose brightest sample is white is an ordinary picture in other clothes. */
static void test_ordinary_pictures_stay(void **state)
{
    const struct gf_tone_wish wish = {.hdr = {BT2020, GF_CURVE_PQ},
                                      .to = &gf_icc_srgb,
                                      .inputs = 3,
                                      .bits = 16,
                                      .white = 203,
                                      .peak = 203};
    struct gf_icc_transform *const transform = built(&wish);
    for (int v = 0; v < 256; v++) {
        const double s = v / 255.0,
                     light = s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
        const uint16_t sample = (uint16_t)(pq_of_nits(203 * light) * 65535 + 0.5);
        uint16_t in[3] = {sample, sample, sample}, out[3];
        gf_icc_convert(transform, in, 3, out, 3, 1);
        for (int c = 0; c < 3; c++)
            assert_in_range(out[c] + 64, v * 257, v * 257 + 128);
    }
    free(transform);
}

static void test_luminances(void **state)
{
    assert_true(fabs(gf_tone_luminance(GF_CURVE_PQ, 0.5807) - 203) < 0.2);
    assert_true(fabs(gf_tone_luminance(GF_CURVE_PQ, 1) - 10000) < 1e-6);
    assert_true(fabs(gf_tone_luminance(GF_CURVE_HLG, 0.75) - 203) < 0.5);
    assert_true(fabs(gf_tone_luminance(GF_CURVE_HLG, 1) - 1000) < 1e-3);
    assert_true(gf_tone_luminance(GF_CURVE_PQ, 0) == 0);
}

static void test_gray(void **state)
{
    struct gf_tone_wish wish = {.hdr = {BT2020, GF_CURVE_HLG},
                                .to = &gf_icc_srgb,
                                .inputs = 1,
                                .bits = 8,
                                .white = 203,
                                .peak = 1000};
    struct gf_icc_transform *const gray = built(&wish);
    wish.inputs = 3;
    struct gf_icc_transform *const colour = built(&wish);
    for (int v = 0; v < 256; v++) {
        const unsigned char in[3] = {(unsigned char)v, (unsigned char)v, (unsigned char)v};
        unsigned char one, three[3];
        gf_icc_convert(gray, in, 1, &one, 1, 1);
        gf_icc_convert(colour, in, 3, three, 3, 1);
        assert_in_range(three[1] + 1, one, one + 2);
        assert_true(three[0] == three[1] && three[1] == three[2]);
    }
    free(gray);
    free(colour);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_formulas),
                                       cmocka_unit_test(test_ordinary_pictures_stay),
                                       cmocka_unit_test(test_luminances),
                                       cmocka_unit_test(test_gray), cmocka_unit_test(test_floats)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
