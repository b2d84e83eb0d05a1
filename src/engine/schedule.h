/* Takes one picture through one backend: a reader thread fills a ring of input bands, lanes compute
 * them, and the calling thread gives finished bands to the sink in order. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "chain/plan.h"
#include "codec/codec.h"
#include "codec/common/source.h"
#include "engine/backend.h"
#include "engine/buffer_pool.h"

/* The progress of a schedule, in bands of all segments. Other threads may read it, and may cancel
 * the schedule, which then fails before its next band. `watch` is called after each band, by one
 * thread at a time, and cancels by returning false; NULL: nobody watches. */
struct gf_schedule_progress {
    atomic_int done, total;
    atomic_bool cancelled;
    bool (*watch)(void *context, double part);
    void *context;
    pthread_mutex_t watching; /* initialised if there is a `watch` */
    int frame, frames; /* the picture is this frame, from 0, of so many, which count together; 0
                        * frames: it is alone */
};

struct gf_schedule {
    struct gf_plan *plan;
    struct gf_backend *backend;
    struct gf_buffer_pool
        *buffers; /* the buffers of the backend; NULL: the schedule makes its own */
    const struct gf_options *options;
    bool memory_is_limit; /* memory_bytes is the user's limit; otherwise it only guides the size of
                           * bands */
    struct gf_spans *spans;
    int lanes;
    int band_rows; /* 0: the layout chooses it */
    bool serial;   /* the calling thread does everything; other pictures use the other processors */
    /* The picture comes from a codec (source) or from memory (image_in), and goes to a codec (sink)
     * or to memory (image_out). */
    struct gf_source *source;
    const struct gf_image *image_in;
    struct gf_sink *sink;
    const struct gf_image *image_out;
    bool in_on_device, out_on_device;      /* the images lie in the backend's memory */
    struct gf_schedule_progress *progress; /* NULL: the progress is not recorded */
    int first_band_rows; /* the rows of a band of the first segment, which gf_schedule_plan()
                          * sets */
};

/* Runs the schedule. Returns when the picture is written, or with the first failure after all
 * threads have stopped. */
enum gf_status gf_schedule_plan(struct gf_schedule *schedule, struct gf_error *error) GF_CHECKED;
/* Tells that a picture is done which needed no schedule. */
void gf_schedule_tell_whole(struct gf_schedule_progress *progress);
