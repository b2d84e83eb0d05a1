#include "filters/median/median_simd.h"

#include <string.h>

#include "base/simd.h"
#include "pixel/stencil.h"
#include "stage/border.h"

/* The number of a row's columns that are computed together, so that their histograms stay in the
 * second-level cache. */
enum { PART = 1024 };

/* A column's histogram has two levels: 16 coarse bins, and 16 values in each of them. The counts of
 * a level are cumulative, so that the first count above a rank shows the bin. */
enum { BINS = 16, BIN_VALUES = 16, COUNTS = BINS * BIN_VALUES };

/* The columns of one channel in a part of a row. Row y is in line (y + radius) mod (2 radius +
 * 2). */
struct columns {
    const struct gf_view *in;
    int radius, border, sides; /* sides: 2 radius + 1 */
    int channel, first, count; /* first column in the picture, number of columns */
    uint8_t *coarse, *fine;    /* BINS and COUNTS counters for each column */
    uint8_t *lines;
    size_t line_bytes;
};

static size_t carve(struct columns *columns, void *base, struct gf_format format, int radius)
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
    return carve(&columns, NULL, format, radius);
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

/* The first row subtracts a line of zeros, which were added to all columns before. */
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
    carve(&columns, scratch, in->format, radius);
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
