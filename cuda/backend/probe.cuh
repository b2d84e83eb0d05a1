/* Finds the kernels of a stage and times them, for --explain and --profile=compare: two of the
 * functions of struct gf_backend_calls (engine/backend.h). */
#pragma once

#include <cuda_runtime.h>

#include "engine/backend.h"

enum gf_status gf_cuda_inspect(struct gf_lane *lane, const struct gf_stage_work *work,
                               struct gf_kernel_info *use, int capacity, int *count,
                               struct gf_error *error);
enum gf_status gf_cuda_time(struct gf_lane *lane, const struct gf_stage_work *work, bool cold,
                            int runs, double *seconds, struct gf_error *error);

/* lane.cu defines these functions. */
cudaStream_t gf_cuda_stream(const struct gf_lane *lane);
int gf_cuda_device(const struct gf_lane *lane);
