/* Many pictures through one chain. Workers, each a thread with a pipeline of its own, take one file
 * after another and do it from start to end: that keeps every core and the GPU busy, bounds memory
 * and isolates what fails. Messages and counts are in the order of the inputs, whichever picture is
 * finished first. */
#ifndef GF_BATCH_BATCH_H
#define GF_BATCH_BATCH_H

#include "batch/batch_log.h"
#include "batch/inputs.h"
#include "batch/output_template.h"

enum gf_batch_kind {
    GF_SAY_ERROR,
    GF_SAY_WARNING,
    GF_SAY_PLAN,
    GF_SAY_CHOICE,  /* which device, and why */
    GF_SAY_PICTURE, /* one of several is done */
};

/* How far it is; a copy. */
struct gf_batch_state {
    size_t files, done, failed, skipped; /* files: all of this run */
    size_t pictures;                     /* written: a stream has several */
    double megapixels;                   /* of inputs, done */
    double elapsed_s;
    double busy_s[GF_SPAN_KINDS]; /* of all workers, where spans are kept */
};

struct gf_batch_request {
    const char *chain;
    struct gf_options options; /* threads and memory_bytes are of all workers together */
    const struct gf_inputs *inputs;
    const struct gf_template *output;
    const int *device; /* CUDA devices to share the work; none: options.device says it */
    int devices;
    bool skip_existing, update, fail_fast;
    bool verbose;             /* GF_SAY_CHOICE and GF_SAY_PICTURE are wanted */
    bool dry_run;             /* says what would be done, as GF_SAY_PLAN */
    int shard, shards;        /* 1..shards; shards 0: everything */
    struct gf_batch_log *log; /* may be NULL, as may each of the following */
    struct gf_resume *resume;
    /* Calls of one thread at a time, but not always the same one. */
    void (*say)(void *context, enum gf_batch_kind kind, const char *text);
    /* Of a single input. */
    void (*picture)(void *context, const char *input, const char *output,
                    const struct gf_profile *profile);
    /* In the calling thread, every tick_s seconds and at the end. */
    void (*tick)(void *context, const struct gf_batch_state *state, bool at_end);
    double tick_s;
    void *context;
    /* In place of gf_pipeline_open, for tests. */
    enum gf_status (*open)(void *context, const char *chain, const struct gf_options *options,
                           struct gf_pipeline **pipeline, struct gf_error *error);
};

/* Of a single input the status and the message are its own; else a failure is a summary, each
 * failing file having been said. */
enum gf_status gf_batch_run(const struct gf_batch_request *request, struct gf_batch_state *state,
                            struct gf_error *error) GF_CHECKED;

#endif
