/* Both passes of resize for 8-bit samples with vectors. The first pass computes sixteen result
 * samples at a time: for each tap, their inputs are selected from 64 bytes. The products are exact
 * (pixel/resample/resample.h), so that the sums equal those of the portable code. Functions on rows
 * need GF_CPU_VBMI. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/cpu.h"
#include "pixel/resample/resample.h"

enum {
    GF_RESAMPLE_LANES = 16, /* samples of the result in a vector */
    GF_RESAMPLE_LINES = 4,  /* rows that are computed together */
};

/* The table of columns for vectors. Lane j of vector b is the sum over k < taps of weight[(b * taps
 * + k) * 16 + j] times input sample base[b] + k * channels + lane[b * 16 + j]. */
struct gf_resample_lanes {
    int vectors, taps, channels;
    int *base;
    unsigned char *lane;
    float *weight;
    int *from; /* index in the column table of the first weight of each lane's pixel */
};

/* Whether the inputs of a vector's lanes are close enough together. */
bool gf_resample_lanes_fit(const struct gf_resample_axis *columns, struct gf_format in);

/* Fills the arrays of `lanes`, which the caller has allocated. */
void gf_resample_lanes_fill(struct gf_resample_lanes *lanes, const struct gf_resample *resample);

/* Computes 1..GF_RESAMPLE_LINES rows of the first pass from as many input rows of `samples` bytes.
 * Results are clamped to 0..max; up to 15 floats after a row are overwritten. */
GF_X86_ONLY void gf_resample_lanes_rows(const struct gf_resample_lanes *lanes,
                                        const unsigned char *const *rows, int count, size_t samples,
                                        float max, float *const *out);

/* Computes the second pass: the sum of rows times their weights, in order, rounded to bytes. Up to
 * 63 floats after a row are read. */
GF_X86_ONLY void gf_resample_lanes_sum(const float *const *rows, const float *weight, int count,
                                       size_t samples, unsigned char *to);

/* The nearest kernel for pixels of one byte: result i is byte start[i] of a row.
 * gf_resample_picks_fill() fills base and lane of `lanes`, and returns false if the inputs of lanes
 * are too far apart. */
GF_X86_ONLY bool gf_resample_picks_fill(struct gf_resample_lanes *lanes, const int *start,
                                        int count);
GF_X86_ONLY void gf_resample_picks_row(const struct gf_resample_lanes *lanes,
                                       const unsigned char *row, int bytes, int count,
                                       unsigned char *to);
