/* Functions for the device, their launch, and the memory of a block. The .cpp files beside this folder have the rest.
 */
#pragma once

#include <tuple>
#include <utility>

#include "cuda_runtime_api.h"
#include "emulated_vectors.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)

/* Those of the thread that runs. */
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
static constexpr int warpSize = 32;

namespace emulated
{

struct configuration {
    const char *file;
    int line;
    dim3 grid, block;
    size_t dynamic_bytes;
    unsigned cluster;
};

/* Runs every thread of the grid. Reports what a kernel must not do and ends the process. */
typedef void thread_call(const void *arguments);
void run(const configuration &where, const void *kernel, thread_call *call, const void *arguments);

/* The block's own memory, with a forbidden zone behind each array: see blocks.cpp. */
void *dynamic_shared();
void *shared_array(const void *key, size_t bytes, size_t alignment);
void *shared_of_rank(const void *own, unsigned rank);
unsigned cluster_rank();
unsigned cluster_blocks();

/* The array of one declaration, for which Key is the type of a lambda that is written there. */
template <class Array, class Key> Array &shared(Key)
{
    static const char key = 0;
    return *(Array *)shared_array(&key, sizeof(Array), alignof(Array));
}

template <class... Given> struct call {
    configuration where;
    std::tuple<Given...> given;
};

struct launch {
    configuration where;
    launch(const char *file, int line, dim3 grid, dim3 block, size_t dynamic_bytes = 0, cudaStream_t = nullptr)
        : where{file, line, grid, block, dynamic_bytes, 1}
    {
    }
    template <class... Given> call<Given...> operator()(const Given &...given) const { return {where, {given...}}; }
};

template <class... Parameters> struct bound {
    void (*kernel)(Parameters...);
    std::tuple<Parameters...> parameters;
};

template <class... Parameters, class... Given>
void operator->*(void (*kernel)(Parameters...), const call<Given...> &call)
{
    typedef bound<Parameters...> bound;
    const bound arguments = {kernel, call.given};
    run(
        call.where, (const void *)kernel,
        [](const void *arguments) { std::apply(((bound *)arguments)->kernel, ((bound *)arguments)->parameters); },
        &arguments);
}

} // namespace emulated

typedef struct {
    dim3 clusterDim;
    int programmaticStreamSerializationAllowed;
} cudaLaunchAttributeValue;
enum { cudaLaunchAttributeClusterDimension = 4, cudaLaunchAttributeProgrammaticStreamSerialization = 6 };
struct cudaLaunchAttribute {
    int id;
    cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

template <class... Parameters, class... Given>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...), const Given &...given)
{
    emulated::launch launch("cudaLaunchKernelEx", 0, config->gridDim, config->blockDim, config->dynamicSmemBytes);
    for (unsigned i = 0; i < config->numAttrs; i++) {
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
            launch.where.cluster = config->attrs[i].val.clusterDim.x;
    }
    kernel->*launch(given...);
    return cudaGetLastError();
}

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads,
                                                          size_t dynamic_bytes);
cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *kernel, const cudaLaunchConfig_t *config);

/* Graphs are not emulated: who captures one is told so. */
typedef struct emulated_node *cudaGraphNode_t;
enum cudaGraphNodeType { cudaGraphNodeTypeKernel };
struct cudaKernelNodeParams {
    void *func;
    dim3 gridDim, blockDim;
    unsigned sharedMemBytes;
};
#define EMULATED_REFUSED(name) \
    template <class... Given> cudaError_t name(Given...) { return cudaErrorNotSupported; }
EMULATED_REFUSED(cudaGraphGetNodes)
EMULATED_REFUSED(cudaGraphNodeGetType)
EMULATED_REFUSED(cudaGraphKernelNodeGetParams)
EMULATED_REFUSED(cudaGraphKernelNodeGetAttribute)
EMULATED_REFUSED(cudaFuncGetName)

template <class... P> cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class... P> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, void (*kernel)(P...))
{
    return cudaFuncGetAttributes(attributes, (const void *)kernel);
}
template <class... P>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void (*kernel)(P...), int threads, size_t bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, threads, bytes);
}
template <class... P>
cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, void (*kernel)(P...), const cudaLaunchConfig_t *config)
{
    return cudaOccupancyMaxActiveClusters(clusters, (const void *)kernel, config);
}
template <class T> cudaError_t cudaMalloc(T **memory, size_t size) { return cudaMalloc((void **)memory, size); }
template <class T> cudaError_t cudaMallocHost(T **memory, size_t size, unsigned = 0)
{
    return cudaMallocHost((void **)memory, size);
}
template <class T> cudaError_t cudaHostAlloc(T **memory, size_t size, unsigned flags)
{
    return cudaHostAlloc((void **)memory, size, flags);
}
static inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event)
{
    return cudaStreamWaitEvent(stream, event, 0);
}
static inline cudaError_t cudaEventRecord(cudaEvent_t event) { return cudaEventRecord(event, nullptr); }
