/* Mirrors rows and transposes tiles with vector instructions (GF_CPU_SSSE3). */
#pragma once

#include <stddef.h>

#include "base/cpu.h"

/* Writes `count` pixels of each of `rows` rows in reverse order to another row. A pixel has `size`
 * bytes (1, 2, 3, 4, 6, 8). Either step may be negative. Returns how many pixels of each result row
 * were written; the caller has to write the others. */
GF_X86_ONLY int gf_orient_mirror_simd(size_t size, const unsigned char *src, ptrdiff_t src_step,
                                      unsigned char *dst, ptrdiff_t dst_step, int count, int rows);

/* Transposes a tile of pixels of 1 to 4 bytes: pixel x of result row y, at dst + y * dst_step, is
 * pixel y of input row x, at src + x * src_step. With a negative step, later rows are at lower
 * addresses. Both sides of the tile are multiples of gf_orient_side(size). For a size of 3, 4 bytes
 * after each result row are overwritten, and 4 bytes after each input row are read. */
GF_X86_ONLY void gf_orient_turn_simd(size_t size, const unsigned char *src, ptrdiff_t src_step,
                                     unsigned char *dst, ptrdiff_t dst_step, int columns, int rows);

/* Returns the side of the smallest tile of gf_orient_turn_simd(), or 0 if it does not accept pixels
 * of that size. */
static inline int gf_orient_side(size_t size)
{
    return size == 1 ? 16 : size == 2 ? 8 : size == 3 || size == 4 ? 4 : 0;
}
