/* Remembers the warnings about a picture, so that none is repeated and they are not many: a damaged
 * file can cause 300,000 warnings. */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "gpufilter/pipeline.h"

enum { GF_SAID_MOST = 16 };

struct gf_said {
    struct gf_options options; /* the caller's options, with a `warn` that repeats no line */
    const char *name;          /* of the picture */
    void (*warn)(void *context, const char *text); /* the caller's function */
    void *context;
    pthread_mutex_t lock;        /* guards the members below */
    uint64_t line[GF_SAID_MOST]; /* hashes of the lines that were passed on */
    unsigned count;              /* of lines; one more where further lines are left out */
};

/* Begins a picture. Returns options that belong to `said`, with a `warn` that any thread may
 * call. */
const struct gf_options *gf_said_begin(struct gf_said *said, const char *name,
                                       const struct gf_options *options);
