/* Packs the pixels of a PNG in stripes of rows by several threads. Each stripe is filtered and
 * deflated by itself; together they are one zlib stream. The stripes depend on the picture alone,
 * so that every number of threads writes the same bytes. */
#ifndef GF_CODEC_PNG_WRITE_PNG_STRIPES_H
#define GF_CODEC_PNG_WRITE_PNG_STRIPES_H

#include <stdbool.h>

#include "codec/io/output.h"
#include "gpufilter/pipeline.h"

struct gf_png_stripes;

/* The memory that it uses at least, with a single thread. */
uint64_t gf_png_stripes_memory(struct gf_format format, const struct gf_options *options);

/* IDAT chunks will be written to `output`. indices: the rows are those of a palette. Of the options
 * it uses threads (1: the caller does all), png_level and memory_bytes. */
enum gf_status gf_png_stripes_open(struct gf_output *output, struct gf_format format, bool indices,
                                   const struct gf_options *options,
                                   struct gf_png_stripes **stripes,
                                   struct gf_error *error) GF_CHECKED;
/* Adds the next rows, writes the stripes that are packed, and waits where too many are not. */
enum gf_status gf_png_stripes_write(struct gf_png_stripes *stripes, int rows,
                                    const unsigned char *src, size_t pitch,
                                    struct gf_error *error) GF_CHECKED;
/* Writes the rest, after the last row. */
enum gf_status gf_png_stripes_finish(struct gf_png_stripes *stripes,
                                     struct gf_error *error) GF_CHECKED;
/* Ends the threads, even before the last row. */
void gf_png_stripes_close(struct gf_png_stripes *stripes);

#endif
