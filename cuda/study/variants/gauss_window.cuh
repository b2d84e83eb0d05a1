/* The Gaussian as an Op of window.cuh, with the arithmetic of pixel/gauss/gauss.h. */
#pragma once

#include "cuda/study/variants/window.cuh"
#include "pixel/gauss/gauss.h"
#include "pixel/sample.h"

/* The taps in the kernel's parameters, which are in constant memory. Its cache serves a warp that
 * reads one address in a single access (Best Practices 9.2.6). */
template <class Tap> struct constant_taps {
    Tap value[GF_GAUSS_RADIUS_MAX + 1];
    __device__ __forceinline__ Tap operator[](int k) const
    {
        return value[k];
    }
};

template <class Tap> struct global_taps {
    const Tap *value;
    __device__ __forceinline__ Tap operator[](int k) const
    {
        return value[k];
    }
};

template <class Taps> struct gauss_op8 {
    typedef unsigned char sample;
    typedef unsigned middle;
    typedef unsigned short stored;
    int radius, shift;
    Taps tap;

    template <class At> __device__ __forceinline__ unsigned sum(const At &at, int drop) const
    {
        unsigned sum = (1u << (drop - 1)) + tap[0] * at(0);
        for (int k = 1; k <= radius; k++)
            sum += tap[k] * (at(-k) + at(k));
        return sum >> drop;
    }
    template <class At> __device__ __forceinline__ middle column(const At &at) const
    {
        return sum(at, shift - GF_GAUSS_FRACTION);
    }
    template <class At> __device__ __forceinline__ sample row(const At &at) const
    {
        return (sample)sum(at, shift + GF_GAUSS_FRACTION);
    }
};

template <class Taps> struct gauss_op16 {
    typedef unsigned short sample;
    typedef float middle;
    typedef float stored;
    int radius;
    Taps tap;

    template <class At> __device__ __forceinline__ middle column(const At &at) const
    {
        float sum = tap[0] * at(0);
        for (int k = 1; k <= radius; k++)
            sum = sum + tap[k] * (at(-k) + at(k));
        return sum;
    }
    template <class At> __device__ __forceinline__ sample row(const At &at) const
    {
        return (sample)gf_round_flat(column(at), 65535.0f);
    }
};

typedef gauss_op8<constant_taps<uint16_t>> gauss_constant8;
typedef gauss_op16<constant_taps<float>> gauss_constant16;

static inline gauss_constant8 gauss_constant_op8(const struct gf_gauss *gauss)
{
    gauss_constant8 op = {gauss->radius, gauss->shift, {}};
    for (int k = 0; k <= gauss->radius; k++)
        op.tap.value[k] = gauss->fixed[k];
    return op;
}

static inline gauss_constant16 gauss_constant_op16(const struct gf_gauss *gauss)
{
    gauss_constant16 op = {gauss->radius, {}};
    for (int k = 0; k <= gauss->radius; k++)
        op.tap.value[k] = gauss->real[k];
    return op;
}
