/* What the batch and the tests need of a pipeline and other users do not. */
#ifndef GF_PIPELINE_PIPELINE_INTERNAL_H
#define GF_PIPELINE_PIPELINE_INTERNAL_H

#include "base/memory_budget.h"
#include "chain/chain.h"
#include "engine/backend.h"

/* Where the pictures of one input go. Most inputs hold one; a stream of PNM or PAM may hold many.
 */
struct gf_destination {
    /* The path of the output for the input's number-th picture, from 1; valid until the next call.
     * content: the input's file format. May make folders. */
    enum gf_status (*choose)(void *context, int number, enum gf_file_format content,
                             struct gf_format result, const char **path, struct gf_error *error);
    /* A picture's output is in place; may be NULL. */
    void (*done)(void *context, int number, const char *path, const struct gf_profile *profile);
    bool several; /* there are names for more than one picture */
    void *context;
};

/* As gf_pipeline_run_file. Pictures before the one that failed are done. */
enum gf_status gf_pipeline_run_pictures(struct gf_pipeline *pipeline, const char *input,
                                        const struct gf_destination *target,
                                        struct gf_error *error) GF_CHECKED;

/* What an input's header tells: the file format, and the formats of its first picture and of the
 * result. */
struct gf_peek {
    enum gf_file_format content;
    struct gf_format in, out;
};
enum gf_status gf_pipeline_peek(struct gf_pipeline *pipeline, const char *input,
                                struct gf_peek *peek, struct gf_error *error) GF_CHECKED;
/* Why that device runs, for the profile. */
void gf_pipeline_set_reason(struct gf_pipeline *pipeline, const char *reason);

/* Whole pictures in host memory count against a budget that pipelines share. */
void gf_pipeline_share_budget(struct gf_pipeline *pipeline, struct gf_memory_budget *memory_budget);

/* Closes the pipeline's backend and runs that one instead, which the pipeline then owns. on_cuda:
 * treat it as a GPU, whose failures are recovered from. */
void gf_pipeline_replace_backend(struct gf_pipeline *pipeline, struct gf_backend *backend,
                                 bool on_cuda);
/* The pipeline's own options; a change holds from the next run on. */
struct gf_options *gf_pipeline_options(struct gf_pipeline *pipeline);
const struct gf_chain *gf_pipeline_chain(const struct gf_pipeline *pipeline);
/* The backend, whose start-up is over; under `auto` the CPU's where the GPU does not start. */
enum gf_status gf_pipeline_start(struct gf_pipeline *pipeline, struct gf_backend **backend,
                                 bool *on_cuda, struct gf_error *error) GF_CHECKED;
/* Lanes of the next run, unless there are fewer bands. */
int gf_pipeline_lanes(const struct gf_pipeline *pipeline);
/* The options of the next run: budgets that were left open have their values. */
struct gf_options gf_pipeline_resolved(const struct gf_pipeline *pipeline);

#endif
