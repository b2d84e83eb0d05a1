/* Warnings, limits and errors that all file formats share. */
#ifndef GF_CODEC_COMMON_CHECKS_H
#define GF_CODEC_COMMON_CHECKS_H

#include <stdint.h>

#include "base/image.h"
#include "gpufilter/pipeline.h"

/* One line to options->warn, where there is one. */
void gf_warn(const struct gf_options *options, const char *format, ...) GF_PRINTF(2, 3);

/* Refuses a picture without pixels, over options->max_pixels, or with too long a side. */
enum gf_status gf_size_check(const char *name, uint64_t width, uint64_t height,
                             const struct gf_options *options, struct gf_error *error) GF_CHECKED;

/* "in.png: truncated in the header", or "... after row 412 of 2160". */
enum gf_status gf_fail_truncated(struct gf_error *error, const char *name, int64_t row,
                                 int64_t rows);

#endif
