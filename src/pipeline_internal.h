/* What tests need of a pipeline and users do not. */
#ifndef GF_PIPELINE_INTERNAL_H
#define GF_PIPELINE_INTERNAL_H

#include "backend.h"

/* Closes the pipeline's backend and runs that one instead, which the pipeline then owns. on_cuda: treat it
 * as a GPU, whose failures are recovered from. */
void gf_pipeline_replace_backend(struct gf_pipeline *pipeline, struct gf_backend *backend, bool on_cuda);
/* The pipeline's own options; a change holds from the next run on. */
struct gf_options *gf_pipeline_options(struct gf_pipeline *pipeline);
const struct gf_chain *gf_pipeline_chain(const struct gf_pipeline *pipeline);
/* The backend, whose start-up is over; under `auto` the CPU's where the GPU does not start. */
enum gf_status gf_pipeline_start(struct gf_pipeline *pipeline, struct gf_backend **backend, bool *on_cuda,
                                 struct gf_error *error) GF_CHECKED;
/* Lanes of the next run, unless there are fewer bands. */
int gf_pipeline_lanes(const struct gf_pipeline *pipeline);
/* The options of the next run: budgets that were left open have their values. */
struct gf_options gf_pipeline_resolved(const struct gf_pipeline *pipeline);

#endif
