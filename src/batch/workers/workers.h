/* The workers of a batch: threads with a pipeline each. What they share, what each of them has, and
 * what the calling thread does meanwhile. */
#ifndef GF_BATCH_WORKERS_WORKERS_H
#define GF_BATCH_WORKERS_WORKERS_H

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "batch/devices/devices.h"
#include "batch/names/claims.h"
#include "batch/request/request.h"
#include "pipeline/pipeline_internal.h"

struct gf_batch_item {
    /* [outputs], each NULL where the name is known only after the header is read, or where the
     * output is standard output. */
    char **output;
    char **refusal; /* [outputs]: why that output cannot be made, or NULL; the array is NULL where
                     * all can be made */
    bool is_link;   /* the input is a link in an archive: only files are made of it, since archives
                     * get the link itself */
    char *notes; /* lines to report; the first letter is the kind: 'e'rror, 'w'arning, 'p'icture */
    bool notes_lost; /* there was no memory for them */
    enum gf_outcome outcome;
};

struct gf_batch {
    const struct gf_batch_request *request;
    uint64_t fingerprint[GF_PIPELINE_OUTPUTS_MAX];
    struct gf_batch_item *item; /* [inputs] */
    char **output;              /* [inputs * outputs], of all items */
    struct gf_batch_shard shard;
    struct gf_options options; /* of a worker's pipeline */
    struct gf_memory_budget memory_budget;
    struct gf_batch_devices devices;
    struct gf_claims *claims; /* the names taken so far, where not all names are known before the
                               * run; or NULL */
    double begin_s;
    struct gf_schedule_progress progress; /* of a single input */
    pthread_mutex_t lock;                 /* guards what follows, and the devices */
    pthread_cond_t changed;
    size_t next, reported; /* positions in the shard: the next to take, the next to report */
    int working;           /* workers that have not ended */
    bool stopped;
    struct gf_batch_state state;
    enum gf_status failure; /* the gravest of the failed outputs */
    size_t outputs_failed;  /* of the inputs that failed */
    enum gf_status status;  /* the status of a single input, or of the failure that stopped the
                             * batch */
    struct gf_error error;
    bool fatal;
};

/* One output of the file that a worker works on. */
struct gf_batch_result {
    struct gf_batch_worker *worker;
    int number;              /* of the output, from 0 */
    char *path;              /* NULL: not known yet */
    struct gf_bytes *bytes;  /* of a member of an archive; NULL: a file */
    enum gf_outcome outcome; /* GF_OUTCOME_WAITING: to be done */
    enum gf_status status;
    struct gf_error why; /* it failed or was skipped */
};

struct gf_batch_worker {
    struct gf_batch *batch;
    const struct gf_batch_supply *supply;
    pthread_t thread;
    /* The device that the worker belongs to, and the device that its pipeline is open on: indices
     * of the batch's devices; -1: the CPU. */
    int assigned_device, device;
    struct gf_pipeline *pipeline;
    /* The file that it works on. */
    const struct gf_input_name *input;
    struct gf_input_identity identity; /* of the input, before it is read */
    size_t index;                      /* of the input in the whole list */
    int number;                        /* of the worker, from 0 */
    struct gf_batch_item *item;
    void *taken;                 /* the supply's own note of what it gave */
    struct gf_file_bytes member; /* its data are NULL: the input is a file */
    struct gf_bytes *bytes; /* [outputs]: where results go that are no files, which have no name
                             * here; NULL: all are files */
    struct gf_batch_result result[GF_PIPELINE_OUTPUTS_MAX];
    bool counted; /* the file's pixels are */
    char *notes;
    size_t notes_bytes;
    FILE *notes_file;
    enum gf_status log_status;
    struct gf_error log_error;
};

/* Where workers take inputs from. */
struct gf_batch_supply {
    void *context; /* of attend(); the other two find it by the worker */
    /* Sets the worker's input, index, item, and what else it needs; false where none is left. */
    bool (*take)(struct gf_batch_worker *worker);
    void (*done)(struct gf_batch_worker *worker); /* with that input */
    /* What the calling thread does until everything is done. NULL: it waits, and works itself where
     * there are no other threads. */
    enum gf_status (*attend)(void *context, struct gf_error *error);
};

/* Runs so many workers until the supply has no more inputs. */
enum gf_status gf_batch_work(struct gf_batch *batch, const struct gf_batch_supply *supply,
                             int workers, struct gf_error *error) GF_CHECKED;
/* Runs so many workers until the inputs of the shard are done. */
enum gf_status gf_batch_work_on_shard(struct gf_batch *batch, int workers,
                                      struct gf_error *error) GF_CHECKED;
/* Calls request->tick. The caller holds the lock. */
void gf_batch_tick(struct gf_batch *batch, bool at_end);
/* Waits on batch->changed until *next, which moves on, and ticks meanwhile. The caller holds the
 * lock. */
void gf_batch_wait(struct gf_batch *batch, struct timespec *next);

/* Does the worker's file, on another device if the worker's fails. Makes the outputs whose results
 * are GF_OUTCOME_WAITING, and sets their results. */
void gf_worker_do_file(struct gf_batch_worker *worker);

/* Returns GF_OUTCOME_SKIPPED or _FAILED where an existing output means that the file is not done,
 * with the reason in *why; else GF_OUTCOME_WAITING. */
enum gf_outcome gf_batch_check_existing(const struct gf_batch *batch, const char *input,
                                        const struct gf_input_identity *identity,
                                        const struct gf_batch_item *item, int output, char *why,
                                        size_t size);
enum gf_status gf_batch_status_of_existing(const struct gf_batch_item *item, int output);
/* Is choose() of struct gf_destination; the context is a struct gf_batch_result. */
enum gf_status gf_batch_choose_path(void *result, int number, enum gf_file_format content,
                                    struct gf_format format, const char **path,
                                    struct gf_error *error) GF_CHECKED;

/* Is done() of struct gf_destination; the context is a struct gf_batch_result. */
void gf_batch_picture_done(void *result, int number, const char *path,
                           const struct gf_profile *profile);
/* The message about an input's failure. The input's name is put before a message that names neither
 * the input nor `made`, the path of the output or NULL. If there are several outputs and the chain
 * does not suit the picture, the name of the output follows. */
struct gf_error gf_batch_failure(const struct gf_batch_request *request, const char *input,
                                 int output, const char *made, enum gf_status status,
                                 const char *why);
/* Hands the worker's notes over to its item, errors last where outputs failed, and writes the log's
 * lines. telling: the result that says how the picture ended; ends: its failure becomes the
 * run's. */
void gf_batch_end_item(struct gf_batch_worker *worker, const struct gf_batch_result *telling,
                       bool ends);
/* Sends the messages of an item that is done. */
void gf_batch_report(const struct gf_batch *batch, struct gf_batch_item *item, const char *input);
/* Sends a GF_MESSAGE_DRY_RUN for each input. Fails if the run of an input would fail. */
enum gf_status gf_batch_dry_run(const struct gf_batch *batch, struct gf_error *error) GF_CHECKED;
/* The run's error, made from the pictures that failed or from the failure that stopped the
 * batch. */
enum gf_status gf_batch_conclude(const struct gf_batch *batch, struct gf_error *error) GF_CHECKED;

#endif
