/* This part of the CUDA backend manages memory and the constants of stages. The device starts in
 * the background (device.cu) while the first rows are decoded. */
#include "cuda/backend/backend.cuh"

#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process/machine.h"
#include "base/threads/times.h"
#include "chain/chain.h"
#include "cuda/common/check.cuh"
#include "engine/device_coders.h"

/* Records for the profile how long this backend has waited for the start of the device. begin_s:
 * when it began to wait, by gf_now(). */
static void note_wait(struct cuda_backend *cuda, double begin_s)
{
    const struct cuda_device *const device = cuda->device;
    const double origin_s = cuda->spans->origin_s;
    gf_start_note(GF_START_WAIT, begin_s);
    if (device->end_s > origin_s)
        gf_spans_add(cuda->spans, GF_SPAN_START, -1, -1,
                     device->begin_s > origin_s ? device->begin_s : origin_s, device->end_s, 0);
}

static enum gf_status cuda_ready(struct gf_backend *backend, struct gf_error *error)
{
    struct cuda_backend *const cuda = backend_of(backend);
    const double begin_s = gf_now();
    GF_TRY(gf_device_start_wait(cuda->options.device, error));
    if (!cuda->waited)
        note_wait(cuda, begin_s);
    cuda->waited = true;
    GF_CUDA_TRY(cudaSetDevice(gf_device_ordinal(cuda->options.device)), cuda->options.device,
                error);
    return GF_OK;
}

static void cuda_close(struct gf_backend *backend)
{
    struct cuda_backend *const cuda = backend_of(backend);
    gf_device_coders_close(cuda->coders, cuda->coder_bytes);
    if (cuda_ready(backend, NULL) == GF_OK) {
        gf_cuda_drop_pictures(cuda);
        for (int i = 0; i < BLOCKS_KEPT; i++)
            give_memory(cuda, cuda->block[i].data);
        give_memory(cuda, cuda->statistic.count);
        gf_cuda_pinned_piece_free(cuda->options.device, cuda->statistic.taken);
        give_memory(cuda, cuda->statistic.tables);
        if (cuda->statistic.emptied)
            cudaEventDestroy(cuda->statistic.emptied);
    }
    for (int i = 0; i < BLOCKS_KEPT; i++)
        free(cuda->block[i].copy);
    gf_cuda_device_leave(cuda->options.device);
    pthread_mutex_destroy(&cuda->lock);
    free(cuda);
}

static void cuda_describe(struct gf_backend *backend, char *text, size_t size)
{
    const struct cuda_backend *const cuda = backend_of(backend);
    snprintf(text, size, "cuda:%d %s", cuda->options.device, cuda->device->name);
}

static uint64_t cuda_free_bytes(struct gf_backend *backend)
{
    struct cuda_backend *const cuda = backend_of(backend);
    const uint64_t available = gf_cuda_memory_available(cuda->options.device);
    pthread_mutex_lock(&cuda->lock);
    const uint64_t left =
        cuda->options.budget > cuda->used_bytes ? cuda->options.budget - cuda->used_bytes : 0;
    pthread_mutex_unlock(&cuda->lock);
    return cuda->options.budget && left < available ? left : available;
}

static void count_bytes(struct cuda_backend *cuda, int64_t bytes)
{
    pthread_mutex_lock(&cuda->lock);
    cuda->used_bytes += (uint64_t)bytes;
    pthread_mutex_unlock(&cuda->lock);
}

static void *cuda_alloc(struct gf_backend *backend, size_t size)
{
    struct cuda_backend *const cuda = backend_of(backend);
    /* Without a budget the driver, which answers slowly, is not asked for the free memory. */
    if (cuda->options.budget && cuda_free_bytes(backend) < size)
        return NULL;
    void *const memory = take_memory(cuda, size);
    if (memory)
        count_bytes(cuda, (int64_t)size);
    return memory;
}

static void cuda_release(struct gf_backend *backend, void *memory, size_t size)
{
    give_memory(backend_of(backend), memory);
    count_bytes(backend_of(backend), -(int64_t)size);
}

static void *cuda_share(struct gf_backend *backend, size_t size)
{
    return gf_arena_alloc(&gf_cuda_device_state(backend_of(backend)->options.device)->files, size);
}

static void cuda_unshare(struct gf_backend *backend, void *memory)
{
    gf_arena_free(&gf_cuda_device_state(backend_of(backend)->options.device)->files, memory);
}

static void cuda_pin_shared(struct gf_backend *backend)
{
    if (!backend_of(backend)->options.pageable)
        (void)gf_cuda_pin_files(backend_of(backend)->options.device, NULL);
}

static enum gf_pinning cuda_pin(struct gf_backend *backend, void *data, size_t size)
{
    struct cudaPointerAttributes attributes;
    if (backend_of(backend)->options.pageable)
        return GF_NOT_PINNED;
    if (gf_cuda_pin_files(backend_of(backend)->options.device, data))
        return GF_PINNED_BEFORE;
    /* The caller may have pinned this memory already, or it may be device memory. Pinning it would
     * then be an error. */
    if (cudaPointerGetAttributes(&attributes, data) == cudaSuccess &&
        attributes.type != cudaMemoryTypeUnregistered)
        return GF_PINNED_BEFORE;
    const double begin_s = gf_now();
    gf_numa_prefer(data, size, backend_of(backend)->device->numa_node);
    gf_pages_populate(data, size);
    const bool pinned = cudaHostRegister(data, size, cudaHostRegisterDefault) == cudaSuccess;
    if (!pinned)
        cudaGetLastError();
    gf_start_note(GF_START_PINNED, begin_s);
    return pinned ? GF_PINNED : GF_NOT_PINNED;
}

static void cuda_unpin(struct gf_backend *backend, void *data)
{
    (void)backend;
    cudaHostUnregister(data);
}

/* Whether kernels can access this host memory directly (zero copy, Best Practices Guide 9.1.3): its
 * address must be the same on host and device. */
static bool cuda_reaches(struct gf_backend *backend, const struct gf_view *host)
{
    struct cudaPointerAttributes attributes;
    if (!backend_of(backend)->options.zero_copy || ((uintptr_t)host->data | host->pitch) % 16)
        return false;
    return cudaPointerGetAttributes(&attributes, host->data) == cudaSuccess &&
           attributes.type == cudaMemoryTypeHost && attributes.devicePointer == host->data;
}

/* The host keeps a copy of constants up to this many bytes. If the next picture's constants equal
 * the copy, they need not be copied to the device again. */
enum { COPY_MOST = 16 << 10 };

static bool holds(const struct block *block, const struct gf_stage *stage)
{
    return block->copy && block->copy_size == stage->constants_size &&
           memcmp(block->copy, stage->constants, stage->constants_size) == 0;
}

/* Whether the block's size suits the stage. Large constants do not use blocks for small ones, nor
 * the reverse: otherwise a small stage could take a large block, and the large stage would allocate
 * another one. */
static bool fits(const struct block *block, const struct gf_stage *stage)
{
    return block->size >= stage->constants_size &&
           (block->size > COPY_MOST) == (stage->constants_size > COPY_MOST);
}

/* Ranks how well a block suits the stage; the highest rank is the best. From best to worst: a block
 * that contains the stage's constants; one that fits and whose content no stage needs again; an
 * empty one; one that fits and contains other constants (OTHER); any block; 0 for a block in
 * use. */
enum { OTHER = 2 };

static int rank(const struct block *block, const struct gf_stage *stage)
{
    if (block->used)
        return 0;
    if (holds(block, stage))
        return 5;
    if (!block->data)
        return 3;
    if (!fits(block, stage))
        return 1;
    return block->copy ? OTHER : 4;
}

static void forget_copy(struct block *block)
{
    free(block->copy);
    block->copy = NULL;
}

/* Returns the block that suits the stage best, and makes it large enough. If no memory is left for
 * that, returns a block with other constants that fits, or NULL. */
static struct block *find_block(struct cuda_backend *cuda, const struct gf_stage *stage)
{
    struct block *best = NULL, *other = NULL;
    for (int i = 0; i < BLOCKS_KEPT; i++) {
        const int found = rank(&cuda->block[i], stage);
        if (found > (best ? rank(best, stage) : 0))
            best = &cuda->block[i];
        if (found == OTHER)
            other = &cuda->block[i];
    }
    if (!best || fits(best, stage))
        return best;
    forget_copy(best);
    give_memory(cuda, best->data);
    best->data = take_memory(cuda, stage->constants_size);
    best->size = best->data ? stage->constants_size : 0;
    return best->data ? best : other;
}

/* Keeps a copy of the constants on the host if the next picture may have the same ones. */
static void keep_copy(struct block *block, const struct gf_stage *stage)
{
    forget_copy(block);
    if (stage->constants_size > COPY_MOST || gf_stage_statistic(stage))
        return;
    block->copy = malloc(stage->constants_size);
    block->copy_size = stage->constants_size;
    if (block->copy)
        memcpy(block->copy, stage->constants, stage->constants_size);
}

/* Copies the constants to the device. They are not in pinned memory, so that the driver has read
 * them when the call returns. */
static cudaError_t copy_constants(const struct block *block, struct gf_lane *lane,
                                  const struct gf_stage *stage)
{
    /* The default stream is not used, because the pictures of all threads would wait for one
     * another on it. */
    cudaStream_t const stream = lane ? gf_cuda_stream(lane) : cudaStreamPerThread;
    const cudaError_t code = cudaMemcpyAsync(block->data, stage->constants, stage->constants_size,
                                             cudaMemcpyHostToDevice, stream);
    return code == cudaSuccess && !lane ? cudaStreamSynchronize(stream) : code;
}

static enum gf_status cuda_load(struct gf_backend *backend, struct gf_lane *lane,
                                const struct gf_stage *stage, const void **constants,
                                struct gf_error *error)
{
    struct cuda_backend *const cuda = backend_of(backend);
    /* This check also covers the parts of a filter that consists of other filters: they are known
     * only here. */
    GF_TRY(gf_filter_check_kernels(stage->filter, error));
    GF_TRY(gf_cuda_check_architecture(cuda, stage, error));
    GF_TRY(gf_cuda_hold(backend, stage, error));
    if (!stage->constants_size)
        return GF_OK;
    pthread_mutex_lock(&cuda->lock);
    struct block *const block = find_block(cuda, stage);
    if (block)
        block->used = true;
    pthread_mutex_unlock(&cuda->lock);
    if (!block)
        return gf_cuda_fail(error, cuda->options.device, "cudaMalloc", cudaErrorMemoryAllocation);
    *constants = block->data;
    if (holds(block, stage))
        return GF_OK;
    keep_copy(block, stage);
    const cudaError_t code = copy_constants(block, lane, stage);
    if (code == cudaSuccess)
        return GF_OK;
    forget_copy(block);
    return gf_cuda_fail(error, cuda->options.device, "cudaMemcpyAsync", code);
}

static void cuda_unload(struct gf_backend *backend, const void *constants)
{
    struct cuda_backend *const cuda = backend_of(backend);
    pthread_mutex_lock(&cuda->lock);
    for (int i = 0; i < BLOCKS_KEPT; i++) {
        if (cuda->block[i].data == constants)
            cuda->block[i].used = false;
    }
    pthread_mutex_unlock(&cuda->lock);
}

enum { TURNS = 16 };

static sem_t turns[GF_STARTS_MOST];
static pthread_once_t turns_once = PTHREAD_ONCE_INIT;

static void open_turns(void)
{
    for (int i = 0; i < GF_STARTS_MOST; i++)
        sem_init(&turns[i], 0, TURNS);
}

static void cuda_acquire(struct gf_backend *backend)
{
    pthread_once(&turns_once, open_turns);
    while (sem_wait(&turns[backend_of(backend)->options.device]) && errno == EINTR)
        ;
}

static void cuda_give_back(struct gf_backend *backend)
{
    sem_post(&turns[backend_of(backend)->options.device]);
}

/* Opens the decoders and encoders of pictures at their first use. They get half of the budget of
 * device memory. */
static enum gf_status cuda_coders(struct gf_backend *backend, struct gf_device_coders **coders,
                                  struct gf_error *error)
{
    struct cuda_backend *const cuda = backend_of(backend);
    enum gf_status status = GF_OK;
    if (!cuda->coders) {
        cuda->coder_bytes = cuda->options.budget / 2;
        status =
            gf_device_coders_open(cuda->options.device, cuda->coder_bytes, &cuda->coders, error);
        if (!status)
            cuda->options.budget -= cuda->coder_bytes;
    }
    *coders = cuda->coders;
    return status;
}

/* Returns the rate of the fastest of a few copies, in bytes per second; 0 if one fails. */
static double copy_rate(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind)
{
    enum { RUNS = 5 };
    double best_s = 0;
    for (int i = 0; i < RUNS; i++) {
        const double begin_s = gf_now();
        if (cudaMemcpyAsync(dst, src, size, kind, 0) != cudaSuccess ||
            cudaStreamSynchronize(0) != cudaSuccess)
            return 0;
        const double seconds = gf_now() - begin_s;
        best_s = i == 0 || seconds < best_s ? seconds : best_s;
    }
    return (double)size / best_s;
}

static void cuda_measure(struct gf_backend *backend, struct gf_profile *profile)
{
    const size_t device_size = (size_t)512 << 20, host_size = (size_t)64 << 20;
    char *const device = (char *)cuda_alloc(backend, 2 * device_size);
    void *const host = gf_pages_alloc(host_size);
    if (device && host && cuda_pin(backend, host, host_size) == GF_PINNED) {
        profile->device_copy_peak =
            2 * copy_rate(device + device_size, device, device_size, cudaMemcpyDeviceToDevice);
        profile->upload_peak = copy_rate(device, host, host_size, cudaMemcpyHostToDevice);
        profile->download_peak = copy_rate(host, device, host_size, cudaMemcpyDeviceToHost);
        cuda_unpin(backend, host);
    }
    if (device)
        cuda_release(backend, device, 2 * device_size);
    gf_pages_free(host, host_size);
}

static struct gf_backend_calls make_calls(void)
{
    struct gf_backend_calls calls;
    memset(&calls, 0, sizeof calls);
    /* Over PCIe 5 a copy of 1 MB runs at 45 GB/s, one of 4 MB at 52. Larger bands only delay the
     * start of the pipeline. */
    calls.band_bytes_least = (size_t)1 << 20;
    calls.band_bytes_most = (size_t)16 << 20;
    calls.ready = cuda_ready;
    calls.close = cuda_close;
    calls.describe = cuda_describe;
    calls.alloc = cuda_alloc;
    calls.release = cuda_release;
    calls.free_bytes = cuda_free_bytes;
    calls.owns = gf_cuda_owns;
    calls.guest_open = gf_cuda_guest_open;
    calls.follow = gf_cuda_guest_follow;
    calls.leave = gf_cuda_guest_leave;
    calls.bind = gf_cuda_bind;
    calls.copy_pictures = gf_cuda_copy_pictures;
    calls.run_stacked = gf_cuda_run_stacked;
    calls.unbind = gf_cuda_unbind;
    calls.share = cuda_share;
    calls.unshare = cuda_unshare;
    calls.pin_shared = cuda_pin_shared;
    calls.pin = cuda_pin;
    calls.unpin = cuda_unpin;
    calls.reaches = cuda_reaches;
    calls.lane_open = gf_cuda_lane_open;
    calls.lane_close = gf_cuda_lane_close;
    calls.lane_enter = gf_cuda_lane_enter;
    calls.hold = gf_cuda_hold;
    calls.drop_brief = gf_cuda_drop_brief_pictures;
    calls.load = cuda_load;
    calls.unload = cuda_unload;
    calls.upload = gf_cuda_upload;
    calls.download = gf_cuda_download;
    calls.scratch = gf_stage_cuda_scratch;
    calls.run = gf_cuda_run;
    calls.run_counting = gf_cuda_run_counting;
    calls.statistic_open = gf_cuda_statistic_open;
    calls.statistic_add = gf_cuda_statistic_add;
    calls.statistic_take = gf_cuda_statistic_take;
    calls.statistic_close = gf_cuda_statistic_close;
    calls.mark = gf_cuda_mark;
    calls.wait = gf_cuda_wait;
    calls.halve = gf_cuda_halve;
    calls.cut_tiles = gf_cuda_cut_tiles;
    calls.acquire = cuda_acquire;
    calls.give_back = cuda_give_back;
    gf_cuda_add_batch_calls(&calls);
    calls.coders = cuda_coders;
    calls.measure = cuda_measure;
    calls.inspect = gf_cuda_inspect;
    calls.time = gf_cuda_time;
    return calls;
}

extern "C" enum gf_status gf_backend_cuda_open(const struct gf_cuda_options *options,
                                               struct gf_spans *spans, struct gf_backend **backend,
                                               struct gf_error *error)
{
    static const struct gf_backend_calls calls = make_calls();
    const int device = options->device;
    GF_TRY(gf_device_start(device, gf_cuda_device_starter, error));
    GF_NEW(struct cuda_backend, opened, error);
    opened->base.calls = &calls;
    opened->options = *options;
    opened->has_budget = options->budget;
    opened->spans = spans;
    opened->device = gf_cuda_device_state(device);
    pthread_mutex_init(&opened->lock, NULL);
    gf_cuda_device_enter(device);
    *backend = &opened->base;
    return GF_OK;
}
