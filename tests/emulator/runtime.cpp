/* CUDA's runtime over one device, whose memory is the host's. Every stream does its work at once, in the caller's
 * thread. Memory is exactly as large as was asked for and begins as garbage, so that the address sanitizer sees what a
 * kernel reads and writes beyond it. */
#include <map>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "blocks.h"
#include "cuda.h"
#include "written.h"

struct CUstream_st {
    int unused;
};

struct emulated_event {
    timespec at;
};

namespace
{

enum { MULTIPROCESSORS = 16, THREADS_EACH = 2048, SHARED_EACH = 228 << 10, ALIGNMENT = 512 };
const size_t MEMORY = (size_t)4 << 30;

struct range {
    size_t bytes;
    cudaMemoryType type;
    bool registered;
};

std::mutex lock;
std::map<const char *, range> ranges;
size_t used;
thread_local cudaError_t last;

/* The device's properties that differ between compute capabilities (Programming Guide, "Technical Specifications"). */
const struct chip {
    int capability, shared_kb;
} chips[] = {{90, 227},  {75, 64},   {80, 163},  {86, 99},  {87, 163}, {89, 99},
             {100, 227}, {103, 227}, {110, 227}, {120, 99}, {121, 99}};

const chip &find_chip()
{
    const char *const asked = getenv("GF_EMULATED_CHIP");
    const int capability = asked ? atoi(asked) : __CUDA_ARCH__ / 10;
    for (const chip &each : chips) {
        if (each.capability == capability)
            return each;
    }
    fprintf(stderr, "emulated device: GF_EMULATED_CHIP=%s is no compute capability, such as 86\n", asked);
    exit(2);
}

const chip &chip_now()
{
    static const chip &now = find_chip();
    return now;
}

/* Keeps the error for cudaGetLastError(). */
cudaError_t result(cudaError_t error)
{
    if (error != cudaSuccess)
        last = error;
    return error;
}

cudaError_t allocate(void **memory, size_t size, cudaMemoryType type)
{
    const std::lock_guard<std::mutex> guard(lock);
    *memory = nullptr;
    if (!size)
        return cudaSuccess;
    if (type == cudaMemoryTypeDevice && size > MEMORY - used)
        return result(cudaErrorMemoryAllocation);
#ifdef EMULATED_WRITTEN
    *memory = emulated::place_memory(size);
#else
    if (posix_memalign(memory, ALIGNMENT, size))
        return result(cudaErrorMemoryAllocation);
#endif
    memset(*memory, emulated::GARBAGE, size);
    if (type == cudaMemoryTypeHost)
        emulated::mark_memory(*memory, size, emulated::WRITTEN); /* the host's code is not watched */
    ranges[(const char *)*memory] = {size, type, false};
    used += type == cudaMemoryTypeDevice ? size : 0;
    return cudaSuccess;
}

cudaError_t release(void *memory, cudaMemoryType type)
{
    const std::lock_guard<std::mutex> guard(lock);
    const auto found = ranges.find((const char *)memory);
    if (!memory)
        return cudaSuccess;
    if (found == ranges.end() || found->second.type != type || found->second.registered)
        return result(cudaErrorInvalidValue);
    used -= type == cudaMemoryTypeDevice ? found->second.bytes : 0;
#ifdef EMULATED_WRITTEN
    emulated::mark_memory(memory, found->second.bytes, emulated::ABSENT);
    madvise((char *)memory, found->second.bytes, MADV_DONTNEED);
#else
    free(memory);
#endif
    ranges.erase(found);
    return cudaSuccess;
}

} // namespace

int emulated::capability() { return chip_now().capability; }

int emulated::shared_most() { return chip_now().shared_kb << 10; }

extern "C" {

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorNotSupported:
        return "operation not supported";
    default:
        return "invalid argument";
    }
}

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last;
    last = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void) { return last; }

/* ---- the device ---- */

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) { return result(device ? cudaErrorInvalidDevice : cudaSuccess); }

cudaError_t cudaDeviceSynchronize(void) { return cudaSuccess; }

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int)
{
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "emulated device");
    properties->major = emulated::capability() / 10;
    properties->minor = emulated::capability() % 10;
    properties->multiProcessorCount = MULTIPROCESSORS;
    properties->l2CacheSize = 1 << 20;
    properties->asyncEngineCount = 2;
    properties->totalGlobalMem = MEMORY;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int)
{
    switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
        *value = MULTIPROCESSORS;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = emulated::shared_most();
        break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = THREADS_EACH;
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = emulated::capability() / 10;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *value = emulated::capability() % 10;
        break;
    case cudaDevAttrComputeMode:
        *value = cudaComputeModeDefault;
        break;
    default:
        *value = 1 << 20;
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int size, int)
{
    snprintf(id, (size_t)size, "0000:00:00.0");
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

/* ---- memory ---- */

cudaError_t cudaMalloc(void **memory, size_t size) { return allocate(memory, size, cudaMemoryTypeDevice); }

cudaError_t cudaFree(void *memory) { return release(memory, cudaMemoryTypeDevice); }

cudaError_t cudaMallocHost(void **memory, size_t size) { return allocate(memory, size, cudaMemoryTypeHost); }

cudaError_t cudaHostAlloc(void **memory, size_t size, unsigned) { return allocate(memory, size, cudaMemoryTypeHost); }

cudaError_t cudaFreeHost(void *memory) { return release(memory, cudaMemoryTypeHost); }

cudaError_t cudaHostRegister(void *memory, size_t size, unsigned)
{
    const std::lock_guard<std::mutex> guard(lock);
    if (!ranges.insert({(const char *)memory, {size, cudaMemoryTypeHost, true}}).second)
        return result(cudaErrorInvalidValue);
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *memory)
{
    const std::lock_guard<std::mutex> guard(lock);
    const auto found = ranges.find((const char *)memory);
    if (found == ranges.end() || !found->second.registered)
        return result(cudaErrorInvalidValue);
    ranges.erase(found);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    const std::lock_guard<std::mutex> guard(lock);
    *available = MEMORY - used;
    *total = MEMORY;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *memory)
{
    const std::lock_guard<std::mutex> guard(lock);
    auto found = ranges.upper_bound((const char *)memory);
    memset(attributes, 0, sizeof *attributes);
    if (found == ranges.begin() || (--found)->first + found->second.bytes <= (const char *)memory)
        return cudaSuccess;
    attributes->type = found->second.type;
    attributes->devicePointer = (void *)memory;
    attributes->hostPointer = attributes->type == cudaMemoryTypeHost ? (void *)memory : nullptr;
    return cudaSuccess;
}

extern "C" CUresult cuMemGetAddressRange(CUdeviceptr *begin, size_t *bytes, CUdeviceptr memory)
{
    const std::lock_guard<std::mutex> guard(lock);
    auto found = ranges.upper_bound((const char *)memory);
    if (found == ranges.begin() || (--found)->first + found->second.bytes <= (const char *)memory)
        return CUDA_ERROR_INVALID_VALUE;
    *begin = (CUdeviceptr)found->first;
    *bytes = found->second.bytes;
    return CUDA_SUCCESS;
}

cudaError_t cudaMemset(void *to, int value, size_t size)
{
    memset(to, value, size);
    emulated::note_write(to, size);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t) { return cudaMemset(to, value, size); }

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, enum cudaMemcpyKind)
{
    memcpy(to, from, size);
    emulated::note_copy(to, from, size);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t)
{
    return cudaMemcpy(to, from, size, kind);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind)
{
    if (width > to_pitch || width > from_pitch)
        return result(cudaErrorInvalidValue);
    for (size_t row = 0; row < height; row++)
        cudaMemcpy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, cudaMemcpyDefault);
    return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t)
{
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

/* ---- streams and events ---- */

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    *stream = new CUstream_st();
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) { return cudaStreamCreate(stream); }

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned, int) { return cudaStreamCreate(stream); }

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }

cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }

cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }

cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *status)
{
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) { return cudaErrorNotSupported; }

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *) { return cudaErrorNotSupported; }

cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaErrorNotSupported; }

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = new emulated_event();
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) { return cudaEventCreate(event); }

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t)
{
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }

cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t first, cudaEvent_t second)
{
    *ms = (float)(1e3 * (double)(second->at.tv_sec - first->at.tv_sec) +
                  1e-6 * (double)(second->at.tv_nsec - first->at.tv_nsec));
    return cudaSuccess;
}

} // extern "C"

/* ---- kernels ---- */

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return cudaSuccess;
    if (value < 0 || value > emulated::shared_most())
        return result(cudaErrorInvalidValue);
    emulated::allow_shared(kernel, (size_t)value);
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *)
{
    memset(attributes, 0, sizeof *attributes);
    attributes->maxThreadsPerBlock = emulated::THREADS_MOST;
    attributes->ptxVersion = attributes->binaryVersion = __CUDA_ARCH__ / 10;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int threads, size_t dynamic_bytes)
{
    *blocks = min(THREADS_EACH / max(threads, 1), (int)(SHARED_EACH / (dynamic_bytes + 1024)));
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *, const cudaLaunchConfig_t *config)
{
    *clusters = MULTIPROCESSORS / (int)config->attrs[0].val.clusterDim.x;
    return cudaSuccess;
}
