/* Copies boxes between a picture and shared memory by the copy engine that compute capability 9.0
 * has in each multiprocessor (tensor maps; CUDA 12). A box is a number of bytes in each of a number
 * of rows. One thread starts a copy. Bytes outside the picture are read as 0 and not written. A bar
 * counts rounds. A thread that waits for the boxes of a bar passes the parity of the bar's round:
 * 0, 1, 0, ... The owner of the bar starts a round with box_expect(). */
#pragma once

#include <atomic>
#include <cuda.h>
#include <cuda_runtime.h>

#if CUDART_VERSION >= 12000 && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900)
#define GF_HAS_BOXES 1
#else
#define GF_HAS_BOXES 0
#endif

#if CUDART_VERSION >= 12000
typedef CUtensorMap box_map;
#else
typedef struct {
    char unused;
} box_map;
#endif
typedef unsigned long long box_bar; /* a barrier in shared memory */

static __device__ __forceinline__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

/* Prepares a bar. All threads must synchronise after it, before any of them waits. */
static __device__ __forceinline__ void box_bar_init(box_bar *bar)
{
#if GF_HAS_BOXES
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

static __device__ __forceinline__ void box_expect(box_bar *bar, unsigned bytes)
{
#if GF_HAS_BOXES
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)),
        "r"(bytes)
        : "memory");
#endif
}

static __device__ __forceinline__ void box_wait(box_bar *bar, unsigned parity)
{
#if GF_HAS_BOXES
    unsigned done = 0;
    while (!done)
        asm volatile("{.reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;}"
                     : "=r"(done)
                     : "r"(shared_address(bar)), "r"(parity)
                     : "memory");
#endif
}

/* Starts to copy a box. x is in bytes; `to` is aligned to 128 bytes. */
static __device__ __forceinline__ void box_load(void *to, const box_map *map, int x, int y,
                                                box_bar *bar)
{
#if GF_HAS_BOXES
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
                 "l"(map), "r"(x), "r"(y), "r"(shared_address(bar))
                 : "memory");
#endif
}

static __device__ __forceinline__ void box_store(const box_map *map, int x, int y, const void *from)
{
#if GF_HAS_BOXES
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                 "[%0, {%1, %2}], [%3];" ::"l"(map),
                 "r"(x), "r"(y), "r"(shared_address(from))
                 : "memory");
#endif
}

/* Waits until the stores that this thread has started have read their shared memory. */
static __device__ __forceinline__ void box_store_wait()
{
#if GF_HAS_BOXES
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}

/* Separates this thread's own accesses to shared memory from copies that it starts afterwards. */
static __device__ __forceinline__ void box_fence()
{
#if GF_HAS_BOXES
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

#if GF_HAS_BOXES
/* Returns the driver's function that makes tensor maps, or NULL. Looking it up takes microseconds,
 * so that it is kept. */
static inline decltype(&cuTensorMapEncodeTiled) box_encoder()
{
    static std::atomic<void *> known;
    void *encode = known.load(std::memory_order_relaxed);
    cudaDriverEntryPointQueryResult found;
    if (encode)
        return (decltype(&cuTensorMapEncodeTiled))encode;
#if CUDART_VERSION >= 12050
    const cudaError_t status = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode,
                                                                12000, cudaEnableDefault, &found);
#else
    const cudaError_t status =
        cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &encode, cudaEnableDefault, &found);
#endif
    if (status != cudaSuccess || found != cudaDriverEntryPointSuccess)
        return NULL;
    known.store(encode, std::memory_order_relaxed);
    return (decltype(&cuTensorMapEncodeTiled))encode;
}
#endif

/* Makes the tensor map of a picture's rows. A box has at most 256 bytes, a multiple of 16, of at
 * most 256 rows. */
static inline cudaError_t box_map_of(box_map *map, const unsigned char *data, size_t pitch,
                                     size_t bytes, int rows, int box_bytes, int box_rows)
{
#if GF_HAS_BOXES
    const auto encode = box_encoder();
    if (!encode)
        return cudaErrorNotSupported;
    const cuuint64_t size[2] = {bytes, (cuuint64_t)rows}, stride[1] = {pitch};
    const cuuint32_t box[2] = {(cuuint32_t)box_bytes, (cuuint32_t)box_rows}, each[2] = {1, 1};
    const CUresult result =
        encode(map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, (void *)data, size, stride, box, each,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorNotSupported;
#else
    return cudaErrorNotSupported;
#endif
}
