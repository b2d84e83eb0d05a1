/* The Gaussian of bands on the CPU. The caller finishes the sums: blur rounds them, unsharp
 * compares them with the picture. */
#ifndef GF_PIXEL_GAUSS_GAUSS_ROWS_H
#define GF_PIXEL_GAUSS_GAUSS_ROWS_H

#include "pixel/gauss/gauss.h"
#include "pixel/gauss/gauss_simd.h"
#include "stage/stage.h"

struct gf_gauss_request {
    const struct gf_gauss *gauss;
    int border;
    const struct gf_view *in, *out;   /* of the same format */
    void *scratch;                    /* gf_gauss_scratch bytes */
    const struct gf_gauss_simd *simd; /* NULL: the best */
    const void *context;
    /* 8 bits: samples first .. first + count - 1 of a row; the blurred sample is
     * sums[i] / 2^(shift + GF_GAUSS_FRACTION). */
    void (*finish8)(const struct gf_gauss_request *request, int row, size_t first, size_t count,
                    const uint32_t *sums);
    /* 16 bits: the blurred samples themselves. */
    void (*finish16)(const struct gf_gauss_request *request, int row, size_t first, size_t count,
                     const float *blurred);
};

size_t gf_gauss_scratch(struct gf_format format, int radius);
/* cpu_scratch() and cuda_scratch() of a filter whose radius is a Gaussian's. */
size_t gf_gauss_cpu_scratch(const struct gf_stage *stage, int rows);
size_t gf_gauss_cuda_scratch(const struct gf_stage *stage, int rows);
/* refuses() of the variant that goes down strips, whose scratch() is cuda_scratch(), 0. */
const char *gf_gauss_strip_refuses(const struct gf_stage *stage);
/* scratch() and refuses() of the tensor-core variant. */
size_t gf_gauss_tensor_scratch(const struct gf_stage *stage, int rows);
const char *gf_gauss_tensor_refuses(const struct gf_stage *stage, double sigma);
void gf_gauss_run(const struct gf_gauss_request *request);

#endif
