/* A sink that finds the quality of a lossy file by trials. */
#pragma once

#include <stdbool.h>

#include "codec/formats.h"

enum { GF_FITTED_TRIALS = 7 }; /* halving 1..100 takes as many */

/* Whether the options ask for trials: options->max_bytes or options->target_ssim is set. */
bool gf_options_fit(const struct gf_options *options);
/* Returns GF_ERROR_USAGE if the options ask for trials and the format has no quality to choose. */
enum gf_status gf_fitted_check(const struct gf_file_type *type, const char *name,
                               const struct gf_options *options, struct gf_error *error) GF_CHECKED;
/* Opens the sink. It keeps the finished rows, encodes them to memory with at most seven qualities,
 * and writes the best of these files to the output. */
enum gf_status gf_fitted_sink_open(const struct gf_file_type *type, struct gf_output *output,
                                   struct gf_format format, const struct gf_options *options,
                                   struct gf_sink **sink, struct gf_error *error) GF_CHECKED;
/* Hands over the metadata of the output, as gf_metadata_for_output() gives it. It becomes empty. */
void gf_fitted_sink_take_metadata(struct gf_sink *sink, struct gf_metadata *metadata);
/* Returns the memory of the sink; `encoder` is the memory of one trial. */
struct gf_codec_memory gf_fitted_sink_memory(struct gf_format format, uint64_t encoder,
                                             const struct gf_options *options);
