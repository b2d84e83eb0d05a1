/* AVIF files, read and written by libavif. Samples of 10 and 12 bits become 16; 16 become 12. Of a
 * sequence a frame is read. Only codec.c opens them. */
#ifndef GF_CODEC_AVIF_AVIF_H
#define GF_CODEC_AVIF_AVIF_H

#include "base/library.h"
#include "codec/common/metadata.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "gpufilter/options.h"

extern struct gf_library gf_avif_library;

enum gf_status gf_avif_source_open(struct gf_input *input, const struct gf_options *options,
                                   struct gf_source **source, struct gf_error *error) GF_CHECKED;
struct gf_codec_memory gf_avif_sink_memory(struct gf_format format,
                                           const struct gf_options *options);
/* metadata is that of gf_metadata_for_output. */
enum gf_status gf_avif_sink_open(struct gf_output *output, struct gf_format format,
                                 const struct gf_metadata *metadata,
                                 const struct gf_options *options, struct gf_sink **sink,
                                 struct gf_error *error) GF_CHECKED;

#endif
