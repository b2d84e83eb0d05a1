/* What the kernels of the Gaussian share. A type Finish says what is done with the blurred samples:
 * blur rounds them, unsharp compares them with the picture.
 *
 * For 8 bits, sample8(sum, original) makes the sample from a sum with 24 fraction bits, which began
 * at START; `original` is the picture's own sample if ORIGINAL asks for it, and BYTE is which byte
 * of the result counts. four(sum, originals) makes a word of four samples.
 *
 * For 16 bits, sample16(blurred, in) has the sample in its lower 16 bits. sample16_near does the
 * same for a `blurred` that is less than half a level outside 0..65535, as sums of few taps are.
 *
 * BLOCKS says how many blocks a multiprocessor's registers are to hold for radii up to 6. */
#ifndef GF_CUDA_FILTERS_GAUSS_GAUSS_COMMON_CUH
#define GF_CUDA_FILTERS_GAUSS_GAUSS_COMMON_CUH

#include "cuda/common/byte_operands.cuh"
#include "cuda/common/stencil.cuh"
#include "pixel/gauss/gauss.h"

enum {
    GAUSS_THREADS = 256,
    TILE_SAMPLES =
        768, /* of a row of a tile: whole pixels and 16-byte chunks for 1 to 4 channels */
    TILE_ROWS = 16,
    RUN = 8, /* pixels that a thread makes of a row */
    STAGING_PITCH = TILE_SAMPLES + 16,
};

/* Four results' bytes as a word. */
template <int BYTE>
static __device__ __forceinline__ unsigned pack_bytes(unsigned a, unsigned b, unsigned c,
                                                      unsigned d)
{
    const unsigned selector = BYTE | (4 + BYTE) << 4;
    return __byte_perm(__byte_perm(a, b, selector), __byte_perm(c, d, selector), 0x5410);
}

/* Moves the windows to the left and right of a run outwards by RUN samples. Then left[i] is the
 * sample at centre - base - RUN + i, and right[i] that at centre + base + i. */
template <class Vector, class Value>
static __device__ __forceinline__ void move_windows(const Value *centre, int base,
                                                    Value left[2 * RUN], Value right[2 * RUN])
{
#pragma unroll
    for (int i = 0; i < RUN; i++) {
        left[RUN + i] = left[i];
        right[i] = right[RUN + i];
    }
#pragma unroll
    for (int i = 0; i < RUN; i += 4) {
        unpack(*(const Vector *)(centre - base - RUN + i), left + i);
        unpack(*(const Vector *)(centre + base + RUN + i), right + RUN + i);
    }
}

template <class Args>
static __device__ __forceinline__ void finish_run(const Args &args, const unsigned sum[RUN], int x,
                                                  int y, int channel, unsigned word[2])
{
    const struct view_pair &p = args.p;
    const unsigned char *const in = p.in + (long long)(y - p.in_y) * (long long)p.in_pitch;
    unsigned result[RUN];
#pragma unroll
    for (int i = 0; i < RUN; i++)
        result[i] = args.finish.sample8(
            sum[i], decltype(args.finish)::ORIGINAL
                        ? in[(long long)min(x + i, p.width - 1) * p.channels + channel]
                        : 0);
#pragma unroll
    for (int i = 0; i < 2; i++)
        word[i] = pack_bytes<decltype(args.finish)::BYTE>(result[4 * i], result[4 * i + 1],
                                                          result[4 * i + 2], result[4 * i + 3]);
}

#endif
