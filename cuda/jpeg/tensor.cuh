/* Wraps instructions that C does not have, for the inverse DCT and colour. */
#pragma once

#include "cuda/jpeg/byte_product.cuh"

/* Returns start plus the first 16-bit number of `pair` times the first byte of `factors`, plus the
 * second number times the second byte. */
static __device__ __forceinline__ int scale_low(unsigned pair, unsigned factors, int start)
{
    int sum;
    asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(pair), "r"(factors), "r"(start));
    return sum;
}

/* Does what scale_low() does, with the third and the fourth byte of `factors`. */
static __device__ __forceinline__ int scale_high(unsigned pair, unsigned factors, int start)
{
    int sum;
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(pair), "r"(factors), "r"(start));
    return sum;
}

/* Packs two numbers as 16 bits each, with saturation. */
static __device__ __forceinline__ unsigned pack16(int low, int high)
{
    unsigned pair;
    asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(pair) : "r"(high), "r"(low));
    return pair;
}

/* Returns the address in a form that the compiler does not combine with other addresses. The
 * compiler would otherwise compute the addresses of neighbours separately, with three additions
 * each. */
static __device__ __forceinline__ const unsigned char *as_it_is(const unsigned char *address)
{
    asm("" : "+l"(address));
    return address;
}

/* Returns the second byte of a word as a signed number. */
static __device__ __forceinline__ int signed_second_byte(unsigned word)
{
    int byte;
    asm("prmt.b32 %0, %1, 0, 0x9991;" : "=r"(byte) : "r"(word));
    return byte;
}

/* Returns max(min(x + offset, most), 0) for each half x of the word. */
static __device__ __forceinline__ unsigned clamp_pair(unsigned pair, unsigned offsets, int most)
{
    return __viaddmin_s16x2_relu(pair, offsets, (unsigned)most * 0x10001u);
}

/* Computes d[0], d[1] = start + left * right[0] and d[2], d[3] = start + left * right[1] by a warp.
 * The matrix `left` has 8 rows of 16 signed bytes; each matrix of `right` has 8 columns of 16
 * unsigned bytes. Lanes hold the matrices as in multiply_bytes(). The words of `left` are the
 * matrix, zero, zero, and the matrix again, since the function computes one product of 16 x 32
 * bytes. */
static __device__ __forceinline__ void multiply_left(int d[4], const unsigned left[4],
                                                     const unsigned right[2], const int start[4])
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]),
          "r"(start[0]), "r"(start[1]), "r"(start[2]), "r"(start[3]));
#else
    asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
        : "=r"(d[0]), "=r"(d[1])
        : "r"(left[0]), "r"(right[0]), "r"(start[0]), "r"(start[1]));
    asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
        : "=r"(d[2]), "=r"(d[3])
        : "r"(left[0]), "r"(right[1]), "r"(start[2]), "r"(start[3]));
#endif
}
