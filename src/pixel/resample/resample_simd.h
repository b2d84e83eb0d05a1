/* Both passes of resize for samples of 8 bits by vectors. The first makes sixteen samples of the
 * result at a time: for each tap their inputs are picked from 64 bytes. Its products are exact
 * (pixel/resample.h), so that its sums are those of the portable code. What works on rows is
 * GF_CPU_VBMI. */
#ifndef GF_PIXEL_RESAMPLE_RESAMPLE_SIMD_H
#define GF_PIXEL_RESAMPLE_RESAMPLE_SIMD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cpu.h"
#include "pixel/resample/resample.h"

enum {
    GF_RESAMPLE_LANES = 16, /* samples of the result in a vector */
    GF_RESAMPLE_LINES = 4,  /* rows that are made at once */
};

/* The column table by vectors. Lane j of vector b is the sum of weight[(b * taps + k) * 16 + j]
 * times input sample base[b] + k * channels + lane[b * 16 + j], k < taps. */
struct gf_resample_lanes {
    int vectors, taps, channels;
    int *base;
    unsigned char *lane;
    float *weight;
    int *from; /* where the weights of a lane's pixel begin in the column table */
};

/* Whether the lanes of such columns lie near enough. */
bool gf_resample_lanes_fit(const struct gf_resample_axis *columns, struct gf_format in);

/* Fills the arrays, for which there is room. */
void gf_resample_lanes_fill(struct gf_resample_lanes *lanes, const struct gf_resample *resample);

/* Rows of the first pass, 1..GF_RESAMPLE_LINES, from as many input rows of `samples` bytes. Results
 * are clamped to 0..max; up to 15 floats behind a row are overwritten. */
GF_X86_ONLY void gf_resample_lanes_rows(const struct gf_resample_lanes *lanes,
                                        const unsigned char *const *rows, int count, size_t samples,
                                        float max, float *const *out);

/* The second pass: the sum of rows times their weights, in their order, rounded to bytes. Up to 63
 * floats behind a row are read. */
GF_X86_ONLY void gf_resample_lanes_sum(const float *const *rows, const float *weight, int count,
                                       size_t samples, unsigned char *to);

/* The nearest kernel, pixels of one byte: `count` results, each its byte start[i] of a row. The
 * first uses base and lane of `lanes`, and returns false where lanes lie too far apart. */
GF_X86_ONLY bool gf_resample_picks_fill(struct gf_resample_lanes *lanes, const int *start,
                                        int count);
GF_X86_ONLY void gf_resample_picks_row(const struct gf_resample_lanes *lanes,
                                       const unsigned char *row, int bytes, int count,
                                       unsigned char *to);

#endif
