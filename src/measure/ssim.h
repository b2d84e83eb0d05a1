/* The structural similarity (SSIM) of two pictures. */
#pragma once

#include "gpufilter/image.h"
#include "gpufilter/status.h"

enum {
    GF_SSIM_SIDE = 11,
    GF_SSIM_SCALES = 5,
    /* Pictures must be as wide and high: 11 pixels at the coarsest scale. */
    GF_MS_SSIM_SIDE = GF_SSIM_SIDE << (GF_SSIM_SCALES - 1)
};

/* SSIM: Z. Wang, A. C. Bovik, H. R. Sheikh and E. P. Simoncelli, "Image Quality Assessment: From
 * Error Visibility to Structural Similarity", 2004: the mean over all windows of 11x11 pixels that
 * are in the picture, weighted by a Gaussian of sigma 1.5; K1 = 0.01, K2 = 0.03. MS-SSIM: Z. Wang,
 * E. P. Simoncelli and A. C. Bovik, "Multi-scale Structural Similarity for Image Quality
 * Assessment", 2003: five scales; each scale consists of the means of 2x2 pixels of the scale
 * before, with an odd edge repeated; a negative mean counts as 0. Both are means over the channels
 * of b, which has a's size; a counts as converted to b's channels and bits. NaN if the pictures are
 * too small. ms_ssim may be NULL, which saves time. */
enum gf_status gf_ssim(const struct gf_image *a, const struct gf_image *b, int threads,
                       double *ssim, double *ms_ssim, struct gf_error *error) GF_CHECKED;
