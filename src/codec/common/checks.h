/* Checks and messages for all file formats: warnings, limits, errors, numbers of threads. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "gpufilter/status.h"

/* Passes one line to options->warn, if the caller set it. */
void gf_warn(const struct gf_options *options, const char *format, ...) GF_PRINTF(2, 3);

/* The first function returns how many threads one picture may use, the second how many a codec's
 * library may start. */
int gf_codec_threads(const struct gf_options *options);
int gf_library_threads(const struct gf_options *options);

/* Returns the subsampling of chroma. GF_SUBSAMPLING_AUTO becomes the subsampling that it stands
 * for. */
enum gf_subsampling gf_subsampling_of(const struct gf_options *options);

/* Returns GF_ERROR_INPUT if a picture has no pixels, has more than options->max_pixels, or has a
 * side that is too long. */
enum gf_status gf_size_check(const char *name, uint64_t width, uint64_t height,
                             const struct gf_options *options, struct gf_error *error) GF_CHECKED;

/* Returns GF_ERROR_INPUT if `bytes` exceeds `limit`, which depends on options->memory_bytes; `why`
 * is the reason, such as "it is decoded as a whole". */
enum gf_status gf_memory_check(const char *name, const char *why, uint64_t bytes, uint64_t limit,
                               const struct gf_options *options, struct gf_error *error) GF_CHECKED;

/* Returns how many bytes of memory a file of that size may take: 1 GiB, or 16 KiB for each byte of
 * the file if that is more. */
uint64_t gf_bytes_in_proportion(uint64_t file_bytes);

/* Returns GF_ERROR_INPUT if options->memory_bytes sets no limit, and reading the picture takes more
 * than gf_bytes_in_proportion() of its file. A file of 90 bytes can declare a canvas of 900
 * megapixels. */
enum gf_status gf_memory_check_proportion(const struct gf_source *source,
                                          const struct gf_input *input,
                                          const struct gf_options *options,
                                          struct gf_error *error) GF_CHECKED;

/* Fails with GF_ERROR_INPUT for a file of a format that the program does not read. `what` is the
 * format, such as "PDF"; `command` is a command that converts such a file to a picture, or NULL. */
enum gf_status gf_fail_unread(struct gf_error *error, const char *name, const char *what,
                              const char *command);

/* Fails with GF_ERROR_INPUT for a film in a container, and tells how to pass its frames through
 * ffmpeg. */
enum gf_status gf_fail_film(struct gf_error *error, const char *name, const char *what);

/* Returns the end of an error message about damage, which suggests options->allow_truncated; "" if
 * that option is set. */
const char *gf_truncated_hint(const struct gf_options *options);

/* Fails because a file of `count` pictures has none with the number, or of the kind, that `page`
 * chooses (codec/io/input.h). */
enum gf_status gf_fail_page(const char *name, int page, int count, struct gf_error *error);
/* Fails with GF_ERROR_INPUT and a message such as "in.png: truncated after row 412 of 2160"; for
 * row -1 "in.png: truncated in the header". */
enum gf_status gf_fail_truncated(struct gf_error *error, const char *name, int64_t row,
                                 int64_t rows);

/* ---- features that an older version of a library does not read. A file with them is undamaged,
 * and the message names the version that reads it ---- */

/* Whether the file has the mark of a row of the table in checks.c, such as an item of type
 * "unci". */
typedef bool gf_has_mark(const void *context, const char *mark);

/* Fails with the one line "a.heic: libheif 1.15.1 does not read JPEG 2000 in HEIF; 1.17 does" if
 * the table has a row for the file and the row's version is above the library's. Returns GF_OK if
 * the file needs nothing of that kind. The version is a text with numbers, such as "LIBTIFF,
 * Version 4.5.0". */
enum gf_status gf_fail_needs(const char *name, const char *library, const char *version,
                             gf_has_mark *has, const void *context, struct gf_error *error);
