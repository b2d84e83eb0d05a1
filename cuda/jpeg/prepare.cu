/* Computes the tables of the Huffman codes, and the table of the restart intervals. */
#include "cuda/jpeg/entropy.cuh"
#include "cuda/common/scan.cuh"

enum { PREPARE_THREADS = 1024, AC_BITS_MOST = 10, ZEROS_16 = 0xf0, CODE_MOST = 16 };
enum { SEVERAL_MOST = 31 }; /* the most bits of an entry with several symbols */

/* A symbol: the bits of its code, the bits of its value, and by how many coefficients it
 * advances. */
struct symbol {
    unsigned code, value, advance;
};

/* Finds the symbol whose code begins these 16 bits and has at most `most` bits. A symbol without
 * bits means that there is none. */
static __device__ struct symbol find(const struct jpeg_codes *codes, bool is_ac, unsigned bits,
                                     int most)
{
    for (int length = 1; length <= most; length++) {
        const int code = (int)(bits >> (CODE_MOST - length));
        if (code > codes->most[length])
            continue;
        const unsigned symbol = codes->symbols[(code + codes->first[length]) & 255];
        const unsigned value = symbol & 15, zeros = symbol >> 4;
        if (!is_ac)
            return {(unsigned)length, symbol, 1};
        if (symbol == 0)
            return {(unsigned)length, 0, BLOCK_SIZE};
        if (symbol != ZEROS_16 && (!value || value > AC_BITS_MOST))
            return {CODE_MOST, 0, ADVANCE_BAD};
        return {(unsigned)length, value, zeros + 1};
    }
    return {0, 0, 0};
}

static __device__ uint16_t pack_one(struct symbol symbol)
{
    if (!symbol.code)
        symbol = {CODE_MOST, 0, ADVANCE_BAD};
    return (uint16_t)((symbol.code + symbol.value) | symbol.value << 5 | symbol.advance << 9);
}

static __device__ uint32_t pack_walk(unsigned bits, unsigned advance)
{
    return bits | (advance < BLOCK_SIZE ? advance : BLOCK_SIZE) << WALK_INDEX;
}

/* Adds the symbols of the block that begin in the `look` bits after the first symbol. */
static __device__ uint32_t pack_several(const struct jpeg_codes *ac, unsigned look,
                                        struct symbol symbol)
{
    unsigned bits = symbol.code + symbol.value, advance = symbol.advance;
    while (advance <= WALK_AHEAD && bits < LOOK_BITS) {
        const unsigned left = (look << bits & (LOOKS - 1)) << (CODE_MOST - LOOK_BITS);
        const struct symbol next = find(ac, true, left, LOOK_BITS - (int)bits);
        if (!next.code || next.advance == ADVANCE_BAD ||
            bits + next.code + next.value > SEVERAL_MOST)
            break;
        bits += next.code + next.value;
        advance = next.advance == BLOCK_SIZE ? BLOCK_SIZE : advance + next.advance;
    }
    return pack_walk(bits, advance);
}

/* Computes the entries for the same LOOK_BITS bits in the DC table or the AC table. */
static __device__ void make_entries(const struct jpeg_codes *codes, struct jpeg_tables *tables,
                                    int table, unsigned look)
{
    const struct jpeg_codes *const own = &codes[table];
    const bool is_ac = table & 1;
    uint32_t *const walk = tables->walk + table / 2 * WALK_PAIR + look;
    struct symbol symbol = find(own, is_ac, look << (CODE_MOST - LOOK_BITS), LOOK_BITS);
    const unsigned beyond = look - own->beyond_first;
    uint32_t single, several;
    if (!symbol.code && beyond < own->beyond_more) {
        tables->one[table][look] = (uint16_t)((own->beyond + beyond) << 5);
        single = several = (own->beyond + beyond) << 5;
    } else {
        tables->one[table][look] = pack_one(symbol);
        if (!symbol.code)
            symbol = {CODE_MOST, 0, ADVANCE_BAD};
        single = pack_walk(symbol.code + symbol.value, symbol.advance);
        several = pack_several(&codes[table | 1], look, symbol);
    }
    walk[is_ac ? WALK_SEVERAL : 0] = several;
    if (is_ac)
        walk[WALK_ONE] = single;
}

static __device__ void make_tables(const struct jpeg_codes *codes, struct jpeg_tables *tables)
{
    for (int table = 0; table < TABLES; table++) {
        const struct jpeg_codes *const own = &codes[table];
        for (unsigned look = threadIdx.x; look < LOOKS; look += PREPARE_THREADS)
            make_entries(codes, tables, table, look);
        for (unsigned i = threadIdx.x; i < own->beyond_more * BEYOND; i += PREPARE_THREADS)
            tables->beyond[own->beyond * BEYOND + i] =
                pack_one(find(own, table & 1, own->beyond_first * BEYOND + i, CODE_MOST));
    }
}

/* Counts the subsequences of each interval. An interval without bits is damaged, since it has
 * blocks. */
static __device__ void count_subsequences(const struct jpeg_group *group, int picture)
{
    __shared__ unsigned warps[WARP];
    const struct jpeg_stream *const stream = &group->streams[picture];
    const unsigned *const byte = group->interval_byte + stream->first_interval;
    unsigned *const subsequence = group->interval_subsequence + stream->first_interval;
    unsigned sum = 0, total;
    for (unsigned begin = 0; begin < stream->intervals; begin += PREPARE_THREADS) {
        const unsigned i = begin + threadIdx.x;
        unsigned count = 0;
        if (i < stream->intervals) {
            const unsigned bytes = byte[i + 1] - byte[i];
            count = (unsigned)((bytes * 8ull + stream->subsequence_bits - 1) /
                               stream->subsequence_bits);
            if (!bytes)
                atomicOr(&group->flags[picture], JPEG_BAD_LENGTH);
        }
        const unsigned before = sum + block_exclusive_sum<PREPARE_THREADS>(count, warps, &total);
        if (i < stream->intervals)
            subsequence[i] = before;
        sum += total;
    }
    if (!threadIdx.x) {
        subsequence[stream->intervals] = sum;
        group->found[picture].subsequences = sum;
    }
}

/* A thread block prepares one picture. */
static __global__ void __launch_bounds__(PREPARE_THREADS)
    prepare_kernel(const struct jpeg_group group)
{
    const int picture = blockIdx.x;
    make_tables(group.streams[picture].codes, &group.tables[picture]);
    if (!__syncthreads_or(!threadIdx.x && group.flags[picture]))
        count_subsequences(&group, picture);
}

cudaError_t gf_jpeg_prepare(const struct jpeg_group *group, cudaStream_t stream)
{
    prepare_kernel<<<group->count, PREPARE_THREADS, 0, stream>>>(*group);
    return cudaGetLastError();
}
