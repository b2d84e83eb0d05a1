/* Pixels of one row in reverse order, and tiles turned, by vector instructions (GF_CPU_SSSE3). */
#ifndef GF_PIXEL_ORIENT_ORIENT_SIMD_H
#define GF_PIXEL_ORIENT_ORIENT_SIMD_H

#include <stddef.h>

#include "base/cpu.h"

/* Writes pixels 0 .. count - 1 of `size` bytes (1, 2, 3, 4, 6, 8) of each of `rows` rows in reverse
 * order to another. Either step may be negative. Returns how many pixels of each result row are
 * written; the rest is the caller's. */
GF_X86_ONLY int gf_orient_mirror_simd(size_t size, const unsigned char *src, ptrdiff_t src_step,
                                      unsigned char *dst, ptrdiff_t dst_step, int count, int rows);

/* Turns a tile of pixels of 1 to 4 bytes: pixel x of result row y, at dst + y * dst_step, is
 * pixel y of input row x, at src + x * src_step. Either step may be negative: rows then run
 * upwards. Both sides of the tile are multiples of gf_orient_side(size). Beside the tile, as many
 * as 4 bytes right of each row of the result are overwritten, and 4 bytes right of each input row
 * are read, where the size is 3. */
GF_X86_ONLY void gf_orient_turn_simd(size_t size, const unsigned char *src, ptrdiff_t src_step,
                                     unsigned char *dst, ptrdiff_t dst_step, int columns, int rows);

/* 0: gf_orient_turn_simd() does not take pixels of that size. */
static inline int gf_orient_side(size_t size)
{
    return size == 1 ? 16 : size == 2 ? 8 : size == 3 || size == 4 ? 4 : 0;
}

#endif
