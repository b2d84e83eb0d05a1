/* Convolutions of 8 bits on the CPU by sums of products of bytes, exact in whole numbers. */
#ifndef GF_FILTERS_CONVOLVE_CONVOLVE_BYTES_H
#define GF_FILTERS_CONVOLVE_CONVOLVE_BYTES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cpu.h"
#include "filters/convolve/convolve.h"
#include "stage/stage.h"

/* Four rows of the result are made of groups of four rows of the picture. */
enum {
    GF_CONVOLVE_LINES = 4,
    GF_CONVOLVE_GROUPS_MAX = (GF_MATRIX_SIDE_MAX + 2 * GF_CONVOLVE_LINES - 2) / GF_CONVOLVE_LINES
};

/* How a column of four taps, as signed bytes of a word, enters each of the four rows of the
 * result. */
struct gf_convolve_quad {
    int group, column;
    int32_t tap[GF_CONVOLVE_LINES];
};

/* How the sum of number * sample becomes the result. */
enum gf_convolve_end {
    GF_CONVOLVE_NO_END, /* the kernel's sums cannot be made of bytes */
    GF_CONVOLVE_SHIFT,  /* (sum + start) >> shift */
    GF_CONVOLVE_EXACT,  /* gf_convolve_finish(sum * scale), divisor and bias */
    GF_CONVOLVE_NEAR    /* the result lies within sum * scale + low and sum * scale + high, with the
                         * half for rounding added */
};

struct gf_convolve_bytes {
    int width, height, groups; /* of the kernel; groups of rows that it meets */
    enum gf_convolve_end end;
    int start, shift;
    float scale, divisor, bias, low, high;
    int count; /* of quad, those that are not all 0 */
    struct gf_convolve_quad quad[GF_CONVOLVE_GROUPS_MAX * GF_MATRIX_SIDE_MAX];
};

/* Finds out how the kernel's sums can be made of bytes. False where this cannot be done, or may
 * differ from the CPU's sums of floats. */
bool gf_convolve_bytes_of(const struct gf_convolve *convolve, struct gf_convolve_bytes *bytes);

/* Sets `count` samples of each of the four rows of the result. Each input word holds the samples of
 * four rows of the picture; group[g] begins half a kernel left of the first result; `step` words
 * lie between columns. Words are read, and bytes written, up to the next multiple of 64 samples.
 * doubt: [4][count / 64 + 1] masks of the samples that GF_CONVOLVE_NEAR leaves in doubt; returns
 * whether there are any. This function and the next one need GF_CPU_VNNI. */
GF_X86_ONLY bool gf_convolve_bytes_lines(const struct gf_convolve_bytes *bytes,
                                         const uint32_t *const *group, int step, size_t count,
                                         unsigned char *const *out, uint64_t *const *doubt);
/* Words of four rows: count samples, up to the next multiple of 64. */
GF_X86_ONLY void gf_convolve_bytes_words(const unsigned char *const *rows, size_t count,
                                         uint32_t *to);

/* cpu() and cpu_scratch() for kernels that gf_convolve_bytes_of() takes, on 8 bits without
 * alpha. */
void gf_convolve_bytes_cpu(const struct gf_convolve *convolve,
                           const struct gf_convolve_bytes *bytes, const struct gf_view *in,
                           const struct gf_view *out, void *scratch);
size_t gf_convolve_bytes_scratch(const struct gf_stage *stage);

#endif
