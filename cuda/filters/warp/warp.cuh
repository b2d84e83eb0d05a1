/* Computes the value of one pixel of a warp from a window of the input. */
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/fusing.cuh"
#include "pixel/warp/warp.h"

/* TABLE_KERNEL is used for cubic and Lanczos, whose weights are in a table. */
enum { NEAREST_KERNEL, LINEAR_KERNEL, TABLE_KERNEL };

/* The type of a pixel: one word or, beyond 4 bytes, two. */
template <typename SAMPLE, int CHANNELS> struct pixel_type {
    typedef uint32_t type;
};
template <> struct pixel_type<uint16_t, 3> {
    typedef uint2 type;
};
template <> struct pixel_type<uint16_t, 4> {
    typedef uint2 type;
};

template <typename SAMPLE>
static __device__ __forceinline__ uint32_t sample_of(uint32_t pixel, int c)
{
    return sizeof(SAMPLE) == 1 ? pixel >> 8 * c & 0xFF : pixel >> 16 * c & 0xFFFF;
}

template <typename SAMPLE> static __device__ __forceinline__ uint32_t sample_of(uint2 pixel, int c)
{
    return (c < 2 ? pixel.x : pixel.y) >> 16 * (c % 2) & 0xFFFF;
}

template <typename SAMPLE>
static __device__ __forceinline__ void add_sample(uint32_t &pixel, int c, uint32_t v)
{
    pixel |= v << 8 * (int)sizeof(SAMPLE) * c;
}

template <typename SAMPLE>
static __device__ __forceinline__ void add_sample(uint2 &pixel, int c, uint32_t v)
{
    (c < 2 ? pixel.x : pixel.y) |= v << 16 * (c % 2);
}

/* The input of a launch. `in` is the address of its row in_y. */
struct warp_source {
    struct gf_warp warp;
    const unsigned char *in;
    size_t pitch;
    int in_y;
    /* What is stored if pixels of four channels are made from straight colour: STRAIGHT_8 and
     * STRAIGHT_16, or OPAQUE_8 for RGB of 8 bits, of which all is opaque; NOT_STRAIGHT: the pixels
     * themselves. */
    int stored;
};
enum { NOT_STRAIGHT, STRAIGHT_8, STRAIGHT_16, OPAQUE_8 };

/* Returns the bytes of a stored pixel whose kernel has 16-bit samples. */
template <int CHANNELS> static __device__ __forceinline__ unsigned bytes_of(int stored)
{
    return stored == STRAIGHT_8 ? 4 : stored == OPAQUE_8 ? 3 : 2 * CHANNELS;
}

/* Returns a pixel of RGB, the lower three bytes, as opaque colour of 16 bits. */
static __device__ __forceinline__ uint2 opaque(unsigned pixel)
{
    return make_uint2(__byte_perm(pixel, 0, 0x1100), __byte_perm(pixel, ~0u, 0x4422));
}

/* Returns column x of a row as a pixel of premultiplied colour. */
static __device__ __forceinline__ uint2 premultiplied_at(const unsigned char *row, int x,
                                                         int stored)
{
    if (stored == STRAIGHT_8)
        return premultiplied(__ldg((const unsigned *)row + x));
    if (stored == STRAIGHT_16)
        return premultiplied(__ldg((const uint2 *)row + x));
    const unsigned char *const from = row + 3 * (size_t)x;
    const unsigned r = __ldg(from), g = __ldg(from + 1), b = __ldg(from + 2);
    return opaque(r | g << 8 | b << 16);
}

/* Returns a pixel that is in the picture. `row` is its row. */
template <typename SAMPLE, int CHANNELS, class Pixel>
static __device__ __forceinline__ Pixel pixel_in(const struct warp_source &source,
                                                 const unsigned char *row, int x)
{
    if constexpr (sizeof(SAMPLE) == 2 && CHANNELS == 4) {
        if (source.stored)
            return premultiplied_at(row, x, source.stored);
    }
    const SAMPLE *const from = (const SAMPLE *)row + (size_t)x * CHANNELS;
    if constexpr (sizeof(Pixel) == CHANNELS * sizeof(SAMPLE))
        return __ldg((const Pixel *)from);
    Pixel pixel = {};
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        add_sample<SAMPLE>(pixel, c, (uint32_t)__ldg(from + c));
    return pixel;
}

/* Returns the pixel (x, y) of the picture, or of the border beyond it. */
template <typename SAMPLE, int CHANNELS, class Pixel>
static __device__ __forceinline__ Pixel pixel_at(const struct warp_source &source, int x, int y)
{
    const struct gf_warp &warp = source.warp;
    const int column = min(max(x, 0), warp.in_width - 1), row = min(max(y, 0), warp.in_height - 1);
    const bool inside = warp.edge || (column == x && row == y);
    if (inside)
        return pixel_in<SAMPLE, CHANNELS, Pixel>(
            source, source.in + (ptrdiff_t)(row - source.in_y) * (ptrdiff_t)source.pitch, column);
    Pixel pixel = {};
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        add_sample<SAMPLE>(pixel, c, (uint32_t)warp.beyond[c]);
    return pixel;
}

/* A window in shared memory; at(i, j) is its pixel (i, j). With ROWS_AT_ONCE loops over the
 * window's rows are unrolled, if registers suffice. */
template <class Pixel> struct tile_window {
    static constexpr bool ROWS_AT_ONCE = sizeof(Pixel) == 4;
    const Pixel *first;
    int pitch;
    __device__ __forceinline__ Pixel at(int i, int j) const
    {
        return first[j * pitch + i];
    }
};

/* ---- sums, before rounding (pixel/warp/warp.h) ---- */

/* Adds the products of two signed 16-bit weights and two bytes to `sum`: dot_low() takes the lower
 * two bytes of `bytes`, dot_high() the upper two. */
static __device__ __forceinline__ int dot_low(unsigned weights, unsigned bytes, int sum)
{
    int result;
    asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(weights), "r"(bytes), "r"(sum));
    return result;
}

static __device__ __forceinline__ int dot_high(unsigned weights, unsigned bytes, int sum)
{
    int result;
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(weights), "r"(bytes), "r"(sum));
    return result;
}

/* Adds the products of two neighbouring pixels and a pair of weights to sum[c]. */
static __device__ __forceinline__ void add_pair_rgb8(uint32_t a, uint32_t b, unsigned weights,
                                                     int sum[3])
{
    const unsigned red_green = __byte_perm(a, b, 0x5140), blue = __byte_perm(a, b, 0x6262);
    sum[0] = dot_low(weights, red_green, sum[0]);
    sum[1] = dot_high(weights, red_green, sum[1]);
    sum[2] = dot_low(weights, blue, sum[2]);
}

/* Computes the sums of linear interpolation, in which 1 is 2^24 (8 bits) or 2^16 (16 bits). f and g
 * are the fractions of the position along x and y, in 1/4096. With ROUNDED half of a sample's step
 * is added. */
template <typename SAMPLE, int CHANNELS, bool ROUNDED, class Window>
static __device__ __forceinline__ void linear_sums(const Window &window, uint32_t f, uint32_t g,
                                                   uint32_t sum[CHANNELS])
{
    const auto a = window.at(0, 0), b = window.at(1, 0), c = window.at(0, 1), d = window.at(1, 1);
    if constexpr (sizeof(SAMPLE) == 1 && CHANNELS == 3) {
        const unsigned weights = f * 0xFFFF + 4096;
        /* The sums of both rows begin with half of a sample's step, which is 4096 in a row. */
        constexpr int HALF = ROUNDED ? 2048 : 0;
        int top[3] = {HALF, HALF, HALF}, bottom[3] = {HALF, HALF, HALF};
        add_pair_rgb8(a, b, weights, top);
        add_pair_rgb8(c, d, weights, bottom);
#pragma unroll
        for (int i = 0; i < 3; i++)
            sum[i] = (4096 - g) * (unsigned)top[i] + g * (unsigned)bottom[i];
    } else {
#pragma unroll
        for (int i = 0; i < CHANNELS; i++) {
            const uint32_t p = sample_of<SAMPLE>(a, i), q = sample_of<SAMPLE>(b, i);
            const uint32_t r = sample_of<SAMPLE>(c, i), s = sample_of<SAMPLE>(d, i);
            constexpr uint32_t HALF = !ROUNDED ? 0 : sizeof(SAMPLE) == 1 ? 1u << 23 : 1u << 15;
            if (sizeof(SAMPLE) == 1) {
                sum[i] = gf_warp_linear8(p, q, r, s, f, g) + HALF;
                continue;
            }
            /* equals gf_warp_linear16(), written so that each product is added to another one */
            const uint32_t top = ((4096 - f) * p + (f * q + 128)) >> 8;
            const uint32_t bottom = ((4096 - f) * r + (f * s + 128)) >> 8;
            sum[i] = (4096 - g) * top + (g * bottom + HALF);
        }
    }
}

static __device__ __forceinline__ int weight_of(const unsigned pairs[4], int i)
{
    return i % 2 ? (int)pairs[i / 2] >> 16 : (int)(pairs[i / 2] << 16) >> 16;
}

/* Computes the sums of cubic and Lanczos kernels, in which 1 is 2^20. Sums of 8-bit samples fit in
 * 32 bits. */
template <typename SAMPLE, int CHANNELS, int TAPS, class Window, typename SUM>
static __device__ __forceinline__ void table_sums(const Window &window, uint32_t f, uint32_t g,
                                                  const uint4 *weights, SUM sum[CHANNELS])
{
    const uint4 phase_x = weights[f >> 2], phase_y = weights[g >> 2];
    const unsigned across[4] = {phase_x.x, phase_x.y, phase_x.z, phase_x.w};
    const unsigned down[4] = {phase_y.x, phase_y.y, phase_y.z, phase_y.w};
    const int16_t *const one_down = (const int16_t *)(weights + (g >> 2));
    constexpr int AT_ONCE = Window::ROWS_AT_ONCE ? TAPS : 1;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        sum[c] = 0;
#pragma unroll AT_ONCE
    for (int j = 0; j < TAPS; j++) {
        int row[CHANNELS] = {};
        if constexpr (sizeof(SAMPLE) == 1 && CHANNELS == 3) {
#pragma unroll
            for (int i = 0; i < TAPS; i += 2)
                add_pair_rgb8(window.at(i, j), window.at(i + 1, j), across[i / 2], row);
        } else {
#pragma unroll
            for (int i = 0; i < TAPS; i++) {
                const auto pixel = window.at(i, j);
#pragma unroll
                for (int c = 0; c < CHANNELS; c++)
                    row[c] += weight_of(across, i) * (int)sample_of<SAMPLE>(pixel, c);
            }
        }
        const int weight = Window::ROWS_AT_ONCE ? weight_of(down, j) : one_down[j];
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            sum[c] += (SUM)weight * gf_warp_round_row(row[c]);
    }
}

template <typename SAMPLE> struct sum_type {
    typedef int type;
};
template <> struct sum_type<uint16_t> {
    typedef long long type;
};

/* Returns a pixel of 16-bit samples, which are the upper halves of the sums. */
template <int CHANNELS, class Pixel>
static __device__ __forceinline__ Pixel pixel_of_halves(const uint32_t (&sum)[CHANNELS])
{
    if constexpr (CHANNELS == 1)
        return sum[0] >> 16;
    else if constexpr (CHANNELS == 2)
        return __byte_perm(sum[0], sum[1], 0x7632);
    else
        return make_uint2(__byte_perm(sum[0], sum[1], 0x7632),
                          CHANNELS == 4 ? __byte_perm(sum[2], sum[CHANNELS - 1], 0x7632)
                                        : sum[2] >> 16);
}

/* Returns the value of the window as a pixel, if pixels have one sample position each. */
template <typename SAMPLE, int CHANNELS, int KERNEL, int TAPS, class Pixel, class Window>
static __device__ __forceinline__ Pixel value_of(const Window &window, uint32_t f, uint32_t g,
                                                 const uint4 *weights)
{
    constexpr int MAX = sizeof(SAMPLE) == 1 ? 255 : 65535;
    if constexpr (KERNEL == NEAREST_KERNEL) {
        return window.at(0, 0);
    } else if constexpr (KERNEL == LINEAR_KERNEL) {
        uint32_t sum[CHANNELS];
        linear_sums<SAMPLE, CHANNELS, true>(window, f, g, sum);
        if constexpr (sizeof(SAMPLE) == 1 && CHANNELS == 3)
            return __byte_perm(__byte_perm(sum[0], sum[1], 0x0073), sum[2], 0x0710);
        if constexpr (sizeof(SAMPLE) == 2)
            return pixel_of_halves<CHANNELS, Pixel>(sum);
        Pixel pixel = {};
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            add_sample<SAMPLE>(pixel, c, sum[c] >> 24);
        return pixel;
    } else {
        typename sum_type<SAMPLE>::type sum[CHANNELS];
        Pixel pixel = {};
        table_sums<SAMPLE, CHANNELS, TAPS>(window, f, g, weights, sum);
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            const int rounded = (int)((sum[c] + (1 << 19)) >> 20);
            add_sample<SAMPLE>(pixel, c, (uint32_t)min(max(rounded, 0), MAX));
        }
        return pixel;
    }
}

/* Adds the value of the window, with 8 fraction bits, to sums[c]. */
template <typename SAMPLE, int CHANNELS, int KERNEL, int TAPS, class Window>
static __device__ __forceinline__ void add_value(const Window &window, uint32_t f, uint32_t g,
                                                 const uint4 *weights, int64_t sums[CHANNELS])
{
    if constexpr (KERNEL == LINEAR_KERNEL) {
        uint32_t sum[CHANNELS];
        linear_sums<SAMPLE, CHANNELS, false>(window, f, g, sum);
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            sums[c] += gf_warp_fine(sum[c], sizeof(SAMPLE) == 1 ? 24 : 16);
    } else if constexpr (KERNEL == TABLE_KERNEL) {
        typename sum_type<SAMPLE>::type sum[CHANNELS];
        table_sums<SAMPLE, CHANNELS, TAPS>(window, f, g, weights, sum);
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            sums[c] += gf_warp_fine(sum[c], 20);
    }
}

/* Computes a pixel of a warp from windows in global memory: from one sample, or as the mean of
 * several. */

/* Returns what pixel_at() returns, for a pixel that is in the picture. */
template <typename SAMPLE, int CHANNELS, class Pixel>
static __device__ __forceinline__ Pixel pixel_inside(const struct warp_source &source, int x, int y)
{
    return pixel_in<SAMPLE, CHANNELS, Pixel>(
        source, source.in + (ptrdiff_t)(y - source.in_y) * (ptrdiff_t)source.pitch, x);
}

/* A window in global memory. With INSIDE the whole window is in the picture. */
template <typename SAMPLE, int CHANNELS, class Pixel, bool INSIDE> struct picture_window {
    static constexpr bool ROWS_AT_ONCE = false;
    const struct warp_source *source;
    int x, y;
    __device__ __forceinline__ Pixel at(int i, int j) const
    {
        return INSIDE ? pixel_inside<SAMPLE, CHANNELS, Pixel>(*source, x + i, y + j)
                      : pixel_at<SAMPLE, CHANNELS, Pixel>(*source, x + i, y + j);
    }
};

/* Computes gf_warp_at() for a pixel that has `counts` samples, whose halves are gf_warp_half(). */
static __device__ __forceinline__ struct gf_warp_at sample_at(const struct gf_warp &warp,
                                                              struct gf_warp_counts counts,
                                                              double half_x, double half_y, int x,
                                                              int y, int i, int j)
{
    if (warp.map.kind == GF_WARP_AFFINE)
        return gf_warp_at(&warp, x, y, i, j);
    double u, v;
    gf_warp_source(&warp.map, x + gf_warp_offset(i, counts.nx, half_x),
                   y + gf_warp_offset(j, counts.ny, half_y), &u, &v);
    return gf_warp_split(u + warp.bias, v + warp.bias);
}

/* Whether the window that begins at (x, y) is in the picture. */
static __device__ __forceinline__ bool is_inside(const struct gf_warp &warp, int x, int y, int taps)
{
    return x >= 0 && y >= 0 && x <= warp.in_width - taps && y <= warp.in_height - taps;
}

/* Returns the pixel (x, y) of the result, from one sample or as the mean of several. */
template <typename SAMPLE, int CHANNELS, int KERNEL, int TAPS, class Pixel>
static __device__ __forceinline__ Pixel mean_of(const struct warp_source &source,
                                                const struct gf_warp_counts *zones, int x, int y,
                                                const uint4 *weights)
{
    typedef picture_window<SAMPLE, CHANNELS, Pixel, true> Inside;
    typedef picture_window<SAMPLE, CHANNELS, Pixel, false> Anywhere;
    constexpr int MAX = sizeof(SAMPLE) == 1 ? 255 : 65535;
    constexpr int ORIGIN = TAPS > 1 ? TAPS / 2 - 1 : 0;
    const struct gf_warp &warp = source.warp;
    const bool straight = warp.map.kind == GF_WARP_AFFINE;
    const struct gf_warp_counts counts = straight
                                             ? gf_warp_counts{(uint8_t)warp.nx, (uint8_t)warp.ny}
                                             : zones[gf_warp_zone(&warp, x, y)];
    const int nx = counts.nx, ny = counts.ny;
    if (KERNEL == NEAREST_KERNEL || nx * ny == 1) {
        const struct gf_warp_at at = sample_at(warp, {1, 1}, 0.5, 0.5, x, y, 0, 0);
        const int left = at.x - ORIGIN, top = at.y - ORIGIN;
        if (is_inside(warp, left, top, TAPS))
            return value_of<SAMPLE, CHANNELS, KERNEL, TAPS, Pixel>(Inside{&source, left, top}, at.f,
                                                                   at.g, weights);
        return value_of<SAMPLE, CHANNELS, KERNEL, TAPS, Pixel>(Anywhere{&source, left, top}, at.f,
                                                               at.g, weights);
    }
    const double half_x = straight ? 0 : gf_warp_half(nx), half_y = straight ? 0 : gf_warp_half(ny);
    int64_t sums[CHANNELS] = {};
#pragma unroll 1
    for (int j = 0; j < ny; j++) {
#pragma unroll 1
        for (int i = 0; i < nx; i++) {
            const struct gf_warp_at at = sample_at(warp, counts, half_x, half_y, x, y, i, j);
            const int left = at.x - ORIGIN, top = at.y - ORIGIN;
            if (is_inside(warp, left, top, TAPS))
                add_value<SAMPLE, CHANNELS, KERNEL, TAPS>(Inside{&source, left, top}, at.f, at.g,
                                                          weights, sums);
            else
                add_value<SAMPLE, CHANNELS, KERNEL, TAPS>(Anywhere{&source, left, top}, at.f, at.g,
                                                          weights, sums);
        }
    }
    const double one_of = straight ? warp.one_of : 1 / (256.0 * (nx * ny));
    Pixel pixel = {};
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        add_sample<SAMPLE>(pixel, c, (uint32_t)gf_warp_mean(nx * ny, one_of, sums[c], MAX));
    return pixel;
}
