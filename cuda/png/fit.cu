/* Fits each stripe's codes to its counts and makes the block's head. A thread block processes a
 * stripe. */
#include "cuda/common/launch.cuh"
#include "cuda/png/encode_group.cuh"
#include "cuda/png/prefix_code.cuh"

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

/* Returns the number of symbols up to the last symbol that occurs, but at least `least`. */
static __device__ int used(const uint8_t *lengths, int symbols, int least)
{
    while (symbols > least && !lengths[symbols - 1])
        symbols--;
    return symbols;
}

/* Converts the code lengths to tokens. Only one thread calls this function. */
static __device__ void make_tokens(struct fit_room *room)
{
    room->literals = used(room->lengths, SYMBOLS, END + 1);
    room->distances = used(room->lengths + SYMBOLS, DISTANCES, 1);
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

/* Returns the number of extra bits after a symbol. */
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
    struct cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, fit_kernel);
}

cudaError_t gf_png_fit_launch(const struct png_group *group, cudaStream_t stream)
{
    for (int coding = RUNS; coding < CODINGS; coding++)
        fit_kernel<<<group->count, FIT_THREADS, 0, stream>>>(*group, coding);
    return cudaGetLastError();
}
