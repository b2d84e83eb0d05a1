/* Computes pixels from coefficients: dequantisation, inverse DCT, upsampling, colour.
 * (reconstruct.cu) */
#pragma once

#include <cuda_runtime.h>

#include "cuda/jpeg/batch.cuh"

/* Returns the bytes of scratch memory for a picture. A group needs the sum over its pictures. */
size_t gf_jpeg_reconstruct_bytes(const struct jpeg_picture *picture);

/* Writes the pixels that libjpeg-turbo would compute from the group's coefficients, each picture at
 * its reduction. Ratios of sampling factors must be integers. Sets JPEG_OUT_OF_RANGE in flags[i] if
 * libjpeg-turbo's pixels depend on the machine; the pixels of a flagged picture are undefined.
 * `pictures` is in host memory, everything else in device memory. `scratch` is aligned to 128 bytes
 * and has the sum of all gf_jpeg_reconstruct_bytes(). Rows of `out` begin at multiples of 16
 * bytes. */
cudaError_t gf_jpeg_reconstruct(const struct jpeg_picture *pictures, int count,
                                const int16_t *coefficients, const int16_t *dc,
                                const uint16_t *quantisers, unsigned *flags, void *scratch,
                                cudaStream_t stream);
