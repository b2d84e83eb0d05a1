#include "filters/median/median.h"
#include "pixel/stencil.h"
#include "stage/border.h"

enum {
    TILE_SAMPLES = 1 << 16,
    TILE_ROWS = 96, /* rows of results */
    DIGIT = 8,      /* bits of a key that are sorted at a time */
    DIGITS = 4,
    BINS = 1 << DIGIT
};

/* A tile of one channel with its border. */
struct tile {
    struct gf_stage stage;    /* the filter on the ranks */
    int columns, rows;        /* of results */
    int *at;                  /* for each column its place in a row, or -1 for 0 */
    uint64_t *sorted, *other; /* a key, which has no sign, and 16 bits that tell its place */
    uint16_t *ranks, *medians;
    void *own;
};

static size_t carve_tile(struct tile *tile, void *base, const struct gf_stage *stage, int rows)
{
    struct gf_carver carver = {.base = base};
    const int pad = 2 * ((const struct gf_median *)stage->params)->radius;
    *tile = (struct tile){.stage = *stage, .rows = rows < TILE_ROWS ? rows : TILE_ROWS};
    tile->columns = TILE_SAMPLES / (TILE_ROWS + pad) - pad;
    if (tile->columns > stage->in.width)
        tile->columns = stage->in.width;
    const size_t width = (size_t)(tile->columns + pad);
    tile->stage.in = (struct gf_format){
        .width = tile->columns + pad, .height = tile->rows + pad, .channels = 1, .bits = 16};
    tile->at = gf_carve(&carver, width * sizeof *tile->at);
    tile->sorted = gf_carve(&carver, TILE_SAMPLES * sizeof *tile->sorted);
    tile->other = gf_carve(&carver, TILE_SAMPLES * sizeof *tile->other);
    tile->ranks = gf_carve(&carver, TILE_SAMPLES * sizeof *tile->ranks);
    tile->medians = gf_carve(&carver, TILE_SAMPLES * sizeof *tile->medians);
    tile->own = gf_carve(&carver, 0);
    gf_carve(&carver, stage->filter->cpu_scratch(&tile->stage, tile->rows));
    return carver.used;
}

/* Sorts by keys, from their lowest digit to their highest one. `counts` has how often each digit
 * occurs. */
static void sort(struct tile *tile, uint32_t (*counts)[BINS], size_t count)
{
    for (int digit = 0; digit < DIGITS; digit++) {
        const int shift = 16 + DIGIT * digit;
        uint64_t *const from = tile->sorted, *const to = tile->other;
        uint32_t *const place = counts[digit], sum = 0;
        for (int i = 0; i < BINS; i++) {
            const uint32_t here = place[i];
            place[i] = sum;
            sum += here;
        }
        for (size_t i = 0; i < count; i++)
            to[place[from[i] >> shift & (BINS - 1)]++] = from[i];
        tile->sorted = to;
        tile->other = from;
    }
}

/* Gathers the tile's keys of a channel, and ranks them. (x0, y0) is the first result. */
static void rank_tile(struct tile *tile, const struct gf_view *in, int x0, int y0, int channel,
                      int border)
{
    const int radius = gf_stage_radius(&tile->stage), width = tile->stage.in.width;
    uint32_t counts[DIGITS][BINS] = {{0}};
    size_t count = 0;
    for (int x = 0; x < width; x++) {
        const int from = gf_border_index(x0 - radius + x, in->format.width, border);
        tile->at[x] = from < 0 ? -1 : from * in->format.channels + channel;
    }
    for (int y = 0; y < tile->stage.in.height; y++) {
        const int from = gf_border_index(y0 - radius + y, in->format.height, border);
        const int32_t *const row = from < 0 ? NULL : (const int32_t *)gf_view_row(in, from);
        for (int x = 0; x < width; x++, count++) {
            const int32_t v = row && tile->at[x] >= 0 ? row[tile->at[x]] : 0;
            const uint32_t key = (uint32_t)v ^ 0x80000000;
            tile->sorted[count] = (uint64_t)key << 16 | count;
            for (int digit = 0; digit < DIGITS; digit++)
                counts[digit][key >> DIGIT * digit & (BINS - 1)]++;
        }
    }
    sort(tile, counts, count);
    for (size_t i = 0; i < count; i++)
        tile->ranks[tile->sorted[i] & 0xffff] = (uint16_t)i;
}

static void tile_medians(struct tile *tile, const struct gf_view *out, int x0, int y0, int channel)
{
    const struct gf_format format = tile->stage.in;
    const int radius = gf_stage_radius(&tile->stage), rows = format.height - 2 * radius;
    const size_t pitch = gf_row_bytes(format);
    const struct gf_view ranks = gf_view_make((unsigned char *)tile->ranks, pitch, format,
                                              (struct gf_rows){0, format.height}),
                         medians = gf_view_make((unsigned char *)tile->medians, pitch, format,
                                                (struct gf_rows){radius, radius + rows});
    tile->stage.filter->cpu(&tile->stage, &ranks, &medians, tile->own);
    for (int y = 0; y < rows; y++) {
        const uint16_t *const from = tile->medians + (size_t)(y * format.width + radius);
        int32_t *const to =
            (int32_t *)gf_view_row(out, y0 + y) + x0 * out->format.channels + channel;
        for (int x = 0; x < format.width - 2 * radius; x++)
            to[x * out->format.channels] = (int32_t)(tile->sorted[from[x]] >> 16 ^ 0x80000000);
    }
}

size_t gf_median_ranks_scratch(const struct gf_stage *stage, int rows)
{
    return carve_tile(&(struct tile){.rows = 0}, NULL, stage, rows);
}

void gf_median_ranks(const struct gf_stage *stage, const struct gf_view *in,
                     const struct gf_view *out, void *scratch)
{
    const struct gf_median *const asked = stage->params;
    const struct gf_median inside = {asked->radius, GF_BORDER_EDGE};
    const int pad = 2 * asked->radius, end = out->y + out->rows, width = in->format.width;
    struct tile tile;
    carve_tile(&tile, scratch, stage, out->rows);
    tile.stage.params = &inside;
    for (int y = out->y; y < end; y += tile.rows) {
        for (int x = 0; x < width; x += tile.columns) {
            tile.stage.in.height = (end - y < tile.rows ? end - y : tile.rows) + pad;
            tile.stage.in.width = (width - x < tile.columns ? width - x : tile.columns) + pad;
            tile.stage.out = tile.stage.in;
            for (int c = 0; c < in->format.channels; c++) {
                rank_tile(&tile, in, x, y, c, asked->border);
                tile_medians(&tile, out, x, y, c);
            }
        }
    }
}
