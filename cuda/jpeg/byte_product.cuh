/* Functions by which a warp multiplies matrices of bytes. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/common/mma.cuh"

/* d = a * b + c, where a is 16 x 16 and b is 16 x 8, and the lanes hold them as in mma.cuh. Either
 * a or b is signed. */
template <bool SIGNED_A>
static __device__ __forceinline__ void multiply_bytes(unsigned a0, unsigned a1, unsigned b,
                                                      const int c[4], int d[4])
{
    const unsigned a[2] = {a0, a1};
    for (int i = 0; i < 4; i++)
        d[i] = c[i];
    if (SIGNED_A)
        mma_signed_k16(d, a, b);
    else
        mma_by_signed_k16(d, a, b);
}

/* Computes d = a * b + c for an a of 32 unsigned columns and a b of 32 rows. */
static __device__ __forceinline__ void multiply_long(const unsigned a[4], const unsigned b[2],
                                                     const int c[4], int d[4])
{
    for (int i = 0; i < 4; i++)
        d[i] = c[i];
    mma_by_signed_k32(d, a, b[0], b[1]);
}
