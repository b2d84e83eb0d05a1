/* What the kernels of bilateral share: one band, pixels as floats, and the sums of a window. */
#ifndef GF_CUDA_FILTERS_BILATERAL_CUH
#define GF_CUDA_FILTERS_BILATERAL_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#include "filters/bilateral.h"
#include "pixel/sample.h"
#include "stage/border.h"
#include "stage/stage.h"

struct bilateral_band {
    const unsigned char *in; /* row in_first of the picture */
    unsigned char *out;      /* row first of the result */
    size_t in_pitch, out_pitch;
    int in_first, first, rows, width, height, bits;
    int radius, border;
    float colour; /* of struct gf_bilateral_weights */
    const float *space;
};

/* Colours of a pixel, alpha last; three channels take the room of four, so that one access reads a
 * pixel. */
template <int CHANNELS> struct __align__(CHANNELS == 3 ? 16 : 4 * CHANNELS) colours
{
    float v[CHANNELS == 3 ? 4 : CHANNELS];
};

/* Error 2^-22 relative, and 0 for what lies below 2^-126. */
struct power_of_two {
    __device__ __forceinline__ float operator()(float x) const
    {
        float result;
        asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
        return result;
    }
};

/* A pixel of the picture. */
template <int CHANNELS>
static __device__ __forceinline__ struct colours<CHANNELS>
pixel_at(const struct bilateral_band &band, int column, int row) {
    struct colours<CHANNELS> pixel = {
    };
    const unsigned char *const from = band.in + (row - band.in_first) * (ptrdiff_t)band.in_pitch;
    const size_t at = (size_t)column * CHANNELS;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        pixel.v[c] = band.bits == 8 ? (float)__ldg(from + at + c)
                                    : (float)__ldg((const uint16_t *)from + at + c);
    return pixel;
}

/* The same of the picture extended by the border. */
template <int CHANNELS>
static __device__ __forceinline__ struct colours<CHANNELS>
load_pixel(const struct bilateral_band &band, int x, int y) {
    const int column = gf_border_index(x, band.width, band.border);
    const int row = gf_border_index(y, band.height, band.border);
    if (column < 0 || row < 0)
        return {};
    return pixel_at<CHANNELS>(band, column, row);
}

template <int CHANNELS>
static __device__ __forceinline__ void store_pixel(const struct bilateral_band &band, int x, int y,
                                                   const struct colours<CHANNELS> &pixel)
{
    unsigned char *const to = band.out + (y - band.first) * (ptrdiff_t)band.out_pitch;
    const size_t at = (size_t)x * CHANNELS;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        if (band.bits == 8)
            to[at + c] = (unsigned char)gf_round_sample(pixel.v[c], 255.0f);
        else
            ((uint16_t *)to)[at + c] = (uint16_t)gf_round_sample(pixel.v[c], 65535.0f);
    }
}

/* Weights, and sums of weights times differences from the centre: differences, since they lose
 * less. */
template <int CHANNELS> struct sums {
    float weight, colour[CHANNELS];

    template <class Power>
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
        const float w = power(fmaf(distance, colour_factor, space));
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

static inline struct bilateral_band band_of(const struct gf_launch *launch)
{
    const struct gf_bilateral_weights *const weights =
        (const struct gf_bilateral_weights *)launch->stage->constants;
    struct bilateral_band band = {};
    band.in = launch->in.data;
    band.in_pitch = launch->in.pitch;
    band.in_first = launch->in.y;
    band.out = launch->out.data;
    band.out_pitch = launch->out.pitch;
    band.first = launch->out.y;
    band.rows = launch->out.rows;
    band.width = launch->in.format.width;
    band.height = launch->in.format.height;
    band.bits = launch->in.format.bits;
    band.radius = weights->radius;
    band.border = weights->border;
    band.colour = weights->colour;
    band.space = ((const struct gf_bilateral_weights *)launch->constants)->space;
    return band;
}

#endif
