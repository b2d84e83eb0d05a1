/* The CUDA backend: a lane is a stream. The context starts on a thread of its own while the first rows are
 * decoded; memory is allocated once and used again. */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "check.cuh"
#include "probe.cuh"
#include "numa.h"
#include "pages.h"
#include "plan.h"

/* A block for each stage that a segment can have. */
enum { MARKS_MAX = 2 + 2 * GF_CUTS_MAX, BLOCKS_KEPT = GF_CUTS_MAX };

struct block {
    void *data;
    size_t size;
    bool used;
};

/* The histogram that all lanes add to, and the tables for that of lightness. */
struct statistic {
    enum gf_statistic kind;
    gf_counter *counter;
    size_t bytes, capacity;
    unsigned long long *count; /* [channels][bins] */
    void *tables;
    int table_bits; /* of the pictures that the tables are for; 0: none */
};

struct cuda_backend {
    struct gf_backend base;
    struct gf_cuda_options options;
    struct gf_spans *spans;
    pthread_t starter;
    bool started;
    enum gf_status status; /* of the start */
    struct gf_error error;
    char name[64];
    int numa_node;
    int architecture; /* 90 for compute capability 9.0 */
    pthread_mutex_t lock; /* guards used_bytes and blocks */
    uint64_t used_bytes;
    struct block block[BLOCKS_KEPT]; /* for stages' constants, kept for the next stage */
    struct statistic statistic;
    cudaEvent_t base_event; /* when the device's clock read what the host's read at base_s */
    double base_s;
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
    struct mark mark[MARKS_MAX];
    int marks, events; /* set since the last wait; created */
};

static struct cuda_backend *backend_of(struct gf_backend *backend)
{
    return (struct cuda_backend *)backend;
}

static int device_of(const struct gf_lane *lane)
{
    return ((struct cuda_backend *)lane->backend)->options.device;
}

cudaStream_t gf_cuda_stream(const struct gf_lane *lane)
{
    return ((const struct cuda_lane *)lane)->stream;
}

int gf_cuda_device(const struct gf_lane *lane)
{
    return device_of(lane);
}

/* ---- start ---- */

static enum gf_status start(struct cuda_backend *cuda)
{
    const char *why;
    const int count = gf_device_count(&why);
    struct gf_error *const error = &cuda->error;
    if (!count)
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "no CUDA device: %s", why);
    if (cuda->options.device >= count)
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "cuda:%d: no such device (there %s %d)",
                       cuda->options.device, count == 1 ? "is" : "are", count);
    GF_CUDA_TRY(cudaSetDevice(cuda->options.device), cuda->options.device, error);
    GF_CUDA_TRY(cudaFree(NULL), cuda->options.device, error); /* makes the primary context */
    struct gf_device_info info;
    const enum gf_status status = gf_device_describe(cuda->options.device, &info, error);
    if (status)
        return status;
    memcpy(cuda->name, info.name, sizeof cuda->name);
    cuda->numa_node = info.numa_node;
    cuda->architecture = 10 * info.major + info.minor;
    GF_CUDA_TRY(cudaEventCreate(&cuda->base_event), cuda->options.device, error);
    GF_CUDA_TRY(cudaEventRecord(cuda->base_event, 0), cuda->options.device, error);
    GF_CUDA_TRY(cudaEventSynchronize(cuda->base_event), cuda->options.device, error);
    cuda->base_s = gf_now();
    return GF_OK;
}

static void *start_main(void *argument)
{
    struct cuda_backend *const cuda = (struct cuda_backend *)argument;
    const double begin_s = gf_now();
    cuda->status = start(cuda);
    gf_spans_add(cuda->spans, GF_SPAN_START, -1, -1, begin_s, gf_now(), 0);
    return NULL;
}

static enum gf_status cuda_ready(struct gf_backend *backend, struct gf_error *error)
{
    struct cuda_backend *const cuda = backend_of(backend);
    if (!cuda->started) {
        pthread_join(cuda->starter, NULL);
        cuda->started = true;
    }
    if (cuda->status) {
        if (error)
            *error = cuda->error;
        return cuda->status;
    }
    GF_CUDA_TRY(cudaSetDevice(cuda->options.device), cuda->options.device, error);
    return GF_OK;
}

static void cuda_close(struct gf_backend *backend)
{
    struct cuda_backend *const cuda = backend_of(backend);
    if (cuda_ready(backend, NULL) == GF_OK) {
        for (int i = 0; i < BLOCKS_KEPT; i++)
            cudaFree(cuda->block[i].data);
        cudaFree(cuda->statistic.count);
        cudaFree(cuda->statistic.tables);
        cudaEventDestroy(cuda->base_event);
    }
    pthread_mutex_destroy(&cuda->lock);
    free(cuda);
}

static void cuda_describe(struct gf_backend *backend, char *text, size_t size)
{
    const struct cuda_backend *const cuda = backend_of(backend);
    snprintf(text, size, "cuda:%d %s", cuda->options.device, cuda->name);
}

/* ---- memory ---- */

static uint64_t cuda_free_bytes(struct gf_backend *backend)
{
    struct cuda_backend *const cuda = backend_of(backend);
    size_t available = 0, total = 0;
    if (cudaMemGetInfo(&available, &total) != cudaSuccess)
        return 0;
    available -= available / 32; /* the driver needs some itself */
    pthread_mutex_lock(&cuda->lock);
    const uint64_t left = cuda->options.budget > cuda->used_bytes ? cuda->options.budget - cuda->used_bytes : 0;
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
    void *memory = NULL;
    if (cuda_free_bytes(backend) < size)
        return NULL;
    if (cudaMalloc(&memory, size) != cudaSuccess) {
        cudaGetLastError();
        return NULL;
    }
    count_bytes(backend_of(backend), (int64_t)size);
    return memory;
}

static void cuda_release(struct gf_backend *backend, void *memory, size_t size)
{
    cudaFree(memory);
    count_bytes(backend_of(backend), -(int64_t)size);
}

static bool cuda_pin(struct gf_backend *backend, void *data, size_t size)
{
    struct cudaPointerAttributes attributes;
    if (backend_of(backend)->options.pageable)
        return false;
    /* The caller's own pinned memory stays as it is: to pin it again would be an error. */
    if (cudaPointerGetAttributes(&attributes, data) == cudaSuccess && attributes.type == cudaMemoryTypeHost)
        return false;
    gf_numa_prefer(data, size, backend_of(backend)->numa_node);
    gf_pages_populate(data, size);
    const bool pinned = cudaHostRegister(data, size, cudaHostRegisterDefault) == cudaSuccess;
    if (!pinned)
        cudaGetLastError();
    return pinned;
}

static void cuda_unpin(struct gf_backend *backend, void *data)
{
    (void)backend;
    cudaHostUnregister(data);
}

/* Best Practices Guide 9.1.3; with unified virtual addressing the addresses are the same. */
static bool cuda_reaches(struct gf_backend *backend, const struct gf_view *host)
{
    struct cudaPointerAttributes attributes;
    if (!backend_of(backend)->options.zero_copy || ((uintptr_t)host->data | host->pitch) % 16)
        return false;
    return cudaPointerGetAttributes(&attributes, host->data) == cudaSuccess &&
           attributes.type == cudaMemoryTypeHost && attributes.devicePointer == host->data;
}

/* ---- stages' constants ---- */

/* A block that is free and large enough, or else a free place with a new one. */
static struct block *find_block(struct cuda_backend *cuda, size_t size)
{
    struct block *empty = NULL;
    for (int i = 0; i < BLOCKS_KEPT; i++) {
        struct block *const block = &cuda->block[i];
        if (!block->used && block->size >= size)
            return block;
        if (!block->used && (!empty || !block->data))
            empty = block;
    }
    if (!empty)
        return NULL;
    cudaFree(empty->data);
    empty->data = NULL;
    empty->size = 0;
    if (cudaMalloc(&empty->data, size) != cudaSuccess)
        return NULL;
    empty->size = size;
    return empty;
}

static enum gf_status check_architecture(const struct cuda_backend *cuda, const struct gf_stage *stage,
                                         struct gf_error *error)
{
    const int least = stage->kernel ? stage->kernel->architecture : 0;
    if (cuda->architecture >= least)
        return GF_OK;
    return gf_fail(error, GF_ERROR_UNAVAILABLE,
                   "variant=%s needs compute capability %d.%d; cuda:%d, %s, has %d.%d", stage->kernel->name,
                   least / 10, least % 10, cuda->options.device, cuda->name, cuda->architecture / 10,
                   cuda->architecture % 10);
}

static enum gf_status cuda_load(struct gf_backend *backend, const struct gf_stage *stage,
                                const void **constants, struct gf_error *error)
{
    struct cuda_backend *const cuda = backend_of(backend);
    const enum gf_status status = check_architecture(cuda, stage, error);
    if (status || !stage->constants_size)
        return status;
    pthread_mutex_lock(&cuda->lock);
    struct block *const block = find_block(cuda, stage->constants_size);
    if (block)
        block->used = true;
    pthread_mutex_unlock(&cuda->lock);
    if (!block)
        return gf_cuda_fail(error, cuda->options.device, "cudaMalloc", cudaErrorMemoryAllocation);
    *constants = block->data;
    /* Not in the default stream, where the pictures of all threads would wait for one another. */
    GF_CUDA_TRY(cudaMemcpyAsync(block->data, stage->constants, stage->constants_size, cudaMemcpyHostToDevice,
                                cudaStreamPerThread),
                cuda->options.device, error);
    GF_CUDA_TRY(cudaStreamSynchronize(cudaStreamPerThread), cuda->options.device, error);
    return GF_OK;
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

/* ---- lanes ---- */

static void cuda_lane_close(struct gf_lane *lane)
{
    struct cuda_lane *const cuda = (struct cuda_lane *)lane;
    for (int i = 0; i < cuda->events; i++)
        cudaEventDestroy(cuda->mark[i].event);
    if (cuda->stream)
        cudaStreamDestroy(cuda->stream);
    free(cuda);
}

static enum gf_status cuda_lane_open(struct gf_backend *backend, int index, struct gf_spans *spans,
                                     struct gf_lane **lane, struct gf_error *error)
{
    const int device = backend_of(backend)->options.device;
    struct cuda_lane *const opened = (struct cuda_lane *)calloc(1, sizeof *opened);
    if (!opened)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    opened->base.backend = backend;
    opened->base.spans = spans;
    opened->base.index = index;
    const cudaError_t code = cudaStreamCreateWithFlags(&opened->stream, cudaStreamNonBlocking);
    if (code != cudaSuccess) {
        free(opened);
        return gf_cuda_fail(error, device, "cudaStreamCreate", code);
    }
    *lane = &opened->base;
    return GF_OK;
}

/* The current device belongs to the thread. */
static void cuda_lane_enter(struct gf_lane *lane)
{
    cudaSetDevice(device_of(lane)); /* a failure shows in the lane's next call */
}

static enum gf_status copy(struct gf_lane *lane, const struct gf_view *dst, const struct gf_view *src,
                           enum cudaMemcpyKind kind, struct gf_error *error)
{
    const cudaStream_t stream = ((struct cuda_lane *)lane)->stream;
    const size_t row_bytes = gf_row_bytes(src->format);
    /* In one piece where the pitches agree: the rows' padding goes up with them, but never down, since what
     * lies between the rows of a caller's picture is the caller's. */
    if (dst->pitch == src->pitch && (kind == cudaMemcpyHostToDevice || dst->pitch == row_bytes)) {
        const size_t bytes = src->pitch * (size_t)(src->rows - 1) + row_bytes;
        GF_CUDA_TRY(cudaMemcpyAsync(dst->data, src->data, bytes, kind, stream), device_of(lane), error);
    } else {
        GF_CUDA_TRY(cudaMemcpy2DAsync(dst->data, dst->pitch, src->data, src->pitch, row_bytes,
                                      (size_t)src->rows, kind, stream),
                    device_of(lane), error);
    }
    return GF_OK;
}

static enum gf_status cuda_upload(struct gf_lane *lane, const struct gf_view *dst,
                                  const struct gf_view *src, struct gf_error *error)
{
    return copy(lane, dst, src, cudaMemcpyHostToDevice, error);
}

static enum gf_status cuda_download(struct gf_lane *lane, const struct gf_view *dst,
                                    const struct gf_view *src, struct gf_error *error)
{
    return copy(lane, dst, src, cudaMemcpyDeviceToHost, error);
}

static enum gf_status cuda_run(struct gf_lane *lane, const struct gf_stage *stage, const void *constants,
                               const struct gf_view *in, const struct gf_view *out, void *scratch,
                               struct gf_error *error)
{
    struct gf_launch launch;
    memset(&launch, 0, sizeof launch);
    launch.stage = stage;
    launch.in = *in;
    launch.out = *out;
    launch.scratch = scratch;
    launch.constants = constants;
    launch.stream = ((struct cuda_lane *)lane)->stream;
    const cudaError_t code = (cudaError_t)gf_stage_launcher(stage)(&launch);
    return code == cudaSuccess ? GF_OK : gf_cuda_fail(error, device_of(lane), stage->filter->name, code);
}

/* ---- statistics ---- */

static enum gf_status load_lightness_tables(struct cuda_lane *lane, struct statistic *statistic,
                                            int bits, struct gf_error *error)
{
    size_t size;
    if (statistic->table_bits == bits)
        return GF_OK;
    void *const tables = gf_lightness_tables(bits, &size);
    if (!tables)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    cudaFree(statistic->tables);
    statistic->tables = NULL;
    statistic->table_bits = 0;
    cudaError_t code = cudaMalloc(&statistic->tables, size);
    if (code == cudaSuccess)
        code = cudaMemcpyAsync(statistic->tables, tables, size, cudaMemcpyHostToDevice, lane->stream);
    if (code == cudaSuccess)
        code = cudaStreamSynchronize(lane->stream);
    free(tables);
    if (code != cudaSuccess)
        return gf_cuda_fail(error, device_of(&lane->base), "tables of lightness", code);
    statistic->table_bits = bits;
    return GF_OK;
}

/* The lanes add to one histogram, by 64-bit atomics; the first one opens it and gives it. */
static enum gf_status cuda_statistic_open(struct gf_lane *lane, const struct gf_stage *stage,
                                          struct gf_error *error)
{
    const enum gf_statistic kind = gf_stage_statistic(stage);
    const struct gf_format format = stage->in;
    struct cuda_lane *const cuda = (struct cuda_lane *)lane;
    struct statistic *const statistic = &backend_of(lane->backend)->statistic;
    if (lane->index)
        return GF_OK;
    const enum gf_status status = check_architecture(backend_of(lane->backend), stage, error);
    if (status)
        return status;
    statistic->kind = kind;
    statistic->counter = gf_stage_counter(stage);
    statistic->bytes = ((size_t)gf_statistic_channels(kind, format) << format.bits) * sizeof *statistic->count;
    if (statistic->capacity < statistic->bytes) {
        cudaFree(statistic->count);
        statistic->count = NULL;
        statistic->capacity = 0;
        GF_CUDA_TRY(cudaMalloc(&statistic->count, statistic->bytes), device_of(lane), error);
        statistic->capacity = statistic->bytes;
    }
    GF_CUDA_TRY(cudaMemsetAsync(statistic->count, 0, statistic->bytes, cuda->stream), device_of(lane), error);
    GF_CUDA_TRY(cudaStreamSynchronize(cuda->stream), device_of(lane), error);
    return kind == GF_STATISTIC_LIGHTNESS ? load_lightness_tables(cuda, statistic, format.bits, error)
                                          : GF_OK;
}

static enum gf_status cuda_statistic_add(struct gf_lane *lane, const struct gf_view *view,
                                         struct gf_error *error)
{
    const struct statistic *const statistic = &backend_of(lane->backend)->statistic;
    GF_CUDA_TRY((cudaError_t)statistic->counter(view, statistic->kind, statistic->count, statistic->tables,
                                               ((struct cuda_lane *)lane)->stream),
                device_of(lane), error);
    return GF_OK;
}

static enum gf_status cuda_statistic_take(struct gf_lane *lane, struct gf_histogram *into,
                                          struct gf_error *error)
{
    const struct statistic *const statistic = &backend_of(lane->backend)->statistic;
    const cudaStream_t stream = ((struct cuda_lane *)lane)->stream;
    if (lane->index)
        return GF_OK;
    unsigned long long *const count = (unsigned long long *)malloc(statistic->bytes);
    if (!count)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    cudaError_t code =
        cudaMemcpyAsync(count, statistic->count, statistic->bytes, cudaMemcpyDeviceToHost, stream);
    if (code == cudaSuccess)
        code = cudaStreamSynchronize(stream);
    for (size_t i = 0; code == cudaSuccess && i < statistic->bytes / sizeof *count; i++)
        into->count[i] += count[i];
    free(count);
    return code == cudaSuccess ? GF_OK : gf_cuda_fail(error, device_of(lane), "histogram", code);
}

static void cuda_statistic_close(struct gf_lane *lane)
{
    (void)lane; /* kept for the next run: cudaFree waits for the whole device */
}

/* ---- spans ---- */

static void cuda_mark(struct gf_lane *lane, enum gf_span_kind kind, int stage, size_t bytes)
{
    struct cuda_lane *const cuda = (struct cuda_lane *)lane;
    if (!lane->spans->on || cuda->marks == MARKS_MAX)
        return;
    struct mark *const mark = &cuda->mark[cuda->marks];
    if (cuda->marks == cuda->events) {
        if (cudaEventCreate(&mark->event) != cudaSuccess)
            return;
        cuda->events++;
    }
    if (cudaEventRecord(mark->event, cuda->stream) != cudaSuccess)
        return;
    mark->kind = kind;
    mark->stage = stage;
    mark->bytes = bytes;
    cuda->marks++;
}

static void collect_marks(struct cuda_lane *cuda)
{
    const struct cuda_backend *const backend = backend_of(cuda->base.backend);
    double begin_s = 0;
    for (int i = 0; i < cuda->marks; i++) {
        const struct mark *const mark = &cuda->mark[i];
        float since_ms = 0;
        if (cudaEventElapsedTime(&since_ms, backend->base_event, mark->event) != cudaSuccess)
            break;
        const double end_s = backend->base_s + 1e-3 * (double)since_ms;
        if (mark->kind != GF_SPAN_START)
            gf_spans_add(cuda->base.spans, mark->kind, mark->stage, cuda->base.index, begin_s, end_s,
                         mark->bytes);
        begin_s = end_s;
    }
    cuda->marks = 0;
}

static enum gf_status cuda_wait(struct gf_lane *lane, struct gf_error *error)
{
    struct cuda_lane *const cuda = (struct cuda_lane *)lane;
    GF_CUDA_TRY(cudaStreamSynchronize(cuda->stream), device_of(lane), error);
    collect_marks(cuda);
    return GF_OK;
}

/* Bytes a second of the fastest of a few copies; 0 when one fails. */
static double copy_rate(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind)
{
    enum { RUNS = 5 };
    double best_s = 0;
    for (int i = 0; i < RUNS; i++) {
        const double begin_s = gf_now();
        if (cudaMemcpyAsync(dst, src, size, kind, 0) != cudaSuccess || cudaStreamSynchronize(0) != cudaSuccess)
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
    if (device && host && cuda_pin(backend, host, host_size)) {
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
    /* 1 MB moves at 45 GB/s over PCIe 5, 4 MB at 52; larger bands only fill the pipeline later. */
    calls.band_bytes_least = (size_t)1 << 20;
    calls.band_bytes_most = (size_t)16 << 20;
    calls.ready = cuda_ready;
    calls.close = cuda_close;
    calls.describe = cuda_describe;
    calls.alloc = cuda_alloc;
    calls.release = cuda_release;
    calls.free_bytes = cuda_free_bytes;
    calls.pin = cuda_pin;
    calls.unpin = cuda_unpin;
    calls.reaches = cuda_reaches;
    calls.lane_open = cuda_lane_open;
    calls.lane_close = cuda_lane_close;
    calls.lane_enter = cuda_lane_enter;
    calls.load = cuda_load;
    calls.unload = cuda_unload;
    calls.upload = cuda_upload;
    calls.download = cuda_download;
    calls.scratch = gf_stage_cuda_scratch;
    calls.run = cuda_run;
    calls.statistic_open = cuda_statistic_open;
    calls.statistic_add = cuda_statistic_add;
    calls.statistic_take = cuda_statistic_take;
    calls.statistic_close = cuda_statistic_close;
    calls.mark = cuda_mark;
    calls.wait = cuda_wait;
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
    struct cuda_backend *const opened = (struct cuda_backend *)calloc(1, sizeof *opened);
    if (!opened)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    opened->base.calls = &calls;
    opened->options = *options;
    opened->spans = spans;
    pthread_mutex_init(&opened->lock, NULL);
    if (pthread_create(&opened->starter, NULL, start_main, opened)) {
        pthread_mutex_destroy(&opened->lock);
        free(opened);
        return gf_fail(error, GF_ERROR_MEMORY, "cannot start a thread");
    }
    *backend = &opened->base;
    return GF_OK;
}
