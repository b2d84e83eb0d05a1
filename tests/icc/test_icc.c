/* Conversions between ICC profiles against Little CMS itself, and the profiles that the project
 * makes. Without Little CMS nothing is converted, which is tested then. */
#include "codec/codec_test.h"

#include "base/threads/times.h"
#include "icc/icc_build.h"
#include "icc/icc.h"

#ifdef GF_WITH_LCMS
#include <stdio.h> /* before jpeglib.h, which needs it */
#include <jpeglib.h>
#include <lcms2.h>
#include <sys/resource.h>

enum { SAMPLES = 200000 };

static uint32_t draw(void)
{
    static unsigned seed = 12345;
    return next_random(&seed) & 0xffff;
}

/* ---- profiles ---- */

static struct gf_icc saved(cmsHPROFILE profile)
{
    cmsUInt32Number size = 0;
    assert_true(profile && cmsSaveProfileToMem(profile, NULL, &size));
    unsigned char *const data = malloc(size);
    assert_true(data && cmsSaveProfileToMem(profile, data, &size));
    cmsCloseProfile(profile);
    return (struct gf_icc){.data = data, .size = size};
}

static struct gf_icc matrix_profile(double gamma, bool tables, bool apart)
{
    const cmsCIExyY white = {0.3457, 0.3585, 1};
    const cmsCIExyYTRIPLE wide = {{0.64, 0.33, 1}, {0.21, 0.71, 1}, {0.15, 0.06, 1}};
    cmsToneCurve *curve[3];
    cmsUInt16Number table[1024];
    for (int c = 0; c < 3; c++) {
        const double power = gamma + (apart ? 0.1 * c : 0);
        for (int i = 0; i < 1024; i++)
            table[i] = (cmsUInt16Number)(pow(i / 1023.0, power) * 65535 + 0.5);
        curve[c] =
            tables ? cmsBuildTabulatedToneCurve16(NULL, 1024, table) : cmsBuildGamma(NULL, power);
    }
    const struct gf_icc icc = saved(cmsCreateRGBProfile(&white, &wide, curve));
    for (int c = 0; c < 3; c++)
        cmsFreeToneCurve(curve[c]);
    return icc;
}

/* What a scanner or printer does, roughly: smooth, bent, with channels that leak into each other.
 */
static cmsInt32Number to_lab(const cmsUInt16Number in[], cmsUInt16Number out[], void *cargo)
{
    const int channels = *(const int *)cargo;
    double v[4];
    for (int c = 0; c < channels; c++)
        v[c] = in[c] / 65535.0;
    const double black = channels == 4 ? 1 - v[3] * 0.92 : 1;
    double r = v[0], g = v[1], b = v[2];
    if (channels == 4)
        r = 1 - 0.9 * v[0], g = 1 - 0.85 * v[1], b = 1 - 0.9 * v[2];
    const double light = pow(0.25 * r + 0.6 * g + 0.15 * b, 0.8) * black;
    cmsCIELab lab = {100 * light, 60 * (r - g) * (0.3 + 0.7 * light) * black,
                     50 * (0.5 * (r + g) - b) * (0.3 + 0.7 * light) * black};
    cmsFloat2LabEncoded(out, &lab);
    return TRUE;
}

static cmsInt32Number to_xyz(const cmsUInt16Number in[], cmsUInt16Number out[], void *cargo)
{
    cmsCIELab lab;
    cmsCIEXYZ xyz;
    to_lab(in, out, cargo);
    cmsLabEncoded2Float(&lab, out);
    cmsLab2XYZ(NULL, &xyz, &lab);
    cmsFloat2XYZEncoded(out, &xyz);
    return TRUE;
}

static cmsInt32Number from_lab(const cmsUInt16Number in[], cmsUInt16Number out[], void *cargo)
{
    cmsCIELab lab;
    cmsLabEncoded2Float(&lab, in);
    const double l = lab.L / 100, v[3] = {l + lab.a / 200, l - lab.a / 220, l - lab.b / 200};
    for (int c = 0; c < 3; c++)
        out[c] = (cmsUInt16Number)(fmin(fmax(v[c], 0), 1) * 65535 + 0.5);
    return TRUE;
}

static cmsInt32Number to_inks(const cmsUInt16Number in[], cmsUInt16Number out[], void *cargo)
{
    cmsUInt16Number light[3];
    from_lab(in, light, cargo);
    const int least = light[0] > light[1] ? light[0] : light[1],
              black = (65535 - (least > light[2] ? least : light[2])) * 3 / 4;
    for (int c = 0; c < 3; c++)
        out[c] = (cmsUInt16Number)(65535 - light[c] - black / 2);
    out[3] = (cmsUInt16Number)black;
    return TRUE;
}

/* A table between curves, which are straight lines but for `bent`. */
static cmsPipeline *bent_table_of(int inputs, int outputs, int points, cmsSAMPLER16 sampler,
                                  double bent)
{
    cmsToneCurve *const curve = cmsBuildGamma(NULL, bent),
                        *curves[4] = {curve, curve, curve, curve};
    cmsPipeline *const pipeline =
        cmsPipelineAlloc(NULL, (cmsUInt32Number)inputs, (cmsUInt32Number)outputs);
    cmsStage *const stage = cmsStageAllocCLut16bit(
        NULL, (cmsUInt32Number)points, (cmsUInt32Number)inputs, (cmsUInt32Number)outputs, NULL);
    assert_true(cmsStageSampleCLut16bit(stage, sampler, &inputs, 0));
    assert_true(cmsPipelineInsertStage(
        pipeline, cmsAT_END,
        cmsStageAllocToneCurves(NULL, (cmsUInt32Number)inputs, bent != 1 ? curves : NULL)));
    assert_true(cmsPipelineInsertStage(pipeline, cmsAT_END, stage));
    assert_true(cmsPipelineInsertStage(
        pipeline, cmsAT_END,
        cmsStageAllocToneCurves(NULL, (cmsUInt32Number)outputs, bent != 1 ? curves : NULL)));
    cmsFreeToneCurve(curve);
    return pipeline;
}

static cmsPipeline *table_of(int inputs, int points, cmsSAMPLER16 sampler)
{
    return bent_table_of(inputs, 3, points, sampler, 1);
}

static struct gf_icc profile_of(int inputs, double version, double bent)
{
    cmsHPROFILE const profile = cmsCreateProfilePlaceholder(NULL);
    cmsSetProfileVersion(profile, version);
    cmsSetDeviceClass(profile, cmsSigOutputClass);
    cmsSetColorSpace(profile, inputs == 3 ? cmsSigRgbData : cmsSigCmykData);
    cmsSetPCS(profile, cmsSigLabData);
    assert_true(cmsWriteTag(profile, cmsSigMediaWhitePointTag, cmsD50_XYZ()));
    cmsPipeline *const a2b = table_of(inputs, inputs == 3 ? 17 : 9, to_lab);
    assert_true(cmsWriteTag(profile, cmsSigAToB0Tag, a2b));
    cmsPipelineFree(a2b);
    cmsPipeline *const b2a = bent_table_of(3, inputs, 33, inputs == 3 ? from_lab : to_inks, bent);
    assert_true(cmsWriteTag(profile, cmsSigBToA0Tag, b2a));
    cmsPipelineFree(b2a);
    return saved(profile);
}

/* A scanner whose table leads to XYZ. */
static struct gf_icc xyz_profile(void)
{
    cmsHPROFILE const profile = cmsCreateProfilePlaceholder(NULL);
    cmsPipeline *const a2b = table_of(3, 33, to_xyz);
    cmsSetProfileVersion(profile, 4.2);
    cmsSetDeviceClass(profile, cmsSigInputClass);
    cmsSetColorSpace(profile, cmsSigRgbData);
    cmsSetPCS(profile, cmsSigXYZData);
    assert_true(cmsWriteTag(profile, cmsSigMediaWhitePointTag, cmsD50_XYZ()));
    assert_true(cmsWriteTag(profile, cmsSigAToB0Tag, a2b));
    cmsPipelineFree(a2b);
    return saved(profile);
}

static struct gf_icc table_profile(int inputs)
{
    return profile_of(inputs, 4.2, 1);
}

/* ---- the comparison ---- */

static cmsUInt32Number type_of(int channels, int bits)
{
    return (cmsUInt32Number)(BYTES_SH(bits / 8) | CHANNELS_SH(channels) |
                             COLORSPACE_SH(channels == 1   ? PT_GRAY
                                           : channels == 3 ? PT_RGB
                                                           : PT_CMYK));
}

struct difference {
    int most;
    double beyond_one; /* part of the samples */
};

/* Colours at random, along the axes and near black. */
static void fill(void *samples, int channels, int bits)
{
    for (int i = 0; i < SAMPLES; i++) {
        const uint32_t common = draw();
        for (int c = 0; c < channels; c++) {
            uint32_t v = i % 4 == 0 ? common : draw();
            v = i % 8 == 1 ? v / 16 : i % 8 == 2 ? (v & 1 ? 0 : 65535) : v;
            if (bits == 8)
                ((unsigned char *)samples)[i * channels + c] = (unsigned char)(v >> 8);
            else
                ((uint16_t *)samples)[i * channels + c] = (uint16_t)v;
        }
    }
}

static struct difference compare(const struct gf_icc_wish *wish, cmsUInt32Number flags, int samples)
{
    struct difference difference = {0};
    struct gf_icc_transform *transform = NULL;
    uint16_t *const in = malloc(SAMPLES * 4 * 2), *const own = malloc(SAMPLES * 4 * 2),
                    *const theirs = malloc(SAMPLES * 4 * 2);
    /* Without a source the target is a device link, which Little CMS takes alone. */
    const struct gf_icc first = wish->from.size ? wish->from : wish->to;
    cmsHPROFILE const from = cmsOpenProfileFromMem(first.data, (cmsUInt32Number)first.size),
                      to = wish->from.size ? cmsOpenProfileFromMem(wish->to.data,
                                                                   (cmsUInt32Number)wish->to.size)
                                           : NULL;
    cmsHTRANSFORM const reference =
        cmsCreateTransform(from, type_of(wish->inputs, wish->bits), to,
                           type_of(wish->outputs, wish->bits), (cmsUInt32Number)wish->intent,
                           flags | (wish->black_point ? cmsFLAGS_BLACKPOINTCOMPENSATION : 0));
    assert_true(reference && in && own && theirs);
    assert_int_equal(gf_icc_build(wish, &transform, &failure), GF_OK);
    fill(in, wish->inputs, wish->bits);
    cmsDoTransform(reference, in, theirs, (cmsUInt32Number)samples);
    gf_icc_convert(transform, in, wish->inputs, own, wish->outputs, samples);
    for (int i = 0; i < samples * wish->outputs; i++) {
        const int d = wish->bits == 8
                          ? abs(((unsigned char *)own)[i] - ((unsigned char *)theirs)[i])
                          : abs(own[i] - theirs[i]);
        difference.most = d > difference.most ? d : difference.most;
        difference.beyond_one += (d > 1) / (double)(samples * wish->outputs);
    }
    cmsDeleteTransform(reference);
    cmsCloseProfile(from);
    if (to)
        cmsCloseProfile(to);
    free(transform);
    free(theirs);
    free(own);
    free(in);
    return difference;
}

/* Against every step of the profiles, in floats. Little CMS's own short cuts are further from that
 * than the project is: they are compared, too, where they are matrices, whose light it holds in
 * steps of 1 / 16384, which shows near black. GF_ICC_PRINT in the environment prints all. */
static void assert_close(const char *what, struct gf_icc_wish wish, bool shortened, int most_16)
{
    for (int exact = 0; exact <= 1; exact++) {
        for (wish.bits = 8; wish.bits <= 16; wish.bits += 8) {
            const struct difference d =
                compare(&wish, exact ? cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE : 0, SAMPLES);
            if (getenv("GF_ICC_PRINT"))
                print_message("%s, intent %d, %d bits, %s: at most %d, beyond 1: %.5f %%\n", what,
                              wish.intent, wish.bits, exact ? "every step" : "as shortened", d.most,
                              100 * d.beyond_one);
            if (wish.bits == 8 && (exact || shortened) &&
                (d.most > 3 || d.beyond_one > (exact ? 0.001 : 0.01)))
                fail_msg("%s: 8 bits differ by %d, %.4f %% by more than 1", what, d.most,
                         100 * d.beyond_one);
            if (wish.bits == 16 && exact && d.most > most_16)
                fail_msg("%s: 16 bits differ by %d, more than %d", what, d.most, most_16);
        }
    }
}

/* No sample of 8 bits is further than 1 from every step of the profiles, and none of 16 bits than
 * an eighth of that. */
static void assert_within_one(const char *what, struct gf_icc_wish wish)
{
    for (wish.bits = 8; wish.bits <= 16; wish.bits += 8) {
        const struct difference d =
            compare(&wish, cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE, SAMPLES / 8);
        if (getenv("GF_ICC_PRINT"))
            print_message("%s, intent %d, %d bits: at most %d\n", what, wish.intent, wish.bits,
                          d.most);
        if (d.most > (wish.bits == 8 ? 1 : 32))
            fail_msg("%s, intent %d: %d bits differ by %d", what, wish.intent, wish.bits, d.most);
    }
}

static void test_matrices(void **state)
{
    const struct gf_icc srgb = gf_icc_named("srgb", false), p3 = gf_icc_named("display-p3", false);
    const struct gf_icc wide = matrix_profile(2.2, false, false),
                        tables = matrix_profile(1.8, true, true);
    for (int intent = 0; intent <= GF_ICC_ABSOLUTE; intent++) {
        const struct gf_icc_wish wish = {srgb, p3, 3, 3, 8, intent, true};
        assert_close("sRGB to Display P3", wish, true, 16);
    }
    assert_close("Display P3 to sRGB", (struct gf_icc_wish){p3, srgb, 3, 3, 8, 1, true}, true, 16);
    assert_close("sRGB to gamma 2.2", (struct gf_icc_wish){srgb, wide, 3, 3, 8, 1, false}, true,
                 64);
    assert_close("gamma 2.2 to sRGB", (struct gf_icc_wish){wide, srgb, 3, 3, 8, 1, true}, true, 16);
    assert_close("tables to sRGB", (struct gf_icc_wish){tables, srgb, 3, 3, 8, 0, true}, true, 16);
    assert_close("sRGB to tables", (struct gf_icc_wish){srgb, tables, 3, 3, 8, 1, true}, true, 64);
    free((void *)wide.data);
    free((void *)tables.data);
}

static void test_gray(void **state)
{
    const struct gf_icc gray = gf_icc_named("srgb", true), p3 = gf_icc_named("display-p3", true),
                        colour = gf_icc_named("display-p3", false);
    assert_close("gray to gray", (struct gf_icc_wish){gray, p3, 1, 1, 8, 1, true}, true, 1);
    assert_close("gray to RGB", (struct gf_icc_wish){gray, colour, 1, 3, 8, 1, true}, true, 1);
    assert_close("RGB to gray", (struct gf_icc_wish){colour, gray, 3, 1, 8, 1, true}, true, 100);
}

static void test_tables(void **state)
{
    const struct gf_icc srgb = gf_icc_named("srgb", false);
    const struct gf_icc scanner = table_profile(3), press = table_profile(4), xyz = xyz_profile();
    assert_close("a table of XYZ to sRGB", (struct gf_icc_wish){xyz, srgb, 3, 3, 8, 1, false},
                 false, 400);
    free((void *)xyz.data);
    for (int intent = 0; intent <= GF_ICC_ABSOLUTE; intent++)
        assert_close("a table to sRGB",
                     (struct gf_icc_wish){scanner, srgb, 3, 3, 8, intent, intent != 3}, false, 400);
    assert_close("sRGB to a table", (struct gf_icc_wish){srgb, scanner, 3, 3, 8, 0, true}, false,
                 400);
    assert_close("CMYK to sRGB", (struct gf_icc_wish){press, srgb, 4, 3, 8, 1, true}, false, 2000);
    free((void *)scanner.data);
    free((void *)press.data);
}

/* From RGB to the inks of a press, by tables of both versions, with curves and without. */
static void test_inks_out(void **state)
{
    static const double versions[] = {2.1, 4.2}, bends[] = {1, 1.4};
    const struct gf_icc srgb = gf_icc_named("srgb", false), gray = gf_icc_named("srgb", true),
                        wide = matrix_profile(1.8, true, true), scanner = table_profile(3);
    for (int i = 0; i < 4; i++) {
        const struct gf_icc press = profile_of(4, versions[i / 2], bends[i % 2]);
        for (int intent = 0; intent <= GF_ICC_ABSOLUTE; intent++)
            assert_within_one("sRGB to inks",
                              (struct gf_icc_wish){srgb, press, 3, 4, 8, intent, intent != 3});
        assert_within_one("to inks, black as it is",
                          (struct gf_icc_wish){wide, press, 3, 4, 8, 1, false});
        assert_within_one("gray to inks", (struct gf_icc_wish){gray, press, 1, 4, 8, 1, true});
        if (!i)
            assert_close("a table to inks", (struct gf_icc_wish){scanner, press, 3, 4, 8, 1, true},
                         false, 1000);
        free((void *)press.data);
    }
    free((void *)wide.data);
    free((void *)scanner.data);
}

/* From the tables of scanners and presses to RGB, of both versions. */
static void test_tables_within_one(void **state)
{
    const struct gf_icc srgb = gf_icc_named("srgb", false), wide = matrix_profile(1.8, true, true);
    for (int i = 0; i < 4; i++) {
        const struct gf_icc scanner = profile_of(3, i & 1 ? 4.2 : 2.1, i & 2 ? 1.4 : 1),
                            press = profile_of(4, i & 1 ? 4.2 : 2.1, i & 2 ? 1.4 : 1);
        for (int intent = 0; intent <= GF_ICC_ABSOLUTE; intent += 1 + i % 2)
            assert_within_one("inks to sRGB",
                              (struct gf_icc_wish){press, srgb, 4, 3, 8, intent, intent != 3});
        assert_within_one("inks to gamma 1.8",
                          (struct gf_icc_wish){press, wide, 4, 3, 8, 1, false});
        assert_within_one("a table to sRGB", (struct gf_icc_wish){scanner, srgb, 3, 3, 8, 1, true});
        free((void *)scanner.data);
        free((void *)press.data);
    }
    free((void *)wide.data);
}

/* The link that Little CMS makes of a conversion. */
static struct gf_icc link_between(struct gf_icc from, int inputs, struct gf_icc to, int outputs,
                                  double version)
{
    cmsHPROFILE const a = cmsOpenProfileFromMem(from.data, (cmsUInt32Number)from.size),
                      b = cmsOpenProfileFromMem(to.data, (cmsUInt32Number)to.size);
    cmsHTRANSFORM const transform =
        cmsCreateTransform(a, type_of(inputs, 16), b, type_of(outputs, 16), 1, 0);
    assert_non_null(transform);
    const struct gf_icc link = saved(cmsTransform2DeviceLink(transform, version, 0));
    cmsDeleteTransform(transform);
    cmsCloseProfile(a);
    cmsCloseProfile(b);
    return link;
}

/* Device links apply alone: RGB to RGB, by curves alone as well, RGB to CMYK and CMYK to RGB. */
static void test_links(void **state)
{
    const struct gf_icc srgb = gf_icc_named("srgb", false), p3 = gf_icc_named("display-p3", false),
                        press = table_profile(4);
    cmsToneCurve *const curve = cmsBuildGamma(NULL, 1.7), *const curves[] = {curve, curve, curve,
                                                                             curve};
    const struct gf_icc bent = saved(cmsCreateLinearizationDeviceLink(cmsSigRgbData, curves)),
                        limit = saved(cmsCreateInkLimitingDeviceLink(cmsSigCmykData, 250));
    struct gf_icc icc, none = {0};
    cmsFreeToneCurve(curve);
    assert_within_one("curves", (struct gf_icc_wish){none, bent, 3, 3, 8, 0, false});
    for (int version = 2; version <= 4; version += 2) {
        const struct gf_icc rgb = link_between(p3, 3, srgb, 3, version),
                            out = link_between(srgb, 3, press, 4, version),
                            in = link_between(press, 4, srgb, 3, version);
        assert_within_one("RGB to RGB", (struct gf_icc_wish){none, rgb, 3, 3, 8, 0, false});
        assert_within_one("RGB to CMYK", (struct gf_icc_wish){none, out, 3, 4, 8, 0, false});
        assert_within_one("CMYK to RGB", (struct gf_icc_wish){none, in, 4, 3, 8, 0, false});
        assert_true(gf_icc_is_target(rgb) && gf_icc_is_target(out));
        save(in_folder("out.icc"), out.data, out.size);
        assert_int_equal(gf_icc_load_target(in_folder("out.icc"), false, &icc, &failure), GF_OK);
        assert_true(icc.inks && gf_icc_is_link(icc) && gf_icc_channels_after(icc) == 4);
        assert_int_equal(gf_icc_load(in_folder("out.icc"), false, &icc, &failure), GF_ERROR_INPUT);
        save(in_folder("in.icc"), in.data, in.size);
        assert_int_equal(gf_icc_load_inks(in_folder("in.icc"), &icc, &failure), GF_OK);
        assert_int_equal(gf_icc_load_target(in_folder("in.icc"), false, &icc, &failure),
                         GF_ERROR_INPUT);
        assert_failure_says("a device link from CMYK, and pictures are RGB");
        free((void *)rgb.data);
        free((void *)out.data);
        free((void *)in.data);
    }
    save(in_folder("limit.icc"), limit.data, limit.size);
    assert_int_equal(gf_icc_load_inks(in_folder("limit.icc"), &icc, &failure), GF_ERROR_INPUT);
    free((void *)bent.data);
    free((void *)limit.data);
    free((void *)press.data);
}

/* Profiles that describe no device are refused by name. */
static void test_refused_kinds(void **state)
{
    static const struct {
        size_t at;
        const char *bytes, *name;
    } kinds[] = {{8, "\5", "an iccMAX profile (version 5), which is not used"},
                 {12, "nmcl", "a profile of named colours, which is not used"},
                 {12, "abst", "an abstract profile, which is not used"}};
    const struct gf_icc srgb = gf_icc_named("srgb", false);
    unsigned char changed[GF_ICC_MADE_MOST];
    struct gf_icc icc;
    for (int i = 0; i < 3; i++) {
        memcpy(changed, srgb.data, srgb.size);
        memcpy(changed + kinds[i].at, kinds[i].bytes, strlen(kinds[i].bytes));
        save(in_folder("kind.icc"), changed, srgb.size);
        assert_int_equal(gf_icc_load_target(in_folder("kind.icc"), false, &icc, &failure),
                         GF_ERROR_INPUT);
        assert_failure_says(kinds[i].name);
        assert_int_equal(gf_icc_load(in_folder("kind.icc"), false, &icc, &failure), GF_ERROR_INPUT);
        assert_false(gf_icc_is_sound((struct gf_icc){.data = changed, .size = srgb.size}));
    }
}

/* The bytes that the project makes are what Little CMS makes of the same numbers. */
static void test_made_profiles(void **state)
{
    const struct gf_icc icc = gf_icc_named("srgb", false);
    cmsHPROFILE const own = cmsOpenProfileFromMem(icc.data, (cmsUInt32Number)icc.size),
                      theirs = cmsCreate_sRGBProfile();
    static const cmsTagSignature tags[] = {cmsSigRedColorantTag, cmsSigGreenColorantTag,
                                           cmsSigBlueColorantTag, cmsSigMediaWhitePointTag};
    assert_true(own && theirs && cmsIsMatrixShaper(own));
    for (int i = 0; i < 4; i++) {
        const cmsCIEXYZ *const a = cmsReadTag(own, tags[i]), *const b = cmsReadTag(theirs, tags[i]);
        assert_true(fabs(a->X - b->X) < 1e-4 && fabs(a->Y - b->Y) < 1e-4 &&
                    fabs(a->Z - b->Z) < 1e-4);
    }
    const cmsToneCurve *const a = cmsReadTag(own, cmsSigGreenTRCTag), *const b = cmsReadTag(
                                                                          theirs,
                                                                          cmsSigGreenTRCTag);
    for (int i = 0; i <= 100; i++)
        assert_true(fabs((double)cmsEvalToneCurveFloat(a, (float)i / 100) -
                         (double)cmsEvalToneCurveFloat(b, (float)i / 100)) < 1e-4);
    cmsCloseProfile(own);
    cmsCloseProfile(theirs);
    assert_true(gf_icc_is_sound(icc) && gf_icc_is_sound(gf_icc_named("srgb", true)));
    assert_true(gf_icc_is_sound(gf_icc_named("display-p3", false)));
    assert_false(gf_icc_is_sound((struct gf_icc){.data = icc.data, .size = 100}));
    /* Without the curve of red it needs tables for its intent, which is none of the four. */
    unsigned char broken[1024];
    assert_true(icc.size <= sizeof broken);
    memcpy(broken, icc.data, icc.size);
    memcpy(memmem(broken, icc.size, "rTRC", 4), "none", 4);
    broken[64] = 0x30;
    assert_false(gf_icc_is_sound((struct gf_icc){.data = broken, .size = icc.size}));
    /* All of its tags are there, and some hold nothing that is known. */
    memcpy(broken, icc.data, icc.size);
    for (size_t at = 128; at + 5 <= icc.size; at++)
        broken[at] ^= !memcmp(broken + at, "XYZ \0", 5);
    assert_false(gf_icc_is_sound((struct gf_icc){.data = broken, .size = icc.size}));
}

/* Writes a JPEG of four inks, as Adobe's programs do or as others do, with that profile. */
static void write_cmyk(const char *path, const unsigned char *inks, int width, int height,
                       J_COLOR_SPACE stored, bool adobe, struct gf_icc icc)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = (JDIMENSION)width;
    jpeg.image_height = (JDIMENSION)height;
    jpeg.input_components = 4;
    jpeg.in_color_space = JCS_CMYK;
    jpeg_set_defaults(&jpeg);
    jpeg_set_colorspace(&jpeg, stored);
    jpeg.write_Adobe_marker = adobe;
    jpeg_set_quality(&jpeg, 95, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    if (icc.size)
        jpeg_write_icc_profile(&jpeg, icc.data, (unsigned)icc.size);
    for (int y = 0; y < height; y++) {
        JSAMPROW row = (JSAMPROW)inks + (size_t)y * (size_t)width * 4;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    fclose(file);
}

/* libjpeg's inks of that file. */
static unsigned char *read_inks(const char *path, int width, int height)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    FILE *const file = fopen(path, "rb");
    unsigned char *const inks = malloc((size_t)width * (size_t)height * 4);
    assert_true(file && inks);
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_stdio_src(&jpeg, file);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = JCS_CMYK;
    jpeg_start_decompress(&jpeg);
    for (int y = 0; y < height; y++) {
        JSAMPROW row = inks + (size_t)y * (size_t)width * 4;
        jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    fclose(file);
    return inks;
}

static void check_press(J_COLOR_SPACE stored, bool adobe, struct gf_icc press)
{
    enum { WIDTH = 61, HEIGHT = 47 };
    const struct gf_options options = plain_options();
    const struct gf_icc srgb = gf_icc_named("srgb", false);
    struct picture inks = smooth_picture(WIDTH, HEIGHT, 4, 8), picture;
    unsigned char theirs[WIDTH * HEIGHT * 3];
    write_cmyk(in_folder("press.jpg"), inks.data, WIDTH, HEIGHT, stored, adobe, press);
    unsigned char *const decoded = read_inks(in_folder("press.jpg"), WIDTH, HEIGHT);
    assert_int_equal(decode(in_folder("press.jpg"), &options, &picture), GF_OK);
    assert_int_equal(warnings, 0);
    assert_int_equal(picture.metadata.icc.size, 0);
    assert_int_equal(picture.format.channels, 3);
    cmsHPROFILE const from = cmsOpenProfileFromMem(press.data, (cmsUInt32Number)press.size),
                      to = cmsOpenProfileFromMem(srgb.data, (cmsUInt32Number)srgb.size);
    cmsHTRANSFORM const reference =
        cmsCreateTransform(from, TYPE_CMYK_8_REV, to, TYPE_RGB_8, INTENT_RELATIVE_COLORIMETRIC,
                           cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_NOOPTIMIZE);
    assert_non_null(reference);
    cmsDoTransform(reference, decoded, theirs, WIDTH * HEIGHT);
    for (int i = 0; i < WIDTH * HEIGHT * 3; i++)
        assert_in_range(picture.data[i] + 10, theirs[i] + 8, theirs[i] + 12);
    cmsDeleteTransform(reference);
    cmsCloseProfile(from);
    cmsCloseProfile(to);
    free(decoded);
    free_picture(&inks);
    free_picture(&picture);
}

static void test_cmyk_jpegs(void **state)
{
    const struct gf_options options = plain_options();
    const struct gf_icc press = table_profile(4), srgb = gf_icc_named("srgb", false);
    struct picture inks = smooth_picture(61, 47, 4, 8), picture;
    check_press(JCS_CMYK, true, press);
    check_press(JCS_CMYK, false, press);
    check_press(JCS_YCCK, true, press);
    /* One that carries none becomes what it would be with the options' profile. */
    struct gf_options stated = plain_options();
    struct picture tagged;
    save(in_folder("press.icc"), press.data, press.size);
    char name[500];
    snprintf(name, sizeof name, "%s", in_folder("press.icc"));
    stated.cmyk_profile = name;
    assert_int_equal(decode(in_folder("press.jpg"), &options, &tagged), GF_OK);
    write_cmyk(in_folder("bare.jpg"), inks.data, 61, 47, JCS_YCCK, true, (struct gf_icc){0});
    assert_int_equal(decode(in_folder("bare.jpg"), &stated, &picture), GF_OK);
    assert_int_equal(warnings, 0);
    assert_memory_equal(picture.data, tagged.data, 61 * 47 * 3);
    free_picture(&picture);
    free_picture(&tagged);
    /* A profile of other colours, and a broken one of CMYK: the plain conversion, with a warning.
     */
    write_cmyk(in_folder("press.jpg"), inks.data, 61, 47, JCS_CMYK, true, srgb);
    assert_int_equal(decode(in_folder("press.jpg"), &options, &picture), GF_OK);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "press.jpg: the ICC profile of its CMYK colours is not "
                                         "used (it is no profile of CMYK)"));
    free_picture(&picture);
    warnings = 0;
    write_cmyk(in_folder("press.jpg"), inks.data, 61, 47, JCS_CMYK, true,
               (struct gf_icc){.data = press.data, .size = 400});
    assert_int_equal(decode(in_folder("press.jpg"), &options, &picture), GF_OK);
    assert_int_equal(warnings, 1);
    free_picture(&picture);
    free_picture(&inks);
    free((void *)press.data);
}

/* More profiles than verdicts are kept, each with a damaged twin of the same size, in turns: no
 * profile gets another one's verdict. */
static void test_kept_verdicts(void **state)
{
    (void)state;
    enum { PROFILES = 7, ROUNDS = 3, KIND_AT = 12 };
    struct gf_icc sound[PROFILES], damaged[PROFILES];
    for (int i = 0; i < PROFILES; i++) {
        sound[i] = matrix_profile(1.8 + 0.1 * i, true, false);
        unsigned char *const copy = malloc(sound[i].size);
        assert_non_null(copy);
        memcpy(copy, sound[i].data, sound[i].size);
        memcpy(copy + KIND_AT, "link", 4);
        damaged[i] = (struct gf_icc){.data = copy, .size = sound[i].size};
    }
    for (int i = 0; i < ROUNDS * PROFILES; i++) {
        for (int again = 0; again < 2; again++) {
            assert_true(gf_icc_is_sound(sound[i % PROFILES]));
            assert_false(gf_icc_is_sound(damaged[i % PROFILES]));
        }
    }
    for (int i = 0; i < PROFILES; i++) {
        free((void *)sound[i].data);
        free((void *)damaged[i].data);
    }
}

/* The verdict on a large profile is kept, too. */
static void test_large_profiles(void **state)
{
    (void)state;
    enum { AGAIN = 5 };
    const struct gf_icc large = table_profile(3);
    double first_s = gf_now(), least_s = 1;
    assert_true(large.size > 200000 && gf_icc_is_sound(large));
    first_s = gf_now() - first_s;
    for (int i = 0; i < AGAIN; i++) {
        const double begin_s = gf_now();
        assert_true(gf_icc_is_sound(large));
        least_s = fmin(least_s, gf_now() - begin_s);
    }
    print_message("# %zu bytes: %.2f ms, then %.2f ms\n", large.size, 1e3 * first_s, 1e3 * least_s);
    assert_true(least_s < first_s / 4);
    free((void *)large.data);
}

static void test_alpha_is_copied(void **state)
{
    struct gf_icc_wish wish = {
        gf_icc_named("srgb", false), gf_icc_named("display-p3", false), 3, 3, 8, 1, true};
    struct gf_icc_transform *transform;
    assert_int_equal(gf_icc_build(&wish, &transform, &failure), GF_OK);
    const unsigned char in[] = {255, 0, 0, 7, 0, 255, 0, 9};
    unsigned char out[8], plain[6];
    gf_icc_convert(transform, in, 4, out, 4, 2);
    gf_icc_convert(transform, in, 4, plain, 3, 2);
    assert_int_equal(out[3], 7);
    assert_int_equal(out[7], 9);
    assert_memory_equal(out, plain, 3);
    assert_memory_equal(out + 4, plain + 3, 3);
    assert_in_range(out[0], 233, 235); /* sRGB's red in Display P3: 234, 51, 35 */
    assert_in_range(out[1], 50, 52);
    assert_in_range(out[2], 34, 36);
    free(transform);
}
/* A profile that claims a table of 255 nodes an axis, which would have 99 MB. */
static void test_claimed_tables(void **state)
{
    struct gf_icc icc = table_profile(3);
    unsigned char *const tag = memmem(icc.data, icc.size, "mAB ", 4);
    struct rusage before, after;
    assert_non_null(tag);
    const size_t table =
        (size_t)tag[24] << 24 | (size_t)tag[25] << 16 | (size_t)tag[26] << 8 | (size_t)tag[27];
    assert_int_equal(tag[table], 17);
    memset(tag + table, 255, 3);
    getrusage(RUSAGE_SELF, &before);
    assert_false(gf_icc_is_sound(icc));
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 32 << 10);
    free((void *)icc.data);
}

/* Changes a number of the transform: of its header or, one time in four, of its tables. */
static void change(struct gf_icc_transform *transform)
{
    static const uint32_t numbers[] = {0, 1, 16, 49, 50, 0x7fc00000, 0x7fffffff, 0xffffffff};
    const size_t size = draw() % 4 ? sizeof *transform : transform->bytes;
    const size_t at = (draw() << 8 | draw() >> 8) % (size / 4) * 4;
    const uint32_t number = draw() % 2 ? numbers[draw() % 8] : draw() << 16 | draw();
    memcpy((char *)transform + at, &number, sizeof number);
}

/* Whatever a cell has written over a transform: either it is refused, or its conversion reads
 * nothing but its tables (which a sanitizer sees). */
static void assert_checked(struct gf_icc_wish wish)
{
    enum { CHANGES = 4000, PIXELS = 256 };
    struct gf_icc_transform *transform;
    uint16_t in[PIXELS * 4], out[PIXELS * 4];
    int refused = 0;
    for (int i = 0; i < PIXELS * 4; i++)
        in[i] = (uint16_t)draw();
    assert_int_equal(gf_icc_build(&wish, &transform, &failure), GF_OK);
    const size_t size = transform->bytes;
    assert_true(gf_icc_transform_fits(transform, size, &wish));
    assert_false(gf_icc_transform_fits(transform, size - 1, &wish));
    struct gf_icc_transform *const changed = malloc(size);
    assert_non_null(changed);
    memcpy(changed, transform, size);
    for (int i = 0; i < CHANGES; i++) {
        change(changed);
        if (gf_icc_transform_fits(changed, size, &wish)) {
            gf_icc_convert(changed, in, wish.inputs, out, wish.outputs, PIXELS);
            continue;
        }
        refused++;
        memcpy(changed, transform, size);
    }
    assert_true(refused > CHANGES / 20 && refused < CHANGES);
    free(changed);
    free(transform);
}

static void test_tables_of_cells_are_checked(void **state)
{
    const struct gf_icc srgb = gf_icc_named("srgb", false), gray = gf_icc_named("srgb", true),
                        p3 = gf_icc_named("display-p3", false), scanner = table_profile(3),
                        press = table_profile(4), apart = matrix_profile(2.2, true, true);
    for (int bits = 8; bits <= 16; bits += 8) {
        assert_checked((struct gf_icc_wish){gray, srgb, 1, 3, bits, 1, true});
        assert_checked((struct gf_icc_wish){p3, srgb, 3, 3, bits, 1, true});
        assert_checked((struct gf_icc_wish){apart, srgb, 3, 3, bits, 1, true});
        assert_checked((struct gf_icc_wish){scanner, srgb, 3, 3, bits, 0, true});
        assert_checked((struct gf_icc_wish){srgb, scanner, 3, 3, bits, 0, true});
        assert_checked((struct gf_icc_wish){press, srgb, 4, 3, bits, 1, true});
        assert_checked((struct gf_icc_wish){srgb, press, 3, 4, bits, 1, true});
    }
    struct gf_icc_transform *transform;
    struct gf_icc_wish wish = {scanner, srgb, 3, 3, 8, 0, true};
    assert_int_equal(gf_icc_build(&wish, &transform, &failure), GF_OK);
    struct gf_icc_place *const place = (void *)((char *)transform + transform->place_at);
    const struct gf_icc_place good = *place;
    place->node = UINT32_MAX;
    assert_false(gf_icc_transform_fits(transform, transform->bytes, &wish));
    *place = good;
    place->part = GF_ICC_PART + 1;
    assert_false(gf_icc_transform_fits(transform, transform->bytes, &wish));
    *place = good;
    assert_true(gf_icc_transform_fits(transform, transform->bytes, &wish));
    free(transform);
    free((void *)scanner.data);
    free((void *)press.data);
    free((void *)apart.data);
}

#endif

static void test_files(void **state)
{
    struct gf_icc icc;
    const struct gf_icc srgb = gf_icc_named("srgb", false);
    save(in_folder("srgb.icc"), srgb.data, srgb.size);
    save(in_folder("text.icc"), "no profile", 10);
    assert_int_equal(gf_icc_load(in_folder("srgb.icc"), false, &icc, &failure), GF_OK);
    assert_true(gf_icc_same(icc, srgb));
    assert_int_equal(gf_icc_load(in_folder("text.icc"), false, &icc, &failure), GF_ERROR_INPUT);
    assert_failure_says("not an ICC profile");
    assert_int_equal(gf_icc_load(in_folder("none.icc"), false, &icc, &failure), GF_ERROR_READ);
    assert_failure_says("No such file");
    assert_int_equal(gf_icc_load(".", false, &icc, &failure), GF_ERROR_INPUT);
    save(in_folder("large.icc"), srgb.data, srgb.size);
    assert_int_equal(truncate(in_folder("large.icc"), (64 << 20) + 1), 0);
    assert_int_equal(gf_icc_load(in_folder("large.icc"), false, &icc, &failure), GF_ERROR_INPUT);
    assert_failure_says("large.icc: it is larger than 64 MiB");
    assert_true(gf_icc_fits(srgb, 3) && !gf_icc_fits(srgb, 1) && !gf_icc_fits(srgb, 4));
    assert_true(gf_icc_same(gf_icc_for(srgb, 1), gf_icc_named("srgb", true)));
    if (gf_icc_available())
        return;
    struct gf_icc_transform *transform;
    const struct gf_icc_wish wish = {srgb, srgb, 3, 3, 8, 1, true};
    assert_int_equal(gf_icc_build(&wish, &transform, &failure), GF_ERROR_UNAVAILABLE);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
#ifdef GF_WITH_LCMS
        cmocka_unit_test(test_claimed_tables), /* while the peak of memory is low */
        cmocka_unit_test(test_made_profiles),
        cmocka_unit_test(test_alpha_is_copied),
        cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_gray),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_inks_out),
        cmocka_unit_test(test_tables_within_one),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_refused_kinds),
        cmocka_unit_test(test_cmyk_jpegs),
        cmocka_unit_test(test_kept_verdicts),
        cmocka_unit_test(test_large_profiles),
        cmocka_unit_test(test_tables_of_cells_are_checked),
#endif
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
