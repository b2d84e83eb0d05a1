/* PNG files. Only codec.c opens them. libpng reads the header, and the pixels where they are
 * interlaced, have a palette or fewer than 8 bits; everything else is the project's own code. */
#ifndef GF_CODEC_PNG_PNG_H
#define GF_CODEC_PNG_PNG_H

#include "codec/common/metadata.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "gpufilter/pipeline.h"

enum gf_status gf_png_source_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_source **source, struct gf_error *error) GF_CHECKED;
struct gf_codec_memory gf_png_sink_memory(struct gf_format format,
                                          const struct gf_options *options);
/* metadata is that of gf_metadata_for_output; it is written at once. */
enum gf_status gf_png_sink_open(struct gf_output *output, struct gf_format format,
                                const struct gf_metadata *metadata,
                                const struct gf_options *options, struct gf_sink **sink,
                                struct gf_error *error) GF_CHECKED;

#endif
