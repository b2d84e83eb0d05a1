#include "filters/median/median_simd.h"

#include <stdint.h>
#include <string.h>

#include "base/simd.h"
#include "pixel/stencil.h"

enum { LEVELS = 5, CHAINS_MAX = 2, SORT_MAX = 63 };
enum { VECTOR_MAX = 64, WIDE = 512, SLACK = 16 };

/* A chain of elements in three steps of a merge, with distances 4 s, 2 s and s: the first and last
 * block that influence the result. */
struct gf_median_chain {
    int s, first, last;
};

/* The merge of two lists. The first list is elements first .. half - 1, the second is elements half
 * .. end - 1; half is a power of two. Elements low .. high of the result are kept. */
struct gf_median_merge {
    int half, first, end, low, high;
    int at_once; /* elements in registers in the first steps, 2 to 16 */
    int chains;  /* number of triple steps after the first steps */
    int room;    /* number of elements that the chains read */
    struct gf_median_chain chain[CHAINS_MAX];
};

/* The merges that make one list of as many columns as the window is wide. doubled[k] merges two
 * lists of 2^(k - 1) columns; added[k] merges a list of 2^k columns with the list `all`, which
 * gathers the others. */
struct gf_median_across {
    struct gf_median_merge doubled[LEVELS], added[LEVELS];
    unsigned char *level[2], *all; /* planes of the doubled lists, used in turns; planes of the
                                    * gathered list */
    int planes;                    /* planes of the longest list */
};

struct gf_median_lists {
    int sides, step;
    int sort_count;
    uint8_t sort[SORT_MAX][2];
    size_t bytes, made; /* bytes of a list's plane; bytes of a plane of results */
    ptrdiff_t pitch;    /* bytes between planes */
    unsigned char *columns, *v, *line;
    struct gf_median_across core, row;
};

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int quotient_up(int a, int b)
{
    return a > 0 ? (a + b - 1) / b : 0;
}

/* Lists the exchanges of K. E. Batcher's odd-even merge sort. */
static void fill_sort(struct gf_median_lists *lists)
{
    const int count = lists->sides - 1;
    for (int p = 1; p < count; p *= 2) {
        for (int step = p; step; step /= 2) {
            for (int i = step % p; i + step < count; i++) {
                const bool is_low = (i - step % p) / step % 2 == 0;
                if (!is_low || i / (2 * p) != (i + step) / (2 * p))
                    continue;
                lists->sort[lists->sort_count][0] = (uint8_t)i;
                lists->sort[lists->sort_count++][1] = (uint8_t)(i + step);
            }
        }
    }
}

/* Finds the blocks of a chain that are needed. Earlier blocks would only order elements before both
 * lists, or elements that do not influence the result. Without the block before it, a block has
 * right results from element 8 m + 7 on. */
static struct gf_median_chain chain_of(const struct gf_median_merge *merge, int s)
{
    const int low = merge->low - 2 * s + 2, high = merge->high + s - 1;
    const int first = larger(merge->first / s - 4, low > 0 ? low / s - 7 : -7);
    const int last = smaller(quotient_up(high, s), (merge->end - 1) / s);
    return (struct gf_median_chain){s, first > 0 ? first / 8 : 0, quotient_up(last - 8, 8)};
}

/* The sorted samples of a window that can be its median: numbers low to high of `count`. */
struct kept {
    int count, low, high;
};

static struct kept kept_of(int sides, int count)
{
    const int middle = sides * sides / 2;
    return (struct kept){count, larger(0, count - 1 - middle), smaller(count - 1, middle)};
}

static struct gf_median_merge merge_of(int sides, int count_a, int count_b)
{
    const struct kept a = kept_of(sides, count_a), b = kept_of(sides, count_b);
    const struct kept both = kept_of(sides, count_a + count_b);
    const int length_a = a.high - a.low + 1, length_b = b.high - b.low + 1;
    struct gf_median_merge merge = {.half = 1};
    int steps = 1;
    for (; merge.half < larger(length_a, length_b); merge.half *= 2)
        steps++;
    merge.first = merge.half - length_a;
    merge.end = merge.half + length_b;
    merge.low = both.low - a.low - b.low + merge.first;
    merge.high = both.high - a.low - b.low + merge.first;
    merge.chains = steps < 5 ? 0 : (steps - 2) / 3;
    merge.at_once = 1 << (steps - 3 * merge.chains);
    merge.room = 2 * merge.half;
    for (int i = 0; i < merge.chains; i++) {
        struct gf_median_chain *const chain = &merge.chain[i];
        *chain = chain_of(&merge, 1 << (3 * (merge.chains - 1 - i)));
        merge.room = larger(merge.room, chain->s * (8 * chain->last + 12));
    }
    return merge;
}

static int plane_count(const struct gf_median_merge *merge)
{
    return merge->high - merge->low + 1 + 2 * SLACK;
}

/* Plans the merges for columns of `height` samples. Returns the number of elements for which the
 * merges need memory. */
static int plan_across(const struct gf_median_lists *lists, int height,
                       struct gf_median_across *across)
{
    int width = 1, room = 0;
    for (int k = 1; 1 << k <= lists->sides; k++) {
        struct gf_median_merge *const doubled = &across->doubled[k], *const added =
                                                                         &across->added[k];
        *doubled = merge_of(lists->sides, height << (k - 1), height << (k - 1));
        across->planes = larger(across->planes, plane_count(doubled));
        room = larger(room, doubled->room);
        if (!(lists->sides >> k & 1))
            continue;
        *added = merge_of(lists->sides, height << k, height * width);
        across->planes = larger(across->planes, plane_count(added));
        room = larger(room, added->room);
        width += 1 << k;
    }
    return room;
}

/* Reserves planes. The elements just before and just after the kept elements are written to extra
 * planes, which nothing reads. */
static void carve_planes(struct gf_carver *carver, const struct gf_median_lists *lists,
                         struct gf_median_across *across)
{
    const size_t size = (size_t)across->planes * (size_t)lists->pitch;
    unsigned char *begin[3];
    for (int i = 0; i < 3; i++)
        begin[i] = gf_carve(carver, size);
    if (!carver->base)
        return;
    across->level[0] = begin[0] + SLACK * lists->pitch;
    across->level[1] = begin[1] + SLACK * lists->pitch;
    across->all = begin[2] + SLACK * lists->pitch;
}

static size_t carve(struct gf_median_lists *lists, void *base, int radius, int step)
{
    struct gf_carver carver = {.base = base};
    *lists = (struct gf_median_lists){.sides = 2 * radius + 1, .step = step, .bytes = WIDE};
    lists->made = WIDE - (size_t)(2 * radius * step);
    /* Lists are read up to half the window's width further right. */
    lists->pitch = (WIDE + (radius + 1) * step + 2 * VECTOR_MAX - 1) / VECTOR_MAX * VECTOR_MAX;
    fill_sort(lists);
    const int room =
        larger(plan_across(lists, 2 * radius, &lists->core), plan_across(lists, 1, &lists->row));
    lists->v = gf_carve(&carver, (size_t)larger(room, 2 * radius) * VECTOR_MAX);
    lists->line = gf_carve(&carver, WIDE);
    lists->columns = gf_carve(&carver, (size_t)(2 * radius) * (size_t)lists->pitch);
    carve_planes(&carver, lists, &lists->core);
    carve_planes(&carver, lists, &lists->row);
    return carver.used;
}

size_t gf_median_lists_scratch(int radius, int step)
{
    struct gf_median_lists lists;
    return carve(&lists, NULL, radius, step);
}

/* ---- the code for each vector size ---- */

#if GF_X86

#if defined(__clang__)
#define LISTS_UNROLL _Pragma("unroll")
#else
#define LISTS_UNROLL _Pragma("GCC unroll 16")
#endif

#define LISTS GF_AVX512 static
#define LISTS_VECTOR __m512i
#define LISTS_LOAD(from) _mm512_loadu_si512(from)
#define LISTS_STORE(to, v) _mm512_storeu_si512(to, v)
#define LISTS_ZERO _mm512_setzero_si512()
#define LISTS_ONES _mm512_set1_epi8(-1)
#define LISTS_MIN(a, b) _mm512_min_epu8(a, b)
#define LISTS_MAX(a, b) _mm512_max_epu8(a, b)
#define LISTS_NAME(name) name##_512_8
#include "filters/median/median_lists.h"
#define LISTS_MIN(a, b) _mm512_min_epu16(a, b)
#define LISTS_MAX(a, b) _mm512_max_epu16(a, b)
#define LISTS_NAME(name) name##_512_16
#include "filters/median/median_lists.h"
#undef LISTS
#undef LISTS_VECTOR
#undef LISTS_LOAD
#undef LISTS_STORE
#undef LISTS_ZERO
#undef LISTS_ONES

#define LISTS GF_AVX2 static
#define LISTS_VECTOR __m256i
#define LISTS_LOAD(from) _mm256_loadu_si256((const void *)(from))
#define LISTS_STORE(to, v) _mm256_storeu_si256((void *)(to), v)
#define LISTS_ZERO _mm256_setzero_si256()
#define LISTS_ONES _mm256_set1_epi8(-1)
#define LISTS_MIN(a, b) _mm256_min_epu8(a, b)
#define LISTS_MAX(a, b) _mm256_max_epu8(a, b)
#define LISTS_NAME(name) name##_256_8
#include "filters/median/median_lists.h"
#define LISTS_MIN(a, b) _mm256_min_epu16(a, b)
#define LISTS_MAX(a, b) _mm256_max_epu16(a, b)
#define LISTS_NAME(name) name##_256_16
#include "filters/median/median_lists.h"

void gf_median_lists(int radius, int bits, int step, const unsigned char *const *rows,
                     unsigned char *const *out, size_t size, void *scratch)
{
    struct gf_median_lists lists;
    carve(&lists, scratch, radius, step);
    if (gf_cpu_has(GF_CPU_AVX512))
        (bits == 8 ? medians_512_8 : medians_512_16)(&lists, rows, out, size);
    else
        (bits == 8 ? medians_256_8 : medians_256_16)(&lists, rows, out, size);
}
#endif
