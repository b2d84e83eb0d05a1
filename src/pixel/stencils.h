/* The constants of the stencils, as prepare() leaves them for both backends. */
#ifndef GF_PIXEL_STENCILS_H
#define GF_PIXEL_STENCILS_H

#include "gpufilter/filter.h"
#include "gpufilter/image.h"
#include "pixel/gauss.h"
#include "pixel/stencil_math.h"

struct gf_blur {
    struct gf_gauss gauss;
    int border;
};

struct gf_unsharp {
    struct gf_gauss gauss;
    int border;
    float amount;
    float limit; /* in steps of the sample format */
};

struct gf_box {
    struct gf_box_mean mean;
    int radius, border;
};

/* Whether the device does it in one kernel, without scratch: sums of whole windows fit 16 bits. */
enum { GF_BOX_SMALL_MAX = 7 };
static inline int gf_box_small(struct gf_format format, int radius)
{
    return format.bits == 8 && format.channels % 2 == 1 && radius >= 1 &&
           radius <= GF_BOX_SMALL_MAX;
}

/* Whether the sum of a window's column fits 16 bits, as the device then stores it. */
static inline int gf_box_narrow(struct gf_format format, int radius)
{
    return format.bits == 8 && (2 * radius + 1) * 255 <= 65535;
}

/* Bytes from one row of column sums to the next in the device's scratch memory. */
static inline size_t gf_box_device_pitch(struct gf_format format, int radius)
{
    const size_t samples = (size_t)format.width * (size_t)format.channels;
    return (samples * (gf_box_narrow(format, radius) ? 2 : 4) + 255) / 256 * 256;
}

/* The same where they always take 32 bits. */
static inline size_t gf_box_wide_pitch(struct gf_format format)
{
    const size_t samples = (size_t)format.width * (size_t)format.channels;
    return (samples * 4 + 255) / 256 * 256;
}

/* The variants of blur and boxblur read whole windows from global memory up to this reach
 * in pixels, and hold tiles in shared memory up to that one. */
enum { GF_WINDOW_REACH_MAX = 60, GF_WINDOW_TILE_REACH_MAX = GF_GAUSS_FUSED_MAX };

struct gf_convolve {
    int width, height; /* of the kernel */
    int border;
    int keep_alpha;                                        /* the alpha channel is passed through */
    float divisor, bias;                                   /* bias in steps of the sample format */
    float weight[GF_MATRIX_SIDE_MAX * GF_MATRIX_SIDE_MAX]; /* row by row, tightly */
};

struct gf_sobel {
    float scale;
    int border;
};

struct gf_normalmap {
    float slope; /* times a Sobel difference of gf_luma601_fine gives strength * gradient */
    int border;
};

#endif
