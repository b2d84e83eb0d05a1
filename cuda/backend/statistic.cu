/* Counts the histogram of the CUDA backend, to which all lanes add. */
#include "cuda/backend/backend.cuh"

#include <stdlib.h>

#include "chain/variants.h"
#include "cuda/backend/probe.cuh"
#include "cuda/common/check.cuh"
#include "pixel/histogram/histogram.h"

static enum gf_status load_lightness_tables(struct cuda_lane *lane, struct statistic *statistic,
                                            int bits, struct gf_error *error)
{
    size_t size;
    if (statistic->table_bits == bits)
        return GF_OK;
    void *const tables = gf_lightness_tables(bits, &size);
    if (!tables)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    struct cuda_backend *const cuda = backend_of(lane->base.backend);
    give_memory(cuda, statistic->tables);
    statistic->table_bits = 0;
    statistic->tables = take_memory(cuda, size);
    cudaError_t code = statistic->tables ? cudaSuccess : cudaErrorMemoryAllocation;
    if (code == cudaSuccess)
        code =
            cudaMemcpyAsync(statistic->tables, tables, size, cudaMemcpyHostToDevice, lane->stream);
    if (code == cudaSuccess)
        code = cudaStreamSynchronize(lane->stream);
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
    if (!statistic->taken)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    statistic->capacity = statistic->bytes;
    return GF_OK;
}

/* Lets the other lanes wait until the first has cleared the histogram. */
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
