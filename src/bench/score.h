/* SSIMULACRA2 and SSIM on the device of the caller's choice. */
#pragma once

#include "cuda/measure/coders.h"
#include "gpufilter/pipeline.h"
#include "gpufilter/status.h"

/* Finds what is wanted of the pair as gf_ssimulacra2() and gf_ssim() do, to the same bits, on the
 * device that options->device names; options->threads of the CPU are used, or all. GF_DEVICE_AUTO
 * is the CPU until this process has measured so much that a GPU would have paid for its start. A
 * GPU that lacks memory leaves the pair to the CPU, which does not find the differences:
 * pair->measured is false. Any thread may call this. Returns GF_ERROR_UNAVAILABLE if GF_DEVICE_CUDA
 * is asked for and there is none. */
enum gf_status gf_score_pair(struct gf_measure_picture *pair, const struct gf_options *options,
                             struct gf_error *error) GF_CHECKED;

/* Whether pictures are for a GPU now, as gf_score_pair() chooses. */
bool gf_score_takes_gpu(const struct gf_options *options);
