/* Medians of large windows by vector instructions: histograms of columns, or sorted lists. */
#include <stdint.h>
#include <string.h>

#include "base/extremes.h"
#include "base/simd.h"
#include "filters/median/median.h"
#include "pixel/stencil.h"
#include "stage/border.h"

/* The number of a row's columns that are computed together, so that their histograms stay in the
 * second-level cache. */
enum { PART = 1024 };

/* A column's histogram has two levels: 16 coarse bins, and 16 values in each of them. The counts of
 * a level are cumulative, so that the first count above a rank shows the bin. */
enum { BINS = 16, BIN_VALUES = 16, COUNTS = BINS * BIN_VALUES };

/* The columns of one channel in a part of a row. `lines` keeps the last 2 radius + 2 rows of the
 * picture: row y is its line (y + radius) mod (2 radius + 2). */
struct columns {
    const struct gf_view *in;
    int radius, border, sides; /* sides: 2 radius + 1 */
    int channel, first, count; /* the channel that is computed; the first column in the picture, and
                                  the number of columns */
    uint8_t *coarse, *fine;    /* BINS and COUNTS counters for each column */
    uint8_t *lines;
    size_t line_bytes;
};

static size_t carve_columns(struct columns *columns, void *base, struct gf_format format,
                            int radius)
{
    const int results = format.width < PART ? format.width : PART;
    const size_t most = (size_t)(results + 2 * radius);
    struct gf_carver carver = {.base = base};
    *columns = (struct columns){.radius = radius, .sides = 2 * radius + 1};
    columns->coarse = gf_carve(&carver, most * BINS);
    columns->fine = gf_carve(&carver, most * COUNTS);
    columns->line_bytes = most;
    columns->lines = gf_carve(&carver, most * (size_t)(columns->sides + 1));
    return carver.used;
}

size_t gf_median_columns_scratch(struct gf_format format, int radius)
{
    struct columns columns;
    return carve_columns(&columns, NULL, format, radius);
}

#if GF_X86

static uint8_t *line(const struct columns *columns, int row)
{
    return columns->lines +
           (size_t)((row + columns->sides + columns->radius) % (columns->sides + 1)) *
               columns->line_bytes;
}

static void fill_border(const struct columns *columns, const uint8_t *samples, uint8_t *to,
                        int begin, int end)
{
    const struct gf_format format = columns->in->format;
    for (int i = begin; i < end; i++) {
        const int from = gf_border_index(columns->first + i, format.width, columns->border);
        to[i] = from < 0 ? 0 : samples[(ptrdiff_t)from * format.channels];
    }
}

/* Copies the samples of a row for all columns. */
static void fill_line(const struct columns *columns, int row)
{
    const struct gf_format format = columns->in->format;
    const int from = gf_border_index(row, format.height, columns->border);
    uint8_t *const to = line(columns, row);
    if (from < 0) {
        memset(to, 0, (size_t)columns->count);
        return;
    }
    const uint8_t *const samples = gf_view_row(columns->in, from) + columns->channel;
    const ptrdiff_t first = columns->first, step = format.channels;
    const int begin = first < 0 ? columns->radius : 0;
    const int right = format.width - columns->first;
    const int end = right < columns->count ? right : columns->count;
    fill_border(columns, samples, to, 0, begin);
    for (int i = begin; i < end; i++)
        to[i] = samples[(first + i) * step];
    fill_border(columns, samples, to, end, columns->count);
}

#define INLINE GF_AVX2 static inline __attribute__((always_inline))

/* The sums over a window's columns. coarse: counts of the coarse bins. fine: counts of each coarse
 * bin's values, for an earlier window that ends at column `until`. */
struct window {
    __m256i coarse, fine[BINS];
    int until[BINS];
};

/* Returns 1 in each bin from `bin` on, and 0 below. */
INLINE __m128i ones_from(int bin)
{
    _Alignas(32) static const uint8_t ones[2 * BINS] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                                        0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1,
                                                        1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    return _mm_loadu_si128((const void *)(ones + BINS - bin));
}

INLINE __m128i counts_at(const uint8_t *counts)
{
    return _mm_load_si128((const void *)counts);
}

INLINE __m256i wide(const uint8_t *counts)
{
    return _mm256_cvtepu8_epi16(counts_at(counts));
}

/* Adds a sample to a column's histogram, or subtracts it. */
INLINE void count_sample(const struct columns *columns, size_t column, int sample, bool is_there)
{
    uint8_t *const coarse = columns->coarse + column * BINS;
    uint8_t *const fine = columns->fine + column * COUNTS + sample / BIN_VALUES * BIN_VALUES;
    const __m128i in_coarse = ones_from(sample / BIN_VALUES),
                  in_fine = ones_from(sample % BIN_VALUES);
    const __m128i a = counts_at(coarse), b = counts_at(fine);
    _mm_store_si128((void *)coarse,
                    is_there ? _mm_add_epi8(a, in_coarse) : _mm_sub_epi8(a, in_coarse));
    _mm_store_si128((void *)fine, is_there ? _mm_add_epi8(b, in_fine) : _mm_sub_epi8(b, in_fine));
}

/* Returns the first bin whose count exceeds the limit. The last bin's count always exceeds it. */
INLINE int first_above(__m256i counts, int limit)
{
    const __m256i above = _mm256_cmpgt_epi16(counts, _mm256_set1_epi16((short)limit));
    return __builtin_ctz((unsigned)_mm256_movemask_epi8(above)) / 2;
}

/* Returns the counts of a coarse bin's values in the window that begins at column x. They are the
 * counts of an earlier window plus and minus the columns between, or the sum of all columns where
 * that is less work. */
INLINE __m256i fine_counts(const struct columns *columns, struct window *window, int bin, int x)
{
    const uint8_t *const fine = columns->fine + bin * BIN_VALUES;
    const size_t end = (size_t)(x + columns->sides);
    const int behind = x - window->until[bin];
    __m256i sum = window->fine[bin];
    if (behind == 1) { /* the most frequent case has a branch of its own, which is predicted well */
        sum = _mm256_add_epi16(sum, wide(fine + (end - 1) * COUNTS));
        sum = _mm256_sub_epi16(sum, wide(fine + (size_t)(x - 1) * COUNTS));
    } else if (2 * behind >= columns->sides) {
        sum = _mm256_setzero_si256();
        for (size_t i = (size_t)x; i < end; i++)
            sum = _mm256_add_epi16(sum, wide(fine + i * COUNTS));
    } else {
        const size_t sides = (size_t)columns->sides;
        for (size_t i = (size_t)window->until[bin]; i < (size_t)x; i++) {
            sum = _mm256_add_epi16(sum, wide(fine + (i + sides) * COUNTS));
            sum = _mm256_sub_epi16(sum, wide(fine + i * COUNTS));
        }
    }
    window->fine[bin] = sum;
    window->until[bin] = x;
    return sum;
}

INLINE int median_at(const struct columns *columns, struct window *window, int x)
{
    const int rank = columns->sides * columns->sides / 2;
    uint16_t up_to[1 + BINS]; /* number of samples before each bin */
    up_to[0] = 0;
    _mm256_storeu_si256((void *)(up_to + 1), window->coarse);
    const int bin = first_above(window->coarse, rank);
    const __m256i fine = fine_counts(columns, window, bin, x);
    return bin * BIN_VALUES + first_above(fine, rank - up_to[bin]);
}

/* Computes a row. Before a window reaches a column, the column's histogram, which still counts the
 * row above, adds the sample of `taken` and subtracts the sample of `dropped`. */
GF_AVX2 static void make_row(const struct columns *columns, const uint8_t *taken,
                             const uint8_t *dropped, uint8_t *to)
{
    const int channels = columns->in->format.channels, sides = columns->sides;
    struct window window = {.coarse = _mm256_setzero_si256()};
    for (int bin = 0; bin < BINS; bin++)
        window.until[bin] = -sides;
    for (int i = 0; i < columns->count; i++) {
        count_sample(columns, (size_t)i, taken[i], true);
        count_sample(columns, (size_t)i, dropped[i], false);
        window.coarse = _mm256_add_epi16(window.coarse, wide(columns->coarse + (size_t)i * BINS));
        const int x = i + 1 - sides;
        if (x < 0)
            continue;
        to[(size_t)x * (size_t)channels] = (uint8_t)median_at(columns, &window, x);
        window.coarse = _mm256_sub_epi16(window.coarse, wide(columns->coarse + (size_t)x * BINS));
    }
}

/* Computes the results of a part of the columns, which begins with column x0, in all rows of `out`.
 * The first row subtracts a line of zeros, which were added to all columns before. */
GF_AVX2 static void make_part(struct columns *columns, const struct gf_view *out, int x0)
{
    const int radius = columns->radius;
    const size_t count = (size_t)columns->count;
    memset(columns->coarse, 0, count * BINS);
    memset(columns->fine, 0, count * COUNTS);
    memset(line(columns, out->y - radius - 1), 0, count);
    for (int row = out->y - radius - 1; row < out->y + radius; row++) {
        if (row >= out->y - radius)
            fill_line(columns, row);
        const uint8_t *const samples = line(columns, row);
        for (size_t i = 0; i < count; i++)
            count_sample(columns, i, samples[i], true);
    }
    const size_t offset = (size_t)x0 * (size_t)out->format.channels + (size_t)columns->channel;
    for (int y = out->y; y < out->y + out->rows; y++) {
        uint8_t *const dropped = line(columns, y - radius - 1);
        fill_line(columns, y + radius);
        make_row(columns, line(columns, y + radius), dropped, gf_view_row(out, y) + offset);
    }
}

void gf_median_columns(const struct gf_view *in, const struct gf_view *out, int radius, int border,
                       void *scratch)
{
    struct columns columns;
    carve_columns(&columns, scratch, in->format, radius);
    columns.in = in;
    columns.border = border;
    for (int x = 0; x < in->format.width; x += PART) {
        const int left = in->format.width - x;
        columns.first = x - radius;
        columns.count = (left < PART ? left : PART) + 2 * radius;
        for (columns.channel = 0; columns.channel < in->format.channels; columns.channel++)
            make_part(&columns, out, x);
    }
}
#endif

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
    int chains;  /* so many elements of `chain` follow the first steps, with three steps each */
    int room;    /* number of elements that the chains read */
    struct gf_median_chain chain[CHAINS_MAX];
};

/* The merges that make one list of as many columns as the window is wide. doubled[k] merges two
 * lists of 2^(k - 1) columns; added[k] merges a list of 2^k columns with the list `all`, which
 * gathers the others. */
struct gf_median_across {
    struct gf_median_merge doubled[LEVELS], added[LEVELS];
    /* The lists that the merges doubled[k] read and write, in turns, and the gathered list. */
    unsigned char *level[2], *all;
    int planes; /* planes of the longest list, and SLACK more on either side */
};

struct gf_median_lists {
    int sides, step;
    int sort_count;
    uint8_t sort[SORT_MAX][2];
    /* Bytes of a plane that merges compute; bytes of results that follow from them. */
    size_t bytes, made;
    ptrdiff_t pitch; /* bytes from one plane of a list to the next */
    unsigned char *columns, *v, *line;
    struct gf_median_across core, row;
};

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
    const int first = gf_greatest(merge->first / s - 4, low > 0 ? low / s - 7 : -7);
    const int last = gf_least(quotient_up(high, s), (merge->end - 1) / s);
    return (struct gf_median_chain){s, first > 0 ? first / 8 : 0, quotient_up(last - 8, 8)};
}

/* The sorted samples of a window that can be its median: numbers low to high of `count`. */
struct kept {
    int count, low, high;
};

static struct kept kept_of(int sides, int count)
{
    const int middle = sides * sides / 2;
    return (struct kept){count, gf_greatest(0, count - 1 - middle), gf_least(count - 1, middle)};
}

static struct gf_median_merge merge_of(int sides, int count_a, int count_b)
{
    const struct kept a = kept_of(sides, count_a), b = kept_of(sides, count_b);
    const struct kept both = kept_of(sides, count_a + count_b);
    const int length_a = a.high - a.low + 1, length_b = b.high - b.low + 1;
    struct gf_median_merge merge = {.half = 1};
    int steps = 1;
    for (; merge.half < gf_greatest(length_a, length_b); merge.half *= 2)
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
        merge.room = gf_greatest(merge.room, chain->s * (8 * chain->last + 12));
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
        across->planes = gf_greatest(across->planes, plane_count(doubled));
        room = gf_greatest(room, doubled->room);
        if (!(lists->sides >> k & 1))
            continue;
        *added = merge_of(lists->sides, height << k, height * width);
        across->planes = gf_greatest(across->planes, plane_count(added));
        room = gf_greatest(room, added->room);
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

static size_t carve_lists(struct gf_median_lists *lists, void *base, int radius, int step)
{
    struct gf_carver carver = {.base = base};
    *lists = (struct gf_median_lists){.sides = 2 * radius + 1, .step = step, .bytes = WIDE};
    lists->made = WIDE - (size_t)(2 * radius * step);
    /* Lists are read up to half the window's width further right. */
    lists->pitch = (WIDE + (radius + 1) * step + 2 * VECTOR_MAX - 1) / VECTOR_MAX * VECTOR_MAX;
    fill_sort(lists);
    const int room = gf_greatest(plan_across(lists, 2 * radius, &lists->core),
                                 plan_across(lists, 1, &lists->row));
    lists->v = gf_carve(&carver, (size_t)gf_greatest(room, 2 * radius) * VECTOR_MAX);
    lists->line = gf_carve(&carver, WIDE);
    lists->columns = gf_carve(&carver, (size_t)(2 * radius) * (size_t)lists->pitch);
    carve_planes(&carver, lists, &lists->core);
    carve_planes(&carver, lists, &lists->row);
    return carver.used;
}

size_t gf_median_lists_scratch(int radius, int step)
{
    struct gf_median_lists lists;
    return carve_lists(&lists, NULL, radius, step);
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
    carve_lists(&lists, scratch, radius, step);
    if (gf_cpu_has(GF_CPU_AVX512))
        (bits == 8 ? medians_512_8 : medians_512_16)(&lists, rows, out, size);
    else
        (bits == 8 ? medians_256_8 : medians_256_16)(&lists, rows, out, size);
}
#endif
