/* Point programs that convert 8-bit samples with vector instructions (GF_CPU_VBMI). */
#ifndef GF_PIXEL_POINT_POINT_BYTES_H
#define GF_PIXEL_POINT_POINT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "pixel/point/point_program.h"

/* Converts n RGB pixels to gray by `count` operations: a GRAY, or a GRAY and a STEP. Returns false,
 * and writes nothing, if the weights are not multiples of 1/256, or if `in` is `out`. */
GF_X86_ONLY bool gf_bytes_gray(const struct gf_point_op *op, int count, const uint8_t *in, size_t n,
                               uint8_t *out);
/* Converts n gray pixels to RGB: out[3 i + c] becomes table[c][in[i]]. */
GF_X86_ONLY void gf_bytes_colour(const uint8_t table[3][256], const uint8_t *in, size_t n,
                                 uint8_t *out);
/* Mixes n samples: out becomes in + (s - in) opacity, rounded. The opacity is 0..1. */
GF_X86_ONLY void gf_bytes_mix(float opacity, const uint8_t *s, const uint8_t *in, uint8_t *out,
                              size_t n);

/* Maps rows of 8-bit samples through tables with vector instructions. */

/* Sets out[i] to table[c][in[i]] for i < count, where c is i modulo channels (1 to 4); table:
 * [channels][256]. The arrays do not overlap. Needs GF_CPU_VBMI. */
GF_X86_ONLY void gf_map_simd(const uint8_t *in, uint8_t *out, size_t count, int channels,
                             const uint8_t *table);

#endif
