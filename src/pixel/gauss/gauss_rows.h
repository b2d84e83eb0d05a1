/* Blurs bands by a Gaussian on the CPU. The caller finishes the sums: blur rounds them, unsharp
 * compares them with the picture. */
#ifndef GF_PIXEL_GAUSS_GAUSS_ROWS_H
#define GF_PIXEL_GAUSS_GAUSS_ROWS_H

#include "pixel/gauss/gauss.h"
#include "pixel/gauss/gauss_simd.h"
#include "stage/stage.h"

struct gf_gauss_request {
    const struct gf_gauss *gauss;
    int border;
    const struct gf_view *in, *out;   /* both have the same format */
    void *scratch;                    /* memory of gf_gauss_scratch bytes */
    const struct gf_gauss_simd *simd; /* NULL: the fastest one */
    const void *context;
    /* For 8 bits: finishes samples first .. first + count - 1 of a row; a blurred sample is sums[i]
     * / 2^(shift + GF_GAUSS_FRACTION). */
    void (*finish8)(const struct gf_gauss_request *request, int row, size_t first, size_t count,
                    const uint32_t *sums);
    /* For 16 bits: finishes the blurred samples, which are floats. */
    void (*finish16)(const struct gf_gauss_request *request, int row, size_t first, size_t count,
                     const float *blurred);
};

size_t gf_gauss_scratch(struct gf_format format, int radius);
/* Implementations of cpu_scratch() and cuda_scratch() for a filter that blurs by a Gaussian. */
size_t gf_gauss_cpu_scratch(const struct gf_stage *stage, int rows);
size_t gf_gauss_cuda_scratch(const struct gf_stage *stage, int rows);
/* Implementation of refuses() for the variant that walks down strips; its scratch() is 0. */
const char *gf_gauss_strip_refuses(const struct gf_stage *stage);
/* Implementations of scratch() and refuses() for the tensor-core variant. */
size_t gf_gauss_tensor_scratch(const struct gf_stage *stage, int rows);
const char *gf_gauss_tensor_refuses(const struct gf_stage *stage, double sigma);
void gf_gauss_run(const struct gf_gauss_request *request);

#endif
