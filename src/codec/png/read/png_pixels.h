/* Reads the rows of a PNG of which libpng has read only the header: not interlaced, samples of 8 or
 * 16 bits, no palette, no transparent colour. A thread decompresses; the caller undoes the
 * filters. */
#ifndef GF_CODEC_PNG_READ_PNG_PIXELS_H
#define GF_CODEC_PNG_READ_PNG_PIXELS_H

#include "codec/io/input.h"
#include "codec/png/read/png_idat.h"
#include "gpufilter/pipeline.h"

struct gf_png_pixels;

/* Opens a reader. `length` is that of the first IDAT chunk, whose head has been read. The options
 * must stay valid. With options->threads of 1 the caller decompresses as well. stripe_rows is the
 * number of rows in the independent stripes of a marked file, or 0. If the mark is right, all
 * threads decompress stripes. */
enum gf_status gf_png_pixels_open(struct gf_input *input, struct gf_format format, uint32_t length,
                                  int stripe_rows, const struct gf_options *options,
                                  struct gf_png_pixels **pixels, struct gf_error *error) GF_CHECKED;
/* The memory of the reader in bytes. */
uint64_t gf_png_pixels_memory(const struct gf_png_pixels *pixels);
void gf_png_pixels_close(struct gf_png_pixels *pixels);

/* Reads the next rows and returns their number, which is less than `rows` after a fault. The
 * picture's last row counts only if the stream ends well behind it. */
int gf_png_pixels_read(struct gf_png_pixels *pixels, int rows, unsigned char *dst, size_t pitch,
                       struct gf_png_fault *fault);
/* Checks the chunks behind the last row. */
bool gf_png_pixels_finish(struct gf_png_pixels *pixels, struct gf_png_trailer *trailer,
                          struct gf_png_fault *fault);

#endif
