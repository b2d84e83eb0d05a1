/* The rows of a PNG that needs nothing of libpng but its header: not interlaced, whole samples, no
 * palette, no transparent colour. One thread unpacks, the caller undoes the filters. */
#ifndef GF_CODEC_PNG_PNG_PIXELS_H
#define GF_CODEC_PNG_PNG_PIXELS_H

#include "codec/io/input.h"
#include "codec/png/png_idat.h"
#include "gpufilter/pipeline.h"

struct gf_png_pixels;

/* options must stay. length: of the first IDAT chunk, whose head has been read. threads 1: the
 * caller unpacks, too. */
enum gf_status gf_png_pixels_open(struct gf_input *input, struct gf_format format, uint32_t length,
                                  const struct gf_options *options, struct gf_png_pixels **pixels,
                                  struct gf_error *error) GF_CHECKED;
void gf_png_pixels_close(struct gf_png_pixels *pixels);

/* The next rows. Returns how many came; fewer than `rows` after a fault. The last row is one only
 * if the stream behind it is whole. */
int gf_png_pixels_read(struct gf_png_pixels *pixels, int rows, unsigned char *dst, size_t pitch,
                       struct gf_png_fault *fault);
/* After the last row: the chunks that follow. */
bool gf_png_pixels_finish(struct gf_png_pixels *pixels, struct gf_png_fault *fault);

#endif
