/* PNG's five row filters, applied and undone. A row has `bytes` bytes of whole pixels; a pixel has
 * bpp bytes (1 to 8), and the filters refer to the byte that many before. */
#ifndef GF_CODEC_PNG_PNG_FILTER_H
#define GF_CODEC_PNG_PNG_FILTER_H

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

/* So many zero bytes must precede a row and the one above it, so that the left edge is not a
 * special case. As many behind a row may be read, and are not used. */
enum { GF_PNG_MARGIN = 32 };

/* The functions for one instruction set. */
struct gf_png_filters {
    const char *name;
    /* Adds up for each filter how far the filtered bytes are from 0, modulo 256. The filter with
     * the least sum is likely to pack best; libpng makes the same choice. */
    void (*sums)(const uint8_t *row, const uint8_t *above, size_t bytes, int bpp,
                 uint64_t sums[GF_PNG_FILTERS]);
    void (*apply)(enum gf_png_filter filter, const uint8_t *row, const uint8_t *above, size_t bytes,
                  int bpp, uint8_t *out);
    /* Undoes a filter in place. `above` is the row above with its filter undone, zeros for the
     * first row. It needs no margin before the rows. */
    void (*undo)(enum gf_png_filter filter, uint8_t *row, const uint8_t *above, size_t bytes,
                 int bpp);
    /* Undoes the Paeth filter, the slowest and most usual, on two rows at once; `next` is below
     * `row`. */
    void (*undo_two)(uint8_t *row, uint8_t *next, const uint8_t *above, size_t bytes, int bpp);
};

/* The best functions for this processor; and all that it can run, the plain ones at level 0, NULL
 * behind the last. */
const struct gf_png_filters *gf_png_filters(void);
const struct gf_png_filters *gf_png_filters_level(int level);

/* Writes 1 + bytes bytes: the number of the filter with the least sum (the first of equal ones) and
 * the filtered row. Without `above` only None and Sub are tried. */
void gf_png_filter_row(const struct gf_png_filters *filters, const uint8_t *row,
                       const uint8_t *above, size_t bytes, int bpp, uint8_t *out);

/* Undoes the filters of `count` rows, each behind its filter's number. Returns how many rows come
 * before an invalid number. */
int gf_png_undo_rows(const struct gf_png_filters *filters, uint8_t *rows, int count,
                     const uint8_t *above, size_t bytes, int bpp);

/* The plain functions; the others call them for the ends of rows. */
void gf_png_sums_plain(const uint8_t *row, const uint8_t *above, size_t bytes, int bpp,
                       uint64_t sums[GF_PNG_FILTERS]);
void gf_png_apply_plain(enum gf_png_filter filter, const uint8_t *row, const uint8_t *above,
                        size_t bytes, int bpp, uint8_t *out);

extern const struct gf_png_filters gf_png_filters_avx2; /* in png_filter_simd.c */

#endif
