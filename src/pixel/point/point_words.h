/* Computes point programs for 16 bits directly if their table is a simple function of the
 * sample. */
#ifndef GF_PIXEL_POINT_POINT_WORDS_H
#define GF_PIXEL_POINT_POINT_WORDS_H

#include <stdbool.h>

#include "base/cpu.h"
#include "pixel/point/point_program.h"

/* Whether a table, [65536], is v + c or c - v limited to 0..65535, or a step from 0 to 65535. *op
 * then becomes the equivalent LINEAR or STEP. */
bool gf_words_recognise(const uint16_t *table, struct gf_point_op *op);
/* Maps n samples by an operation that gf_words_recognise() has found. */
void gf_words_map(const struct gf_point_op *op, const uint16_t *in, uint16_t *out, size_t n);

/* Run one MATRIX, or one GRAY, on n RGB pixels with vectors (GF_CPU_AVX512). Both return false, and
 * write nothing, if sums exceed 32 bits, or if `in` is `out`. */
GF_X86_ONLY bool gf_words_matrix(const struct gf_point_op *op, const uint16_t *in, size_t n,
                                 uint16_t *out);
GF_X86_ONLY bool gf_words_gray(const struct gf_point_op *op, const uint16_t *in, size_t n,
                               uint16_t *out);

#endif
