/* Convolutions of 8 bits on the CPU by sums of products of bytes, in exact integers. */
#ifndef GF_FILTERS_CONVOLVE_CONVOLVE_BYTES_H
#define GF_FILTERS_CONVOLVE_CONVOLVE_BYTES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cpu.h"
#include "filters/convolve/convolve.h"
#include "stage/stage.h"

/* Rows of the result that are computed from groups of four rows of the picture. */
enum {
    GF_CONVOLVE_LINES = 4,
    GF_CONVOLVE_GROUPS_MAX = (GF_MATRIX_SIDE_MAX + 2 * GF_CONVOLVE_LINES - 2) / GF_CONVOLVE_LINES
};

/* The factors of a group's column for each of the four rows of the result: four taps as signed
 * bytes of a word. */
struct gf_convolve_quad {
    int group, column;
    int32_t tap[GF_CONVOLVE_LINES];
};

/* How the sum of number * sample becomes the result. */
enum gf_convolve_end {
    GF_CONVOLVE_NO_END, /* the sums cannot be computed from bytes */
    GF_CONVOLVE_SHIFT,  /* (sum + start) >> shift */
    GF_CONVOLVE_EXACT,  /* gf_convolve_finish(sum * scale), divisor and bias */
    GF_CONVOLVE_NEAR    /* from sum * scale + low to + high, with the half for rounding */
};

struct gf_convolve_bytes {
    int width, height, groups; /* size of the kernel; number of row groups for it */
    enum gf_convolve_end end;
    int start, shift;
    float scale, divisor, bias, low, high;
    int count; /* number of elements in quad, those that are not 0 */
    struct gf_convolve_quad quad[GF_CONVOLVE_GROUPS_MAX * GF_MATRIX_SIDE_MAX];
};

/* Decides how the kernel's sums can be computed from bytes. False where this is impossible, or
 * could differ from the CPU's sums of floats. */
bool gf_convolve_bytes_of(const struct gf_convolve *convolve, struct gf_convolve_bytes *bytes);

/* Computes `count` samples of each of the four rows of the result. Each input word contains the
 * samples of four rows of the picture; group[g] begins half a kernel left of the first result;
 * columns are `step` words apart. Words are read, and bytes are written, up to the next multiple of
 * 64 samples. doubt: [4][count / 64 + 1] masks of the samples that remain uncertain with
 * GF_CONVOLVE_NEAR; returns whether there are any. This function and the next one need
 * GF_CPU_VNNI. */
GF_X86_ONLY bool gf_convolve_bytes_lines(const struct gf_convolve_bytes *bytes,
                                         const uint32_t *const *group, int step, size_t count,
                                         unsigned char *const *out, uint64_t *const *doubt);
/* Interleaves four rows to words: `count` samples, up to the next multiple of 64. */
GF_X86_ONLY void gf_convolve_bytes_words(const unsigned char *const *rows, size_t count,
                                         uint32_t *to);

/* Implementations of cpu() and cpu_scratch() for kernels that gf_convolve_bytes_of() accepts, on 8
 * bits without alpha. */
void gf_convolve_bytes_cpu(const struct gf_convolve *convolve,
                           const struct gf_convolve_bytes *bytes, const struct gf_view *in,
                           const struct gf_view *out, void *scratch);
size_t gf_convolve_bytes_scratch(const struct gf_stage *stage);

#endif
