/* The codes of each stripe, and the head of its block. */
#include <stdint.h>

#include "codec/png/deflate/code_lengths.h"
#include "cuda/png/encode_group.cuh"

/* Huffman codes with a limited length, which a thread block makes: the lengths and codes of
 * src/codec/png/deflate/deflate_code.c. */

enum { FIT_THREADS = 288, LEAVES_MOST = FIT_THREADS, LENGTH_MOST = 15, JUMPS = 9 };

/* Shared memory. The nodes are the sorted leaves, followed by the inner nodes. */
struct code_room {
    unsigned frequency[2 * LEAVES_MOST];
    uint16_t parent[2 * LEAVES_MOST], depth[2 * LEAVES_MOST];
    uint16_t symbol[LEAVES_MOST]; /* symbol of each leaf */
    int of_length[LENGTH_MOST + 1];
};

/* Joins the two rarest nodes until one is left. Only one thread calls this function. A leaf
 * precedes an inner node with the same frequency. */
static __device__ void join(struct code_room *room, int leaves)
{
    int leaf = 0, inner = leaves;
    for (int count = leaves; count < 2 * leaves - 1; count++) {
        unsigned sum = 0;
        for (int child = 0; child < 2; child++) {
            const bool take = leaf < leaves &&
                              (inner == count || room->frequency[leaf] <= room->frequency[inner]);
            const int rarest = take ? leaf++ : inner++;
            room->parent[rarest] = (uint16_t)count;
            sum += room->frequency[rarest];
        }
        room->frequency[count] = sum;
    }
}

/* Computes each node's depth by pointer doubling: each node has a node above it and the distance
 * from that node. */
static __device__ void find_depths(struct code_room *room, int nodes)
{
    for (int i = threadIdx.x; i < nodes; i += FIT_THREADS) {
        room->depth[i] = i < nodes - 1;
        if (i == nodes - 1)
            room->parent[i] = (uint16_t)i;
    }
    __syncthreads();
    for (int jump = 0; jump < JUMPS; jump++) {
        unsigned depth[2], parent[2];
        for (int n = 0; n < 2; n++) {
            const int i = threadIdx.x + n * FIT_THREADS;
            const int above = i < nodes ? room->parent[i] : 0;
            depth[n] = i < nodes ? room->depth[i] + room->depth[above] : 0;
            parent[n] = room->parent[above];
        }
        __syncthreads();
        for (int n = 0; n < 2; n++) {
            const int i = threadIdx.x + n * FIT_THREADS;
            if (i < nodes) {
                room->depth[i] = (uint16_t)depth[n];
                room->parent[i] = (uint16_t)parent[n];
            }
        }
        __syncthreads();
    }
}

/* Computes gf_huffman_lengths(). All threads call this function, with `symbols` frequencies and
 * lengths in shared memory. */
static __device__ void find_lengths(struct code_room *room, const unsigned *frequency, int symbols,
                                    int longest, uint8_t *lengths)
{
    const int own = threadIdx.x;
    const unsigned often = own < symbols ? frequency[own] : 0;
    int rank = 0;
    for (int i = 0; often && i < symbols; i++) {
        const unsigned other = frequency[i];
        rank += other && (other < often || (other == often && i < own));
    }
    if (own <= LENGTH_MOST)
        room->of_length[own] = 0;
    if (own < symbols)
        lengths[own] = 0;
    if (often) {
        room->frequency[rank] = often;
        room->symbol[rank] = (uint16_t)own;
    }
    const int leaves = __syncthreads_count(often != 0);
    if (own == 0)
        join(room, leaves);
    __syncthreads();
    find_depths(room, 2 * leaves - 1);
    if (own < leaves)
        atomicAdd(room->of_length + (room->depth[own] < longest ? room->depth[own] : longest), 1);
    __syncthreads();
    if (own == 0)
        gf_huffman_bound(room->of_length, longest);
    __syncthreads();
    int length = longest;
    for (int end = 0; length >= 1 && own >= (end += room->of_length[length]);)
        length--;
    if (own < leaves)
        lengths[room->symbol[own]] = (uint8_t)length;
    __syncthreads();
}

/* Computes gf_huffman_codes() for the thread's own symbol: the first bit of the code is the
 * lowest. */
static __device__ unsigned code_of(const uint8_t *lengths, int symbols)
{
    const int own = threadIdx.x, length = own < symbols ? lengths[own] : 0;
    unsigned code = 0;
    for (int i = 0; length && i < symbols; i++) {
        const int other = lengths[i];
        code += other && other < length ? 1u << (length - other) : other == length && i < own;
    }
    return length ? __brev(code) >> (32 - length) : 0;
}

/* Fits each stripe's codes to its counts and makes the block's head. A thread block processes a
 * stripe. */

enum {
    CODE_BITS = 14,
    LENGTH_SYMBOLS = 19, /* symbols of the code for code lengths */
    LENGTH_BITS = 7,
    REPEAT = 16, /* symbol: repeats the last code length 3 to 6 times */
    FEW_ZEROS = 17,
    MANY_ZEROS = 18
};

__constant__ static const uint8_t length_order[LENGTH_SYMBOLS] = {
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};

/* A symbol of the code for the code lengths, and its extra bits. */
struct token {
    uint8_t symbol, extra, rest;
};

struct fit_room {
    struct code_room codes;
    unsigned frequency[CODES]; /* the frequencies of literals and lengths, then of distances */
    uint8_t lengths[CODES];    /* the code lengths in the same order */
    uint8_t sequence[CODES];   /* code lengths in the order in which they are written */
    struct token token[CODES];
    int literals, distances, tokens;
    unsigned length_frequency[LENGTH_SYMBOLS];
    uint8_t length_lengths[LENGTH_SYMBOLS];
    uint16_t length_codes[LENGTH_SYMBOLS];
    unsigned head[HEAD_WORDS];
    unsigned long long bits;
};

static __device__ void add_token(struct fit_room *room, int symbol, int extra, int rest)
{
    room->token[room->tokens++] = {(uint8_t)symbol, (uint8_t)extra, (uint8_t)rest};
    room->length_frequency[symbol]++;
}

/* Adds the tokens for `run` equal code lengths. */
static __device__ void add_run(struct fit_room *room, int length, int run)
{
    if (length) {
        add_token(room, length, 0, 0);
        run--;
    }
    for (int part; length && run >= 3; run -= part) {
        part = run < 6 ? run : 6;
        add_token(room, REPEAT, 2, part - 3);
    }
    for (int part; !length && run >= 11; run -= part) {
        part = run < 138 ? run : 138;
        add_token(room, MANY_ZEROS, 7, part - 11);
    }
    if (!length && run >= 3) {
        add_token(room, FEW_ZEROS, 3, run - 3);
        run = 0;
    }
    while (run-- > 0)
        add_token(room, length, 0, 0);
}

/* Converts the code lengths to tokens. Only one thread calls this function. */
static __device__ void make_tokens(struct fit_room *room)
{
    room->literals = gf_huffman_used(room->lengths, SYMBOLS, END + 1);
    room->distances = gf_huffman_used(room->lengths + SYMBOLS, DISTANCES, 1);
    room->tokens = 0;
    for (int i = 0; i < LENGTH_SYMBOLS; i++)
        room->length_frequency[i] = 0;
    const int count = room->literals + room->distances;
    int run = 0, last = -1;
    for (int i = 0; i < count; i++) {
        const int length = room->lengths[i < room->literals ? i : i - room->literals + SYMBOLS];
        if (length != last && run)
            add_run(room, last, run);
        run = length == last ? run + 1 : 1;
        last = length;
    }
    add_run(room, last, run);
}

/* The bits that one thread writes. */
struct head_bits {
    uint64_t held;
    unsigned count, words;
};

static __device__ __forceinline__ void put(struct fit_room *room, struct head_bits *bits,
                                           unsigned value, unsigned count)
{
    bits->held |= (uint64_t)value << bits->count;
    bits->count += count;
    if (bits->count < 32)
        return;
    room->head[bits->words++] = (unsigned)bits->held;
    bits->held >>= 32;
    bits->count -= 32;
}

/* Makes the head of the block and returns its number of bits. */
static __device__ unsigned make_head(struct fit_room *room, bool last)
{
    struct head_bits bits = {};
    put(room, &bits, last, 1);
    put(room, &bits, 2, 2);
    put(room, &bits, (unsigned)room->literals - END - 1, 5);
    put(room, &bits, (unsigned)room->distances - 1, 5);
    put(room, &bits, LENGTH_SYMBOLS - 4, 4);
    for (int i = 0; i < LENGTH_SYMBOLS; i++)
        put(room, &bits, room->length_lengths[length_order[i]], 3);
    for (int i = 0; i < room->tokens; i++) {
        const struct token token = room->token[i];
        put(room, &bits, room->length_codes[token.symbol], room->length_lengths[token.symbol]);
        put(room, &bits, token.rest, token.extra);
    }
    room->head[bits.words] = (unsigned)bits.held;
    return 32 * bits.words + bits.count;
}

static __device__ __forceinline__ unsigned extra_bits(int symbol)
{
    if (symbol < FIRST_LENGTH + 4 || symbol == SYMBOLS - 1)
        return 0;
    if (symbol < SYMBOLS)
        return (symbol - FIRST_LENGTH) / 4 - 1;
    return symbol < SYMBOLS + 2 ? 0 : (symbol - SYMBOLS) / 2 - 1;
}

/* Adds the bits of the block after its head. */
static __device__ void add_bits(struct fit_room *room, const unsigned *counts)
{
    for (int i = threadIdx.x; i < CODES; i += FIT_THREADS) {
        const unsigned count = i == END ? 1 : counts[i];
        if (count)
            atomicAdd(&room->bits, (unsigned long long)count * (room->lengths[i] + extra_bits(i)));
    }
}

static __device__ void find_all_lengths(struct fit_room *room, const unsigned *counts, int coding)
{
    for (int i = threadIdx.x; i < CODES; i += FIT_THREADS) {
        const bool added = i == END || (coding == REPEATS && i >= SYMBOLS && i < SYMBOLS + 2);
        room->frequency[i] = counts[i] + added;
    }
    __syncthreads();
    find_lengths(&room->codes, room->frequency, SYMBOLS, CODE_BITS, room->lengths);
    if (coding == REPEATS) {
        find_lengths(&room->codes, room->frequency + SYMBOLS, DISTANCES, CODE_BITS,
                     room->lengths + SYMBOLS);
    } else if (threadIdx.x < DISTANCES) {
        room->lengths[SYMBOLS + threadIdx.x] = threadIdx.x == 0;
    }
    __syncthreads();
}

static __device__ void write_codes(const struct fit_room *room, struct png_code *code)
{
    const unsigned i = threadIdx.x, literal = code_of(room->lengths, SYMBOLS),
                   distance = code_of(room->lengths + SYMBOLS, DISTANCES);
    if (i < SYMBOLS)
        code->codes[i] = literal | (unsigned)room->lengths[i] << 16;
    if (i < DISTANCES)
        code->codes[SYMBOLS + i] = distance | (unsigned)room->lengths[SYMBOLS + i] << 16;
}

static __global__ void __launch_bounds__(FIT_THREADS)
    fit_kernel(const struct png_group group, int coding)
{
    __shared__ struct fit_room room;
    const unsigned index = blockIdx.x;
    const unsigned *const counts = group.counts[index].counts[coding];
    struct png_code *const code = group.codes[coding] + index;
    if (coding == REPEATS && !group.counts[index].drawing)
        return;
    if (threadIdx.x == 0)
        room.bits = 0;
    find_all_lengths(&room, counts, coding);
    write_codes(&room, code);
    add_bits(&room, counts);
    if (threadIdx.x == 0)
        make_tokens(&room);
    __syncthreads();
    find_lengths(&room.codes, room.length_frequency, LENGTH_SYMBOLS, LENGTH_BITS,
                 room.length_lengths);
    const unsigned own = code_of(room.length_lengths, LENGTH_SYMBOLS);
    if (threadIdx.x < LENGTH_SYMBOLS)
        room.length_codes[threadIdx.x] = (uint16_t)own;
    __syncthreads();
    if (threadIdx.x == 0) {
        code->head_bits = make_head(&room, group.stripes[index].last);
        code->bits = room.bits + code->head_bits;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; 32 * i < code->head_bits; i += FIT_THREADS)
        code->head[i] = room.head[i];
}

cudaError_t gf_png_fit_load(void)
{
    return load_all(fit_kernel);
}

cudaError_t gf_png_fit_launch(const struct png_group *group, cudaStream_t stream)
{
    for (int coding = RUNS; coding < CODINGS; coding++)
        fit_kernel<<<group->count, FIT_THREADS, 0, stream>>>(*group, coding);
    return cudaGetLastError();
}
