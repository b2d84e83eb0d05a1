/* Products of matrices of bytes on the tensor cores. Architectures below 8.0 have none: callers of
 * these functions refuse to run there. mma_k32() adds A (16 x 32, unsigned) times B (32 x 8,
 * unsigned) to D (16 x 8); mma_k16() does the same with 16 instead of 32. Each word of A and B
 * holds four neighbouring k. Lane 4 g + t holds these words of A: rows g and g + 8 from k = 4 t on,
 * then the same rows from k = 4 t + 16 on. Of B it holds column g from k = 4 t on, then from k = 4
 * t + 16 on; of D rows g and g + 8 (from d[2]), columns 2 t and 2 t + 1 (PTX ISA, "Matrix Fragments
 * for mma.m16n8k32"). */
#pragma once

#include <cuda_runtime.h>

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define GF_HAS_MMA 1
#else
#define GF_HAS_MMA 0
#endif

static __device__ __forceinline__ void mma_k32(unsigned d[4], const unsigned a[4], unsigned b0,
                                               unsigned b1)
{
#if GF_HAS_MMA
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},"
        "{%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

static __device__ __forceinline__ void mma_k16(unsigned d[4], const unsigned a[2], unsigned b)
{
#if GF_HAS_MMA
    asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b));
#endif
}

/* Does the same as mma_k32() with signed bytes in A. */
static __device__ __forceinline__ void mma_signed_k32(unsigned d[4], const unsigned a[4],
                                                      unsigned b0, unsigned b1)
{
#if GF_HAS_MMA
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},"
        "{%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

static __device__ __forceinline__ void mma_signed_k16(unsigned d[4], const unsigned a[2],
                                                      unsigned b)
{
#if GF_HAS_MMA
    asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b));
#endif
}
