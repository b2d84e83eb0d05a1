/* One stripe of a PNG's rows made into an IDAT chunk. */
#ifndef GF_CODEC_PNG_PNG_PACK_H
#define GF_CODEC_PNG_PNG_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "codec/png/png_filter.h"

enum { GF_PNG_WINDOW = 32 << 10, GF_PNG_FAST_LEVEL = 1 };

/* How a picture is cut into stripes, and what each of them takes. */
struct gf_png_cut {
    int height, bpp, level;
    size_t row_bytes;
    size_t pitch;     /* of raw rows: margins before and behind */
    int rows;         /* of a stripe */
    int window_rows;  /* rows before a stripe that it may refer to, once they are filtered */
    int count;        /* stripes */
    size_t raw_bytes; /* the row above the window, the window, the stripe */
    size_t filtered_bytes;
    size_t chunk_bytes; /* at most */
};
struct gf_png_cut gf_png_cut_make(int height, size_t row_bytes, int bpp, int level);

/* What one thread needs. */
struct gf_png_packer {
    const struct gf_png_filters *filters;
    uint8_t *filtered; /* the window, then the stripe */
    uint8_t *other;    /* a second try at packing it */
    z_stream zlib;
    bool zlib_open;
};
bool gf_png_packer_open(struct gf_png_packer *packer, const struct gf_png_cut *cut);
void gf_png_packer_close(struct gf_png_packer *packer);

struct gf_png_stripe {
    int index;
    uint8_t *raw;
    uint8_t *chunk; /* the result: a whole chunk, but for the last stripe's */
    size_t chunk_bytes, data_bytes;
    size_t filtered_bytes; /* of the stripe's own rows */
    uint32_t adler;        /* of these */
};
/* Rows that stripe `index` keeps of those before its own: the window and the row above that, as far
 * as the picture has them. Above the picture's first row lies one of zeros. */
int gf_png_stripe_above(const struct gf_png_cut *cut, int index);
int gf_png_stripe_rows(const struct gf_png_cut *cut, int index); /* its own */
/* `row` counts from the stripe's own first. */
static inline uint8_t *gf_png_stripe_row(const struct gf_png_cut *cut,
                                         const struct gf_png_stripe *stripe, int row)
{
    return stripe->raw + (size_t)(1 + cut->window_rows + row) * cut->pitch + GF_PNG_MARGIN;
}

/* False where zlib fails, which it does for want of memory alone. */
bool gf_png_pack(struct gf_png_packer *packer, const struct gf_png_cut *cut,
                 struct gf_png_stripe *stripe);

/* The last stripe's chunk ends with the checksum of all of them. */
void gf_png_stripe_end(struct gf_png_stripe *stripe, uint32_t adler);

/* Makes a chunk of the `size` bytes behind the 8 bytes of its head. Returns its whole size. */
size_t gf_png_chunk_close(uint8_t *chunk, const char *type, size_t size);

#endif
