/* Which backend finishes a batch sooner: the CPU, at once, or a GPU, which has to be started. */
#ifndef GF_COST_H
#define GF_COST_H

#include "batch.h"

/* GF_DEVICE_CPU or GF_DEVICE_CUDA for `auto`, and why. */
enum gf_device_kind gf_cost_choose(const struct gf_batch_request *request, char *reason, size_t size);

#endif
