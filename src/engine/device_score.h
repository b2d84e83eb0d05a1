/* SSIMULACRA2 and SSIM on a GPU. */
#pragma once

#include "cuda/measure/coders.h"
#include "gpufilter/options.h"
#include "gpufilter/status.h"

/* Measures a pair, which may be in the GPU's memory, on the GPU of the options, which has started.
 * pair->measured stays false if its memory does not suffice. */
enum gf_status gf_score_on_gpu(struct gf_measure_picture *pair, const struct gf_options *options,
                               struct gf_error *error) GF_CHECKED;
/* Frees the memory of the GPU that waits for further pairs. */
void gf_score_rest(void);
