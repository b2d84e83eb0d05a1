/* A conversion of colours between two ICC profiles as tables and numbers, which both backends
 * evaluate to the same bits. icc_build.h makes it. */
#pragma once

#include <stdint.h>

#include "base/elementary.h"
#include "base/host_device.h"

enum gf_icc_kind {
    GF_ICC_LEVELS, /* gray input: a table of results */
    GF_ICC_MATRIX, /* between RGB profiles: curves to light, a matrix, curves to samples */
    GF_ICC_GRID,   /* a table of 3 or 4 dimensions, with interpolation between nodes */
    GF_ICC_LAB,    /* from RGB: curves, a matrix, conversion to L*a*b*, then a table that L*a*b*
                    * indexes, and curves */
    GF_ICC_TONE,   /* from HDR: a curve to light, a gain that depends on the luminance, a matrix, a
                    * curve to samples */
    GF_ICC_FLOATS  /* of floats: curves to light, a matrix, curves to samples, by formulas */
};

enum {
    /* A curve from light to samples is a table. Its index consists of the exponent and the upper
     * bits of the mantissa of light + 2^-16, so that steps are small for dark colours, and a light
     * of 0 has an index, too. */
    GF_ICC_ENCODE_BITS_8 = 10, /* bits of the mantissa; the table contains 8-bit results */
    GF_ICC_ENCODE_BITS_16 = 7, /* bits of the mantissa; 16-bit results are interpolated linearly */
    GF_ICC_ENCODE_OCTAVES = 16,
    GF_ICC_ENCODE_SIZE_8 = (GF_ICC_ENCODE_OCTAVES << GF_ICC_ENCODE_BITS_8) + 16,
    GF_ICC_ENCODE_SIZE_16 = (GF_ICC_ENCODE_OCTAVES << GF_ICC_ENCODE_BITS_16) + 4,
    GF_ICC_PART = 32768,  /* the distance between two nodes of a grid, as an integer */
    GF_ICC_NODE = 4,      /* a node has four uint16_t: the results, then zeros */
    GF_ICC_GRID_RGB = 49, /* the most nodes along an axis of a table that is computed, for RGB */
    GF_ICC_GRID_CMYK = 21,
    /* The most nodes along an axis of a table that is copied from a profile. */
    GF_ICC_GRID_MOST = 63,
    GF_ICC_STEP_BITS = 12 /* bits of a step in the node's index, at most 63 x 63 */
};
#define GF_ICC_DARK 1.52587890625e-05f /* 2^-16 */
#define GF_ICC_DARK_BITS 0x37800000u

/* A transform. Its tables follow at byte offsets from the struct's start, each a multiple of 16. */
struct gf_icc_transform {
    int kind;
    int inputs, outputs; /* colour channels: 1, 3 or 4 */
    int bits;            /* bits of the samples, 8, 16 or, of FLOATS, 32 */
    unsigned bytes;      /* bytes of the struct and all tables */
    /* For LEVELS: the table uint16_t [outputs][M + 1], where M is the largest sample. */
    unsigned level_at;
    /* For MATRIX: the curve of channel c to light is float [M + 1] at decode_at + c decode_step;
     * its curve to samples is at encode_at + c encode_step, uint8_t [ENCODE_SIZE_8] for 8 bits or
     * float [ENCODE_SIZE_16]. A step is 0 if all channels share one table. For 8 bits also float
     * [3][256][4] at product_at: column c of the matrix times the decoded sample. */
    unsigned decode_at, decode_step, encode_at, encode_step, product_at;
    float matrix[3][3]; /* the matrix from decoded samples to linear light of the result */
    /* For TONE: the curves as for MATRIX, one for all channels, and float [ENCODE_SIZE_16] at
     * gain_at: the factor of the light for each luminance (gf_icc_table_at()). */
    unsigned gain_at;
    float luminance[3]; /* the weights of the decoded samples in the luminance */
    /* For GRID: the nodes uint16_t [grid^inputs][GF_ICC_NODE] at node_at, the first channel
     * outermost. If encode_at is not 0, a node contains light, -1/4..5/4, and the curves at
     * encode_at convert it to samples, so that light outside of the result's gamut is clipped at
     * each pixel. If lab_scale[0] is not 0 either, a node contains L*a*b*, from which `column`
     * leads to light. For 8 bits also struct gf_icc_place [inputs][256] at place_at: where each
     * sample lies on the axes. */
    int grid;
    unsigned node_at, place_at;
    /* For 16 bits: uint16_t [inputs][65536], the positions of samples on the axes; 0: no table. */
    unsigned curve_at;
    /* uint16_t [outputs][65536]: curves of the result after the interpolation; 0: none. */
    unsigned out_at;
    /* For LAB: decode_at as for MATRIX; `column` leads from light to half of XYZ relative to white,
     * since absolute colours exceed 1. float [ENCODE_SIZE_16] at root_at: the function f in the
     * definition of L*a*b*. The axes of the grid are L*, a* and b* as 16 bits, after the curves at
     * curve_at. */
    unsigned root_at;
    float column[4][4]; /* the columns of a 3 x 3 matrix, then the vector that is added to the
                         * product */
    float lab_scale[2]; /* for LAB: 16-bit units in 1 of L*, and in 1 of a* and b*; for GRID: the
                         * reciprocals */
    /* For FLOATS: struct gf_icc_formula [6] at formula_at, three to light and three to samples. The
     * matrix, of `outputs` rows and `inputs` columns, is left out if keeps_light is set. If gain_at
     * is not 0, what a TONE has between its curves comes between them. */
    unsigned formula_at;
    int keeps_light;
};

/* A curve between samples and light, as floats need it. It is odd: that of -v is minus that of v.
 * For v >= 0 it is gain (scale v + shift)^power + lift above `from`, and line v + foot below; or,
 * if `points` is not 0, straight lines between so many floats at table_at, which have equal
 * distances over 0..1, or the inverse of these lines. The lines at the ends go on. */
struct gf_icc_formula {
    float gain, scale, shift, power, lift, from, line, foot;
    int points, is_inverse;
    unsigned table_at;
};

static inline const void *gf_icc_block(const struct gf_icc_transform *transform, unsigned offset)
{
    return (const char *)transform + offset;
}

GF_HOST_DEVICE float gf_icc_within(float light)
{
    return light > 0.0f ? (light < 1.0f ? light : 1.0f) : 0.0f;
}

/* Returns the light of one channel, 0..1, as the sum of its three products with a row of the
 * matrix. */
GF_HOST_DEVICE float gf_icc_light(float r, float g, float b)
{
    return gf_icc_within((r + g) + b);
}

GF_HOST_DEVICE uint32_t gf_icc_encode_index_8(float light)
{
    return (gf_bits_of_float(light + GF_ICC_DARK) - GF_ICC_DARK_BITS) >>
           (23 - GF_ICC_ENCODE_BITS_8);
}

/* Looks up light, 0..1, in a table of GF_ICC_ENCODE_SIZE_16 floats, with linear interpolation. */
GF_HOST_DEVICE float gf_icc_table_at(const float *table, float light)
{
    const uint32_t at = gf_bits_of_float(light + GF_ICC_DARK) - GF_ICC_DARK_BITS;
    const uint32_t rest = at & ((1u << (23 - GF_ICC_ENCODE_BITS_16)) - 1);
    const float part = (float)(int32_t)rest * (1.0f / (float)(1 << (23 - GF_ICC_ENCODE_BITS_16)));
    const float low = table[at >> (23 - GF_ICC_ENCODE_BITS_16)];
    const float high = table[(at >> (23 - GF_ICC_ENCODE_BITS_16)) + 1];
    return low + (high - low) * part;
}

GF_HOST_DEVICE uint32_t gf_icc_encode_16(const float *table, float light)
{
    return (uint32_t)(int32_t)(gf_icc_table_at(table, light) + 0.5f);
}

/* Returns the light that index i of a table from light to samples stands for, plus `part` of a
 * step. */
static inline double gf_icc_light_at(int i, double part, int mantissa_bits)
{
    const int steps = 1 << mantissa_bits, octave = i >> mantissa_bits;
    const double mantissa = 1 + ((i & (steps - 1)) + part) / steps;
    const double light = (mantissa * (double)(1 << octave) - 1) / 65536;
    return light > 0 ? light < 1 ? light : 1 : 0;
}

/* Converts decoded samples of a TONE to light of the result, 0..1. The gain depends on the
 * luminance alone, so that hues do not change. A colour outside of the result's gamut moves towards
 * the gray of its luminance until it is inside. */
GF_HOST_DEVICE void gf_icc_tone(const struct gf_icc_transform *t, const float *gain, float r,
                                float g, float b, float light[3])
{
    const float y = gf_icc_light(r * t->luminance[0], g * t->luminance[1], b * t->luminance[2]);
    const float times = gf_icc_table_at(gain, y), gray = gf_icc_within(y * times);
    float part = 1.0f;
    for (int c = 0; c < 3; c++) {
        light[c] = ((r * t->matrix[c][0] + g * t->matrix[c][1]) + b * t->matrix[c][2]) * times;
        const float beyond = light[c] > 1.0f   ? (1.0f - gray) / (light[c] - gray)
                             : light[c] < 0.0f ? gray / (gray - light[c])
                                               : 1.0f;
        part = beyond < part ? beyond : part;
    }
    for (int c = 0; c < 3; c++)
        light[c] = gf_icc_within(gray + (light[c] - gray) * part);
}

/* The position of a sample on an axis: the node below it, and the distance from that node in units
 * of 1 / GF_ICC_PART. */
struct gf_icc_place {
    uint32_t node, part;
};

/* Finds the place on an axis with `grid` nodes of a sample, 0..65535. */
GF_HOST_DEVICE struct gf_icc_place gf_icc_place_of(uint32_t sample, int grid)
{
    const uint32_t at = sample * (uint32_t)(grid - 1);
    struct gf_icc_place place = {at / 65535u,
                                 (at % 65535u * (uint32_t)GF_ICC_PART + 32767u) / 65535u};
    /* The end of an axis belongs to the last interval between nodes. */
    if (place.node == (uint32_t)(grid - 1)) {
        place.node--;
        place.part = (uint32_t)GF_ICC_PART;
    }
    return place;
}

/* The indices of the four nodes of a tetrahedron, and their weights, whose sum is GF_ICC_PART. */
struct gf_icc_corners {
    uint32_t node[4], weight[4];
};

/* Finds the tetrahedron in which a colour lies: of the six around the diagonal of a cube of eight
 * nodes, the order of the parts of x, y and z chooses one. (J. Kasson et al., Performing color
 * space conversions with three-dimensional linear interpolation, 1995) */
GF_HOST_DEVICE struct gf_icc_corners gf_icc_corners_of(struct gf_icc_place x, struct gf_icc_place y,
                                                       struct gf_icc_place z, uint32_t grid)
{
    /* A part and the index step along its axis are packed into one number, so that sorting the
     * parts also sorts the steps. The order of equal parts does not matter, since one weight is
     * then 0. */
    const uint32_t sx = grid * grid, sy = grid, sz = 1;
    const uint32_t px = x.part << GF_ICC_STEP_BITS | sx, py = y.part << GF_ICC_STEP_BITS | sy,
                   pz = z.part << GF_ICC_STEP_BITS | sz;
    const uint32_t more = px > py ? px : py, less = px > py ? py : px;
    const uint32_t most = more > pz ? more : pz, least = less < pz ? less : pz;
    const uint32_t step = (1u << GF_ICC_STEP_BITS) - 1;
    const uint32_t high = most >> GF_ICC_STEP_BITS, low = least >> GF_ICC_STEP_BITS;
    const uint32_t middle = x.part + y.part + z.part - high - low;
    const uint32_t first = x.node * sx + y.node * sy + z.node, last = first + sx + sy + sz;
    const struct gf_icc_corners corners = {
        {first, first + (most & step), last - (least & step), last},
        {(uint32_t)GF_ICC_PART - high, high - middle, middle - low, low}};
    return corners;
}

/* Returns one channel of the result, 0..65535. `node` points to that channel in node 0. */
GF_HOST_DEVICE uint32_t gf_icc_interpolated(const struct gf_icc_corners *corners,
                                            const uint16_t *node)
{
    uint32_t sum = GF_ICC_PART / 2;
    for (int i = 0; i < 4; i++)
        sum += corners->weight[i] * node[corners->node[i] * (uint32_t)GF_ICC_NODE];
    return sum / (uint32_t)GF_ICC_PART;
}

/* Converts a number in a node, 0..65535, to light -1/4..5/4, and clips it to 0..1. */
GF_HOST_DEVICE float gf_icc_node_light(uint32_t v)
{
    return gf_icc_within((float)(int32_t)v * (1.5f / 65535.0f) - 0.25f);
}

/* Interpolates between two results of the other three axes along the fourth, for CMYK, and along
 * each axis of L*a*b*. */
GF_HOST_DEVICE uint32_t gf_icc_mixed(uint32_t low, uint32_t high, uint32_t part)
{
    return (low * ((uint32_t)GF_ICC_PART - part) + high * part + GF_ICC_PART / 2) /
           (uint32_t)GF_ICC_PART;
}

/* Returns one channel of the result of a LAB, 0..65535, by trilinear interpolation. Little CMS uses
 * it for L*a*b*, since the diagonal of that space is no axis of gray. */
GF_HOST_DEVICE uint32_t gf_icc_trilinear(const struct gf_icc_place place[3], const uint16_t *node,
                                         uint32_t grid)
{
    const uint32_t z = GF_ICC_NODE, y = grid * z, x = grid * y;
    const uint16_t *const at = node + place[0].node * x + place[1].node * y + place[2].node * z;
    uint32_t end[2];
    for (uint32_t i = 0; i < 2; i++) {
        const uint16_t *const from = at + i * z;
        end[i] = gf_icc_mixed(gf_icc_mixed(from[0], from[x], place[0].part),
                              gf_icc_mixed(from[y], from[x + y], place[0].part), place[1].part);
    }
    return gf_icc_mixed(end[0], end[1], place[2].part);
}

GF_HOST_DEVICE uint32_t gf_icc_word(float v)
{
    return v > 0.0f ? v < 65535.0f ? (uint32_t)(int32_t)(v + 0.5f) : 65535u : 0u;
}

/* Converts decoded samples to L*a*b*, and that to places on the axes of a LAB's table. */
GF_HOST_DEVICE void gf_icc_lab_places(const struct gf_icc_transform *t, const float *root,
                                      const uint16_t *curve, float r, float g, float b,
                                      struct gf_icc_place place[3])
{
    float f[3];
    for (int c = 0; c < 3; c++) {
        const float light = (r * t->column[0][c] + g * t->column[1][c]) + b * t->column[2][c];
        f[c] = gf_icc_table_at(root, gf_icc_within(light + t->column[3][c]));
    }
    const uint32_t lab[3] = {gf_icc_word((116.0f * f[1] - 16.0f) * t->lab_scale[0]),
                             gf_icc_word((500.0f * (f[0] - f[1]) + 128.0f) * t->lab_scale[1]),
                             gf_icc_word((200.0f * (f[1] - f[2]) + 128.0f) * t->lab_scale[1])};
    for (uint32_t c = 0; c < 3; c++)
        place[c] = gf_icc_place_of(t->curve_at ? curve[65536 * c + lab[c]] : lab[c], t->grid);
}

/* Converts L*a*b* of 16 bits from a node to light of the result, 0..1, through XYZ relative to
 * white. */
GF_HOST_DEVICE void gf_icc_lab_light(const struct gf_icc_transform *t, const uint32_t lab[3],
                                     float light[3])
{
    const float y = ((float)(int32_t)lab[0] * t->lab_scale[0] + 16.0f) * (1.0f / 116.0f);
    const float a = (float)(int32_t)lab[1] * t->lab_scale[1] - 128.0f,
                b = (float)(int32_t)lab[2] * t->lab_scale[1] - 128.0f;
    float xyz[3] = {y + a * (1.0f / 500.0f), y, y - b * (1.0f / 200.0f)};
    for (int c = 0; c < 3; c++)
        xyz[c] = xyz[c] > 24.0f / 116.0f ? xyz[c] * xyz[c] * xyz[c]
                                         : (xyz[c] - 16.0f / 116.0f) * (108.0f / 841.0f);
    for (int c = 0; c < 3; c++)
        light[c] = gf_icc_within(
            ((xyz[0] * t->column[0][c] + xyz[1] * t->column[1][c]) + xyz[2] * t->column[2][c]) +
            t->column[3][c]);
}

/* Returns v / 257, rounded, which makes 8 bits of 16; exact for 0..65535. */
GF_HOST_DEVICE uint32_t gf_icc_narrow(uint32_t v)
{
    return (v * 65281u + 8388608u) >> 24;
}

/* Returns the value at v >= 0 of lines between `count` points, 2 at least. */
GF_HOST_DEVICE float gf_icc_lines_at(const float *point, int count, float v)
{
    const float at = v * (float)(count - 1);
    const int last = count - 2, i = at < (float)last ? (int)at : last;
    return point[i] + (point[i + 1] - point[i]) * (at - (float)i);
}

/* Returns where such lines, which never fall, have the value v. */
GF_HOST_DEVICE float gf_icc_lines_inverse(const float *point, int count, float v)
{
    int low = 0, high = count - 1;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (point[middle] < v)
            low = middle;
        else
            high = middle;
    }
    const float step = point[high] - point[low], beyond = v - point[low];
    const float part = step > 0.0f ? beyond / step : beyond > 0.0f ? 1.0f : 0.0f;
    return ((float)low + part) / (float)(count - 1);
}

/* Returns the curve at v; v itself if it is infinite or NaN. */
GF_HOST_DEVICE float gf_icc_curved(const struct gf_icc_formula *f, const float *point, float v)
{
    const float size = fabsf(v);
    float of;
    if (f->points && f->is_inverse)
        of = gf_icc_lines_inverse(point, f->points, size);
    else if (f->points)
        of = gf_icc_lines_at(point, f->points, size);
    else
        of = gf_select(size, f->from,
                       f->gain * gf_pow(f->scale * size + f->shift, f->power) + f->lift,
                       f->line * size + f->foot);
    return size < INFINITY ? (v < 0.0f ? -of : of) : v;
}
