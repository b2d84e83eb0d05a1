#include "codec/png/png_mark.h"

#include <string.h>

#include "codec/png/png_chunk.h"

enum {
    STRIPE_BYTES = 256 << 10, /* small enough for 16 threads to share a picture of 2 megapixels */
    LARGE_BYTES = 16 << 20,   /* a larger picture has larger stripes */
    LARGE_STRIPE_BYTES = 512 << 10,
    LEAST_ROWS = 24,     /* the first row of a stripe compresses worse than others */
    MOST_BYTES = 1 << 20 /* the limit of a stripe's bytes for LEAST_ROWS */
};

int gf_png_mark_rows(size_t row_bytes, int height)
{
    const size_t filtered = row_bytes + 1, most = MOST_BYTES / filtered;
    const bool large = (uint64_t)filtered * (uint64_t)height > LARGE_BYTES;
    size_t rows = (large ? LARGE_STRIPE_BYTES : STRIPE_BYTES) / filtered;
    if (rows < LEAST_ROWS)
        rows = most < LEAST_ROWS ? most : LEAST_ROWS;
    if (rows > (size_t)height)
        rows = (size_t)height;
    return rows ? (int)rows : 1;
}

enum gf_status gf_png_mark_write(struct gf_output *output, int rows, struct gf_error *error)
{
    unsigned char mark[GF_PNG_MARK_BYTES] = {GF_PNG_MARK_VERSION};
    gf_png_put_be32(mark + 1, (uint32_t)rows);
    return gf_png_chunk_write(output, GF_PNG_MARK, mark, sizeof mark, error);
}

int gf_png_mark_read(const struct gf_png_chunk *chunk, int before)
{
    if (strcmp(chunk->type, GF_PNG_MARK) != 0)
        return before;
    if (chunk->size != GF_PNG_MARK_BYTES || !gf_png_chunk_is_sound(chunk) ||
        chunk->data[0] != GF_PNG_MARK_VERSION)
        return 0;
    const uint32_t rows = gf_png_get_be32(chunk->data + 1);
    return rows <= INT32_MAX ? (int)rows : 0;
}
