/* Functions by which a warp multiplies matrices of bytes. */
#pragma once

#include "cuda/common/launch.cuh"

/* d = a * b + c, where a is 16 x 16 and b is 16 x 8. Lane i has these elements: of a the bytes 4 *
 * (i % 4) .. + 3 of rows i / 4 and i / 4 + 8; of b the same bytes of column i / 4; of c and d
 * columns 2 * (i % 4) and + 1 of rows i / 4 (elements 0 and 1) and i / 4 + 8 (2 and 3). Either a or
 * b is signed. */
#if __CUDA_ARCH__ >= 800
template <bool SIGNED_A>
static __device__ __forceinline__ void multiply_bytes(unsigned a0, unsigned a1, unsigned b,
                                                      const int c[4], int d[4])
{
    if (SIGNED_A)
        asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
            "{%7, %8, %9, %10};"
            : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
            : "r"(a0), "r"(a1), "r"(b), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
    else
        asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
            "{%7, %8, %9, %10};"
            : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
            : "r"(a0), "r"(a1), "r"(b), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

/* Computes d = a * b + c for an a of 32 unsigned columns and a b of 32 rows. a[2], a[3] and b[1]
 * hold the last 16 columns and rows. */
static __device__ __forceinline__ void multiply_long(const unsigned a[4], const unsigned b[2],
                                                     const int c[4], int d[4])
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%10, %11, %12, %13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]),
          "r"(c[2]), "r"(c[3]));
}
#else
static __device__ __forceinline__ int multiply_four(unsigned with_sign, unsigned without, int sum)
{
    for (int shift = 0; shift < 32; shift += 8)
        sum += (signed char)(with_sign >> shift) * (int)(without >> shift & 255);
    return sum;
}

/* Does the same as the function above, for GPUs before compute capability 8.0. */
template <bool SIGNED_A>
static __device__ __forceinline__ void multiply_bytes(unsigned a0, unsigned a1, unsigned b,
                                                      const int c[4], int d[4])
{
    const int lane = threadIdx.x % WARP;
    for (int i = 0; i < 4; i++)
        d[i] = c[i];
    for (int part = 0; part < 4; part++) {
        const unsigned rows[2] = {__shfl_sync(~0u, a0, lane / 4 * 4 + part),
                                  __shfl_sync(~0u, a1, lane / 4 * 4 + part)};
        const unsigned columns[2] = {__shfl_sync(~0u, b, lane % 4 * 8 + part),
                                     __shfl_sync(~0u, b, lane % 4 * 8 + 4 + part)};
        for (int i = 0; i < 4; i++)
            d[i] = SIGNED_A ? multiply_four(rows[i / 2], columns[i % 2], d[i])
                            : multiply_four(columns[i % 2], rows[i / 2], d[i]);
    }
}

static __device__ __forceinline__ void multiply_long(const unsigned a[4], const unsigned b[2],
                                                     const int c[4], int d[4])
{
    int sums[4];
    multiply_bytes<false>(a[0], a[1], b[0], c, sums);
    multiply_bytes<false>(a[2], a[3], b[1], sums, d);
}
#endif
