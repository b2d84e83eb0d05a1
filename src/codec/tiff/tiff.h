/* TIFF and BigTIFF files, read and written by libtiff: gray, RGB and palettes of up to 8 and of 16
 * bits. Tiled files are read by rows of tiles, others row by row. Only codec.c opens them. */
#ifndef GF_CODEC_TIFF_TIFF_H
#define GF_CODEC_TIFF_TIFF_H

#include "base/library.h"
#include "codec/common/metadata.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "gpufilter/options.h"

extern struct gf_library gf_tiff_library;

enum gf_status gf_tiff_source_open(struct gf_input *input, const struct gf_options *options,
                                   struct gf_source **source, struct gf_error *error) GF_CHECKED;
struct gf_codec_memory gf_tiff_sink_memory(struct gf_format format,
                                           const struct gf_options *options);
/* metadata is that of gf_metadata_for_output. Strips by options->tiff_compression; BigTIFF where
 * the pixels take more than a TIFF's 4 GiB. */
enum gf_status gf_tiff_sink_open(struct gf_output *output, struct gf_format format,
                                 const struct gf_metadata *metadata,
                                 const struct gf_options *options, struct gf_sink **sink,
                                 struct gf_error *error) GF_CHECKED;

#endif
