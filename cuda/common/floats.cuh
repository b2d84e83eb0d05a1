/* Samples of any type as floats of 32 bits, on which kernels compute, and back: what
 * pixel/float_rows.h does on the CPU, but for the bits of a NaN. */
#pragma once

#include <cuda_fp16.h>

#include "cuda/common/launch.cuh"
#include "pixel/float_keys.h"
#include "pixel/float_rows.h"
#include "stage/variant.h"

/* The largest sample of a type of integers, or 1. */
template <class Sample> struct sample_max {
    static constexpr float value = 1.0f;
};
template <> struct sample_max<unsigned char> {
    static constexpr float value = 255.0f;
};
template <> struct sample_max<unsigned short> {
    static constexpr float value = 65535.0f;
};

/* Whether a type of samples is one of floats. */
template <class Sample> struct is_float_type {
    static constexpr bool value = sample_max<Sample>::value == 1.0f;
};

static __device__ __forceinline__ float float_of(float v)
{
    return v;
}

static __device__ __forceinline__ float float_of(__half v)
{
    return __half2float(v);
}

static __device__ __forceinline__ void store_float(float *to, float v)
{
    *to = v;
}

static __device__ __forceinline__ void store_float(__half *to, float v)
{
    *to = __float2half_rn(v);
}

template <class Integer> static __device__ __forceinline__ void store_float(Integer *to, float v)
{
    const float low = v > 0.0f ? v : 0.0f, limited = low < 1.0f ? low : 1.0f;
    *to = (Integer)(int)rintf(limited * sample_max<Integer>::value);
}

/* Words of 4 bytes with the bits of samples: two halves, or a float. */

/* The integers that have the bits of a type of samples. */
template <class Sample> struct bits_of {
    typedef Sample type;
};
template <> struct bits_of<__half> {
    typedef unsigned short type;
};
template <> struct bits_of<float> {
    typedef int type;
};

/* Returns sample i of the words. */
template <class Sample>
static __device__ __forceinline__ float float_in(const unsigned *word, int i)
{
    if constexpr (sizeof(Sample) == 4) {
        return __uint_as_float(word[i]);
    } else {
        const float2 two = __half22float2(*(const __half2 *)(word + i / 2));
        return i % 2 ? two.y : two.x;
    }
}

template <class Sample, int WORDS, int COUNT>
static __device__ __forceinline__ void pack_floats(const float (&v)[COUNT], unsigned (&word)[WORDS])
{
    static_assert(WORDS * 4 == COUNT * sizeof(Sample), "the words have all samples");
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        if constexpr (sizeof(Sample) == 4) {
            word[w] = __float_as_uint(v[w]);
        } else {
            const __half2 two = __floats2half2_rn(v[2 * w], v[2 * w + 1]);
            word[w] = *(const unsigned *)&two;
        }
    }
}

/* Returns a word of keys, integers that rise with the floats of the word (pixel/float_keys.h):
 * unsigned ones of 16 bits, or a signed one. NaN have the greatest. */
template <class Sample> static __device__ __forceinline__ unsigned keys_of(unsigned word)
{
    if constexpr (sizeof(Sample) == 4) {
        return (unsigned)gf_key_of_float(__uint_as_float(word));
    } else {
        const __half2 two = *(const __half2 *)&word;
        const unsigned negative = (word >> 15 & 0x10001u) * 0xFFFFu;
        return (word ^ (negative | 0x80008000u)) | __hneu2_mask(two, two);
    }
}

template <class Sample> static __device__ __forceinline__ unsigned floats_of_keys(unsigned word)
{
    if constexpr (sizeof(Sample) == 4)
        return __float_as_uint(gf_float_of_key((int)word));
    else
        return word ^ ((~word >> 15 & 0x10001u) * 0xFFFFu | 0x80008000u);
}

/* Samples that a thread loads or stores at once, 16 bytes at most. */
template <class Sample, int COUNT> struct __align__(sizeof(Sample) * COUNT) samples_of
{
    Sample sample[COUNT];
};

/* Calls function(sample) with a sample of the type that a format of floats has. */
template <class Function> static int for_float_type(struct gf_format format, Function function)
{
    return format.bits == 16 ? function(__half()) : function(float());
}

/* Calls function(sample) with a sample of the type that a format has. */
template <class Function> static int for_sample_type(struct gf_format format, Function function)
{
    if (gf_is_float(format))
        return for_float_type(format, function);
    return format.bits == 8 ? function((unsigned char)0) : function((unsigned short)0);
}
