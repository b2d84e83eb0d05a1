/* Conversions of floats between ICC profiles against their formulas in double precision. Without
 * Little CMS nothing is converted. */
#include "support.h"

#include <math.h>

#include "icc/icc_build.h"

#ifdef GF_WITH_LCMS
#include <lcms2.h>

enum { PIXELS = 1000 };

static struct gf_error failure;

/* Colours of -8..8, more of them near 0, and at the ends those that are not finite. */
static float *make_colours(void)
{
    float *const in = malloc(PIXELS * 3 * sizeof *in);
    uint64_t seed = 5;
    assert_non_null(in);
    for (int i = 0; i < PIXELS * 3; i++) {
        const float v = (float)random_below(&seed, 20001) / 10000 - 1;
        in[i] = 8 * v * v * v;
    }
    return in;
}

static float *converted(struct gf_icc from, struct gf_icc to, int inputs, int outputs,
                        const float *in, int kind)
{
    const struct gf_icc_wish wish = {from, to, inputs, outputs, 32, GF_ICC_RELATIVE, true};
    struct gf_icc_transform *transform;
    float *const out = malloc((size_t)(PIXELS * outputs) * sizeof *out), alone[4];
    assert_non_null(out);
    assert_ok("transform", gf_icc_build(&wish, &transform, &failure), &failure);
    assert_int_equal(transform->kind, kind);
    assert_true(gf_icc_transform_fits(transform, transform->bytes, &wish));
    gf_icc_convert_floats(transform, in, inputs, out, outputs, PIXELS);
    for (int i = 0; i < PIXELS; i += 7) {
        gf_icc_convert_floats(transform, in + i * inputs, inputs, alone, outputs, 1);
        assert_memory_equal(alone, out + i * outputs, (size_t)outputs * sizeof *out);
    }
    free(transform);
    return out;
}

static void assert_near(const char *what, double own, double exact, double relative)
{
    if (!(fabs(own - exact) <= relative * (1 + fabs(exact))))
        fail_msg("%s: %.9g instead of %.9g", what, own, exact);
}

static double mirrored(double v, double (*of)(double size))
{
    return v < 0 ? -of(-v) : of(v);
}

static double srgb_light(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double light_srgb(double v)
{
    return v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055;
}

/* Profiles have numbers of 1/65536, so that curves and matrices differ by as much. */
static void test_named(void **state)
{
    static const double ap1[3][3] = {{0.6130974, 0.3395231, 0.0473795},
                                     {0.0701937, 0.9163539, 0.0134523},
                                     {0.0206156, 0.1095698, 0.8698147}};
    const struct gf_icc srgb = gf_icc_named("srgb", false),
                        linear = gf_icc_named("linear-srgb", false),
                        aces = gf_icc_named("ACEScg", false);
    float *const in = make_colours();
    float *const light = converted(srgb, linear, 3, 3, in, GF_ICC_FLOATS),
                 *const coded = converted(linear, srgb, 3, 3, in, GF_ICC_FLOATS),
                 *const back = converted(linear, srgb, 3, 3, light, GF_ICC_FLOATS),
                 *const wide = converted(srgb, aces, 3, 3, in, GF_ICC_FLOATS),
                 *const narrow = converted(aces, srgb, 3, 3, wide, GF_ICC_FLOATS);
    for (int i = 0; i < PIXELS * 3; i++) {
        const double v = (double)in[i];
        assert_near("light", (double)light[i], mirrored(v, srgb_light), 6e-5);
        assert_near("coded", (double)coded[i], mirrored(v, light_srgb), 6e-5);
        assert_near("back", (double)back[i], v, 2e-6);
        const double *const m = ap1[i % 3];
        const float *const p = in + i / 3 * 3;
        double sum = 0, most = 0;
        for (int c = 0; c < 3; c++) {
            most = fmax(most, fabs((double)p[c]));
            sum += m[c] * mirrored((double)p[c], srgb_light);
        }
        assert_near("wide", (double)wide[i], sum, 1e-5 + 3e-5 * srgb_light(most));
        /* The sums of light round to parts of the greatest. */
        assert_near("narrow", (double)narrow[i], v, 1e-5 + 2e-6 * srgb_light(most));
    }
    free(in);
    free(light);
    free(coded);
    free(back);
    free(wide);
    free(narrow);
}

static void test_odd_numbers(void **state)
{
    const struct gf_icc srgb = gf_icc_named("srgb", false),
                        linear = gf_icc_named("linear-srgb", false),
                        aces = gf_icc_named("acescg", false);
    float *const in = calloc(PIXELS * 3, sizeof *in);
    assert_non_null(in);
    in[0] = NAN;
    in[3] = INFINITY;
    in[4] = -INFINITY;
    in[5] = -0.0f;
    in[6] = INFINITY;
    in[9] = 1e-42f;
    float *const light = converted(srgb, linear, 3, 3, in, GF_ICC_FLOATS), *const wide = converted(
                                                                               linear, aces, 3, 3,
                                                                               in, GF_ICC_FLOATS);
    assert_true(isnan(light[0]) && light[1] == 0 && light[2] == 0);
    assert_true(light[3] == INFINITY && light[4] == -INFINITY && light[5] == 0);
    assert_true(light[6] == INFINITY && light[7] == 0 && light[8] == 0);
    assert_true(isnan(wide[0]) && isnan(wide[1]) && isnan(wide[2]));
    assert_true(wide[6] == INFINITY && wide[7] == INFINITY && wide[8] == INFINITY);
    assert_true(wide[12] == 0 && wide[13] == 0 && wide[14] == 0);
    free(in);
    free(light);
    free(wide);
}

static struct gf_icc saved(cmsHPROFILE profile)
{
    cmsUInt32Number size = 0;
    assert_true(profile && cmsSaveProfileToMem(profile, NULL, &size));
    unsigned char *const data = malloc(size);
    assert_true(data && cmsSaveProfileToMem(profile, data, &size));
    cmsCloseProfile(profile);
    return (struct gf_icc){.data = data, .size = size};
}

static struct gf_icc profile_of(cmsToneCurve *curve, double version)
{
    const cmsCIExyY white = {0.3457, 0.3585, 1};
    const cmsCIExyYTRIPLE primaries = {{0.64, 0.33, 1}, {0.21, 0.71, 1}, {0.15, 0.06, 1}};
    cmsToneCurve *const curves[3] = {curve, curve, curve};
    cmsHPROFILE const profile = cmsCreateRGBProfile(&white, &primaries, curves);
    cmsSetProfileVersion(profile, version);
    cmsFreeToneCurve(curve);
    return saved(profile);
}

enum { POINTS = 101 };

static double point_of(int i)
{
    const double v = (double)i / (POINTS - 1);
    return floor(v * v * 65535 + 0.5) / 65535;
}

static double by_points(double v)
{
    const int i = v * (POINTS - 1) < POINTS - 2 ? (int)(v * (POINTS - 1)) : POINTS - 2;
    return point_of(i) + (v * (POINTS - 1) - i) * (point_of(i + 1) - point_of(i));
}

static double by_power(double v)
{
    return pow(v, 2.25);
}

/* A curve of ICC.1's type 4, from 0.1 on a power, below it a line. */
static const double parameters[] = {3, 0.9, 0.1, 0.25, 0.1, 0.019, 0};

static double by_parameters(double v)
{
    return v >= 0.1 ? pow(0.9 * v + 0.1, 3) + 0.019 : 0.25 * v;
}

static void test_curves(void **state)
{
    cmsUInt16Number table[POINTS];
    for (int i = 0; i < POINTS; i++)
        table[i] = (cmsUInt16Number)(point_of(i) * 65535 + 0.5);
    const struct {
        double (*of)(double v);
        struct gf_icc icc;
    } curves[] = {
        {by_power, profile_of(cmsBuildGamma(NULL, 2.25), 4.2)},
        {by_power, profile_of(cmsBuildGamma(NULL, 2.25), 2.1)},
        {by_parameters, profile_of(cmsBuildParametricToneCurve(NULL, 5, parameters), 4.2)},
        {by_points, profile_of(cmsBuildTabulatedToneCurve16(NULL, POINTS, table), 2.1)},
    };
    const struct gf_icc linear = profile_of(cmsBuildGamma(NULL, 1), 4.2);
    float *const in = make_colours();
    for (size_t k = 0; k < sizeof curves / sizeof *curves; k++) {
        float *const light = converted(curves[k].icc, linear, 3, 3, in, GF_ICC_FLOATS),
                     *const back = converted(linear, curves[k].icc, 3, 3, light, GF_ICC_FLOATS);
        for (int i = 0; i < PIXELS * 3; i++) {
            const double v = (double)in[i];
            assert_near("light", (double)light[i], mirrored(v, curves[k].of), 5e-5);
            if (fabs(v) > 0.11) /* this curve jumps at 0.1, and others are flat at 0 */
                assert_near("back", (double)back[i], v, 1e-5);
        }
        free(light);
        free(back);
        free((void *)curves[k].icc.data);
    }
    free((void *)linear.data);
    free(in);
}

static void test_gray(void **state)
{
    const struct gf_icc srgb = gf_icc_named("srgb", true), linear = gf_icc_named("acescg", true),
                        colour = gf_icc_named("srgb", false);
    float *const in = make_colours();
    float *const light = converted(srgb, linear, 1, 1, in, GF_ICC_FLOATS),
                 *const rgb = converted(linear, colour, 1, 3, light, GF_ICC_FLOATS),
                 *const back = converted(colour, srgb, 3, 1, rgb, GF_ICC_FLOATS);
    for (int i = 0; i < PIXELS; i++) {
        assert_near("light", (double)light[i], mirrored((double)in[i], srgb_light), 6e-5);
        for (int c = 0; c < 3; c++)
            assert_near("gray", (double)rgb[3 * i + c], (double)in[i], 1e-5);
        assert_near("back", (double)back[i], (double)in[i], 1e-5);
    }
    free(in);
    free(light);
    free(rgb);
    free(back);
}

/* What is more than curves and a matrix is computed with samples of 16 bits. */
static void test_tables(void **state)
{
    const struct gf_icc srgb = gf_icc_named("srgb", false), p3 = gf_icc_named("display-p3", false);
    cmsHPROFILE const from = cmsOpenProfileFromMem(srgb.data, (cmsUInt32Number)srgb.size),
                      to = cmsOpenProfileFromMem(p3.data, (cmsUInt32Number)p3.size);
    cmsHTRANSFORM const both = cmsCreateTransform(from, TYPE_RGB_16, to, TYPE_RGB_16, 1, 0);
    const struct gf_icc link =
        saved(cmsTransform2DeviceLink(both, 4.2, cmsFLAGS_FORCE_CLUT | cmsFLAGS_NOOPTIMIZE));
    float *const in = make_colours();
    in[0] = NAN;
    uint16_t words[PIXELS * 3], own[PIXELS * 3];
    for (int i = 0; i < PIXELS * 3; i++)
        words[i] = (uint16_t)(fmin(fmax((double)in[i], 0), 1) * 65535 + 0.5);
    struct gf_icc_wish wish = {{0}, link, 3, 3, 16, GF_ICC_RELATIVE, true};
    struct gf_icc_transform *transform;
    assert_ok("transform", gf_icc_build(&wish, &transform, &failure), &failure);
    gf_icc_convert(transform, words, 3, own, 3, PIXELS);
    float *const out = converted((struct gf_icc){0}, link, 3, 3, in, transform->kind);
    for (int i = 3; i < PIXELS * 3; i++)
        assert_true(fabs((double)out[i] - own[i] / 65535.0) < 2.0 / 65535);
    assert_true(isnan(out[0]) && isnan(out[1]) && isnan(out[2]));
    free(transform);
    free(out);
    free(in);
    free((void *)link.data);
    cmsDeleteTransform(both);
    cmsCloseProfile(from);
    cmsCloseProfile(to);
}

/* Whatever stands in a block of a cell: it is refused, or its conversion reads nothing else. */
static void test_changed(void **state)
{
    cmsUInt16Number table[POINTS];
    for (int i = 0; i < POINTS; i++)
        table[i] = (cmsUInt16Number)(point_of(i) * 65535 + 0.5);
    const struct gf_icc bent = profile_of(cmsBuildTabulatedToneCurve16(NULL, POINTS, table), 2.1);
    const struct gf_icc_wish wish = {bent, gf_icc_named("srgb", false), 3, 3, 32, 1, true};
    static const uint32_t numbers[] = {0, 1, 2, 65536, 65537, 0x7fc00000, 0x7fffffff, 0xffffffff};
    struct gf_icc_transform *transform;
    float *const in = make_colours(), *const out = malloc(PIXELS * 3 * sizeof *out);
    uint64_t seed = 3;
    int refused = 0;
    assert_ok("transform", gf_icc_build(&wish, &transform, &failure), &failure);
    const size_t size = transform->bytes;
    unsigned char *const changed = malloc(size);
    assert_true(changed && out);
    for (int i = 0; i < 3000; i++) {
        memcpy(changed, transform, size);
        for (int k = 0; k < 2; k++)
            memcpy(changed + random_below(&seed, 150) * 4, &numbers[random_below(&seed, 8)], 4);
        const struct gf_icc_transform *const t = (const void *)changed;
        if (gf_icc_transform_fits(t, size, &wish))
            gf_icc_convert_floats(t, in, 3, out, 3, 50);
        else
            refused++;
    }
    assert_true(refused > 100 && refused < 2900);
    free(changed);
    free(transform);
    free(in);
    free(out);
    free((void *)bent.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_named),  cmocka_unit_test(test_odd_numbers),
        cmocka_unit_test(test_curves), cmocka_unit_test(test_gray),
        cmocka_unit_test(test_tables), cmocka_unit_test(test_changed),
    };
    return cmocka_run_group_tests_name("icc floats", tests, NULL, NULL);
}
#else
static void test_without_little_cms(void **state)
{
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_little_cms)};
    return cmocka_run_group_tests_name("icc floats", tests, NULL, NULL);
}
#endif
