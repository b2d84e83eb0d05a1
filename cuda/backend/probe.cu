#include "cuda/backend/backend.cuh"

#include <cxxabi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process/machine.h"
#include "cuda/common/check.cuh"

enum { NODES_MAX = 64, WARP = 32, HEAD_START = 8 };

/* ---- the kernels of a stage ---- */

/* Captures the work on the lane's stream as a graph, which never runs. The caller destroys the
 * graph. */
static enum gf_status capture(struct gf_lane *lane, const struct gf_stage_work *work,
                              cudaGraph_t *graph, struct gf_error *error)
{
    const cudaStream_t stream = gf_cuda_stream(lane);
    /* The capture is relaxed, because launchers may create texture objects, which belong to no
     * stream. */
    GF_CUDA_TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), gf_cuda_device(lane),
                error);
    const enum gf_status status = gf_stage_work_run(lane, work, error);
    const cudaError_t code = cudaStreamEndCapture(stream, graph);
    if (status)
        return status;
    return code == cudaSuccess
               ? GF_OK
               : gf_cuda_fail(error, gf_cuda_device(lane), "cudaStreamEndCapture", code);
}

/* Finds the mangled name of a kernel. Toolkits before 12.3 cannot tell it. */
static cudaError_t mangled_name(const char **name, const void *function)
{
#if CUDART_VERSION >= 12030
    return cudaFuncGetName(name, function);
#else
    (void)function;
    *name = "kernel";
    return cudaSuccess;
#endif
}

/* Makes the short name of a kernel: "rows_kernel<3>" for "void rows_kernel<(int)3>(const uchar *,
 * ...)". */
static void name_kernel(const void *function, struct gf_kernel_info *use)
{
    static const char *const noise[] = {"void ", "(anonymous namespace)::", "(int)", "(bool)",
                                        "unsigned "};
    const char *mangled = NULL;
    int failed = 1;
    if (mangled_name(&mangled, function) != cudaSuccess || !mangled)
        return;
    char *const name = abi::__cxa_demangle(mangled, NULL, NULL, &failed);
    const char *at = failed ? mangled : name;
    size_t length = 0;
    int angles = 0;
    while (*at && length + 1 < sizeof use->name) {
        size_t skipped = 0;
        for (size_t i = 0; i < sizeof noise / sizeof *noise && !skipped; i++)
            skipped = !strncmp(at, noise[i], strlen(noise[i])) ? strlen(noise[i]) : 0;
        if (!skipped && !angles && *at == '(')
            break; /* the parameters of the kernel begin */
        angles += skipped ? 0 : (*at == '<') - (*at == '>');
        if (!skipped)
            use->name[length++] = *at;
        at += skipped ? skipped : 1;
    }
    use->name[length] = '\0';
    free(name);
}

static enum gf_status find_occupancy(const cudaKernelNodeParams *node, int device,
                                     struct gf_kernel_info *use, struct gf_error *error)
{
    const int threads = use->block[0] * use->block[1] * use->block[2];
    int blocks = 0, most = 0;
    GF_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, node->func, threads,
                                                              node->sharedMemBytes),
                device, error);
    GF_CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor,
                                       gf_device_ordinal(device)),
                device, error);
    use->occupancy = (double)(blocks * ((threads + WARP - 1) / WARP)) / (most / WARP);
    return GF_OK;
}

static enum gf_status describe(cudaGraphNode_t node, int device, struct gf_kernel_info *use,
                               struct gf_error *error)
{
    cudaKernelNodeParams kernel;
    cudaFuncAttributes attributes;
    cudaLaunchAttributeValue value;
    memset(use, 0, sizeof *use);
    GF_CUDA_TRY(cudaGraphKernelNodeGetParams(node, &kernel), device, error);
    GF_CUDA_TRY(cudaFuncGetAttributes(&attributes, kernel.func), device, error);
    const dim3 grid = kernel.gridDim, block = kernel.blockDim;
    const int sizes[] = {(int)grid.x,  (int)grid.y,  (int)grid.z,
                         (int)block.x, (int)block.y, (int)block.z};
    memcpy(use->grid, sizes, sizeof use->grid);
    memcpy(use->block, sizes + 3, sizeof use->block);
    use->registers = attributes.numRegs;
    use->shared_bytes = attributes.sharedSizeBytes + kernel.sharedMemBytes;
    use->local_bytes = attributes.localSizeBytes;
    use->cluster = 1;
    memset(&value, 0, sizeof value);
    if (cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeClusterDimension, &value) ==
            cudaSuccess &&
        value.clusterDim.x)
        use->cluster = (int)(value.clusterDim.x * value.clusterDim.y * value.clusterDim.z);
    name_kernel(kernel.func, use);
    cudaGetLastError();
    return find_occupancy(&kernel, device, use, error);
}

static enum gf_status describe_all(cudaGraph_t graph, int device, struct gf_kernel_info *use,
                                   int capacity, int *count, struct gf_error *error)
{
    cudaGraphNode_t node[NODES_MAX];
    size_t nodes = NODES_MAX;
    enum gf_status status = GF_OK;
    *count = 0;
    GF_CUDA_TRY(cudaGraphGetNodes(graph, node, &nodes), device, error);
    for (size_t i = 0; !status && i < nodes && i < NODES_MAX; i++) {
        cudaGraphNodeType type;
        GF_CUDA_TRY(cudaGraphNodeGetType(node[i], &type), device, error);
        if (type != cudaGraphNodeTypeKernel)
            continue;
        if (*count < capacity)
            status = describe(node[i], device, &use[*count], error);
        ++*count;
    }
    return status;
}

enum gf_status gf_cuda_inspect(struct gf_lane *lane, const struct gf_stage_work *work,
                               struct gf_kernel_info *use, int capacity, int *count,
                               struct gf_error *error)
{
    cudaGraph_t graph = NULL;
    enum gf_status status = capture(lane, work, &graph, error);
    GF_THEN(status, describe_all(graph, gf_cuda_device(lane), use, capacity, count, error));
    if (graph)
        cudaGraphDestroy(graph);
    return status;
}

struct timer {
    cudaStream_t stream;
    cudaEvent_t *event; /* two for each run: one before it and one after it */
    void *flush;
    size_t flush_bytes; /* twice the bytes of the second-level cache */
};

/* Evicts the contents of the second-level cache by writing more than it holds. */
static cudaError_t flush_cache(const struct timer *timer, int value)
{
    return cudaMemsetAsync(timer->flush, value, timer->flush_bytes, timer->stream);
}

static enum gf_status open_timer(struct gf_lane *lane, int runs, struct timer *timer,
                                 struct gf_error *error)
{
    const int device = gf_cuda_device(lane);
    int cache_bytes = 0;
    GF_CUDA_TRY(
        cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, gf_device_ordinal(device)),
        device, error);
    timer->stream = gf_cuda_stream(lane);
    timer->flush_bytes = 2 * (size_t)(cache_bytes > 0 ? cache_bytes : 64 << 20);
    timer->flush = lane->backend->calls->alloc(lane->backend, timer->flush_bytes);
    timer->event = (cudaEvent_t *)calloc(2 * (size_t)runs, sizeof *timer->event);
    GF_ALLOCATED(timer->event, error);
    if (!timer->flush)
        return gf_fail(error, GF_ERROR_DEVICE_MEMORY, "no device memory to flush the cache with");
    for (int i = 0; i < 2 * runs; i++)
        GF_CUDA_TRY(cudaEventCreate(&timer->event[i]), device, error);
    return GF_OK;
}

static void close_timer(struct gf_lane *lane, int runs, struct timer *timer)
{
    for (int i = 0; timer->event && i < 2 * runs && timer->event[i]; i++)
        cudaEventDestroy(timer->event[i]);
    free(timer->event);
    if (timer->flush)
        lane->backend->calls->release(lane->backend, timer->flush, timer->flush_bytes);
}

/* Queues all runs before it waits. The first flushes keep the device busy while the host queues
 * runs, so that no measured time contains a launch. Warm runs follow a run that is not timed. */
static enum gf_status queue_runs(struct gf_lane *lane, const struct gf_stage_work *work, bool cold,
                                 int runs, const struct timer *timer, struct gf_error *error)
{
    const int device = gf_cuda_device(lane);
    for (int i = 0; i < HEAD_START; i++)
        GF_CUDA_TRY(flush_cache(timer, i), device, error);
    if (!cold)
        GF_TRY(gf_stage_work_run(lane, work, error));
    for (int i = 0; i < runs; i++) {
        if (cold)
            GF_CUDA_TRY(flush_cache(timer, i), device, error);
        GF_CUDA_TRY(cudaEventRecord(timer->event[2 * i], timer->stream), device, error);
        GF_TRY(gf_stage_work_run(lane, work, error));
        GF_CUDA_TRY(cudaEventRecord(timer->event[2 * i + 1], timer->stream), device, error);
    }
    return GF_OK;
}

enum gf_status gf_cuda_time(struct gf_lane *lane, const struct gf_stage_work *work, bool cold,
                            int runs, double *seconds, struct gf_error *error)
{
    struct timer timer = {};
    enum gf_status status = open_timer(lane, runs, &timer, error);
    GF_THEN(status, queue_runs(lane, work, cold, runs, &timer, error));
    const enum gf_status waited = lane->backend->calls->wait(lane, status ? NULL : error);
    status = status ? status : waited;
    for (int i = 0; !status && i < runs; i++) {
        float ms = 0;
        const cudaError_t code =
            cudaEventElapsedTime(&ms, timer.event[2 * i], timer.event[2 * i + 1]);
        seconds[i] = 1e-3 * (double)ms;
        status = code == cudaSuccess
                     ? GF_OK
                     : gf_cuda_fail(error, gf_cuda_device(lane), "cudaEventElapsedTime", code);
    }
    close_timer(lane, runs, &timer);
    return status;
}
