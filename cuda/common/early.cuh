/* Kernels that start before the previous kernel of their stream has ended (programmatic dependent
 * launch, from compute capability 9.0 on). Their blocks replace blocks that have ended, prepare
 * data that depend on no picture, such as tables in shared memory, and wait. On an H200 this hides
 * 1 to 4 microseconds a launch. A kernel that launch_early() launches calls early_next(), so that
 * the next kernel may start, and in every thread early_wait() before the first access to a picture,
 * to counters or to anything else that a kernel writes. Data that were copied to the device before
 * the launch may be read earlier, because early_wait() waits only for kernels. */
#pragma once

#include <atomic>
#include <cuda_runtime.h>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define GF_HAS_EARLY 1
#else
#define GF_HAS_EARLY 0
#endif

/* Lets the next kernel's blocks start as soon as there is room for them. */
static __device__ __forceinline__ void early_next(void)
{
#if GF_HAS_EARLY
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Waits until the previous kernels have ended, so that their results are visible. */
static __device__ __forceinline__ void early_wait(void)
{
#if GF_HAS_EARLY
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Finds out for which compute capability the code was compiled that the device runs: 90 for 9.0.
 * The driver compiles code for an older one than the device's from PTX. All kernels are built for
 * the same architectures, so that one kernel of each file tells. */
static inline cudaError_t code_version(const void *kernel, int *version)
{
    enum { DEVICES = 64 };
    static std::atomic<unsigned char> known[DEVICES];
    int device = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status != cudaSuccess)
        return status;
    *version = known[device % DEVICES].load(std::memory_order_relaxed);
    if (*version)
        return cudaSuccess;
    struct cudaFuncAttributes code = {};
    status = cudaFuncGetAttributes(&code, kernel);
    *version = code.ptxVersion;
    known[device % DEVICES].store((unsigned char)code.ptxVersion, std::memory_order_relaxed);
    return status;
}

/* Finds out whether the kernels that the device runs call early_wait(). Others must not start
 * early. */
static inline cudaError_t starts_early(const void *kernel, bool *early)
{
    int version = 0;
    const cudaError_t status = code_version(kernel, &version);
    *early = version >= 90;
    return status;
}

/* Launches the kernel, where it can before the previous kernel has ended. */
template <class... Parameters, class... Arguments>
static cudaError_t launch_early(void (*kernel)(Parameters...), dim3 blocks, int threads,
                                size_t shared_bytes, cudaStream_t stream,
                                const Arguments &...arguments)
{
    bool is_early = false;
    const cudaError_t status = starts_early((const void *)kernel, &is_early);
    if (status != cudaSuccess)
        return status;
    cudaLaunchAttribute early[1] = {};
    early[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early[0].val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = early;
    config.numAttrs = is_early ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}
