/* The lines that were said of a picture: a file can give the same reason for one 300,000 times. */
#ifndef GF_CODEC_IO_SAID_H
#define GF_CODEC_IO_SAID_H

#include <pthread.h>
#include <stdint.h>

#include "gpufilter/pipeline.h"

enum { GF_SAID_MOST = 16 };

struct gf_said {
    struct gf_options options; /* those of the caller, with a `warn` that says no line twice */
    void (*warn)(void *context, const char *text); /* the caller's */
    void *context;
    pthread_mutex_t lock;        /* guards what follows */
    uint64_t line[GF_SAID_MOST]; /* hashes of the last lines */
    unsigned count;
};

/* Begins a picture. The result is that of `said`; any thread may warn. */
const struct gf_options *gf_said_begin(struct gf_said *said, const struct gf_options *options);

#endif
