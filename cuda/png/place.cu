/* Computes the position of each stripe's chunk in the output, and writes everything except the
 * stripes' data. */
#include "cuda/common/launch.cuh"
#include "cuda/common/scan.cuh"
#include "cuda/png/encode_group.cuh"
#include "cuda/png/output.cuh"

enum { PLACE_THREADS = 1024, HEAD_THREADS = 128, BASE = 65521 };

static __device__ struct png_chunk chunk_of(const struct png_group &group, unsigned index)
{
    const struct png_stripe stripe = group.stripes[index];
    const uint64_t runs = group.codes[RUNS][index].bits;
    struct png_chunk chunk = {};
    chunk.coding = RUNS;
    uint64_t bits = runs;
    if (group.counts[index].drawing && group.codes[REPEATS][index].bits < runs) {
        chunk.coding = REPEATS;
        bits = group.codes[REPEATS][index].bits;
    }
    chunk.size = stripe.last ? (bits + 7) / 8 : (bits + EMPTY_BITS + 7) / 8 + EMPTY_BLOCK;
    if (chunk.size >= stripe.size + (stripe.size / STORED_MAX + 1) * (uint64_t)STORED_HEAD) {
        chunk.coding = STORED;
        chunk.size =
            stripe.size + (stripe.size + STORED_MAX - 1) / STORED_MAX * (uint64_t)STORED_HEAD;
    }
    chunk.size += (stripe.first ? ZLIB_HEAD : 0) + (stripe.last ? ADLER : 0);
    return chunk;
}

static __global__ void __launch_bounds__(PLACE_THREADS) place_kernel(const struct png_group group)
{
    __shared__ unsigned long long warps[WARP];
    unsigned long long before = 0, all;
    for (unsigned first = 0; first < group.count; first += PLACE_THREADS) {
        const unsigned index = first + threadIdx.x;
        struct png_chunk chunk = {};
        unsigned long long size = 0;
        if (index < group.count) {
            chunk = chunk_of(group, index);
            size = CHUNK_HEAD + chunk.size + CHUNK_CRC;
        }
        chunk.at = before + block_exclusive_sum<PLACE_THREADS>(size, warps, &all);
        before += all;
        if (index < group.count) {
            group.chunks[index] = chunk;
            group.starts[index] = chunk.at;
        }
    }
    if (threadIdx.x == 0)
        group.starts[group.count] = before;
}

static __device__ unsigned adler_of(const struct png_group &group, unsigned index)
{
    const struct png_picture picture = group.pictures[index];
    const struct png_adler sums = group.adler[index];
    const uint64_t bytes = (uint64_t)(picture.row_bytes + 1) * (uint64_t)picture.height;
    return (unsigned)((sums.weighted + bytes) % BASE << 16 | (sums.plain + 1) % BASE);
}

/* Writes the chunk's length and type, zlib's head, and Adler-32. */
static __device__ void put_frame(const struct png_group &group, const struct png_stripe &stripe,
                                 const struct png_chunk &chunk)
{
    put_bits(group.out, 8 * chunk.at, byte_swapped((unsigned)chunk.size), 32);
    put_bits(group.out, 8 * (chunk.at + 4), 'I' | 'D' << 8 | 'A' << 16 | 'T' << 24, 32);
    if (stripe.first)
        put_bits(group.out, 8 * (chunk.at + CHUNK_HEAD), 0x0178, 16);
    if (stripe.last)
        put_bits(group.out, 8 * (chunk.at + CHUNK_HEAD + chunk.size - ADLER),
                 byte_swapped(adler_of(group, stripe.picture)), 32);
}

static __global__ void __launch_bounds__(HEAD_THREADS)
    head_kernel(const struct png_group group, unsigned first)
{
    const unsigned index = first + blockIdx.x;
    const struct png_stripe stripe = group.stripes[index];
    const struct png_chunk chunk = group.chunks[index];
    if (threadIdx.x == 0)
        put_frame(group, stripe, chunk);
    if (chunk.coding == STORED)
        return;
    const struct png_code *const code = group.codes[chunk.coding] + index;
    const uint64_t begin = data_bit(stripe, chunk);
    for (unsigned i = threadIdx.x; 32 * i < code->head_bits; i += HEAD_THREADS)
        put_bits(group.out, begin + 32 * i, code->head[i], 32);
    if (threadIdx.x)
        return;
    const unsigned end = code->codes[END];
    put_bits(group.out, begin + code->bits - (end >> 16), end & 0xffff, end >> 16);
    if (!stripe.last) /* the end of an empty stored block: 00 00 ff ff */
        put_bits(group.out, 8 * (chunk.at + CHUNK_HEAD + chunk.size - 2), 0xffff, 16);
}

cudaError_t gf_png_place_load(void)
{
    struct cudaFuncAttributes attributes;
    const cudaError_t status = cudaFuncGetAttributes(&attributes, place_kernel);
    return status == cudaSuccess ? cudaFuncGetAttributes(&attributes, head_kernel) : status;
}

cudaError_t gf_png_place_launch(const struct png_group *group, cudaStream_t stream)
{
    place_kernel<<<1, PLACE_THREADS, 0, stream>>>(*group);
    return cudaGetLastError();
}

cudaError_t gf_png_head_launch(const struct png_group *group, unsigned first, unsigned count,
                               cudaStream_t stream)
{
    head_kernel<<<count, HEAD_THREADS, 0, stream>>>(*group, first);
    return cudaGetLastError();
}
