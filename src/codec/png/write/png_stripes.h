/* Compresses the pixels of a PNG in stripes of rows by several threads. Each stripe is filtered and
 * deflated by itself; together they are one zlib stream. The division into stripes depends on the
 * picture alone, so that any number of threads writes the same bytes. */
#pragma once

#include <stdbool.h>

#include "codec/io/output.h"
#include "gpufilter/pipeline.h"

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
