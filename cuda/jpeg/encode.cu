/* The kernel of the encoder. One launch turns pixels into the stuffed bytes of the scan. */
#include <cuda_runtime.h>

#include "cuda/jpeg/chunk_memory.cuh"
#include "cuda/jpeg/code_chunk.cuh"
#include "cuda/jpeg/encode_group.cuh"
#include "cuda/jpeg/forward.cuh"
#include "cuda/jpeg/write_chunk.cuh"

template <class SHAPE>
__global__ void __launch_bounds__(ENCODE_THREADS) encode_kernel(const struct encode_group group)
{
    __shared__ __align__(16) struct chunk_memory memory;
    const int index = find_picture(group);
    const struct encode_picture picture = group.pictures[index];
    const struct chunk chunk = find_chunk<SHAPE>(group, picture);
    const unsigned *const codes = (const unsigned *)&picture.tables->codes;
    for (int i = threadIdx.x; i < CODE_WORDS; i += ENCODE_THREADS)
        ((unsigned *)&memory.codes)[i] = codes[i];
    forward_chunk<SHAPE>(picture, chunk, memory.samples, memory.coefficients);
    __syncthreads();
    if (has_outside<SHAPE>(picture, chunk)) {
        clear_outside<SHAPE>(picture, chunk, memory.coefficients);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        tell_dc<SHAPE>(chunk, memory.coefficients);
    const unsigned bits = code_chunk<SHAPE>(chunk, memory);
    __syncthreads();
    write_chunk(picture, chunk, bits, memory, group.sizes + index);
}

template <class SHAPE> static struct encode_shape describe(void)
{
    return {SHAPE::H, SHAPE::V, SHAPE::BLOCKS, SHAPE::CHUNK_MCUS};
}

struct encode_shape gf_jpeg_encode_shape(int shape)
{
    const struct encode_shape shapes[SHAPES] = {describe<shape_420>(), describe<shape_422>(),
                                                describe<shape_444>(), describe<gray_shape>()};
    return shapes[shape];
}

cudaError_t gf_jpeg_encode_load(void)
{
    struct cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, encode_kernel<shape_420>);
}

cudaError_t gf_jpeg_encode_launch(int shape, const struct encode_group *group, cudaStream_t stream)
{
    void (*const kernels[SHAPES])(struct encode_group) = {
        encode_kernel<shape_420>, encode_kernel<shape_422>, encode_kernel<shape_444>,
        encode_kernel<gray_shape>};
    kernels[shape]<<<group->chunks, ENCODE_THREADS, 0, stream>>>(*group);
    return cudaGetLastError();
}
