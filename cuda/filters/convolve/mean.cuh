/* Weighted means on tensor cores (mean.cu). */
#pragma once

#include "filters/convolve/convolve.h"
#include "stage/variant.h"

/* cudaError_t; cudaErrorNotSupported if another kernel does the work. */
int gf_convolve_means(const struct gf_launch *launch, const struct gf_convolve *convolve);
