/* Shared parts of the bilateral kernels: pixels as floats, and the sums of a window. */
#pragma once

#include <stdint.h>

#include "base/elementary.h"
#include "cuda/common/floats.cuh"
#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "filters/bilateral/bilateral.h"
#include "pixel/sample.h"
#include "stage/border.h"

struct bilateral_args {
    struct view_pair p;
    int radius;
    float colour; /* the factor `colour` of struct gf_bilateral_weights */
    const float *space;
};

/* The samples of a pixel, alpha last. Three channels are padded to four, so that one access reads a
 * pixel. */
template <int CHANNELS> struct __align__(CHANNELS == 3 ? 16 : 4 * CHANNELS) colours
{
    float v[CHANNELS == 3 ? 4 : CHANNELS];
};

/* Computes a power of two as the CPU does, by ordinary arithmetic, because the GPU's instruction
 * for powers of two differs between kinds of GPU. */
struct power_of_two {
    __device__ __forceinline__ float operator()(float x) const
    {
        return gf_exp2_coarse(x);
    }
};

template <int CHANNELS, bool FLOATS = false>
static __device__ __forceinline__ struct colours<CHANNELS> pixel_at(const struct view_pair &p,
                                                                    int column, int row) {
    struct colours<CHANNELS> pixel = {
    };
    const unsigned char *const from = p.in + (row - p.in_y) * (ptrdiff_t)p.in_pitch;
    const size_t at = (size_t)column * CHANNELS;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        pixel.v[c] = FLOATS        ? p.bits == 16 ? float_of(__ldg((const __half *)from + at + c))
                                                  : __ldg((const float *)from + at + c)
                            : p.bits == 8 ? (float)__ldg(from + at + c)
                                   : (float)__ldg((const uint16_t *)from + at + c);
    return pixel;
}

/* Returns a pixel of the picture extended by its border. */
template <int CHANNELS, bool FLOATS = false>
static __device__ __forceinline__ struct colours<CHANNELS> load_pixel(const struct view_pair &p,
                                                                      int x, int y) {
    const int column = gf_border_index(x, p.width, p.border);
    const int row = gf_border_index(y, p.height, p.border);
    if (column < 0 || row < 0)
        return {};
    return pixel_at<CHANNELS, FLOATS>(p, column, row);
}

template <int CHANNELS, bool FLOATS = false>
static __device__ __forceinline__ void store_pixel(const struct view_pair &p, int x, int y,
                                                   const struct colours<CHANNELS> &pixel)
{
    unsigned char *const to = p.out + (y - p.out_y) * (ptrdiff_t)p.out_pitch;
    const size_t at = (size_t)x * CHANNELS;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        if (FLOATS && p.bits == 16)
            store_float((__half *)to + at + c, pixel.v[c]);
        else if (FLOATS)
            store_float((float *)to + at + c, pixel.v[c]);
        else if (p.bits == 8)
            to[at + c] = (unsigned char)gf_round_sample(pixel.v[c], 255.0f);
        else
            ((uint16_t *)to)[at + c] = (uint16_t)gf_round_sample(pixel.v[c], 65535.0f);
    }
}

/* The sum of the weights, and the sums of weights times differences from the centre. Sums of
 * differences have smaller rounding errors than sums of samples. */
template <int CHANNELS> struct sums {
    float weight, colour[CHANNELS];

    /* Of floats a weight below 2^-126 is 0, also times an infinite difference. */
    template <bool FLOATS = false, class Power>
    __device__ __forceinline__ void add_tap(const struct colours<CHANNELS> &centre,
                                            const struct colours<CHANNELS> &tap, float space,
                                            float colour_factor, const Power &power)
    {
        constexpr int COLOURS = CHANNELS >= 3 ? 3 : 1;
        float difference[CHANNELS], distance = 0.0f;
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            difference[c] = tap.v[c] - centre.v[c];
            if (c < COLOURS)
                distance = c ? fmaf(difference[c], difference[c], distance)
                             : difference[c] * difference[c];
        }
        const float exponent = fmaf(distance, colour_factor, space);
        float w = power(exponent);
        if (FLOATS) {
            w = gf_select(exponent, -126.0f, w, 0.0f);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                difference[c] = gf_select(exponent, -126.0f, difference[c], 0.0f);
        }
        weight += w;
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            colour[c] = fmaf(w, difference[c], colour[c]);
    }
    __device__ __forceinline__ void add(const struct sums &other)
    {
        weight += other.weight;
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            colour[c] += other.colour[c];
    }
};

static inline struct bilateral_args bilateral_args_of(const struct gf_launch *launch)
{
    const struct gf_bilateral_weights *const weights =
        (const struct gf_bilateral_weights *)launch->stage->constants;
    return {view_pair_of(launch, weights->border), weights->radius, weights->colour,
            ((const struct gf_bilateral_weights *)launch->constants)->space};
}
