/* Shared parts of the Gaussian's kernels. A type Finish defines how blurred samples are finished:
 * blur rounds them, unsharp compares them with the picture. For 8 bits, sample8(sum, original)
 * computes the sample from a sum with 24 fraction bits, which began at START. If ORIGINAL is set,
 * `original` is the picture's own sample. BYTE is the byte of the result that holds the sample.
 * four(sum, originals) computes a word of four samples. For 16 bits, sample16(blurred, in) has the
 * sample in its lower 16 bits. sample16_near() does the same for a `blurred` that is less than half
 * a level outside 0..65535, as sums of few taps are. BLOCKS is the number of blocks that a
 * multiprocessor's registers must hold for radii up to 6. */
#pragma once

#include "cuda/common/byte_operands.cuh"
#include "cuda/common/stencil.cuh"
#include "pixel/gauss/gauss.h"

enum {
    GAUSS_THREADS = 256,
    TILE_SAMPLES =
        768, /* samples of a row of a tile: whole pixels and 16-byte chunks for 1 to 4 channels */
    TILE_ROWS = 16,
    RUN = 8, /* pixels of a row that a thread computes */
};

/* Packs byte BYTE of four results into a word. */
template <int BYTE>
static __device__ __forceinline__ unsigned pack_bytes(unsigned a, unsigned b, unsigned c,
                                                      unsigned d)
{
    const unsigned selector = BYTE | (4 + BYTE) << 4;
    return __byte_perm(__byte_perm(a, b, selector), __byte_perm(c, d, selector), 0x5410);
}
