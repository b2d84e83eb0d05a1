/* What tests need of a pipeline and users do not. */
#ifndef GF_PIPELINE_INTERNAL_H
#define GF_PIPELINE_INTERNAL_H

#include "backend.h"

/* Closes the pipeline's backend and runs that one instead, which the pipeline then owns. on_cuda: treat it
 * as a GPU, whose failures are recovered from. */
void gf_pipeline_replace_backend(struct gf_pipeline *pipeline, struct gf_backend *backend, bool on_cuda);
/* The pipeline's own options; a change holds from the next run on. */
struct gf_options *gf_pipeline_options(struct gf_pipeline *pipeline);

#endif
