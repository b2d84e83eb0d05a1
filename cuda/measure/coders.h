/* Measures of how alike two pictures look, on a CUDA device. */
#pragma once

#include "base/host_device.h"
#include "cuda/common/coder.h"

/* Scores pictures by SSIMULACRA2 on a CUDA device, to the bits of gf_ssimulacra2(). */

GF_C_BEGIN

struct gf_ssimulacra2_measure_picture {
    /* Of one format, whose sides are at least GF_SSIMULACRA2_SIDE; in host memory, which need not
     * be pinned, or in the device's. */
    const struct gf_image *original, *changed;
    double score;
    /* Of the samples: the largest difference, and the sums over the rows of their differences and
     * of the squares of these, added as gf_likeness_of() adds them. */
    int largest;
    double sum, squares;
    bool measured; /* false: memory does not suffice, and the CPU must measure */
};

struct gf_ssimulacra2_measure_steps {
    float upload, measure;
};

GF_CODER(ssimulacra2_measure)

GF_C_END
