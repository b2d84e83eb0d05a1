/* Point programs of 16 bits that need no table: the CPU computes what it would look up. */
#ifndef GF_PIXEL_POINT_POINT_WORDS_H
#define GF_PIXEL_POINT_POINT_WORDS_H

#include <stdbool.h>

#include "base/cpu.h"
#include "pixel/point/point_program.h"

/* Whether a table, [65536], is v + c or c - v, limited to 0..65535, or is 65535 from a level on and
 * 0 below it: *op then becomes that LINEAR or STEP. */
bool gf_words_recognise(const uint16_t *table, struct gf_point_op *op);
/* n samples through such an operation. */
void gf_words_map(const struct gf_point_op *op, const uint16_t *in, uint16_t *out, size_t n);

/* n RGB pixels through one MATRIX, or one GRAY to gray pixels, in vectors (GF_CPU_AVX512). They
 * return false, and do nothing, where sums are beyond 32 bits, or `in` is `out`. */
GF_X86_ONLY bool gf_words_matrix(const struct gf_point_op *op, const uint16_t *in, size_t n,
                                 uint16_t *out);
GF_X86_ONLY bool gf_words_gray(const struct gf_point_op *op, const uint16_t *in, size_t n,
                               uint16_t *out);

#endif
