#include "codec/png/deflate/deflate_code.h"

#include <string.h>

#include "base/load64.h"
#include "base/target_clones.h"

enum {
    WINDOW = 32768,
    SEGMENT = 256, /* bytes; a cell can repeat only bytes of earlier segments */
    SEGMENT_CELLS = SEGMENT / GF_DEFLATE_CELL,
    SAMPLE = 8, /* number of segments in a sample, which shows whether a search in all segments
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

/* Adds the match of cells first .. end - 1, which have one distance. The match is extended into the
 * cell before and the cell after, if these have no distance. */
static void add_match(struct gf_deflate_piece *piece, size_t first, size_t end, size_t distance,
                      bool free_before, bool free_behind)
{
    const struct gf_deflate_match *const last = piece->match + piece->matches - 1;
    size_t start = GF_DEFLATE_CELL * first, behind = GF_DEFLATE_CELL * end;
    if (free_before) {
        const size_t from = piece->matches ? (size_t)last->start + last->length : 0;
        const size_t most = start - from < GF_DEFLATE_CELL ? start - from : GF_DEFLATE_CELL;
        start -= equal_before(piece->data, start, distance, most);
    }
    if (free_behind)
        behind += equal_behind(piece, behind, distance);
    struct gf_deflate_match *const match = piece->match + piece->matches++;
    match->start = (uint32_t)start;
    match->length = (uint32_t)(behind - start);
    match->distance = (uint32_t)distance;
}

/* Whether each byte of a cell equals the byte before it. */
static inline bool is_run(const uint8_t *data, size_t cell)
{
    const uint8_t *const at = data + GF_DEFLATE_CELL * cell;
    return gf_load64(at) == gf_load64(at - 1);
}

/* Finds the first run among cells first .. count - 1. `first` may be count + 1. The function is
 * fast if there are few runs, as in photographs. */
GF_TARGET_CLONES static size_t next_run(const uint8_t *data, size_t first, size_t count)
{
    enum { CELLS = 16 };
    for (; first + CELLS <= count; first += CELLS) {
        uint64_t runs = 0;
        for (size_t k = first; k < first + CELLS; k++)
            runs |= is_run(data, k);
        if (runs)
            break;
    }
    while (first < count && !is_run(data, first))
        first++;
    return first;
}

size_t gf_deflate_find_runs(struct gf_deflate_piece *piece)
{
    const size_t count = piece->size / GF_DEFLATE_CELL;
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
        k = end; /* cell `end` is no run */
    }
    return runs;
}

static bool repeats(const uint8_t *data, size_t cell, size_t distance)
{
    const size_t place = GF_DEFLATE_CELL * cell;
    return distance && distance <= place &&
           gf_load64(data + place) == gf_load64(data + place - distance);
}

/* The state of the search for repeats, segment by segment. */
struct search {
    const uint8_t *data;
    size_t size;
    size_t distance; /* distance of the last cell; 0: it has none */
    size_t kept;     /* the last other distance; 0: none was found yet */
    /* For each hash, the latest position in earlier segments with that hash, plus one. */
    uint32_t table[1 << HASH_BITS];
};

static size_t look_up(const struct search *search, size_t cell)
{
    const size_t place = GF_DEFLATE_CELL * cell, seen = search->table[hash(search->data + place)];
    const size_t distance = seen ? place - (seen - 1) : 0;
    return distance <= WINDOW && repeats(search->data, cell, distance) ? distance : 0;
}

/* Returns the distance of a cell: the distance of the cell before it if the cell repeats those
 * bytes, too, otherwise the distance that the search finds. */
static uint16_t next_distance(struct search *search, size_t cell)
{
    if (!repeats(search->data, cell, search->distance)) {
        if (repeats(search->data, cell, 1))
            search->distance = 1;
        else if (repeats(search->data, cell, search->kept))
            search->distance = search->kept;
        else
            search->distance = look_up(search, cell);
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

/* Finds the distances of a segment's cells. Returns the number of cells without one. */
static size_t find_distances(struct search *search, size_t segment, uint16_t *distances)
{
    const size_t count = search->size / GF_DEFLATE_CELL, begin = SEGMENT * segment;
    const size_t first = SEGMENT_CELLS * segment,
                 end = first + SEGMENT_CELLS < count ? first + SEGMENT_CELLS : count;
    size_t missed = 0;
    if (all_runs(search->data, first, end)) {
        for (size_t k = first; k < end; k++)
            distances[k] = 1;
        search->distance = 1;
        return 0;
    }
    for (size_t k = first; k < end; k++)
        missed += !(distances[k] = next_distance(search, k));
    for (size_t at = begin; at < begin + SEGMENT && at + GF_DEFLATE_CELL <= search->size; at++)
        search->table[hash(search->data + at)] = (uint32_t)at + 1;
    return missed;
}

bool gf_deflate_is_drawing(const struct gf_deflate_piece *piece, size_t runs, uint16_t *distances)
{
    struct search search = {.data = piece->data, .size = piece->size};
    const size_t count = piece->size / GF_DEFLATE_CELL, segments = count / SEGMENT_CELLS;
    const size_t first = segments / 2, last = first + SAMPLE < segments ? first + SAMPLE : segments,
                 most = SEGMENT_CELLS / 4 * (last - first);
    size_t missed = 0;
    if (2 * runs > count)
        return true;
    for (size_t segment = first; segment < last && missed < most; segment++)
        missed += find_distances(&search, segment, distances);
    return missed < most;
}

/* Returns the distance of cell k: the distance of the next cell if cell k repeats bytes at that
 * distance, too. The match then begins earlier. */
static uint16_t agree(const uint8_t *data, const uint16_t *first, size_t k, size_t count)
{
    const uint16_t behind = k + 1 < count ? first[k + 1] : 0;
    return first[k] != 1 && behind > 1 && repeats(data, k, behind) ? behind : first[k];
}

void gf_deflate_find_repeats(struct gf_deflate_piece *piece, uint16_t *distances)
{
    struct search search = {.data = piece->data, .size = piece->size};
    const size_t count = piece->size / GF_DEFLATE_CELL;
    for (size_t segment = 0; SEGMENT * segment < piece->size; segment++)
        (void)find_distances(&search, segment, distances);
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
