/* How alike two pictures look, as the sum of what strips of a few rows differ by: CIEDE2000 and
 * PSNR-HVS-M. Both pictures have one format and are sRGB; gray counts as RGB. Pictures with alpha
 * are blended on gray of 0.1 and of 0.9, and the worse result counts. The results have the same
 * bits for any number of threads and on every processor. */
#pragma once

#include <stdint.h>

#include "gpufilter/image.h"
#include "gpufilter/status.h"

enum { GF_PSNR_HVS_M_SIDE = 8 }; /* the least width and height */

/* Returns the bytes of memory that these measures take, besides a few for each row. */
uint64_t gf_strips_bytes(int width, int threads);

/* The colour difference CIEDE2000 of two colours L*, a*, b*: G. Sharma, W. Wu and E. N. Dalal, "The
 * CIEDE2000 Color-Difference Formula: Implementation Notes, Supplementary Test Data, and
 * Mathematical Observations", 2005. */
double gf_ciede2000(const double a[3], const double b[3]);

/* Finds the mean of the pixels' CIEDE2000, with L*a*b* relative to the white D65 as CIE has it. */
enum gf_status gf_deltae2000(const struct gf_image *a, const struct gf_image *b, int threads,
                             double *mean, struct gf_error *error) GF_CHECKED;

/* PSNR-HVS-M, in dB: N. Ponomarenko, F. Silvestri, K. Egiazarian, M. Carli, J. Astola and V. Lukin,
 * "On between-coefficient contrast masking of DCT basis functions", 2007, of the luma of whole
 * blocks of 8x8 pixels. Infinite if no difference is visible; NaN if a side is below
 * GF_PSNR_HVS_M_SIDE. */
enum gf_status gf_psnr_hvs_m(const struct gf_image *a, const struct gf_image *b, int threads,
                             double *psnr, struct gf_error *error) GF_CHECKED;
