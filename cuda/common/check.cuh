/* Checks CUDA calls. A failure becomes a message that names the device and the call. */
#pragma once

#include <cuda_runtime.h>

#include "base/fail.h"

static inline enum gf_status gf_cuda_fail(struct gf_error *error, int device, const char *call,
                                          cudaError_t code)
{
    const enum gf_status status =
        code == cudaErrorMemoryAllocation ? GF_ERROR_DEVICE_MEMORY : GF_ERROR_DEVICE;
    cudaGetLastError(); /* clears the error, unless the context is unusable */
    return gf_fail(error, status, "cuda:%d: %s: %s", device, call, cudaGetErrorString(code));
}

/* Waits until all work of the stream has ended. The thread sleeps, since `ended` has the flag
 * cudaEventBlockingSync. */
static inline cudaError_t gf_cuda_sleep(cudaStream_t stream, cudaEvent_t ended)
{
    const cudaError_t code = cudaEventRecord(ended, stream);
    return code == cudaSuccess ? cudaEventSynchronize(ended) : code;
}

/* Returns from the calling function when the call fails. */
#define GF_CUDA_TRY(call, device, error) \
    do { \
        const cudaError_t gf_code = (call); \
        if (gf_code != cudaSuccess) \
            return gf_cuda_fail(error, device, #call, gf_code); \
    } while (0)
