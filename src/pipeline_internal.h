/* What the batch and the tests need of a pipeline and other users do not. */
#ifndef GF_PIPELINE_INTERNAL_H
#define GF_PIPELINE_INTERNAL_H

#include "backend.h"
#include "gate.h"

/* Where the pictures of one input go. Most inputs hold one; a stream of PNM or PAM may hold many. */
struct gf_target {
    /* The path of the output for the input's number-th picture, from 1, whose result has that format; valid until
     * the next call. May make folders. */
    enum gf_status (*choose)(void *context, int number, struct gf_format result, const char **path,
                             struct gf_error *error);
    /* A picture's output is in place; may be NULL. */
    void (*done)(void *context, int number, const char *path, const struct gf_profile *profile);
    bool several; /* there are names for more than one picture */
    void *context;
};

/* As gf_pipeline_run_file. Pictures before the one that failed are done. */
enum gf_status gf_pipeline_run_pictures(struct gf_pipeline *pipeline, const char *input,
                                        const struct gf_target *target, struct gf_error *error) GF_CHECKED;

/* The formats of an input's first picture and of its result, from its header alone. */
enum gf_status gf_pipeline_peek(struct gf_pipeline *pipeline, const char *input, struct gf_format *in,
                                struct gf_format *out, struct gf_error *error) GF_CHECKED;

/* Whole pictures in host memory count against a budget that pipelines share. */
void gf_pipeline_share_gate(struct gf_pipeline *pipeline, struct gf_gate *gate);

/* Closes the pipeline's backend and runs that one instead, which the pipeline then owns. on_cuda: treat it
 * as a GPU, whose failures are recovered from. */
void gf_pipeline_replace_backend(struct gf_pipeline *pipeline, struct gf_backend *backend, bool on_cuda);
/* The pipeline's own options; a change holds from the next run on. */
struct gf_options *gf_pipeline_options(struct gf_pipeline *pipeline);

#endif
