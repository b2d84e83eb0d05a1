/* SSIMULACRA2 on the device of the caller's choice. */
#pragma once

#include "cuda/measure/coders.h"
#include "gpufilter/image.h"
#include "gpufilter/pipeline.h"
#include "gpufilter/status.h"

/* Scores `changed` as gf_ssimulacra2() does, to the same bits, on the device that options->device
 * names; options->threads of the CPU are used, or all. GF_DEVICE_AUTO is the CPU until this process
 * has measured so much that a GPU would have paid for its start. A GPU that lacks memory leaves the
 * picture to the CPU. Any thread may call this. Returns GF_ERROR_UNAVAILABLE if GF_DEVICE_CUDA is
 * asked for and there is none. */
enum gf_status gf_score_ssimulacra2(const struct gf_image *original, const struct gf_image *changed,
                                    const struct gf_options *options, double *score,
                                    struct gf_error *error) GF_CHECKED;

/* Whether pictures are for a GPU now, as gf_score_ssimulacra2() chooses. */
bool gf_score_takes_gpu(const struct gf_options *options);
/* Frees the memory of the GPU that waits for further pairs. */
void gf_score_rest(void);
/* Measures a pair on the GPU of the options, which may be in its memory. pair->measured stays false
 * if its memory does not suffice. */
enum gf_status gf_score_on_gpu(struct gf_ssimulacra2_measure_picture *pair,
                               const struct gf_options *options, struct gf_error *error) GF_CHECKED;
