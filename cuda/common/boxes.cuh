/* Copies boxes between a picture and shared memory. A box is a number of bytes in each of a number
 * of rows. Bytes outside the picture are read as 0 and not written. The copy engine that compute
 * capability 9.0 has in each multiprocessor makes the copies that one thread starts (tensor maps;
 * CUDA 12), and a bar counts rounds: a thread that waits for the boxes of a bar passes the parity
 * of the bar's round, 0, 1, 0, ..., and the thread that starts copies starts a round with
 * box_expect(). On other devices all threads of the block start copies together, bars are not used,
 * and a box is there after box_settle() and __syncthreads(). */
#pragma once

#include <cuda_pipeline_primitives.h>

#include "cuda/common/driver.cuh"

#if CUDART_VERSION >= 12000 && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900)
#define GF_HAS_BOXES 1
#else
#define GF_HAS_BOXES 0
#endif

/* The rows of a picture. */
struct box_map {
#if CUDART_VERSION >= 12000
    CUtensorMap tensor;
#endif
    unsigned char *data;
    size_t pitch;
    int bytes, rows;
};

typedef unsigned long long box_bar; /* a barrier in shared memory */

/* Whether the calling thread is one that starts copies: `one` if the copy engine makes them. */
static __device__ __forceinline__ bool box_starts(unsigned one)
{
    return !GF_HAS_BOXES || threadIdx.x == one;
}

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

/* Calls function(at, x, y, count) for this thread's pieces of a box, 16 bytes or less: `at` is the
 * piece's place in the box, x and y its byte and row in the picture, and `count` the number of its
 * bytes that are inside the picture. */
template <int BYTES, int ROWS, class Function>
static __device__ __forceinline__ void box_pieces(const box_map *map, int x, int y,
                                                  const Function &function)
{
    for (int i = (int)threadIdx.x; i < BYTES / 16 * ROWS; i += (int)blockDim.x) {
        const int row = y + i / (BYTES / 16), from = x + i % (BYTES / 16) * 16;
        const bool inside = row >= 0 && row < map->rows && from >= 0;
        function(16 * i, from, row, inside ? min(max(map->bytes - from, 0), 16) : 0);
    }
}

/* Starts to copy a box of ROWS rows of BYTES bytes. x is in bytes, a multiple of 16; `to` is
 * aligned to 128 bytes. */
template <int BYTES, int ROWS>
static __device__ __forceinline__ void box_load(unsigned char *to, const box_map *map, int x, int y,
                                                box_bar *bar)
{
#if GF_HAS_BOXES
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
                 "l"(&map->tensor), "r"(x), "r"(y), "r"(shared_address(bar))
                 : "memory");
#else
    box_pieces<BYTES, ROWS>(map, x, y, [&](int at, int from, int row, int count) {
        const unsigned char *const piece = map->data + (size_t)row * map->pitch + from;
        if (count == 16)
            __pipeline_memcpy_async(to + at, piece, 16);
        else
            for (int i = 0; i < 16; i++)
                to[at + i] = i < count ? piece[i] : 0;
    });
#endif
}

/* Starts to write a box. The copy engine writes whole pieces of 16 bytes. */
template <int BYTES, int ROWS>
static __device__ __forceinline__ void box_store(const box_map *map, int x, int y,
                                                 const unsigned char *from)
{
#if GF_HAS_BOXES
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                 "[%0, {%1, %2}], [%3];" ::"l"(&map->tensor),
                 "r"(x), "r"(y), "r"(shared_address(from))
                 : "memory");
#else
    box_pieces<BYTES, ROWS>(map, x, y, [&](int at, int to, int row, int count) {
        if (count == 16)
            *(uint4 *)(map->data + (size_t)row * map->pitch + to) = *(const uint4 *)(from + at);
    });
#endif
}

/* Waits until the boxes that this thread has started to load are there, without the copy engine. */
static __device__ __forceinline__ void box_settle()
{
#if !GF_HAS_BOXES
    __pipeline_commit();
    __pipeline_wait_prior(0);
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

/* Makes the map of a picture's rows; `engine`: whether the copy engine is used. A box has at most
 * 256 bytes, a multiple of 16, of at most 256 rows. */
static inline cudaError_t box_map_of(struct box_map *map, unsigned char *data, size_t pitch,
                                     size_t bytes, int rows, int box_bytes, int box_rows,
                                     bool engine)
{
    map->data = data;
    map->pitch = pitch;
    map->bytes = (int)bytes;
    map->rows = rows;
    if ((size_t)data % 16 || pitch % 16)
        return cudaErrorNotSupported;
#if CUDART_VERSION >= 12000
    if (!engine)
        return cudaSuccess;
    static std::atomic<void *> known;
    const auto encode =
        (decltype(&cuTensorMapEncodeTiled))driver_function("cuTensorMapEncodeTiled", &known);
    if (!encode)
        return cudaErrorNotSupported;
    const cuuint64_t size[2] = {bytes, (cuuint64_t)rows}, stride[1] = {pitch};
    const cuuint32_t box[2] = {(cuuint32_t)box_bytes, (cuuint32_t)box_rows}, each[2] = {1, 1};
    const CUresult result =
        encode(&map->tensor, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, data, size, stride, box, each,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorNotSupported;
#else
    return cudaSuccess;
#endif
}
