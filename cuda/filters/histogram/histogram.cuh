/* What is asked of a histogram's kernels. */
#ifndef GF_CUDA_FILTERS_HISTOGRAM_HISTOGRAM_CUH
#define GF_CUDA_FILTERS_HISTOGRAM_HISTOGRAM_CUH

#include "cuda/common/band.cuh"
#include "pixel/colour.h"

/* SAMPLE: of the only colour channel. */
enum kind { SAMPLE, LUMA, CHANNELS, JOINT, LIGHTNESS };

struct request {
    struct band band;
    int kind;
    unsigned long long *count;
    const struct gf_lightness *lightness;
    cudaStream_t stream;
};

#endif
