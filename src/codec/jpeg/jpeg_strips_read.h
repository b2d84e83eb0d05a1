/* Decodes one large sequential JPEG by several threads, strip by strip, ahead of the caller; the
 * pixels are those that a single thread decodes. Where anything is damaged the caller has to decode
 * by libjpeg alone. */
#ifndef GF_CODEC_JPEG_JPEG_STRIPS_READ_H
#define GF_CODEC_JPEG_JPEG_STRIPS_READ_H

#include <stdio.h> /* before jpeglib.h, which needs it */
#include <jpeglib.h>

#include "codec/io/input.h"
#include "gpufilter/pipeline.h"

struct gf_jpeg_strips_reader;

/* Opens a reader. `jpeg` has read the header, up to the offset `begin` of the input, and its output
 * is configured; it must not change until close. strip_rows: rows of units (MCUs) of a strip; 0:
 * the picture's size and the options decide. NULL where a single thread is as fast or the file
 * cannot be decoded in strips, or out of memory. No thread runs before the first read. */
struct gf_jpeg_strips_reader *gf_jpeg_strips_reader_open(struct jpeg_decompress_struct *jpeg,
                                                         struct gf_input *input, int64_t begin,
                                                         const struct gf_options *options,
                                                         int strip_rows);
void gf_jpeg_strips_reader_close(struct gf_jpeg_strips_reader *reader);
uint64_t gf_jpeg_strips_reader_memory(const struct gf_jpeg_strips_reader *reader);
/* Writes the next rows to dst, `pitch` bytes apart, and returns their number. If that is less than
 * `rows`, the caller has to decode the others by libjpeg alone. */
int gf_jpeg_strips_read(struct gf_jpeg_strips_reader *reader, int rows, unsigned char *dst,
                        size_t pitch);
/* The offset in the input behind the end marker, once all rows are read. */
int64_t gf_jpeg_strips_reader_end(const struct gf_jpeg_strips_reader *reader);

#endif
