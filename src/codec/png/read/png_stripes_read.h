/* Reads the rows of a marked PNG from a regular file: several threads check, decompress and
 * unfilter its stripes. A wrong mark is no error: png_pixels.c then reads the file like any other
 * PNG, from its first IDAT chunk on, and reports damage. */
#pragma once

#include "codec/io/input.h"
#include "gpufilter/pipeline.h"

struct gf_png_stripes_reader;

/* Opens a reader. The input's next byte is the first in the first IDAT chunk, whose length is
 * `length`; stripes have stripe_rows rows. *reader is NULL if the mark does not describe the
 * chunks, if the stripes need more memory than the options allow, or if memory or reading fails.
 * The input's position does not change. */
void gf_png_stripes_read_open(struct gf_input *input, struct gf_format format, uint32_t length,
                              int stripe_rows, const struct gf_options *options,
                              struct gf_png_stripes_reader **reader);
void gf_png_stripes_read_close(struct gf_png_stripes_reader *reader);
/* The memory of the reader in bytes. */
uint64_t gf_png_stripes_read_memory(const struct gf_png_stripes_reader *reader);

/* Reads the next rows and returns their number, which is less than `rows` if a stripe shows that
 * the mark is wrong. */
int gf_png_stripes_read(struct gf_png_stripes_reader *reader, int rows, unsigned char *dst,
                        size_t pitch);
/* Returns the offset of the chunk after the last IDAT chunk. */
int64_t gf_png_stripes_read_end(const struct gf_png_stripes_reader *reader);
