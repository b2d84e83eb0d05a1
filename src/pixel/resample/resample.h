/* Resampling by separable kernels: the weights that prepare() computes once for both backends, and
 * the conversions of samples before and after the sums.
 *
 * Columns first: each input row becomes a row of floats of the result's width, clamped to 0..M
 * (overshoot does not enter the second pass); then rows. Sums run in the order of the input's
 * pixels, one product rounded and added after the other, on both backends alike. Columns' weights
 * for samples of 8 bits have 16 bits: their products are exact, so that a fused multiply-add, where
 * there is one, rounds as two steps do. */
#ifndef GF_PIXEL_RESAMPLE_RESAMPLE_H
#define GF_PIXEL_RESAMPLE_RESAMPLE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/c_linkage.h"
#include "pixel/colour.h"
#include "stage/stage.h"

GF_C_BEGIN

enum gf_resample_kernel {
    GF_RESAMPLE_LANCZOS3,
    GF_RESAMPLE_CUBIC,
    GF_RESAMPLE_LINEAR,
    GF_RESAMPLE_NEAREST,
    GF_RESAMPLE_AREA,
};

/* Output index i lies at (i + offset + 0.5) * scale in the input's axis. */
struct gf_resample_axis {
    int in, out, offset;
    double scale;
};

enum { GF_RESAMPLE_GROUP = 4 }; /* outputs that the device makes from one run of inputs */

/* The weights of one axis: the arrays' places in the block, in bytes. Output i is the sum over k <
 * count[i] of weight[i * taps + k] times input start[i] + k; with the nearest kernel it is input
 * start[i].
 *
 * The device makes groups of four outputs. Output 4 g + j is the sum over k < group_count[g] of
 * group_weight[(g * group_taps + k) * 4 + j] times input group_start[g] + k. The weight is zero
 * where the output does not use that input. Groups of columns start and end at multiples of 4. */
struct gf_resample_table {
    size_t start, count, weight, group_start, group_count, group_weight;
    int taps, group_taps;
};

/* How the columns of struct gf_resample_walk lie in the input. */
enum gf_resample_width {
    GF_RESAMPLE_NARROW, /* window is what gf_resample_walk_window() says */
    GF_RESAMPLE_WIDE,   /* a multiple of 4 */
    GF_RESAMPLE_HALVES, /* as the first, and column i starts 2 i pixels behind column 0; groups at
                         * either end may start before the picture or end behind it */
};

/* The same weights for threads on the device that make `group` adjacent columns each and walk down
 * the rows. Column i of group g is the sum of inputs column_start[g] + k, k < window, times
 * column_weight[((k / 4 * groups + g) * 4 + k % 4) * group + i]. Row r of the first pass is added
 * to results row_first[r] + j, j < reach, times row_weight[r * stride + j]; the number behind these
 * weights is 1 where result row_first[r] is complete then. Where rows are gathered instead
 * (enlarging), the last `reach` rows make result y, times row_weight[y * stride + j]. */
struct gf_resample_walk {
    int group; /* 0: this kernel does not take the picture */
    int window, reach;
    bool gathers;
    enum gf_resample_width width_kind;
    size_t column_start, column_weight, row_first, row_weight;
    size_t encode; /* uint32_t[GF_RESAMPLE_ENCODE_CELLS], where linear */
};

/* Makes a rounded sample of 8 bits from linear light x, 0..1, by a table. Cells are as wide as 2^15
 * steps of the float x + 1/16, so narrow that the sample changes at most once in each. With `at`
 * the bits of that float, the sample is the upper half of entry gf_resample_encode_cell(at) + at,
 * unless the lower half is within GUARD of 0: then x is so near a change that only
 * gf_resample_encode() decides. Its rounding errors move a change by less than GUARD; all floats
 * were tried. */
#define GF_RESAMPLE_ENCODE_OFFSET 0.0625f
enum { GF_RESAMPLE_ENCODE_CELLS = 1041, GF_RESAMPLE_ENCODE_GUARD = 16 };

GF_HOST_DEVICE uint32_t gf_resample_encode_cell(uint32_t at)
{
    return (at >> 15) - (0x3d800000u >> 15);
}

/* The window of a group of columns for ratios up to 2, or, where rows are gathered, up to 1. */
static inline int gf_resample_walk_window(int group, int reach, bool gathers)
{
    return gathers ? reach + group : 2 * (reach + group - 1);
}

/* reach: 2, 4 or 6 */
static inline int gf_resample_walk_stride(int reach)
{
    return reach == 2 ? 4 : 8;
}

struct gf_resample {
    enum gf_resample_kernel kernel;
    bool linear; /* sums are of linear light, in 0..1 */
    struct gf_resample_axis column_axis, row_axis;
    struct gf_resample_table columns, rows;
    struct gf_resample_walk walk;
    size_t decode; /* float[M + 1]: linear light of a sample, where linear */
};

static inline const int *gf_resample_ints(const void *block, size_t offset)
{
    return (const int *)((const char *)block + offset);
}

static inline const float *gf_resample_floats(const void *block, size_t offset)
{
    return (const float *)((const char *)block + offset);
}

/* The limit to which the first pass is clamped. Where no weight is negative, clamping is not
 * necessary. */
static inline float gf_resample_most(const struct gf_resample *resample, int bits)
{
    if (resample->kernel == GF_RESAMPLE_LINEAR || resample->kernel == GF_RESAMPLE_AREA)
        return INFINITY;
    return resample->linear ? 1.0f : bits == 8 ? 255.0f : 65535.0f;
}

/* The inputs that outputs i0 .. i1 - 1 are made of; with the nearest kernel there may be more. */
void gf_resample_inputs(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis, int i0,
                        int i1, int *first, int *end);

/* The weights of the inputs that output i is made of; not with the nearest kernel. */
void gf_resample_weights(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis, int i,
                         float *weight);
static inline int gf_at_most(double v, int most)
{
    return v < most ? (int)v : most;
}
/* The most inputs that an output is made of. */
int gf_resample_taps_most(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis);

/* Fills stage->constants with a struct gf_resample and its arrays. */
enum gf_status gf_resample_prepare(struct gf_stage *stage, enum gf_resample_kernel kernel,
                                   bool linear, const struct gf_resample_axis *column_axis,
                                   const struct gf_resample_axis *row_axis,
                                   struct gf_error *error) GF_CHECKED;

/* Reserves the tables of the walk behind *used, and fills them once those of rows and columns are
 * filled (resample_walk.c). */
struct gf_resample_walk gf_resample_walk_plan(const struct gf_resample *resample,
                                              struct gf_format format, size_t *used);
void gf_resample_walk_fill(const struct gf_resample *resample, int bits, char *block);

/* cpu_scratch() and cpu() of resize. */
size_t gf_resample_scratch(const struct gf_stage *stage, enum gf_resample_kernel kernel,
                           bool linear, const struct gf_resample_axis *columns,
                           const struct gf_resample_axis *rows);
void gf_resample_cpu(const struct gf_stage *stage, const struct gf_view *in,
                     const struct gf_view *out, void *scratch);

/* How often both sides of a picture are halved, 1..3, where the result is made of whole means of 8
 * bits; else 0. The next function makes rows of such a result; sums: room for an input row. */
int gf_resample_halvings(const struct gf_resample *resample, struct gf_format format);
void gf_resample_halve(int halvings, const struct gf_view *in, const struct gf_view *out,
                       uint16_t *sums);

/* ---- linear light ---- */

GF_HOST_DEVICE float gf_resample_encode(float light)
{
    return gf_srgb_encode(gf_clamp(light, 1.0f));
}

/* Colour and alpha in 0..max, premultiplied as sRGB values: the colour's linear light,
 * premultiplied. */
GF_HOST_DEVICE float gf_resample_decode_premultiplied(uint32_t colour, uint32_t alpha, uint32_t max,
                                                      const float *decode)
{
    if (alpha == 0)
        return 0.0f;
    const uint32_t straight = (colour * max + alpha / 2) / alpha;
    return decode[straight < max ? straight : max] * ((float)alpha / (float)max);
}

/* The inverse, in 0..1. */
GF_HOST_DEVICE float gf_resample_encode_premultiplied(float light, float alpha)
{
    const float a = gf_clamp(alpha, 1.0f);
    return a > 0.0f ? gf_resample_encode(light / a) * a : 0.0f;
}

GF_C_END
#endif
