/* PNM and PAM files. Only codec.c opens them. */
#ifndef GF_CODEC_PNM_PNM_H
#define GF_CODEC_PNM_PNM_H

#include "codec/common/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "gpufilter/pipeline.h"

enum gf_status gf_pnm_source_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_source **source, struct gf_error *error) GF_CHECKED;
enum gf_status gf_pnm_sink_open(struct gf_output *output, enum gf_file_format file_format,
                                struct gf_format format, const struct gf_options *options,
                                struct gf_sink **sink, struct gf_error *error) GF_CHECKED;

#endif
