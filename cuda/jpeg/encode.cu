/* The kernel of the encoder: coefficients become bits, and bits the stuffed bytes of the scan. */
#include <cuda_runtime.h>

#include "cuda/jpeg/encode_group.cuh"
#include "cuda/jpeg/forward.cuh"

/* Codes coefficients as bits. A thread codes a block. */

/* A block has at most 1168 bits. The squares of its 64 coefficients add up to at most 2^20, like
 * the squares of its samples; with the standard codes the longest block under this limit has 63
 * coefficients of 8 bits, each 18 bits long with its code. Codes of a picture's own have up to 16
 * bits, so that these have 24 and the block 1539. The number of words is odd, so that threads that
 * write the same word of their blocks have no bank conflict. */
enum { BLOCK_WORDS = 37, OWN_BLOCK_WORDS = 49 };
enum { CODE_SHIFT = 5, LENGTH_MASK = 31 };

struct bit_writer {
    unsigned *words; /* the words of the block, in shared memory */
    unsigned next;
    unsigned above, bits; /* the bits written so far; the lowest `count` of these 64 bits are not
                           * stored in `words` yet */
    unsigned count;
};

/* Appends a code. A word that is not full is stored, too, and is stored again later. */
static __device__ __forceinline__ void put(struct bit_writer &writer, unsigned code,
                                           unsigned length)
{
    writer.above = __funnelshift_l(writer.bits, writer.above, length);
    writer.bits = writer.bits << length | code;
    writer.count += length;
    writer.words[writer.next] = __funnelshift_r(writer.bits, writer.above, writer.count);
    writer.next += writer.count / 32;
    writer.count %= 32;
}

static __device__ __forceinline__ void put_symbol(struct bit_writer &writer, const unsigned *codes,
                                                  int symbol)
{
    put(writer, codes[symbol] >> CODE_SHIFT, codes[symbol] & LENGTH_MASK);
}

/* Appends the code of a value's size and the bits of the value. A negative value has the bits of
 * value - 1. */
static __device__ __forceinline__ void put_value(struct bit_writer &writer, const unsigned *codes,
                                                 int run, int value)
{
    const int zeros = __clz(abs(value)); /* 32 - size */
    const unsigned entry = codes[run * 16 + zeros - 16];
    const unsigned bits = (unsigned)(value + (value >> 31)) & __funnelshift_rc(~0u, 0, zeros);
    put(writer, entry >> CODE_SHIFT | bits, entry & LENGTH_MASK);
}

/* Writes the bits of a block, from word `first` on, and returns their number. */
static __device__ __forceinline__ unsigned encode_block(const short *coefficients, int dc_before,
                                                        const unsigned *dc, const unsigned *ac,
                                                        unsigned *words, unsigned first)
{
    struct bit_writer writer = {words, first, 0, 0, 0};
    put_value(writer, dc, 0, coefficients[0] - dc_before);
    put_ac(writer, ac, coefficients);
    if (writer.count)
        words[writer.next] = writer.bits << (32 - writer.count);
    return (writer.next - first) * 32 + writer.count;
}

/* Adds `count` bits to a string of bits at `position`. The string has zeros there. */
static __device__ __forceinline__ void append_bits(const unsigned *bits, unsigned count,
                                                   unsigned position, unsigned *string)
{
    const unsigned shift = position % 32;
    unsigned *to = string + position / 32;
    unsigned above = 0; /* the previous word */
    for (unsigned i = 0; 32 * i < count; i++) {
        const unsigned word = bits[i];
        atomicOr(to++, __funnelshift_r(word, above, shift));
        above = word;
    }
    if (shift && (count - 1) % 32 + 1 + shift > 32)
        atomicOr(to, __funnelshift_r(0, above, shift));
}

/* The shared memory of a thread block, and sums over its threads. */

enum {
    CODE_WORDS = sizeof(struct code_tables) / sizeof(unsigned),
    STATE_WORDS = sizeof(struct chunk_state) / sizeof(uint64_t)
};

struct scan_memory {
    unsigned numbers[CHUNK_BLOCKS], totals[WARPS];
};

/* A block's bits fill at most BLOCK_WORDS_, the last of which has room for 16 more. */
template <int BLOCK_WORDS_> struct chunk_memory {
    static constexpr int WORDS = BLOCK_WORDS_;
    struct code_tables codes;
    union {
        unsigned char samples[CHUNK_BLOCKS / 2 * BLOCK_SAMPLES]; /* samples of downsampled chroma */
        alignas(16) unsigned bits[CHUNK_BLOCKS * WORDS];         /* the bits of each block */
        /* The chunk's bytes, with a zero after each byte 0xff. */
        unsigned char stuffed[CHUNK_BLOCKS * WORDS * 4];
    };
    union {
        alignas(16) short coefficients[CHUNK_BLOCKS * COEFFICIENTS_PITCH];
        unsigned string[CHUNK_BLOCKS * WORDS + 2]; /* the bits of the chunk */
    };
    struct scan_memory scan;
    uint64_t position, stuffed_before;
    unsigned tail_before;
};

/* Returns the sum of the numbers of all threads before this thread; *total is the sum over all
 * threads. All threads call this function. */
static __device__ __forceinline__ unsigned sum_threads(unsigned own, struct scan_memory &memory,
                                                       unsigned *total)
{
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const unsigned sum = warp_inclusive_sum(own);
    if (lane == WARP - 1)
        memory.totals[warp] = sum;
    __syncthreads();
    unsigned before = sum - own;
    *total = 0;
    for (int i = 0; i < WARPS; i++) {
        before += i < warp ? memory.totals[i] : 0;
        *total += memory.totals[i];
    }
    return before;
}

/* Codes the coefficients of a chunk as bits. */

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
template <class SHAPE, class MEMORY>
static __device__ __forceinline__ unsigned code_chunk(const struct chunk &chunk, MEMORY &memory)
{
    const int block = block_of_thread<SHAPE>(threadIdx.x);
    const int table = threadIdx.x >= SHAPE::CHUNK_LUMA;
    unsigned count = 0, total;
    if (block < chunk.mcus * SHAPE::BLOCKS)
        count = encode_block(memory.coefficients + block * COEFFICIENTS_PITCH,
                             dc_before<SHAPE>(chunk, memory.coefficients, block),
                             memory.codes.dc[table], memory.codes.ac[table], memory.bits,
                             block * MEMORY::WORDS);
    const unsigned position = sum_blocks(count, block, memory.scan, &total);
    if (threadIdx.x == 0)
        tell_own(&chunk.state->bits, chunk.number, total);
    for (unsigned i = threadIdx.x; i <= total / 32 + 1; i += ENCODE_THREADS)
        memory.string[i] = 0;
    __syncthreads();
    if (count)
        append_bits(memory.bits + block * MEMORY::WORDS, count, position, memory.string);
    return total;
}

/* Writes the bits of a chunk as bytes at their place in the scan. */

/* The words of the scan that end in the chunk. In the last chunk of a picture, ones fill the last
 * word. */
struct chunk_words {
    unsigned shift;   /* the number of bits of the first word that belong to the previous chunk */
    unsigned whole;   /* words */
    unsigned partial; /* the number of bits of an incomplete word, in the last chunk */
};

template <class MEMORY>
static __device__ __forceinline__ unsigned word_at(const MEMORY &memory,
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

/* Returns bit 7 set for each byte that is 0xff, among the first `bytes` bytes from the highest. */
static __device__ __forceinline__ unsigned flag_full(unsigned word, unsigned bytes)
{
    const unsigned flags = ((word & 0x7f7f7f7f) + 0x01010101) & word & 0x80808080;
    return bytes == 4 ? flags : flags & ~(~0u >> 8 * bytes);
}

template <class MEMORY>
static __device__ __forceinline__ unsigned
count_full(const MEMORY &memory, const struct chunk_words &words, unsigned first, unsigned end)
{
    unsigned count = 0;
    for (unsigned i = first; i < end; i++)
        count += __popc(flag_full(word_at(memory, words, i), bytes_at(words, i)));
    return count;
}

/* Writes words first to end - 1, and a zero after each byte 0xff. `to` may be shared memory. */
template <class MEMORY>
static __device__ __forceinline__ void stuff_words(const MEMORY &memory,
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

template <class MEMORY>
static __device__ __forceinline__ void tell_tail(const struct chunk &chunk, const MEMORY &memory,
                                                 unsigned bits)
{
    const unsigned end = bits / 32;
    tell(&chunk.state->tail,
         TOLD_SUM | __funnelshift_l(memory.string[end], memory.string[end - 1], bits % 32));
}

/* Finds the chunk's position in the picture's bits. A warp calls this function. */
template <class MEMORY>
static __device__ __forceinline__ void find_position(const struct chunk &chunk, unsigned bits,
                                                     MEMORY &memory)
{
    const uint64_t position = sum_before<STATE_WORDS>(&chunk.state->bits, chunk.number, bits);
    if (threadIdx.x % WARP)
        return;
    memory.position = position;
    memory.tail_before = chunk.number ? (unsigned)wait_for(&chunk.state[-1].tail) : 0;
}

/* Finds the number of bytes 0xff before the chunk. A warp calls this function. */
template <class MEMORY>
static __device__ __forceinline__ void find_stuffed(const struct chunk &chunk, unsigned own,
                                                    MEMORY &memory)
{
    if (threadIdx.x == 0)
        tell_own(&chunk.state->stuffing, chunk.number, own);
    const uint64_t sum = sum_before<STATE_WORDS>(&chunk.state->stuffing, chunk.number, own);
    if (threadIdx.x == 0)
        memory.stuffed_before = sum;
}

/* Copies bytes from shared to global memory. Both pointers are aligned; the first byte to copy is
 * `skipped` bytes after each pointer. */
static __device__ __forceinline__ void copy_bytes(const unsigned *from, unsigned skipped,
                                                  unsigned count, unsigned char *to)
{
    for (unsigned i = threadIdx.x; 4 * i < skipped + count; i += ENCODE_THREADS) {
        const unsigned word = from[i];
        if (4 * i >= skipped && 4 * i + 4 <= skipped + count) {
            ((unsigned *)to)[i] = word;
            continue;
        }
        for (unsigned j = 4 * i; j < 4 * i + 4; j++) {
            if (j >= skipped && j < skipped + count)
                to[j] = (unsigned char)(word >> 8 * (j % 4));
        }
    }
}

/* Writes the bytes. They are collected in shared memory, so that whole words are written. If shared
 * memory has no room for all zeros after 0xff, bytes are written one by one. */
template <class MEMORY>
static __device__ __forceinline__ void write_bytes(const struct chunk_words &words, unsigned first,
                                                   unsigned end, unsigned before, unsigned count,
                                                   unsigned char *to, MEMORY &memory)
{
    const unsigned skipped = (uintptr_t)to % 4, own = 4 * first + before;
    if (skipped + count > sizeof memory.stuffed) {
        stuff_words(memory, words, first, end, to + own);
        return;
    }
    stuff_words(memory, words, first, end, memory.stuffed + skipped + own);
    __syncthreads();
    copy_bytes((const unsigned *)memory.stuffed, skipped, count, to - skipped);
}

/* Writes the chunk, which has `bits` bits. All threads call this function; the last chunk sets the
 * scan's size. */
template <class MEMORY>
static __device__ __forceinline__ void write_chunk(const struct encode_picture &picture,
                                                   const struct chunk &chunk, unsigned bits,
                                                   MEMORY &memory, uint64_t *size)
{
    if (threadIdx.x == 0 && !chunk.last)
        tell_tail(chunk, memory, bits);
    if (threadIdx.x < WARP)
        find_position(chunk, bits, memory);
    __syncthreads();
    const unsigned shift = (unsigned)memory.position % 32, end_bit = shift + bits;
    const struct chunk_words words = {shift, end_bit / 32, chunk.last ? end_bit % 32 : 0};
    const unsigned count = words.whole + (words.partial > 0);
    /* The number is odd, so that threads have no bank conflicts. */
    const unsigned each = (count + ENCODE_THREADS - 1) / ENCODE_THREADS | 1;
    const unsigned first = min(threadIdx.x * each, count), end = min(first + each, count);
    unsigned stuffed;
    const unsigned before =
        sum_threads(count_full(memory, words, first, end), memory.scan, &stuffed);
    if (threadIdx.x < WARP)
        find_stuffed(chunk, stuffed, memory);
    __syncthreads();
    const uint64_t start = memory.position / 32 * 4 + memory.stuffed_before;
    const unsigned bytes = 4 * words.whole + (words.partial + 7) / 8 + stuffed;
    if (chunk.last && threadIdx.x == 0)
        *size = start + bytes;
    if (start + bytes <= picture.capacity)
        write_bytes(words, first, end, before, bytes, picture.scan + start, memory);
}

/* The kernel of the encoder. One launch turns pixels into the stuffed bytes of the scan. With a
 * picture's own codes, it begins with the coefficients that look.cu has made. */

template <class SHAPE, bool OWN>
__global__ void __launch_bounds__(ENCODE_THREADS) encode_kernel(const struct encode_group group)
{
    __shared__ __align__(16) struct chunk_memory<OWN ? OWN_BLOCK_WORDS : BLOCK_WORDS> memory;
    const int index = find_picture(group);
    const struct encode_picture picture = group.pictures[index];
    const struct chunk chunk = find_chunk<SHAPE>(group, picture);
    const unsigned *const codes = (const unsigned *)(OWN ? picture.own : &picture.tables->codes);
    for (int i = threadIdx.x; i < CODE_WORDS; i += ENCODE_THREADS)
        ((unsigned *)&memory.codes)[i] = codes[i];
    if (OWN)
        copy_chunk(picture.coefficients + (size_t)chunk.number * CHUNK_VECTORS,
                   (uint4 *)memory.coefficients);
    else
        forward_chunk<SHAPE>(picture, chunk, memory.samples, memory.coefficients);
    __syncthreads();
    if (!OWN && has_outside<SHAPE>(picture, chunk)) {
        clear_outside<SHAPE>(picture, chunk, memory.coefficients);
        __syncthreads();
    }
    if (!OWN && threadIdx.x == 0)
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
    return shapes[shape % SHAPES];
}

cudaError_t gf_jpeg_encode_load(void)
{
    struct cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, encode_kernel<shape_420, false>);
}

cudaError_t gf_jpeg_encode_launch(int shape, const struct encode_group *group, cudaStream_t stream)
{
    void (*const kernels[ALL_SHAPES])(struct encode_group) = {
        encode_kernel<shape_420, false>, encode_kernel<shape_422, false>,
        encode_kernel<shape_444, false>, encode_kernel<gray_shape, false>,
        encode_kernel<shape_420, true>,  encode_kernel<shape_422, true>,
        encode_kernel<shape_444, true>,  encode_kernel<gray_shape, true>};
    kernels[shape]<<<group->chunks, ENCODE_THREADS, 0, stream>>>(*group);
    return cudaGetLastError();
}
