/* Shared declarations of the kernels that count histograms. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "pixel/colour.h"

/* The levels that are counted. SAMPLE means the only colour channel of a gray picture. */
enum level_source { SAMPLE, LUMA, CHANNELS, JOINT, LIGHTNESS };

static inline int source_of(enum gf_statistic statistic, struct gf_format format)
{
    switch (statistic) {
    case GF_STATISTIC_LIGHTNESS:
        return LIGHTNESS;
    case GF_STATISTIC_CHANNELS:
        return gf_colour_channels(format) == 3 ? CHANNELS : SAMPLE;
    case GF_STATISTIC_JOINT:
        return gf_colour_channels(format) == 3 ? JOINT : SAMPLE;
    default:
        return gf_colour_channels(format) == 3 ? LUMA : SAMPLE;
    }
}

struct count_request {
    struct view_pair p;
    int source;
    unsigned long long *count;
    const struct gf_lightness *lightness;
    cudaStream_t stream;
};
