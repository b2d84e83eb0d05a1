/* The state of the CUDA backend and of its lanes. It begins with what all backends of one device
 * share: the start of the device, and its memory. */
#pragma once

#include <cuda_runtime.h>
#include <pthread.h>
#include <stdint.h>

#include "base/memory/buffers.h"
#include "chain/plan.h"
#include "engine/backend.h"
#include "gpufilter/status.h"

/* Pages of host memory that pipelines share, for files and bands. */
struct shared_pages {
    void *data;
    size_t size;
    bool tried, pinned; /* whether pinning was tried, and succeeded */
    struct shared_pages *next;
};

enum { STREAMS_SHARED = 32 };

struct cuda_device {
    /* The start of the device sets these members. They are constant afterwards. */
    char name[64];
    int numa_node;
    int architecture;       /* the architecture whose machine code the kernels run: 90 for sm_90 */
    cudaEvent_t base_event; /* an event recorded at the time base_s of the host's clock; NULL before
                               the start */
    double base_s;
    double begin_s, end_s; /* when the start began and ended, by gf_now(), if it was successful */
    struct gf_arena memory;
    struct gf_arena pinned; /* small pieces of pinned host memory, for copies */
    struct gf_arena files;  /* host memory for files and bands, whose chunks are pinned */
    pthread_mutex_t pages_lock;
    struct shared_pages *pages;          /* the chunks of `files` */
    pthread_mutex_t lock;                /* guards the members below */
    cudaStream_t stream[STREAMS_SHARED]; /* of the lanes of many pipelines; NULL: not created */
    int streams_lent;                    /* the number of times that one of them was lent */
    int users;                           /* number of open backends that use the device */
    /* The driver's last answer about free memory: its time, the free bytes, and the bytes that the
     * arena held then. */
    double asked_s;
    uint64_t said_free, held;
};

/* Returns the state of a device. gf_device_start() has checked that the index is below
 * GF_STARTS_MOST. */
struct cuda_device *gf_cuda_device_state(int index);

/* Starts device `index` for the whole process. gf_device_start() calls this function
 * (engine/backend.h). */
enum gf_status gf_cuda_device_starter(int index, struct gf_error *error);

/* A backend calls these functions when it opens and closes. When the last backend closes, unused
 * memory is freed. */
void gf_cuda_device_enter(int index);
void gf_cuda_device_leave(int index);
bool gf_cuda_device_is_shared(int index); /* whether several backends use the device */

/* Pins the part of the memory for files that has `data`, or with NULL all. Returns whether there is
 * one. */
bool gf_cuda_pin_files(int index, const void *data);

/* Allocates `size` bytes of pinned host memory, a small piece. Returns NULL when out of memory. */
void *gf_cuda_pinned_piece(int index, size_t size);
void gf_cuda_pinned_piece_free(int index, void *piece);

/* Allocates memory of the current device, which must be device `index`. The memory is part of a few
 * large allocations, or with `own` an allocation of exactly that size. Returns NULL when out of
 * memory. Freed memory may be reused at once: the device must have finished all work on it. */
void *gf_cuda_memory_alloc(int index, size_t size, bool own);
void gf_cuda_memory_free(int index, void *memory, bool own);
/* Returns how many bytes can be allocated. The driver, which answers slowly, is asked seldom. */
uint64_t gf_cuda_memory_available(int index);

/* The state of the CUDA backend, and the functions of struct gf_backend_calls (engine/backend.h)
 * that are not in backend.cu. */

/* MARKS_MAX: the events that time the work of a lane until it waits. BLOCKS_KEPT: a block of
 * constants for each stage that a segment can have. */
enum { MARKS_MAX = GF_BANDS_QUEUED * (2 + 2 * GF_CUTS_MAX), BLOCKS_KEPT = GF_CUTS_MAX };

struct block {
    void *data;
    size_t size;
    void *copy; /* a copy of the content for a comparison with the next constants; NULL: none */
    size_t copy_size;
    bool used;
};

/* The histogram to which all lanes of a run add, and the tables for the lightness of pixels. */
struct statistic {
    enum gf_statistic kind;
    gf_counter *counter;
    bool counter_is_chosen; /* the user chose this counter by variant=name */
    size_t bytes, capacity;
    unsigned long long *count; /* the histogram on the device, [channels][bins] */
    unsigned long long *taken; /* a copy of `count` in pinned host memory */
    cudaStream_t first;        /* the stream of the lane that clears the histogram */
    /* An event recorded once `count` is cleared; NULL until there is a second lane. */
    cudaEvent_t emptied;
    void *tables;
    int table_bits; /* depth of the pictures for which the tables are made; 0: no tables */
};

struct device_picture; /* a second picture on a device; memory.cu defines it */

struct cuda_backend {
    struct gf_backend base;
    struct gf_cuda_options options;
    bool has_budget; /* each allocation is counted against the budget */
    struct gf_spans *spans;
    bool waited;                      /* this backend has waited for the device's start */
    const struct cuda_device *device; /* valid after the start */
    pthread_mutex_t lock;             /* guards used_bytes and blocks */
    uint64_t used_bytes;
    struct block block[BLOCKS_KEPT]; /* constants of stages; kept for later stages */
    struct statistic statistic;
    struct device_picture **held; /* second pictures that this backend uses; see memory.cu */
    int held_count;
    /* Decoders and encoders of pictures; NULL before their first use. */
    struct gf_device_coders *coders;
    uint64_t coder_bytes; /* the part of the budget that the coders have */
};

struct mark {
    cudaEvent_t event;
    enum gf_span_kind kind;
    int stage;
    size_t bytes;
};

struct cuda_lane {
    struct gf_lane base;
    cudaStream_t stream;
    cudaEvent_t ended; /* an event for which a waiting thread sleeps, unless the lane is a guest */
    /* The lane uses streams of callers (guest.cu); it has such a stream now. */
    bool is_guest, follows;
    bool shares_stream; /* the stream is the device's, for several lanes */
    bool was_elsewhere; /* of a guest: its last work was not on the null stream */
    struct mark mark[MARKS_MAX];
    int marks, events; /* number of marks since the last wait; number of events created */
};

static inline struct cuda_backend *backend_of(struct gf_backend *backend)
{
    return (struct cuda_backend *)backend;
}

static inline int device_of(const struct gf_lane *lane)
{
    return ((struct cuda_backend *)lane->backend)->options.device;
}

/* Allocates device memory, which is not counted against the budget. Returns NULL if none is
 * left. */
static inline void *take_memory(const struct cuda_backend *cuda, size_t size)
{
    return gf_cuda_memory_alloc(cuda->options.device, size, cuda->has_budget);
}

static inline void give_memory(const struct cuda_backend *cuda, void *memory)
{
    gf_cuda_memory_free(cuda->options.device, memory, cuda->has_budget);
}

/* Returns an error if the stage's variant needs a later architecture than that of the device. */
enum gf_status gf_cuda_check_architecture(const struct cuda_backend *cuda,
                                          const struct gf_stage *stage, struct gf_error *error);

/* lane.cu defines these functions. */
void gf_cuda_lane_close(struct gf_lane *lane);
enum gf_status gf_cuda_lane_open(struct gf_backend *backend, int index, struct gf_spans *spans,
                                 struct gf_lane **lane, struct gf_error *error);
void gf_cuda_lane_enter(struct gf_lane *lane);
enum gf_status gf_cuda_upload(struct gf_lane *lane, const struct gf_view *dst,
                              const struct gf_view *src, struct gf_error *error);
enum gf_status gf_cuda_download(struct gf_lane *lane, const struct gf_view *dst,
                                const struct gf_view *src, struct gf_error *error);
enum gf_status gf_cuda_run(struct gf_lane *lane, const struct gf_stage *stage,
                           const void *constants, const struct gf_view *in,
                           const struct gf_view *out, void *scratch, struct gf_error *error);
enum gf_status gf_cuda_run_counting(struct gf_lane *lane, const struct gf_stage *stage,
                                    const void *constants, const struct gf_view *in,
                                    const struct gf_view *out, void *scratch, bool *counted,
                                    struct gf_error *error);
enum gf_status gf_cuda_run_stacked(struct gf_lane *lane, const struct gf_stage *stage,
                                   const void *constants, const struct gf_view *in,
                                   const struct gf_view *out, const struct gf_stack *stack,
                                   bool *ran, struct gf_error *error);
void gf_cuda_mark(struct gf_lane *lane, enum gf_span_kind kind, int stage, size_t bytes);
enum gf_status gf_cuda_wait(struct gf_lane *lane, struct gf_error *error);

/* guest.cu defines these functions. */
enum gf_status gf_cuda_owns(struct gf_backend *backend, const void *memory, size_t size,
                            struct gf_memory_range *known, struct gf_error *error);
enum gf_status gf_cuda_guest_open(struct gf_backend *backend, struct gf_spans *spans,
                                  struct gf_lane **lane, struct gf_error *error);
enum gf_status gf_cuda_guest_follow(struct gf_lane *lane, void *stream, struct gf_error *error);
void gf_cuda_guest_leave(struct gf_lane *lane);
int gf_cuda_bind(struct gf_backend *backend);
void gf_cuda_unbind(struct gf_backend *backend, int before);

/* guest.cu defines this function. */
enum gf_status gf_cuda_copy_pictures(struct gf_lane *lane, const struct gf_view *dst,
                                     const struct gf_view *src, int count, int border,
                                     struct gf_error *error);

/* memory.cu defines these functions. */
/* Copies the second pictures that the stage reads to the device, where they stay until the backend
 * closes or, if they are brief, until gf_cuda_drop_brief_pictures(). */
enum gf_status gf_cuda_hold(struct gf_backend *backend, const struct gf_stage *stage,
                            struct gf_error *error);
/* Finds the addresses of the stage's second pictures on the device. */
void gf_cuda_find_pictures(const struct cuda_backend *cuda, const struct gf_stage *stage,
                           struct gf_view *views);
void gf_cuda_drop_brief_pictures(struct gf_backend *backend);
void gf_cuda_drop_pictures(struct cuda_backend *cuda);

/* guest.cu defines this function. */
void gf_cuda_add_batch_calls(struct gf_backend_calls *calls);

/* pyramid.cu defines these functions. */
enum gf_status gf_cuda_halve(struct gf_backend *backend, const struct gf_view *levels, int count,
                             struct gf_error *error);
enum gf_status gf_cuda_cut_tiles(struct gf_backend *backend, const struct gf_view *level,
                                 const struct gf_tile_cut *cut, struct gf_error *error);

/* lane.cu defines these functions, which are about the histogram. */
enum gf_status gf_cuda_statistic_open(struct gf_lane *lane, const struct gf_stage *stage,
                                      struct gf_error *error);
enum gf_status gf_cuda_statistic_add(struct gf_lane *lane, const struct gf_view *view,
                                     struct gf_error *error);
enum gf_status gf_cuda_statistic_take(struct gf_lane *lane, struct gf_histogram *into,
                                      struct gf_error *error);
void gf_cuda_statistic_close(struct gf_lane *lane);

/* Finds the kernels of a stage and times them, for --explain and --profile=compare: two of the
 * functions of struct gf_backend_calls (engine/backend.h). */

enum gf_status gf_cuda_inspect(struct gf_lane *lane, const struct gf_stage_work *work,
                               struct gf_kernel_info *use, int capacity, int *count,
                               struct gf_error *error);
enum gf_status gf_cuda_time(struct gf_lane *lane, const struct gf_stage_work *work, bool cold,
                            int runs, double *seconds, struct gf_error *error);

/* lane.cu defines these functions. */
cudaStream_t gf_cuda_stream(const struct gf_lane *lane);
int gf_cuda_device(const struct gf_lane *lane);
