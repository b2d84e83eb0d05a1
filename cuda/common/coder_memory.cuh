/* The memory of coders: how much they allocate when they need more, and how it grows. */
#ifndef GF_CUDA_COMMON_CODER_MEMORY_CUH
#define GF_CUDA_COMMON_CODER_MEMORY_CUH

#include <stdint.h>
#include <string.h>

#include "base/spans.h"
#include "base/start_times.h"
#include "cuda/common/check.cuh"
#include "cuda/common/pinned.cuh"

/* The bytes for `expected` pictures where `count` need `bytes`, up to `most`; at least `bytes`. A
 * group that grows picture by picture would wait for the device each time. */
static inline uint64_t room_for(uint64_t bytes, int count, int expected, uint64_t most)
{
    const uint64_t beyond = 1u << 30; /* no coder takes more than that for pictures that are yet to
                                       * come */
    if (count < 1 || expected <= count)
        return bytes;
    uint64_t more = bytes / (uint64_t)count * (uint64_t)(expected - count);
    more = more < beyond ? more : beyond;
    return bytes + more <= most ? bytes + more : bytes < most ? most : bytes;
}

/* Replaces the device memory by `roomy` bytes or, where there is not so much memory, by `bytes`. */
static inline enum gf_status grow_device(int device, uint64_t bytes, uint64_t roomy,
                                         unsigned char **memory, uint64_t *size,
                                         struct gf_error *error)
{
    const double begin_s = gf_now();
    GF_CUDA_TRY(cudaFree(*memory), device, error);
    *memory = NULL;
    *size = 0;
    if (roomy > bytes && cudaMalloc((void **)memory, roomy) == cudaSuccess) {
        *size = roomy;
    } else {
        (void)cudaGetLastError();
        GF_CUDA_TRY(cudaMalloc((void **)memory, bytes), device, error);
        *size = bytes;
    }
    gf_start_note(GF_START_MEMORY, begin_s);
    return GF_OK;
}

/* Replaces the driver's own pinned memory by so many bytes. */
static inline enum gf_status grow_host(int device, uint64_t bytes, unsigned char **memory,
                                       uint64_t *size, struct gf_error *error)
{
    const double begin_s = gf_now();
    (void)cudaFreeHost(*memory);
    *memory = NULL;
    *size = 0;
    GF_CUDA_TRY(cudaHostAlloc((void **)memory, bytes, 0), device, error);
    *size = bytes;
    gf_start_note(GF_START_PINNED, begin_s);
    return GF_OK;
}

/* Replaces large pinned memory by so many bytes, of which the first `used` keep their contents. */
static inline enum gf_status grow_kept(int device, uint64_t bytes, uint64_t used,
                                       struct pinned_memory *memory, struct gf_error *error)
{
    struct pinned_memory larger;
    GF_CUDA_TRY(gf_cuda_pinned_alloc(bytes, &larger), device, error);
    if (used)
        memcpy(larger.data, memory->data, used);
    gf_cuda_pinned_free(memory);
    *memory = larger;
    return GF_OK;
}

#endif
