/* Products of matrices of bytes on the tensor cores. NAME_k32() adds A (16 x 32) times B (32 x 8)
 * to D (16 x 8); NAME_k16() does the same with 16 instead of 32. Each word of A and B holds four
 * neighbouring k. Lane 4 g + t holds these words of A: rows g and g + 8 from k = 4 t on, then the
 * same rows from k = 4 t + 16 on. Of B it holds column g from k = 4 t on, then from k = 4 t + 16
 * on; of D rows g and g + 8 (from d[2]), columns 2 t and 2 t + 1 (PTX ISA, "Matrix Fragments for
 * mma.m16n8k32"). Before compute capability 8.0 a product has 8 rows and 16 k, of which the lanes
 * hold the same words. */
#pragma once

#include <cuda_runtime.h>

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define GF_MMA_FUNCTIONS(name, types) \
    template <class Word> \
    static __device__ __forceinline__ void name##_k32(Word *d, const unsigned *a, unsigned b0, \
                                                      unsigned b1) \
    { \
        asm("mma.sync.aligned.m16n8k32.row.col.s32." types ".s32 {%0,%1,%2,%3},{%4,%5,%6,%7}," \
            "{%8,%9},{%0,%1,%2,%3};" \
            : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1)); \
    } \
    template <class Word> \
    static __device__ __forceinline__ void name##_k16(Word *d, const unsigned *a, unsigned b) \
    { \
        asm("mma.sync.aligned.m16n8k16.row.col.s32." types ".s32 {%0,%1,%2,%3},{%4,%5},{%6}," \
            "{%0,%1,%2,%3};" \
            : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) \
            : "r"(a[0]), "r"(a[1]), "r"(b)); \
    }
#else
#define GF_MMA_FUNCTIONS(name, types) \
    template <class Word> \
    static __device__ __forceinline__ void name##_k16(Word *d, const unsigned *a, unsigned b) \
    { \
        for (int i = 0; i < 2; i++) \
            asm("mma.sync.aligned.m8n8k16.row.col.s32." types ".s32 {%0,%1},{%2},{%3},{%0,%1};" \
                : "+r"(d[2 * i]), "+r"(d[2 * i + 1]) \
                : "r"(a[i]), "r"(b)); \
    } \
    template <class Word> \
    static __device__ __forceinline__ void name##_k32(Word *d, const unsigned *a, unsigned b0, \
                                                      unsigned b1) \
    { \
        name##_k16(d, a, b0); \
        name##_k16(d, a + 2, b1); \
    }
#endif

GF_MMA_FUNCTIONS(mma, "u8.u8")
GF_MMA_FUNCTIONS(mma_signed, "s8.u8")
GF_MMA_FUNCTIONS(mma_by_signed, "u8.s8")
