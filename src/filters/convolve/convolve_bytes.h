/* Convolutions of 8 bits on the CPU by sums of products of bytes, in exact integers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/cpu.h"
#include "filters/convolve/convolve.h"
#include "stage/stage.h"

/* The numbers of result rows that are computed together, and of groups of four picture rows that
 * they need. */
enum {
    GF_CONVOLVE_LINES = 4,
    GF_CONVOLVE_GROUPS_MAX = (GF_MATRIX_SIDE_MAX + 2 * GF_CONVOLVE_LINES - 2) / GF_CONVOLVE_LINES
};

/* The taps of one column of a group, for each of the four result rows: four signed bytes of a
 * word. */
struct gf_convolve_quad {
    int group, column;
    int32_t tap[GF_CONVOLVE_LINES];
};

/* How a sum of products of integers and samples becomes the result. */
enum gf_convolve_end {
    GF_CONVOLVE_NO_END, /* the sums cannot be computed from bytes */
    GF_CONVOLVE_SHIFT,  /* (sum + start) >> shift */
    GF_CONVOLVE_EXACT,  /* gf_convolve_finish(sum * scale), with the divisor and the bias */
    GF_CONVOLVE_NEAR    /* a value between sum * scale + low and sum * scale + high, which include
                         * the half for rounding */
};

struct gf_convolve_bytes {
    int width, height, groups; /* the kernel's size; its number of row groups */
    enum gf_convolve_end end;
    int start, shift;
    float scale, divisor, bias, low, high;
    int count; /* the number of elements of quad, which has only columns with a tap other than 0 */
    struct gf_convolve_quad quad[GF_CONVOLVE_GROUPS_MAX * GF_MATRIX_SIDE_MAX];
};

/* Decides how the kernel's sums can be computed from bytes. Returns false if they cannot, or if the
 * results could differ from the results of the CPU's float sums. */
bool gf_convolve_bytes_of(const struct gf_convolve *convolve, struct gf_convolve_bytes *bytes);

/* Computes `count` samples of each of the four result rows. Each input word contains the samples of
 * four picture rows. group[g] begins half a kernel to the left of the first result; columns are
 * `step` words apart. Words are read, and bytes are written, up to the next multiple of 64 samples.
 * doubt: [4][count / 64 + 1] masks of the samples that remain uncertain with GF_CONVOLVE_NEAR; the
 * function returns whether there are any. Needs GF_CPU_VNNI. */
GF_X86_ONLY bool gf_convolve_bytes_lines(const struct gf_convolve_bytes *bytes,
                                         const uint32_t *const *group, int step, size_t count,
                                         unsigned char *const *out, uint64_t *const *doubt);
/* Interleaves `count` samples of four rows to words, up to the next multiple of 64. Needs
 * GF_CPU_VNNI. */
GF_X86_ONLY void gf_convolve_bytes_words(const unsigned char *const *rows, size_t count,
                                         uint32_t *to);

/* The functions cpu() and cpu_scratch() for 8-bit pictures without alpha and kernels that
 * gf_convolve_bytes_of() accepts. */
void gf_convolve_bytes_cpu(const struct gf_convolve *convolve,
                           const struct gf_convolve_bytes *bytes, const struct gf_view *in,
                           const struct gf_view *out, void *scratch);
size_t gf_convolve_bytes_scratch(const struct gf_stage *stage);
