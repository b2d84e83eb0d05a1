/* The kernel of the encoder: coefficients become bits, and bits the stuffed bytes of the scan. */
#include <cuda_runtime.h>

#include "cuda/common/scan.cuh"
#include "cuda/jpeg/encode_group.cuh"
#include "cuda/jpeg/forward.cuh"

/* Codes coefficients as bits. A thread codes a block. */

/* A block has at most 1168 bits. The squares of its 64 coefficients add up to at most 2^20, like
 * the squares of its samples; with the standard codes the longest block under this limit has 63
 * coefficients of 8 bits, each 18 bits long with its code. The number of words is odd, so that
 * threads that write the same word of their blocks have no bank conflict. */
enum { BLOCK_BITS = 1168, BLOCK_WORDS = 37 };
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

static __device__ __forceinline__ void put_entry(struct bit_writer &writer, unsigned entry)
{
    put(writer, entry >> CODE_SHIFT, entry & LENGTH_MASK);
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

/* Codes the coefficients after the first. The bits of `mask`, and then of `later`, say which
 * coefficients from `next` on are not zero. */
static __device__ __forceinline__ void put_ac(struct bit_writer &writer, const unsigned *codes,
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
            put_entry(writer, codes[ZERO_RUN]);
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
        put_entry(writer, codes[END_OF_BLOCK]);
}

/* Writes the bits of block `block` to its words and returns their number. */
static __device__ __forceinline__ unsigned encode_block(const short *coefficients, int dc_before,
                                                        const unsigned *dc, const unsigned *ac,
                                                        unsigned *words, int block)
{
    const unsigned first = block * BLOCK_WORDS;
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
    STATE_WORDS = sizeof(struct chunk_state) / sizeof(uint64_t),
    STRING_WORDS = CHUNK_BLOCKS * BLOCK_BITS / 32 + 2
};

struct scan_memory {
    unsigned numbers[CHUNK_BLOCKS], totals[WARPS];
};

struct chunk_memory {
    struct code_tables codes;
    union {
        unsigned char samples[CHUNK_BLOCKS / 2 * BLOCK_SAMPLES]; /* samples of downsampled chroma */
        alignas(16) unsigned bits[CHUNK_BLOCKS * BLOCK_WORDS];   /* the bits of each block */
        /* The chunk's bytes, with a zero after each byte 0xff. */
        unsigned char stuffed[CHUNK_BLOCKS * BLOCK_WORDS * 4];
    };
    union {
        alignas(16) short coefficients[CHUNK_BLOCKS * COEFFICIENTS_PITCH];
        unsigned string[STRING_WORDS]; /* the bits of the chunk */
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

/* Writes the bits of a chunk as bytes at their place in the scan. */

/* The words of the scan that end in the chunk. In the last chunk of a picture, ones fill the last
 * word. */
struct chunk_words {
    unsigned shift;   /* the number of bits of the first word that belong to the previous chunk */
    unsigned whole;   /* words */
    unsigned partial; /* the number of bits of an incomplete word, in the last chunk */
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

/* Returns bit 7 set for each byte that is 0xff, among the first `bytes` bytes from the highest. */
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

/* Writes words first to end - 1, and a zero after each byte 0xff. `to` may be shared memory. */
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

/* Finds the chunk's position in the picture's bits. A warp calls this function. */
static __device__ __forceinline__ void find_position(const struct chunk &chunk, unsigned bits,
                                                     struct chunk_memory &memory)
{
    const uint64_t position = sum_before<STATE_WORDS>(&chunk.state->bits, chunk.number, bits);
    if (threadIdx.x % WARP)
        return;
    memory.position = position;
    memory.tail_before = chunk.number ? (unsigned)wait_for(&chunk.state[-1].tail) : 0;
}

/* Finds the number of bytes 0xff before the chunk. A warp calls this function. */
static __device__ __forceinline__ void find_stuffed(const struct chunk &chunk, unsigned own,
                                                    struct chunk_memory &memory)
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
static __device__ __forceinline__ void write_bytes(const struct chunk_words &words, unsigned first,
                                                   unsigned end, unsigned before, unsigned count,
                                                   unsigned char *to, struct chunk_memory &memory)
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
static __device__ __forceinline__ void write_chunk(const struct encode_picture &picture,
                                                   const struct chunk &chunk, unsigned bits,
                                                   struct chunk_memory &memory, uint64_t *size)
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

/* The kernel of the encoder. One launch turns pixels into the stuffed bytes of the scan. */

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
