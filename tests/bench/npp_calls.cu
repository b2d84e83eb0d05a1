/* All calls of NPP that can do a task. As nppi_*.h says, kernels and tables lie in device memory,
 * arrays of pointers and levels in host memory. */
#include "npp.cuh"

static const NppiPoint ORIGIN = {0, 0};

/* ---- neighbourhoods ---- */

static NppStatus gauss_plain(struct npp_io io)
{
    const int r = io.value / 2, step = npp.step;
    const Npp32f *const taps = npp_taps(io.value);
    const NppiSize rows = {npp.width - 2 * r, npp.height},
                   inner = {npp.width - 2 * r, npp.height - 2 * r};
    const NppStatus status = nppiFilterRow32f_8u_C3R_Ctx(
        io.in + 3 * r, step, npp.work + 3 * r, step, rows, taps, io.value, r, npp.context);
    const size_t corner = (size_t)r * (size_t)step + 3 * (size_t)r;
    return status ? status
                  : nppiFilterColumn32f_8u_C3R_Ctx(npp.work + corner, step, io.out + corner, step,
                                                   inner, taps, io.value, r, npp.context);
}

static NppStatus gauss_border(struct npp_io io)
{
    const Npp32f *const taps = npp_taps(io.value);
    const NppStatus status = nppiFilterRowBorder32f_8u_C3R_Ctx(
        io.in, npp.step, npp.size, ORIGIN, npp.work, npp.step, npp.size, taps, io.value,
        io.value / 2, NPP_BORDER_REPLICATE, npp.context);
    return status ? status
                  : nppiFilterColumnBorder32f_8u_C3R_Ctx(
                        npp.work, npp.step, npp.size, ORIGIN, io.out, npp.step, npp.size, taps,
                        io.value, io.value / 2, NPP_BORDER_REPLICATE, npp.context);
}

static NppStatus gauss_advanced(struct npp_io io)
{
    const Npp32f *const taps = npp_taps(io.value);
    return nppiFilterGaussAdvancedBorder_8u_C3R_Ctx(io.in, npp.step, npp.size, ORIGIN, io.out,
                                                    npp.step, npp.size, io.value, taps,
                                                    NPP_BORDER_REPLICATE, npp.context);
}

static NppStatus gauss13_fixed(struct npp_io io)
{
    return nppiFilterGaussBorder_8u_C3R_Ctx(io.in, npp.step, npp.size, ORIGIN, io.out, npp.step,
                                            npp.size, NPP_MASK_SIZE_13_X_13, NPP_BORDER_REPLICATE,
                                            npp.context);
}

static NppStatus box9(struct npp_io io)
{
    const NppiSize mask = {9, 9};
    const NppiPoint anchor = {4, 4};
    return nppiFilterBoxBorder_8u_C3R_Ctx(io.in, npp.step, npp.size, ORIGIN, io.out, npp.step,
                                          npp.size, mask, anchor, NPP_BORDER_REPLICATE,
                                          npp.context);
}

static NppStatus unsharp(struct npp_io io)
{
    const float radius = 3, sigma = 1, weight = 1, threshold = 0;
    return nppiFilterUnsharpBorder_8u_C3R_Ctx(io.in, npp.step, ORIGIN, io.out, npp.step, npp.size,
                                              radius, sigma, weight, threshold,
                                              NPP_BORDER_REPLICATE, npp.scratch, npp.context);
}

static NppStatus correlate_float(struct npp_io io)
{
    const int side = io.value;
    const NppiSize kernel = {side, side};
    const NppiPoint anchor = {side / 2, side / 2};
    return nppiFilterBorder32f_8u_C3R_Ctx(io.in, npp.step, npp.size, ORIGIN, io.out, npp.step,
                                          npp.size, npp.matrix + npp_matrix_at(side), kernel,
                                          anchor, NPP_BORDER_REPLICATE, npp.context);
}

static NppStatus correlate_int(struct npp_io io)
{
    const int side = io.value;
    const NppiSize kernel = {side, side};
    const NppiPoint anchor = {side / 2, side / 2};
    return nppiFilterBorder_8u_C3R_Ctx(io.in, npp.step, npp.size, ORIGIN, io.out, npp.step,
                                       npp.size, npp.matrix_int + npp_matrix_at(side), kernel,
                                       anchor, 6 * side * side, NPP_BORDER_REPLICATE, npp.context);
}

/* One magnitude for the three channels; no call gives three. */
static NppStatus gradient(struct npp_io io)
{
    return nppiGradientVectorSobelBorder_8u16s_C3C1R_Ctx(
        io.in, npp.step, npp.size, ORIGIN, NULL, 0, NULL, 0, (Npp16s *)(void *)io.out,
        npp.width * 2, NULL, 0, npp.size, NPP_MASK_SIZE_3_X_3, nppiNormL2, NPP_BORDER_REPLICATE,
        npp.context);
}

static NppStatus sobel_horizontal(struct npp_io io)
{
    return nppiFilterSobelHorizBorder_8u_C3R_Ctx(io.in, npp.step, npp.size, ORIGIN, io.out,
                                                 npp.step, npp.size, NPP_BORDER_REPLICATE,
                                                 npp.context);
}

static NppStatus median_border(struct npp_io io)
{
    const int side = io.value;
    const NppiSize mask = {side, side};
    const NppiPoint anchor = {side / 2, side / 2};
    return nppiFilterMedianBorder_8u_C3R_Ctx(io.in, npp.step, npp.size, ORIGIN, io.out, npp.step,
                                             npp.size, mask, anchor, npp.scratch,
                                             NPP_BORDER_REPLICATE, npp.context);
}

static NppStatus median_plain(struct npp_io io)
{
    const int side = io.value;
    const NppiSize mask = {side, side}, inner = {npp.width - side + 1, npp.height - side + 1};
    const NppiPoint anchor = {side / 2, side / 2};
    const size_t corner = (size_t)(side / 2) * (size_t)(npp.step + 3);
    return nppiFilterMedian_8u_C3R_Ctx(io.in + corner, npp.step, io.out + corner, npp.step, inner,
                                       mask, anchor, npp.scratch, npp.context);
}

static NppStatus dilate3(struct npp_io io)
{
    return nppiDilate3x3Border_8u_C3R_Ctx(io.in, npp.step, npp.size, ORIGIN, io.out, npp.step,
                                          npp.size, NPP_BORDER_REPLICATE, npp.context);
}

static NppStatus erode3(struct npp_io io)
{
    return nppiErode3x3Border_8u_C3R_Ctx(io.in, npp.step, npp.size, ORIGIN, io.out, npp.step,
                                         npp.size, NPP_BORDER_REPLICATE, npp.context);
}

static NppStatus bilateral(struct npp_io io)
{
    const float value_sigma = 25.5f, sigma = 0.5f * (float)io.value;
    return nppiFilterBilateralGaussBorder_8u_C3R_Ctx(
        io.in, npp.step, npp.size, ORIGIN, io.out, npp.step, npp.size, io.value, 1,
        value_sigma * value_sigma, sigma * sigma, NPP_BORDER_REPLICATE, npp.context);
}

/* ---- geometry ---- */

static NppStatus transpose(struct npp_io io)
{
    return nppiTranspose_8u_C3R_Ctx(io.in, npp.step, io.out, npp.height * 3, npp.size, npp.context);
}

static NppStatus mirror(struct npp_io io)
{
    return nppiMirror_8u_C3R_Ctx(io.in, npp.step, io.out, npp.step, npp.size, (NppiAxis)io.value,
                                 npp.context);
}

static NppStatus rotate90(struct npp_io io)
{
    const NppiRect from = {0, 0, npp.width, npp.height}, to = {0, 0, npp.height, npp.width};
    return nppiRotate_8u_C3R_Ctx(io.in, npp.size, npp.step, from, io.out, npp.height * 3, to, 90.0,
                                 0.0, npp.width - 1.0, NPPI_INTER_NN, npp.context);
}

/* By 7 degrees clockwise around the middle; NPP turns counterclockwise around the corner. */
static NppStatus turn(struct npp_io io)
{
    const NppiRect all = {0, 0, npp.width, npp.height};
    const double sine = 0.12186934340514748, cosine = 0.992546151641322;
    const double x = npp.width / 2.0, y = npp.height / 2.0;
    return nppiRotate_8u_C3R_Ctx(io.in, npp.size, npp.step, all, io.out, npp.step, all, -7.0,
                                 x - cosine * x + sine * y, y - sine * x - cosine * y, io.value,
                                 npp.context);
}

static NppStatus crop_half(struct npp_io io)
{
    const NppiSize half = {npp.width / 2, npp.height / 2};
    const size_t corner = (size_t)(npp.height / 4) * (size_t)npp.step + 3 * (size_t)(npp.width / 4);
    return nppiCopy_8u_C3R_Ctx(io.in + corner, npp.step, io.out, half.width * 3, half, npp.context);
}

static NppStatus resize_half(struct npp_io io)
{
    const NppiSize half = {npp.width / 2, npp.height / 2};
    const NppiRect from = {0, 0, npp.width, npp.height}, to = {0, 0, half.width, half.height};
    return nppiResize_8u_C3R_Ctx(io.in, npp.step, npp.size, from, io.out, half.width * 3, half, to,
                                 io.value, npp.context);
}

/* ---- points and statistics ---- */

static NppStatus copy(struct npp_io io)
{
    return nppiCopy_8u_C3R_Ctx(io.in, npp.step, io.out, npp.step, npp.size, npp.context);
}

static NppStatus invert(struct npp_io io)
{
    return nppiNot_8u_C3R_Ctx(io.in, npp.step, io.out, npp.step, npp.size, npp.context);
}

static NppStatus brightness(struct npp_io io)
{
    const Npp8u constants[3] = {26, 26, 26};
    return nppiAddC_8u_C3RSfs_Ctx(io.in, npp.step, constants, io.out, npp.step, npp.size, 0,
                                  npp.context);
}

static NppStatus gamma_forward(struct npp_io io)
{
    return nppiGammaFwd_8u_C3R_Ctx(io.in, npp.step, io.out, npp.step, npp.size, npp.context);
}

static NppStatus gray601(struct npp_io io)
{
    return nppiRGBToGray_8u_C3C1R_Ctx(io.in, npp.step, io.out, npp.width, npp.size, npp.context);
}

static NppStatus gray709(struct npp_io io)
{
    const Npp32f weights[3] = {0.2126f, 0.7152f, 0.0722f};
    return nppiColorToGray_8u_C3C1R_Ctx(io.in, npp.step, io.out, npp.width, npp.size, weights,
                                        npp.context);
}

static NppStatus threshold(struct npp_io io)
{
    const NppStatus status =
        nppiRGBToGray_8u_C3C1R_Ctx(io.in, npp.step, npp.work, npp.width, npp.size, npp.context);
    return status ? status
                  : nppiCompareC_8u_C1R_Ctx(npp.work, npp.width, 128, io.out, npp.width, npp.size,
                                            NPP_CMP_GREATER_EQ, npp.context);
}

static NppStatus lab_and_back(struct npp_io io)
{
    const NppStatus status =
        nppiBGRToLab_8u_C3R_Ctx(io.in, npp.step, npp.work, npp.step, npp.size, npp.context);
    return status ? status
                  : nppiLabToBGR_8u_C3R_Ctx(npp.work, npp.step, io.out, npp.step, npp.size,
                                            npp.context);
}

static NppStatus histogram(struct npp_io io)
{
    Npp32s *channels[3] = {npp.histogram, npp.histogram + NPP_LEVELS,
                           npp.histogram + 2 * NPP_LEVELS};
    int levels[3] = {NPP_LEVELS + 1, NPP_LEVELS + 1, NPP_LEVELS + 1};
    Npp32s lower[3] = {0, 0, 0}, upper[3] = {NPP_LEVELS, NPP_LEVELS, NPP_LEVELS};
    return nppiHistogramEven_8u_C3R_Ctx(io.in, npp.step, npp.size, channels, levels, lower, upper,
                                        npp.scratch, npp.context);
}

static NppStatus table_palette(struct npp_io io)
{
    const Npp8u *tables[3] = {npp.palette, npp.palette + NPP_LEVELS, npp.palette + 2 * NPP_LEVELS};
    return nppiLUTPalette_8u_C3R_Ctx(io.in, npp.step, io.out, npp.step, npp.size, tables, 8,
                                     npp.context);
}

static NppStatus table_levels(struct npp_io io)
{
    const Npp32s *values[3] = {npp.values, npp.values + NPP_LEVELS, npp.values + 2 * NPP_LEVELS};
    const Npp32s *inputs[3] = {npp.levels, npp.levels + NPP_LEVELS, npp.levels + 2 * NPP_LEVELS};
    int levels[3] = {NPP_LEVELS, NPP_LEVELS, NPP_LEVELS};
    return nppiLUT_8u_C3R_Ctx(io.in, npp.step, io.out, npp.step, npp.size, values, inputs, levels,
                              npp.context);
}

static NppStatus equalize_palette(struct npp_io io)
{
    const NppStatus status = histogram(io);
    return status ? status : table_palette(io);
}

static NppStatus equalize_levels(struct npp_io io)
{
    const NppStatus status = histogram(io);
    return status ? status : table_levels(io);
}

static NppStatus normalize(struct npp_io io)
{
    const NppStatus status = nppiMinMax_8u_C3R_Ctx(io.in, npp.step, npp.size, npp.extremes,
                                                   npp.extremes + 3, npp.scratch, npp.context);
    return status ? status : table_palette(io);
}

/* ---- the list ---- */

const struct npp_way npp_ways[] = {
    {"copy", "Copy", copy, 0},
    {"gauss13", "FilterRow32f + FilterColumn32f", gauss_plain, 13},
    {"gauss13", "FilterRowBorder32f + FilterColumnBorder32f", gauss_border, 13},
    {"gauss13", "FilterGaussAdvancedBorder", gauss_advanced, 13},
    {"gauss13", "FilterGaussBorder 13x13", gauss13_fixed, 0},
    {"gauss31", "FilterRow32f + FilterColumn32f", gauss_plain, 31},
    {"gauss31", "FilterRowBorder32f + FilterColumnBorder32f", gauss_border, 31},
    {"gauss31", "FilterGaussAdvancedBorder", gauss_advanced, 31},
    {"unsharp", "FilterUnsharpBorder", unsharp, 0},
    {"box9", "FilterBoxBorder", box9, 0},
    {"convolve3", "FilterBorder32f", correlate_float, 3},
    {"convolve3", "FilterBorder", correlate_int, 3},
    {"convolve5", "FilterBorder32f", correlate_float, 5},
    {"convolve5", "FilterBorder", correlate_int, 5},
    {"convolve31", "FilterBorder32f", correlate_float, 31},
    {"convolve31", "FilterBorder", correlate_int, 31},
    {"gradient", "GradientVectorSobelBorder C3C1", gradient, 0},
    {"sobel1", "FilterSobelHorizBorder", sobel_horizontal, 0},
    {"median3", "FilterMedianBorder", median_border, 3},
    {"median3", "FilterMedian", median_plain, 3},
    {"median5", "FilterMedianBorder", median_border, 5},
    {"median5", "FilterMedian", median_plain, 5},
    {"median11", "FilterMedianBorder", median_border, 11},
    {"median11", "FilterMedian", median_plain, 11},
    {"dilate3", "Dilate3x3Border", dilate3, 0},
    {"erode3", "Erode3x3Border", erode3, 0},
    {"bilateral4", "FilterBilateralGaussBorder", bilateral, 4},
    {"bilateral5", "FilterBilateralGaussBorder", bilateral, 5},
    {"transpose", "Transpose", transpose, 0},
    {"rotate90", "Rotate", rotate90, 0},
    {"rotate180", "Mirror", mirror, NPP_BOTH_AXIS},
    {"turn", "Rotate LINEAR", turn, NPPI_INTER_LINEAR},
    {"turn-cubic", "Rotate CUBIC", turn, NPPI_INTER_CUBIC},
    {"hflip", "Mirror", mirror, NPP_VERTICAL_AXIS},
    {"vflip", "Mirror", mirror, NPP_HORIZONTAL_AXIS},
    {"crop", "Copy", crop_half, 0},
    {"nearest", "Resize NN", resize_half, NPPI_INTER_NN},
    {"linear", "Resize LINEAR", resize_half, NPPI_INTER_LINEAR},
    {"cubic", "Resize CUBIC", resize_half, NPPI_INTER_CUBIC},
    {"lanczos", "Resize LANCZOS", resize_half, NPPI_INTER_LANCZOS},
    {"super", "Resize SUPER", resize_half, NPPI_INTER_SUPER},
    {"invert", "Not", invert, 0},
    {"brightness", "AddC", brightness, 0},
    {"table", "LUTPalette", table_palette, 0},
    {"table", "LUT", table_levels, 0},
    {"gamma", "GammaFwd", gamma_forward, 0},
    {"gamma", "LUTPalette", table_palette, 0},
    {"gray601", "RGBToGray", gray601, 0},
    {"gray709", "ColorToGray", gray709, 0},
    {"threshold", "RGBToGray + CompareC", threshold, 0},
    {"saturation", "BGRToLab + LabToBGR", lab_and_back, 0},
    {"equalize", "HistogramEven + LUTPalette", equalize_palette, 0},
    {"equalize", "HistogramEven + LUT", equalize_levels, 0},
    {"normalize", "MinMax + LUTPalette", normalize, 0},
    {NULL, NULL, NULL, 0},
};
