/* Within the batch: what its workers share, and one worker's work on one file. */
#ifndef GF_BATCH_BATCH_WORK_H
#define GF_BATCH_BATCH_WORK_H

#include <pthread.h>
#include <stdio.h>

#include "batch/batch.h"
#include "pipeline/pipeline_internal.h"

enum { GF_BATCH_DEVICES_MAX = 64, GF_BATCH_WORKERS_MAX = 256, GF_BATCH_CODEC_WORKERS = 32 };

struct gf_batch_item {
    char *output; /* NULL: chosen when the header is known, or standard output */
    char *notes; /* lines to be said, the first letter of each its kind: 'e', 'w', 'p' for a picture
                  */
    enum gf_outcome outcome;
};

struct gf_batch_device {
    int index;   /* CUDA's */
    bool failed; /* not to be used any more */
};

struct gf_batch {
    const struct gf_batch_request *request;
    uint64_t fingerprint;
    struct gf_batch_item *item; /* [inputs] */
    size_t first, step;         /* the shard's inputs: first, first + step, ... */
    size_t count;               /* of them */
    struct gf_options options;  /* of each worker's pipeline */
    struct gf_memory_budget memory_budget;
    struct gf_batch_device device[GF_BATCH_DEVICES_MAX];
    int devices;
    bool falls_back; /* to the CPU, when no device is left */
    char reason[160];
    double begin_s;
    pthread_mutex_t lock; /* guards what follows, and the devices */
    pthread_cond_t changed;
    size_t next, told; /* inputs of the shard: to be taken, to be said */
    int working;       /* workers */
    bool stopped;
    struct gf_batch_state state;
    enum gf_status status; /* of a single input; or what stopped everything */
    struct gf_error error;
    bool fatal;
};

struct gf_batch_worker {
    struct gf_batch *batch;
    pthread_t thread;
    int home,
        device; /* where it belongs and where it is: an index into batch->device, or -1, the CPU */
    struct gf_pipeline *pipeline;
    /* The file under way. */
    const struct gf_input_name *input;
    size_t index; /* in the whole list */
    struct gf_batch_item *item;
    char *path; /* chosen for the picture under way */
    char *notes;
    size_t notes_bytes;
    FILE *notes_file;
    enum gf_status log_status;
    struct gf_error log_error;
};

/* Whether the input's file is no regular one: it can be read once, and has no header to look at
 * before. */
bool gf_batch_is_stream(const char *path);

/* Whether the only input may hold several pictures, each with an output of its own number. What is
 * there already is left by whole files, for which the output's name must be known before. */
static inline bool gf_batch_numbers_pictures(const struct gf_batch *batch)
{
    const struct gf_batch_request *const request = batch->request;
    return request->inputs->count == 1 && request->output->has_number && !request->skip_existing &&
           !request->update;
}

/* The input's place in the list, for its j-th turn. */
static inline size_t gf_batch_index(const struct gf_batch *batch, size_t turn)
{
    return batch->first + turn * batch->step;
}

/* Names every output that can be named now; refuses those that would come into each other's way. */
enum gf_status gf_batch_name_outputs(struct gf_batch *batch, struct gf_error *error) GF_CHECKED;

/* Whether there is nothing to be done for the file, or nothing that may be; *why says it. */
enum gf_outcome gf_batch_consider(const struct gf_batch *batch, size_t index, char *why,
                                  size_t size);

/* Does one file, whatever it takes: reading, filtering, writing, another device. Sets *why where it
 * fails. */
enum gf_status gf_batch_do_file(struct gf_batch_worker *worker, struct gf_error *why) GF_CHECKED;

#endif
