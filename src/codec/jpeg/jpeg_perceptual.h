/* Makes a JPEG's coefficients by what is seen of them (jpeg_look.h), on several threads; libjpeg
 * codes them. */
#pragma once

#include <stdio.h> /* must precede jpeglib.h */
#include <jpeglib.h>

#include "gpufilter/image.h"
#include "gpufilter/pipeline.h"

struct gf_jpeg_perceptual;

/* Returns what GF_SUBSAMPLING_AUTO stands for with this encoder. */
enum gf_subsampling gf_jpeg_perceptual_subsampling(const struct gf_options *options);

/* Returns the bytes of memory that the encoder takes, beside the coefficients. */
uint64_t gf_jpeg_perceptual_bytes(struct gf_format format, const struct gf_options *options);

enum gf_status gf_jpeg_perceptual_open(struct gf_format format, const struct gf_options *options,
                                       struct gf_jpeg_perceptual **encoder,
                                       struct gf_error *error) GF_CHECKED;
/* Ends the threads, even before the last row. It must be called before libjpeg's compressor is
 * destroyed. */
void gf_jpeg_perceptual_close(struct gf_jpeg_perceptual *encoder);

/* Sets the quantisers of a compressor that is configured for the picture, and makes libjpeg write
 * the headers. It may call libjpeg's error handler. */
void gf_jpeg_perceptual_configure(struct gf_jpeg_perceptual *encoder,
                                  struct jpeg_compress_struct *jpeg);
void gf_jpeg_perceptual_start(struct gf_jpeg_perceptual *encoder,
                              struct jpeg_compress_struct *jpeg);

/* Adds the next row, of 8-bit samples in libjpeg's order. */
enum gf_status gf_jpeg_perceptual_write(struct gf_jpeg_perceptual *encoder,
                                        const unsigned char *row,
                                        struct gf_error *error) GF_CHECKED;
/* Waits for the coefficients of all rows, which libjpeg then codes. */
enum gf_status gf_jpeg_perceptual_finish(struct gf_jpeg_perceptual *encoder,
                                         struct gf_error *error) GF_CHECKED;
