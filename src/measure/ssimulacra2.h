/* SSIMULACRA2, version 2.1: how alike two pictures look, by J. Sneyers and Cloudinary, 2023
 * (https://github.com/cloudinary/ssimulacra2). 100: they are equal; 90: no difference is seen; 70:
 * high quality; 30: low quality; a score may be negative. */
#pragma once

#include <stdint.h>

#include "gpufilter/image.h"
#include "gpufilter/status.h"

enum { GF_SSIMULACRA2_SIDE = 8 }; /* the least width and height */

/* Returns the bytes of memory that gf_ssimulacra2() takes for pictures of that size. */
uint64_t gf_ssimulacra2_bytes(int width, int height, int threads);

/* Scores `changed`, which has the size of `original`. Samples are sRGB; gray counts as RGB. If the
 * original has alpha, the score is the lower one of two, of pictures that are blended on gray of
 * 0.1 and of 0.9. NaN if a side is below GF_SSIMULACRA2_SIDE. The score has the same bits for any
 * number of threads and on every processor. */
enum gf_status gf_ssimulacra2(const struct gf_image *original, const struct gf_image *changed,
                              int threads, double *score, struct gf_error *error) GF_CHECKED;
