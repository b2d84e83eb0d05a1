/* What the files of PNG's writer share. First the IDAT chunk of a stripe, whose rows are
 * filtered, then compressed by deflate. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "codec/common/metadata/metadata.h"
#include "codec/common/rows/source.h"
#include "codec/io/output.h"
#include "codec/png/png_filter.h"
#include "gpufilter/options.h"

enum { GF_PNG_WINDOW = 32 << 10, GF_PNG_FAST_LEVEL = 1 };

/* The division of a picture into stripes, and the memory of a stripe. */
struct gf_png_layout {
    int height, bpp, level;
    bool indices; /* rows are indices, and not filtered, because close indices differ in colour */
    size_t row_bytes;
    size_t pitch;     /* distance of raw rows, with margins on both sides */
    int rows;         /* rows of a stripe */
    int window_rows;  /* rows before a stripe to which it may refer */
    int count;        /* number of stripes */
    size_t raw_bytes; /* bytes of the row above the window, the window and the stripe */
    size_t filtered_bytes;
    size_t chunk_bytes; /* the most bytes of a compressed stripe's chunk */
};

/* The memory that one thread needs. */
struct gf_png_packer {
    const struct gf_png_filters *filters;
    uint8_t *filtered; /* filtered bytes of the window, then of the stripe */
    void *scratch;     /* memory for gf_deflate_fast() at level 1; other levels use zlib */
    z_stream zlib;
    bool zlib_open;
};

struct gf_png_stripe {
    int index;
    uint8_t *raw;
    uint8_t *chunk; /* the result, a whole chunk; png_stripe_end() completes the last stripe's */
    size_t chunk_bytes, data_bytes;
    size_t filtered_bytes; /* bytes of the stripe's own rows */
    uint32_t adler;        /* the checksum of the bytes */
};

/* Returns the address of a row. Row 0 is the first of the stripe's own rows. */
static inline uint8_t *gf_png_stripe_row(const struct gf_png_layout *layout,
                                         const struct gf_png_stripe *stripe, int row)
{
    return stripe->raw + (size_t)(1 + layout->window_rows + row) * layout->pitch + GF_PNG_MARGIN;
}

/* Compresses the pixels of a PNG in stripes of rows by several threads. Each stripe is filtered and
 * deflated by itself; together they are one zlib stream. The division into stripes depends on the
 * picture alone, so that any number of threads writes the same bytes. */

struct gf_png_stripes;

/* Returns the least memory in bytes: the memory for a single thread. */
uint64_t gf_png_stripes_memory(struct gf_format format, const struct gf_options *options);

/* Opens a writer of IDAT chunks to `output`. indices: the rows are indices of a palette. The
 * options threads (1: the caller does all), png_level and memory_bytes are used. */
enum gf_status gf_png_stripes_open(struct gf_output *output, struct gf_format format, bool indices,
                                   const struct gf_options *options,
                                   struct gf_png_stripes **stripes,
                                   struct gf_error *error) GF_CHECKED;
/* Adds the next rows, writes the stripes that are compressed, and waits if too many are not. */
enum gf_status gf_png_stripes_write(struct gf_png_stripes *stripes, int rows,
                                    const unsigned char *src, size_t pitch,
                                    struct gf_error *error) GF_CHECKED;
/* Writes the remaining stripes after the last row. */
enum gf_status gf_png_stripes_finish(struct gf_png_stripes *stripes,
                                     struct gf_error *error) GF_CHECKED;
/* Ends the threads, even before the last row. */
void gf_png_stripes_close(struct gf_png_stripes *stripes);

/* Writes a PNG with a palette. With the palette of the input's file rows are written immediately.
 * With a new palette one byte for each pixel is held in memory until all colours are known. The
 * whole picture is held whose colours are to be reduced. */

/* Whether the picture must be written with a palette. Warns if the user requested a palette that is
 * not possible. */
bool gf_png_wants_palette(const struct gf_output *output, struct gf_format format,
                          const struct gf_metadata *metadata, const struct gf_options *options);
/* Returns the memory in bytes in addition to gf_png_stripes_memory(). */
uint64_t gf_png_palette_memory(struct gf_format format, const struct gf_options *options);
/* Opens a sink. Unless colours are to be reduced, `format` has 8 bits, a picture of more than 256
 * colours is written without a palette, and options->warn is called. */
enum gf_status gf_png_palette_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                        struct gf_error *error) GF_CHECKED;
