/* Reads and writes picture files row by row, whatever their format. Layers above need no other
 * header of src/codec; source.h declares sources and sinks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "codec/common/metadata/metadata.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "gpufilter/image.h"

/* Recognises the format by the contents, reads the header and checks options->formats and
 * options->max_pixels. */
enum gf_status gf_source_open(struct gf_input *input, const struct gf_options *options,
                              struct gf_source **source, struct gf_error *error) GF_CHECKED;
/* Goes to the next of the chosen frames of a source that has next(). *found becomes false behind
 * the last one. */
enum gf_status gf_source_next(struct gf_source *source, bool *found,
                              struct gf_error *error) GF_CHECKED;
/* Fails with GF_ERROR_USAGE, and says what to do instead, if the extension is that of a format that
 * is known not to be written. */
enum gf_status gf_output_check_foreign(const char *path, struct gf_error *error) GF_CHECKED;
/* Chooses the format of an output to `path` (NULL: to memory): options->format, otherwise the
 * format of the extension, otherwise `fallback` (the input's own format) for standard output and
 * special files. Returns GF_ERROR_USAGE if the extension is unknown, its format is only read, or
 * the options choose the quality of a format that has none; GF_ERROR_UNAVAILABLE if the format's
 * library is missing. */
enum gf_status gf_sink_format(const char *path, const struct gf_options *options,
                              enum gf_file_format fallback, enum gf_file_format *format,
                              struct gf_error *error) GF_CHECKED;
/* Recognises a file's format by its first bytes. Returns GF_FILE_AUTO if they belong to no known
 * format. */
enum gf_file_format gf_file_format_of(const unsigned char *bytes, size_t size);
/* Peeks at the first bytes of an input and finds its format. Does not wait for bytes that a small
 * picture does not have, if its format says where it ends. */
enum gf_status gf_input_format(struct gf_input *input, enum gf_file_format *format,
                               struct gf_error *error) GF_CHECKED;
/* Returns the format of the file name's extension; GF_FILE_AUTO if there is none. */
enum gf_file_format gf_file_format_named(const char *path);
/* The format's name, such as "PNG"; "" for GF_FILE_AUTO. */
const char *gf_file_format_name(enum gf_file_format format);
/* Whether the format's reader stops exactly at the end of the picture, so that another picture can
 * follow in the same input. */
bool gf_file_format_has_end(enum gf_file_format format);
/* Whether the path's extension belongs to a format that can be written, so that an output may keep
 * the name of its input. */
bool gf_file_format_keeps_extension(const char *path);
/* Returns the usual extension, without the dot, of an output whose input has this format. The text
 * is valid until the thread's next call. */
const char *gf_file_format_extension(enum gf_file_format format);

/* Returns the pixel format in which a file of this type stores a picture of `format`: JPEG has 8
 * bits, JPEG and PNM have no alpha, WebP has no gray. formats.h has the table. */
struct gf_format gf_format_in_file(enum gf_file_format file_format, struct gf_format format);
/* Fails with GF_ERROR_USAGE if a file of this type cannot hold CMYK. */
enum gf_status gf_sink_check_inks(enum gf_file_format file_format, const char *name,
                                  struct gf_error *error) GF_CHECKED;
/* Returns the number of bits of a sample in a file of this type for a pictureof pixel format
 * `format`, whose input had `stored` bits per sample (struct gf_metadata; 0: as many as
 * `format`). */
int gf_depth_of(enum gf_file_format file_format, struct gf_format format, int stored,
                const struct gf_options *options);
/* Whether any format that the program writes can have samples of `depth` bits. */
bool gf_depth_exists(int depth);
/* Whether an animated input stays an animation in the output `name` (NULL: to memory). `own` is the
 * input's format. A PNG output is one picture unless its input is a PNG, too, or it is named .apng;
 * pages of a TIFF are written where they were chosen. */
bool gf_output_animates(const char *name, const struct gf_options *options,
                        enum gf_file_format own);
/* Whether animations are written as files of this type. */
bool gf_format_animates(enum gf_file_format file_format);
/* Whether several pictures in a file of this type are an animation unless the user chose one. It is
 * false for TIFF, whose pictures are pages. */
bool gf_format_animates_unasked(enum gf_file_format file_format);
/* Whether a file of this type can say that its samples are PQ or HLG. */
bool gf_format_names_hdr(enum gf_file_format file_format);

/* Returns the memory that a sink needs to write a picture of this pixel format. */
struct gf_codec_memory gf_sink_memory(enum gf_file_format file_format, struct gf_format format,
                                      const struct gf_options *options);

/* Serves as a cell (codec/cell/cell.h) that decodes files of the format `word`, such as "webp".
 * Returns the process's exit status. */
int gf_cell_main(const char *word);

/* Opens a sink for rows of the format `format`. write() converts what the file format cannot hold:
 * samples get options->depth bits, or those of
 * gf_depth_of(), by v * M / 65535, rounded; for JPEG and PNM alpha is dropped, the
 * colour does not change, and options->warn is called once (the pipeline composes such pictures
 * over a colour before). The metadata is written unless options->strip is set; its orientation
 * becomes 1 unless options->autorotate is off. Returns GF_ERROR_UNFIT for colours in a .pgm file,
 * and for options->lossless if the file format is always lossy. */
enum gf_status gf_sink_open(struct gf_output *output, enum gf_file_format file_format,
                            struct gf_format format, const struct gf_metadata *metadata,
                            const struct gf_options *options, struct gf_sink **sink,
                            struct gf_error *error) GF_CHECKED;
/* Begins another page of a sink that has turn(), as gf_sink_open() begins the first. */
enum gf_status gf_sink_turn(struct gf_sink *sink, struct gf_output *output,
                            enum gf_file_format file_format, struct gf_format format,
                            const struct gf_metadata *metadata, const struct gf_options *options,
                            struct gf_error *error) GF_CHECKED;
