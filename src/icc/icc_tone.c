#include "icc/icc_tone.h"

#include <math.h>

#include "base/fail.h"
#include "icc/icc_tables.h"

static const double pq_most = 10000, hlg_most = 1000, hlg_gamma = 1.2;
static const double m1 = 2610.0 / 16384, m2 = 2523.0 / 32, c1 = 3424.0 / 4096, c2 = 2413.0 / 128,
                    c3 = 2392.0 / 128;

/* Returns light, 0..1 of 10,000 cd/m2, of a PQ sample, and back (SMPTE ST 2084). */
static double light_of_pq(double sample)
{
    const double p = gf_pow_double(sample, 1 / m2);
    return gf_pow_double(fmax(p - c1, 0) / (c2 - c3 * p), 1 / m1);
}

double gf_tone_pq(double light)
{
    const double p = gf_pow_double(light, m1);
    return gf_pow_double((c1 + c2 * p) / (1 + c3 * p), m2);
}

/* Returns the light of the scene, 0..1, of an HLG sample (ITU-R BT.2100-2, table 5). */
static double light_of_hlg(double sample)
{
    const double a = 0.17883277, b = 0.28466892, c = 0.55991073;
    return sample <= 0.5 ? sample * sample / 3 : (gf_exp_double((sample - c) / a) + b) / 12;
}

static double decoded(int transfer, double sample)
{
    return transfer == GF_TRANSFER_PQ ? light_of_pq(sample) : light_of_hlg(sample);
}

/* Returns the luminance in cd/m2 that a display shows for a luminance of decoded samples. */
static double displayed(int transfer, double y)
{
    return transfer == GF_TRANSFER_PQ ? pq_most * y : hlg_most * gf_pow_double(y, hlg_gamma);
}

double gf_tone_luminance(int transfer, double sample)
{
    return displayed(transfer, decoded(transfer, sample));
}

/* Keeps luminances up to a knee, and bends those above it by a Hermite spline, so that `peak`
 * becomes `white`. All numbers are PQ samples, relative to that of the peak. */
static double bt2390(double luminance, double white, double peak)
{
    const double most = gf_tone_pq(peak / pq_most), goal = gf_tone_pq(white / pq_most) / most;
    const double knee = 1.5 * goal - 0.5, v = fmin(gf_tone_pq(luminance / pq_most) / most, 1);
    if (v <= knee || knee >= 1)
        return luminance;
    const double t = (v - knee) / (1 - knee), t2 = t * t, t3 = t2 * t;
    const double bent =
        (2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee) + (3 * t2 - 2 * t3) * goal;
    return pq_most * light_of_pq(bent * most);
}

/* Returns the part of white, 0..1, that a luminance becomes. */
static double toned(const struct gf_tone_wish *wish, double luminance)
{
    const double peak = fmax(wish->peak, wish->white), v = luminance / wish->white;
    const double most = peak / wish->white;
    double result = v;
    if (wish->curve == GF_TONE_BT2390)
        result = bt2390(luminance, wish->white, peak) / wish->white;
    else if (wish->curve == GF_TONE_REINHARD && most > 1)
        result = v * (1 + v / (most * most)) / (1 + v);
    return fmin(result, 1);
}

static double srgb_of_light(double light)
{
    return light <= 0.0031308 ? 12.92 * light : 1.055 * gf_pow_double(light, 1 / 2.4) - 0.055;
}

static enum gf_status build_gray(const struct gf_tone_wish *wish,
                                 struct gf_icc_transform **transform, struct gf_error *error)
{
    struct gf_icc_transform head = {
        .kind = GF_ICC_LEVELS, .inputs = 1, .outputs = 1, .bits = wish->bits};
    const int levels = 1 << wish->bits;
    size_t end = 0;
    gf_icc_reserve(&end, sizeof head);
    head.level_at = gf_icc_reserve(&end, (size_t)levels * sizeof(uint16_t));
    GF_TRY(gf_icc_allocate(transform, end, &head, error));
    uint16_t *const level = gf_icc_inside(*transform, head.level_at);
    for (int v = 0; v < levels; v++) {
        const double luminance = gf_tone_luminance(wish->hdr[1], (double)v / (levels - 1));
        level[v] = (uint16_t)(srgb_of_light(toned(wish, luminance)) * (levels - 1) + 0.5);
    }
    return GF_OK;
}

static void fill_tables(const struct gf_tone_wish *wish, struct gf_icc_transform *t)
{
    const int levels = 1 << wish->bits;
    float *const decode = gf_icc_inside(t, t->decode_at);
    float *const gain = gf_icc_inside(t, t->gain_at);
    for (int v = 0; v < levels; v++)
        decode[v] = (float)decoded(wish->hdr[1], (double)v / (levels - 1));
    for (int i = 0; i < GF_ICC_ENCODE_SIZE_16; i++) {
        /* No luminance is 0, where the gain of HLG has no value. */
        const double y = fmax(gf_icc_light_at(i, 0, GF_ICC_ENCODE_BITS_16), 1e-7);
        gain[i] = (float)(toned(wish, displayed(wish->hdr[1], y)) / y);
    }
    for (int i = 0; wish->bits == 8 && i < GF_ICC_ENCODE_SIZE_8; i++) {
        const double light = i ? gf_icc_light_at(i, 0.5, GF_ICC_ENCODE_BITS_8) : 0;
        ((unsigned char *)gf_icc_inside(t, t->encode_at))[i] =
            (unsigned char)(srgb_of_light(light) * 255 + 0.5);
    }
    for (int i = 0; wish->bits == 16 && i < GF_ICC_ENCODE_SIZE_16; i++)
        ((float *)gf_icc_inside(t, t->encode_at))[i] =
            (float)(srgb_of_light(gf_icc_light_at(i, 0, GF_ICC_ENCODE_BITS_16)) * 65535);
}

enum gf_status gf_tone_build(const struct gf_tone_wish *wish, struct gf_icc_transform **transform,
                             struct gf_error *error)
{
    struct gf_icc_transform head = {
        .kind = GF_ICC_TONE, .inputs = 3, .outputs = 3, .bits = wish->bits};
    struct gf_icc_space from;
    double matrix[3][3], luminance[3];
    *transform = NULL;
    if (wish->inputs == 1)
        return build_gray(wish, transform, error);
    if (!gf_icc_primaries(wish->hdr[0], &from) ||
        !gf_icc_matrix_between(&from, wish->to, matrix, luminance))
        return gf_fail(error, GF_ERROR_INPUT, "the primaries %d of H.273 are unknown",
                       wish->hdr[0]);
    for (int i = 0; i < 3; i++) {
        head.luminance[i] = (float)luminance[i];
        for (int j = 0; j < 3; j++)
            head.matrix[i][j] = (float)matrix[i][j];
    }
    size_t end = 0;
    gf_icc_reserve(&end, sizeof head);
    head.decode_at = gf_icc_reserve(&end, sizeof(float) << wish->bits);
    head.gain_at = gf_icc_reserve(&end, GF_ICC_ENCODE_SIZE_16 * sizeof(float));
    head.encode_at = gf_icc_reserve(&end, wish->bits == 8 ? GF_ICC_ENCODE_SIZE_8
                                                          : GF_ICC_ENCODE_SIZE_16 * sizeof(float));
    GF_TRY(gf_icc_allocate(transform, end, &head, error));
    fill_tables(wish, *transform);
    return GF_OK;
}
