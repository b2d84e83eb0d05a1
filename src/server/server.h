/* What the rest of the program uses of servers of pictures: functions of clients, which use, start
 * and end a server; helpers; the server itself; and the choice of GPUs that CUDA sees. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "pipeline/pipeline_internal.h"
#include "server/protocol.h"

/* Connects to a server that would do the work of this process on that device. Returns NULL if there
 * is no such server, which takes a few microseconds to find out. *silent, unless silent is NULL,
 * becomes true if there is a server that does not answer. */
struct gf_remote *gf_server_connect(int device, bool *silent);
bool gf_server_present(int device);

/* Whether a server may do this run. It must not if the run limits device memory, chooses how to
 * copy, or is profiled; nor if the chain names more files than a request can have, or if the
 * result's size depends on the pixels, since the client names the output before it knows the
 * size. */
bool gf_server_may_run(const char *chain, const struct gf_options *options);

/* Whether helpers may filter all pictures of this run. Beyond gf_server_may_run(), they must not if
 * the run limits its memory, or if the chain names files, which each request would read anew. */
bool gf_server_may_run_all(const char *chain, const struct gf_options *options);

/* ---- a server at the other end of a socket ---- */

/* The server of one or more connections. */
struct gf_server_peer {
    char name[40]; /* the server's name for messages */
    atomic_bool failed;
};

/* ---- the server itself ---- */

/* Asks the server for its state. Returns false if no server answers. */
bool gf_server_look(struct gf_server_welcome *state);

/* Tells the server to finish the work that it has begun and to end, and waits until it has ended.
 * *was_there becomes true if there was a server. Returns GF_ERROR_UNAVAILABLE if the server does
 * not answer. */
enum gf_status gf_server_stop(bool *was_there, struct gf_error *error) GF_CHECKED;

/* Starts `gpufilter --serve` for that device in the background. The server ends after idle_s
 * seconds without work. The call does not report whether the server starts: without a GPU, or if
 * there is a server already, it ends at once. */
void gf_server_start(int device, int idle_s);

/* The time for which a server may be silent: GF_SERVER_PATIENCE_MS, unless a test sets it. */
extern int gf_server_patience_ms;

/* A helper is a server that works for one run alone, with a GPU of its own. The driver of a process
 * sees only one GPU, so that each further GPU needs a process. The helper executes this program
 * anew, with the user's CUDA_VISIBLE_DEVICES, accepts connections from a socket that its parent
 * hands over, and is killed when the parent ends. */

struct gf_helper_settings {
    int device;            /* the device's number among the devices that the user's variable leaves
                            * visible */
    int workers;           /* the most pictures that it filters at the same time */
    uint64_t memory_bytes; /* the most bytes of whole pictures in host memory */
};

/* Starts a helper, and returns at once. The calling thread must not end before the helper's work is
 * done. Returns NULL if no process can be started. */
struct gf_helper *gf_helper_start(const struct gf_helper_settings *settings);

enum gf_helper_state { GF_HELPER_STARTING, GF_HELPER_AWAKE, GF_HELPER_FAILED };
/* Returns whether the helper is still starting, has started, or has failed, without waiting. */
enum gf_helper_state gf_helper_look(struct gf_helper *helper);

/* Returns another connection to a helper that has started; NULL: there is none. */
struct gf_remote *gf_helper_connect(struct gf_helper *helper);

pid_t gf_helper_process(const struct gf_helper *helper);
/* Returns the processor time in seconds that the helper has used. */
double gf_helper_processor_s(const struct gf_helper *helper);

/* Kills the helper. With `wait` also waits for its end. */
void gf_helper_end(struct gf_helper *helper, bool wait);

/* The server of pictures: a process with a started GPU, which filters the pictures of the same
 * user's other processes. They send open files, and the server opens none of their paths. */

struct gf_server_settings {
    int device;
    /* The most bytes of whole pictures in host memory, for all workers; 0: a quarter of the
     * machine's memory. */
    uint64_t memory_bytes;
    /* The most bytes on the device for all workers; 0: all free memory. */
    uint64_t device_memory_bytes;
    int workers; /* the most pictures at the same time; 0: by the number of processors */
    int idle_s;  /* the server ends after this many seconds without work; 0: never */
    enum gf_sandbox sandbox; /* the least sandbox (options.h), also for clients that ask for less */
    int rest_ms;             /* milliseconds after which an idle worker frees its memory; 0: 5 s */
    void (*ready)(void *context, const char *text); /* called when clients can connect; may be
                                                     * NULL */
    void *context;
    /* Compares the two pictures of the work by a worker's pipeline, within the server's budget of
     * host memory, and closes work->in and work->out. */
    enum gf_status (*compare)(struct gf_pipeline *pipeline, struct gf_memory_budget *budget,
                              const struct gf_remote_work *work, struct gf_remote_result *result,
                              struct gf_error *error);
    void (*rest)(void); /* frees what compare() has kept; may be NULL */
    /* Replaces gf_pipeline_open() in tests. */
    enum gf_status (*open)(void *context, const char *chain, const struct gf_options *options,
                           struct gf_pipeline **pipeline, struct gf_error *error);
};

/* Serves until a client or a signal (SIGTERM, SIGINT, SIGHUP) ends it, or no client comes for
 * idle_s seconds. Work that has begun is finished first. Returns GF_ERROR_UNAVAILABLE if there is
 * no such GPU, GF_ERROR_USAGE if there is a server already, GF_ERROR_DEVICE if the GPU has
 * failed. */
enum gf_status gf_serve(const struct gf_server_settings *settings,
                        struct gf_error *error) GF_CHECKED;

/* ---- finding the GPUs that the user lets CUDA see, without starting the driver, which starts
 * every GPU that it sees and takes 0.2 s for each further one ---- */

/* Returns how many GPUs CUDA would find, by the kernel's list of GPUs and CUDA_VISIBLE_DEVICES. 0:
 * only the driver can tell, for example because GPUs are divided (MIG). */
int gf_visible_count(void);

/* Hides all GPUs except number `device` from CUDA, which must not have started, and reports that to
 * base/process/machine.h. Returns false, and changes nothing, if this cannot be done. */
bool gf_visible_hide_others(int device);

#define GF_VISIBLE_VARIABLE "CUDA_VISIBLE_DEVICES"
/* Returns the user's value of CUDA_VISIBLE_DEVICES, even if this process has changed the variable;
 * NULL: not set. */
const char *gf_visible_variable(void);

/* The folder in which /proc and /dev are read: "", unless a test sets it. */
extern const char *gf_visible_root;
