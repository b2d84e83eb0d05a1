/* Encodes one large sequential JPEG by several threads, strip by strip, to the same bytes that a
 * single thread writes. */
#ifndef GF_CODEC_JPEG_JPEG_STRIPS_WRITE_H
#define GF_CODEC_JPEG_JPEG_STRIPS_WRITE_H

#include <stdio.h> /* before jpeglib.h, which needs it */
#include <jpeglib.h>

#include "codec/io/output.h"
#include "gpufilter/pipeline.h"

/* How a picture is cut into strips. Without strips a single thread encodes it. */
struct gf_jpeg_strips_layout {
    int rows; /* pixel rows of a strip */
    int strips, threads, slots;
    uint64_t memory;
};
/* Computes the layout. strip_rows: rows of units (MCUs) of a strip; 0: the picture's size and the
 * options decide. */
struct gf_jpeg_strips_layout
gf_jpeg_strips_layout(struct gf_format format, const struct gf_options *options, int strip_rows);

struct gf_jpeg_strips_writer;

/* Opens a writer. `jpeg` is configured for the picture; the output contains everything before the
 * scan's bits already. The options must stay valid. */
enum gf_status gf_jpeg_strips_writer_open(struct gf_output *output,
                                          const struct jpeg_compress_struct *jpeg,
                                          struct gf_format format, const struct gf_options *options,
                                          const struct gf_jpeg_strips_layout *layout,
                                          struct gf_jpeg_strips_writer **writer,
                                          struct gf_error *error) GF_CHECKED;
/* Ends the threads, even before the last row. */
void gf_jpeg_strips_writer_close(struct gf_jpeg_strips_writer *writer);
/* Adds the next row, of 8-bit samples in the order that libjpeg takes. */
enum gf_status gf_jpeg_strips_write(struct gf_jpeg_strips_writer *writer, const unsigned char *row,
                                    struct gf_error *error) GF_CHECKED;
/* Writes the remaining bytes after the last row. */
enum gf_status gf_jpeg_strips_finish(struct gf_jpeg_strips_writer *writer,
                                     struct gf_error *error) GF_CHECKED;

#endif
