/* A chunk: its place in the picture, and its coefficients in shared memory. */
#pragma once

#include "cuda/common/scan.cuh"
#include "cuda/jpeg/encode_group.cuh"

/* Finds the chunk of a thread block and the chunk's place in the picture. */

enum { WARPS = ENCODE_THREADS / WARP };

struct chunk {
    int first_mcu, mcus, x, y; /* x, y: the position of the first MCU, in MCUs */
    unsigned number;           /* the number of the chunk in the picture */
    bool last;
    struct chunk_state *state;
};

/* Returns the last picture that begins at the thread block's chunk or before it. Each lane tests
 * one picture. */
static __device__ __forceinline__ int find_picture(const struct encode_group &group)
{
    int begun = 0;
    for (int i = 0; i < group.count; i += WARP) {
        const int lane = i + (int)(threadIdx.x % WARP);
        const bool has = lane < group.count &&
                         group.pictures[lane].first_chunk <= group.first_chunk + blockIdx.x;
        begun += __popc(__ballot_sync(~0u, has));
    }
    return begun - 1;
}

template <class SHAPE>
static __device__ __forceinline__ struct chunk find_chunk(const struct encode_group &group,
                                                          const struct encode_picture &picture)
{
    struct chunk chunk;
    chunk.number = group.first_chunk + blockIdx.x - picture.first_chunk;
    chunk.first_mcu = chunk.number * SHAPE::CHUNK_MCUS;
    chunk.mcus = min(SHAPE::CHUNK_MCUS, picture.mcus - chunk.first_mcu);
    chunk.last = chunk.first_mcu + chunk.mcus == picture.mcus;
    chunk.y = (unsigned)chunk.first_mcu / (unsigned)picture.mcus_across;
    chunk.x = chunk.first_mcu - chunk.y * picture.mcus_across;
    chunk.state = group.states + blockIdx.x;
    return chunk;
}

/* Returns the position of the chunk's MCU i, in MCUs. */
static __device__ __forceinline__ int2 mcu_place(const struct encode_picture &picture,
                                                 const struct chunk &chunk, int i)
{
    const unsigned x = chunk.x + i, across = picture.mcus_across;
    if (x < across)
        return make_int2(x, chunk.y);
    const unsigned rows = x / across;
    return make_int2(x - rows * across, chunk.y + rows);
}

/* Sets bit 15 of each half that is not zero. */
static __device__ __forceinline__ unsigned flag_halves(unsigned halves)
{
    return (((halves & 0x7fff7fff) + 0x7fff7fff) | halves) & 0x80008000;
}

/* Returns a bit for each of 32 coefficients, set if the coefficient is not zero. The highest bit
 * stands for the first coefficient. */
static __device__ __forceinline__ unsigned nonzero_mask(const short *coefficients)
{
    unsigned mask = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint4 eight = ((const uint4 *)coefficients)[i];
        const unsigned first = __byte_perm(flag_halves(eight.x), flag_halves(eight.y), 0x7531),
                       second = __byte_perm(flag_halves(eight.z), flag_halves(eight.w), 0x7531);
        const unsigned bits = __dp4a(first, 0x10204080u, __dp4a(second, 0x01020408u, 0u));
        mask |= bits >> 7 << (24 - 8 * i);
    }
    return mask;
}

/* Passes the coefficients after the first, as symbols of the table `codes`, to a writer's
 * put_symbol() and put_value(). The bits of `mask`, and then of `later`, say which coefficients
 * from `next` on are not zero. */
template <class WRITER, class CODE>
static __device__ __forceinline__ void put_ac(WRITER &writer, CODE *codes,
                                              const short *coefficients)
{
    unsigned mask = nonzero_mask(coefficients) << 1, later = nonzero_mask(coefficients + 32);
    mask |= later >> 31;
    later <<= 1;
    int next = 1;
    while (mask | later) {
        int run;
#pragma unroll 1
        while ((run = __clz(mask)) > 15) {
            put_symbol(writer, codes, ZERO_RUN);
            mask = __funnelshift_l(later, mask, 16);
            later <<= 16;
            next += 16;
        }
        put_value(writer, codes, run, coefficients[next + run]);
        mask = __funnelshift_l(later, mask, run + 1);
        later <<= run + 1;
        next += run + 1;
    }
    if (next != 64)
        put_symbol(writer, codes, END_OF_BLOCK);
}

/* Clears a luma block to the right of or below the picture's blocks: the block gets the DC value
 * `dc` of the block before it and no AC coefficients. */
static __device__ void clear_block(short *block, short dc)
{
    for (int i = 0; i < BLOCK_SAMPLES / 8; i++)
        ((uint4 *)block)[i] = make_uint4(0, 0, 0, 0);
    block[0] = dc;
}

/* Whether a luma block of an MCU is to the right of or below the picture's blocks. */
template <class SHAPE>
static __device__ __forceinline__ bool is_outside(const struct encode_picture &picture, int2 place,
                                                  int block)
{
    return 8 * (place.x * SHAPE::H + block % SHAPE::H) >= picture.width ||
           8 * (place.y * SHAPE::V + block / SHAPE::H) >= picture.height;
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
        short *const block = coefficients + (mcu * SHAPE::BLOCKS + i) * COEFFICIENTS_PITCH;
        if (is_outside<SHAPE>(picture, place, i))
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

/* Copies a chunk's coefficients between shared and device memory, without what is between blocks.
 */
static __device__ __forceinline__ void copy_chunk(const uint4 *from, uint4 *to)
{
    enum { BLOCK_VECTORS = BLOCK_SAMPLES * sizeof(short) / sizeof(uint4) };
    for (int i = threadIdx.x; i < CHUNK_BLOCKS * BLOCK_VECTORS; i += ENCODE_THREADS) {
        const int at = i / BLOCK_VECTORS * (CHUNK_VECTORS / CHUNK_BLOCKS) + i % BLOCK_VECTORS;
        to[at] = from[at];
    }
}
