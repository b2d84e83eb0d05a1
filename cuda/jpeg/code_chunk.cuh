/* Codes the coefficients of a chunk as bits. */
#pragma once

#include "cuda/jpeg/chunk.cuh"
#include "cuda/jpeg/chunk_memory.cuh"
#include "cuda/jpeg/encode_entropy.cuh"
#include "cuda/common/look_back.cuh"

/* Clears a luma block to the right of or below the picture's blocks: the block gets the DC value
 * `dc` of the block before it and no AC coefficients. */
static __device__ void clear_block(short *block, short dc)
{
    for (int i = 0; i < BLOCK_SAMPLES / 8; i++)
        ((uint4 *)block)[i] = make_uint4(0, 0, 0, 0);
    block[0] = dc;
}

template <class SHAPE>
static __device__ void clear_outside(const struct encode_picture &picture,
                                     const struct chunk &chunk, short *coefficients)
{
    const int mcu = threadIdx.x;
    if (mcu >= chunk.mcus)
        return;
    const int2 place = mcu_place(picture, chunk, mcu);
    for (int i = 1; i < SHAPE::LUMA; i++) {
        const int x = place.x * SHAPE::H + i % SHAPE::H, y = place.y * SHAPE::V + i / SHAPE::H;
        short *const block = coefficients + (mcu * SHAPE::BLOCKS + i) * COEFFICIENTS_PITCH;
        if (8 * x >= picture.width || 8 * y >= picture.height)
            clear_block(block, block[-COEFFICIENTS_PITCH]);
    }
}

/* Whether MCUs of the chunk have luma blocks outside of the picture. */
template <class SHAPE>
static __device__ __forceinline__ bool has_outside(const struct encode_picture &picture,
                                                   const struct chunk &chunk)
{
    const bool below = chunk.first_mcu + chunk.mcus > picture.mcus - picture.mcus_across;
    return (SHAPE::H == 2 && (unsigned)(picture.width - 1) % 16 < 8) ||
           (SHAPE::V == 2 && (unsigned)(picture.height - 1) % 16 < 8 && below);
}

static __device__ __forceinline__ unsigned dc_of(const short *coefficients, int block, int part)
{
    return (unsigned)(unsigned short)coefficients[block * COEFFICIENTS_PITCH] << part % 2 * 16;
}

/* Publishes the chunk's last DC values. The next chunk waits for them. */
template <class SHAPE>
static __device__ __forceinline__ void tell_dc(const struct chunk &chunk, const short *coefficients)
{
    const int mcu = (chunk.mcus - 1) * SHAPE::BLOCKS;
    unsigned low = dc_of(coefficients, mcu + SHAPE::LUMA - 1, 0), high = 1u << 16;
    if (SHAPE::COMPONENTS == 3) {
        low |= dc_of(coefficients, mcu + SHAPE::LUMA, 1);
        high |= dc_of(coefficients, mcu + SHAPE::LUMA + 1, 0);
    }
    tell(&chunk.state->dc, (uint64_t)high << 32 | low);
}

/* Returns the DC value that is subtracted from the DC value of a block. */
template <class SHAPE>
static __device__ __forceinline__ int dc_before(const struct chunk &chunk,
                                                const short *coefficients, int block)
{
    const int k = block % SHAPE::BLOCKS;
    const bool is_luma = k < SHAPE::LUMA;
    const int back = !is_luma ? SHAPE::BLOCKS : k ? 1 : SHAPE::BLOCKS - SHAPE::LUMA + 1;
    if (block >= back)
        return coefficients[(block - back) * COEFFICIENTS_PITCH];
    if (!chunk.number)
        return 0;
    const int component = is_luma ? 0 : k - SHAPE::LUMA + 1;
    return (short)(wait_for(&chunk.state[-1].dc) >> 16 * component);
}

/* Returns the block that a thread codes. Luma blocks come first: chroma has fewer bits, so that
 * warps with blocks of one kind wait less for their longest block. */
template <class SHAPE> static __device__ __forceinline__ int block_of_thread(int thread)
{
    if (SHAPE::COMPONENTS == 1)
        return thread;
    if (thread < SHAPE::CHUNK_LUMA)
        return thread / SHAPE::LUMA * SHAPE::BLOCKS + thread % SHAPE::LUMA;
    const int chroma = thread - SHAPE::CHUNK_LUMA;
    return chroma / 2 * SHAPE::BLOCKS + SHAPE::LUMA + chroma % 2;
}

/* Returns the sum of the numbers of the blocks before this block; *total is the sum over all
 * blocks. */
static __device__ __forceinline__ unsigned sum_blocks(unsigned own, int block,
                                                      struct scan_memory &memory, unsigned *total)
{
    const int thread = threadIdx.x;
    if (block < CHUNK_BLOCKS)
        memory.numbers[block] = own;
    __syncthreads();
    const unsigned before =
        sum_threads(thread < CHUNK_BLOCKS ? memory.numbers[thread] : 0, memory, total);
    if (thread < CHUNK_BLOCKS)
        memory.numbers[thread] = before;
    __syncthreads();
    return block < CHUNK_BLOCKS ? memory.numbers[block] : 0;
}

/* Codes the blocks and joins their bits to one string. Returns the number of bits. */
template <class SHAPE>
static __device__ __forceinline__ unsigned code_chunk(const struct chunk &chunk,
                                                      struct chunk_memory &memory)
{
    const int block = block_of_thread<SHAPE>(threadIdx.x);
    const int table = threadIdx.x >= SHAPE::CHUNK_LUMA;
    unsigned count = 0, total;
    if (block < chunk.mcus * SHAPE::BLOCKS)
        count = encode_block(memory.coefficients + block * COEFFICIENTS_PITCH,
                             dc_before<SHAPE>(chunk, memory.coefficients, block),
                             memory.codes.dc[table], memory.codes.ac[table], memory.bits, block);
    const unsigned position = sum_blocks(count, block, memory.scan, &total);
    if (threadIdx.x == 0)
        tell_own(&chunk.state->bits, chunk.number, total);
    for (unsigned i = threadIdx.x; i <= total / 32 + 1; i += ENCODE_THREADS)
        memory.string[i] = 0;
    __syncthreads();
    if (count)
        append_bits(memory.bits + block * BLOCK_WORDS, count, position, memory.string);
    return total;
}
