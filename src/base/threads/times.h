/* Times: the clock, spans (what ran from when to when), how long the parts of a start took, and the
 * time limit of the picture that a thread works on. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/host_device.h"
#include "gpufilter/profile.h"
#include "gpufilter/status.h"

GF_C_BEGIN

/* Spans record what ran, where and when, for the profile of a run. Any thread may add a span; they
 * are read after the run. */
struct gf_spans {
    pthread_mutex_t lock;
    bool on;         /* spans are recorded; otherwise they are dropped */
    double origin_s; /* gf_now at the beginning of the run */
    struct gf_span *item;
    size_t count, capacity;
};

struct gf_interval {
    double begin_s, end_s;
};
/* Returns the seconds that at least one of the intervals covers. Sorts the intervals. */
double gf_intervals_union(struct gf_interval *interval, size_t count);

double gf_now(void); /* seconds of a monotonic clock */
/* Initializes a condition whose waits end by the clock of gf_now(), and returns the time until
 * which such a wait lasts that ends `seconds` from now. */
void gf_cond_init(pthread_cond_t *condition);
struct timespec gf_time_after(double seconds);

void gf_spans_init(struct gf_spans *spans);
void gf_spans_free(struct gf_spans *spans);
/* Drops all spans and sets the origin to now. `on`: whether spans are recorded from now on. */
void gf_spans_restart(struct gf_spans *spans, bool on);
/* Adds a span. begin_s and end_s are times of gf_now(). The span is dropped if there is no memory
 * for it. */
void gf_spans_add(struct gf_spans *spans, enum gf_span_kind kind, int stage, int lane,
                  double begin_s, double end_s, size_t bytes);

GF_C_END

/* The times that the start of a device, or of a server, takes, in parts, for --verbose and `make
 * bench-start`. Whoever does a part notes when it began and ended. Any thread may note a time. */
GF_C_BEGIN

enum gf_start_part {
    GF_START_DRIVER,       /* the driver is initialised */
    GF_START_CONTEXT,      /* a device's context is created */
    GF_START_DESCRIBE,     /* the device's properties are read */
    GF_START_CLOCK,        /* the device's clock is compared with the host's */
    GF_START_WAIT,         /* a pipeline waits until the device is ready */
    GF_START_QUEUE,        /* a queue for the device's work (a CUDA stream) is created */
    GF_START_MEMORY,       /* device memory is allocated or freed */
    GF_START_PINNED,       /* host memory is pinned */
    GF_START_KERNELS,      /* kernels are loaded before they are needed */
    GF_START_DECODER,      /* the GPU's codec decodes its first group of pictures */
    GF_START_ENCODER,      /* the GPU's codec encodes its first group of pictures */
    GF_START_NVDEC,        /* a decoder of NVDEC is created */
    GF_START_FRAME,        /* NVDEC decodes a frame, with the wait for an engine */
    GF_START_CONVERTED,    /* a frame of NVDEC is converted into its picture */
    GF_START_PICTURE,      /* a pipeline's first picture is done */
    GF_START_SERVER,       /* a server processes a picture */
    GF_START_SERVER_KINDS, /* the first of GF_SPAN_KINDS numbers, one for each kind of span in a
                            * server's profile */
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
/* Adds the times of a part that another process has noted. Its times count from origin_s, a time of
 * gf_now() in this process. */
void gf_start_note_times(enum gf_start_part part, const struct gf_times *times, double origin_s);
/* Writes a line such as "start: driver: once, from 3.2 to 104.0 ms". Returns false if nothing was
 * noted. */
bool gf_start_describe(enum gf_start_part part, char *text, size_t size);

GF_C_END

/* Returns the time of gf_now() at which the picture of the calling thread must be done; 0: there is
 * no limit. The function that begins a picture sets the limit, and so does each thread that works
 * on a part of the picture. Code that may take long asks in between whether the time is up, and
 * stops. */
double gf_time_limit(void);
void gf_time_limit_set(double at_s);
/* Moves the limit, if there is one, by the time since begin_s, because the thread has waited for
 * something that does not belong to the picture, such as the start of a device. */
void gf_time_limit_excuse(double begin_s);
/* Returns the seconds until the limit; INFINITY if there is no limit. */
double gf_time_left(void);
bool gf_time_is_up(void);
/* Returns GF_ERROR_INPUT if the time is up. The pipeline replaces the text by one that names the
 * picture and the option. */
enum gf_status gf_time_check(struct gf_error *error) GF_CHECKED;
/* Replaces the error GF_ERROR_INPUT of a picture for which there are `seconds` (0: no limit) if the
 * time is up, since a decoder that then gets no more bytes reports a damaged picture. */
enum gf_status gf_time_tell(const char *name, double seconds, enum gf_status status,
                            struct gf_error *error) GF_CHECKED;
