/* Resampling by separable kernels: the weights, which prepare() computes once for both backends,
 * and the conversions of samples before and after the sums. The first pass resamples columns: each
 * input row becomes a row of floats of the result's width, clamped to 0..M so that overshoot does
 * not enter the second pass. The second pass resamples rows. On both backends, sums are computed in
 * the order of the input's pixels, and each product is rounded before it is added. For 8-bit
 * samples the columns' weights have 16 bits: their products are exact, so that a fused multiply-add
 * gives the same result. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "pixel/colour.h"
#include "stage/stage.h"

enum gf_resample_kernel {
    GF_RESAMPLE_LANCZOS3,
    GF_RESAMPLE_CUBIC,
    GF_RESAMPLE_LINEAR,
    GF_RESAMPLE_NEAREST,
    GF_RESAMPLE_AREA,
    GF_RESAMPLE_HAMMING,
};

/* One axis: the centre of output i is at the input's position from + (i + offset + 0.5) * scale. */
struct gf_resample_axis {
    int in, out, offset;
    double scale, from;
};

enum {
    GF_RESAMPLE_GROUP = 4
}; /* the device computes this many adjacent outputs from one run of
    * inputs */

/* The tables of one axis, as offsets in bytes from the block of constants. Output i is the sum over
 * k < count[i] of weight[i * taps + k] times input start[i] + k; with the nearest kernel it is
 * input start[i]. The device computes groups of four outputs: output 4 g + j is the sum over k <
 * group_count[g] of group_weight[(g * group_taps + k) * 4 + j] times input group_start[g] + k; the
 * weight is 0 for inputs that the output does not have. Groups of columns start and end at
 * multiples of 4. */
struct gf_resample_table {
    size_t start, count, weight, group_start, group_count, group_weight;
    int taps, group_taps;
};

/* How wide a window of inputs a group of columns has in struct gf_resample_walk. */
enum gf_resample_width {
    GF_RESAMPLE_NARROW, /* its width is what gf_resample_walk_window() returns */
    GF_RESAMPLE_WIDE,   /* its width is a multiple of 4 */
    GF_RESAMPLE_HALVES, /* as NARROW, and column i of a group reads from 2 i pixels behind column 0
                         * on */
};

/* The same weights, for threads of the device that compute `group` adjacent columns each and walk
 * down the rows. Column i of group g is the sum over k < window of input column_start[g] + k times
 * column_weight[((k / 4 * groups + g) * 4 + k % 4) * group + i]. Row r of the first pass is added
 * to result rows row_first[r] + j, j < reach, times row_weight[r * stride + j]; the number behind
 * these weights is 1 if result row row_first[r] is then complete. With `gathers` (enlarging),
 * result row y is instead the sum of the last `reach` rows times row_weight[y * stride + j]. */
struct gf_resample_walk {
    int group; /* 0: no kernel walks down such a picture */
    int window, reach;
    bool gathers;
    enum gf_resample_width width_kind;
    size_t column_start, column_weight, row_first, row_weight;
    /* With gf_resample.linear: the offset of uint32_t[GF_RESAMPLE_ENCODE_BUCKETS] in the block. */
    size_t encode;
};

/* A table that converts linear light x, 0..1, to a rounded 8-bit sample. A bucket is 2^15 steps of
 * the float x + 1/16 wide, so that the sample changes at most once in it. If `at` is the bits of
 * that float, the sample is the upper half of entry gf_resample_encode_bucket(at) plus `at`. If the
 * lower half is within GUARD of 0, x is so close to a change that gf_resample_encode() must decide:
 * its rounding errors move a change by less than GUARD, which was checked for all floats. */
#define GF_RESAMPLE_ENCODE_OFFSET 0.0625f
enum { GF_RESAMPLE_ENCODE_BUCKETS = 1041, GF_RESAMPLE_ENCODE_GUARD = 16 };

GF_HOST_DEVICE uint32_t gf_resample_encode_bucket(uint32_t at)
{
    return (at >> 15) - (0x3d800000u >> 15);
}

/* Returns the width of a group's window for ratios up to 2 or, if it is `tight`, for ratios up to 1
 * and a little above. */
static inline int gf_resample_walk_window(int group, int reach, bool tight)
{
    return tight ? reach + group : 2 * (reach + group - 1);
}

/* Returns how many weights of row_weight a row has, for a `reach` of 2, 4 or 6. */
static inline int gf_resample_walk_stride(int reach)
{
    return reach == 2 ? 4 : 8;
}

struct gf_resample {
    enum gf_resample_kernel kernel;
    bool linear; /* whether linear light, 0..1, is summed instead of samples */
    struct gf_resample_axis column_axis, row_axis;
    struct gf_resample_table columns, rows;
    struct gf_resample_walk walk;
    /* If `linear` is true: the offset of float[M + 1], the linear light of each sample. */
    size_t decode;
};

static inline const int *gf_resample_ints(const void *block, size_t offset)
{
    return (const int *)((const char *)block + offset);
}

static inline const float *gf_resample_floats(const void *block, size_t offset)
{
    return (const float *)((const char *)block + offset);
}

/* Returns the number to which results of the first pass are limited. It is infinite for kernels
 * without negative weights, whose results need no limit. */
static inline float gf_resample_most(const struct gf_resample *resample, int bits)
{
    if (resample->kernel == GF_RESAMPLE_LINEAR || resample->kernel == GF_RESAMPLE_AREA ||
        resample->kernel == GF_RESAMPLE_HAMMING)
        return INFINITY;
    return resample->linear ? 1.0f : bits == 8 ? 255.0f : 65535.0f;
}

/* Finds the inputs first .. end - 1 that outputs i0 .. i1 - 1 depend on. For the nearest kernel
 * they may be more than that. */
void gf_resample_inputs(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis, int i0,
                        int i1, int *first, int *end);

static inline int gf_at_most(double v, int most)
{
    return v < most ? (int)v : most;
}
/* Returns half the width of a kernel that is not widened, in inputs. */
double gf_resample_radius(enum gf_resample_kernel kernel);
/* Return the largest number of inputs that an output has, and that `rows` adjacent ones have. */
int gf_resample_taps_most(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis);
int gf_resample_inputs_most(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis,
                            int rows);

/* Fills stage->constants with a struct gf_resample and the arrays behind it. */
enum gf_status gf_resample_prepare(struct gf_stage *stage, enum gf_resample_kernel kernel,
                                   bool linear, const struct gf_resample_axis *column_axis,
                                   const struct gf_resample_axis *row_axis,
                                   struct gf_error *error) GF_CHECKED;

/* Whether a device keeps rows of floats in scratch memory between the passes: where results that
 * are near each other have few of their rows in common. */
static inline bool gf_resample_has_mid(const struct gf_resample_axis *rows)
{
    return rows->scale > 4;
}

/* Returns the bytes from one row of that scratch memory to the next; `format` is that of the
 * result. */
static inline size_t gf_resample_mid_pitch(struct gf_format format)
{
    return ((size_t)format.width * (size_t)format.channels * sizeof(float) + 255) / 256 * 256;
}

/* The functions cpu_scratch() and cpu() of resize. */
size_t gf_resample_scratch(const struct gf_stage *stage, enum gf_resample_kernel kernel,
                           bool linear, const struct gf_resample_axis *columns,
                           const struct gf_resample_axis *rows);
void gf_resample_cpu(const struct gf_stage *stage, const struct gf_view *in,
                     const struct gf_view *out, void *scratch);

/* Computes `count` rounded means of 2 x 2 pixels of 8-bit samples in rows a and b by vectors.
 * Returns how many it has made, which is 0 on processors without vectors. */
int gf_resample_halve_once(const unsigned char *a, const unsigned char *b, int count, int channels,
                           unsigned char *row);

GF_HOST_DEVICE float gf_resample_encode(float light)
{
    return gf_srgb_encode(gf_clamp(light, 1.0f));
}

/* Converts premultiplied sRGB, whose colour and alpha are 0..max, to premultiplied linear light. */
GF_HOST_DEVICE float gf_resample_decode_premultiplied(uint32_t colour, uint32_t alpha, uint32_t max,
                                                      const float *decode)
{
    if (alpha == 0)
        return 0.0f;
    const uint32_t straight = (colour * max + alpha / 2) / alpha;
    return decode[straight < max ? straight : max] * ((float)alpha / (float)max);
}

/* Converts premultiplied linear light to premultiplied sRGB, 0..1, of the same alpha. */
GF_HOST_DEVICE float gf_resample_encode_premultiplied(float light, float alpha)
{
    const float a = gf_clamp(alpha, 1.0f);
    return a > 0.0f ? gf_resample_encode(light / a) * a : 0.0f;
}
