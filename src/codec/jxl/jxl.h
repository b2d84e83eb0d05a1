/* JPEG XL files, read and written by libjxl. Samples of more than 8 bits, and floating-point ones,
 * are read as 16. A lossy file states its colours in XYB: they are read as sRGB where its own
 * profile is only for viewing. Only codec.c opens them. */
#ifndef GF_CODEC_JXL_JXL_H
#define GF_CODEC_JXL_JXL_H

#include "base/library.h"
#include "codec/common/metadata.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "gpufilter/options.h"

extern struct gf_library gf_jxl_library;

enum gf_status gf_jxl_source_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_source **source, struct gf_error *error) GF_CHECKED;
struct gf_codec_memory gf_jxl_sink_memory(struct gf_format format,
                                          const struct gf_options *options);
/* metadata is that of gf_metadata_for_output. */
enum gf_status gf_jxl_sink_open(struct gf_output *output, struct gf_format format,
                                const struct gf_metadata *metadata,
                                const struct gf_options *options, struct gf_sink **sink,
                                struct gf_error *error) GF_CHECKED;

#endif
