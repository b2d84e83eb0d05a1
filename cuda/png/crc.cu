/* Computes the CRC-32 of the chunks. Each thread processes every CRC_THREADS-th word of a piece:
 * before it adds the next word it multiplies its sum by a constant, with tables in shared memory.
 * Each thread's sum is then moved to its place by a product with a power of x, and the sum over all
 * threads is the piece's part of the CRC. A piece ends with a whole word; the last piece has
 * zeros after the message, which a product with a negative power removes. */
#include "cuda/png/crc.cuh"

#include "cuda/png/encode_group.cuh"

enum { PIECE = CRC_THREADS * CRC_WORDS, END_THREADS = 128 };

/* Returns the power x^n; x^(2^32 - 1) is 1. */
static unsigned power(uint32_t n)
{
    unsigned result = ONE;
    for (unsigned square = ONE >> 1; n; n >>= 1, square = product(square, square)) {
        if (n & 1)
            result = product(result, square);
    }
    return result;
}

static void make_tables(struct crc_tables *tables)
{
    const unsigned step = power(32 * CRC_THREADS);
    for (unsigned place = 0; place < 4; place++) {
        for (unsigned byte = 0; byte < 256; byte++)
            tables->step[place][byte] = product(byte << 8 * place, step);
    }
    for (unsigned i = 0; i < CRC_THREADS; i++)
        tables->lane[i] = power(32 * (CRC_THREADS - i));
    unsigned piece = power(32 * PIECE);
    for (int i = 0; i < CRC_POWERS; i++, piece = product(piece, piece))
        tables->piece[i] = piece;
    for (uint32_t i = 0; i < 4; i++)
        tables->back[i] = power(UINT32_MAX - 8 * i);
}

cudaError_t gf_png_crc_bring(struct crc_tables **tables, cudaStream_t stream)
{
    struct crc_tables made;
    make_tables(&made);
    cudaError_t status = cudaMalloc(tables, sizeof made);
    GF_THEN(status, cudaMemcpyAsync(*tables, &made, sizeof made, cudaMemcpyHostToDevice, stream));
    return status == cudaSuccess ? cudaStreamSynchronize(stream) : status;
}

/* Returns the sum of this thread's words of the piece. `last` is the piece's last word. */
static __device__ __forceinline__ unsigned own_words(const unsigned (*step)[256],
                                                     const unsigned *out, int64_t last,
                                                     uint64_t begin, uint64_t end)
{
    unsigned sum = 0;
#pragma unroll 4
    for (int n = 0; n < CRC_WORDS; n++) {
        const int64_t i = last - PIECE + 1 + n * CRC_THREADS + (int)threadIdx.x;
        sum = next_sum(step, sum);
        if (i * 4 + 4 <= (int64_t)begin)
            continue;
        sum ^= message_word(out, (uint64_t)i, begin, end);
    }
    return sum;
}

static __global__ void __launch_bounds__(CRC_THREADS)
    crc_kernel(const struct png_group group, unsigned first)
{
    __shared__ unsigned step[4][256];
    __shared__ unsigned all;
    const unsigned index = first + blockIdx.y;
    const struct png_chunk chunk = group.chunks[index];
    const uint64_t begin = chunk.at + CHUNK_HEAD - 4, end = chunk.at + CHUNK_HEAD + chunk.size;
    const int64_t last = (int64_t)((end - 1) / 4) - (int64_t)blockIdx.x * PIECE;
    if (last < (int64_t)(begin / 4))
        return;
    load_steps(step, group.tables);
    if (threadIdx.x == 0)
        all = 0;
    __syncthreads();
    const unsigned own =
        product(own_words(step, group.out, last, begin, end), group.tables->lane[threadIdx.x]);
    add_up(own, &all);
    if (threadIdx.x)
        return;
    unsigned sum = product(all, group.tables->back[(~(end - 1)) & 3]);
    for (unsigned behind = blockIdx.x, i = 0; behind; behind >>= 1, i++) {
        if (behind & 1)
            sum = product(sum, group.tables->piece[i]);
    }
    atomicXor(&group.counts[index].crc, sum);
}

static __global__ void __launch_bounds__(END_THREADS)
    end_kernel(const struct png_group group, unsigned first, unsigned count)
{
    const unsigned i = blockIdx.x * END_THREADS + threadIdx.x;
    if (i >= count)
        return;
    const struct png_chunk chunk = group.chunks[first + i];
    put_bits(group.out, 8 * (chunk.at + CHUNK_HEAD + chunk.size),
             byte_swapped(~group.counts[first + i].crc), 32);
}

cudaError_t gf_png_crc_load(void)
{
    return load_all(crc_kernel, end_kernel);
}

cudaError_t gf_png_crc_launch(const struct png_group *group, unsigned first, unsigned count,
                              cudaStream_t stream)
{
    const uint64_t words = chunk_most((uint64_t)group->granules_most * GRANULE) / 4 + 2;
    const dim3 grid((unsigned)((words + PIECE - 1) / PIECE), count);
    crc_kernel<<<grid, CRC_THREADS, 0, stream>>>(*group, first);
    return launch_kernel(end_kernel, blocks_for(count, END_THREADS), END_THREADS, 0, stream, *group,
                         first, count);
}
