/* Writes the scans of a group to host memory, one after another, so that the host waits once and
 * copies nothing. */
#include <cuda_runtime.h>

#include "cuda/common/launch.cuh"
#include "cuda/jpeg/encode_group.cuh"

/* A few blocks suffice, since PCIe is the limit. More blocks would occupy multiprocessors while
 * they wait for PCIe. */
enum { DELIVER_THREADS = 128, DELIVER_BLOCKS = 64, PICTURE_BLOCKS_LEAST = 2 };

static __device__ __forceinline__ uint64_t delivered_size(const struct scan_delivery &delivery,
                                                          int i)
{
    const uint64_t size = delivery.sizes[i];
    return size <= delivery.pictures[i].capacity ? size : 0;
}

/* Returns the bytes that the scans of all pictures before picture `index` need in host memory. All
 * threads call this function. */
static __device__ uint64_t room_before(const struct scan_delivery &delivery, int index)
{
    __shared__ unsigned long long sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    uint64_t own = 0;
    for (int i = threadIdx.x; i < index; i += DELIVER_THREADS)
        own += scan_room(delivered_size(delivery, i));
    if (own)
        atomicAdd(&sum, (unsigned long long)own);
    __syncthreads();
    return sum;
}

static __global__ void __launch_bounds__(DELIVER_THREADS)
    deliver_kernel(const struct scan_delivery delivery)
{
    const int index = blockIdx.y;
    const uint64_t start = room_before(delivery, index), size = delivered_size(delivery, index);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        delivery.host_sizes[index] = delivery.sizes[index];
    if (start + scan_room(size) > delivery.room)
        return;
    const uint4 *const from = (const uint4 *)delivery.pictures[index].scan;
    uint4 *const to = (uint4 *)(delivery.to + start);
    const uint64_t count = size / sizeof *to, first = blockIdx.x * DELIVER_THREADS + threadIdx.x;
    for (uint64_t i = first; i < count; i += (uint64_t)gridDim.x * DELIVER_THREADS)
        to[i] = from[i];
    if (first < size % sizeof *to)
        ((unsigned char *)(to + count))[first] = ((const unsigned char *)(from + count))[first];
}

cudaError_t gf_jpeg_deliver_load(void)
{
    struct cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, deliver_kernel);
}

cudaError_t gf_jpeg_deliver_launch(const struct scan_delivery *delivery, cudaStream_t stream)
{
    const int each = DELIVER_BLOCKS / delivery->count;
    const dim3 grid(each > PICTURE_BLOCKS_LEAST ? each : PICTURE_BLOCKS_LEAST, delivery->count);
    deliver_kernel<<<grid, DELIVER_THREADS, 0, stream>>>(*delivery);
    return cudaGetLastError();
}
