/* The encoder's kernel: from pixels to the stuffed bytes of the scan in one launch. */
#include <cuda_runtime.h>

#include "cuda/jpeg/encode_group.cuh"
#include "cuda/jpeg/entropy.cuh"
#include "cuda/jpeg/forward.cuh"
#include "cuda/jpeg/look_back.cuh"

enum {
    CODE_WORDS = sizeof(struct code_tables) / sizeof(unsigned),
    STATE_WORDS = sizeof(struct chunk_state) / sizeof(uint64_t),
    WARPS = ENCODE_THREADS / WARP,
    CODING_WARPS = (CHUNK_BLOCKS + WARP - 1) / WARP,
    TELLING_WARP = WARPS - 1,
    STRING_WORDS = CHUNK_BLOCKS * BLOCK_WORDS + 1
};
static_assert(CODING_WARPS < WARPS, "the telling warp codes no blocks");

struct chunk_memory {
    struct code_tables codes;
    unsigned bits[CHUNK_BLOCKS * BLOCK_WORDS]; /* of the blocks */
    union {
        struct {
            unsigned char samples[CHUNK_BLOCKS * BLOCK_SAMPLES]; /* of downsampled chroma */
            short coefficients[CHUNK_BLOCKS * COEFFICIENTS_PITCH];
        };
        unsigned string[STRING_WORDS]; /* the bits of the chunk */
    };
    unsigned totals[WARPS];
    uint64_t position, stuffed_before;
    unsigned tail_before;
};

/* A luma block beside or below the picture's blocks has no AC and the DC of the block before. */
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

/* Whether MCUs of the picture have luma blocks outside of it. */
template <class SHAPE> static __device__ __forceinline__ bool has_outside(int width, int height)
{
    return (SHAPE::H == 2 && (unsigned)(width - 1) % 16 < 8) ||
           (SHAPE::V == 2 && (unsigned)(height - 1) % 16 < 8);
}

static __device__ __forceinline__ unsigned dc_of(const short *coefficients, int block, int part)
{
    return (unsigned)(unsigned short)coefficients[block * COEFFICIENTS_PITCH] << part % 2 * 16;
}

/* The last DC values, which the next chunk waits for. */
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

/* The DC value that the one of a block is coded against. */
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

/* The sum of the threads' numbers before this one, and of all in *total. All threads call it. */
static __device__ __forceinline__ unsigned scan_threads(unsigned own, unsigned *totals,
                                                        unsigned *total)
{
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    unsigned sum = own;
    for (int i = 1; i < WARP; i *= 2) {
        const unsigned other = __shfl_up_sync(~0u, sum, i);
        sum += lane >= i ? other : 0;
    }
    if (lane == WARP - 1)
        totals[warp] = sum;
    __syncthreads();
    unsigned before = sum - own;
    *total = 0;
    for (int i = 0; i < WARPS; i++) {
        before += i < warp ? totals[i] : 0;
        *total += totals[i];
    }
    return before;
}

/* Codes the blocks and joins their bits to one string; returns their number. */
template <class SHAPE>
static __device__ __forceinline__ unsigned code_chunk(const struct chunk &chunk,
                                                      struct chunk_memory &memory)
{
    const int block = threadIdx.x;
    const int table = block % SHAPE::BLOCKS >= SHAPE::LUMA;
    unsigned *const bits = memory.bits + block * BLOCK_WORDS;
    unsigned count = 0, total;
    if (block < chunk.mcus * SHAPE::BLOCKS)
        count = encode_block(memory.coefficients + block * COEFFICIENTS_PITCH,
                             dc_before<SHAPE>(chunk, memory.coefficients, block),
                             memory.codes.dc[table], memory.codes.ac[table], bits);
    const unsigned position = scan_threads(count, memory.totals, &total);
    for (unsigned i = threadIdx.x; i <= total / 32 + 1; i += ENCODE_THREADS)
        memory.string[i] = 0;
    __syncthreads();
    if (count)
        append_bits(bits, count, position, memory.string);
    return total;
}

/* The words of the scan that end in the chunk; the last chunk pads the last one with ones. */
struct chunk_words {
    unsigned shift;   /* bits of the first word that belong to the chunk before */
    unsigned whole;   /* words */
    unsigned partial; /* bits of one more word, of the last chunk */
};

static __device__ __forceinline__ unsigned word_at(const struct chunk_memory &memory,
                                                   const struct chunk_words &words, unsigned i)
{
    const unsigned above = i ? memory.string[i - 1] : memory.tail_before;
    const unsigned word = __funnelshift_r(memory.string[i], above, words.shift);
    return i < words.whole ? word : word | ~0u >> words.partial;
}

static __device__ __forceinline__ unsigned bytes_at(const struct chunk_words &words, unsigned i)
{
    return i < words.whole ? 4 : (words.partial + 7) / 8;
}

/* Bit 7 of each byte that is 0xff, among the first `bytes` from the highest. */
static __device__ __forceinline__ unsigned flag_full(unsigned word, unsigned bytes)
{
    const unsigned flags = ((word & 0x7f7f7f7f) + 0x01010101) & word & 0x80808080;
    return bytes == 4 ? flags : flags & ~(~0u >> 8 * bytes);
}

static __device__ __forceinline__ unsigned count_full(const struct chunk_memory &memory,
                                                      const struct chunk_words &words,
                                                      unsigned first, unsigned end)
{
    unsigned count = 0;
    for (unsigned i = first; i < end; i++)
        count += __popc(flag_full(word_at(memory, words, i), bytes_at(words, i)));
    return count;
}

/* Writes words first to end - 1, and a zero behind each byte 0xff. */
static __device__ __forceinline__ void stuff_words(const struct chunk_memory &memory,
                                                   const struct chunk_words &words, unsigned first,
                                                   unsigned end, unsigned char *to)
{
    for (unsigned i = first; i < end; i++) {
        const unsigned word = word_at(memory, words, i), bytes = bytes_at(words, i);
#pragma unroll
        for (unsigned j = 0; j < 4; j++) {
            const unsigned char byte = (unsigned char)(word >> (24 - 8 * j));
            if (j < bytes)
                *to++ = byte;
            if (j < bytes && byte == 0xff)
                *to++ = 0;
        }
    }
}

static __device__ __forceinline__ void tell_tail(const struct chunk &chunk,
                                                 const struct chunk_memory &memory, unsigned bits)
{
    const unsigned end = bits / 32;
    tell(&chunk.state->tail,
         TOLD_SUM | __funnelshift_l(memory.string[end], memory.string[end - 1], bits % 32));
}

/* Finds the chunk's place in the picture's bits. */
static __device__ __forceinline__ void find_position(const struct chunk &chunk, unsigned bits,
                                                     struct chunk_memory &memory)
{
    const uint64_t position = sum_before<STATE_WORDS>(&chunk.state->bits, chunk.number, bits);
    if (threadIdx.x % WARP)
        return;
    memory.position = position;
    memory.tail_before = chunk.number ? (unsigned)wait_for(&chunk.state[-1].tail) : 0;
}

/* Writes the chunk's bytes to their place in the scan. */
static __device__ __forceinline__ void write_chunk(const struct encode_group &group,
                                                   const struct encode_picture &picture,
                                                   const struct chunk &chunk, unsigned bits,
                                                   struct chunk_memory &memory)
{
    const unsigned shift = (unsigned)memory.position % 32, end_bit = shift + bits;
    const struct chunk_words words = {shift, end_bit / 32, chunk.last ? end_bit % 32 : 0};
    const unsigned count = words.whole + (words.partial > 0);
    const unsigned each = (count + ENCODE_THREADS - 1) / ENCODE_THREADS;
    const unsigned first = min(threadIdx.x * each, count), end = min(first + each, count);
    unsigned stuffed, before;
    before = scan_threads(count_full(memory, words, first, end), memory.totals, &stuffed);
    if (threadIdx.x / WARP == TELLING_WARP) {
        const uint64_t sum = sum_before<STATE_WORDS>(&chunk.state->stuffing, chunk.number, stuffed);
        if (threadIdx.x % WARP == 0)
            memory.stuffed_before = sum;
    }
    __syncthreads();
    const uint64_t start = memory.position / 32 * 4 + memory.stuffed_before,
                   size = start + 4 * words.whole + (words.partial + 7) / 8 + stuffed;
    if (size <= picture.capacity)
        stuff_words(memory, words, first, end, picture.scan + start + 4 * first + before);
    if (chunk.last && threadIdx.x == 0)
        group.sizes[picture.index] = size;
}

template <class SHAPE>
__global__ void __launch_bounds__(ENCODE_THREADS) encode_kernel(const struct encode_group group)
{
    __shared__ __align__(16) struct chunk_memory memory;
    const struct encode_picture picture = find_picture(group);
    const struct chunk chunk = find_chunk<SHAPE>(group, picture);
    const unsigned *const codes = (const unsigned *)&picture.tables->codes;
    for (int i = threadIdx.x; i < CODE_WORDS; i += ENCODE_THREADS)
        ((unsigned *)&memory.codes)[i] = codes[i];
    forward_chunk<SHAPE>(picture, chunk, memory.samples, memory.coefficients);
    __syncthreads();
    if (has_outside<SHAPE>(picture.width, picture.height)) {
        clear_outside<SHAPE>(picture, chunk, memory.coefficients);
        __syncthreads();
    }
    if (threadIdx.x == ENCODE_THREADS - 1)
        tell_dc<SHAPE>(chunk, memory.coefficients);
    const unsigned bits = code_chunk<SHAPE>(chunk, memory);
    __syncthreads();
    if (threadIdx.x == 0 && !chunk.last)
        tell_tail(chunk, memory, bits);
    if (threadIdx.x / WARP == TELLING_WARP)
        find_position(chunk, bits, memory);
    __syncthreads();
    write_chunk(group, picture, chunk, bits, memory);
}

/* ---- shapes ---- */

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

cudaError_t gf_jpeg_encode_launch(int shape, const struct encode_group *group, cudaStream_t stream)
{
    void (*const kernels[SHAPES])(struct encode_group) = {
        encode_kernel<shape_420>, encode_kernel<shape_422>, encode_kernel<shape_444>,
        encode_kernel<gray_shape>};
    kernels[shape]<<<group->chunks, ENCODE_THREADS, 0, stream>>>(*group);
    return cudaGetLastError();
}
