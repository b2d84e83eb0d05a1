/* The plan of a pyramid: the sizes of its levels, and where the tiles lie. */
#include "codec/common/pyramid/pyramid.h"

#include <stdlib.h>

#include "base/fail.h"

static int parts_of(int whole, int part)
{
    return (whole + part - 1) / part;
}

void gf_pyramid_plan(struct gf_pyramid *pyramid, enum gf_pyramid_end end)
{
    const int most_width = end == GF_PYRAMID_TO_TILE ? pyramid->tile_width : 1,
              most_height = end == GF_PYRAMID_TO_TILE ? pyramid->tile_height : 1;
    int width = pyramid->format.width, height = pyramid->format.height;
    pyramid->levels = 0;
    for (;; width = parts_of(width, 2), height = parts_of(height, 2)) {
        pyramid->level[pyramid->levels++] = (struct gf_pyramid_level){
            .width = width,
            .height = height,
            .columns = parts_of(width, pyramid->tile_width),
            .rows = parts_of(height, pyramid->tile_height),
        };
        if (width <= most_width && height <= most_height)
            return;
    }
}

/* Sets where a tile begins along one side and how long it is. */
static void place(int index, int tile, int overlap, int whole, int *first, int *length)
{
    const long long least = (long long)index * tile - overlap,
                    end = ((long long)index + 1) * tile + overlap;
    *first = least > 0 ? (int)least : 0;
    *length = (end < whole ? (int)end : whole) - *first;
}

struct gf_tile gf_pyramid_tile(const struct gf_pyramid *pyramid, int level, int column, int row)
{
    const struct gf_pyramid_level *const of = &pyramid->level[level];
    struct gf_tile tile = {.level = level, .column = column, .row = row, .format = pyramid->format};
    place(column, pyramid->tile_width, pyramid->overlap, of->width, &tile.x, &tile.format.width);
    place(row, pyramid->tile_height, pyramid->overlap, of->height, &tile.y, &tile.format.height);
    return tile;
}

long long gf_pyramid_tiles(const struct gf_pyramid *pyramid)
{
    long long tiles = 0;
    for (int i = 0; i < pyramid->levels; i++)
        tiles += (long long)pyramid->level[i].columns * pyramid->level[i].rows;
    return tiles;
}

/* ---- the order of the tiles ---- */

struct walk {
    const struct gf_pyramid *pyramid;
    int y[GF_PYRAMID_LEVELS_MAX], row[GF_PYRAMID_LEVELS_MAX]; /* the rows and rows of tiles done */
    struct gf_tile_row *list;
    int count;
};

/* Counts a row of a level, as row_is_made() of the sink does. */
static void pass_row(struct walk *walk, int level)
{
    const struct gf_pyramid *const pyramid = walk->pyramid;
    const struct gf_pyramid_level *const of = &pyramid->level[level];
    const int y = ++walk->y[level];
    if (level + 1 < pyramid->levels && (y % 2 == 0 || y == of->height))
        pass_row(walk, level + 1);
    while (walk->row[level] < of->rows &&
           (y == of->height ||
            y >= ((long long)walk->row[level] + 1) * pyramid->tile_height + pyramid->overlap))
        walk->list[walk->count++] = (struct gf_tile_row){level, walk->row[level]++};
}

struct gf_tile_row *gf_pyramid_order(const struct gf_pyramid *pyramid, int *count)
{
    size_t rows = 0;
    for (int i = 0; i < pyramid->levels; i++)
        rows += (size_t)pyramid->level[i].rows;
    struct walk walk = {.pyramid = pyramid, .list = malloc(rows * sizeof *walk.list)};
    for (int y = 0; walk.list && y < pyramid->format.height; y++)
        pass_row(&walk, 0);
    *count = walk.count;
    return walk.list;
}

enum gf_status gf_coded_room(struct gf_coded *coded, size_t size, struct gf_error *error)
{
    if (size <= coded->room)
        return GF_OK;
    free(coded->data);
    coded->data = malloc(size);
    coded->room = coded->data ? size : 0;
    return coded->data ? GF_OK : gf_fail_memory(error);
}
