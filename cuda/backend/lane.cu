/* A lane of the CUDA backend: a stream, its copies and kernels, and the marks that time them; and
 * the histogram to which all lanes add. */
#include <stdlib.h>

#include "base/process/machine.h"
#include "base/threads/times.h"
#include "chain/chain.h"
#include "cuda/backend/backend.cuh"
#include "cuda/common/check.cuh"
#include "pixel/histogram/histogram.h"

cudaStream_t gf_cuda_stream(const struct gf_lane *lane)
{
    return ((const struct cuda_lane *)lane)->stream;
}

int gf_cuda_device(const struct gf_lane *lane)
{
    return device_of(lane);
}

void gf_cuda_lane_close(struct gf_lane *lane)
{
    struct cuda_lane *const cuda = (struct cuda_lane *)lane;
    for (int i = 0; i < cuda->events; i++)
        cudaEventDestroy(cuda->mark[i].event);
    if (cuda->is_guest)
        cudaEventSynchronize(cuda->ended);
    if (cuda->ended)
        cudaEventDestroy(cuda->ended);
    if (cuda->stream) {
        cudaStreamSynchronize(cuda->stream); /* constants may still be copied for work that
                                              * failed */
        if (!cuda->shares_stream)
            cudaStreamDestroy(cuda->stream);
    }
    free(cuda);
}

/* Lends one of the device's streams with priority, which take turns. Some of them suffice, since
 * only some pictures are filtered at the same time (acquire() in backend.cu); one for each pipeline
 * would take longer to create than a picture to filter. */
static cudaError_t lend_stream(struct cuda_device *device, cudaStream_t *stream)
{
    int lowest = 0, highest = 0;
    pthread_mutex_lock(&device->lock);
    cudaStream_t *const lent = &device->stream[device->streams_lent % STREAMS_SHARED];
    cudaError_t code = cudaSuccess;
    if (!*lent)
        code = cudaDeviceGetStreamPriorityRange(&lowest, &highest);
    if (!*lent && code == cudaSuccess)
        code = cudaStreamCreateWithPriority(lent, cudaStreamNonBlocking, highest);
    if (code == cudaSuccess)
        device->streams_lent++;
    else
        *lent = NULL;
    *stream = *lent;
    pthread_mutex_unlock(&device->lock);
    return code;
}

/* Creates a stream, or borrows one. A filter's kernels have priority over the coders' kernels,
 * which fill the device for longer. If only one picture runs at a time, the stream gets no
 * priority: streams with a priority need connections to the device that the context does not have
 * yet. */
static cudaError_t create_stream(const struct cuda_backend *cuda, struct cuda_lane *lane)
{
    lane->shares_stream = cuda->coders && gf_cuda_device_is_shared(cuda->options.device);
    return lane->shares_stream
               ? lend_stream(gf_cuda_device_state(cuda->options.device), &lane->stream)
               : cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking);
}

enum gf_status gf_cuda_lane_open(struct gf_backend *backend, int index, struct gf_spans *spans,
                                 struct gf_lane **lane, struct gf_error *error)
{
    const int device = backend_of(backend)->options.device;
    GF_NEW(struct cuda_lane, opened, error);
    opened->base.backend = backend;
    opened->base.spans = spans;
    opened->base.index = index;
    const double begin_s = gf_now();
    cudaError_t code = create_stream(backend_of(backend), opened);
    GF_THEN(code, cudaEventCreateWithFlags(&opened->ended,
                                           cudaEventBlockingSync | cudaEventDisableTiming));
    if (code != cudaSuccess) {
        gf_cuda_lane_close(&opened->base);
        return gf_cuda_fail(error, device, "creating a stream", code);
    }
    gf_start_note(GF_START_QUEUE, begin_s);
    *lane = &opened->base;
    return GF_OK;
}

/* Sets the current device, which CUDA keeps for each thread. */
void gf_cuda_lane_enter(struct gf_lane *lane)
{
    /* If this fails, the lane's next CUDA call reports it. */
    cudaSetDevice(gf_device_ordinal(device_of(lane)));
}

/* Copies rows to the device or back. Both views may be in device memory: rows of a caller that are
 * not aligned are copied within the device. */
static enum gf_status copy(struct gf_lane *lane, const struct gf_view *dst,
                           const struct gf_view *src, bool to_device, struct gf_error *error)
{
    const cudaStream_t stream = ((struct cuda_lane *)lane)->stream;
    const size_t row_bytes = gf_row_bytes(src->format);
    /* The rows are copied in one piece if the pitches agree. The padding of rows is copied to the
     * device, but never to the host, where it may belong to the caller. */
    if (dst->pitch == src->pitch && (to_device || dst->pitch == row_bytes)) {
        const size_t bytes = src->pitch * (size_t)(src->rows - 1) + row_bytes;
        GF_CUDA_TRY(cudaMemcpyAsync(dst->data, src->data, bytes, cudaMemcpyDefault, stream),
                    device_of(lane), error);
    } else {
        GF_CUDA_TRY(cudaMemcpy2DAsync(dst->data, dst->pitch, src->data, src->pitch, row_bytes,
                                      (size_t)src->rows, cudaMemcpyDefault, stream),
                    device_of(lane), error);
    }
    return GF_OK;
}

enum gf_status gf_cuda_upload(struct gf_lane *lane, const struct gf_view *dst,
                              const struct gf_view *src, struct gf_error *error)
{
    return copy(lane, dst, src, true, error);
}

enum gf_status gf_cuda_download(struct gf_lane *lane, const struct gf_view *dst,
                                const struct gf_view *src, struct gf_error *error)
{
    return copy(lane, dst, src, false, error);
}

/* Returns what a launcher needs to run the stage. `pictures` has room for the stage's second
 * pictures, and must exist until the launch. */
static struct gf_launch launch_of(const struct gf_lane *lane, const struct gf_stage *stage,
                                  const void *constants, const struct gf_view *in,
                                  const struct gf_view *out, void *scratch,
                                  struct gf_view *pictures)
{
    struct gf_launch launch = {};
    launch.stage = stage;
    launch.in = *in;
    launch.out = *out;
    launch.scratch = scratch;
    launch.constants = constants;
    launch.pictures = pictures;
    gf_cuda_find_pictures((struct cuda_backend *)lane->backend, stage, pictures);
    launch.stream = gf_cuda_stream(lane);
    return launch;
}

enum gf_status gf_cuda_check_architecture(const struct cuda_backend *cuda,
                                          const struct gf_stage *stage, struct gf_error *error)
{
    const int least = stage->variant ? stage->variant->architecture : 0;
    if (cuda->device->architecture >= least)
        return GF_OK;
    return gf_fail(
        error, GF_ERROR_UNAVAILABLE,
        "variant=%s needs compute capability %d.%d; the code for cuda:%d, %s, is of %d.%d",
        stage->variant->name, least / 10, least % 10, cuda->options.device, cuda->device->name,
        cuda->device->architecture / 10, cuda->device->architecture % 10);
}

enum gf_status gf_cuda_run(struct gf_lane *lane, const struct gf_stage *stage,
                           const void *constants, const struct gf_view *in,
                           const struct gf_view *out, void *scratch, struct gf_error *error)
{
    struct gf_view pictures[GF_STAGE_PICTURES_MAX];
    const struct gf_launch launch = launch_of(lane, stage, constants, in, out, scratch, pictures);
    const cudaError_t code = (cudaError_t)gf_stage_launcher(stage)(&launch);
    if (code == cudaErrorNotSupported && stage->variant)
        return gf_fail(error, GF_ERROR_UNAVAILABLE,
                       "variant=%s needs more shared memory for this stage than cuda:%d, %s, has",
                       stage->variant->name, device_of(lane),
                       backend_of(lane->backend)->device->name);
    return code == cudaSuccess ? GF_OK
                               : gf_cuda_fail(error, device_of(lane), stage->filter->name, code);
}

/* Sets *ran unless the launcher has no kernel for the stage. */
static enum gf_status run_if_supported(const struct gf_lane *lane, const struct gf_stage *stage,
                                       gf_launcher *launcher, const struct gf_launch *launch,
                                       bool *ran, struct gf_error *error)
{
    const cudaError_t code = (cudaError_t)launcher(launch);
    *ran = code == cudaSuccess;
    return *ran || code == cudaErrorNotSupported
               ? GF_OK
               : gf_cuda_fail(error, device_of(lane), stage->filter->name, code);
}

/* Runs the stage by a kernel that also counts its result for the histogram, and sets *counted if
 * there is such a kernel. If the user has chosen a variant of the stage or of the counter, nothing
 * is run here, so that the variant runs. */
enum gf_status gf_cuda_run_counting(struct gf_lane *lane, const struct gf_stage *stage,
                                    const void *constants, const struct gf_view *in,
                                    const struct gf_view *out, void *scratch, bool *counted,
                                    struct gf_error *error)
{
    const struct statistic *const statistic = &backend_of(lane->backend)->statistic;
    struct gf_view pictures[GF_STAGE_PICTURES_MAX];
    if (!stage->filter->cuda_counting || gf_stage_has_floats(stage) || stage->variant ||
        statistic->counter_is_chosen)
        return GF_OK;
    struct gf_launch launch = launch_of(lane, stage, constants, in, out, scratch, pictures);
    launch.statistic = statistic->kind;
    launch.count = statistic->count;
    return run_if_supported(lane, stage, stage->filter->cuda_counting, &launch, counted, error);
}

enum gf_status gf_cuda_run_stacked(struct gf_lane *lane, const struct gf_stage *stage,
                                   const void *constants, const struct gf_view *in,
                                   const struct gf_view *out, const struct gf_stack *stack,
                                   bool *ran, struct gf_error *error)
{
    struct gf_view pictures[GF_STAGE_PICTURES_MAX];
    *ran = false;
    if (!stage->filter->cuda_stacked || gf_stage_has_floats(stage) || stage->variant)
        return GF_OK;
    struct gf_launch launch = launch_of(lane, stage, constants, in, out, NULL, pictures);
    launch.stack = *stack;
    return run_if_supported(lane, stage, stage->filter->cuda_stacked, &launch, ran, error);
}

void gf_cuda_mark(struct gf_lane *lane, enum gf_span_kind kind, int stage, size_t bytes)
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
    const struct cuda_device *const device = backend_of(cuda->base.backend)->device;
    double begin_s = 0;
    for (int i = 0; i < cuda->marks; i++) {
        const struct mark *const mark = &cuda->mark[i];
        float since_ms = 0;
        if (cudaEventElapsedTime(&since_ms, device->base_event, mark->event) != cudaSuccess)
            break;
        const double end_s = device->base_s + 1e-3 * (double)since_ms;
        if (mark->kind != GF_SPAN_START)
            gf_spans_add(cuda->base.spans, mark->kind, mark->stage, cuda->base.index, begin_s,
                         end_s, mark->bytes);
        begin_s = end_s;
    }
    cuda->marks = 0;
}

enum gf_status gf_cuda_wait(struct gf_lane *lane, struct gf_error *error)
{
    struct cuda_lane *const cuda = (struct cuda_lane *)lane;
    GF_CUDA_TRY(cuda->is_guest && !cuda->follows ? cudaEventSynchronize(cuda->ended)
                                                 : gf_cuda_sleep(cuda->stream, cuda->ended),
                device_of(lane), error);
    collect_marks(cuda);
    return GF_OK;
}

/* The functions from here on count the histogram of the backend, to which all lanes add. */

static enum gf_status load_lightness_tables(struct cuda_lane *lane, struct statistic *statistic,
                                            int bits, struct gf_error *error)
{
    size_t size;
    if (statistic->table_bits == bits)
        return GF_OK;
    void *const tables = gf_lightness_tables(bits, &size);
    GF_ALLOCATED(tables, error);
    struct cuda_backend *const cuda = backend_of(lane->base.backend);
    give_memory(cuda, statistic->tables);
    statistic->table_bits = 0;
    statistic->tables = take_memory(cuda, size);
    cudaError_t code = statistic->tables ? cudaSuccess : cudaErrorMemoryAllocation;
    GF_THEN(code,
            cudaMemcpyAsync(statistic->tables, tables, size, cudaMemcpyHostToDevice, lane->stream));
    GF_THEN(code, cudaStreamSynchronize(lane->stream));
    free(tables);
    if (code != cudaSuccess)
        return gf_cuda_fail(error, device_of(&lane->base), "tables of lightness", code);
    statistic->table_bits = bits;
    return GF_OK;
}

/* Allocates statistic->bytes on the host and on the device, unless they are allocated. */
static enum gf_status reserve(struct cuda_backend *cuda, struct gf_error *error)
{
    struct statistic *const statistic = &cuda->statistic;
    const int device = cuda->options.device;
    if (statistic->capacity >= statistic->bytes)
        return GF_OK;
    give_memory(cuda, statistic->count);
    gf_cuda_pinned_piece_free(device, statistic->taken);
    statistic->capacity = 0;
    statistic->count = (unsigned long long *)take_memory(cuda, statistic->bytes);
    statistic->taken = (unsigned long long *)gf_cuda_pinned_piece(device, statistic->bytes);
    if (!statistic->count)
        return gf_cuda_fail(error, device, "cudaMalloc", cudaErrorMemoryAllocation);
    GF_ALLOCATED(statistic->taken, error);
    statistic->capacity = statistic->bytes;
    return GF_OK;
}

/* Makes the stream of a further lane wait until the first lane has cleared the histogram. */
static enum gf_status wait_for_first(struct gf_lane *lane, struct statistic *statistic,
                                     struct gf_error *error)
{
    if (!statistic->emptied)
        GF_CUDA_TRY(cudaEventCreateWithFlags(&statistic->emptied, cudaEventDisableTiming),
                    device_of(lane), error);
    if (lane->index == 1)
        GF_CUDA_TRY(cudaEventRecord(statistic->emptied, statistic->first), device_of(lane), error);
    GF_CUDA_TRY(cudaStreamWaitEvent(gf_cuda_stream(lane), statistic->emptied, 0), device_of(lane),
                error);
    return GF_OK;
}

/* Opens the histogram. The first lane prepares it and reads it at the end; all lanes add to it by
 * 64-bit atomic operations. */
enum gf_status gf_cuda_statistic_open(struct gf_lane *lane, const struct gf_stage *stage,
                                      struct gf_error *error)
{
    const enum gf_statistic kind = gf_stage_statistic(stage);
    const struct gf_format format = stage->in;
    struct cuda_lane *const cuda = (struct cuda_lane *)lane;
    struct statistic *const statistic = &backend_of(lane->backend)->statistic;
    if (lane->index)
        return wait_for_first(lane, statistic, error);
    GF_TRY(gf_cuda_check_architecture(backend_of(lane->backend), stage, error));
    statistic->kind = kind;
    statistic->counter = gf_stage_counter(stage);
    statistic->counter_is_chosen = stage->variant && stage->variant->count;
    statistic->bytes =
        ((size_t)gf_statistic_channels(kind, format) << format.bits) * sizeof *statistic->count;
    statistic->first = cuda->stream;
    GF_TRY(reserve(backend_of(lane->backend), error));
    GF_CUDA_TRY(cudaMemsetAsync(statistic->count, 0, statistic->bytes, cuda->stream),
                device_of(lane), error);
    return kind == GF_STATISTIC_LIGHTNESS
               ? load_lightness_tables(cuda, statistic, format.bits, error)
               : GF_OK;
}

enum gf_status gf_cuda_statistic_add(struct gf_lane *lane, const struct gf_view *view,
                                     struct gf_error *error)
{
    const struct statistic *const statistic = &backend_of(lane->backend)->statistic;
    GF_CUDA_TRY((cudaError_t)statistic->counter(view, statistic->kind, statistic->count,
                                                statistic->tables,
                                                ((struct cuda_lane *)lane)->stream),
                device_of(lane), error);
    return GF_OK;
}

enum gf_status gf_cuda_statistic_take(struct gf_lane *lane, struct gf_histogram *into,
                                      struct gf_error *error)
{
    const struct statistic *const statistic = &backend_of(lane->backend)->statistic;
    const cudaStream_t stream = ((struct cuda_lane *)lane)->stream;
    if (lane->index)
        return GF_OK;
    GF_CUDA_TRY(cudaMemcpyAsync(statistic->taken, statistic->count, statistic->bytes,
                                cudaMemcpyDeviceToHost, stream),
                device_of(lane), error);
    GF_CUDA_TRY(gf_cuda_sleep(stream, ((struct cuda_lane *)lane)->ended), device_of(lane), error);
    for (size_t i = 0; i < statistic->bytes / sizeof *statistic->taken; i++)
        into->count[i] += statistic->taken[i];
    return GF_OK;
}

void gf_cuda_statistic_close(struct gf_lane *lane)
{
    (void)lane; /* the memory is kept for the next run, because cudaFree waits for the whole
                 * device */
}
