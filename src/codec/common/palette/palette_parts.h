/* The steps of gf_palette_make(), which palette_choose.c and palette.c share. */
#pragma once

#include <string.h>

#include "codec/common/palette/palette.h"

/* A colour as a point. The square of the distance of two points is the mean squared difference that
 * is seen of the two colours on gray backgrounds of all levels: with the premultiplied colour p and
 * alpha a, that is the sum of (dp - da / 2)^2 over the three channels, and (da / 2)^2. A level is
 * GF_PALETTE_SCALE units, so that a squared distance has 24 bits. */
enum { GF_PALETTE_SCALE = 8, GF_PALETTE_AXES = 4 };
struct gf_palette_point {
    int16_t at[GF_PALETTE_AXES];
};

static inline struct gf_palette_point gf_palette_point_of(const unsigned char rgba[4])
{
    const int half = rgba[3] * GF_PALETTE_SCALE / 2;
    struct gf_palette_point point = {.at = {[3] = (int16_t)half}};
    for (int c = 0; c < 3; c++) {
        const int level = rgba[3] == 255 ? rgba[c] * GF_PALETTE_SCALE
                                         : (rgba[c] * rgba[3] * GF_PALETTE_SCALE + 127) / 255;
        point.at[c] = (int16_t)(level - half);
    }
    return point;
}

static inline uint32_t gf_palette_distance(struct gf_palette_point a, struct gf_palette_point b)
{
    uint32_t sum = 0;
    for (int i = 0; i < GF_PALETTE_AXES; i++)
        sum += (uint32_t)((a.at[i] - b.at[i]) * (a.at[i] - b.at[i]));
    return sum;
}

/* Points that are close to each other share a bin. The number of an opaque colour's bin has the
 * upper 6 bits of each channel; that of other colours has 5 bits of each, and 3 of alpha. */
enum {
    GF_PALETTE_OPAQUE = 255 * GF_PALETTE_SCALE / 2,
    GF_PALETTE_OPAQUE_BINS = 1 << 18,
    GF_PALETTE_BINS = 2 * GF_PALETTE_OPAQUE_BINS
};
static inline uint32_t gf_palette_bin(struct gf_palette_point point)
{
    const int base = 128 * GF_PALETTE_SCALE, x = point.at[0] + base, y = point.at[1] + base,
              z = point.at[2] + base;
    return (uint32_t)(point.at[3] == GF_PALETTE_OPAQUE
                          ? x >> 5 << 12 | y >> 5 << 6 | z >> 5
                          : GF_PALETTE_OPAQUE_BINS | point.at[3] >> 7 << 15 | x >> 6 << 10 |
                                y >> 6 << 5 | z >> 6);
}

/* Returns into how many parts work is divided that needs much memory for each: at most 4. */
static inline int gf_palette_parts(int threads)
{
    return threads < 4 ? threads : 4;
}

/* ---- a picture as weighed colours (palette_choose.c) ---- */

/* The bins that have pixels: the mean of their colours and their weights. Each pixel counts with
 * the weight of its block. */
struct gf_palette_bins {
    int count;
    struct gf_palette_point *mean;
    int64_t *weight;
};
/* The weight of each block of 8x8 pixels: errors count less in a busier block; GF_PALETTE_WEIGHT is
 * the weight of a flat one. */
enum { GF_PALETTE_BLOCK = 8, GF_PALETTE_WEIGHT = 64 };
struct gf_palette_weights {
    int across;
    unsigned char *weight;
    bool opaque; /* set by the caller: wholly transparent pixels do not count */
};
/* Computes the weights of blocks, and the bins unless `bins` is NULL. */
enum gf_status gf_palette_weigh(const struct gf_image *picture, int threads,
                                struct gf_palette_weights *weights, struct gf_palette_bins *bins,
                                struct gf_error *error) GF_CHECKED;

uint64_t gf_palette_bins_memory(struct gf_format format, int threads);

/* ---- the choice of entries (palette_choose.c) ---- */

/* The entries of a palette as points. */
struct gf_palette_entries {
    int count;
    struct gf_palette_point at[GF_PALETTE_MOST];
};
/* Divides the bins into at most `most` boxes; their means become the entries. `order` is memory for
 * bins->count numbers. */
void gf_palette_split(const struct gf_palette_bins *bins, int most, int32_t *order,
                      struct gf_palette_entries *entries);
/* Moves the entries to the means of the bins that are nearest to them, several times; at last to
 * the heaviest of these bins, so that large areas of one colour keep it. */
enum gf_status gf_palette_refine(const struct gf_palette_bins *bins, int threads,
                                 struct gf_palette_entries *entries,
                                 struct gf_error *error) GF_CHECKED;
