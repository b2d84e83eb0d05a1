/* What the formats of picture files have in common, behind codec.h: their entries, limits, messages
 * and the conversions of samples. */
#ifndef GF_FORMATS_H
#define GF_FORMATS_H

#include "codec.h"

/* One pair a format. A sink takes metadata that gf_metadata_for_output prepared; it is written at
 * once. */
enum gf_status gf_png_source_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_source **source, struct gf_error *error) GF_CHECKED;
enum gf_status gf_jpeg_source_open(struct gf_input *input, const struct gf_options *options,
                                   struct gf_source **source, struct gf_error *error) GF_CHECKED;
enum gf_status gf_pnm_source_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_source **source, struct gf_error *error) GF_CHECKED;
enum gf_status gf_png_sink_open(struct gf_output *output, struct gf_format format,
                                const struct gf_metadata *metadata,
                                const struct gf_options *options, struct gf_sink **sink,
                                struct gf_error *error) GF_CHECKED;
enum gf_status gf_jpeg_sink_open(struct gf_output *output, struct gf_format format,
                                 const struct gf_metadata *metadata,
                                 const struct gf_options *options, struct gf_sink **sink,
                                 struct gf_error *error) GF_CHECKED;
/* In place of rows: a whole JPEG that was encoded elsewhere, behind the sink's own metadata.
 * Finishes the file. */
enum gf_status gf_jpeg_sink_splice(struct gf_sink *sink, const unsigned char *data, size_t size,
                                   struct gf_error *error) GF_CHECKED;
enum gf_status gf_pnm_sink_open(struct gf_output *output, enum gf_file_format file_format,
                                struct gf_format format, const struct gf_options *options,
                                struct gf_sink **sink, struct gf_error *error) GF_CHECKED;

/* One line to options->warn, where there is one. */
void gf_warn(const struct gf_options *options, const char *format, ...) GF_PRINTF(2, 3);

enum { GF_SIDE_MAX = 1 << 24 }; /* pixels: a row of it still fits in memory */
/* Of a caller's picture; `name` stands first in the message. */
enum gf_status gf_format_check(struct gf_format format, const char *name,
                               struct gf_error *error) GF_CHECKED; /* in image.c */
/* Refuses a picture without pixels, over options->max_pixels, or with too long a side. */
enum gf_status gf_size_check(const char *name, uint64_t width, uint64_t height,
                             const struct gf_options *options, struct gf_error *error) GF_CHECKED;

/* "in.png: truncated in the header", or "... after row 412 of 2160". */
enum gf_status gf_fail_truncated(struct gf_error *error, const char *name, int64_t row,
                                 int64_t rows);

/* Sets the rows that a damaged file does not have to zero. */
void gf_rows_clear(unsigned char *data, size_t pitch, int rows, size_t row_bytes);

/* Samples; src and dst may be the same. */
void gf_samples_narrow(const void *src, void *dst, size_t count); /* 16 bits to 8 */
void gf_samples_big_endian(const void *src, void *dst,
                           size_t count); /* native 16 bits to or from a file's */
/* Pixels without their alpha: 2 channels to 1, 4 to 3. */
void gf_pixels_drop_alpha(const void *src, void *dst, size_t pixels, int channels, int bits);

#endif
