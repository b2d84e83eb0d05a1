/* Writes a PNG as indices of a palette: with the one that the input's file had, row by row, or with
 * the picture's own colours, which takes a byte of memory for each pixel until all are known. */
#ifndef GF_CODEC_PNG_WRITE_PNG_PALETTE_H
#define GF_CODEC_PNG_WRITE_PNG_PALETTE_H

#include <stdbool.h>

#include "codec/common/metadata.h"
#include "codec/common/source.h"
#include "codec/io/output.h"
#include "gpufilter/options.h"

/* Whether such a picture is to be written that way; warns where that was asked for and it is not.
 */
bool gf_png_wants_palette(const struct gf_output *output, struct gf_format format,
                          const struct gf_metadata *metadata, const struct gf_options *options);
/* The memory that it takes beside that of gf_png_stripes_memory. */
uint64_t gf_png_palette_memory(struct gf_format format, const struct gf_options *options);
/* `format` has 8 bits. A picture of more than 256 colours is written without a palette, and
 * options->warn is told. */
enum gf_status gf_png_palette_sink_open(struct gf_output *output, struct gf_format format,
                                        const struct gf_metadata *metadata,
                                        const struct gf_options *options, struct gf_sink **sink,
                                        struct gf_error *error) GF_CHECKED;

#endif
