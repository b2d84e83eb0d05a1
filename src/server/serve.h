/* The server of pictures: a process with a started GPU, which filters the pictures of the same
 * user's other processes. They send open files, and the server opens none of their paths. */
#pragma once

#include "pipeline/pipeline_internal.h"

struct gf_server_settings {
    int device;
    uint64_t memory_bytes; /* limit of whole pictures in host memory, for all workers; 0: a quarter
                            * of the machine's memory */
    uint64_t device_memory_bytes; /* limit for all workers; 0: all free memory */
    int workers; /* pictures that are in work at once; 0: depends on the number of processors */
    int idle_s;  /* the server ends after this many seconds without work; 0: never */
    enum gf_sandbox sandbox; /* at least this, also for clients that ask for less */
    int rest_ms;             /* an idle worker frees its memory after this time; 0: 5 s */
    void (*ready)(void *context, const char *text); /* called when clients can connect; may be
                                                     * NULL */
    void *context;
    /* Replaces gf_pipeline_open() in tests. */
    enum gf_status (*open)(void *context, const char *chain, const struct gf_options *options,
                           struct gf_pipeline **pipeline, struct gf_error *error);
};

/* Serves until a client or a signal (SIGTERM, SIGINT, SIGHUP) ends it, or no client has come for
 * long enough. Work that has begun is finished first. Returns GF_ERROR_UNAVAILABLE if there is no
 * such GPU, GF_ERROR_USAGE if there is a server already, GF_ERROR_DEVICE if the GPU has failed. */
enum gf_status gf_serve(const struct gf_server_settings *settings,
                        struct gf_error *error) GF_CHECKED;
