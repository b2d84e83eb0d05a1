/* Functions of CUDA's driver, which the program finds without being linked with the driver. */
#pragma once

#include <atomic>
#include <cuda.h>
#include <cuda_runtime.h>

/* Returns a function of the driver as it was in CUDA 12.0; NULL: there is none. Looking it up takes
 * microseconds, so that it is kept in *known. */
static inline void *driver_function(const char *name, std::atomic<void *> *known)
{
#if CUDART_VERSION >= 12000
    void *function = known->load(std::memory_order_relaxed);
    cudaDriverEntryPointQueryResult found;
    if (function)
        return function;
#if CUDART_VERSION >= 12050
    const cudaError_t status =
        cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
#else
    const cudaError_t status = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
    if (status == cudaSuccess && found == cudaDriverEntryPointSuccess) {
        known->store(function, std::memory_order_relaxed);
        return function;
    }
#endif
    return NULL;
}
