/* Instructions that C does not have: products of bytes by tensor cores, and packing. A warp calls
 * the products together. The matrix that both products share has signed bytes, the others have
 * unsigned ones. (PTX ISA, "Warp-level matrix instructions") */
#ifndef GF_CUDA_JPEG_TENSOR_CUH
#define GF_CUDA_JPEG_TENSOR_CUH

#include <cuda_runtime.h>
#include <stdint.h>

/* start + the first 16-bit number of `pair` times the first byte of `factors`, plus the second
 * number times the second byte. */
static __device__ __forceinline__ int scale_low(unsigned pair, unsigned factors, int start)
{
    int sum;
    asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(pair), "r"(factors), "r"(start));
    return sum;
}

/* The same with the third and the fourth byte. */
static __device__ __forceinline__ int scale_high(unsigned pair, unsigned factors, int start)
{
    int sum;
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(pair), "r"(factors), "r"(start));
    return sum;
}

/* Two numbers as 16 bits each, the nearest ones if they do not fit. */
static __device__ __forceinline__ unsigned pack16(int low, int high)
{
    unsigned pair;
    asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(pair) : "r"(high), "r"(low));
    return pair;
}

/* An address that the compiler takes as it is. It would otherwise compute those of its neighbours
 * apart, with three additions each. */
static __device__ __forceinline__ const unsigned char *as_it_is(const unsigned char *address)
{
    asm("" : "+l"(address));
    return address;
}

/* The second byte of a word as a signed number. */
static __device__ __forceinline__ int signed_second_byte(unsigned word)
{
    int byte;
    asm("prmt.b32 %0, %1, 0, 0x9991;" : "=r"(byte) : "r"(word));
    return byte;
}

/* max(min(x + offset, most), 0) for both halves. */
static __device__ __forceinline__ unsigned clamp_pair(unsigned pair, unsigned offsets, int most)
{
    return __viaddmin_s16x2_relu(pair, offsets, (unsigned)most * 0x10001u);
}

/* d = start + the products of a matrix of bytes and two others. The matrix is 8 x 16, or 16 x 8
 * where it is the right operand. d[0] and d[1] are the lane's part of one product, d[2] and d[3] of
 * the other. A left operand has row lane / 4 in the lanes that hold it, a right one column lane
 * / 4. left: the matrix, zero, zero, the matrix; this makes one product of 16 x 32 bytes of the
 * two. */
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

static __device__ __forceinline__ void multiply_right(int d[4], const unsigned left[2],
                                                      unsigned right, const int start[4])
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(left[0]), "r"(left[1]), "r"(right), "r"(start[0]), "r"(start[1]), "r"(start[2]),
          "r"(start[3]));
#else
    asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
        : "=r"(d[0]), "=r"(d[1])
        : "r"(left[0]), "r"(right), "r"(start[0]), "r"(start[1]));
    asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
        : "=r"(d[2]), "=r"(d[3])
        : "r"(left[1]), "r"(right), "r"(start[2]), "r"(start[3]));
#endif
}

#endif
