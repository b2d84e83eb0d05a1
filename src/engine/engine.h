/* What the pipeline asks of the engine: threads, buffers and lanes that it keeps, the schedule of
 * one picture, and plans that stay ready.
 *
 * The first part is a pool of threads that compute bands besides the calling thread. A pipeline
 * keeps them from picture to picture, since starting and ending them takes longer than a small
 * picture. One thread uses a pool at a time. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "chain/plan.h"
#include "codec/codec.h"
#include "codec/common/rows/source.h"
#include "engine/backend.h"

struct gf_pass;
struct gf_lane_state;
struct gf_pool_thread;

/* A pool of threads. It is all zero before its first use; once it has threads, it must not be
 * moved. */
struct gf_thread_pool {
    struct gf_pool_thread *first;
    int started;
    pid_t process; /* the process that owns the threads; a forked child has the pool, but not the
                    * threads */
    pthread_mutex_t lock;
    pthread_cond_t submission, end;
    struct gf_pass *pass;       /* the segment whose bands the threads compute */
    struct gf_lane_state *lane; /* lane[i] is for thread i, for the first `wanted` threads */
    int wanted;
    int submitted; /* the number of segments submitted so far */
    int begun;     /* the number of wanted threads that have begun */
    int pending;   /* the number of threads that have begun and not finished */
    bool stopping;
};

/* Starts threads until the pool has `count`. Returns how many of these there are. */
int gf_thread_pool_start(struct gf_thread_pool *pool, int count);
/* Lets the first `count` threads compute the bands of a segment, thread i with lane[i]. */
void gf_thread_pool_submit(struct gf_thread_pool *pool, struct gf_pass *pass,
                           struct gf_lane_state *lane, int count);
/* Waits until the threads are done with the segment. all_taken: no bands are left, or the segment
 * has failed, so that threads that have not begun are not waited for. */
void gf_thread_pool_wait(struct gf_thread_pool *pool, bool all_taken);
void gf_thread_pool_close(struct gf_thread_pool *pool);

/* The buffers, lanes and threads that a pipeline keeps from picture to picture, since mapping
 * memory, pinning it and cudaMalloc() take as long as a small picture. One thread uses a pool at a
 * time. */

struct gf_buffer;

struct gf_buffer_pool {
    struct gf_backend *backend; /* NULL: the pool is closed */
    struct gf_buffer *buffer;
    int count;
    struct gf_lane **lane;
    int lanes;   /* the number of lanes that are open */
    bool shares; /* host memory comes from memory that the backend's pools share */
    struct gf_thread_pool threads;
};

void gf_buffer_pool_open(struct gf_buffer_pool *buffers, struct gf_backend *backend);
/* Frees everything. Call it while the backend is still open. */
void gf_buffer_pool_close(struct gf_buffer_pool *buffers);

/* Take a buffer of at least `size` bytes with undefined contents: gf_buffer_pool_take_host() in
 * host memory, gf_buffer_pool_take() in the backend's own memory. Return NULL if no memory is
 * left. */
void *gf_buffer_pool_take_host(struct gf_buffer_pool *buffers, size_t size);
void *gf_buffer_pool_take(struct gf_buffer_pool *buffers, size_t size);
void gf_buffer_pool_return(struct gf_buffer_pool *buffers, const void *data);
/* Pins a buffer of host memory, unless it is pinned. The backend must be ready. */
void gf_buffer_pool_pin(struct gf_buffer_pool *buffers, const void *data);
/* Pins all memory that pools of the backend share. */
void gf_buffer_pool_pin_shared(struct gf_buffer_pool *buffers);
/* Returns how many bytes of the backend's memory gf_buffer_pool_take() could give. The backend,
 * which is slow to answer, is asked only if the pool's free buffers have less than `enough`
 * bytes. */
uint64_t gf_buffer_pool_free_bytes(const struct gf_buffer_pool *buffers, uint64_t enough);

/* Returns the bytes of the backend's own memory that the pool has, in use or free. */
uint64_t gf_buffer_pool_held_bytes(const struct gf_buffer_pool *buffers);

/* Sets *lane to the lane with that index. The first call for an index opens it. */
enum gf_status gf_buffer_pool_lane(struct gf_buffer_pool *buffers, int index,
                                   struct gf_spans *spans, struct gf_lane **lane,
                                   struct gf_error *error) GF_CHECKED;

/* Frees the buffers that were not used since the last call, so that the pool does not keep those of
 * earlier, larger pictures. Call it between two pictures. */
void gf_buffer_pool_trim(struct gf_buffer_pool *buffers);
/* Frees all buffers that are not taken. */
void gf_buffer_pool_clear(struct gf_buffer_pool *buffers);

/* The schedule of one picture on one backend: a reader thread fills a ring of input bands, lanes
 * compute them, and the calling thread gives finished bands to the sink in order. */

/* The progress of a schedule: how many bands of all segments are done. Other threads may read it,
 * and may set `cancelled`, so that the schedule fails before its next band. `watch` is called after
 * each band, by one thread at a time, and cancels by returning false; NULL: nobody watches. */
struct gf_schedule_progress {
    atomic_int done, total;
    atomic_llong tiles_done, tiles; /* of the pyramids that are being written */
    atomic_bool cancelled;
    bool (*watch)(void *context, double part);
    void *context;
    pthread_mutex_t watching; /* held while `watch` runs; initialised only if there is a `watch` */
    int frame, frames; /* the picture is frame number `frame`, from 0, of `frames`, which count as
                        * one; 0 frames: it is a single picture */
};

struct gf_schedule {
    struct gf_plan *plan;
    struct gf_backend *backend;
    struct gf_buffer_pool
        *buffers; /* the buffers of the backend; NULL: the schedule makes its own */
    const struct gf_options *options;
    bool memory_is_limit; /* memory_bytes of the options is the user's limit; otherwise it only
                           * guides the size of bands */
    struct gf_spans *spans;
    int lanes;
    int band_rows; /* rows of a band; 0: the layout chooses */
    bool serial;   /* the calling thread does everything, since other pictures use the other
                    * processors */
    /* The picture comes from a file (source) or from memory (image_in), and goes to a file (sink)
     * or to memory (image_out). */
    struct gf_source *source;
    const struct gf_image *image_in;
    struct gf_sink *sink;
    const struct gf_image *image_out;
    bool in_on_device, out_on_device;      /* the images lie in the backend's memory */
    struct gf_schedule_progress *progress; /* NULL: the progress is not recorded */
    int first_band_rows;                   /* result: the rows of a band of the first segment */
};

/* Runs the schedule. Returns when the picture is written, or with the first failure after all
 * threads have stopped. */
enum gf_status gf_schedule_plan(struct gf_schedule *schedule, struct gf_error *error) GF_CHECKED;
/* Advances the progress by one picture that was done without a schedule. */
void gf_schedule_tell_whole(struct gf_schedule_progress *progress);

/* Plans that stay ready for pictures that a caller has in the device's memory. A call uses the
 * constants, the buffers and the bands of an earlier one, and only queues kernels on the caller's
 * stream. The calls of one struct gf_resident follow each other on the device, whatever their
 * streams are, since they share these buffers. */

struct gf_resident;
struct gf_ready_plan;

/* Opens an empty set of plans for a backend whose device has started. gf_resident_close() waits for
 * the work of all calls. */
enum gf_status gf_resident_open(struct gf_backend *backend, const struct gf_options *options,
                                struct gf_resident **resident, struct gf_error *error) GF_CHECKED;
void gf_resident_close(struct gf_resident *resident);

/* Returns the ready plan for pictures of that format; NULL: there is none. */
struct gf_ready_plan *gf_resident_find(struct gf_resident *resident, struct gf_format in);
/* Makes a plan ready. It takes the plan over, even after a failure, and may drop the plan that was
 * not used for longest. Returns GF_ERROR_UNFIT if the plan cannot be kept, since its second
 * pictures belong to one picture. */
enum gf_status gf_resident_add(struct gf_resident *resident, struct gf_plan *plan,
                               struct gf_ready_plan **ready, struct gf_error *error) GF_CHECKED;
const struct gf_plan *gf_ready_plan_of(const struct gf_ready_plan *ready);

/* Fails if the picture's memory is not the device's. For `known` see owns() in backend.h. */
enum gf_status gf_resident_check(const struct gf_resident *resident, const struct gf_image *image,
                                 struct gf_memory_range *known, struct gf_error *error) GF_CHECKED;
/* Waits for what is queued on the caller's stream, and for all calls before. */
enum gf_status gf_resident_wait(struct gf_resident *resident, void *stream,
                                struct gf_error *error) GF_CHECKED;
/* Queues the plan on the caller's stream for `count` pictures of its format, several in one launch
 * where kernels can do that. If a stage needs a histogram, the call waits until it is counted. */
enum gf_status gf_resident_run(struct gf_resident *resident, struct gf_ready_plan *ready,
                               const struct gf_image *in, const struct gf_image *out, int count,
                               void *stream, struct gf_error *error) GF_CHECKED;
