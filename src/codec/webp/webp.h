/* WebP files, read and written by libwebp. They have 8 bits and are never gray. Of an animation the
 * pictures are composed, as a viewer shows them. Only codec.c opens them. */
#ifndef GF_CODEC_WEBP_WEBP_H
#define GF_CODEC_WEBP_WEBP_H

#include "base/library.h"
#include "codec/common/metadata.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "gpufilter/options.h"

extern struct gf_library gf_webp_library;

enum gf_status gf_webp_source_open(struct gf_input *input, const struct gf_options *options,
                                   struct gf_source **source, struct gf_error *error) GF_CHECKED;
struct gf_codec_memory gf_webp_sink_memory(struct gf_format format,
                                           const struct gf_options *options);
/* metadata is that of gf_metadata_for_output. Lossy with options->quality, or options->lossless. */
enum gf_status gf_webp_sink_open(struct gf_output *output, struct gf_format format,
                                 const struct gf_metadata *metadata,
                                 const struct gf_options *options, struct gf_sink **sink,
                                 struct gf_error *error) GF_CHECKED;

#endif
