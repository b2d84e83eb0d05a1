/* Reads the rows of a marked PNG from a regular file: several threads check, unpack and unfilter
 * its stripes side by side. A mark that does not hold is no error: png_pixels.c then reads the file
 * as any other, from its first IDAT chunk on, and names what is wrong with it. */
#ifndef GF_CODEC_PNG_READ_PNG_STRIPES_READ_H
#define GF_CODEC_PNG_READ_PNG_STRIPES_READ_H

#include "codec/io/input.h"
#include "gpufilter/pipeline.h"

struct gf_png_stripes_reader;

/* The input's next byte is the first in the first IDAT chunk, whose length is `length`; stripes
 * have stripe_rows rows. *reader is NULL where the chunks are not as the mark says, or the stripes
 * take more memory than they may; failures of memory and of the file count as that as well. Nothing
 * is consumed. */
void gf_png_stripes_read_open(struct gf_input *input, struct gf_format format, uint32_t length,
                              int stripe_rows, const struct gf_options *options,
                              struct gf_png_stripes_reader **reader);
void gf_png_stripes_read_close(struct gf_png_stripes_reader *reader);
/* The memory that it uses. */
uint64_t gf_png_stripes_read_memory(const struct gf_png_stripes_reader *reader);

/* Reads the next rows and returns their number. Fewer come where the mark does not hold in their
 * stripe. */
int gf_png_stripes_read(struct gf_png_stripes_reader *reader, int rows, unsigned char *dst,
                        size_t pitch);
/* The offset of the chunk behind the last IDAT. */
int64_t gf_png_stripes_read_end(const struct gf_png_stripes_reader *reader);

#endif
