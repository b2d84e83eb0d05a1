/* Measures how similar two pictures are, for --compare. */
#pragma once

#include "gpufilter/image.h"
#include "gpufilter/status.h"

/* The similarity over all samples, including alpha; M is the full scale. SSIM and MS-SSIM are the
 * means of the channels' values. They are NaN if a picture is too small: SSIM needs sides of 11
 * pixels, MS-SSIM of 176. */
struct gf_likeness {
    double largest, mean; /* absolute differences, in steps of a sample */
    double psnr;          /* 10 log10(M^2 / mean square), in dB; infinite if the pictures are
                           * equal */
    double ssim;
    double ms_ssim;
};

/* Compares two pictures of one format. */
enum gf_status gf_likeness_of(const struct gf_image *a, const struct gf_image *b, int threads,
                              struct gf_likeness *likeness, struct gf_error *error) GF_CHECKED;

/* Draws the absolute differences of two pictures of one format, stretched so that the largest is M.
 * A colour is at least the difference of alpha. *picture has the same colours without alpha; the
 * caller frees it by gf_image_free(). */
enum gf_status gf_likeness_draw(const struct gf_image *a, const struct gf_image *b,
                                struct gf_image *picture, struct gf_error *error) GF_CHECKED;
