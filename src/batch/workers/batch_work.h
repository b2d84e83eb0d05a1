/* The internals of a batch: what its workers share, and a worker's work on one file. */
#ifndef GF_BATCH_WORKERS_BATCH_WORK_H
#define GF_BATCH_WORKERS_BATCH_WORK_H

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "batch/batch.h"
#include "batch/workers/claims.h"
#include "batch/devices/cost.h"
#include "pipeline/pipeline_internal.h"

enum {
    GF_BATCH_DEVICES_MAX = 64,
    GF_BATCH_WORKERS_MAX = 256,
    GF_BATCH_CODEC_WORKERS = 32,
    GF_BATCH_UNPACK_WORKERS = 96
};

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

struct gf_batch_device {
    int index;   /* CUDA's */
    bool failed; /* no worker uses it any more */
};

struct gf_batch {
    const struct gf_batch_request *request;
    uint64_t fingerprint[GF_PIPELINE_OUTPUTS_MAX];
    struct gf_batch_item *item; /* [inputs] */
    char **output;              /* [inputs * outputs], of all items */
    size_t first, step;         /* the shard's inputs are first, first + step, ... */
    size_t count;               /* of the shard's inputs */
    struct gf_options options;  /* of a worker's pipeline */
    struct gf_memory_budget memory_budget;
    struct gf_batch_device device[GF_BATCH_DEVICES_MAX];
    int devices;
    bool device_codec;          /* whether the GPU decodes or encodes at least some of the
                                 * pictures */
    bool device_unpacks;        /* whether the GPU decodes PNGs, which take it longer than JPEGs */
    double pixels;              /* of one input; 0: not known */
    bool archive;               /* the input, or an output, is one */
    struct gf_claims *claims;   /* the names taken so far, where not all names are known before the
                                 * run; or NULL */
    enum gf_cost_server server; /* the server that was found, even if it is not used */
    struct gf_remote *remote;   /* the server that runs the only input; NULL: there is none */
    bool cpu_alone;             /* does the picture, should the server not */
    bool falls_back;            /* whether the batch goes on with the CPU when no device is left */
    char reason[160];           /* for the choice of the device */
    double begin_s;
    struct gf_run_progress progress; /* of a single input */
    pthread_mutex_t lock;            /* guards what follows, and the devices */
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
    pthread_t thread;
    /* The device that the worker belongs to, and the device that its pipeline is open on: indices
     * into batch->device; -1: the CPU. */
    int assigned_device, device;
    struct gf_pipeline *pipeline;
    /* The file that it works on. */
    const struct gf_input_name *input;
    struct gf_input_identity identity; /* of the input, before it is read */
    size_t index;                      /* of the input in the whole list */
    int number;                        /* of the worker, from 0 */
    struct gf_batch_item *item;
    const struct gf_file_bytes *member; /* NULL: the input is a file */
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

/* Whether the input is a pipe or a device: it can be read only once. */
bool gf_batch_is_stream(const char *path);

/* Whether there is only one picture, or one stream of pictures. */
static inline bool gf_batch_single(const struct gf_batch *batch)
{
    return batch->request->inputs->count == 1 && !batch->archive;
}

/* Whether the outputs of the only input, which may hold several pictures, are numbered by picture.
 * --skip-existing and --update decide for each file, and so they need the output's name before the
 * header is read. */
static inline bool gf_batch_numbers_pictures(const struct gf_batch *batch, int output)
{
    const struct gf_batch_request *const request = batch->request;
    return request->inputs->count == 1 && !batch->archive &&
           gf_batch_output_at(request, output).name->has_number && !request->skip_existing &&
           !request->update;
}

/* The index in the whole list of the input at a position in the shard. */
static inline size_t gf_batch_index(const struct gf_batch *batch, size_t position)
{
    return batch->first + position * batch->step;
}

/* Names every output that can be named before the run. Fails if an output would overwrite another
 * output or an input. */
enum gf_status gf_batch_name_outputs(struct gf_batch *batch, struct gf_error *error) GF_CHECKED;

/* Fails if the log is the input, which it would change, or the output, which would replace the log;
 * `log` and `output` may be NULL. */
enum gf_status gf_batch_check_log(const struct gf_batch_log *log, const char *input,
                                  const char *output, struct gf_error *error) GF_CHECKED;

/* Opens a pipeline for gf_pipeline_peek() of an output, unless it is open. */
enum gf_status gf_batch_open_header_reader(const struct gf_batch *batch, int output,
                                           struct gf_pipeline **reader,
                                           struct gf_error *error) GF_CHECKED;

/* Sends a GF_MESSAGE_DRY_RUN for each input. Fails if the run of an input would fail. */
enum gf_status gf_batch_dry_run(const struct gf_batch *batch, struct gf_error *error) GF_CHECKED;

/* Chooses the devices that the batch runs on, or none for the CPU, and the reason; finds a server
 * for a single picture. `look` is the batch's request, for an archive together with its first
 * pictures. */
void gf_batch_choose_devices(struct gf_batch *batch, const struct gf_batch_request *look);
/* Closes the server's connection if no pipeline has taken it. */
void gf_batch_drop_server(struct gf_batch *batch);
/* Fails if a filter of the request has no CUDA kernel. */
enum gf_status gf_batch_check_kernels(const struct gf_batch_request *request,
                                      struct gf_error *error) GF_CHECKED;
/* Fails if a device that the user has named is missing, or cannot run the chain, before anything is
 * written. */
enum gf_status gf_batch_check_devices(const struct gf_batch *batch,
                                      struct gf_error *error) GF_CHECKED;
uint64_t gf_batch_physical_bytes(void); /* of this machine's memory */
/* Whether each of that many workers runs its pictures on one thread. This is cheapest with several
 * pictures for each worker, unless there are so many workers that some would wait for the last
 * pictures. */
bool gf_batch_one_thread_each(size_t pictures, int workers);
/* Sets the options of a worker's pipeline and opens the memory budget; returns how many workers the
 * batch has. */
int gf_batch_divide_work(struct gf_batch *batch);

/* Returns GF_OUTCOME_SKIPPED or _FAILED where an existing output means that the file is not run,
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

/* Runs the worker's input: makes the outputs that are to be made, and reports how they ended.
 * alone: a failure becomes the run's. */
void gf_batch_run_item(struct gf_batch_worker *worker, bool alone);
/* Runs one file, on another device if the worker's fails. Makes the outputs whose results are
 * GF_OUTCOME_WAITING, and sets their results; the status and the error are those of the first
 * output that failed. */
enum gf_status gf_batch_run_file(struct gf_batch_worker *worker, struct gf_error *error) GF_CHECKED;

/* Runs so many workers until all inputs are done. */
enum gf_status gf_batch_work(struct gf_batch *batch, int workers,
                             struct gf_error *error) GF_CHECKED;
/* Opens what a worker needs before its thread starts. */
enum gf_status gf_batch_worker_open(struct gf_batch_worker *worker, struct gf_batch *batch,
                                    int number, struct gf_error *error) GF_CHECKED;
/* Ends a worker's thread: closes the pipeline and tells the batch. */
void gf_batch_worker_end(struct gf_batch_worker *worker);
void gf_batch_worker_close(struct gf_batch_worker *worker); /* after its thread has ended */
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
/* The run's error, made from the pictures that failed or from the failure that stopped the
 * batch. */
enum gf_status gf_batch_conclude(const struct gf_batch *batch, struct gf_error *error) GF_CHECKED;
/* Calls request->tick. The caller holds the lock. */
void gf_batch_tick(struct gf_batch *batch, bool at_end);
/* Waits on batch->changed until *next, which moves on, and ticks meanwhile. The caller holds the
 * lock. */
void gf_batch_wait(struct gf_batch *batch, struct timespec *next);
/* Writes the picture's line to the log, and calls request->entry, where there is a log and such a
 * function. */
void gf_batch_record(struct gf_batch_worker *worker, const struct gf_batch_log_entry *entry);

#endif
