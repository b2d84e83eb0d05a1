/* The cells of a stripe, and the symbols that each cell writes: its literals, or the match that
 * begins in it. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/png/encode_group.cuh"

struct cells {
    const uint64_t *data;
    const unsigned *found, *breaks;
    const uint16_t *distances; /* NULL: all distances are 1 */
    unsigned size, whole;      /* number of bytes; number of whole cells */
};

static __device__ __forceinline__ struct cells cells_at(const struct png_group &group,
                                                        const struct png_stripe &stripe, int coding)
{
    return {(const uint64_t *)group.filtered + stripe.cells,
            group.found[coding] + stripe.cells / 32,
            group.breaks[coding] + stripe.cells / 32,
            coding == REPEATS ? group.distances + stripe.cells : NULL,
            stripe.size,
            stripe.size / CELL};
}

/* Returns the eight bytes from `at` on, which may belong to two cells. */
static __device__ __forceinline__ uint64_t bytes_from(const uint64_t *data, unsigned at)
{
    const uint64_t low = data[at / CELL];
    const unsigned shift = at % CELL * 8;
    return shift ? low >> shift | data[at / CELL + 1] << (64 - shift) : low;
}

static __device__ __forceinline__ bool repeats(const uint64_t *data, unsigned cell,
                                               unsigned distance)
{
    return distance && distance <= CELL * cell &&
           data[cell] == bytes_from(data, CELL * cell - distance);
}

/* Returns the distance of cell k; 0 for cell `whole`, which has none. */
static __device__ __forceinline__ unsigned distance_at(const struct cells &cells, unsigned k)
{
    if (!(cells.found[k / 32] >> k % 32 & 1))
        return 0;
    return cells.distances ? cells.distances[k] : 1;
}

/* Returns the number of the cell's first bytes that equal the bytes `distance` before them. */
static __device__ __forceinline__ int equal_first(const struct cells &cells, unsigned k,
                                                  unsigned distance)
{
    const int most = cells.size - CELL * k < CELL ? cells.size - CELL * k : CELL;
    const uint64_t differ = cells.data[k] ^ bytes_from(cells.data, CELL * k - distance);
    const int equal = differ ? (__ffsll((long long)differ) - 1) / 8 : CELL;
    return equal < most ? equal : most;
}

/* Returns the number of a whole cell's last bytes that equal the bytes `distance` before them.
 * Bytes before the stripe count as different. */
static __device__ __forceinline__ int equal_last(const struct cells &cells, unsigned k,
                                                 unsigned distance)
{
    if (CELL * k >= distance) {
        const uint64_t differ = cells.data[k] ^ bytes_from(cells.data, CELL * k - distance);
        return differ ? __clzll((long long)differ) / 8 : CELL;
    }
    const unsigned char *const bytes = (const unsigned char *)cells.data;
    unsigned at = CELL * (k + 1);
    while (at > distance && at > CELL * k && bytes[at - 1] == bytes[at - 1 - distance])
        at--;
    return CELL * (k + 1) - at;
}

/* The symbols that a cell writes: its literals from .. end - 1, or the match that begins at the
 * cell (or in the last bytes of the cell before), or nothing. */
struct written {
    int from, end;
    unsigned length, distance; /* length 0: no match */
};

/* Returns the literals of a cell without a distance. */
static __device__ __forceinline__ struct written literals_of(const struct cells &cells, unsigned k)
{
    const unsigned before = k ? distance_at(cells, k - 1) : 0;
    const unsigned behind = k + 1 < cells.whole ? distance_at(cells, k + 1) : 0;
    struct written written = {};
    written.end = cells.size - CELL * k < CELL ? cells.size - CELL * k : CELL;
    if (before)
        written.from = equal_first(cells, k, before);
    if (behind) {
        const int last = equal_last(cells, k, behind);
        written.end = CELL - last > written.from ? CELL - last : written.from;
    }
    return written;
}

/* Returns the first cell after k that has another distance. Cell `whole` always has another
 * distance. */
static __device__ __forceinline__ unsigned end_of_match(const struct cells &cells, unsigned k)
{
    unsigned word = (k + 1) / 32, bits = cells.breaks[word] & ~0u << (k + 1) % 32;
    while (!bits)
        bits = cells.breaks[++word];
    return word * 32 + __ffs(bits) - 1;
}

static __device__ __forceinline__ struct written match_of(const struct cells &cells, unsigned k,
                                                          unsigned distance)
{
    struct written written = {};
    if (!(cells.breaks[k / 32] >> k % 32 & 1))
        return written; /* the match began earlier */
    const unsigned end = end_of_match(cells, k);
    written.distance = distance;
    written.length = CELL * (end - k);
    if (k && !distance_at(cells, k - 1))
        written.length += CELL - literals_of(cells, k - 1).end;
    if (CELL * end < cells.size && !distance_at(cells, end))
        written.length += equal_first(cells, end, distance);
    return written;
}

static __device__ __forceinline__ struct written written_by(const struct cells &cells, unsigned k)
{
    const unsigned distance = distance_at(cells, k);
    return distance ? match_of(cells, k, distance) : literals_of(cells, k);
}

/* The parts of a match: `whole` parts of 258 bytes each, then two shorter parts, each of which may
 * have 0 bytes. */
struct parts {
    unsigned whole, last[2];
};

static __device__ __forceinline__ struct parts parts_of(unsigned length)
{
    const unsigned whole = length / LONGEST, rest = length % LONGEST;
    if (rest == 0 || rest >= SHORTEST || whole == 0)
        return {whole, {rest, 0}};
    return {whole - 1, {LONGEST - SHORTEST, SHORTEST + rest}};
}

/* A symbol and the extra bits after it. */
struct symbol {
    unsigned symbol, extra, rest;
};

/* Returns the symbol of a length or distance. There are four symbols (share 2) or two (share 1) for
 * each power of two. */
static __device__ __forceinline__ struct symbol symbol_of(unsigned over, int share)
{
    if (over < 2u << share)
        return {over, 0, 0};
    const unsigned extra = 31 - __clz((int)over) - share;
    return {(extra << share) + (over >> extra), extra, over & ((1u << extra) - 1)};
}

static __device__ __forceinline__ struct symbol length_symbol(unsigned length)
{
    if (length == LONGEST)
        return {SYMBOLS - 1, 0, 0};
    struct symbol symbol = symbol_of(length - SHORTEST, 2);
    symbol.symbol += FIRST_LENGTH;
    return symbol;
}

static __device__ __forceinline__ struct symbol distance_symbol(unsigned distance)
{
    return symbol_of(distance - 1, 1);
}
