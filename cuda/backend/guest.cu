/* A guest: a lane that queues its work on the streams of callers, whose pictures are in the
 * device's memory. Work on one stream after another is in order, since each waits for an event that
 * the work before it has recorded. A stream that was recorded in may be gone by then. The null
 * stream never is, so that work on it after work on it needs no wait. */
#include "cuda/backend/backend.cuh"

#include <stdlib.h>

#include "base/device_ordinal.h"
#include "cuda/common/check.cuh"
#include "cuda/common/driver.cuh"

static bool is_within(const struct gf_memory_range *range, const void *memory, size_t size)
{
    const size_t first = (size_t)((const unsigned char *)memory - range->begin);
    return first < range->bytes && size <= range->bytes - first;
}

/* Notes the allocation in which the memory lies. Without the driver's answer there is none. */
static void note_range(struct gf_memory_range *known, const void *memory)
{
    static std::atomic<void *> function;
    const auto find =
        (decltype(&cuMemGetAddressRange))driver_function("cuMemGetAddressRange", &function);
    CUdeviceptr begin = 0;
    size_t bytes = 0;
    const bool found = find && find(&begin, &bytes, (CUdeviceptr)memory) == CUDA_SUCCESS;
    *known = {(const unsigned char *)begin, found ? bytes : 0};
}

enum gf_status gf_cuda_owns(struct gf_backend *backend, const void *memory, size_t size,
                            struct gf_memory_range *known, struct gf_error *error)
{
    const int device = backend_of(backend)->options.device;
    /* The driver is asked about the last byte alone, since it answers in a large part of a
     * microsecond. */
    const void *const last = (const char *)memory + size - 1;
    struct cudaPointerAttributes attributes;
    if (known && is_within(known, memory, size))
        return GF_OK;
    GF_CUDA_TRY(cudaPointerGetAttributes(&attributes, last), device, error);
    const bool is_host =
        attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged;
    if (is_host || attributes.device != gf_device_ordinal(device))
        return gf_fail(error, GF_ERROR_USAGE, "%p is not in the memory of cuda:%d", memory, device);
    if (known)
        note_range(known, last);
    return GF_OK;
}

enum gf_status gf_cuda_guest_open(struct gf_backend *backend, struct gf_spans *spans,
                                  struct gf_lane **lane, struct gf_error *error)
{
    struct cuda_lane *const opened = (struct cuda_lane *)calloc(1, sizeof *opened);
    if (!opened)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    opened->base.backend = backend;
    opened->base.spans = spans;
    opened->is_guest = true;
    const cudaError_t code = cudaEventCreateWithFlags(&opened->ended, cudaEventDisableTiming);
    if (code == cudaSuccess) {
        *lane = &opened->base;
        return GF_OK;
    }
    free(opened);
    return gf_cuda_fail(error, backend_of(backend)->options.device, "cudaEventCreate", code);
}

enum gf_status gf_cuda_guest_follow(struct gf_lane *lane, void *stream, struct gf_error *error)
{
    struct cuda_lane *const cuda = (struct cuda_lane *)lane;
    cuda->stream = (cudaStream_t)stream;
    cuda->follows = true;
    const cudaError_t code = stream || cuda->was_elsewhere
                                 ? cudaStreamWaitEvent(cuda->stream, cuda->ended, 0)
                                 : cudaSuccess;
    if (code == cudaSuccess)
        return GF_OK;
    gf_cuda_guest_leave(lane);
    return gf_cuda_fail(error, device_of(lane), "the caller's stream", code);
}

void gf_cuda_guest_leave(struct gf_lane *lane)
{
    struct cuda_lane *const cuda = (struct cuda_lane *)lane;
    cudaEventRecord(cuda->ended, cuda->stream); /* the next call reports a failure */
    cuda->was_elsewhere = cuda->stream != NULL;
    cuda->stream = NULL;
    cuda->follows = false;
}

int gf_cuda_bind(struct gf_backend *backend)
{
    const int ordinal = gf_device_ordinal(backend_of(backend)->options.device);
    int before = 0;
    cudaGetDevice(&before);
    if (before != ordinal)
        cudaSetDevice(ordinal); /* the next call reports a failure */
    return before;
}

void gf_cuda_unbind(struct gf_backend *backend, int before)
{
    if (before != gf_device_ordinal(backend_of(backend)->options.device))
        cudaSetDevice(before);
}
