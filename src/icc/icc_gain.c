#include "icc/icc_gain.h"

#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/fail.h"
#include "icc/icc_build.h"
#include "icc/icc_make.h"
#include "icc/icc_tone.h"

enum {
    LEVELS = 255 * GF_GAIN_ONE + 1,
    /* The table of PQ has so many octaves of light below 1, and so many bits of the mantissa. */
    OCTAVES = 30,
    BITS = 7,
    REST_BITS = 23 - BITS,
    PQ_SIZE = (OCTAVES << BITS) + 2
};
static const uint32_t least_bits = (127 - OCTAVES) << 23; /* of the float 2^-OCTAVES */
static const double white = 203, most = 10000;            /* cd/m2 */

struct gf_gain {
    float decode[3][256];
    bool mixes; /* the light that is multiplied is not the picture's: to_map converts it */
    float to_map[3][3], to_result[3][3];
    float base_offset[3], offset[3];
    float pq[PQ_SIZE];
    int table[3]; /* the table of each channel */
    float factor[3][LEVELS];
};

static double light_of_srgb(double sample)
{
    return sample <= 0.04045 ? sample / 12.92 : gf_pow_double((sample + 0.055) / 1.055, 2.4);
}

/* Sets the matrix between two profiles, and the curves of `from` unless decode is NULL. */
static enum gf_status join(struct gf_icc from, struct gf_icc to, float matrix[3][3],
                           float (*decode)[256], struct gf_error *error)
{
    const struct gf_icc_wish wish = {
        .from = from, .to = to, .inputs = 3, .outputs = 3, .bits = 8, .intent = GF_ICC_RELATIVE};
    struct gf_icc_transform *transform = NULL;
    enum gf_status status = gf_icc_build(&wish, &transform, error);
    if (status)
        return status;
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
    struct gf_gain *const made = calloc(1, sizeof *made);
    if (!made)
        return gf_fail_memory(error);
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
            (float)(65535 * gf_tone_pq(gf_float_of_bits(least_bits + ((uint32_t)i << REST_BITS))));
    *gain = made;
    return GF_OK;
}

void gf_gain_free(struct gf_gain *gain)
{
    free(gain);
}

/* Returns the sample of PQ, with straight lines between the entries of the table. */
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
