#pragma once

#include "base/cpu.h"
#include "pixel/stencil.h"

/* Computes for each of `width` samples of 8 or 16 bits the distance in pixels to the nearest sample
 * of the row that is 0. A distance of 65535 also stands for a row without such a sample. Needs
 * GF_CPU_AVX512. */
GF_X86_ONLY void gf_distance_along_simd(const unsigned char *row, int bits, int width,
                                        gf_u16_any *to);
