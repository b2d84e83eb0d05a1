/* Measures of how alike two pictures look, on a CUDA device. */
#pragma once

#include "base/host_device.h"
#include "cuda/common/coder.h"

/* Scores pictures on a CUDA device, to the bits of gf_ssimulacra2() and gf_ssim(). */

GF_C_BEGIN

/* What may be wanted of a pair, as bits. MS-SSIM implies SSIM. */
enum { GF_SCORE_SSIMULACRA2 = 1, GF_SCORE_SSIM = 2, GF_SCORE_MS_SSIM = 4, GF_SCORE_ALL = 7 };

struct gf_measure_picture {
    /* Of one format, whose sides are at least GF_SSIMULACRA2_SIDE if that is wanted; in host
     * memory, which need not be pinned, or in the device's. */
    const struct gf_image *original, *changed;
    unsigned wanted;
    double score, ssim, ms_ssim; /* the score is SSIMULACRA2's; each is set if it is wanted */
    /* Of the samples: the largest difference, and the sums over the rows of their differences and
     * of the squares of these, added as gf_likeness_of() adds them. */
    int largest;
    double sum, squares;
    bool measured; /* false: memory does not suffice, and the CPU must measure */
};

struct gf_measure_steps {
    float upload, measure;
};

GF_CODER(measure)

GF_C_END
