/* JPEG files, read and written by libjpeg-turbo. Only codec.c opens them. */
#pragma once

#include "chain/plan.h"
#include "codec/common/metadata/gain_map.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/rows/source.h"
#include "codec/io/output.h"
#include "gpufilter/options.h"

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

/* The gain map of a JPEG. */

/* Opens a JPEG and does with its gain map what the options say: it lies in the metadata, or the
 * source's rows are those of the HDR picture. A map that cannot be used is left out, with a
 * warning. */
enum gf_status gf_jpeg_gain_open(struct gf_input *input, const struct gf_options *options,
                                 struct gf_source **source, struct gf_error *error) GF_CHECKED;

/* Makes the gain map of a result that has that place in the picture of the map: *moved, which the
 * caller frees. `map` and `icc` are the decoded map and its profile. */
enum gf_status gf_jpeg_gain_move(const struct gf_blob *jpeg, const struct gf_image *map,
                                 const struct gf_blob *icc, const struct gf_place *place,
                                 struct gf_format result, const struct gf_options *options,
                                 struct gf_blob *moved, struct gf_error *error) GF_CHECKED;

/* Opens a sink for a JPEG with the gain map in the metadata, if there is one. */
enum gf_status gf_jpeg_gain_create(const struct gf_sink_order *order, struct gf_sink **sink,
                                   struct gf_error *error) GF_CHECKED;
