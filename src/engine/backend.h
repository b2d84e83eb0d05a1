/* A backend: the calls by which the scheduler drives a device. A lane is a queue of work: a stream
 * of a CUDA device, or a thread of the CPU backend. One thread at a time uses a lane. Calls on a
 * lane may return before their work is done, which happens in order; wait() waits for it. */
#pragma once

#include <stdbool.h>

#include "base/host_device.h"
#include "base/threads/times.h"
#include "gpufilter/device.h"
#include "gpufilter/profile.h"
#include "gpufilter/status.h"
#include "stage/stage.h"

GF_C_BEGIN

struct gf_backend;
struct gf_device_coders;
struct gf_float_form;

struct gf_lane {
    struct gf_backend *backend;
    struct gf_spans *spans;
    int index;
};

/* One run of a stage, for inspect() and time(): its kernels from `in` to `out` or, after
 * statistic_open(), the counting of `in` for the histogram that the stage needs. */
struct gf_stage_work {
    const struct gf_stage *stage;
    const void *constants;
    struct gf_view in, out;
    void *scratch;
    bool counts;
    /* If not NULL, after statistic_open(): the kernels may also count `out`. *counted becomes
     * whether they do. */
    bool *counted;
};

/* A kernel with the resources of its launch. */
struct gf_kernel_info {
    char name[72];
    int grid[3], block[3];
    int cluster;         /* blocks of a cluster; 1: no clusters */
    int registers;       /* registers of a thread */
    size_t shared_bytes; /* shared memory of a block, static and dynamic */
    size_t local_bytes;  /* the local memory of a thread: spilled registers and arrays with computed
                          * indices */
    double occupancy;    /* theoretical, 0..1 */
};

/* The most bands that are queued on a lane before somebody waits for it. */
enum { GF_BANDS_QUEUED = 8 };
/* The most pictures of copy_pictures(). */
enum { GF_COPIES_MOST = 64 };

/* An allocation of the device's memory. */
struct gf_memory_range {
    const unsigned char *begin;
    size_t bytes;
};

enum gf_pinning { GF_NOT_PINNED, GF_PINNED, GF_PINNED_BEFORE };

struct gf_backend_calls {
    /* Stages read and write host memory; upload() and download() are never called. */
    bool unified;
    /* The range of a band's bytes: large enough to keep the device busy, small enough for its
     * cache. */
    size_t band_bytes_least, band_bytes_most;

    /* Waits until the device has started. All other calls but close() come after it. */
    enum gf_status (*ready)(struct gf_backend *, struct gf_error *);
    void (*close)(struct gf_backend *);
    /* Writes "cuda:0 NVIDIA H200" or "cpu, 2 threads". */
    void (*describe)(struct gf_backend *, char *text, size_t size);

    /* For pictures that callers have in the device's memory; NULL: there is no such memory. owns()
     * fails if the memory is not the device's. It remembers in *known, which may be NULL, in which
     * allocation the memory lies, since asking the driver takes long. guest_open() opens a lane
     * without a queue. follow() lets it queue work on a caller's stream, a cudaStream_t, after all
     * that it has queued on others before, until leave(). Its wait() waits for all of that, and
     * does not sleep. bind() binds the calling thread to the device, and returns what unbind()
     * needs to undo that. */
    enum gf_status (*owns)(struct gf_backend *, const void *memory, size_t size,
                           struct gf_memory_range *known, struct gf_error *);
    enum gf_status (*guest_open)(struct gf_backend *, struct gf_spans *, struct gf_lane **,
                                 struct gf_error *);
    enum gf_status (*follow)(struct gf_lane *, void *stream, struct gf_error *);
    void (*leave)(struct gf_lane *);
    int (*bind)(struct gf_backend *);
    void (*unbind)(struct gf_backend *, int before);

    /* Allocates memory for views, aligned to 256 bytes. Returns NULL if no memory is left. */
    void *(*alloc)(struct gf_backend *, size_t size);
    void (*release)(struct gf_backend *, void *memory, size_t size);
    uint64_t (*free_bytes)(struct gf_backend *);
    /* Host memory for the files of many pipelines, which share it, before the device has started,
     * too. NULL: the backend has none. pin() pins a large part of it; pin_shared() pins all of it,
     * before work for which pinning more would wait. */
    void *(*share)(struct gf_backend *, size_t size);
    void (*unshare)(struct gf_backend *, void *memory);
    void (*pin_shared)(struct gf_backend *);
    /* Pins host memory: copies are then faster and asynchronous. unpin() unpins only memory that
     * pin() has pinned. */
    enum gf_pinning (*pin)(struct gf_backend *, void *data, size_t size);
    void (*unpin)(struct gf_backend *, void *data);
    /* Whether stages can read and write this host memory without a copy; NULL: never. */
    bool (*reaches)(struct gf_backend *, const struct gf_view *host);

    enum gf_status (*lane_open)(struct gf_backend *, int index, struct gf_spans *,
                                struct gf_lane **, struct gf_error *);
    void (*lane_close)(struct gf_lane *);
    void (*lane_enter)(struct gf_lane *); /* binds the lane to the calling thread */

    /* Makes the stage's second pictures available to its kernels until close(). load() does this,
     * too; calling hold() first makes free_bytes() count their memory as used. NULL: the pictures
     * are available already. */
    enum gf_status (*hold)(struct gf_backend *, const struct gf_stage *, struct gf_error *);
    /* Frees the second pictures that were made for one main picture alone (brief); none is in use.
     * NULL, if hold() is NULL. */
    void (*drop_brief)(struct gf_backend *);
    /* Makes the stage's constants available to its kernels until unload(). If `lane` is not NULL,
     * only that lane reads them, and they may be copied in its order; NULL: any lane may read them
     * at once. */
    enum gf_status (*load)(struct gf_backend *, struct gf_lane *lane, const struct gf_stage *,
                           const void **constants, struct gf_error *);
    void (*unload)(struct gf_backend *, const void *constants);

    /* Copies the rows of src to dst, which has the same y, rows and row bytes. */
    enum gf_status (*upload)(struct gf_lane *, const struct gf_view *dst, const struct gf_view *src,
                             struct gf_error *);
    enum gf_status (*download)(struct gf_lane *, const struct gf_view *dst,
                               const struct gf_view *src, struct gf_error *);
    /* Returns the bytes of scratch memory that run() needs for that many rows of the result. */
    size_t (*scratch)(const struct gf_stage *, int rows);
    enum gf_status (*run)(struct gf_lane *, const struct gf_stage *, const void *constants,
                          const struct gf_view *in, const struct gf_view *out, void *scratch,
                          struct gf_error *);
    /* Runs the stage as run() does and counts its result as statistic_add() does, if the same
     * kernels do both faster; otherwise does nothing. *counted becomes whether it ran. NULL: it
     * never runs. */
    enum gf_status (*run_counting)(struct gf_lane *, const struct gf_stage *, const void *constants,
                                   const struct gf_view *in, const struct gf_view *out,
                                   void *scratch, bool *counted, struct gf_error *);
    /* Copies up to GF_COPIES_MOST pictures of one format, all in the device's memory. The
     * destinations may have more rows: equally many above and below the picture, filled by the
     * border (enum gf_border). */
    enum gf_status (*copy_pictures)(struct gf_lane *, const struct gf_view *dst,
                                    const struct gf_view *src, int count, int border,
                                    struct gf_error *);
    /* Runs the stage on a stack of whole pictures, if kernels take them together; otherwise does
     * nothing. *ran becomes whether it ran. NULL: it never runs. */
    enum gf_status (*run_stacked)(struct gf_lane *, const struct gf_stage *, const void *constants,
                                  const struct gf_view *in, const struct gf_view *out,
                                  const struct gf_stack *, bool *ran, struct gf_error *);
    /* Each lane has a histogram of the rows that it has counted, for the stage that needs it.
     * statistic_open() clears it, on all lanes in order of their index. statistic_add() counts a
     * view. statistic_take() waits for its lane and, after all lanes are done, adds the histogram
     * to *into. */
    enum gf_status (*statistic_open)(struct gf_lane *, const struct gf_stage *, struct gf_error *);
    enum gf_status (*statistic_add)(struct gf_lane *, const struct gf_view *, struct gf_error *);
    enum gf_status (*statistic_take)(struct gf_lane *, struct gf_histogram *into,
                                     struct gf_error *);
    void (*statistic_close)(struct gf_lane *);

    /* Acquire and return the right to give the device work and to wait for it, for serial runs on
     * many threads. If more than a few threads had the right at a time, they would wait for the
     * driver's locks longer than for their kernels. Both NULL: all threads may use the device at
     * once. */
    void (*acquire)(struct gf_backend *);
    void (*give_back)(struct gf_backend *);

    /* Ends the span of time that began with the lane's last mark and begins the next span.
     * GF_SPAN_START only begins one. */
    void (*mark)(struct gf_lane *, enum gf_span_kind, int stage, size_t bytes);
    enum gf_status (*wait)(struct gf_lane *, struct gf_error *);

    /* For batches of callers' pictures; NULL, if owns() is. await() waits for what is queued on a
     * caller's stream, a cudaStream_t, and settle() for all work on the device. is_captured() tells
     * whether work on the stream becomes part of a CUDA graph. to_floats() queues on a caller's
     * stream the numbers of pictures of one format. Any thread may call these. */
    enum gf_status (*await)(struct gf_backend *, void *stream, struct gf_error *);
    bool (*is_captured)(struct gf_backend *, void *stream);
    void (*settle)(struct gf_backend *);
    bool (*is_pinned)(struct gf_backend *, const void *host);
    enum gf_status (*to_floats)(struct gf_backend *, const struct gf_image *, int count,
                                const struct gf_float_form *, float *values, void *stream,
                                struct gf_error *);

    /* Opens the device's coders of JPEG and PNG, which use a part of the backend's budget; NULL:
     * the backend has none. The device need not have started. */
    enum gf_status (*coders)(struct gf_backend *, struct gf_device_coders **, struct gf_error *);

    /* Measures the peak bandwidths for the profile, in bytes per second. */
    void (*measure)(struct gf_backend *, struct gf_profile *);

    /* inspect() and time() may be NULL. The lane must be idle. */
    /* Lists the kernels that the work would launch, without launching them. *count may exceed the
     * capacity. */
    enum gf_status (*inspect)(struct gf_lane *, const struct gf_stage_work *,
                              struct gf_kernel_info *use, int capacity, int *count,
                              struct gf_error *);
    /* Measures `runs` runs by the device's clock, in seconds. With `cold`, each run begins with an
     * empty cache. */
    enum gf_status (*time)(struct gf_lane *, const struct gf_stage_work *, bool cold, int runs,
                           double *seconds, struct gf_error *);
};

struct gf_backend {
    const struct gf_backend_calls *calls;
};

/* Queues the work on the lane. */
static inline enum gf_status
gf_stage_work_run(struct gf_lane *lane, const struct gf_stage_work *work, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = lane->backend->calls;
    if (work->counts)
        return calls->statistic_add(lane, &work->in, error);
    if (work->counted) {
        *work->counted = false;
        const enum gf_status status =
            calls->run_counting
                ? calls->run_counting(lane, work->stage, work->constants, &work->in, &work->out,
                                      work->scratch, work->counted, error)
                : GF_OK;
        if (status || *work->counted)
            return status;
    }
    return calls->run(lane, work->stage, work->constants, &work->in, &work->out, work->scratch,
                      error);
}

enum gf_status gf_backend_cpu_open(int threads, struct gf_backend **backend,
                                   struct gf_error *error) GF_CHECKED;

/* Starts the device in the background, unless it has been started. ready() returns a failure of the
 * start. The function returns GF_ERROR_UNAVAILABLE in a build without CUDA.
 * (cuda/backend/backend.cu, or without_cuda.c) */
struct gf_cuda_options {
    int device;
    uint64_t budget; /* bytes of its memory to use; 0: all free memory */
    bool pageable;   /* host memory is never pinned */
    bool zero_copy;  /* stages read and write pinned host memory */
};
enum gf_status gf_backend_cuda_open(const struct gf_cuda_options *options, struct gf_spans *spans,
                                    struct gf_backend **backend, struct gf_error *error) GF_CHECKED;
/* Starts the device in the background for a later user. The process may end before the start does,
 * but not by exit(). */
void gf_backend_cuda_begin(int device);
/* Whether the file system has a node of a device. No library is loaded. */
bool gf_backend_cuda_node(const char **why_not);
/* Whether there is also a driver library. This loads the library, but does not start it. */
bool gf_backend_cuda_likely(const char **why_not);
/* Whether CUDA has been started in this process. *shared becomes whether other processes may use
 * its devices meanwhile: false if a device is in an exclusive compute mode. */
bool gf_backend_cuda_started(bool *shared);

GF_C_END

/* Starts devices. A start takes a tenth of a second or more. It is done once for all pipelines of
 * the process, in the background, and may begin before the device is needed. */

GF_C_BEGIN

enum { GF_STARTS_MOST = 64 }; /* device numbers are below this number */

/* Starts a device. It is called in a thread of its own. */
typedef enum gf_status gf_device_starter(int device, struct gf_error *error);

/* Begins the start, unless it is in progress or has succeeded. A start that has failed is tried
 * again. */
enum gf_status gf_device_start(int device, gf_device_starter *starter,
                               struct gf_error *error) GF_CHECKED;
/* Waits until the start has ended, and returns its status. The start must have begun. */
enum gf_status gf_device_start_wait(int device, struct gf_error *error) GF_CHECKED;

/* Whether any start is in progress. The process must then not call exit(), which would destroy what
 * the start builds; _exit() is safe. */
bool gf_device_starting(void);
void gf_device_starts_wait(void); /* waits until no start is in progress */

GF_C_END
