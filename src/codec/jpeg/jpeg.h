/* JPEG files, read and written by libjpeg-turbo. Only codec.c opens them. */
#pragma once

#include "codec/common/metadata.h"
#include "codec/common/source.h"
#include "codec/io/output.h"

/* Opens a source. strip_rows: how many rows of units (MCUs) a thread decodes at a time; 0: the
 * function chooses. */
enum gf_status gf_jpeg_source_open(struct gf_input *input, const struct gf_options *options,
                                   int strip_rows, struct gf_source **source,
                                   struct gf_error *error) GF_CHECKED;
struct gf_codec_memory gf_jpeg_sink_memory(struct gf_format format,
                                           const struct gf_options *options);
/* Opens a sink. The metadata is from gf_metadata_for_output() and is written at once. strip_rows:
 * how many rows of units (MCUs) a thread encodes at a time; 0: the function chooses. */
enum gf_status gf_jpeg_sink_open(struct gf_output *output, struct gf_format format,
                                 const struct gf_metadata *metadata,
                                 const struct gf_options *options, int strip_rows,
                                 struct gf_sink **sink, struct gf_error *error) GF_CHECKED;
