/* Tiles that are kept because several windows of a picture may need them. */
#include <stdlib.h>
#include <string.h>

#include "codec/tiff/tiff.h"

enum { KEPT_MOST = 1024 };
#define KEPT_BYTES ((size_t)64 << 20)

static struct gf_tiff_kept *find(const struct gf_tiff_source *tiff, int column, int row)
{
    for (int i = 0; i < tiff->kept_count; i++) {
        if (tiff->kept[i].column == column && tiff->kept[i].row == row)
            return &tiff->kept[i];
    }
    return NULL;
}

/* The bytes of a tile's rows in the band. */
static size_t band_bytes(const struct gf_tiff_source *tiff)
{
    return gf_tiff_band_pitch(tiff) * (size_t)tiff->band_rows;
}

bool gf_tiff_take_kept(struct gf_tiff_source *tiff, int column)
{
    struct gf_tiff_kept *const kept = find(tiff, column, tiff->band_first);
    if (!kept)
        return false;
    memcpy(gf_tiff_place(tiff, column), kept->pixels, band_bytes(tiff));
    kept->used = ++tiff->kept_uses;
    return true;
}

static size_t tile_bytes(const struct gf_tiff_source *tiff)
{
    return gf_pixel_bytes(tiff->layout.format) * (size_t)tiff->layout.tile_width *
           (size_t)tiff->layout.tile_height;
}

uint64_t gf_tiff_plan_kept(struct gf_tiff_source *tiff)
{
    const uint64_t limit = tiff->options.memory_bytes / 8, bytes = tile_bytes(tiff);
    const int rows = tiff->block_rows, first = tiff->window.y / rows,
              last = (tiff->window.y + tiff->window.height - 1) / rows;
    const uint64_t room = (limit && limit < KEPT_BYTES ? limit : KEPT_BYTES) / bytes,
                   held = (uint64_t)tiff->kept_count,
                   wanted = held + (uint64_t)(last - first + 1) * (uint64_t)tiff->columns;
    const uint64_t most = wanted < room ? wanted : room;
    tiff->kept_most = !tiff->more ? 0 : most < KEPT_MOST ? (int)most : KEPT_MOST;
    return bytes * (tiff->more ? (uint64_t)tiff->kept_most : held);
}

/* Returns a place for a tile: a new one, or that of the tile which was not used for the longest
 * time. NULL: memory ran out, so that the tile will be decoded again. */
static struct gf_tiff_kept *make_room(struct gf_tiff_source *tiff)
{
    if (!tiff->kept)
        tiff->kept = calloc(KEPT_MOST, sizeof *tiff->kept);
    if (!tiff->kept || !tiff->kept_most)
        return NULL;
    if (tiff->kept_count < tiff->kept_most) {
        unsigned char *const pixels = malloc(tile_bytes(tiff));
        tiff->kept[tiff->kept_count].pixels = pixels;
        return pixels ? &tiff->kept[tiff->kept_count++] : NULL;
    }
    struct gf_tiff_kept *oldest = tiff->kept;
    for (int i = 1; i < tiff->kept_count; i++)
        oldest = tiff->kept[i].used < oldest->used ? &tiff->kept[i] : oldest;
    return oldest;
}

void gf_tiff_keep(struct gf_tiff_source *tiff, int count)
{
    for (int i = 0; i < count; i++) {
        struct gf_tiff_kept *const kept = make_room(tiff);
        if (!kept)
            return;
        memcpy(kept->pixels, gf_tiff_place(tiff, tiff->wanted[i]), band_bytes(tiff));
        kept->column = tiff->wanted[i];
        kept->row = tiff->band_first;
        kept->used = ++tiff->kept_uses;
    }
}

void gf_tiff_forget(struct gf_tiff_source *tiff)
{
    for (int i = 0; i < tiff->kept_count; i++)
        free(tiff->kept[i].pixels);
    free(tiff->kept);
    tiff->kept = NULL;
    tiff->kept_count = 0;
}

int gf_tiff_count_blocks(const struct gf_tiff_source *tiff)
{
    const int y = tiff->window.y, end = y + tiff->window.height, rows = tiff->block_rows;
    const int width = tiff->layout.tile_width;
    int64_t count = (end - 1) / rows - y / rows + 1;
    if (width && tiff->layout.colour != GF_TIFF_DISPLAY)
        count *= tiff->columns;
    for (int i = 0; i < tiff->kept_count; i++) {
        const struct gf_tiff_kept *const kept = &tiff->kept[i];
        const int x = kept->column * width;
        count -= kept->row > y - rows && kept->row < end && x >= tiff->band_x &&
                 x < tiff->band_x + tiff->columns * tiff->side;
    }
    return count < INT32_MAX ? (int)count : INT32_MAX;
}
