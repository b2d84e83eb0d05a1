/* The server of pictures: a process whose GPU is awake does the pictures of the same user's other
 * processes, which hand over open files. It touches no path of theirs. */
#ifndef GF_SERVER_SERVE_H
#define GF_SERVER_SERVE_H

#include "pipeline/pipeline_internal.h"

struct gf_server_settings {
    int device;
    uint64_t memory_bytes; /* limit of whole pictures in host memory, for all workers; 0: a quarter
                              of that memory */
    uint64_t device_memory_bytes; /* for all; 0: what is free */
    int workers; /* pictures that are in work at once; 0: by the number of processors */
    int idle_s;  /* the server ends after so long without work; 0: never */
    int rest_ms; /* an idle worker gives its memory back after so long; 0: 5 s */
    void (*ready)(void *context, const char *text); /* clients can connect now; may be NULL */
    void *context;
    /* Replaces gf_pipeline_open() in tests. */
    enum gf_status (*open)(void *context, const char *chain, const struct gf_options *options,
                           struct gf_pipeline **pipeline, struct gf_error *error);
};

/* Serves until a client or a signal (SIGTERM, SIGINT, SIGHUP) ends it, or nobody has come for long
 * enough; what has begun is done first. GF_ERROR_UNAVAILABLE: there is no such GPU; GF_ERROR_USAGE:
 * there is a server already; GF_ERROR_DEVICE: the GPU has failed. */
enum gf_status gf_serve(const struct gf_server_settings *settings,
                        struct gf_error *error) GF_CHECKED;

#endif
