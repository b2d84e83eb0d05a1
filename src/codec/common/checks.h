/* Options and messages that all file formats share: warnings, limits, errors, threads. */
#ifndef GF_CODEC_COMMON_CHECKS_H
#define GF_CODEC_COMMON_CHECKS_H

#include <stdint.h>

#include "base/image.h"
#include "gpufilter/pipeline.h"

/* Passes one line to options->warn, if the caller set it. */
void gf_warn(const struct gf_options *options, const char *format, ...) GF_PRINTF(2, 3);

/* The number of threads for one picture, and for a library's own threads. */
int gf_codec_threads(const struct gf_options *options);
int gf_library_threads(const struct gf_options *options);

/* The subsampling of colours. Only this function knows what GF_SUBSAMPLING_AUTO stands for. */
enum gf_subsampling gf_subsampling_of(const struct gf_options *options);

/* GF_ERROR_INPUT where a picture has no pixels, more than options->max_pixels, or too long a
 * side. */
enum gf_status gf_size_check(const char *name, uint64_t width, uint64_t height,
                             const struct gf_options *options, struct gf_error *error) GF_CHECKED;

/* The end of a message about damage that options->allow_truncated would turn into a warning; ""
 * where it is set. */
const char *gf_truncated_hint(const struct gf_options *options);

/* Says "in.png: truncated after row 412 of 2160"; for row -1 "in.png: truncated in the header". */
enum gf_status gf_fail_truncated(struct gf_error *error, const char *name, int64_t row,
                                 int64_t rows);

#endif
