/* From coefficients to pixels: dequantisation, inverse DCT, upsampling, colour. (reconstruct.cu) */
#ifndef GF_CUDA_JPEG_RECONSTRUCT_CUH
#define GF_CUDA_JPEG_RECONSTRUCT_CUH

#include <cuda_runtime.h>

#include "cuda/jpeg/batch.cuh"

/* Bytes of scratch memory that a picture adds to a group's. */
size_t gf_jpeg_reconstruct_bytes(const struct jpeg_picture *picture);

/* Writes the pixels that libjpeg-turbo would make of the group's coefficients. Ratios of sampling
 * factors are integral. Sets JPEG_OUT_OF_RANGE in flags[i] where libjpeg-turbo's pixels depend on
 * the machine; those of a flagged picture are undefined. `pictures` lies in host memory, all else
 * in device memory. `scratch` is aligned to 128 bytes and holds the sum of the pictures'
 * gf_jpeg_reconstruct_bytes(). Rows of `out` begin on multiples of 16 bytes. */
cudaError_t gf_jpeg_reconstruct(const struct jpeg_picture *pictures, int count,
                                const int16_t *coefficients, const int16_t *dc,
                                const uint16_t *quantisers, unsigned *flags, void *scratch,
                                cudaStream_t stream);

#endif
