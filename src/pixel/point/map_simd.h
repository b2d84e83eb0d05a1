/* Maps rows of 8-bit samples through tables with vector instructions. */
#ifndef GF_PIXEL_POINT_MAP_SIMD_H
#define GF_PIXEL_POINT_MAP_SIMD_H

#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"

/* Writes table[c][in[i]] to out[i] for i < count, where c is i modulo channels (1 to 4); table:
 * [channels][256]. The arrays do not overlap. Needs GF_CPU_VBMI. */
GF_X86_ONLY void gf_map_simd(const uint8_t *in, uint8_t *out, size_t count, int channels,
                             const uint8_t *table);

#endif
