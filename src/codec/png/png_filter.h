/* PNG's five row filters, applied and undone. A row has `bytes` bytes of whole pixels. A pixel has
 * bpp bytes (1 to 8); the filters use the byte that is bpp bytes before. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum gf_png_filter {
    GF_PNG_NONE,
    GF_PNG_SUB,
    GF_PNG_UP,
    GF_PNG_AVERAGE,
    GF_PNG_PAETH,
    GF_PNG_FILTERS
};

/* The number of zero bytes that must precede a row and the row above it, so that the left edge is
 * no special case. The same number of bytes after a row may be read, and are not used. */
enum { GF_PNG_MARGIN = 32 };

/* The functions for one instruction set. */
struct gf_png_filters {
    const char *name;
    /* Computes for each filter the sum of the filtered bytes' distances from 0, modulo 256. The
     * filter with the smallest sum probably compresses best; libpng makes the same choice. */
    void (*sums)(const uint8_t *row, const uint8_t *above, size_t bytes, int bpp,
                 uint64_t sums[GF_PNG_FILTERS]);
    void (*apply)(enum gf_png_filter filter, const uint8_t *row, const uint8_t *above, size_t bytes,
                  int bpp, uint8_t *out);
    /* Undoes a filter in place. `above` is the row above after its filter was undone, or zeros for
     * the first row. No margin is needed before the rows. */
    void (*undo)(enum gf_png_filter filter, uint8_t *row, const uint8_t *above, size_t bytes,
                 int bpp);
    /* Undoes the Paeth filter, the slowest and most frequent one, on two rows at once; `next` is
     * the row below `row`. */
    void (*undo_two)(uint8_t *row, uint8_t *next, const uint8_t *above, size_t bytes, int bpp);
};

/* gf_png_filters() returns the best functions for this processor. The second function returns all
 * functions that the processor can run: the plain ones at level 0, NULL after the last level. */
const struct gf_png_filters *gf_png_filters(void);
const struct gf_png_filters *gf_png_filters_level(int level);

/* Filters a row. Writes 1 + bytes bytes: the number of the filter with the smallest sum (the lowest
 * number if sums are equal) and the filtered row. If `above` is NULL only None and Sub are
 * tried. */
void gf_png_filter_row(const struct gf_png_filters *filters, const uint8_t *row,
                       const uint8_t *above, size_t bytes, int bpp, uint8_t *out);

/* Undoes the filters of `count` rows, each of which follows the number of its filter. Returns the
 * number of rows before the first invalid number. */
int gf_png_undo_rows(const struct gf_png_filters *filters, uint8_t *rows, int count,
                     const uint8_t *above, size_t bytes, int bpp);

/* Applies a filter in plain C; vector code calls it for the ends of rows. */
void gf_png_apply_plain(enum gf_png_filter filter, const uint8_t *row, const uint8_t *above,
                        size_t bytes, int bpp, uint8_t *out);

extern const struct gf_png_filters gf_png_filters_plain;
