/* A backend: the calls by which the scheduler drives a device, CUDA's or the CPU. A lane is a queue
 * of work: a stream of a CUDA device, or a thread of the CPU backend. One thread at a time uses a
 * lane. Calls on a lane may return before their work is done, which happens in order; wait() waits
 * for it. */
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
struct gf_float_source;

struct gf_lane {
    struct gf_backend *backend;
    struct gf_spans *spans;
    int index;
};

/* One launch of a stage, which inspect() describes and time() measures: its kernels from `in` to
 * `out` or, after statistic_open(), the counting of `in` for the histogram that the stage needs. */
struct gf_stage_work {
    const struct gf_stage *stage;
    const void *constants;
    struct gf_view in, out;
    void *scratch;
    bool counts;
    /* If not NULL, and after statistic_open(), the kernels may also count `out`. *counted becomes
     * whether they have. */
    bool *counted;
};

/* A kernel, and the resources that its launch takes. */
struct gf_kernel_info {
    char name[72];
    int grid[3], block[3];
    int cluster;         /* blocks of a cluster; 1: no clusters */
    int registers;       /* registers of a thread */
    size_t shared_bytes; /* shared memory of a block, static and dynamic */
    size_t local_bytes;  /* the local memory of a thread: spilled registers and arrays with computed
                          * indices */
    double occupancy; /* the theoretical occupancy: the part of a multiprocessor's warps that it can
                       * keep, 0..1 */
};

/* The most bands that are queued on a lane before somebody waits for it. */
enum { GF_BANDS_QUEUED = 8 };
/* The most pictures that one call of copy_pictures() takes. */
enum { GF_COPIES_MOST = 64 };

/* An allocation of the device's memory, in which a caller's picture lies. */
struct gf_memory_range {
    const unsigned char *begin;
    size_t bytes;
};

/* Tiles of one row of a level of a pyramid, which are copied out as pictures of their own. The tile
 * n of `count` has the column `column` + n, and goes to `to` + n * tile_bytes. */
struct gf_tile_cut {
    int width, height, overlap; /* of a tile, as struct gf_pyramid has them */
    bool whole;                 /* beyond the level's edge its last pixels repeat */
    int row, column, count;
    unsigned char *to;
    size_t pitch, tile_bytes;
};

enum gf_pinning { GF_NOT_PINNED, GF_PINNED, GF_PINNED_BEFORE };

struct gf_backend_calls {
    /* Whether stages read and write host memory, so that upload() and download() are never
     * called. */
    bool unified;
    /* The least and the most bytes of a band: enough to keep the device busy, and few enough for
     * its cache. */
    size_t band_bytes_least, band_bytes_most;

    /* Waits until the device has started. All other calls but close() must come after it. */
    enum gf_status (*ready)(struct gf_backend *, struct gf_error *);
    void (*close)(struct gf_backend *);
    /* Writes a text about the device such as "cuda:0 NVIDIA H200" or "cpu, 2 threads". */
    void (*describe)(struct gf_backend *, char *text, size_t size);

    /* The following calls are for pictures that callers have in the device's memory; NULL: there is
     * no such memory.
     * owns() fails if the memory is not the device's. *known, unless `known` is NULL, is the
     * allocation that the last call found, so that the driver, which is slow, is asked only about
     * memory outside it.
     * guest_open() opens a lane without a stream of its own. From follow() to leave(), the lane
     * queues work on a caller's stream, a cudaStream_t, after all that it has queued on other
     * streams before. Its wait() waits for all of that, and does not sleep.
     * bind() makes the device the calling thread's, and returns what unbind() needs to undo
     * that. */
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
    /* Pins host memory, so that copies are faster and asynchronous. unpin() does nothing for memory
     * that pin() found pinned. */
    enum gf_pinning (*pin)(struct gf_backend *, void *data, size_t size);
    void (*unpin)(struct gf_backend *, void *data);
    /* Whether the device's stages can read and write this host memory without a copy; NULL:
     * never. */
    bool (*reaches)(struct gf_backend *, const struct gf_view *host);

    enum gf_status (*lane_open)(struct gf_backend *, int index, struct gf_spans *,
                                struct gf_lane **, struct gf_error *);
    void (*lane_close)(struct gf_lane *);
    void (*lane_enter)(struct gf_lane *); /* binds the lane to the calling thread */

    /* Makes the stage's second pictures available to its kernels until close(). load() does this,
     * too; after hold(), free_bytes() counts their memory as used. NULL: the pictures are available
     * already. */
    enum gf_status (*hold)(struct gf_backend *, const struct gf_stage *, struct gf_error *);
    /* Frees the second pictures that serve one main picture only (`brief`); none may be in use.
     * NULL if hold() is NULL. */
    void (*drop_brief)(struct gf_backend *);
    /* Makes the stage's constants available to its kernels until unload(); *constants becomes their
     * address. If `lane` is not NULL, only that lane reads them, and copying them may be queued on
     * it; NULL: any lane may read them when load() returns. */
    enum gf_status (*load)(struct gf_backend *, struct gf_lane *lane, const struct gf_stage *,
                           const void **constants, struct gf_error *);
    void (*unload)(struct gf_backend *, const void *constants);

    /* Copies the rows of src in host memory to dst in device memory; download() copies the other
     * way. Both views have the same y, rows and bytes in a row. */
    enum gf_status (*upload)(struct gf_lane *, const struct gf_view *dst, const struct gf_view *src,
                             struct gf_error *);
    enum gf_status (*download)(struct gf_lane *, const struct gf_view *dst,
                               const struct gf_view *src, struct gf_error *);
    /* Returns the bytes of scratch memory that run() needs for `rows` rows of the result. */
    size_t (*scratch)(const struct gf_stage *, int rows);
    enum gf_status (*run)(struct gf_lane *, const struct gf_stage *, const void *constants,
                          const struct gf_view *in, const struct gf_view *out, void *scratch,
                          struct gf_error *);
    /* Runs the stage as run() does, and counts its result as statistic_add() does, if one set of
     * kernels does both faster; otherwise does nothing. *counted becomes whether it ran. NULL: it
     * never runs. */
    enum gf_status (*run_counting)(struct gf_lane *, const struct gf_stage *, const void *constants,
                                   const struct gf_view *in, const struct gf_view *out,
                                   void *scratch, bool *counted, struct gf_error *);
    /* Copies `count` pictures of one format, at most GF_COPIES_MOST, within the device's memory.
     * The destinations may have more rows: equally many above and below the picture, which are
     * filled by the rule `border` (enum gf_border). */
    enum gf_status (*copy_pictures)(struct gf_lane *, const struct gf_view *dst,
                                    const struct gf_view *src, int count, int border,
                                    struct gf_error *);
    /* Runs the stage on a stack of whole pictures, if its kernels take several pictures in one
     * launch; otherwise does nothing. *ran becomes whether it ran. NULL: it never runs. */
    enum gf_status (*run_stacked)(struct gf_lane *, const struct gf_stage *, const void *constants,
                                  const struct gf_view *in, const struct gf_view *out,
                                  const struct gf_stack *, bool *ran, struct gf_error *);
    /* Counts the histogram that a stage needs; each lane counts one of its own. statistic_open()
     * clears it; call it on all lanes in order of their index. statistic_add() counts a view.
     * statistic_take() waits for its lane and, called after all lanes are done, adds the lane's
     * histogram to *into. */
    enum gf_status (*statistic_open)(struct gf_lane *, const struct gf_stage *, struct gf_error *);
    enum gf_status (*statistic_add)(struct gf_lane *, const struct gf_view *, struct gf_error *);
    enum gf_status (*statistic_take)(struct gf_lane *, struct gf_histogram *into,
                                     struct gf_error *);
    void (*statistic_close)(struct gf_lane *);

    /* Acquire and give back the right to queue work on the device and to wait for it, for serial
     * runs on many threads. If more than a few threads had the right at a time, they would wait for
     * the driver's locks longer than for their kernels. Both NULL: all threads may use the device
     * at once. */
    void (*acquire)(struct gf_backend *);
    void (*give_back)(struct gf_backend *);

    /* Ends the span of time that began at the lane's last mark, and records it with its kind, stage
     * and bytes; the next span begins. GF_SPAN_START only begins one. */
    void (*mark)(struct gf_lane *, enum gf_span_kind, int stage, size_t bytes);
    enum gf_status (*wait)(struct gf_lane *, struct gf_error *);

    /* For batches of callers' pictures; NULL if owns() is. await() waits for what is queued on a
     * caller's stream, a cudaStream_t, and settle() for all work on the device. is_captured() tells
     * whether work on the stream becomes part of a CUDA graph. to_floats() queues on a caller's
     * stream the conversion of pictures of one format to numbers (gf_image_to_numbers()).
     * from_floats() waits for what it queues there: the conversion of numbers to samples
     * (gf_image_from_numbers()), with its failure. Any thread may call these. */
    enum gf_status (*await)(struct gf_backend *, void *stream, struct gf_error *);
    bool (*is_captured)(struct gf_backend *, void *stream);
    void (*settle)(struct gf_backend *);
    bool (*is_pinned)(struct gf_backend *, const void *host);
    enum gf_status (*to_floats)(struct gf_backend *, const struct gf_image *, int count,
                                const struct gf_float_form *, void *values, void *stream,
                                struct gf_error *);
    enum gf_status (*from_floats)(struct gf_backend *, const struct gf_float_source *,
                                  const struct gf_image *, void *stream, struct gf_error *);

    /* For pyramids of 8-bit pictures without alpha in the device's memory; NULL if coders() is.
     * halve() makes each of the views but the first by gf_halve() of the one before. Both return
     * when the work is done. */
    enum gf_status (*halve)(struct gf_backend *, const struct gf_view *levels, int count,
                            struct gf_error *);
    enum gf_status (*cut_tiles)(struct gf_backend *, const struct gf_view *level,
                                const struct gf_tile_cut *, struct gf_error *);

    /* Opens the device's coders (engine/device_coders.h), which use a part of the backend's memory
     * budget; NULL: the backend has none. The device need not have started. */
    enum gf_status (*coders)(struct gf_backend *, struct gf_device_coders **, struct gf_error *);

    /* Measures the peak bandwidths of struct gf_profile, in bytes per second. */
    void (*measure)(struct gf_backend *, struct gf_profile *);

    /* Lists in use[] the kernels that the work would launch, without launching them. *count becomes
     * their number, which may exceed `capacity`. The lane must be idle; inspect() and time() may be
     * NULL. */
    enum gf_status (*inspect)(struct gf_lane *, const struct gf_stage_work *,
                              struct gf_kernel_info *use, int capacity, int *count,
                              struct gf_error *);
    /* Measures `runs` runs of the work by the device's clock, in seconds. With `cold`, nothing is
     * in the device's cache when a run begins. The lane must be idle. */
    enum gf_status (*time)(struct gf_lane *, const struct gf_stage_work *, bool cold, int runs,
                           double *seconds, struct gf_error *);
};

struct gf_backend {
    const struct gf_backend_calls *calls;
};

/* Queues the work on the lane: runs the stage, or counts its input. */
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

/* Opens the CUDA backend for a device, and starts the device in the background, unless it has been
 * started; ready() returns a failure of the start. Returns GF_ERROR_UNAVAILABLE in a build without
 * CUDA. */
struct gf_cuda_options {
    int device;
    uint64_t budget; /* bytes of device memory that the backend may use; 0: all free memory */
    bool pageable;   /* host memory is never pinned */
    /* Stages read and write pinned host memory instead of copies in device memory. */
    bool zero_copy;
};
enum gf_status gf_backend_cuda_open(const struct gf_cuda_options *options, struct gf_spans *spans,
                                    struct gf_backend **backend, struct gf_error *error) GF_CHECKED;
/* Starts the device in the background for a later user. The process may end before the start does,
 * by _exit() but not by exit(). */
void gf_backend_cuda_begin(int device);
/* Whether the file system has a device node of an NVIDIA GPU; otherwise *why_not is the reason. No
 * library is loaded. */
bool gf_backend_cuda_node(const char **why_not);
/* Whether there is a device node and also a driver library, which is loaded but not initialised. */
bool gf_backend_cuda_likely(const char **why_not);
/* Whether CUDA has been started in this process. *shared becomes whether other processes can use
 * its devices meanwhile: false if a device is in an exclusive compute mode. */
bool gf_backend_cuda_started(bool *shared);

GF_C_END

/* Starting devices. A start takes a tenth of a second or more; it is done once for all pipelines of
 * the process, in the background, and may begin before the device is needed. */

GF_C_BEGIN

enum { GF_STARTS_MOST = 64 }; /* device numbers are below this number */

/* The function that starts a device. It is called in a thread of its own. */
typedef enum gf_status gf_device_starter(int device, struct gf_error *error);

/* Begins to start the device, unless that is in progress or has succeeded. A start that has failed
 * is tried again. */
enum gf_status gf_device_start(int device, gf_device_starter *starter,
                               struct gf_error *error) GF_CHECKED;
/* Waits until the start has ended, and returns its status. The start must have begun. */
enum gf_status gf_device_start_wait(int device, struct gf_error *error) GF_CHECKED;

/* Whether any start is in progress. The process must then not call exit(), which would destroy what
 * the start builds; _exit() is safe. */
bool gf_device_starting(void);
void gf_device_starts_wait(void); /* waits until no start is in progress */

GF_C_END
