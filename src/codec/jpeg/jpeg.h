/* JPEG files, which libjpeg-turbo reads and writes. The functions that formats.def names also read
 * and write gain maps; they call the functions below, which open a JPEG without its gain map. */
#pragma once

#include "chain/plan.h"
#include "codec/common/metadata/gain_map.h"
#include "codec/common/opening.h"

/* Opens a source. strip_rows: how many rows of units (MCUs) a thread decodes at a time; 0: the
 * function chooses. */
enum gf_status gf_jpeg_source_open(struct gf_input *input, const struct gf_options *options,
                                   int strip_rows, struct gf_source **source,
                                   struct gf_error *error) GF_CHECKED;
/* Opens a sink. The metadata is from gf_metadata_for_output() and is written at once. strip_rows:
 * how many rows of units (MCUs) a thread encodes at a time; 0: the function chooses. */
enum gf_status gf_jpeg_sink_open(struct gf_output *output, struct gf_format format,
                                 const struct gf_metadata *metadata,
                                 const struct gf_options *options, int strip_rows,
                                 struct gf_sink **sink, struct gf_error *error) GF_CHECKED;

/* The gain map of a JPEG. */

/* Makes the gain map of a result from `jpeg`, the gain map of a picture in which `place` says where
 * the result lies. `map` and `icc` are the decoded gain map and its profile. *moved becomes the new
 * gain map as a JPEG, which the caller frees. */
enum gf_status gf_jpeg_gain_move(const struct gf_blob *jpeg, const struct gf_image *map,
                                 const struct gf_blob *icc, const struct gf_place *place,
                                 struct gf_format result, const struct gf_options *options,
                                 struct gf_blob *moved, struct gf_error *error) GF_CHECKED;
