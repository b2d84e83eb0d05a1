/* Records the times of the parts of a device's start, and of a server, for --verbose and `make
 * bench-start`. Work that is done once, or seldom, notes when it began and ended. Any thread may
 * note a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/c_linkage.h"
#include "gpufilter/profile.h"

GF_C_BEGIN

enum gf_start_part {
    GF_START_DRIVER,       /* the driver is initialised */
    GF_START_CONTEXT,      /* a device's context is created */
    GF_START_DESCRIBE,     /* the device's properties are read */
    GF_START_CLOCK,        /* the device's clock is compared with the host's */
    GF_START_WAIT,         /* a pipeline waits until the device is ready */
    GF_START_QUEUE,        /* a queue is created */
    GF_START_MEMORY,       /* device memory is allocated or freed */
    GF_START_PINNED,       /* host memory is pinned */
    GF_START_KERNELS,      /* kernels are loaded before they are needed */
    GF_START_DECODER,      /* the codec's first group is decoded */
    GF_START_ENCODER,      /* the codec's first group is encoded */
    GF_START_PICTURE,      /* a pipeline's first picture is done */
    GF_START_SERVER,       /* a server processes a picture */
    GF_START_SERVER_KINDS, /* the first of one number for each kind of span of the server */
    GF_START_PARTS = GF_START_SERVER_KINDS + GF_SPAN_KINDS
};

/* The times of a part that ran `count` times, in seconds from some origin: the beginning of its
 * first run, the end of its last run, the sum of all runs, and the longest run. */
struct gf_times {
    int64_t count;
    double first_s, last_s, sum_s, most_s;
};
void gf_times_add(struct gf_times *times, double begin_s, double end_s);

void gf_start_origin(void); /* makes this moment the origin of all times */
/* Notes that the part began at begin_s and has just ended. */
void gf_start_note(enum gf_start_part part, double begin_s);
/* Adds the times that another process has noted. Their origin is the time origin_s of this
 * process. */
void gf_start_note_times(enum gf_start_part part, const struct gf_times *times, double origin_s);
/* Writes a line such as "start: driver: once, from 3.2 to 104.0 ms". Returns false if nothing was
 * noted. */
bool gf_start_describe(enum gf_start_part part, char *text, size_t size);

GF_C_END
