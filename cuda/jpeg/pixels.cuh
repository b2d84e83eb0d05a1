/* Declares the kernels that compute pixels, and converts colours. */
#pragma once

#include "cuda/jpeg/strips.cuh"

/* The factors of libjpeg's tables (jdcolor.c), with 16 fraction bits. */
enum {
    COLOUR_BITS = 16,
    COLOUR_HALF = 1 << (COLOUR_BITS - 1),
    CR_TO_RED = 91881,
    CB_TO_GREEN = -22554,
    CR_TO_GREEN = -46802,
    CB_TO_BLUE = 116130
};

/* Computes red, green and blue with 16 fraction bits, before clamping. `luma` has 16 fraction bits,
 * and half of the last digit has been added to it; 128 has been subtracted from `cb` and `cr`. */
static __device__ __forceinline__ void to_rgb(int luma, int cb, int cr, int rgb[3])
{
    rgb[0] = luma + cr * CR_TO_RED;
    rgb[1] = luma + cr * CR_TO_GREEN + cb * CB_TO_GREEN;
    rgb[2] = luma + cb * CB_TO_BLUE;
}

/* Computes planes of components with blocks of 8 x 8 samples, and gray pictures. (planes.cu) */
cudaError_t gf_jpeg_make_planes(const struct strip_launch &launch, const struct group_arrays &group,
                                cudaStream_t stream);

/* Computes planes of components with blocks of 4 x 4, 2 x 2 and 1 x 1 samples, and gray pictures.
 * (reduced.cu) */
cudaError_t gf_jpeg_make_reduced_planes(const struct strip_launch &launch,
                                        const struct group_arrays &group, cudaStream_t stream);

/* The launches in their order: first all planes and gray pictures, then one launch for each
 * sampling of chroma. */
enum jpeg_launch {
    JPEG_PLANES,
    JPEG_REDUCED_PLANES,
    JPEG_444,
    JPEG_422,
    JPEG_420,
    JPEG_OTHER,
    JPEG_EQUAL, /* the planes have the picture's size */
    JPEG_LAUNCHES
};

/* Computes pixels from the coefficients of luma, and from the coefficients (JPEG_444) or the planes
 * of chroma. (fused.cu) */
cudaError_t gf_jpeg_make_pixels(const struct strip_launch &launch, const struct group_arrays &group,
                                enum jpeg_launch sampling, cudaStream_t stream);

/* Computes pixels from three planes of any sampling. (upsample.cu) */
cudaError_t gf_jpeg_upsample(const struct strip_launch &launch, const struct group_arrays &group,
                             cudaStream_t stream);

/* Computes pixels from planes of the picture's size. (upsample.cu) */
cudaError_t gf_jpeg_convert(const struct strip_launch &launch, const struct group_arrays &group,
                            cudaStream_t stream);
