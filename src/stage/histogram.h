/* The histograms that a stage may need of its input: what they count, and how they lie in
 * memory. */
#pragma once

#include <stdint.h>

#include "gpufilter/image.h"

/* What is counted. Pixels with zero alpha are not counted. */
enum gf_statistic {
    GF_STATISTIC_NONE,
    GF_STATISTIC_CHANNELS,  /* each colour channel has a histogram of its own */
    GF_STATISTIC_LUMA,      /* gf_luma601(), or the gray channel */
    GF_STATISTIC_JOINT,     /* all colour channels are counted in one histogram */
    GF_STATISTIC_LIGHTNESS, /* CIELAB L* scaled to 0..M; a gray sample counts as a gray RGB pixel */
    GF_STATISTIC_KINDS,
    /* Each tile of a grid has a histogram of its luma. gf_statistic_of_tiles() adds the size of the
     * grid. */
    GF_STATISTIC_TILES = GF_STATISTIC_KINDS,
    GF_STATISTIC_CELLS, /* no histogram, but a small copy of the picture (struct gf_cells) */
    GF_STATISTIC_MOST = 0xffffff
};
enum { GF_TILES_MAX = 16 };  /* the most tiles of a grid across or down */
enum { GF_CELLS_MAX = 128 }; /* the most cells across or down */

static inline enum gf_statistic gf_statistic_of_tiles(int columns, int rows)
{
    return (enum gf_statistic)(GF_STATISTIC_TILES | columns << 8 | rows << 16);
}

/* Returns the statistic without the size of its grid of tiles. */
static inline enum gf_statistic gf_statistic_kind(enum gf_statistic statistic)
{
    return (enum gf_statistic)(statistic & 255);
}

/* A picture that is cut into tiles of one size. If one side is no multiple of the number of tiles,
 * both sides are extended to the next multiple by reflecting the picture at its edge, as in
 * OpenCV's createCLAHE. */
struct gf_tiles {
    int columns, rows;
    int width, height; /* the size of a tile, in pixels */
};

static inline struct gf_tiles gf_tiles_of(enum gf_statistic statistic, struct gf_format format)
{
    struct gf_tiles tiles = {statistic >> 8 & 255, statistic >> 16 & 255, 0, 0};
    const int right = format.width % tiles.columns, below = format.height % tiles.rows;
    const int more_columns = right || below ? tiles.columns - right : 0;
    const int more_rows = right || below ? tiles.rows - below : 0;
    tiles.width = (format.width + more_columns) / tiles.columns;
    tiles.height = (format.height + more_rows) / tiles.rows;
    return tiles;
}

/* A picture that is cut into square cells, of which the last ones across and down may be partly
 * beyond it. A cell has a counter for each channel, the sum of its samples; colours are multiplied
 * by alpha before. The counters lie as [rows][columns][channels]. */
struct gf_cells {
    int columns, rows;
    int side; /* the side of a cell, in pixels: the least with at most GF_CELLS_MAX cells a side */
};

static inline struct gf_cells gf_cells_of(struct gf_format format)
{
    const int longer = format.width > format.height ? format.width : format.height;
    const int side = (longer - 1) / GF_CELLS_MAX + 1;
    const struct gf_cells cells = {(format.width - 1) / side + 1, (format.height - 1) / side + 1,
                                   side};
    return cells;
}

/* Of floats, 0..1 has GF_FLOAT_LEVELS levels: each number is counted at the nearest one, to an even
 * one between two, those beyond at the outermost ones, and NaN at none. The histogram of CHANNELS
 * also has counters for each channel that are exact: the sums of the significands of each exponent,
 * as two's complements, the numbers of NaN and of infinities, and how many positive numbers have
 * the same upper bits, sign, exponent and five of the significand. */
enum {
    GF_FLOAT_LEVELS = 65536,
    GF_EXACT_INFINITE = 255,
    GF_EXACT_NAN,
    GF_EXACT_UPPER, /* the first of the counters by the upper bits */
    GF_UPPER_SHIFT = 23 - 5,
    GF_EXACT = GF_EXACT_UPPER + (1 << (31 - GF_UPPER_SHIFT))
};

struct gf_histogram {
    int channels; /* the number of histograms: of colour channels for CHANNELS, of tiles for TILES,
                   * for CELLS as many as have room for their counters, otherwise 1 */
    int bins;     /* M + 1, where M is the largest sample, or GF_FLOAT_LEVELS */
    uint64_t *count; /* [channels][bins], then [channels][exact] */
    int exact;       /* GF_EXACT or 0: how many exact counters a channel has */
    /* Of floats, the least and the greatest finite number of each channel; else, and where there is
     * none, infinity and -infinity. Only the first is used for one histogram of all channels. */
    float low[3], high[3];
};
