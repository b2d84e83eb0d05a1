#include "icc/icc_hdr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/fail.h"
#include "icc/icc_build.h"
#include "icc/icc_tables.h"

static const double pq_most = 10000, hlg_most = 1000, hlg_gamma = 1.2;
static const double m1 = 2610.0 / 16384, m2 = 2523.0 / 32, c1 = 3424.0 / 4096, c2 = 2413.0 / 128,
                    c3 = 2392.0 / 128;

/* Returns the light of a PQ sample (SMPTE ST 2084), both 0..1; a light of 1 is 10,000 cd/m2. */
static double light_of_pq(double sample)
{
    const double p = gf_pow_double(sample, 1 / m2);
    return gf_pow_double(fmax(p - c1, 0) / (c2 - c3 * p), 1 / m1);
}

/* Returns the PQ sample of light, the inverse of light_of_pq(). */
static double tone_pq(double light)
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

static double decoded(int curve, double sample)
{
    return curve == GF_CURVE_PQ ? light_of_pq(sample) : light_of_hlg(sample);
}

/* Returns the luminance in cd/m2 that a display shows for `y`, the luminance of decoded samples,
 * 0..1. */
static double displayed(int curve, double y)
{
    return curve == GF_CURVE_PQ ? pq_most * y : hlg_most * gf_pow_double(y, hlg_gamma);
}

double gf_tone_luminance(int curve, double sample)
{
    if (curve == GF_CURVE_LINEAR)
        return GF_TONE_WHITE * sample;
    return displayed(curve, decoded(curve, sample));
}

/* Returns what a luminance in cd/m2 becomes by BT.2390's curve: it stays up to a knee, and a
 * Hermite spline bends what is above, so that `peak` becomes `white`. The variables are PQ samples
 * relative to that of the peak. */
static double bt2390(double luminance, double white, double peak)
{
    const double most = tone_pq(peak / pq_most), goal = tone_pq(white / pq_most) / most;
    const double knee = 1.5 * goal - 0.5, v = fmin(tone_pq(luminance / pq_most) / most, 1);
    if (v <= knee || knee >= 1)
        return luminance;
    const double t = (v - knee) / (1 - knee), t2 = t * t, t3 = t2 * t;
    const double bent =
        (2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee) + (3 * t2 - 2 * t3) * goal;
    return pq_most * light_of_pq(bent * most);
}

/* Returns the luminance that becomes white or more. */
static double peak_of(const struct gf_tone_wish *wish)
{
    return fmax(wish->peak, wish->white);
}

/* Returns the part of white, 0..1, that a luminance in cd/m2 becomes. */
static double toned(const struct gf_tone_wish *wish, double luminance)
{
    const double peak = peak_of(wish), v = luminance / wish->white;
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

static void fill_decode(const struct gf_tone_wish *wish, float *decode, int levels)
{
    for (int v = 0; v < levels; v++)
        decode[v] = (float)decoded(wish->hdr[1], (double)v / (levels - 1));
}

static void fill_gain(const struct gf_tone_wish *wish, float *gain)
{
    for (int i = 0; i < GF_ICC_ENCODE_SIZE_16; i++) {
        /* The gain is computed for a luminance above 0, since that of HLG has no value at 0. */
        const double y = fmax(gf_icc_light_at(i, 0, GF_ICC_ENCODE_BITS_16), 1e-7);
        const double luminance =
            wish->hdr[1] == GF_CURVE_LINEAR ? peak_of(wish) * y : displayed(wish->hdr[1], y);
        gain[i] = (float)(toned(wish, luminance) / y);
    }
}

static void fill_tables(const struct gf_tone_wish *wish, struct gf_icc_transform *t)
{
    fill_decode(wish, gf_icc_inside(t, t->decode_at), 1 << wish->bits);
    fill_gain(wish, gf_icc_inside(t, t->gain_at));
    for (int i = 0; wish->bits == 8 && i < GF_ICC_ENCODE_SIZE_8; i++) {
        const double light = i ? gf_icc_light_at(i, 0.5, GF_ICC_ENCODE_BITS_8) : 0;
        ((unsigned char *)gf_icc_inside(t, t->encode_at))[i] =
            (unsigned char)(srgb_of_light(light) * 255 + 0.5);
    }
    for (int i = 0; wish->bits == 16 && i < GF_ICC_ENCODE_SIZE_16; i++)
        ((float *)gf_icc_inside(t, t->encode_at))[i] =
            (float)(srgb_of_light(gf_icc_light_at(i, 0, GF_ICC_ENCODE_BITS_16)) * 65535);
}

/* Makes the transform for floats: linear light is divided by its peak, so that the table of gains
 * reaches it; PQ and HLG are lines between 65536 points. */
static enum gf_status build_floats(const struct gf_tone_wish *wish, struct gf_icc_transform *head,
                                   struct gf_icc_transform **transform, struct gf_error *error)
{
    enum { POINTS = 65536 };
    const bool is_linear = wish->hdr[1] == GF_CURVE_LINEAR;
    size_t end = 0;
    head->kind = GF_ICC_FLOATS;
    head->inputs = head->outputs = wish->inputs;
    gf_icc_reserve(&end, sizeof *head);
    head->formula_at = gf_icc_reserve(&end, 6 * sizeof(struct gf_icc_formula));
    head->gain_at = gf_icc_reserve(&end, GF_ICC_ENCODE_SIZE_16 * sizeof(float));
    const unsigned points_at = is_linear ? 0 : gf_icc_reserve(&end, POINTS * sizeof(float));
    GF_TRY(gf_icc_allocate(transform, end, head, error));
    struct gf_icc_formula *const formula = gf_icc_inside(*transform, head->formula_at);
    for (int c = 0; c < 3; c++) {
        formula[c] = (struct gf_icc_formula){.from = INFINITY,
                                             .line = (float)(GF_TONE_WHITE / peak_of(wish)),
                                             .points = is_linear ? 0 : POINTS,
                                             .table_at = points_at};
        formula[3 + c] = (struct gf_icc_formula){
            1.055f, 1, 0, (float)(1 / 2.4), -0.055f, 0.0031308f, 12.92f, 0, 0, 0, 0};
    }
    if (!is_linear)
        fill_decode(wish, gf_icc_inside(*transform, points_at), POINTS);
    fill_gain(wish, gf_icc_inside(*transform, head->gain_at));
    return GF_OK;
}

enum gf_status gf_tone_build(const struct gf_tone_wish *wish, struct gf_icc_transform **transform,
                             struct gf_error *error)
{
    struct gf_icc_transform head = {
        .kind = GF_ICC_TONE, .inputs = 3, .outputs = 3, .bits = wish->bits};
    struct gf_icc_space from;
    double matrix[3][3], luminance[3];
    *transform = NULL;
    if (wish->inputs == 1 && wish->bits < 32)
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
    if (wish->bits == 32)
        return build_floats(wish, &head, transform, error);
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

enum {
    LEVELS = 255 * GF_GAIN_ONE + 1,
    /* The table from light to PQ has so many octaves of light below 1, and 2^BITS steps in each. */
    OCTAVES = 30,
    BITS = 7,
    REST_BITS = 23 - BITS,
    PQ_SIZE = (OCTAVES << BITS) + 2
};
static const uint32_t least_bits = (127 - OCTAVES) << 23; /* the bits of the float 2^-OCTAVES */
/* Luminances in cd/m2: of white, and the most that PQ has. */
static const double white = 203, most = 10000;

struct gf_gain {
    float decode[3][256];
    bool mixes; /* light is multiplied in other colours than the picture's; to_map converts to them
                 */
    float to_map[3][3], to_result[3][3];
    float base_offset[3], offset[3];
    float pq[PQ_SIZE];
    int table[3]; /* table[c]: which table of factors channel c uses, since equal ones are shared */
    float factor[3][LEVELS];
};

static double light_of_srgb(double sample)
{
    return sample <= 0.04045 ? sample / 12.92 : gf_pow_double((sample + 0.055) / 1.055, 2.4);
}

/* Sets the matrix from linear light of one profile to that of another, and *decode, unless it is
 * NULL, to the curves of `from`. */
static enum gf_status join(struct gf_icc from, struct gf_icc to, float matrix[3][3],
                           float (*decode)[256], struct gf_error *error)
{
    const struct gf_icc_wish wish = {
        .from = from, .to = to, .inputs = 3, .outputs = 3, .bits = 8, .intent = GF_ICC_RELATIVE};
    struct gf_icc_transform *transform = NULL;
    GF_TRY(gf_icc_build(&wish, &transform, error));
    enum gf_status status = GF_OK;
    if (transform->kind == GF_ICC_MATRIX) {
        memcpy(matrix, transform->matrix, sizeof transform->matrix);
        for (unsigned c = 0; decode && c < 3; c++)
            memcpy(decode[c],
                   gf_icc_block(transform, transform->decode_at + c * transform->decode_step),
                   sizeof decode[c]);
    } else {
        status = gf_fail(error, GF_ERROR_UNFIT, "its profile is not of curves and a matrix");
    }
    free(transform);
    return status;
}

static enum gf_status fill_colours(const struct gf_gain_wish *wish, struct gf_gain *gain,
                                   struct gf_error *error)
{
    unsigned char made[GF_ICC_MADE_MOST];
    struct gf_icc_space space;
    struct gf_icc base = wish->base, bt2020 = {.data = made};
    double matrix[3][3], luminance[3];
    (void)gf_icc_primaries(GF_PRIMARIES_BT2020, &space);
    if (!base.size && !wish->colours.size) {
        for (int v = 0; v < 256; v++)
            gain->decode[0][v] = gain->decode[1][v] = gain->decode[2][v] =
                (float)light_of_srgb(v / 255.0);
        (void)gf_icc_matrix_between(&gf_icc_srgb, &space, matrix, luminance);
        for (int i = 0; i < 9; i++)
            gain->to_result[i / 3][i % 3] = (float)matrix[i / 3][i % 3];
        return GF_OK;
    }
    space.curve = GF_ICC_POWER;
    space.gamma = 1;
    bt2020.size = gf_icc_make(&space, false, made);
    if (!base.size)
        base = gf_icc_named(gf_icc_names[0], false);
    gain->mixes = wish->colours.size > 0;
    if (gain->mixes) {
        GF_TRY(join(base, wish->colours, gain->to_map, gain->decode, error));
        return join(wish->colours, bt2020, gain->to_result, NULL, error);
    }
    return join(base, bt2020, gain->to_result, gain->decode, error);
}

static double light_of_bt709(double sample)
{
    return sample < 0.081 ? sample / 4.5 : gf_pow_double((sample + 0.099) / 1.099, 1 / 0.45);
}

double gf_gain_factor(const struct gf_gain_channel *channel, double sample)
{
    if (channel->headroom)
        return 1 + (channel->headroom - 1) * light_of_bt709(sample);
    const double part = channel->gamma != 1 ? gf_pow_double(sample, 1 / channel->gamma) : sample;
    return gf_exp_double(M_LN2 * (channel->least + (channel->most - channel->least) * part));
}

static void fill_factors(const struct gf_gain_channel *channel, float *factor)
{
    for (int i = 0; i < LEVELS; i++)
        factor[i] = (float)gf_gain_factor(channel, (double)i / (LEVELS - 1));
}

enum gf_status gf_gain_build(const struct gf_gain_wish *wish, struct gf_gain **gain,
                             struct gf_error *error)
{
    GF_NEW(struct gf_gain, made, error);
    const enum gf_status status = fill_colours(wish, made, error);
    if (status) {
        free(made);
        return status;
    }
    for (int c = 0; c < 3; c++) {
        const bool same = !memcmp(&wish->channel[c], &wish->channel[0], sizeof wish->channel[0]);
        made->base_offset[c] = (float)wish->channel[c].base_offset;
        made->offset[c] = (float)wish->channel[c].offset;
        made->table[c] = same ? 0 : c;
        if (!c || !same)
            fill_factors(&wish->channel[c], made->factor[c]);
    }
    for (int i = 0; i < PQ_SIZE; i++)
        made->pq[i] =
            (float)(65535 * tone_pq(gf_float_of_bits(least_bits + ((uint32_t)i << REST_BITS))));
    *gain = made;
    return GF_OK;
}

void gf_gain_free(struct gf_gain *gain)
{
    free(gain);
}

/* Returns the 16-bit PQ sample of light, by linear interpolation between the entries of the
 * table. */
static uint16_t sample_of(const struct gf_gain *gain, float light)
{
    const float within = light > 0.0f ? light < 1.0f ? light : 1.0f : 0.0f;
    const float least = gf_float_of_bits(least_bits);
    if (within <= least)
        return (uint16_t)(gain->pq[0] * (within / least) + 0.5f);
    const uint32_t at = gf_bits_of_float(within) - least_bits;
    const float part = (float)(at & ((1u << REST_BITS) - 1)) * (1.0f / (1 << REST_BITS));
    const float low = gain->pq[at >> REST_BITS], high = gain->pq[(at >> REST_BITS) + 1];
    return (uint16_t)(low + (high - low) * part + 0.5f);
}

static float times(const float row[3], const float v[3])
{
    return (v[0] * row[0] + v[1] * row[1]) + v[2] * row[2];
}

void gf_gain_row(const struct gf_gain *gain, const unsigned char *base, int base_channels,
                 const uint16_t *map, int map_channels, int width, uint16_t *result)
{
    const float unit = (float)(white / most);
    const int next = base_channels == 3, next_of_map = map_channels == 3;
    for (int x = 0; x < width; x++, base += base_channels, map += map_channels, result += 3) {
        float light[3], bright[3];
        for (int c = 0; c < 3; c++)
            light[c] = gain->decode[c][base[c * next]];
        for (int c = 0; c < 3; c++) {
            const float factor = gain->factor[gain->table[c]][map[c * next_of_map]];
            const float own = gain->mixes ? times(gain->to_map[c], light) : light[c];
            bright[c] = (own + gain->base_offset[c]) * factor - gain->offset[c];
        }
        for (int c = 0; c < 3; c++)
            result[c] = sample_of(gain, times(gain->to_result[c], bright) * unit);
    }
}
