/* The mark (a chunk) of a PNG whose stripes of rows are independent, as compression level 1 writes
 * them; README.md defines it. The chunk precedes the first IDAT. */
#pragma once

#include "codec/io/output.h"
#include "codec/png/png_metadata.h"

#define GF_PNG_MARK "gfST" /* a private ancillary chunk, which no editor copies */

enum { GF_PNG_MARK_VERSION = 1, GF_PNG_MARK_BYTES = 5 };

/* Returns the number of rows of a stripe at level 1. row_bytes does not include the filter's
 * number. */
int gf_png_mark_rows(size_t row_bytes, int height);

/* Writes the chunk. */
enum gf_status gf_png_mark_write(struct gf_output *output, int rows,
                                 struct gf_error *error) GF_CHECKED;

/* Returns the number of rows of a stripe that the mark states; `before` if the chunk is no valid
 * mark. */
int gf_png_mark_read(const struct gf_png_chunk *chunk, int before);
