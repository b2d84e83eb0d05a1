/* SSIM and MS-SSIM on a CUDA device, as parts of a measurer. */
#pragma once

#include "cuda/common/coder.cuh"
#include "measure/ssim_formula.h"

/* A pair of pictures and its memory. */
struct ssim_pair {
    const unsigned char *picture[2]; /* in the device's memory */
    size_t pitch[2];
    struct gf_format format;      /* of both */
    int scales;                   /* from gf_ssim_scales() */
    float *planes[2];             /* of the scales after the first, in turn */
    struct gf_ssim_sums *tiles;   /* [scale][channel][tile] */
    struct gf_ssim_sums *on_host; /* a copy, in pinned memory */
};

/* Cuts the pair's memory on the device. */
void ssim_lay_out(struct ssim_pair *pair, struct arena *arena);

/* Returns the bytes of all tiles' sums. */
uint64_t ssim_bytes_of_sums(const struct ssim_pair *pair);

/* Queues what makes the sums and copies them to the host. */
cudaError_t ssim_queue(const struct ssim_pair *pair, cudaStream_t stream);

/* Makes the values of the sums on the host. */
void ssim_take(const struct ssim_pair *pair, double *ssim, double *ms_ssim);
