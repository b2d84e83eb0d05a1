/* The workers of a batch, which are threads with a pipeline each: the data that they share, the
 * data of each worker, and the work of the calling thread. */
#pragma once

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "batch/devices/devices.h"
#include "batch/names/names.h"
#include "batch/request/request.h"
#include "pipeline/pipeline_internal.h"

struct gf_batch_item {
    /* The name of each output; NULL if the name is known only after the header is read, or if the
     * output is standard output. */
    char **output;
    /* The reason for which each output cannot be made, or NULL. The array is NULL if all can be
     * made. */
    char **refusal;
    bool is_unread; /* `refusal` says that the input could not be read; another try may succeed */
    /* The input is a link in an archive. Only outputs that are files get pictures made of it, since
     * archives get the link itself. */
    bool is_link;
    char *notes; /* lines to report; the first letter is the kind: 'e'rror, 'w'arning, 'p'icture */
    bool notes_lost; /* some notes were lost, because memory ran out */
    enum gf_outcome outcome;
};

/* The work since a point in time, from which the pace is computed. */
struct gf_batch_window {
    double begin_s; /* when the window began, by gf_now(); 0: no picture is done yet */
    double processor_s;
    size_t taken; /* number of inputs taken before the window began */
};

struct gf_batch {
    const struct gf_batch_request *request;
    uint64_t fingerprint[GF_PIPELINE_OUTPUTS_MAX];
    struct gf_batch_item *item; /* an item for each input */
    char **output;              /* the names of all items' outputs: inputs * outputs elements */
    size_t count; /* the number of inputs; for archives a large number, since their pictures are not
                   * known before the run */
    struct gf_options options; /* the options of a worker's pipeline */
    struct gf_memory_budget memory_budget;
    struct gf_batch_devices devices;
    /* Bits of the facts about pictures that are missing and of which a worker has warned. */
    atomic_uint missed;
    struct gf_claims *claims;       /* NULL, or the names that are taken, if not all names are known
                                     * before the run */
    struct gf_transfers *transfers; /* NULL: pictures lie in their places, or are in archives */
    double begin_s;
    struct gf_schedule_progress progress; /* the progress of a single input */
    pthread_mutex_t lock;                 /* guards the members below, and the devices */
    struct gf_input *opened; /* the only input, if it is a stream that is open already */
    pthread_cond_t changed;
    /* The positions of the next input to take and of the next input to report. For an
     * archive `next` counts the pictures that workers have taken. */
    size_t next, reported;
    int working;                    /* number of workers that are running */
    struct gf_batch_worker *worker; /* the workers on the CPU or on this process's devices, then the
                                     * workers of each helper */
    int workers_here, workers_of_helper;
    bool attended; /* the thread that called gf_batch_run() can start helpers */
    struct gf_batch_window window;
    struct gf_batch_pace pace; /* as measured */
    bool stopped;
    struct gf_batch_state state;
    enum gf_status failure; /* the gravest of the failed outputs */
    size_t outputs_failed;  /* the number of failed outputs of the inputs that failed */
    enum gf_status status;  /* the status of a single input, or of the failure that stopped the
                             * batch */
    struct gf_error error;
    bool fatal;
};

/* One output of the file that a worker works on. */
struct gf_batch_result {
    struct gf_batch_worker *worker;
    int number;              /* the number of the output, from 0 */
    char *path;              /* the output's path; NULL: not known yet */
    struct gf_bytes *bytes;  /* the result for a member of an archive; NULL: the output is a file */
    enum gf_outcome outcome; /* GF_OUTCOME_WAITING: the output is still to be made */
    enum gf_status status;
    struct gf_error why; /* why the output failed or was skipped */
    /* The line of the log of a result that is to be stored first, and the device in it. */
    struct gf_batch_log_entry entry;
    char device[96];
};

struct gf_batch_worker {
    struct gf_batch *batch;
    const struct gf_batch_supply *supply;
    pthread_t thread;
    bool started; /* the thread has been started */
    /* The device that the worker belongs to, and the device that its pipeline is open on: indices
     * of the batch's devices; -1: the CPU. */
    int assigned_device, device;
    struct gf_pipeline *pipeline;
    /* The file that the worker processes. */
    const struct gf_input_name *input;
    struct gf_input_identity identity; /* the input's identity before it is read */
    bool is_fetched;                   /* the input comes through transfers */
    /* The transfer of the input; its status is that of the whole fetch. */
    struct gf_fetched fetched;
    size_t index; /* the input's index in the whole list */
    int number;   /* the worker's number, from 0 */
    struct gf_batch_item *item;
    void *taken;                 /* the data that take() stored about the input */
    size_t place;                /* the input's number in struct gf_batch_order */
    struct gf_file_bytes member; /* the bytes of a member; without data, the input is a file */
    /* The results of outputs that are no files, which have no name here; NULL: all outputs are
     * files. */
    struct gf_bytes *bytes;
    struct gf_batch_result *result; /* one for each output of the request */
    bool counted;                   /* the input's pixels were counted in the batch's state */
    char *notes;
    size_t notes_bytes;
    FILE *notes_file;
    enum gf_status log_status;
    struct gf_error log_error;
};

/* Inputs whose results the calling thread takes over, in their order. The batch's lock guards all
 * members except `room` and the functions. The number of an input is its position, counted as
 * batch->next counts. */
struct gf_batch_order {
    size_t room;    /* the most inputs that are taken and not yet written */
    bool *done;     /* whether a worker has finished input i, at index i % room */
    size_t written; /* the number of inputs that were taken over */
    bool at_end;    /* no input is left to take */
    /* Sends the messages of an input. The caller holds the lock. */
    void (*report)(void *context, size_t number);
    /* report() is also called for inputs that were taken before the batch stopped. */
    bool reports_all;
    /* Takes over the results of an input. A failure stops the batch. */
    enum gf_status (*write)(void *context, size_t number, struct gf_error *error);
};

/* The supply from which workers take inputs. */
struct gf_batch_supply {
    void *context; /* the argument of attend() and of an order's functions; take() and done() find
                    * the context through the worker */
    /* Sets the worker's input, index, item, and whatever else it needs. Returns false if no input
     * is left. */
    bool (*take)(struct gf_batch_worker *worker);
    /* Stores the results of the input; their statuses become those of the input. NULL: the results
     * are in their places already. */
    void (*store)(struct gf_batch_worker *worker);
    /* Called when the worker has finished the input. */
    void (*done)(struct gf_batch_worker *worker);
    /* Runs on the calling thread until all inputs are done. If it is NULL, the calling thread
     * waits; it does the work itself if there are no other threads. */
    enum gf_status (*attend)(void *context, struct gf_error *error);
    struct gf_batch_order *order; /* NULL: the results are in their places already */
};

/* Waits until there is room for another input of an order. Returns false if none is left, or if the
 * batch has stopped. The caller holds the lock. */
bool gf_batch_wait_for_room(struct gf_batch *batch, const struct gf_batch_order *order);
/* Runs `workers` workers until the supply has no more inputs. */
enum gf_status gf_batch_work(struct gf_batch *batch, const struct gf_batch_supply *supply,
                             int workers, struct gf_error *error) GF_CHECKED;
/* Runs `workers` workers until the inputs are done. */
enum gf_status gf_batch_work_on_inputs(struct gf_batch *batch, int workers,
                                       struct gf_error *error) GF_CHECKED;
/* Sends the messages of all inputs up to the first that is not finished. */
void gf_batch_report_in_order(struct gf_batch_worker *worker);

/* ---- pictures that are fetched or stored by commands (transferred.c) ---- */

/* Refuses options that do not suit transfers of pictures. */
enum gf_status gf_batch_check_transfers(const struct gf_batch_request *request,
                                        struct gf_error *error) GF_CHECKED;
/* Like gf_batch_work_on_inputs() with transfers. */
enum gf_status gf_batch_work_on_transfers(struct gf_batch *batch, int workers,
                                          struct gf_error *error) GF_CHECKED;

/* The steps of a worker (worker.c): batch->worker[number] is opened; it runs, in a thread or in the
 * caller's, until the supply is empty; it is closed. */
enum gf_status gf_batch_open_worker(struct gf_batch *batch, const struct gf_batch_supply *supply,
                                    int number, struct gf_error *error) GF_CHECKED;
void gf_batch_run_worker(struct gf_batch_worker *worker);
void gf_batch_close_worker(struct gf_batch_worker *worker);
/* Starts the threads of the workers first .. end - 1, or as many as the system allows. Returns
 * their number. The caller holds the lock. */
int gf_batch_start_workers(struct gf_batch *batch, int first, int end);

/* ---- devices that helpers run (workers.c) ---- */

/* Whether another device pays for its start, if `awake` devices of this pace have `left` inputs
 * left to do. It pays if these devices need more than the figure cuda-more for the rest, and the
 * processors can keep another device busy. `starting`: the first device is still starting, which
 * counts as a part of the rest. */
bool gf_batch_device_pays(const struct gf_batch_pace *pace, int awake, size_t left, bool starting,
                          const struct gf_figures *figures);

/* Calls request->tick. The caller holds the lock. */
void gf_batch_tick(struct gf_batch *batch, bool at_end);
/* Waits on batch->changed, at most until the time *next; if *next has come, calls gf_batch_tick()
 * and sets *next to the time of the next call. The caller holds the lock. */
void gf_batch_wait(struct gf_batch *batch, struct timespec *next);

/* Returns GF_OUTCOME_SKIPPED or GF_OUTCOME_FAILED if the file is not processed because of an
 * existing output, with the reason in *why; else GF_OUTCOME_WAITING. */
enum gf_outcome gf_batch_check_existing(const struct gf_batch *batch, const char *input,
                                        const struct gf_input_identity *identity,
                                        const struct gf_batch_item *item, int output, char *why,
                                        size_t size);
enum gf_status gf_batch_status_of_existing(const struct gf_batch_item *item, int output);

/* Writes a line of the worker's input to the log. */
void gf_batch_record(struct gf_batch_worker *worker, const struct gf_batch_log_entry *entry);
/* The function done() of struct gf_destination; the context is a struct gf_batch_result. */
void gf_batch_picture_done(void *result, int number, const char *path,
                           const struct gf_profile *profile);
/* Returns the message about an input's failure. If `why` names neither the input nor `made`, the
 * input's name is put before it; `made` is the path of the output or NULL. If there are several
 * outputs and the chain does not suit the picture, the name of the output follows. */
struct gf_error gf_batch_failure(const struct gf_batch_request *request, const char *input,
                                 int output, const char *made, enum gf_status status,
                                 const char *why);
/* Moves the worker's notes to its item, with errors last if outputs failed, and writes the log's
 * lines. `telling` is the result that says how the picture ended. `ends` tells that its failure
 * becomes the run's. */
void gf_batch_end_item(struct gf_batch_worker *worker, const struct gf_batch_result *telling,
                       bool ends);
/* Sends the messages of an item that is done. */
void gf_batch_report(const struct gf_batch *batch, struct gf_batch_item *item, const char *input);
/* Sends a GF_MESSAGE_DRY_RUN for each input. Fails if the run of an input would fail. */
enum gf_status gf_batch_dry_run(const struct gf_batch *batch, struct gf_error *error) GF_CHECKED;
/* Returns the run's error: a summary of the pictures that failed, or the failure that stopped the
 * batch. */
enum gf_status gf_batch_conclude(const struct gf_batch *batch, struct gf_error *error) GF_CHECKED;
