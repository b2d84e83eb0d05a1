/* Decodes one large sequential JPEG by several threads, strip by strip, ahead of the caller, to the
 * pixels that one thread decodes. Damage is left to the ordinary way. */
#ifndef GF_CODEC_JPEG_JPEG_STRIPS_READ_H
#define GF_CODEC_JPEG_JPEG_STRIPS_READ_H

#include <stdio.h> /* before jpeglib.h, which needs it */
#include <jpeglib.h>

#include "codec/io/input.h"
#include "gpufilter/pipeline.h"

struct gf_jpeg_strips_reader;

/* `jpeg` has read its header, up to the offset `begin` of the input, and what comes out of it is
 * chosen; it stays as it is until close. strip_rows: of units (MCUs), 0 lets the picture's size and
 * the options decide. NULL where the ordinary way is as good or the only one, or out of memory. No
 * thread runs before the first read. */
struct gf_jpeg_strips_reader *gf_jpeg_strips_reader_open(struct jpeg_decompress_struct *jpeg,
                                                         struct gf_input *input, int64_t begin,
                                                         const struct gf_options *options,
                                                         int strip_rows);
void gf_jpeg_strips_reader_close(struct gf_jpeg_strips_reader *reader);
uint64_t gf_jpeg_strips_reader_memory(const struct gf_jpeg_strips_reader *reader);
/* Writes the next rows to dst, `pitch` bytes apart, and returns their number. If it is less than
 * `rows`, the ordinary way has to decode the others. */
int gf_jpeg_strips_read(struct gf_jpeg_strips_reader *reader, int rows, unsigned char *dst,
                        size_t pitch);
/* The offset in the input behind the end marker, once all rows are read. */
int64_t gf_jpeg_strips_reader_end(const struct gf_jpeg_strips_reader *reader);

#endif
