/* Converts colours between ICC profiles on the CPU. */
#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "icc/icc_build.h"

static void copy_alpha(const void *in, int in_channels, void *out, int out_channels, int width,
                       int bits)
{
    const unsigned char *const from8 = in;
    unsigned char *const to8 = out;
    const uint16_t *const from16 = in;
    uint16_t *const to16 = out;
    for (int x = 0; x < width; x++) {
        const size_t from = (size_t)(x + 1) * (size_t)in_channels - 1;
        const size_t to = (size_t)(x + 1) * (size_t)out_channels - 1;
        if (bits == 8)
            to8[to] = from8[from];
        else
            to16[to] = from16[from];
    }
}

static void convert_levels(const struct gf_icc_transform *t, const void *in, int in_channels,
                           void *out, int out_channels, int width)
{
    const uint16_t *const level = gf_icc_block(t, t->level_at);
    const int levels = 1 << t->bits;
    for (int x = 0; x < width; x++) {
        for (int c = 0; c < t->outputs; c++) {
            if (t->bits == 8)
                ((unsigned char *)out)[x * out_channels + c] =
                    (unsigned char)level[c * levels + ((const unsigned char *)in)[x * in_channels]];
            else
                ((uint16_t *)out)[x * out_channels + c] =
                    level[c * levels + ((const uint16_t *)in)[x * in_channels]];
        }
    }
}

/* A vector with a number for each of four channels. */
typedef float quad __attribute__((vector_size(16)));
typedef int32_t quad_of_int __attribute__((vector_size(16)));

static inline quad load(const float *from)
{
    quad v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* Computes gf_icc_within() and gf_icc_encode_index_8() for four channels at a time. */
static inline __attribute__((always_inline)) quad_of_int encode_index_8(quad light)
{
    const quad zero = {0}, one = {1, 1, 1, 1},
               dark = {GF_ICC_DARK, GF_ICC_DARK, GF_ICC_DARK, GF_ICC_DARK};
    quad v = (quad)((quad_of_int)light & (light > zero));
    v = (quad)(((quad_of_int)v & (v < one)) | ((quad_of_int)one & ~(v < one)));
    return ((quad_of_int)(v + dark) - (int32_t)GF_ICC_DARK_BITS) >> (23 - GF_ICC_ENCODE_BITS_8);
}

static inline __attribute__((always_inline)) void matrix_8(const struct gf_icc_transform *t,
                                                           const unsigned char *in, int in_channels,
                                                           unsigned char *out, int out_channels,
                                                           int width)
{
    const float *const product = gf_icc_block(t, t->product_at);
    const unsigned char *const encode = gf_icc_block(t, t->encode_at);
    const unsigned step = t->encode_step;
    for (int x = 0; x < width; x++, in += in_channels, out += out_channels) {
        const quad v = (load(product + 4 * in[0]) + load(product + 4 * (256 + in[1]))) +
                       load(product + 4 * (512 + in[2]));
        const quad_of_int at = encode_index_8(v);
        out[0] = encode[at[0]];
        out[1] = encode[step + (unsigned)at[1]];
        out[2] = encode[2 * step + (unsigned)at[2]];
        if (in_channels == 4 && out_channels == 4)
            out[3] = in[3];
    }
}

static inline __attribute__((always_inline)) void matrix_16(const struct gf_icc_transform *t,
                                                            const uint16_t *in, int in_channels,
                                                            uint16_t *out, int out_channels,
                                                            int width)
{
    const float *decode[3], *encode[3];
    for (unsigned c = 0; c < 3; c++) {
        decode[c] = gf_icc_block(t, t->decode_at + c * t->decode_step);
        encode[c] = gf_icc_block(t, t->encode_at + c * t->encode_step);
    }
    for (int x = 0; x < width; x++, in += in_channels, out += out_channels) {
        const float r = decode[0][in[0]], g = decode[1][in[1]], b = decode[2][in[2]];
        for (int c = 0; c < 3; c++) {
            const float light =
                gf_icc_light(r * t->matrix[c][0], g * t->matrix[c][1], b * t->matrix[c][2]);
            out[c] = (uint16_t)gf_icc_encode_16(encode[c], light);
        }
        if (in_channels == 4 && out_channels == 4)
            out[3] = in[3];
    }
}

static inline __attribute__((always_inline)) void tone_row(const struct gf_icc_transform *t,
                                                           const void *in, int in_channels,
                                                           void *out, int out_channels, int width,
                                                           int bits)
{
    const float *const decode = gf_icc_block(t, t->decode_at);
    const float *const gain = gf_icc_block(t, t->gain_at);
    const void *const encode = gf_icc_block(t, t->encode_at);
    for (int x = 0; x < width; x++) {
        float v[3], light[3];
        for (int c = 0; c < 3; c++)
            v[c] = decode[bits == 8 ? ((const unsigned char *)in)[x * in_channels + c]
                                    : ((const uint16_t *)in)[x * in_channels + c]];
        gf_icc_tone(t, gain, v[0], v[1], v[2], light);
        for (int c = 0; c < 3; c++) {
            if (bits == 8)
                ((unsigned char *)out)[x * out_channels + c] =
                    ((const unsigned char *)encode)[gf_icc_encode_index_8(light[c])];
            else
                ((uint16_t *)out)[x * out_channels + c] =
                    (uint16_t)gf_icc_encode_16(encode, light[c]);
        }
    }
}

GF_TARGET_CLONES static void convert_tone(const struct gf_icc_transform *t, const void *in,
                                          int in_channels, void *out, int out_channels, int width)
{
    if (t->bits == 8)
        tone_row(t, in, in_channels, out, out_channels, width, 8);
    else
        tone_row(t, in, in_channels, out, out_channels, width, 16);
}

GF_TARGET_CLONES static void convert_matrix(const struct gf_icc_transform *t, const void *in,
                                            int in_channels, void *out, int out_channels, int width)
{
    if (t->bits == 16)
        matrix_16(t, in, in_channels, out, out_channels, width);
    else if (in_channels == 3 && out_channels == 3)
        matrix_8(t, in, 3, out, 3, width);
    else
        matrix_8(t, in, in_channels, out, out_channels, width);
}

/* Conversions by a table of all colours (GF_ICC_GRID). */

/* The results of all channels at a node or between nodes: four at a time what gf_icc_interpolated()
 * and gf_icc_mixed() compute for one. */
typedef uint32_t quad_of_sums __attribute__((vector_size(16)));
typedef uint16_t quad_of_samples __attribute__((vector_size(8)));
enum { PART_BITS = 15 };
_Static_assert(GF_ICC_PART == 1 << PART_BITS && GF_ICC_NODE == 4, "a node is a quad of samples");

static inline __attribute__((always_inline)) quad_of_sums
interpolated(const struct gf_icc_corners *corners, const uint16_t *node)
{
    quad_of_sums sum = {GF_ICC_PART / 2, GF_ICC_PART / 2, GF_ICC_PART / 2, GF_ICC_PART / 2};
    for (int i = 0; i < 4; i++) {
        quad_of_samples samples;
        memcpy(&samples, node + (size_t)corners->node[i] * GF_ICC_NODE, sizeof samples);
        sum += __builtin_convertvector(samples, quad_of_sums) * corners->weight[i];
    }
    return sum >> PART_BITS;
}

static inline __attribute__((always_inline)) struct gf_icc_place
place_of(const struct gf_icc_transform *t, const void *in, int index, int channel, int bits)
{
    const struct gf_icc_place *const places = gf_icc_block(t, t->place_at);
    if (bits == 8)
        return places[256 * channel + ((const unsigned char *)in)[index + channel]];
    const uint16_t sample = ((const uint16_t *)in)[index + channel];
    const uint16_t *const curve = gf_icc_block(t, t->curve_at);
    return gf_icc_place_of(t->curve_at ? curve[65536 * channel + sample] : sample, t->grid);
}

/* Applies the curves that follow the interpolation, if there are some, to each channel. */
static inline __attribute__((always_inline)) quad_of_sums curved(const struct gf_icc_transform *t,
                                                                 quad_of_sums v, int outputs)
{
    const uint16_t *const out = gf_icc_block(t, t->out_at);
    if (t->out_at)
        v = (quad_of_sums){out[v[0]], out[65536 + v[1]], out[2 * 65536 + v[2]],
                           outputs == 4 ? out[3 * 65536 + v[3]] : 0};
    return v;
}

/* Computes what gf_icc_lab_light() does for all channels, without clipping the light. */
static inline __attribute__((always_inline)) quad lab_light(const struct gf_icc_transform *t,
                                                            quad_of_sums v)
{
    const float y = ((float)(int32_t)v[0] * t->lab_scale[0] + 16.0f) * (1.0f / 116.0f);
    const float a = (float)(int32_t)v[1] * t->lab_scale[1] - 128.0f,
                b = (float)(int32_t)v[2] * t->lab_scale[1] - 128.0f;
    const quad root = {y + a * (1.0f / 500.0f), y, y - b * (1.0f / 200.0f), 0};
    const quad_of_int above = root > 24.0f / 116.0f;
    const quad line = (root - 16.0f / 116.0f) * (108.0f / 841.0f);
    const quad xyz =
        (quad)(((quad_of_int)(root * root * root) & above) | ((quad_of_int)line & ~above));
    return ((xyz[0] * load(t->column[0]) + xyz[1] * load(t->column[1])) +
            xyz[2] * load(t->column[2])) +
           load(t->column[3]);
}

/* Stores a pixel of the result. `v` is the result in 0..65535 or, if curves follow, linear light or
 * L*a*b*. */
static inline __attribute__((always_inline)) void
store_8(const struct gf_icc_transform *t, quad_of_sums v, unsigned char *out, int outputs)
{
    v = curved(t, v, outputs);
    if (!t->encode_at) {
        v = (v * 65281u + 8388608u) >> 24; /* computes gf_icc_narrow() for four channels */
        for (int c = 0; c < outputs; c++)
            out[c] = (unsigned char)v[c];
        return;
    }
    const unsigned char *const encode = gf_icc_block(t, t->encode_at);
    const unsigned step = t->encode_step;
    if (t->lab_scale[0] > 0) {
        const quad_of_int at = encode_index_8(lab_light(t, v));
        for (int c = 0; c < 3; c++)
            out[c] = encode[(unsigned)c * step + (unsigned)at[c]];
        return;
    }
    /* This computes gf_icc_node_light() for four channels, without clipping. */
    const quad light = __builtin_convertvector((quad_of_int)v, quad) * (1.5f / 65535.0f) - 0.25f;
    const quad_of_int at = encode_index_8(light);
    for (int c = 0; c < outputs; c++)
        out[c] = encode[(unsigned)c * step + (unsigned)at[c]];
}

static inline __attribute__((always_inline)) void
store_16(const struct gf_icc_transform *t, quad_of_sums v, uint16_t *out, int outputs)
{
    v = curved(t, v, outputs);
    const bool is_lab = t->encode_at && t->lab_scale[0] > 0;
    float light[3];
    if (is_lab)
        gf_icc_lab_light(t, (const uint32_t[]){v[0], v[1], v[2]}, light);
    for (int c = 0; c < outputs; c++) {
        const float *const encode = gf_icc_block(t, t->encode_at + (unsigned)c * t->encode_step);
        out[c] =
            (uint16_t)(t->encode_at
                           ? gf_icc_encode_16(encode, is_lab ? light[c] : gf_icc_node_light(v[c]))
                           : v[c]);
    }
}

/* Converts a row by the grid. `first` is the channel of the first axis of a three-dimensional grid:
 * 1 for CMYK, where channel 0 interpolates between two such grids; otherwise 0. */
static inline __attribute__((always_inline)) void
grid_row(const struct gf_icc_transform *restrict t, const void *in, int in_channels,
         void *restrict out, int out_channels, int width, int first, int bits)
{
    const uint32_t grid = (uint32_t)t->grid;
    const size_t cube = (size_t)grid * grid * grid * GF_ICC_NODE;
    const uint16_t *const nodes = gf_icc_block(t, t->node_at);
    for (int x = 0; x < width; x++) {
        const int at = x * in_channels;
        const struct gf_icc_corners corners = gf_icc_corners_of(
            place_of(t, in, at, first, bits), place_of(t, in, at, first + 1, bits),
            place_of(t, in, at, first + 2, bits), grid);
        quad_of_sums v;
        if (first) {
            const struct gf_icc_place outer = place_of(t, in, at, 0, bits);
            const uint16_t *const node = nodes + outer.node * cube;
            v = interpolated(&corners, node) * (GF_ICC_PART - outer.part) +
                interpolated(&corners, node + cube) * outer.part + GF_ICC_PART / 2;
            v >>= PART_BITS;
        } else {
            v = interpolated(&corners, nodes);
        }
        if (bits == 8)
            store_8(t, v, (unsigned char *)out + x * out_channels, t->outputs);
        else
            store_16(t, v, (uint16_t *)out + x * out_channels, t->outputs);
    }
}

GF_TARGET_CLONES static void convert_grid(const struct gf_icc_transform *t, const void *in,
                                          int in_channels, void *out, int out_channels, int width)
{
    if (t->inputs == 4 && t->bits == 8)
        grid_row(t, in, 4, out, out_channels, width, 1, 8);
    else if (t->inputs == 4)
        grid_row(t, in, 4, out, out_channels, width, 1, 16);
    else if (t->bits == 8)
        grid_row(t, in, in_channels, out, out_channels, width, 0, 8);
    else
        grid_row(t, in, in_channels, out, out_channels, width, 0, 16);
}

/* Conversions by L*a*b* and a table that it indexes (GF_ICC_LAB). */

static inline __attribute__((always_inline)) quad_of_int node_at(const uint16_t *node)
{
    quad_of_samples samples;
    memcpy(&samples, node, sizeof samples);
    return __builtin_convertvector(samples, quad_of_int);
}

/* Computes gf_icc_mixed() for four channels. */
static inline __attribute__((always_inline)) quad_of_int mixed(quad_of_int low, quad_of_int high,
                                                               uint32_t part)
{
    return low + (((high - low) * (int32_t)part + GF_ICC_PART / 2) >> PART_BITS);
}

/* Computes gf_icc_trilinear() for four channels. */
static inline __attribute__((always_inline)) quad_of_sums
trilinear(const struct gf_icc_place place[3], const uint16_t *node, size_t grid)
{
    const size_t z = GF_ICC_NODE, y = grid * z, x = grid * y;
    const uint16_t *const at = node + place[0].node * x + place[1].node * y + place[2].node * z;
    quad_of_int end[2];
    for (size_t i = 0; i < 2; i++) {
        const uint16_t *const from = at + i * z;
        end[i] =
            mixed(mixed(node_at(from), node_at(from + x), place[0].part),
                  mixed(node_at(from + y), node_at(from + x + y), place[0].part), place[1].part);
    }
    return (quad_of_sums)mixed(end[0], end[1], place[2].part);
}

static inline __attribute__((always_inline)) void lab_row(const struct gf_icc_transform *restrict t,
                                                          const void *in, int in_channels,
                                                          void *restrict out, int out_channels,
                                                          int width, int outputs, int bits)
{
    const float *decode[3], *const root = gf_icc_block(t, t->root_at);
    const uint16_t *const nodes = gf_icc_block(t, t->node_at), *const curve =
                                                                   gf_icc_block(t, t->curve_at);
    for (unsigned c = 0; c < 3; c++)
        decode[c] = gf_icc_block(t, t->decode_at + c * t->decode_step);
    for (int x = 0; x < width; x++) {
        float v[3];
        struct gf_icc_place place[3];
        for (int c = 0; c < 3; c++)
            v[c] = decode[c][bits == 8 ? ((const unsigned char *)in)[x * in_channels + c]
                                       : ((const uint16_t *)in)[x * in_channels + c]];
        gf_icc_lab_places(t, root, curve, v[0], v[1], v[2], place);
        const quad_of_sums result = trilinear(place, nodes, (size_t)t->grid);
        if (bits == 8)
            store_8(t, result, (unsigned char *)out + x * out_channels, outputs);
        else
            store_16(t, result, (uint16_t *)out + x * out_channels, outputs);
    }
}

GF_TARGET_CLONES static void convert_lab(const struct gf_icc_transform *t, const void *in,
                                         int in_channels, void *out, int out_channels, int width)
{
    if (t->bits == 16)
        lab_row(t, in, in_channels, out, out_channels, width, t->outputs, 16);
    else if (t->outputs == 4)
        lab_row(t, in, in_channels, out, out_channels, width, 4, 8);
    else
        lab_row(t, in, in_channels, out, out_channels, width, 3, 8);
}

void gf_icc_convert(const struct gf_icc_transform *t, const void *in, int in_channels, void *out,
                    int out_channels, int width)
{
    if (t->kind == GF_ICC_LEVELS)
        convert_levels(t, in, in_channels, out, out_channels, width);
    else if (t->kind == GF_ICC_MATRIX)
        convert_matrix(t, in, in_channels, out, out_channels, width);
    else if (t->kind == GF_ICC_TONE)
        convert_tone(t, in, in_channels, out, out_channels, width);
    else if (t->kind == GF_ICC_LAB)
        convert_lab(t, in, in_channels, out, out_channels, width);
    else
        convert_grid(t, in, in_channels, out, out_channels, width);
    const bool done = t->kind == GF_ICC_MATRIX; /* convert_matrix() has copied alpha already */
    if (!done && in_channels > t->inputs && out_channels > t->outputs)
        copy_alpha(in, in_channels, out, out_channels, width, t->bits);
}

/* Conversions of floats, a piece of a row at a time: by formulas, on planes of channels, or by a
 * table for samples of 16 bits. */

enum { PIECE = 256 };

GF_TARGET_CLONES static void curve_piece(const struct gf_icc_formula *formula, const float *point,
                                         float *plane, int n)
{
    const struct gf_icc_formula f = *formula;
    const bool is_same = !f.points && f.from == INFINITY && f.line == 1.0f && f.foot == 0.0f;
    for (int i = 0; !is_same && i < n; i++)
        plane[i] = gf_icc_curved(&f, point, plane[i]);
}

static void curve_all(const struct gf_icc_transform *t, int first, int channels,
                      float plane[3][PIECE], int n)
{
    const struct gf_icc_formula *const formula = gf_icc_block(t, t->formula_at);
    for (int c = 0; c < channels; c++)
        curve_piece(&formula[first + c], gf_icc_block(t, formula[first + c].table_at), plane[c], n);
}

GF_TARGET_CLONES static void mix(const struct gf_icc_transform *t, float plane[3][PIECE], int n)
{
    for (int i = 0; i < n; i++) {
        const float r = plane[0][i], g = plane[1][i], b = plane[2][i];
        for (int c = 0; c < t->outputs; c++)
            plane[c][i] = (r * t->matrix[c][0] + g * t->matrix[c][1]) + b * t->matrix[c][2];
    }
}

/* Does what a TONE does. What is far beyond the peak or below 0 is limited, so that infinite light
 * is white; gray is three equal channels. */
GF_TARGET_CLONES static void tone(const struct gf_icc_transform *t, float plane[3][PIECE], int n)
{
    const float *const gain = gf_icc_block(t, t->gain_at);
    for (int i = 0; i < n; i++) {
        float v[3], light[3];
        bool is_nan = false;
        for (int c = 0; c < 3; c++) {
            const float own = plane[t->inputs == 1 ? 0 : c][i];
            is_nan |= own != own;
            v[c] = own > -16.0f ? own < 16.0f ? own : 16.0f : -16.0f;
        }
        gf_icc_tone(t, gain, v[0], v[1], v[2], light);
        for (int c = 0; c < t->outputs; c++)
            plane[c][i] = is_nan ? NAN : light[c];
    }
}

static void by_formulas(const struct gf_icc_transform *t, const float *in, int in_channels,
                        float *out, int out_channels, int n)
{
    float plane[3][PIECE] = {{0}};
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < t->inputs; c++)
            plane[c][i] = in[i * in_channels + c];
    }
    curve_all(t, 0, t->inputs, plane, n);
    if (t->gain_at)
        tone(t, plane, n);
    else if (!t->keeps_light)
        mix(t, plane, n);
    curve_all(t, 3, t->outputs, plane, n);
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < t->outputs; c++)
            out[i * out_channels + c] = plane[c][i];
    }
}

static void by_words(const struct gf_icc_transform *t, const float *in, int in_channels, float *out,
                     int out_channels, int n)
{
    uint16_t from[PIECE * 4] = {0}, to[PIECE * 4];
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < t->inputs; c++)
            from[i * t->inputs + c] = (uint16_t)gf_icc_word(in[i * in_channels + c] * 65535.0f);
    }
    gf_icc_convert(t, from, t->inputs, to, t->outputs, n);
    for (int i = 0; i < n; i++) {
        bool is_nan = false;
        for (int c = 0; c < t->inputs; c++)
            is_nan |= isnan(in[i * in_channels + c]);
        for (int c = 0; c < t->outputs; c++)
            out[i * out_channels + c] = is_nan ? NAN : (float)to[i * t->outputs + c] / 65535.0f;
    }
}

void gf_icc_convert_floats(const struct gf_icc_transform *t, const float *in, int in_channels,
                           float *out, int out_channels, int width)
{
    for (int x = 0; x < width; x += PIECE) {
        const int n = width - x < PIECE ? width - x : PIECE;
        const float *const from = in + (ptrdiff_t)x * in_channels;
        float *const to = out + (ptrdiff_t)x * out_channels;
        if (t->kind == GF_ICC_FLOATS)
            by_formulas(t, from, in_channels, to, out_channels, n);
        else
            by_words(t, from, in_channels, to, out_channels, n);
        for (int i = 0; in_channels > t->inputs && out_channels > t->outputs && i < n; i++)
            to[(i + 1) * out_channels - 1] = from[(i + 1) * in_channels - 1];
    }
}
