#include "pixel/histogram/histogram_tiles.h"

#include <string.h>

#include "stage/border.h"

enum { PIECE = 1024 };

/* The counts of 8-bit samples in a row of tiles. Pixels with zero alpha are counted in an extra
 * last bin. */
struct tally {
    uint32_t count[GF_TILES_MAX][GF_HISTOGRAM_TURNS][257];
    int down; /* the number of the row of tiles; -1 before the first one */
};

static uint64_t *counters_of(const struct gf_tiles *tiles, int across, int down,
                             struct gf_histogram *histogram)
{
    return histogram->count + (size_t)(down * tiles->columns + across) * (size_t)histogram->bins;
}

static void flush(const struct gf_tiles *tiles, struct tally *tally, struct gf_histogram *histogram)
{
    for (int across = 0; across < tiles->columns && tally->down >= 0; across++) {
        uint64_t *const count = counters_of(tiles, across, tally->down, histogram);
        for (int turn = 0; turn < GF_HISTOGRAM_TURNS; turn++) {
            for (int v = 0; v < 256; v++)
                count[v] += tally->count[across][turn][v];
        }
    }
    memset(tally, 0, sizeof *tally);
    tally->down = -1;
}

/* Counts columns x .. x + n - 1 of a row in the tiles that contain them. */
static void count_inside(const struct gf_tiles *tiles, int y, int x, const uint32_t *bin, int n,
                         struct tally *tally, struct gf_histogram *histogram)
{
    for (int i = 0; i < n;) {
        const int across = (x + i) / tiles->width, left = (across + 1) * tiles->width - (x + i);
        const int run = left < n - i ? left : n - i;
        if (histogram->bins == 256)
            gf_count_8(bin + i, run, tally->count[across]);
        else
            gf_count_16(bin + i, run, counters_of(tiles, across, y / tiles->height, histogram));
        i += run;
    }
}

/* Tiles may extend beyond the picture, which is reflected there. Counts columns first .. end - 1 of
 * row `place` of the extended picture, where they show one of these n pixels. */
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
                    struct tally *tally, struct gf_histogram *histogram)
{
    const struct gf_format format = view->format;
    const unsigned char *const row = gf_view_row(view, y);
    const int pixel_bytes = format.channels * format.bits / 8;
    const int width = format.width, end = tiles->columns * tiles->width;
    uint32_t bin[PIECE];
    for (int x = 0; x < width; x += PIECE) {
        const int n = width - x < PIECE ? width - x : PIECE;
        gf_histogram_luma(row + (ptrdiff_t)x * pixel_bytes, n, format, bin);
        count_inside(tiles, y, x, bin, n, tally, histogram);
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
    struct tally tally = {.down = -1};
    for (int y = view->y; y < view->y + view->rows; y++) {
        if (tally.down != y / tiles.height)
            flush(&tiles, &tally, histogram);
        tally.down = y / tiles.height;
        add_row(view, &tiles, y, &tally, histogram);
    }
    flush(&tiles, &tally, histogram);
}

void gf_histogram_add(const struct gf_view *view, enum gf_statistic statistic,
                      struct gf_histogram *histogram)
{
    if (gf_statistic_kind(statistic) == GF_STATISTIC_TILES)
        add_tiles(view, statistic, histogram);
    else
        gf_histogram_add_whole(view, statistic, histogram);
}
