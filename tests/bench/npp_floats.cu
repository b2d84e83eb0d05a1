/* The calls of NPP for RGBA of floats, and for RGB where there is none for RGBA: those take a
 * picture that is as large, of three quarters of the bytes. */
#include "npp.cuh"

static const NppiPoint ORIGIN = {0, 0};
enum { HALVES = 4 * 2, SINGLES = 4 * 4, RGB_SINGLES = 3 * 4 }; /* bytes of a pixel */

static const Npp32f *singles(const Npp8u *pixels)
{
    return (const Npp32f *)(const void *)pixels;
}

static Npp32f *singles(Npp8u *pixels)
{
    return (Npp32f *)(void *)pixels;
}

static const Npp16f *halves(const Npp8u *pixels)
{
    return (const Npp16f *)(const void *)pixels;
}

static Npp16f *halves(Npp8u *pixels)
{
    return (Npp16f *)(void *)pixels;
}

/* ---- singles ---- */

static NppStatus gauss_plain(struct npp_io io)
{
    const int taps = io.value, r = taps / 2, step = npp.width * SINGLES;
    const NppiSize rows = {npp.width - 2 * r, npp.height},
                   inner = {npp.width - 2 * r, npp.height - 2 * r};
    const size_t across = SINGLES * (size_t)r, corner = (size_t)r * (size_t)step + across;
    const NppStatus status =
        nppiFilterRow_32f_C4R_Ctx(singles(io.in + across), step, singles(npp.work + across), step,
                                  rows, npp_taps(taps), taps, r, npp.context);
    return status ? status
                  : nppiFilterColumn_32f_C4R_Ctx(singles(npp.work + corner), step,
                                                 singles(io.out + corner), step, inner,
                                                 npp_taps(taps), taps, r, npp.context);
}

static NppStatus gauss_border(struct npp_io io)
{
    const int taps = io.value, step = npp.width * SINGLES;
    const NppStatus status = nppiFilterRowBorder_32f_C4R_Ctx(
        singles(io.in), step, npp.size, ORIGIN, singles(npp.work), step, npp.size, npp_taps(taps),
        taps, taps / 2, NPP_BORDER_REPLICATE, npp.context);
    return status ? status
                  : nppiFilterColumnBorder_32f_C4R_Ctx(
                        singles(npp.work), step, npp.size, ORIGIN, singles(io.out), step, npp.size,
                        npp_taps(taps), taps, taps / 2, NPP_BORDER_REPLICATE, npp.context);
}

static NppStatus gauss_advanced(struct npp_io io)
{
    const int step = npp.width * SINGLES;
    return nppiFilterGaussAdvancedBorder_32f_C4R_Ctx(
        singles(io.in), step, npp.size, ORIGIN, singles(io.out), step, npp.size, io.value,
        npp_taps(io.value), NPP_BORDER_REPLICATE, npp.context);
}

static NppStatus gauss13_fixed(struct npp_io io)
{
    const int step = npp.width * SINGLES;
    return nppiFilterGaussBorder_32f_C4R_Ctx(singles(io.in), step, npp.size, ORIGIN,
                                             singles(io.out), step, npp.size, NPP_MASK_SIZE_13_X_13,
                                             NPP_BORDER_REPLICATE, npp.context);
}

static NppStatus gradient(struct npp_io io)
{
    return nppiGradientVectorSobelBorder_32f_C3C1R_Ctx(
        singles(io.in), npp.width * RGB_SINGLES, npp.size, ORIGIN, NULL, 0, NULL, 0,
        singles(io.out), npp.width * (int)sizeof(Npp32f), NULL, 0, npp.size, NPP_MASK_SIZE_3_X_3,
        nppiNormL2, NPP_BORDER_REPLICATE, npp.context);
}

static NppStatus sobel_horizontal(struct npp_io io)
{
    const int step = npp.width * SINGLES;
    return nppiFilterSobelHorizBorder_32f_C4R_Ctx(singles(io.in), step, npp.size, ORIGIN,
                                                  singles(io.out), step, npp.size,
                                                  NPP_BORDER_REPLICATE, npp.context);
}

static const NppiSize MEDIAN = {3, 3};
static const NppiPoint MIDDLE = {1, 1};

static NppStatus median_border(struct npp_io io)
{
    const int step = npp.width * SINGLES;
    return nppiFilterMedianBorder_32f_C4R_Ctx(singles(io.in), step, npp.size, ORIGIN,
                                              singles(io.out), step, npp.size, MEDIAN, MIDDLE,
                                              npp.scratch, NPP_BORDER_REPLICATE, npp.context);
}

static NppStatus median_plain(struct npp_io io)
{
    const int step = npp.width * SINGLES;
    const NppiSize inner = {npp.width - 2, npp.height - 2};
    const size_t corner = (size_t)step + SINGLES;
    return nppiFilterMedian_32f_C4R_Ctx(singles(io.in + corner), step, singles(io.out + corner),
                                        step, inner, MEDIAN, MIDDLE, npp.scratch, npp.context);
}

size_t npp_floats_scratch(void)
{
    Npp32u plain = 0, border = 0;
    if (nppiFilterMedianGetBufferSize_32f_C4R_Ctx(npp.size, MEDIAN, &plain, npp.context) !=
        NPP_SUCCESS)
        plain = 0;
    if (nppiFilterMedianBorderGetBufferSize_32f_C4R_Ctx(
            npp.size, MEDIAN, &border, NPP_BORDER_REPLICATE, npp.context) != NPP_SUCCESS)
        border = 0;
    return plain > border ? plain : border;
}

static NppStatus bilateral(struct npp_io io)
{
    const int step = npp.width * RGB_SINGLES;
    const float value_sigma = 0.1f, sigma = 0.5f * (float)io.value;
    return nppiFilterBilateralGaussBorder_32f_C3R_Ctx(
        singles(io.in), step, npp.size, ORIGIN, singles(io.out), step, npp.size, io.value, 1,
        value_sigma * value_sigma, sigma * sigma, NPP_BORDER_REPLICATE, npp.context);
}

static NppStatus resize_singles(struct npp_io io)
{
    const NppiSize half = {npp.width / 2, npp.height / 2};
    const NppiRect from = {0, 0, npp.width, npp.height}, to = {0, 0, half.width, half.height};
    return nppiResize_32f_C4R_Ctx(singles(io.in), npp.width * SINGLES, npp.size, from,
                                  singles(io.out), half.width * SINGLES, half, to, io.value,
                                  npp.context);
}

/* ---- halves, for which NPP convolves by whole kernels, and resizes ---- */

static NppStatus correlate(struct npp_io io, const Npp32f *kernel, int side)
{
    const int step = npp.width * HALVES;
    const NppiSize size = {side, side};
    const NppiPoint anchor = {side / 2, side / 2};
    return nppiFilterBorder32f_16f_C4R_Ctx(halves(io.in), step, npp.size, ORIGIN, halves(io.out),
                                           step, npp.size, kernel, size, anchor,
                                           NPP_BORDER_REPLICATE, npp.context);
}

static NppStatus gauss_whole(struct npp_io io)
{
    return correlate(io, npp.gauss13x13, 13);
}

static NppStatus sobel_whole(struct npp_io io)
{
    return correlate(io, npp.sobel, 3);
}

static NppStatus resize_halves(struct npp_io io)
{
    const NppiSize half = {npp.width / 2, npp.height / 2};
    const NppiRect from = {0, 0, npp.width, npp.height}, to = {0, 0, half.width, half.height};
    return nppiResize_16f_C4R_Ctx(halves(io.in), npp.width * HALVES, npp.size, from, halves(io.out),
                                  half.width * HALVES, half, to, io.value, npp.context);
}

/* ---- the list ---- */

const struct npp_way npp_float_ways[] = {
    {"gauss13-f32", "FilterRow + FilterColumn", gauss_plain, 13},
    {"gauss13-f32", "FilterRowBorder + FilterColumnBorder", gauss_border, 13},
    {"gauss13-f32", "FilterGaussAdvancedBorder", gauss_advanced, 13},
    {"gauss13-f32", "FilterGaussBorder 13x13", gauss13_fixed, 0},
    {"gradient-f32", "GradientVectorSobelBorder C3C1", gradient, 0},
    {"sobel1-f32", "FilterSobelHorizBorder", sobel_horizontal, 0},
    {"median3-f32", "FilterMedianBorder", median_border, 0},
    {"median3-f32", "FilterMedian", median_plain, 0},
    {"bilateral4-f32", "FilterBilateralGaussBorder C3", bilateral, 4},
    {"linear-f32", "Resize LINEAR", resize_singles, NPPI_INTER_LINEAR},
    {"cubic-f32", "Resize CUBIC", resize_singles, NPPI_INTER_CUBIC},
    {"lanczos-f32", "Resize LANCZOS", resize_singles, NPPI_INTER_LANCZOS},
    {"gauss13-f16", "FilterBorder32f 13x13", gauss_whole, 0},
    {"sobel1-f16", "FilterBorder32f 3x3", sobel_whole, 0},
    {"linear-f16", "Resize LINEAR", resize_halves, NPPI_INTER_LINEAR},
    {"cubic-f16", "Resize CUBIC", resize_halves, NPPI_INTER_CUBIC},
    {"lanczos-f16", "Resize LANCZOS", resize_halves, NPPI_INTER_LANCZOS},
    {NULL, NULL, NULL, 0},
};
