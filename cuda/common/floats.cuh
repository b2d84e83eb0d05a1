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

template <class Sample>
constexpr bool IS_HALF = sizeof(Sample) == 2 && is_float_type<Sample>::value;

/* Returns the keys of two halves, unsigned integers that rise with them (pixel/float_keys.h). NaN
 * have the greatest. */
static __device__ __forceinline__ unsigned keys_of_halves(unsigned word)
{
    const __half2 two = *(const __half2 *)&word;
    const unsigned negative = (word >> 15 & 0x10001u) * 0xFFFFu;
    return (word ^ (negative | 0x80008000u)) | __hneu2_mask(two, two);
}

static __device__ __forceinline__ unsigned halves_of_keys(unsigned word)
{
    return word ^ ((~word >> 15 & 0x10001u) * 0xFFFFu | 0x80008000u);
}

/* Return the lesser and the greater of two floats in the order of their keys (pixel/float_keys.h):
 * -0 comes before 0, and NaN comes last. */
static __device__ __forceinline__ float lesser(float a, float b)
{
    float result;
    asm("min.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}

static __device__ __forceinline__ float greater(float a, float b)
{
    float result;
#if __CUDA_ARCH__ >= 800
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
#else
    asm("max.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    result = a != a ? a : b != b ? b : result;
#endif
    return result;
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
