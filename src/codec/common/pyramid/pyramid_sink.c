/* The sink of a pyramid. Each level keeps the rows of one row of tiles, or of two so that tiles are
 * encoded while the next rows come; each of its rows goes on to the level below at once. The thread
 * that calls submits tiles as soon as their rows are complete, and takes them back in their order.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/buffers.h"
#include "base/threads/ordered.h"
#include "base/threads/times.h"
#include "codec/common/pyramid/pyramid.h"

enum {
    TILES_AHEAD = 64,           /* how many tiles may be submitted */
    TWO_STRIPS_MOST = 256 << 20 /* two rows of tiles are kept unless all levels' take more */
};

struct level {
    struct gf_format format;
    size_t pitch;
    size_t tile_pitch, tile_bytes; /* of a tile, if in_tiles() */
    unsigned char *strip[2];       /* both are the same if one row of tiles is kept */
    int pending[2];                /* how many tiles of a strip are submitted */
    int first, y, row;             /* the first row in the strip, the next row, the tiles' row */
    struct gf_shrinker *shrinker;  /* NULL: no level is below */
};

struct slot {
    struct gf_tile tile;
    struct gf_coded coded;
    int *pending; /* of the tile's strip */
};

struct pyramid_sink {
    struct gf_sink base;
    struct gf_pyramid pyramid;
    struct gf_tile_store *store;
    struct gf_ordered *ordered;
    struct slot *slot;
    int slots, submitted, taken;
    int spliced;           /* how many tiles of pyramid_splice() are submitted */
    unsigned char *memory; /* all strips */
    size_t memory_bytes;
    struct level level[GF_PYRAMID_LEVELS_MAX];
    struct gf_profile_level counts[GF_PYRAMID_LEVELS_MAX];
};

static enum gf_status encode(void *context, int thread, int item, struct gf_error *error)
{
    struct pyramid_sink *const sink = context;
    struct slot *const slot = &sink->slot[item % sink->slots];
    GF_TRY(gf_time_check(error));
    return sink->store->encode(sink->store, thread, &slot->tile, &slot->coded, error);
}

static enum gf_status take_tile(struct pyramid_sink *sink, struct gf_error *error)
{
    const struct slot *const slot = &sink->slot[sink->taken % sink->slots];
    GF_TRY(gf_ordered_take(sink->ordered, error));
    sink->taken++;
    --*slot->pending;
    sink->counts[slot->tile.level].bytes += (long long)slot->coded.size;
    if (sink->base.tiles_done)
        ++*sink->base.tiles_done;
    return sink->store->put(sink->store, &slot->tile, &slot->coded, error);
}

/* ---- the rows of a level ---- */

static int strip_rows(const struct gf_pyramid *pyramid, int level)
{
    const int rows = pyramid->tile_height + 2 * pyramid->overlap;
    return rows < pyramid->level[level].height ? rows : pyramid->level[level].height;
}

/* Whether the tiles of a strip follow each other in memory, so that a store can encode them from
 * there: no level is made of the rows, and tiles share no pixels. */
static bool in_tiles(const struct gf_pyramid *pyramid)
{
    return pyramid->levels == 1 && !pyramid->overlap;
}

static uint64_t strip_bytes(const struct gf_pyramid *pyramid, int level)
{
    struct gf_format format = pyramid->format;
    format.width = in_tiles(pyramid) ? pyramid->level[level].columns * pyramid->tile_width
                                     : pyramid->level[level].width;
    return (uint64_t)gf_row_bytes(format) * (uint64_t)strip_rows(pyramid, level);
}

/* Returns 2, or 1 if two strips of each level take much memory. */
static int strips_of(const struct gf_pyramid *pyramid)
{
    uint64_t bytes = 0;
    for (int i = 0; i < pyramid->levels; i++)
        bytes += strip_bytes(pyramid, i);
    return bytes > TWO_STRIPS_MOST ? 1 : 2;
}

/* Goes to the next strip of a level: waits until no tile of it is in work, and copies the rows that
 * it shares with the strip before. */
static enum gf_status turn(struct pyramid_sink *sink, struct level *level, struct gf_error *error)
{
    const struct gf_pyramid *const pyramid = &sink->pyramid;
    const int from = level->row++ % 2, to = level->row % 2;
    const int first = level->row * pyramid->tile_height - pyramid->overlap;
    const bool is_same = level->strip[from] == level->strip[to];
    while (level->pending[to] || (is_same && level->pending[from]))
        GF_TRY(take_tile(sink, error));
    memmove(level->strip[to], level->strip[from] + (size_t)(first - level->first) * level->pitch,
            (size_t)(level->y - first) * level->pitch);
    level->first = first;
    return GF_OK;
}

/* Submits the tiles of the strip whose rows are complete. */
static enum gf_status submit(struct pyramid_sink *sink, int number, struct gf_error *error)
{
    struct level *const level = &sink->level[number];
    for (int column = 0; column < sink->pyramid.level[number].columns; column++) {
        if (sink->submitted - sink->taken == sink->slots)
            GF_TRY(take_tile(sink, error));
        struct slot *const slot = &sink->slot[sink->submitted++ % sink->slots];
        slot->tile = gf_pyramid_tile(&sink->pyramid, number, column, level->row);
        slot->tile.pitch = level->tile_bytes ? level->tile_pitch : level->pitch;
        slot->tile.pixels =
            level->strip[level->row % 2] +
            (level->tile_bytes ? (size_t)column * level->tile_bytes
                               : (size_t)slot->tile.x * gf_pixel_bytes(level->format));
        slot->pending = &level->pending[level->row % 2];
        ++*slot->pending;
        gf_ordered_submit(sink->ordered);
    }
    return GF_OK;
}

/* Whether all rows of the strip are there. */
static bool is_complete(const struct pyramid_sink *sink, int number)
{
    const struct level *const level = &sink->level[number];
    const struct gf_pyramid *const pyramid = &sink->pyramid;
    const long long end = ((long long)level->row + 1) * pyramid->tile_height + pyramid->overlap;
    return level->y == level->format.height || level->y >= end;
}

static unsigned char *next_row(struct level *level)
{
    return level->strip[level->row % 2] + (size_t)(level->y - level->first) * level->pitch;
}

/* Counts the level's next row, which the caller has made, and makes those of the levels below that
 * it completes. */
static enum gf_status row_is_made(struct pyramid_sink *sink, int number, struct gf_error *error)
{
    struct level *const level = &sink->level[number];
    if (level->shrinker)
        gf_shrinker_take(level->shrinker, next_row(level));
    level->y++;
    while (level->shrinker && gf_shrinker_can(level->shrinker)) {
        gf_shrinker_make(level->shrinker, next_row(level + 1));
        GF_TRY(row_is_made(sink, number + 1, error));
    }
    while (is_complete(sink, number)) {
        GF_TRY(submit(sink, number, error));
        if (level->row + 1 == sink->pyramid.level[number].rows)
            break;
        GF_TRY(turn(sink, level, error));
    }
    return GF_OK;
}

/* Copies the next row to its tiles. */
static void cut_row(const struct level *level, const unsigned char *row)
{
    const size_t pitch = level->tile_pitch;
    unsigned char *to = level->strip[level->row % 2] + (size_t)(level->y - level->first) * pitch;
    for (size_t at = 0; at < level->pitch; at += pitch, to += level->tile_bytes)
        memcpy(to, row + at, level->pitch - at < pitch ? level->pitch - at : pitch);
}

static enum gf_status pyramid_write(struct gf_sink *base, int rows, const unsigned char *src,
                                    size_t pitch, struct gf_error *error)
{
    struct pyramid_sink *const sink = (struct pyramid_sink *)base;
    for (int i = 0; i < rows; i++) {
        const unsigned char *const row = src + (size_t)i * pitch;
        if (sink->level->tile_bytes)
            cut_row(sink->level, row);
        else
            memcpy(next_row(sink->level), row, sink->level->pitch);
        GF_TRY(row_is_made(sink, 0, error));
    }
    while (gf_ordered_is_due(sink->ordered, sink->slots))
        GF_TRY(take_tile(sink, error));
    return GF_OK;
}

/* Lets the threads make files of tiles that are coded already. */
static enum gf_status pyramid_splice(struct gf_sink *base, const struct gf_tile *tiles, int count,
                                     struct gf_error *error)
{
    struct pyramid_sink *const sink = (struct pyramid_sink *)base;
    for (int i = 0; i < count; i++) {
        if (sink->submitted - sink->taken == sink->slots)
            GF_TRY(take_tile(sink, error));
        struct slot *const slot = &sink->slot[sink->submitted++ % sink->slots];
        slot->tile = tiles[i];
        slot->pending = &sink->spliced;
        ++*slot->pending;
        gf_ordered_submit(sink->ordered);
    }
    while (sink->taken < sink->submitted)
        GF_TRY(take_tile(sink, error));
    return GF_OK;
}

static enum gf_status pyramid_finish(struct gf_sink *base, struct gf_error *error)
{
    struct pyramid_sink *const sink = (struct pyramid_sink *)base;
    while (sink->taken < sink->submitted)
        GF_TRY(take_tile(sink, error));
    return sink->store->finish(sink->store, error);
}

static void pyramid_close(struct gf_sink *base)
{
    struct pyramid_sink *const sink = (struct pyramid_sink *)base;
    gf_ordered_close(sink->ordered);
    for (int i = 0; i < GF_PYRAMID_LEVELS_MAX; i++)
        gf_shrinker_close(sink->level[i].shrinker);
    for (int i = 0; sink->slot && i < sink->slots; i++)
        free(sink->slot[i].coded.data);
    free(sink->slot);
    if (sink->memory)
        gf_pages_free(sink->memory, sink->memory_bytes);
    sink->store->close(sink->store);
    free(sink);
}

/* ---- opening ---- */

static size_t all_strips(const struct gf_pyramid *pyramid)
{
    uint64_t bytes = 0;
    for (int i = 0; i < pyramid->levels; i++)
        bytes += strip_bytes(pyramid, i) * (uint64_t)strips_of(pyramid);
    return (size_t)bytes;
}

struct gf_codec_memory gf_pyramid_memory(const struct gf_pyramid *pyramid, int threads)
{
    const struct gf_tile tile = gf_pyramid_tile(pyramid, 0, 0, 0);
    uint64_t bytes = all_strips(pyramid);
    struct gf_format format = pyramid->format;
    for (int i = 0; i + 1 < pyramid->levels; i++) {
        format.width = pyramid->level[i].width;
        bytes += gf_shrinker_bytes(pyramid->shrink, format);
    }
    /* Coded tiles that wait, and what each thread's encoder takes. */
    bytes += (uint64_t)gf_row_bytes(tile.format) * (uint64_t)tile.format.height *
             (uint64_t)(TILES_AHEAD / 2 + 2 * threads);
    return (struct gf_codec_memory){bytes, "two rows of tiles of each level are kept"};
}

static enum gf_status open_levels(struct pyramid_sink *sink, struct gf_error *error)
{
    const struct gf_pyramid *const pyramid = &sink->pyramid;
    const int strips = strips_of(pyramid);
    sink->memory_bytes = all_strips(pyramid);
    sink->memory = gf_pages_alloc(sink->memory_bytes);
    unsigned char *at = sink->memory;
    GF_ALLOCATED(at, error);
    for (int i = 0; i < pyramid->levels; i++) {
        struct level *const level = &sink->level[i];
        const size_t bytes = (size_t)strip_bytes(pyramid, i);
        level->format = pyramid->format;
        level->format.width = pyramid->level[i].width;
        level->format.height = pyramid->level[i].height;
        level->pitch = gf_row_bytes(level->format);
        level->tile_pitch = gf_pixel_bytes(level->format) * (size_t)pyramid->tile_width;
        level->tile_bytes = in_tiles(pyramid) ? bytes / (size_t)pyramid->level[i].columns : 0;
        sink->counts[i] = (struct gf_profile_level){.width = level->format.width,
                                                    .height = level->format.height,
                                                    .tiles = (long long)pyramid->level[i].columns *
                                                             pyramid->level[i].rows};
        level->strip[0] = at;
        level->strip[1] = strips == 2 ? at + bytes : at;
        at += bytes * (size_t)strips;
        if (i + 1 < pyramid->levels)
            GF_TRY(gf_shrinker_open(pyramid->shrink, level->format, &level->shrinker, error));
    }
    return GF_OK;
}

static enum gf_status open_sink(struct pyramid_sink *sink, int threads, struct gf_error *error)
{
    sink->slots = TILES_AHEAD;
    sink->slot = calloc((size_t)sink->slots, sizeof *sink->slot);
    GF_ALLOCATED(sink->slot, error);
    GF_TRY(open_levels(sink, error));
    const struct gf_ordered_setup setup = {
        .call = encode, .context = sink, .threads = threads, .helps = true, .slots = sink->slots};
    return gf_ordered_open(&setup, &sink->ordered, error);
}

enum gf_status gf_pyramid_sink_open(const struct gf_pyramid *pyramid, int threads,
                                    struct gf_tile_store *store, struct gf_sink **sink,
                                    struct gf_error *error)
{
    struct pyramid_sink *const opened = calloc(1, sizeof *opened);
    if (!opened) {
        store->close(store);
        return gf_fail_memory(error);
    }
    opened->base.write = pyramid_write;
    opened->base.finish = pyramid_finish;
    opened->base.close = pyramid_close;
    if (store->file) {
        opened->base.splice_tiles = pyramid_splice;
        opened->base.pyramid = &opened->pyramid;
        opened->base.tile_file = store->file;
        opened->base.tile_options = store->options;
    }
    opened->base.levels = opened->counts;
    opened->base.level_count = pyramid->levels;
    opened->pyramid = *pyramid;
    opened->store = store;
    GF_OPENED(open_sink(opened, threads, error), pyramid_close, &opened->base, sink);
}
