/* What decoders and encoders of pictures share on the host: pinned memory, a stream, memory that
 * grows, times. */
#include "cuda/common/coder.cuh"

#include "base/memory/buffers.h"
#include "base/process/machine.h"
#include "base/threads/times.h"

/* Pinned memory of at least this many bytes consists of huge pages, which several threads
 * allocate. */
static const size_t REGISTERED_LEAST = (size_t)4 << 20;

/* Allocates and registers pages. Returns false if the system cannot do that. */
static bool register_pages(size_t size, struct pinned_memory *memory)
{
    int device = 0, same_address = 0;
    if (size < REGISTERED_LEAST || cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&same_address, cudaDevAttrCanUseHostPointerForRegisteredMem,
                               device) != cudaSuccess ||
        !same_address)
        return false;
    void *const pages = gf_pages_alloc(size);
    if (!pages)
        return false;
    gf_pages_populate(pages, size);
    if (cudaHostRegister(pages, size, cudaHostRegisterDefault) != cudaSuccess) {
        cudaGetLastError();
        gf_pages_free(pages, size);
        return false;
    }
    memory->data = (unsigned char *)pages;
    memory->size = size;
    memory->registered = true;
    return true;
}

cudaError_t gf_cuda_pinned_alloc(size_t size, struct pinned_memory *memory)
{
    const double begin_s = gf_now();
    cudaError_t code = cudaSuccess;
    memory->data = NULL;
    memory->size = 0;
    memory->registered = false;
    if (!register_pages(size, memory)) {
        code = cudaMallocHost((void **)&memory->data, size);
        memory->size = code == cudaSuccess ? size : 0;
    }
    gf_start_note(GF_START_PINNED, begin_s);
    return code;
}

void gf_cuda_pinned_free(struct pinned_memory *memory)
{
    if (memory->registered) {
        (void)cudaHostUnregister(memory->data);
        gf_pages_free(memory->data, memory->size);
    } else if (memory->data) {
        (void)cudaFreeHost(memory->data);
    }
    memory->data = NULL;
    memory->size = 0;
    memory->registered = false;
}

enum gf_status coder_open(struct coder *coder, int device, uint64_t memory_most, int marks,
                          struct gf_error *error)
{
    coder->device = device;
    coder->memory_most = memory_most;
    coder->marks = marks;
    GF_CUDA_TRY(cudaSetDevice(gf_device_ordinal(device)), device, error);
    GF_CUDA_TRY(cudaStreamCreateWithFlags(&coder->stream, cudaStreamNonBlocking), device, error);
    GF_CUDA_TRY(
        cudaEventCreateWithFlags(&coder->ended, cudaEventBlockingSync | cudaEventDisableTiming),
        device, error);
    for (int i = 0; i < marks; i++)
        GF_CUDA_TRY(cudaEventCreate(&coder->mark[i]), device, error);
    return GF_OK;
}

void coder_close(struct coder *coder)
{
    (void)cudaFree(coder->memory);
    (void)cudaFreeHost(coder->pinned);
    if (coder->ended)
        (void)cudaEventDestroy(coder->ended);
    for (int i = 0; i < coder->marks; i++) {
        if (coder->mark[i])
            (void)cudaEventDestroy(coder->mark[i]);
    }
    if (coder->stream)
        (void)cudaStreamDestroy(coder->stream);
}

cudaError_t coder_wait(const struct coder *coder)
{
    return gf_cuda_sleep(coder->stream, coder->ended);
}

cudaError_t coder_queue_copies(const struct coder *coder, struct coder_copies *copies)
{
    const int count = copies->count;
    cudaError_t code = cudaSuccess;
    copies->count = 0;
#if CUDART_VERSION >= 13000
    struct cudaMemcpyAttributes in_order = {};
    size_t first = 0;
    in_order.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    if (count)
        code = cudaMemcpyBatchAsync(copies->to, copies->from, copies->size, (size_t)count,
                                    &in_order, &first, 1, coder->stream);
#else
    for (int i = 0; i < count && code == cudaSuccess; i++)
        code = cudaMemcpyAsync(copies->to[i], copies->from[i], copies->size[i], cudaMemcpyDefault,
                               coder->stream);
#endif
    return code;
}

cudaError_t coder_copy(const struct coder *coder, struct coder_copies *copies, void *to,
                       const void *from, size_t size)
{
    copies->to[copies->count] = to;
    copies->from[copies->count] = from;
    copies->size[copies->count] = size;
    return ++copies->count < CODER_COPIES_MOST ? cudaSuccess : coder_queue_copies(coder, copies);
}

cudaError_t coder_mark(const struct coder *coder, int i, cudaStream_t stream)
{
    return coder->times ? cudaEventRecord(coder->mark[i], stream) : cudaSuccess;
}

void coder_begin_times(const struct coder *coder)
{
    for (int i = 0; coder->times && i + 1 < coder->marks; i++)
        coder->times[i] = 0.0f;
}

enum gf_status coder_add_times(const struct coder *coder, struct gf_error *error)
{
    for (int i = 0; coder->times && i + 1 < coder->marks; i++) {
        float ms;
        GF_CUDA_TRY(cudaEventElapsedTime(&ms, coder->mark[i], coder->mark[i + 1]), coder->device,
                    error);
        coder->times[i] += ms;
    }
    return GF_OK;
}

uint64_t coder_room(const struct coder *coder, uint64_t bytes, int count, uint64_t most)
{
    const uint64_t beyond = 1u << 30; /* the most bytes to add for expected pictures */
    if (count < 1 || coder->expected <= count)
        return bytes;
    uint64_t more = bytes / (uint64_t)count * (uint64_t)(coder->expected - count);
    more = more < beyond ? more : beyond;
    return bytes + more <= most ? bytes + more : bytes < most ? most : bytes;
}

/* If the device lacks the memory for the expected pictures, allocates `bytes` alone. */
enum gf_status coder_reserve(struct coder *coder, uint64_t bytes, int count, struct gf_error *error)
{
    if (bytes <= coder->memory_bytes)
        return GF_OK;
    const double begin_s = gf_now();
    uint64_t size = coder_room(coder, bytes, count, coder->memory_most);
    GF_CUDA_TRY(cudaFree(coder->memory), coder->device, error);
    coder->memory = NULL;
    coder->memory_bytes = 0;
    if (size == bytes || cudaMalloc((void **)&coder->memory, size) != cudaSuccess) {
        (void)cudaGetLastError();
        size = bytes;
        GF_CUDA_TRY(cudaMalloc((void **)&coder->memory, size), coder->device, error);
    }
    coder->memory_bytes = size;
    gf_start_note(GF_START_MEMORY, begin_s);
    return GF_OK;
}

enum gf_status coder_reserve_pinned(struct coder *coder, uint64_t bytes, uint64_t spare, int count,
                                    struct gf_error *error)
{
    if (bytes <= coder->pinned_bytes)
        return GF_OK;
    const double begin_s = gf_now();
    const uint64_t size = coder_room(coder, bytes + spare, count, UINT64_MAX);
    (void)cudaFreeHost(coder->pinned);
    coder->pinned = NULL;
    coder->pinned_bytes = 0;
    GF_CUDA_TRY(cudaHostAlloc((void **)&coder->pinned, size, 0), coder->device, error);
    coder->pinned_bytes = size;
    gf_start_note(GF_START_PINNED, begin_s);
    return GF_OK;
}
