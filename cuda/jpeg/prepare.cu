/* Prepares the scans for decoding. */
#include "cuda/common/scan.cuh"
#include "cuda/jpeg/decode.cuh"

/* Removes the stuffed zeros and the restart markers from the scans: counts what each tile keeps,
 * sums the counts of the tiles before it, and then moves the bytes. */

enum { PIECE = 16, UNSTUFF_THREADS = UNSTUFF_TILE / PIECE, SCAN_THREADS = 1024 };
enum { MARKER = 0xff, RST0 = 0xd0, EOI = 0xd9 };
static constexpr unsigned STOPS = 1u << 31; /* a flag in a tile's number of markers: the scan ends
                                             * in the tile */

/* A bit for each byte of a piece: kept bytes, markers RSTn, and the first bytes of other
 * markers. */
struct kinds {
    unsigned kept, restarts, stops;
};

/* Returns a bit for each byte of the word, set if all bits of the byte are set. */
static __device__ __forceinline__ unsigned set_bytes(unsigned word)
{
    return (word & 0x01010101u) * 0x01020408u >> 24 & 15;
}

/* Loads the piece at `at`. Bytes after the last byte of the scan are replaced by zeros, since that
 * memory is undefined. */
static __device__ __forceinline__ void load_piece(const unsigned char *raw, unsigned at,
                                                  unsigned bytes, unsigned words[4])
{
    if (at + PIECE <= bytes) {
        unpack(*(const uint4 *)(raw + at), words);
        return;
    }
    words[0] = words[1] = words[2] = words[3] = 0;
#pragma unroll
    for (unsigned i = 0; i < PIECE; i++)
        words[i / 4] |= at + i < bytes ? (unsigned)raw[at + i] << 8 * (i % 4) : 0;
}

static __device__ __forceinline__ struct kinds sort_bytes(const unsigned char *raw,
                                                          unsigned skipped, unsigned at,
                                                          unsigned bytes, unsigned words[4])
{
    unsigned full = 0, zero = 0, restart = 0;
    load_piece(raw, at, bytes, words);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        full |= set_bytes(__vcmpeq4(words[i], 0xffffffffu)) << 4 * i;
        zero |= set_bytes(__vcmpeq4(words[i], 0)) << 4 * i;
        restart |= set_bytes(__vcmpeq4(words[i] & 0xf8f8f8f8u, 0xd0d0d0d0u)) << 4 * i;
    }
    const unsigned before = at ? raw[at - 1] : 0; /* `skipped` is less than a piece */
    const unsigned after = at + PIECE < bytes ? raw[at + PIECE] : MARKER;
    const unsigned left = bytes - at < PIECE ? bytes - at : PIECE;
    const unsigned there = ((1u << left) - 1) & ~(at ? 0 : (1u << skipped) - 1);
    full &= there;
    /* Bit PIECE stands for the byte after the piece. A marker is assumed after the last byte. */
    const unsigned zeros = (zero & there) | (left == PIECE && !after) << PIECE;
    const unsigned restarts = (restart & there) | (left == PIECE && (after & 0xf8) == RST0)
                                                      << PIECE;
    const unsigned second = full << 1 | (before == MARKER);
    struct kinds kinds;
    kinds.restarts = full & restarts >> 1;
    kinds.stops = full & ~((zeros | restarts) >> 1);
    kinds.kept = there & ~(second & (zeros | restarts)) & ~(kinds.restarts | kinds.stops);
    return kinds;
}

/* Removes everything after the first marker that is no restart marker. `first` is a word of shared
 * memory. */
static __device__ __forceinline__ bool cut_at_stop(struct kinds *kinds, unsigned *first)
{
    if (!threadIdx.x)
        *first = UNSTUFF_TILE;
    __syncthreads();
    if (kinds->stops)
        atomicMin(first, threadIdx.x * PIECE + __ffs(kinds->stops) - 1);
    __syncthreads();
    const int left = (int)*first - (int)threadIdx.x * PIECE;
    const unsigned mask = left <= 0 ? 0 : left >= PIECE ? 0xffffu : (1u << left) - 1;
    kinds->kept &= mask;
    kinds->restarts &= mask;
    return *first < UNSTUFF_TILE;
}

static __global__ void __launch_bounds__(UNSTUFF_THREADS)
    unstuff_count_kernel(const struct jpeg_group group)
{
    __shared__ unsigned first, warps[WARP];
    const struct jpeg_stream *const stream = &group.streams[group.tile_picture[blockIdx.x]];
    const unsigned at = (blockIdx.x - stream->first_tile) * UNSTUFF_TILE + threadIdx.x * PIECE;
    struct kinds kinds = {0, 0, 0};
    unsigned words[4], total;
    if (at < stream->raw_bytes)
        kinds = sort_bytes(group.raw + stream->raw, stream->skipped, at, stream->raw_bytes, words);
    const bool stops = cut_at_stop(&kinds, &first);
    (void)block_exclusive_sum<UNSTUFF_THREADS>(
        (unsigned)__popc(kinds.kept) | (unsigned)__popc(kinds.restarts) << 16, warps, &total);
    if (!threadIdx.x)
        group.tile[blockIdx.x] = make_uint2(total & 0xffff, total >> 16 | (stops ? STOPS : 0));
}

/* A thread block handles one picture. */
static __global__ void __launch_bounds__(SCAN_THREADS)
    unstuff_scan_kernel(const struct jpeg_group group)
{
    __shared__ unsigned long long warps[WARP];
    __shared__ unsigned stop;
    const struct jpeg_stream *const stream = &group.streams[blockIdx.x];
    uint2 *const tile = group.tile + stream->first_tile;
    if (stream->scans)
        return;
    if (!threadIdx.x)
        stop = stream->tiles;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < stream->tiles; i += SCAN_THREADS) {
        if (tile[i].y & STOPS)
            atomicMin(&stop, i);
    }
    __syncthreads();
    unsigned long long sum = 0, total;
    const unsigned counted = stop < stream->tiles ? stop + 1 : stop;
    for (unsigned begin = 0; begin < counted; begin += SCAN_THREADS) {
        const unsigned i = begin + threadIdx.x;
        unsigned long long value = 0;
        if (i < counted)
            value = tile[i].x | (unsigned long long)(tile[i].y & ~STOPS) << 32;
        const unsigned long long before =
            sum + block_exclusive_sum<SCAN_THREADS>(value, warps, &total);
        if (i < counted)
            tile[i] = make_uint2((unsigned)before, (unsigned)(before >> 32));
        sum += total;
    }
    const unsigned bytes = (unsigned)sum, restarts = (unsigned)(sum >> 32);
    if (threadIdx.x < SLACK_WORDS)
        group.words[stream->words + bytes / 4 + threadIdx.x] = 0;
    if (threadIdx.x)
        return;
    group.found[blockIdx.x].stop_tile = stop;
    group.found[blockIdx.x].bytes = bytes;
    group.interval_byte[stream->first_interval] = 0;
    group.interval_byte[stream->first_interval + stream->intervals] = bytes;
    if (stop == stream->tiles || restarts + 1 != stream->intervals)
        atomicOr(&group.flags[blockIdx.x], JPEG_BAD_MARKER);
}

/* Checks that the numbers of the markers go from RST0 to RST7 repeatedly, and notes the intervals
 * that begin after the markers. */
static __device__ __forceinline__ bool place_restarts(const struct jpeg_stream *stream,
                                                      const unsigned char *piece,
                                                      struct kinds kinds, unsigned byte,
                                                      unsigned marker, unsigned *interval_byte)
{
    bool right = true;
    for (unsigned left = kinds.restarts; left; left &= left - 1, marker++) {
        const int i = __ffs(left) - 1;
        right = right && piece[i + 1] == RST0 + marker % 8;
        if (marker + 1 < stream->intervals)
            interval_byte[marker + 1] = byte + __popc(kinds.kept & ((1u << i) - 1));
    }
    return right;
}

static __global__ void __launch_bounds__(UNSTUFF_THREADS)
    unstuff_move_kernel(const struct jpeg_group group)
{
    __shared__ unsigned first, warps[WARP];
    __shared__ uint32_t moved[UNSTUFF_TILE / 4 + 1];
    const unsigned picture = group.tile_picture[blockIdx.x];
    const struct jpeg_stream *const stream = &group.streams[picture];
    const unsigned tile = blockIdx.x - stream->first_tile;
    if (tile > group.found[picture].stop_tile)
        return;
    const unsigned char *const raw = group.raw + stream->raw;
    const unsigned at = tile * UNSTUFF_TILE + threadIdx.x * PIECE;
    struct kinds kinds = {0, 0, 0};
    unsigned words[4], total;
    if (at < stream->raw_bytes)
        kinds = sort_bytes(raw, stream->skipped, at, stream->raw_bytes, words);
    const bool stops = cut_at_stop(&kinds, &first);
    const unsigned before = block_exclusive_sum<UNSTUFF_THREADS>(
        (unsigned)__popc(kinds.kept) | (unsigned)__popc(kinds.restarts) << 16, warps, &total);
    const uint2 start = group.tile[blockIdx.x];
    if (!place_restarts(stream, raw + at, kinds, start.x + (before & 0xffff),
                        start.y + (before >> 16), group.interval_byte + stream->first_interval))
        atomicOr(&group.flags[picture], JPEG_BAD_MARKER);
    if (!threadIdx.x && stops) {
        const unsigned end = tile * UNSTUFF_TILE + first + 1;
        if (end >= stream->raw_bytes || raw[end] != EOI)
            atomicOr(&group.flags[picture], JPEG_BAD_MARKER);
        group.ends[picture] = end + 1;
    }
    /* Bytes are collected in shared memory, at the offsets within words that they have in the
     * stream. */
    unsigned char *const gathered = (unsigned char *)moved;
    const unsigned odd = start.x & 3;
    unsigned to = odd + (before & 0xffff);
#pragma unroll
    for (int i = 0; i < PIECE; i++) {
        if (kinds.kept >> i & 1)
            gathered[to++ ^ 3] = (unsigned char)(words[i / 4] >> 8 * (i % 4));
    }
    __syncthreads();
    const unsigned end = odd + (total & 0xffff);
    uint32_t *const out = group.words + stream->words + start.x / 4;
    for (unsigned i = threadIdx.x; i * 4 < end; i += UNSTUFF_THREADS) {
        if (i * 4 >= odd && i * 4 + 4 <= end) {
            out[i] = moved[i];
        } else { /* another tile stores into the same word */
            for (unsigned k = max(i * 4, odd); k < min(i * 4 + 4, end); k++)
                ((unsigned char *)out)[k ^ 3] = gathered[k ^ 3];
        }
    }
}

cudaError_t gf_jpeg_unstuff(const struct jpeg_group *group, cudaStream_t stream)
{
    unstuff_count_kernel<<<group->tiles, UNSTUFF_THREADS, 0, stream>>>(*group);
    unstuff_scan_kernel<<<group->count, SCAN_THREADS, 0, stream>>>(*group);
    return launch_kernel(unstuff_move_kernel, group->tiles, UNSTUFF_THREADS, 0, stream, *group);
}

/* Computes the tables of the Huffman codes, and the table of the restart intervals. */

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
    if (group.streams[picture].scans) {
        if (!threadIdx.x)
            group.found[picture].subsequences = 0;
        return;
    }
    if (!group.streams[picture].shares_tables)
        make_tables(group.streams[picture].codes, &group.tables[group.streams[picture].tables]);
    if (!__syncthreads_or(!threadIdx.x && group.flags[picture]))
        count_subsequences(&group, picture);
}

cudaError_t gf_jpeg_prepare(const struct jpeg_group *group, cudaStream_t stream)
{
    return launch_kernel(prepare_kernel, group->count, PREPARE_THREADS, 0, stream, *group);
}
