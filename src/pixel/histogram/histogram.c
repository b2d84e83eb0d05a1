/* Histograms on the CPU: the bins of a piece of a row are computed first, with vectors, and are
 * then counted. */
#include "pixel/histogram/histogram.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "pixel/colour.h"
#include "pixel/float_rows.h"
#include "pixel/point/point_planes.h"
#include "pixel/sample.h"
#include "pixel/stencil.h"
#include "stage/border.h"

enum { PIECE = 1024, CHANNELS_MAX = 3 };

/* Counts of 8-bit samples: for each channel GF_HISTOGRAM_TURNS tables that are added up later.
 * Pixels with zero alpha are counted in an extra last bin. */
struct tally {
    uint32_t count[CHANNELS_MAX][GF_HISTOGRAM_TURNS][257];
};

struct lightness {
    uint32_t curve[GF_LIGHTNESS_PIECES + 1];
    float linear[65536];
};

static struct lightness lightness_8, lightness_16;
static uint32_t lightness_step[GF_LIGHTNESS_PIECES];
static pthread_once_t lightness_once = PTHREAD_ONCE_INIT;

static void fill_lightness(uint32_t *curve, float *linear, int max)
{
    for (int i = 0; i <= GF_LIGHTNESS_PIECES; i++) {
        const double light = 116 * gf_lab_f_exact((double)i / GF_LIGHTNESS_PIECES) - 16;
        curve[i] = (uint32_t)floor(light / 100 * max * 4096 + 0.5);
    }
    for (int v = 0; v <= max; v++)
        linear[v] = (float)gf_srgb_decode_exact((double)v / max);
}

/* Fills the table of gf_lightness_bin_8(), so that for a luminance y in piece i, (step[i] + y) /
 * 2^13, rounded down, is the bin. */
static void fill_steps(const uint32_t *curve, uint32_t *step)
{
    for (int i = 0; i < GF_LIGHTNESS_PIECES; i++) {
        const int first = i << 12, bin = gf_lightness_interpolated(first, curve);
        int change = 0;
        while (change < 4096 && gf_lightness_interpolated(first + change, curve) == bin)
            change++;
        step[i] = (((uint32_t)bin + 1) << 13) - (uint32_t)(first + change);
    }
}

static void fill_both(void)
{
    fill_lightness(lightness_8.curve, lightness_8.linear, 255);
    fill_steps(lightness_8.curve, lightness_step);
    fill_lightness(lightness_16.curve, lightness_16.linear, 65535);
}

static const struct lightness *lightness_of(int bits)
{
    pthread_once(&lightness_once, fill_both);
    return bits == 8 ? &lightness_8 : &lightness_16;
}

void *gf_lightness_tables(int bits, size_t *size)
{
    const struct lightness *const from = lightness_of(bits);
    const size_t samples = (size_t)1 << bits;
    *size = sizeof(struct gf_lightness) + samples * sizeof(float);
    struct gf_lightness *const tables = malloc(*size);
    if (tables) {
        memcpy(tables->curve, from->curve, sizeof tables->curve);
        memcpy(tables->step, lightness_step, sizeof tables->step);
        memcpy(tables->linear, from->linear, samples * sizeof(float));
    }
    return tables;
}

/* Returns the format whose samples are counted: floats count as integers of 16 bits. */
static struct gf_format counted(struct gf_format format)
{
    if (gf_is_float(format))
        format.bits = 16;
    format.samples = GF_SAMPLES_INTEGER;
    return format;
}

int gf_statistic_channels(enum gf_statistic statistic, struct gf_format format)
{
    if (gf_statistic_kind(statistic) == GF_STATISTIC_TILES) {
        const struct gf_tiles tiles = gf_tiles_of(statistic, format);
        return tiles.columns * tiles.rows;
    }
    if (statistic == GF_STATISTIC_CELLS) {
        const struct gf_cells cells = gf_cells_of(format);
        return ((cells.columns * cells.rows * format.channels - 1) >> counted(format).bits) + 1;
    }
    return statistic == GF_STATISTIC_CHANNELS ? gf_colour_channels(format) : 1;
}

GF_INLINE uint32_t sample(const void *in, int bits, int index)
{
    return bits == 8 ? ((const uint8_t *)in)[index] : ((const uint16_t *)in)[index];
}

/* Finds the bin of each pixel: that of its luma, if `luma` is set and it has three colour channels,
 * otherwise that of `channel`. */
GF_INLINE void find_bins(const void *in, int n, const int bits, const int channels, const bool luma,
                         int channel, uint32_t *bin)
{
    for (int i = 0; i < n; i++) {
        const int at = i * channels;
        bin[i] = luma ? (uint32_t)gf_luma601(bits, (int)sample(in, bits, at),
                                             (int)sample(in, bits, at + 1),
                                             (int)sample(in, bits, at + 2))
                      : sample(in, bits, at + channel);
        if (channels % 2 == 0)
            bin[i] = sample(in, bits, at + channels - 1) ? bin[i] : 1u << bits;
    }
}

GF_TARGET_CLONES static void find_any_bins(const void *in, int n, struct gf_format format,
                                           bool luma, int channel, uint32_t *bin)
{
    if (gf_is_float(format)) {
        gf_histogram_floats(in, n, format, luma, channel, bin, NULL, 0);
    } else if (luma) {
        GF_BY_DEPTH(format.bits, BITS,
                    GF_BY_CHANNELS(format.channels, CHANNELS,
                                   find_bins(in, n, BITS, CHANNELS, CHANNELS >= 3, 0, bin)));
    } else {
        GF_BY_DEPTH(format.bits, BITS,
                    GF_BY_CHANNELS(format.channels, CHANNELS,
                                   find_bins(in, n, BITS, CHANNELS, false, channel, bin)));
    }
}

GF_TARGET_CLONES static void find_lightness(const void *in, int n, struct gf_format format,
                                            uint32_t *bin)
{
    const struct lightness *const tables = lightness_of(format.bits);
    const int green = format.channels >= 3 ? 1 : 0;
    for (int i = 0; i < n; i++) {
        const int at = i * format.channels;
        const struct gf_rgb p = {tables->linear[sample(in, format.bits, at)],
                                 tables->linear[sample(in, format.bits, at + green)],
                                 tables->linear[sample(in, format.bits, at + 2 * green)]};
        bin[i] = (uint32_t)gf_lightness_bin(p, tables->curve);
        if (gf_has_alpha(format) && !sample(in, format.bits, at + format.channels - 1))
            bin[i] = 1u << format.bits;
    }
}

static void flush(struct tally *tally, struct gf_histogram *histogram)
{
    for (int c = 0; c < histogram->channels; c++) {
        for (int turn = 0; turn < GF_HISTOGRAM_TURNS; turn++) {
            for (int v = 0; v < 256; v++)
                histogram->count[c * 256 + v] += tally->count[c][turn][v];
        }
    }
    memset(tally, 0, sizeof *tally);
}

/* Computes the luma of n RGB pixels with vectors, exactly as gf_luma601_8(). Returns false, and
 * does nothing, if the processor's vectors may not be used. */
static bool find_luma_bytes(const uint8_t *in, int n, uint8_t *luma)
{
    const struct gf_point_op op = {
        .kind = GF_POINT_GRAY, .max = 255, .a = 77, .b = 150, .c = 29, .d = 1.0f / 256};
    return gf_bytes_gray(&op, 1, in, (size_t)n, luma);
}

/* Counts 8-bit gray samples, or the luma of 8-bit RGB. Returns false for all else, uncounted. */
static bool add_bytes(const uint8_t *in, int n, struct gf_format format, bool luma,
                      struct tally *tally)
{
    uint8_t gray[PIECE];
    if (format.bits != 8)
        return false;
    if (format.channels == 1)
        gf_count_bytes(in, n, tally->count[0]);
    else if (format.channels == 3 && luma && find_luma_bytes(in, n, gray))
        gf_count_bytes(gray, n, tally->count[0]);
    else
        return false;
    return true;
}

static void add_piece(const void *in, int n, struct gf_format format, enum gf_statistic statistic,
                      struct tally *tally, struct gf_histogram *histogram)
{
    uint32_t bin[PIECE];
    const bool each = statistic == GF_STATISTIC_CHANNELS || statistic == GF_STATISTIC_JOINT;
    const int planes = each ? gf_colour_channels(format) : 1;
    if (statistic != GF_STATISTIC_LIGHTNESS && add_bytes(in, n, format, !each, tally))
        return;
    for (int plane = 0; plane < planes; plane++) {
        const int to = statistic == GF_STATISTIC_CHANNELS ? plane : 0;
        if (gf_is_float(format))
            gf_histogram_floats(in, n, format, !each, plane, bin, histogram, to);
        else if (statistic == GF_STATISTIC_LIGHTNESS)
            find_lightness(in, n, format, bin);
        else
            find_any_bins(in, n, format, !each, plane, bin);
        if (format.bits == 8)
            gf_count_8(bin, n, tally->count[to]);
        else
            gf_count_16(bin, n, histogram->count + (ptrdiff_t)to * 65536);
    }
}

/* Does what gf_histogram_add() does, for all statistics but TILES. */
static void histogram_add_whole(const struct gf_view *view, enum gf_statistic statistic,
                                struct gf_histogram *histogram)
{
    const struct gf_format format = view->format;
    const int pixel_bytes = format.channels * format.bits / 8;
    struct tally tally = {0};
    /* The pixels in the tally, which is emptied before its 32-bit counters overflow. */
    uint64_t pending = 0;
    for (int y = view->y; y < view->y + view->rows; y++) {
        const unsigned char *const row = gf_view_row(view, y);
        for (int x = 0; x < format.width; x += PIECE) {
            const int n = format.width - x < PIECE ? format.width - x : PIECE;
            add_piece(row + (ptrdiff_t)x * pixel_bytes, n, format, statistic, &tally, histogram);
            pending += (uint64_t)n;
            if (pending > (uint64_t)1 << 29) {
                if (format.bits == 8)
                    flush(&tally, histogram);
                pending = 0;
            }
        }
    }
    if (format.bits == 8)
        flush(&tally, histogram);
}

enum gf_status gf_histogram_alloc(struct gf_histogram *histogram, enum gf_statistic statistic,
                                  struct gf_format format, struct gf_error *error)
{
    const bool floats = gf_is_float(format);
    *histogram =
        (struct gf_histogram){.channels = gf_statistic_channels(statistic, format),
                              .bins = floats ? GF_FLOAT_LEVELS : 1 << format.bits,
                              .exact = floats && statistic == GF_STATISTIC_CHANNELS ? GF_EXACT : 0,
                              .low = {INFINITY, INFINITY, INFINITY},
                              .high = {-INFINITY, -INFINITY, -INFINITY}};
    histogram->count = calloc(gf_histogram_counters(histogram), sizeof *histogram->count);
    return histogram->count ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
}

void gf_histogram_merge(struct gf_histogram *into, const struct gf_histogram *from)
{
    for (size_t i = 0; i < gf_histogram_counters(into); i++)
        into->count[i] += from->count[i];
    for (int c = 0; c < 3; c++) {
        into->low[c] = fminf(into->low[c], from->low[c]);
        into->high[c] = fmaxf(into->high[c], from->high[c]);
    }
}

enum { TILES_PIECE = 1024 };

/* Counts of 8-bit samples in one row of tiles, as in struct tally. */
struct tile_tally {
    uint32_t count[GF_TILES_MAX][GF_HISTOGRAM_TURNS][257];
    int down; /* the index of the row of tiles that is counted; -1: nothing has been counted */
};

static uint64_t *counters_of(const struct gf_tiles *tiles, int across, int down,
                             struct gf_histogram *histogram)
{
    return histogram->count + (size_t)(down * tiles->columns + across) * (size_t)histogram->bins;
}

static void flush_tiles(const struct gf_tiles *tiles, struct tile_tally *tile_tally,
                        struct gf_histogram *histogram)
{
    for (int across = 0; across < tiles->columns && tile_tally->down >= 0; across++) {
        uint64_t *const count = counters_of(tiles, across, tile_tally->down, histogram);
        for (int turn = 0; turn < GF_HISTOGRAM_TURNS; turn++) {
            for (int v = 0; v < 256; v++)
                count[v] += tile_tally->count[across][turn][v];
        }
    }
    memset(tile_tally, 0, sizeof *tile_tally);
    tile_tally->down = -1;
}

/* Counts columns x .. x + n - 1 of row y in the tiles that contain them. */
static void count_inside(const struct gf_tiles *tiles, int y, int x, const uint32_t *bin, int n,
                         struct tile_tally *tile_tally, struct gf_histogram *histogram)
{
    for (int i = 0; i < n;) {
        const int across = (x + i) / tiles->width, left = (across + 1) * tiles->width - (x + i);
        const int run = left < n - i ? left : n - i;
        if (histogram->bins == 256)
            gf_count_8(bin + i, run, tile_tally->count[across]);
        else
            gf_count_16(bin + i, run, counters_of(tiles, across, y / tiles->height, histogram));
        i += run;
    }
}

/* Counts pixels that a tile has beyond the picture, where the picture is reflected: those columns
 * first .. end - 1 of row `place` of the extended picture that show one of the n pixels from column
 * x on. */
static void count_beyond(const struct gf_tiles *tiles, int place, int first, int end, int x,
                         const uint32_t *bin, int n, int width, struct gf_histogram *histogram)
{
    for (int column = first; column < end; column++) {
        const int from = gf_border_index(column, width, GF_BORDER_REFLECT) - x;
        if (from >= 0 && from < n && bin[from] < (uint32_t)histogram->bins)
            counters_of(tiles, column / tiles->width, place / tiles->height,
                        histogram)[bin[from]]++;
    }
}

static void add_row(const struct gf_view *view, const struct gf_tiles *tiles, int y,
                    struct tile_tally *tile_tally, struct gf_histogram *histogram)
{
    const struct gf_format format = view->format;
    const unsigned char *const row = gf_view_row(view, y);
    const int pixel_bytes = format.channels * format.bits / 8;
    const int width = format.width, end = tiles->columns * tiles->width;
    uint32_t bin[TILES_PIECE];
    for (int x = 0; x < width; x += TILES_PIECE) {
        const int n = width - x < TILES_PIECE ? width - x : TILES_PIECE;
        find_any_bins(row + (ptrdiff_t)x * pixel_bytes, n, format, true, 0, bin);
        count_inside(tiles, y, x, bin, n, tile_tally, histogram);
        count_beyond(tiles, y, width, end, x, bin, n, width, histogram);
        for (int place = format.height; place < tiles->rows * tiles->height; place++) {
            if (gf_border_index(place, format.height, GF_BORDER_REFLECT) != y)
                continue;
            count_beyond(tiles, place, x, x + n, x, bin, n, width, histogram);
            count_beyond(tiles, place, width, end, x, bin, n, width, histogram);
        }
    }
}

static void add_tiles(const struct gf_view *view, enum gf_statistic statistic,
                      struct gf_histogram *histogram)
{
    const struct gf_tiles tiles = gf_tiles_of(statistic, view->format);
    struct tile_tally tile_tally = {.down = -1};
    for (int y = view->y; y < view->y + view->rows; y++) {
        if (tile_tally.down != y / tiles.height)
            flush_tiles(&tiles, &tile_tally, histogram);
        tile_tally.down = y / tiles.height;
        add_row(view, &tiles, y, &tile_tally, histogram);
    }
    flush_tiles(&tiles, &tile_tally, histogram);
}

/* Adds each sample of n pixels to a sum of its own; colours are multiplied by alpha. */
GF_INLINE void add_weighted(const void *in, int n, const int bits, const int channels,
                            uint64_t *restrict sum)
{
    for (int i = 0; i < n; i++) {
        const int at = i * channels, last = channels - 1;
        const uint64_t alpha = channels % 2 ? 1 : sample(in, bits, at + last);
        for (int c = 0; c < last; c++)
            sum[at + c] += alpha * sample(in, bits, at + c);
        sum[at + last] += sample(in, bits, at + last);
    }
}

GF_TARGET_CLONES static void add_pixels(const void *in, int n, struct gf_format format,
                                        uint64_t *restrict sum)
{
    if (!gf_has_alpha(format)) { /* samples that are all added alike are one long row of gray */
        GF_BY_DEPTH(format.bits, BITS, add_weighted(in, n * format.channels, BITS, 1, sum));
    } else {
        GF_BY_DEPTH(
            format.bits, BITS,
            GF_BY_CHANNELS(format.channels, CHANNELS, add_weighted(in, n, BITS, CHANNELS, sum)));
    }
}

/* Adds the rows of one row of cells, of which a piece at a time is added up by columns first. */
static void add_cells(const struct gf_view *view, struct gf_histogram *histogram)
{
    const struct gf_format format = view->format;
    const struct gf_cells cells = gf_cells_of(format);
    const int channels = format.channels, end = view->y + view->rows;
    const bool floats = gf_is_float(format);
    uint16_t words[PIECE * (CHANNELS_MAX + 1)];
    uint64_t sum[PIECE * (CHANNELS_MAX + 1)];
    for (int y = view->y, next; y < end; y = next) {
        const int down = y / cells.side, below = (down + 1) * cells.side;
        next = below < end ? below : end;
        for (int x = 0; x < format.width; x += PIECE) {
            const int n = format.width - x < PIECE ? format.width - x : PIECE;
            memset(sum, 0, (size_t)(n * channels) * sizeof *sum);
            for (int row = y; row < next; row++) {
                const unsigned char *const in =
                    gf_view_row(view, row) + (size_t)x * gf_pixel_bytes(format);
                if (floats)
                    gf_row_convert(in, format, counted(format), (size_t)(n * channels), words);
                add_pixels(floats ? (void *)words : in, n, counted(format), sum);
            }
            uint64_t *to = histogram->count + (down * cells.columns + x / cells.side) * channels;
            int left = cells.side - x % cells.side; /* columns of the cell that are left */
            for (int i = 0; i < n; i++) {
                for (int c = 0; c < channels; c++)
                    to[c] += sum[i * channels + c];
                left--;
                to += left ? 0 : channels;
                left = left ? left : cells.side;
            }
        }
    }
}

void gf_histogram_add(const struct gf_view *view, enum gf_statistic statistic,
                      struct gf_histogram *histogram)
{
    if (gf_statistic_kind(statistic) == GF_STATISTIC_TILES)
        add_tiles(view, statistic, histogram);
    else if (statistic == GF_STATISTIC_CELLS)
        add_cells(view, histogram);
    else
        histogram_add_whole(view, statistic, histogram);
}

/* Samples of a row are compared in LANES lanes: a multiple of the vector length and of 3, so that a
 * lane always belongs to the same channel. */
enum { LANES = 192 };

struct extremes {
    uint16_t low[LANES], high[LANES];
};

#define EXTREMES(name_, type_) \
    GF_TARGET_CLONES static void name_(const unsigned char *row, size_t samples, \
                                       struct extremes *extremes) \
    { \
        type_ low[LANES], high[LANES]; \
        const type_ *const in = (const type_ *)(const void *)row; \
        size_t i = 0; \
        for (int k = 0; k < LANES; k++) \
            low[k] = (type_)extremes->low[k], high[k] = (type_)extremes->high[k]; \
        for (; i + LANES <= samples; i += LANES) { \
            for (int k = 0; k < LANES; k++) { \
                const type_ v = in[i + (size_t)k]; \
                low[k] = v < low[k] ? v : low[k]; \
                high[k] = v > high[k] ? v : high[k]; \
            } \
        } \
        for (int k = 0; i < samples; k++, i++) { \
            low[k] = in[i] < low[k] ? in[i] : low[k]; \
            high[k] = in[i] > high[k] ? in[i] : high[k]; \
        } \
        for (int k = 0; k < LANES; k++) \
            extremes->low[k] = low[k], extremes->high[k] = high[k]; \
    }
EXTREMES(find_8, uint8_t)
EXTREMES(find_16, uint16_t)

bool gf_histogram_mark_extremes(const struct gf_view *view, enum gf_statistic statistic,
                                struct gf_histogram *histogram)
{
    const struct gf_format format = view->format;
    struct extremes extremes;
    if (statistic != GF_STATISTIC_CHANNELS || gf_has_alpha(format) || gf_is_float(format) ||
        !view->rows)
        return false;
    for (int k = 0; k < LANES; k++)
        extremes.low[k] = (uint16_t)(histogram->bins - 1), extremes.high[k] = 0;
    /* Rows without gaps between them are searched as one row. */
    const bool are_one = view->pitch == gf_row_bytes(format);
    const size_t samples = gf_samples(format) * (size_t)(are_one ? view->rows : 1);
    for (int y = view->y; y < view->y + (are_one ? 1 : view->rows); y++)
        (format.bits == 8 ? find_8 : find_16)(gf_view_row(view, y), samples, &extremes);
    for (int c = 0; c < format.channels; c++) {
        int low = histogram->bins - 1, high = 0;
        for (int k = c; k < LANES; k += format.channels) {
            low = extremes.low[k] < low ? extremes.low[k] : low;
            high = extremes.high[k] > high ? extremes.high[k] : high;
        }
        histogram->count[c * histogram->bins + low]++;
        histogram->count[c * histogram->bins + high]++;
    }
    return true;
}
