/* What a device can do for the scheduler, which does not know which one it drives. A lane is one
 * line of work: a stream of a CUDA device with its buffers, or a thread of the CPU backend. Calls
 * on one lane come from one thread at a time; they may return before the work is done, in order,
 * and wait() waits for it. */
#ifndef GF_ENGINE_BACKEND_H
#define GF_ENGINE_BACKEND_H

#include "base/spans.h"
#include "gpufilter/device.h"
#include "gpufilter/pipeline.h"
#include "stage/stage.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gf_backend;

struct gf_lane {
    struct gf_backend *backend;
    struct gf_spans *spans;
    int index;
};

/* What a stage does to a band, to be inspected or timed: its kernels from `in` to `out`, or, after
 * statistic_open, counting `in` for the histogram that the stage wants. */
struct gf_stage_work {
    const struct gf_stage *stage;
    const void *constants;
    struct gf_view in, out;
    void *scratch;
    bool counts;
};

/* A kernel as a launcher starts it. */
struct gf_variant_info {
    char name[72];
    int grid[3], block[3];
    int cluster;         /* blocks; 1: none */
    int registers;       /* of a thread */
    size_t shared_bytes; /* of a block, static and dynamic */
    size_t
        local_bytes; /* of a thread: spilled registers, and arrays that are indexed at run time */
    double
        occupancy; /* theoretical: resident warps by those that a multiprocessor can hold, 0..1 */
};

struct gf_backend_calls {
    /* Stages read and write host memory where it lies; upload and download are never called. */
    bool unified;
    /* Bytes of a band that keep the device busy without leaving its cache or starving its link. */
    size_t band_bytes_least, band_bytes_most;

    /* Waits for the start-up. Every call below comes after it. */
    enum gf_status (*ready)(struct gf_backend *, struct gf_error *);
    void (*close)(struct gf_backend *);
    /* "cuda:0 NVIDIA H200", "cpu, 2 threads" */
    void (*describe)(struct gf_backend *, char *text, size_t size);

    /* Memory for views, 256-byte aligned; NULL where there is none left. */
    void *(*alloc)(struct gf_backend *, size_t size);
    void (*release)(struct gf_backend *, void *memory, size_t size);
    uint64_t (*free_bytes)(struct gf_backend *);
    /* Makes copies from and to host memory fast; where that fails they are merely slower. */
    bool (*pin)(struct gf_backend *, void *data, size_t size);
    void (*unpin)(struct gf_backend *, void *data);
    /* Whether stages can read and write that host memory where it lies; NULL: never. */
    bool (*reaches)(struct gf_backend *, const struct gf_view *host);

    enum gf_status (*lane_open)(struct gf_backend *, int index, struct gf_spans *,
                                struct gf_lane **, struct gf_error *);
    void (*lane_close)(struct gf_lane *);
    void (*lane_enter)(struct gf_lane *); /* the calling thread is going to use the lane */

    /* The stage's constants where its kernels read them, until unload. */
    enum gf_status (*load)(struct gf_backend *, const struct gf_stage *, const void **constants,
                           struct gf_error *);
    void (*unload)(struct gf_backend *, const void *constants);

    /* Copies src's rows to dst, which has the same y, rows and row bytes. */
    enum gf_status (*upload)(struct gf_lane *, const struct gf_view *dst, const struct gf_view *src,
                             struct gf_error *);
    enum gf_status (*download)(struct gf_lane *, const struct gf_view *dst,
                               const struct gf_view *src, struct gf_error *);
    size_t (*scratch)(const struct gf_stage *, int rows);
    enum gf_status (*run)(struct gf_lane *, const struct gf_stage *, const void *constants,
                          const struct gf_view *in, const struct gf_view *out, void *scratch,
                          struct gf_error *);
    /* A lane's part of the histogram of its input that a stage wants: opened empty on all lanes, in
     * order of their index; added to; taken (added into *into) from all lanes when their work is
     * done; closed. */
    enum gf_status (*statistic_open)(struct gf_lane *, const struct gf_stage *, struct gf_error *);
    enum gf_status (*statistic_add)(struct gf_lane *, const struct gf_view *, struct gf_error *);
    enum gf_status (*statistic_take)(struct gf_lane *, struct gf_histogram *into,
                                     struct gf_error *);
    void (*statistic_close)(struct gf_lane *);

    /* Ends a span that began with the lane's last mark; kind GF_SPAN_START only sets that
     * beginning. */
    void (*mark)(struct gf_lane *, enum gf_span_kind, int stage, size_t bytes);
    enum gf_status (*wait)(struct gf_lane *, struct gf_error *);

    /* Measured peaks in bytes/s for the profile. */
    void (*measure)(struct gf_backend *, struct gf_profile *);

    /* The two below are NULL where there is no such thing; the lane is idle. */
    /* The kernels that the work would launch, nothing of which runs; *count may exceed capacity. */
    enum gf_status (*inspect)(struct gf_lane *, const struct gf_stage_work *,
                              struct gf_variant_info *use, int capacity, int *count,
                              struct gf_error *);
    /* The seconds of each of `runs` runs on the device's clock. cold: its cache holds nothing of
     * them. */
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
    return work->counts ? calls->statistic_add(lane, &work->in, error)
                        : calls->run(lane, work->stage, work->constants, &work->in, &work->out,
                                     work->scratch, error);
}

enum gf_status gf_backend_cpu_open(int threads, struct gf_backend **backend,
                                   struct gf_error *error) GF_CHECKED;

/* Starts the device in the background; errors come from ready(). Built without CUDA:
 * GF_ERROR_UNAVAILABLE. (cuda/backend/backend.cu, or backend_none.c) */
struct gf_cuda_options {
    int device;
    uint64_t budget; /* bytes of its memory; 0: what is free */
    bool pageable;   /* host memory is not pinned */
    bool zero_copy;  /* pinned host memory is read and written where it lies */
};
enum gf_status gf_backend_cuda_open(const struct gf_cuda_options *options, struct gf_spans *spans,
                                    struct gf_backend **backend, struct gf_error *error) GF_CHECKED;
/* Whether it is worth trying: a driver library and a device node, without the cost of starting it.
 */
bool gf_backend_cuda_likely(const char **why_not);

#ifdef __cplusplus
}
#endif
#endif
