/* Reduces the colours of a picture to a palette. The result is integer arithmetic in a fixed order:
 * it does not depend on the machine or the number of threads. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gpufilter/image.h"
#include "gpufilter/status.h"

enum { GF_PALETTE_MOST = 256 };

/* A palette: the first `colours` members of rgba. Colours that are not opaque come first. */
struct gf_palette {
    int colours;
    unsigned char rgba[GF_PALETTE_MOST][4];
    bool exact; /* the palette has all colours of the picture */
};

/* Converts a pixel of 8 bits to RGBA. */
static inline void gf_palette_rgba_of(const unsigned char *pixel, int channels,
                                      unsigned char rgba[4])
{
    const bool gray = channels < 3;
    rgba[0] = pixel[0];
    rgba[1] = pixel[gray ? 0 : 1];
    rgba[2] = pixel[gray ? 0 : 2];
    rgba[3] = channels % 2 ? 255 : pixel[channels - 1];
}

/* A hash table of colours: `rgba` has them in the order in which they were found, place[hash] an
 * index of rgba, or -1 for an empty place. */
enum { GF_PALETTE_PLACES = 1024 };
struct gf_palette_table {
    int colours;
    unsigned char rgba[GF_PALETTE_MOST][4];
    int16_t place[GF_PALETTE_PLACES];
};
void gf_palette_table_clear(struct gf_palette_table *table);
/* Returns the index of a colour. A new colour is added if there are less than `most`; else the
 * result is -1. */
int gf_palette_table_find(struct gf_palette_table *table, const unsigned char rgba[4], int most);

/* Makes a palette of at most `most` colours (2..256) for a picture of 8 bits, and writes the index
 * of each pixel, row after row. `dithers`: errors are passed on to the neighbours where the picture
 * is smooth; else each pixel gets the nearest colour. */
enum gf_status gf_palette_make(const struct gf_image *picture, int most, int threads, bool dithers,
                               struct gf_palette *palette, unsigned char *indices,
                               struct gf_error *error) GF_CHECKED;
/* Returns the memory in bytes that gf_palette_make() takes, with the indices. */
uint64_t gf_palette_memory(struct gf_format format, int threads);

/* ---- pictures in which wholly transparent pixels do not count, and all others are opaque ---- */

/* Chooses a palette of at most `most` opaque colours. */
enum gf_status gf_palette_choose(const struct gf_image *picture, int most, int threads,
                                 struct gf_palette *palette, struct gf_error *error) GF_CHECKED;
/* Finds the indices of one palette for several pictures, one after another, none wider than
 * `format`. */
struct gf_palette_map;
enum gf_status gf_palette_map_open(const struct gf_palette *palette, struct gf_format format,
                                   int threads, bool dithers, struct gf_palette_map **map,
                                   struct gf_error *error) GF_CHECKED;
/* Writes the index of each pixel that is not wholly transparent. *distance becomes the sum of the
 * squared differences of the colours, in units of struct gf_palette_point. */
enum gf_status gf_palette_map_part(struct gf_palette_map *map, const struct gf_image *picture,
                                   unsigned char *indices, uint64_t *distance,
                                   struct gf_error *error) GF_CHECKED;
void gf_palette_map_close(struct gf_palette_map *map);
