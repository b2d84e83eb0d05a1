/* Finds the pictures whose hashes are near, among a million in seconds: near hashes differ little
 * in one of four parts, too, by which they are looked up (Norouzi, Punjani, Fleet: Fast Search in
 * Hamming Space with Multi-Index Hashing, 2012). */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "bench/hashes.h"

enum { PARTS = 4, PART_BITS = 16, PART_VALUES = 1 << PART_BITS };

struct item {
    struct gf_hashes hashes;
    size_t number; /* the picture's */
};

/* The items in the order of one part of their pHash: those of value v begin at begin[v]. */
struct index {
    size_t begin[PART_VALUES + 2];
    struct item item[];
};

/* A set of pictures, each of which points to one of its group with a lower index, or to itself. */
static size_t root_of(size_t *group, size_t i)
{
    for (; group[i] != i; i = group[i])
        group[i] = group[group[i]];
    return i;
}

static void join(size_t *group, size_t a, size_t b)
{
    a = root_of(group, a);
    b = root_of(group, b);
    if (a < b)
        group[b] = a;
    else
        group[a] = b;
}

static int bits_of(uint64_t value)
{
    return __builtin_popcountll(value);
}

int gf_hashes_distance(struct gf_hashes a, struct gf_hashes b)
{
    const int p = bits_of(a.phash ^ b.phash), d = bits_of(a.dhash ^ b.dhash);
    return p > d ? p : d;
}

static unsigned part_of(struct gf_hashes hashes, int part)
{
    return hashes.phash >> part * PART_BITS & (PART_VALUES - 1);
}

/* Sorts the items by a part of their pHash. */
static void sort_by(struct index *index, const struct item *item, size_t count, int part)
{
    size_t *const end = index->begin + 1; /* where the items of each value have ended so far */
    memset(index->begin, 0, sizeof index->begin);
    for (size_t i = 0; i < count; i++)
        index->begin[part_of(item[i].hashes, part) + 2]++;
    for (size_t v = 0; v < PART_VALUES; v++)
        end[v + 1] += end[v];
    for (size_t i = 0; i < count; i++)
        index->item[end[part_of(item[i].hashes, part)]++] = item[i];
}

/* Joins the groups of items whose distance is at most `most` and that differ in at most `radius`
 * bits of the part. */
static void join_near(const struct index *index, size_t count, int part, int radius, int most,
                      size_t *group)
{
    for (unsigned change = 0; change < PART_VALUES; change++) {
        if (bits_of(change) > radius)
            continue;
        for (size_t i = 0; i < count; i++) {
            const struct item own = index->item[i];
            const unsigned value = part_of(own.hashes, part), other = value ^ change;
            const size_t end = index->begin[other + 1];
            for (size_t j = other > value   ? index->begin[other]
                            : other < value ? end
                                            : i + 1;
                 j < end; j++) {
                const struct item *const near = &index->item[j];
                if (bits_of(own.hashes.phash ^ near->hashes.phash) <= most &&
                    bits_of(own.hashes.dhash ^ near->hashes.dhash) <= most)
                    join(group, own.number, near->number);
            }
        }
    }
}

static int by_hashes(const void *a, const void *b)
{
    const struct item *const x = a, *const y = b;
    return x->hashes.phash != y->hashes.phash   ? (x->hashes.phash > y->hashes.phash ? 1 : -1)
           : x->hashes.dhash != y->hashes.dhash ? (x->hashes.dhash > y->hashes.dhash ? 1 : -1)
                                                : (x->number > y->number) - (x->number < y->number);
}

/* Sorts the items, joins those with the same hashes, and keeps the first of them. Returns how many
 * are left. */
static size_t join_same(struct item *item, size_t count, size_t *group)
{
    size_t left = 0;
    qsort(item, count, sizeof *item, by_hashes);
    for (size_t i = 0; i < count; i++) {
        if (left && !gf_hashes_distance(item[left - 1].hashes, item[i].hashes))
            group[item[i].number] = item[left - 1].number;
        else
            item[left++] = item[i];
    }
    return left;
}

/* Two pHashes that differ in at most N bits differ in at most R[i] bits of part i for at least one
 * i, if the sum of all R[i] + 1 is N + 1: else they would differ in N + 1 bits or more. */
enum gf_status gf_hashes_group(const struct gf_hashes *hashes, size_t count, int most,
                               size_t *group, struct gf_error *error)
{
    struct item *const item = malloc((count + 1) * sizeof *item);
    struct index *const index = malloc(sizeof *index + count * sizeof *item);
    if (!item || !index) {
        free(item);
        free(index);
        return gf_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        group[i] = i;
        item[i] = (struct item){hashes[i], i};
    }
    const size_t left = join_same(item, count, group);
    for (int part = 0; part < PARTS; part++) {
        const int radius = (most + 1 + part) / PARTS - 1;
        if (radius < 0)
            continue;
        sort_by(index, item, left, part);
        join_near(index, left, part, radius, most, group);
    }
    for (size_t i = 0; i < count; i++)
        group[i] = root_of(group, i);
    free(item);
    free(index);
    return GF_OK;
}
