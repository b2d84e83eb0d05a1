/* Computes a pixel of a warp from windows in global memory: from one sample, or as the mean of
 * several. */
#pragma once

#include "cuda/filters/warp/warp.cuh"

/* Returns pixel_at() for a pixel that is in the picture. */
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
                                                const struct gf_warp_counts *cells, int x, int y,
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
                                             : cells[gf_warp_cell(&warp, x, y)];
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
