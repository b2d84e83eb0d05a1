/* What batches of callers' pictures need of the backend. */
#include "cuda/backend/backend.cuh"
#include "cuda/common/check.cuh"
#include "pixel/floats.h"

static enum gf_status await(struct gf_backend *backend, void *stream, struct gf_error *error)
{
    GF_CUDA_TRY(cudaStreamSynchronize((cudaStream_t)stream), backend_of(backend)->options.device,
                error);
    return GF_OK;
}

/* The null stream cannot be asked while another one is captured that waits for it. */
static bool is_captured(struct gf_backend *, void *stream)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaError_t code = cudaStreamIsCapturing((cudaStream_t)stream, &status);
    if (code == cudaErrorStreamCaptureImplicit)
        (void)cudaGetLastError(); /* this was no failure */
    return code == cudaErrorStreamCaptureImplicit || status != cudaStreamCaptureStatusNone;
}

static void settle(struct gf_backend *backend)
{
    const int before = gf_cuda_bind(backend);
    (void)cudaDeviceSynchronize();
    gf_cuda_unbind(backend, before);
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
    struct gf_memory_range known = {};
    const struct gf_format format = images[0].format;
    GF_TRY(gf_device_describe(cuda->options.device, &info, error));
    GF_TRY(gf_cuda_owns(backend, values,
                        (size_t)count * (size_t)format.width * (size_t)format.height *
                            (size_t)form->channels * sizeof *values,
                        NULL, error));
    for (int i = 0; i < count; i++)
        GF_TRY(gf_cuda_owns(backend, images[i].data,
                            images[i].pitch * (size_t)(format.height - 1) + gf_row_bytes(format),
                            &known, error));
    GF_CUDA_TRY(
        gf_cuda_to_floats(images, count, form, values, info.multiprocessors, (cudaStream_t)stream),
        cuda->options.device, error);
    return GF_OK;
}

void gf_cuda_add_batch_calls(struct gf_backend_calls *calls)
{
    calls->await = await;
    calls->is_captured = is_captured;
    calls->settle = settle;
    calls->is_pinned = is_pinned;
    calls->to_floats = to_floats;
}
