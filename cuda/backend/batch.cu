/* What batches of callers' pictures need of the backend. */
#include "base/device_ordinal.h"
#include "cuda/backend/backend.cuh"
#include "cuda/common/check.cuh"

static enum gf_status check_memory(const struct cuda_backend *cuda, const void *memory,
                                   struct gf_error *error)
{
    const int device = cuda->options.device;
    struct cudaPointerAttributes attributes;
    GF_CUDA_TRY(cudaPointerGetAttributes(&attributes, memory), device, error);
    const bool is_host =
        attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged;
    return is_host || attributes.device != gf_device_ordinal(device)
               ? gf_fail(error, GF_ERROR_USAGE, "%p is not in the memory of cuda:%d", memory,
                         device)
               : GF_OK;
}

static enum gf_status await(struct gf_backend *backend, const void *memory, void *stream,
                            struct gf_error *error)
{
    const struct cuda_backend *const cuda = backend_of(backend);
    const enum gf_status status = check_memory(cuda, memory, error);
    if (status)
        return status;
    GF_CUDA_TRY(cudaStreamSynchronize((cudaStream_t)stream), cuda->options.device, error);
    return GF_OK;
}

static enum gf_status visit(struct gf_backend *backend, int *before, struct gf_error *error)
{
    GF_CUDA_TRY(cudaGetDevice(before), backend_of(backend)->options.device, error);
    return backend->calls->ready(backend, error);
}

static void go_back(int before)
{
    (void)cudaSetDevice(before);
}

static void settle(struct gf_backend *backend)
{
    int before;
    if (visit(backend, &before, NULL))
        return;
    (void)cudaDeviceSynchronize();
    go_back(before);
}

static bool is_pinned(struct gf_backend *, const void *host)
{
    struct cudaPointerAttributes attributes;
    return cudaPointerGetAttributes(&attributes, host) == cudaSuccess &&
           attributes.type == cudaMemoryTypeHost;
}

static enum gf_status to_floats(struct gf_backend *backend, const struct gf_image *images,
                                int count, const struct gf_float_form *form, float *values,
                                void *stream, struct gf_error *error)
{
    const struct cuda_backend *const cuda = backend_of(backend);
    struct gf_device_info info;
    int before;
    enum gf_status status = gf_device_describe(cuda->options.device, &info, error);
    if (!status)
        status = check_memory(cuda, values, error);
    for (int i = 0; i < count && !status; i++)
        status = check_memory(cuda, images[i].data, error);
    if (!status)
        status = visit(backend, &before, error);
    if (status)
        return status;
    const cudaError_t code =
        gf_cuda_to_floats(images, count, form, values, info.multiprocessors, (cudaStream_t)stream);
    go_back(before);
    return code == cudaSuccess ? GF_OK
                               : gf_cuda_fail(error, cuda->options.device, "floats_kernel", code);
}

void gf_cuda_add_batch_calls(struct gf_backend_calls *calls)
{
    calls->await = await;
    calls->settle = settle;
    calls->visit = visit;
    calls->go_back = go_back;
    calls->is_pinned = is_pinned;
    calls->to_floats = to_floats;
}
