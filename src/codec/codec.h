/* Reading and writing picture files, row by row. A source hands out rows in the pixel format of
 * gpufilter/image.h; a sink takes finished rows in order. A format is two files: png.c reads,
 * png_write.c writes. */
#ifndef GF_CODEC_CODEC_H
#define GF_CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/common/metadata.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "gpufilter/image.h"
#include "gpufilter/pipeline.h"

/* Recognises the format by content, reads the header, checks the limits (options->max_pixels). */
enum gf_status gf_source_open(struct gf_input *input, const struct gf_options *options,
                              struct gf_source **source, struct gf_error *error) GF_CHECKED;

/* The format in which `path` (or options->format) is written; GF_ERROR_USAGE where the extension is
 * unknown. For "-" without options->format: `fallback`, the input's own format. */
enum gf_status gf_sink_format(const char *path, const struct gf_options *options,
                              enum gf_file_format fallback, enum gf_file_format *format,
                              struct gf_error *error) GF_CHECKED;
/* The format of the input by its first bytes, GF_FILE_AUTO where unknown. */
enum gf_file_format gf_file_format_of(const unsigned char *bytes, size_t size);
/* By the extension of a picture's name, likewise. */
enum gf_file_format gf_file_format_named(const char *path);
/* Without its dot. */
const char *gf_file_format_extension(enum gf_file_format format);

/* `format` is of the rows to come. What the file format cannot hold is converted in write(): 16
 * bits to 8 for JPEG (v * 255 / 65535, rounded), alpha dropped for JPEG and PNM (composited on
 * nothing: the colour is kept as it is) with one warning through options->warn. metadata is written
 * unless options->strip, with orientation 1, or as it is where options->autorotate is off. */
enum gf_status gf_sink_open(struct gf_output *output, enum gf_file_format file_format,
                            struct gf_format format, const struct gf_metadata *metadata,
                            const struct gf_options *options, struct gf_sink **sink,
                            struct gf_error *error) GF_CHECKED;

#endif
