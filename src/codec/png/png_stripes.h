/* The pixels of a PNG, packed in stripes of rows by several threads: filtered, deflated each by
 * itself, joined into one zlib stream. Where stripes begin depends on the picture alone, and so
 * does every byte. */
#ifndef GF_CODEC_PNG_PNG_STRIPES_H
#define GF_CODEC_PNG_PNG_STRIPES_H

#include "codec/io/output.h"
#include "gpufilter/pipeline.h"

struct gf_png_stripes;

/* Writes IDAT chunks to `output`. options: threads (1: all is done by the caller), png_level,
 * memory_bytes. */
enum gf_status gf_png_stripes_open(struct gf_output *output, struct gf_format format,
                                   const struct gf_options *options,
                                   struct gf_png_stripes **stripes,
                                   struct gf_error *error) GF_CHECKED;
/* The next rows; writes what is finished, waits where too much is not. */
enum gf_status gf_png_stripes_write(struct gf_png_stripes *stripes, int rows,
                                    const unsigned char *src, size_t pitch,
                                    struct gf_error *error) GF_CHECKED;
/* After the last row: the rest. */
enum gf_status gf_png_stripes_finish(struct gf_png_stripes *stripes,
                                     struct gf_error *error) GF_CHECKED;
/* Ends the threads, also in the midst of it. */
void gf_png_stripes_close(struct gf_png_stripes *stripes);

/* One chunk of any type. */
enum gf_status gf_png_chunk_write(struct gf_output *output, const char *type, const void *data,
                                  size_t size, struct gf_error *error) GF_CHECKED;

#endif
