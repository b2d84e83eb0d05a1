#include "codec/png/deflate/deflate.h"

#include "base/bytes.h"
#include "base/cpu.h"

enum {
    WINDOW = 32768,
    ROUND = 256, /* bytes; a granule can repeat only bytes of earlier rounds */
    ROUND_GRANULES = ROUND / GF_DEFLATE_GRANULE,
    SAMPLE = 8, /* number of rounds in a sample, which shows whether a search in all rounds
                 * pays */
    HASH_BITS = 13
};

static inline uint32_t hash(const uint8_t *at)
{
    return (uint32_t)(gf_load64(at) * 0x9E3779B185EBCA87u >> (64 - HASH_BITS));
}

/* Counts the bytes before `at`, going backwards, that equal the bytes `distance` before them.
 * Returns at most `most`. */
static size_t equal_before(const uint8_t *data, size_t at, size_t distance, size_t most)
{
    size_t count = 0;
    if (at >= distance + sizeof(uint64_t)) {
        const uint64_t differ = gf_load64(data + at - 8) ^ gf_load64(data + at - 8 - distance);
        count = differ ? (size_t)__builtin_clzll(differ) / 8 : 8;
        return count < most ? count : most;
    }
    while (count < most && at > distance + count &&
           data[at - 1 - count] == data[at - 1 - count - distance])
        count++;
    return count;
}

/* Counts the bytes from `at` on, up to the end of the piece, that equal the bytes `distance` before
 * them. */
static size_t equal_behind(const struct gf_deflate_piece *piece, size_t at, size_t distance)
{
    const uint8_t *const data = piece->data;
    size_t count = 0;
    if (piece->size - at >= sizeof(uint64_t)) {
        const uint64_t differ = gf_load64(data + at) ^ gf_load64(data + at - distance);
        return differ ? (size_t)__builtin_ctzll(differ) / 8 : 8;
    }
    while (at + count < piece->size && data[at + count] == data[at + count - distance])
        count++;
    return count;
}

/* Adds the match of granules first .. end - 1, which have one distance. The match is extended into
 * the granule before and the granule after, if these have no distance. */
static void add_match(struct gf_deflate_piece *piece, size_t first, size_t end, size_t distance,
                      bool free_before, bool free_behind)
{
    const struct gf_deflate_match *const last = piece->match + piece->matches - 1;
    size_t start = GF_DEFLATE_GRANULE * first, behind = GF_DEFLATE_GRANULE * end;
    if (free_before) {
        const size_t from = piece->matches ? (size_t)last->start + last->length : 0;
        const size_t most = start - from < GF_DEFLATE_GRANULE ? start - from : GF_DEFLATE_GRANULE;
        start -= equal_before(piece->data, start, distance, most);
    }
    if (free_behind)
        behind += equal_behind(piece, behind, distance);
    struct gf_deflate_match *const match = piece->match + piece->matches++;
    match->start = (uint32_t)start;
    match->length = (uint32_t)(behind - start);
    match->distance = (uint32_t)distance;
}

/* Whether each byte of a granule equals the byte before it. */
static inline bool is_run(const uint8_t *data, size_t granule)
{
    const uint8_t *const at = data + GF_DEFLATE_GRANULE * granule;
    return gf_load64(at) == gf_load64(at - 1);
}

/* Finds the first run among granules first .. count - 1. `first` may be count + 1. The function is
 * fast if there are few runs, as in photographs. */
GF_TARGET_CLONES static size_t next_run(const uint8_t *data, size_t first, size_t count)
{
    enum { GRANULES = 16 };
    for (; first + GRANULES <= count; first += GRANULES) {
        uint64_t runs = 0;
        for (size_t k = first; k < first + GRANULES; k++)
            runs |= is_run(data, k);
        if (runs)
            break;
    }
    while (first < count && !is_run(data, first))
        first++;
    return first;
}

/* Finds the matches with the distance 1 (runs of equal bytes). Returns the number of granules in
 * them. */
static size_t deflate_find_runs(struct gf_deflate_piece *piece)
{
    const size_t count = piece->size / GF_DEFLATE_GRANULE;
    size_t runs = 0;
    piece->matches = 0;
    if (!count)
        return 0;
    for (size_t k = 1; (k = next_run(piece->data, k, count)) < count; k++) {
        size_t end = k + 1;
        while (end < count && is_run(piece->data, end))
            end++;
        add_match(piece, k, end, 1, true, true);
        runs += end - k;
        k = end; /* granule `end` is no run */
    }
    return runs;
}

static bool repeats(const uint8_t *data, size_t granule, size_t distance)
{
    const size_t place = GF_DEFLATE_GRANULE * granule;
    return distance && distance <= place &&
           gf_load64(data + place) == gf_load64(data + place - distance);
}

/* The state of the search for repeats, round by round. */
struct search {
    const uint8_t *data;
    size_t size;
    size_t distance; /* distance of the last granule; 0: it has none */
    size_t kept;     /* the last distance other than 1; 0: none was found yet */
    /* For each hash, the latest position in earlier rounds with that hash, plus one. */
    uint32_t table[1 << HASH_BITS];
};

static size_t look_up(const struct search *search, size_t granule)
{
    const size_t place = GF_DEFLATE_GRANULE * granule,
                 seen = search->table[hash(search->data + place)];
    const size_t distance = seen ? place - (seen - 1) : 0;
    return distance <= WINDOW && repeats(search->data, granule, distance) ? distance : 0;
}

/* Returns the distance of a granule: the distance of the granule before it if the granule repeats
 * those bytes, too, otherwise the distance that the search finds. */
static uint16_t next_distance(struct search *search, size_t granule)
{
    if (!repeats(search->data, granule, search->distance)) {
        if (repeats(search->data, granule, 1))
            search->distance = 1;
        else if (repeats(search->data, granule, search->kept))
            search->distance = search->kept;
        else
            search->distance = look_up(search, granule);
        if (search->distance > 1)
            search->kept = search->distance;
    }
    return (uint16_t)search->distance;
}

static bool all_runs(const uint8_t *data, size_t first, size_t end)
{
    while (first < end && repeats(data, first, 1))
        first++;
    return first >= end;
}

/* Finds the distances of a round's granules. Returns the number of granules without one. */
static size_t find_distances(struct search *search, size_t round, uint16_t *distances)
{
    const size_t count = search->size / GF_DEFLATE_GRANULE, begin = ROUND * round;
    const size_t first = ROUND_GRANULES * round,
                 end = first + ROUND_GRANULES < count ? first + ROUND_GRANULES : count;
    size_t missed = 0;
    if (all_runs(search->data, first, end)) {
        for (size_t k = first; k < end; k++)
            distances[k] = 1;
        search->distance = 1;
        return 0;
    }
    for (size_t k = first; k < end; k++)
        missed += !(distances[k] = next_distance(search, k));
    for (size_t at = begin; at < begin + ROUND && at + GF_DEFLATE_GRANULE <= search->size; at++)
        search->table[hash(search->data + at)] = (uint32_t)at + 1;
    return missed;
}

/* Whether the piece is a drawing, in which a search for repeats pays: more than half of the
 * granules are runs (`runs` is their number), or more than three quarters of the granules in a
 * sample repeat earlier bytes. */
static bool deflate_is_drawing(const struct gf_deflate_piece *piece, size_t runs,
                               uint16_t *distances)
{
    struct search search = {.data = piece->data, .size = piece->size};
    const size_t count = piece->size / GF_DEFLATE_GRANULE, rounds = count / ROUND_GRANULES;
    const size_t first = rounds / 2, last = first + SAMPLE < rounds ? first + SAMPLE : rounds,
                 most = ROUND_GRANULES / 4 * (last - first);
    size_t missed = 0;
    if (2 * runs > count)
        return true;
    for (size_t round = first; round < last && missed < most; round++)
        missed += find_distances(&search, round, distances);
    return missed < most;
}

/* Returns the distance of granule k: the distance of the next granule if granule k repeats bytes at
 * that distance, too. The match then begins earlier. */
static uint16_t agree(const uint8_t *data, const uint16_t *first, size_t k, size_t count)
{
    const uint16_t behind = k + 1 < count ? first[k + 1] : 0;
    return first[k] != 1 && behind > 1 && repeats(data, k, behind) ? behind : first[k];
}

/* Finds the matches with any distance up to deflate's window; they replace the matches of
 * deflate_find_runs(). `distances` has room for one distance of each whole granule. */
static void deflate_find_repeats(struct gf_deflate_piece *piece, uint16_t *distances)
{
    struct search search = {.data = piece->data, .size = piece->size};
    const size_t count = piece->size / GF_DEFLATE_GRANULE;
    for (size_t round = 0; ROUND * round < piece->size; round++)
        (void)find_distances(&search, round, distances);
    for (size_t k = 0; k < count; k++)
        distances[k] = agree(piece->data, distances, k, count);
    piece->matches = 0;
    for (size_t k = 0, end; k < count; k = end) {
        for (end = k + 1; end < count && distances[end] == distances[k];)
            end++;
        if (distances[k])
            add_match(piece, k, end, distances[k], k && !distances[k - 1],
                      end == count || !distances[end]);
    }
}

enum {
    STORED_MAX = 65535,
    STORED_HEAD = 5,
    EMPTY_HEAD_BITS = 3, /* the bits of the head of an empty stored block, which fills up the last
                          * byte */
    EMPTY_BYTES = 4
};

struct long_code { /* a code and its extra bits */
    uint32_t bits, count;
};
struct codes {
    struct gf_deflate_literals literals;
    struct long_code length[GF_DEFLATE_LONGEST + 1];
    struct gf_deflate_symbol distance[GF_DEFLATE_DISTANCES];
};

static void fill_codes(const struct gf_deflate_code *from, struct codes *codes)
{
    uint16_t code[GF_DEFLATE_SYMBOLS];
    gf_huffman_codes(from->literal, GF_DEFLATE_SYMBOLS, code);
    gf_deflate_literals_fill(from->literal, code, &codes->literals);
    for (size_t length = GF_DEFLATE_SHORTEST; length <= GF_DEFLATE_LONGEST; length++) {
        unsigned extra, rest;
        const int s = gf_deflate_length_symbol(length, &extra, &rest);
        codes->length[length] = (struct long_code){code[s] | (uint32_t)rest << from->literal[s],
                                                   from->literal[s] + extra};
    }
    gf_huffman_codes(from->distance, GF_DEFLATE_DISTANCES, code);
    for (int s = 0; s < GF_DEFLATE_DISTANCES; s++)
        codes->distance[s] = (struct gf_deflate_symbol){code[s], from->distance[s]};
}

/* ---- the data of a block ---- */

static void put_match(struct gf_deflate_bits *bits, const struct codes *codes,
                      const struct gf_deflate_match *match)
{
    unsigned extra, rest;
    const struct gf_deflate_symbol distance =
        codes->distance[gf_deflate_distance_symbol(match->distance, &extra, &rest)];
    for (size_t length = match->length, part; length; length -= part) {
        part = gf_deflate_part(length);
        gf_deflate_put(bits, codes->length[part].bits, codes->length[part].count);
        gf_deflate_put(bits, distance.bits | (uint64_t)rest << distance.count,
                       distance.count + extra);
        gf_deflate_flush(bits);
    }
}

static void put_data(struct gf_deflate_bits *bits, const struct gf_deflate_piece *piece,
                     const struct codes *codes)
{
    const uint8_t *from = piece->data;
    for (const struct gf_deflate_match *match = piece->match; match < piece->match + piece->matches;
         match++) {
        gf_deflate_put_literals(bits, &codes->literals, from, piece->data + match->start);
        put_match(bits, codes, match);
        from = piece->data + match->start + match->length;
    }
    gf_deflate_put_literals(bits, &codes->literals, from, piece->data + piece->size);
    gf_deflate_put_symbol(bits, codes->literals.symbol[GF_DEFLATE_END]);
}

static void align(struct gf_deflate_bits *bits)
{
    bits->count = (bits->count + 7) & ~7u;
    gf_deflate_flush(bits);
}

static void put_stored_head(struct gf_deflate_bits *bits, size_t size, bool last)
{
    gf_deflate_put(bits, last, 3);
    align(bits);
    gf_deflate_put(bits, size | (~size & 0xffff) << 16, 32);
    gf_deflate_flush(bits);
}

static size_t store(const uint8_t *data, size_t size, bool last, uint8_t *out)
{
    struct gf_deflate_bits bits = {.out = out};
    for (size_t at = 0; at < size;) {
        const size_t part = size - at < STORED_MAX ? size - at : STORED_MAX;
        put_stored_head(&bits, part, last && at + part == size);
        memcpy(bits.out, data + at, part);
        bits.out += part;
        at += part;
    }
    return (size_t)(bits.out - out);
}

size_t gf_deflate_fast_bound(size_t size)
{
    return size + (size / STORED_MAX + 1) * STORED_HEAD + sizeof(uint64_t);
}

size_t gf_deflate_fast_scratch(size_t size)
{
    return (size / GF_DEFLATE_GRANULE + 1) * (sizeof(struct gf_deflate_match) + sizeof(uint16_t));
}

/* Replaces the matches of a drawing by repeats, if the block then has fewer bits. */
static void try_repeats(struct gf_deflate_piece *piece, size_t runs, struct gf_deflate_code *code)
{
    uint16_t *const distances = (uint16_t *)(piece->match + piece->size / GF_DEFLATE_GRANULE);
    struct gf_deflate_code other;
    if (!deflate_is_drawing(piece, runs, distances))
        return;
    deflate_find_repeats(piece, distances);
    gf_deflate_fit(piece, true, &other);
    if (other.bits < code->bits)
        *code = other;
    else
        (void)deflate_find_runs(piece);
}

size_t gf_deflate_fast(const uint8_t *data, size_t size, bool last, void *scratch, uint8_t *out)
{
    struct gf_deflate_piece piece = {.data = data, .size = size, .match = scratch};
    struct gf_deflate_bits bits = {.out = out};
    struct gf_deflate_code code;
    struct codes codes;
    const size_t runs = deflate_find_runs(&piece);
    gf_deflate_fit(&piece, false, &code);
    try_repeats(&piece, runs, &code);
    const uint64_t packed =
        last ? (code.bits + 7) / 8 : (code.bits + EMPTY_HEAD_BITS + 7) / 8 + EMPTY_BYTES;
    if (packed >= size + (size / STORED_MAX + 1) * STORED_HEAD)
        return store(data, size, last, out);
    fill_codes(&code, &codes);
    gf_deflate_put_head(&bits, &code, last);
    put_data(&bits, &piece, &codes);
    if (last)
        align(&bits);
    else
        put_stored_head(&bits, 0, false); /* an empty stored block ends at a whole byte */
    return (size_t)(bits.out - out);
}
