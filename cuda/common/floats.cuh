/* Samples of any type as floats of 32 bits, on which kernels compute, and back: what
 * pixel/float_rows.h does on the CPU, but for the bits of a NaN. */
#pragma once

#include <cuda_fp16.h>

#include "cuda/common/launch.cuh"
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
