/* A picture as a pyramid of tiles: levels of which each is half as wide and high as the one before,
 * cut into tiles. The plan says where tiles lie; the sink makes all levels in one pass over the
 * rows of the first, and gives the tiles to a store, which encodes and keeps them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "codec/common/rows/source.h"
#include "gpufilter/image.h"
#include "gpufilter/options.h"

/* How a level is made of the one before. The definition is in pixel/resample/halve.h. */
enum gf_shrink { GF_SHRINK_AREA, GF_SHRINK_LANCZOS3 };

/* Where the levels end: with the first that fits into a tile, or that is one pixel. */
enum gf_pyramid_end { GF_PYRAMID_TO_TILE, GF_PYRAMID_TO_PIXEL };

enum { GF_PYRAMID_LEVELS_MAX = 25 }; /* sides have at most 2^24 pixels */

struct gf_pyramid_level {
    int width, height; /* in pixels; halves are rounded up */
    int columns, rows; /* how many tiles there are */
};

enum gf_pyramid_layout {
    GF_LAYOUT_NONE, /* no pyramid is wanted */
    GF_LAYOUT_ANY,  /* the output's name decides */
    GF_LAYOUT_DZ,
    GF_LAYOUT_ZOOMIFY,
    GF_LAYOUT_GOOGLE,
    GF_LAYOUT_IIIF,
    GF_LAYOUT_IIIF3,
    GF_LAYOUT_COG,
    GF_LAYOUT_SUBIFDS
};

/* What options->pyramid says. */
struct gf_pyramid_choice {
    enum gf_pyramid_layout layout;
    enum gf_shrink shrink;
    int overlap;    /* -1: as is usual for the layout */
    const char *id; /* of IIIF; NULL: none. It lies in options->pyramid */
};
/* Reads options->pyramid, or returns GF_ERROR_USAGE. */
enum gf_status gf_pyramid_choose(const struct gf_options *options, struct gf_pyramid_choice *choice,
                                 struct gf_error *error) GF_CHECKED;
/* Finds the layout of the pyramid that goes to an output of that name (NULL: to memory):
 * GF_LAYOUT_NONE if none does. Returns GF_ERROR_USAGE if the name does not fit the options. */
enum gf_status gf_pyramid_layout_of(const char *name, const struct gf_options *options,
                                    enum gf_pyramid_layout *layout,
                                    struct gf_error *error) GF_CHECKED;
/* Whether the name of a file ends in such an extension, which begins with a dot, behind a stem. */
bool gf_pyramid_named(const char *name, const char *extension);
/* Whether a pyramid of that name is a zip of its files: a .szi, or, of a layout that the options
 * name, a .zip. */
bool gf_pyramid_in_zip(const char *name);
/* Returns the folder of the tiles that the file of that name, a .dzi, describes. The caller frees
 * it; NULL when out of memory. */
char *gf_pyramid_folder(const char *name);
/* Returns the index-th word for a layout, the name of GF_LAYOUT_DZ first; NULL past the last. */
const char *gf_pyramid_word(int index);

/* The caller sets the members before `levels`; gf_pyramid_plan() sets the others. */
struct gf_pyramid {
    struct gf_format format; /* of the picture */
    int tile_width, tile_height;
    int overlap; /* pixels that a tile has beyond each side that is inside the picture */
    enum gf_shrink shrink;
    bool whole_tiles; /* a GPU codes tiles of the edge as whole ones, whose last pixels repeat */
    int levels;
    struct gf_pyramid_level level[GF_PYRAMID_LEVELS_MAX]; /* the first is the whole picture */
};

struct gf_tile {
    int level, column, row;      /* all from 0 */
    int x, y;                    /* of its first pixel in the level */
    struct gf_format format;     /* its size, which is smaller at the right and lower edge */
    const unsigned char *pixels; /* NULL: a GPU has made the tile's coded bytes, see splice() */
    size_t pitch;
    const unsigned char *coded; /* these bytes */
    size_t coded_size;
};

/* The bytes of a coded tile. The memory is reused: encode() calls gf_coded_room(), and sets
 * `size`. */
struct gf_coded {
    unsigned char *data;
    size_t size, room;
};

/* What becomes of the tiles. Tiles are put in an order that does not depend on the number of
 * threads: as soon as the rows of a row of tiles are there, from left to right. Where a row of the
 * picture completes tiles of several levels, those of the smallest level come first. */
struct gf_tile_store {
    /* If `file` is not 0, a GPU may encode tiles as files of this type, with these options;
     * encode() then gets their coded bytes, as a sink's splice() does. */
    enum gf_file_format file;
    const struct gf_options *options;
    /* Encodes a tile. Several threads, `worker` is 0 .. threads - 1, call it at once. */
    enum gf_status (*encode)(struct gf_tile_store *store, int worker, const struct gf_tile *tile,
                             struct gf_coded *coded, struct gf_error *error);
    /* Keeps a coded tile. Called by the thread that calls the sink. tile->pixels are still
     * there. */
    enum gf_status (*put)(struct gf_tile_store *store, const struct gf_tile *tile,
                          const struct gf_coded *coded, struct gf_error *error);
    /* Completes the output, after the last tile. */
    enum gf_status (*finish)(struct gf_tile_store *store, struct gf_error *error);
    void (*close)(struct gf_tile_store *store); /* frees the store */
};

/* Sets the sizes of the levels. */
void gf_pyramid_plan(struct gf_pyramid *pyramid, enum gf_pyramid_end end);
/* Returns a tile without pixels: where it is, and its size. */
struct gf_tile gf_pyramid_tile(const struct gf_pyramid *pyramid, int level, int column, int row);
/* Returns the number of tiles of all levels. */
long long gf_pyramid_tiles(const struct gf_pyramid *pyramid);
/* A row of tiles of a level. */
struct gf_tile_row {
    int level, row;
};
/* Lists all rows of tiles in the order in which the sink puts them if it shrinks by
 * GF_SHRINK_AREA. The caller frees the list; NULL when out of memory. */
struct gf_tile_row *gf_pyramid_order(const struct gf_pyramid *pyramid, int *count);
/* Returns the memory that the sink takes: about two rows of tiles for each level. */
struct gf_codec_memory gf_pyramid_memory(const struct gf_pyramid *pyramid, int threads);
/* Makes room for `size` bytes, whose contents are undefined. */
enum gf_status gf_coded_room(struct gf_coded *coded, size_t size,
                             struct gf_error *error) GF_CHECKED;

/* Opens a sink that takes the rows of the picture. It owns the store from now on, and closes it
 * even after a failure of this call. */
enum gf_status gf_pyramid_sink_open(const struct gf_pyramid *pyramid, int threads,
                                    struct gf_tile_store *store, struct gf_sink **sink,
                                    struct gf_error *error) GF_CHECKED;

/* A shrinker makes the rows of a level from those of the level before, as they come (shrink.c). */

struct gf_shrinker; /* opaque */

/* Opens a shrinker of rows of `from` to rows of half the width. */
enum gf_status gf_shrinker_open(enum gf_shrink shrink, struct gf_format from,
                                struct gf_shrinker **shrinker, struct gf_error *error) GF_CHECKED;
/* Takes the next row, which must stay until the rows that it completes are made: the caller calls
 * gf_shrinker_make() as long as gf_shrinker_can() returns true. */
void gf_shrinker_take(struct gf_shrinker *shrinker, const unsigned char *row);
/* Whether the rows that were taken suffice for the next row of the result. */
bool gf_shrinker_can(struct gf_shrinker *shrinker);
void gf_shrinker_make(struct gf_shrinker *shrinker, unsigned char *row);
void gf_shrinker_close(struct gf_shrinker *shrinker);
/* Returns the memory that a shrinker takes. */
uint64_t gf_shrinker_bytes(enum gf_shrink shrink, struct gf_format from);
