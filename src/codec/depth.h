/* The bits of a sample in a file that is written: what its format can hold, what the options
 * choose, and a sink that converts rows to them. */
#pragma once

#include "codec/formats.h"

/* Returns the least depth of the format that is more than `above`; 0 if there is none. */
int gf_depth_next(const struct gf_file_type *type, int above);
/* Writes the depths of the format: "1, 8 or 16", or "its input's" if it chooses them itself. */
enum { GF_DEPTHS_TEXT_SIZE = 40 };
void gf_depths_text(const struct gf_file_type *type, char text[GF_DEPTHS_TEXT_SIZE]);
/* Returns GF_ERROR_USAGE if options->depth is a depth that the format cannot hold. */
enum gf_status gf_depth_check(const struct gf_file_type *type, const char *name,
                              const struct gf_options *options, struct gf_error *error) GF_CHECKED;
/* Returns the bits of a sample in a file of the type for a picture of `format`, whose input had
 * `stored` bits (0: as many as `format`). Without options->depth only a format without samples of
 * 16 bits, such as AVIF, follows the input. */
int gf_depth_in_file(const struct gf_file_type *type, struct gf_format format, int stored,
                     const struct gf_options *options);
/* Returns the format of the rows that a sink of the format gets for files of that depth. */
struct gf_format gf_depth_rows(const struct gf_file_type *type, struct gf_format format, int depth);
/* Replaces *sink by a sink that converts rows of `from` to those of gf_depth_rows(), unless both
 * have the same bits, also on further pages. It closes the replaced one, as does a failure. */
enum gf_status gf_depth_sink_open(const struct gf_file_type *type, struct gf_format from, int depth,
                                  struct gf_sink **sink, struct gf_error *error) GF_CHECKED;
