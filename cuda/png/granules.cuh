/* The granules of a stripe, and the symbols that each granule writes: its literals, or the match
 * that begins in it. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/png/encode_group.cuh"

struct granules {
    const uint64_t *data;
    const unsigned *found, *breaks;
    const uint16_t *distances; /* NULL: all distances are 1 */
    unsigned size, whole;      /* number of bytes; number of whole granules */
};

static __device__ __forceinline__ struct granules
granules_at(const struct png_group &group, const struct png_stripe &stripe, int coding)
{
    return {(const uint64_t *)group.filtered + stripe.granules,
            group.found[coding] + stripe.granules / 32,
            group.breaks[coding] + stripe.granules / 32,
            coding == REPEATS ? group.distances + stripe.granules : NULL,
            stripe.size,
            stripe.size / GRANULE};
}

/* Returns the eight bytes from `at` on, which may belong to two granules. */
static __device__ __forceinline__ uint64_t bytes_from(const uint64_t *data, unsigned at)
{
    const uint64_t low = data[at / GRANULE];
    const unsigned shift = at % GRANULE * 8;
    return shift ? low >> shift | data[at / GRANULE + 1] << (64 - shift) : low;
}

static __device__ __forceinline__ bool repeats(const uint64_t *data, unsigned granule,
                                               unsigned distance)
{
    return distance && distance <= GRANULE * granule &&
           data[granule] == bytes_from(data, GRANULE * granule - distance);
}

/* Returns the distance of granule k; 0 for granule `whole`, which has none. */
static __device__ __forceinline__ unsigned distance_at(const struct granules &granules, unsigned k)
{
    if (!(granules.found[k / 32] >> k % 32 & 1))
        return 0;
    return granules.distances ? granules.distances[k] : 1;
}

/* Returns the number of the granule's first bytes that equal the bytes `distance` before them. */
static __device__ __forceinline__ int equal_first(const struct granules &granules, unsigned k,
                                                  unsigned distance)
{
    const int most = granules.size - GRANULE * k < GRANULE ? granules.size - GRANULE * k : GRANULE;
    const uint64_t differ = granules.data[k] ^ bytes_from(granules.data, GRANULE * k - distance);
    const int equal = differ ? (__ffsll((long long)differ) - 1) / 8 : GRANULE;
    return equal < most ? equal : most;
}

/* Returns the number of a whole granule's last bytes that equal the bytes `distance` before them.
 * Bytes before the stripe count as different. */
static __device__ __forceinline__ int equal_last(const struct granules &granules, unsigned k,
                                                 unsigned distance)
{
    if (GRANULE * k >= distance) {
        const uint64_t differ =
            granules.data[k] ^ bytes_from(granules.data, GRANULE * k - distance);
        return differ ? __clzll((long long)differ) / 8 : GRANULE;
    }
    const unsigned char *const bytes = (const unsigned char *)granules.data;
    unsigned at = GRANULE * (k + 1);
    while (at > distance && at > GRANULE * k && bytes[at - 1] == bytes[at - 1 - distance])
        at--;
    return GRANULE * (k + 1) - at;
}

/* The symbols that a granule writes: its literals from .. end - 1, or the match that begins at the
 * granule (or in the last bytes of the granule before), or nothing. */
struct written {
    int from, end;
    unsigned length, distance; /* length 0: no match */
};

/* Returns the literals of a granule without a distance. */
static __device__ __forceinline__ struct written literals_of(const struct granules &granules,
                                                             unsigned k)
{
    const unsigned before = k ? distance_at(granules, k - 1) : 0;
    const unsigned behind = k + 1 < granules.whole ? distance_at(granules, k + 1) : 0;
    struct written written = {};
    written.end = granules.size - GRANULE * k < GRANULE ? granules.size - GRANULE * k : GRANULE;
    if (before)
        written.from = equal_first(granules, k, before);
    if (behind) {
        const int last = equal_last(granules, k, behind);
        written.end = GRANULE - last > written.from ? GRANULE - last : written.from;
    }
    return written;
}

/* Returns the first granule after k that has another distance. Granule `whole` always has another
 * distance. */
static __device__ __forceinline__ unsigned end_of_match(const struct granules &granules, unsigned k)
{
    unsigned word = (k + 1) / 32, bits = granules.breaks[word] & ~0u << (k + 1) % 32;
    while (!bits)
        bits = granules.breaks[++word];
    return word * 32 + __ffs(bits) - 1;
}

static __device__ __forceinline__ struct written match_of(const struct granules &granules,
                                                          unsigned k, unsigned distance)
{
    struct written written = {};
    if (!(granules.breaks[k / 32] >> k % 32 & 1))
        return written; /* the match began earlier */
    const unsigned end = end_of_match(granules, k);
    written.distance = distance;
    written.length = GRANULE * (end - k);
    if (k && !distance_at(granules, k - 1))
        written.length += GRANULE - literals_of(granules, k - 1).end;
    if (GRANULE * end < granules.size && !distance_at(granules, end))
        written.length += equal_first(granules, end, distance);
    return written;
}

static __device__ __forceinline__ struct written written_by(const struct granules &granules,
                                                            unsigned k)
{
    const unsigned distance = distance_at(granules, k);
    return distance ? match_of(granules, k, distance) : literals_of(granules, k);
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
