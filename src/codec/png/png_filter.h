/* PNG's five filters of rows, both ways. A row is `bytes` bytes of whole pixels; bpp is a pixel's
 * bytes (1 to 8), by which the filters reach back. */
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

/* Zero bytes before a row and before the one above it, so that the left edge is no special case;
 * the same number behind a row may be read, and is not used. */
enum { GF_PNG_MARGIN = 32 };

/* The functions for one instruction set. */
struct gf_png_filters {
    const char *name;
    /* The sums, for each filter, of its bytes' distances from 0 modulo 256: the least of them is a
     * fair guess at the filter after which the row packs best, and the one that libpng makes. */
    void (*sums)(const uint8_t *row, const uint8_t *above, size_t bytes, int bpp,
                 uint64_t sums[GF_PNG_FILTERS]);
    void (*apply)(enum gf_png_filter filter, const uint8_t *row, const uint8_t *above, size_t bytes,
                  int bpp, uint8_t *out);
    /* In place. `above` is the row above with its filter undone, zeros for the first. Nothing
     * before the rows is read, so that there need be no margin. */
    void (*undo)(enum gf_png_filter filter, uint8_t *row, const uint8_t *above, size_t bytes,
                 int bpp);
    /* Two rows with the Paeth filter, the most usual and the slowest one, `next` below `row`. */
    void (*undo_two)(uint8_t *row, uint8_t *next, const uint8_t *above, size_t bytes, int bpp);
};

/* The best for this processor; every one that it has, the plain one first, NULL behind the last. */
const struct gf_png_filters *gf_png_filters(void);
const struct gf_png_filters *gf_png_filters_level(int level);

/* The filter's number and the filtered row, 1 + bytes bytes, with the filter of the least sum, of
 * equal ones the first. */
void gf_png_filter_row(const struct gf_png_filters *filters, const uint8_t *row,
                       const uint8_t *above, size_t bytes, int bpp, uint8_t *out);

/* Undoes `count` rows that each follow their filter's number. Returns how many come before a number
 * that is none. */
int gf_png_undo_rows(const struct gf_png_filters *filters, uint8_t *rows, int count,
                     const uint8_t *above, size_t bytes, int bpp);

/* The plain functions, which also do the ends of rows for the others. */
uint8_t gf_png_paeth(uint8_t left, uint8_t above, uint8_t corner);
void gf_png_sums_plain(const uint8_t *row, const uint8_t *above, size_t bytes, int bpp,
                       uint64_t sums[GF_PNG_FILTERS]);
void gf_png_apply_plain(enum gf_png_filter filter, const uint8_t *row, const uint8_t *above,
                        size_t bytes, int bpp, uint8_t *out);
void gf_png_undo_plain(enum gf_png_filter filter, uint8_t *row, const uint8_t *above, size_t bytes,
                       int bpp);

extern const struct gf_png_filters gf_png_filters_avx2; /* in png_filter_simd.c */

#endif
