/* How like two pictures are: --compare. */
#ifndef GF_BENCH_LIKENESS_H
#define GF_BENCH_LIKENESS_H

#include "gpufilter/image.h"
#include "gpufilter/status.h"

/* Over all samples, alpha among them, of which M is the full scale; SSIM and MS-SSIM are the means
 * of the channels'. NaN where a picture is too small: SSIM takes 11 pixels a side, MS-SSIM 176. */
struct gf_likeness {
    double largest, mean; /* absolute differences, in steps of a sample */
    double psnr;          /* 10 log10(M^2 / mean square), in dB; infinite where they are the same */
    double ssim;
    double ms_ssim;
};

/* The pictures have one format. */
enum gf_status gf_likeness_of(const struct gf_image *a, const struct gf_image *b, int threads,
                              struct gf_likeness *likeness, struct gf_error *error) GF_CHECKED;

/* Of pictures of one format: the absolute differences of the colours, at least that of alpha,
 * stretched so that the largest is M. *picture, of the same colours without alpha, is for
 * gf_image_free. */
enum gf_status gf_likeness_draw(const struct gf_image *a, const struct gf_image *b,
                                struct gf_image *picture, struct gf_error *error) GF_CHECKED;

#endif
