/* Writes a PNG with a palette. With the palette of the input's file rows are written immediately.
 * With a new palette one byte for each pixel is held in memory until all colours are known. The
 * whole picture is held whose colours are to be reduced. */
#pragma once

#include <stdbool.h>

#include "codec/common/metadata.h"
#include "codec/common/source.h"
#include "codec/io/output.h"
#include "gpufilter/options.h"

/* Whether the picture must be written with a palette. Warns if the user requested a palette that is
 * not possible. */
bool gf_png_wants_palette(const struct gf_output *output, struct gf_format format,
                          const struct gf_metadata *metadata, const struct gf_options *options);
/* Returns the memory in bytes in addition to gf_png_stripes_memory(). */
uint64_t gf_png_palette_memory(struct gf_format format, const struct gf_options *options);
/* Opens a sink. Unless colours are to be reduced, `format` has 8 bits, a picture of more than 256
 * colours is written without a palette, and options->warn is called. */
enum gf_status gf_png_palette_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                        struct gf_error *error) GF_CHECKED;
