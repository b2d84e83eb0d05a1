/* Reading and writing picture files, row by row. A source hands out rows in the pixel format of
 * gpufilter/image.h; a sink takes finished rows in order. A format is two files: png.c reads,
 * png_write.c writes. */
#ifndef GF_CODEC_H
#define GF_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/image.h"
#include "gpufilter/pipeline.h"

/* What travels beside the pixels. Blocks are malloc'ed, size 0 where absent. */
struct gf_blob {
    unsigned char *data;
    size_t size;
};
struct gf_metadata {
    struct gf_blob icc;          /* an ICC profile */
    struct gf_blob exif;         /* TIFF structure, from "II" or "MM" on, without "Exif\0\0" */
    struct gf_blob xmp;          /* the XMP packet */
    double density_x, density_y; /* pixels per metre; 0: unknown */
    int orientation;             /* EXIF's 1..8; 1 where there is none */
};
void gf_metadata_free(struct gf_metadata *metadata);

/* Bytes of an input, from a file or from standard input, readable again from the start. (input.c)
 */
struct gf_input;
/* keep: remember what a pipe gave, so that gf_input_rewind can start over. A directory, a missing
 * or an empty file is an error that names it. */
enum gf_status gf_input_open(const char *path, bool keep, struct gf_input **input,
                             struct gf_error *error) GF_CHECKED;
void gf_input_close(struct gf_input *input);
const char *gf_input_name(const struct gf_input *input); /* for messages: the path, or "stdin" */
/* Up to size bytes; fewer only at the end. An I/O error is an error, the end is not. */
enum gf_status gf_input_read(struct gf_input *input, void *data, size_t size, size_t *got,
                             struct gf_error *error) GF_CHECKED;
/* What is there without waiting for more, one byte at least; none at the end. */
enum gf_status gf_input_read_some(struct gf_input *input, void *data, size_t size, size_t *got,
                                  struct gf_error *error) GF_CHECKED;
/* The next bytes without consuming them, for recognising the format. */
enum gf_status gf_input_peek(struct gf_input *input, void *data, size_t size, size_t *got,
                             struct gf_error *error) GF_CHECKED;
enum gf_status gf_input_rewind(struct gf_input *input, struct gf_error *error) GF_CHECKED;
/* All bytes of a regular file from the start, of which there are gf_input_size; the next read goes
 * on where it was. */
enum gf_status gf_input_copy(struct gf_input *input, void *data, struct gf_error *error) GF_CHECKED;
/* Size of a regular file from the start on, else -1. */
int64_t gf_input_size(const struct gf_input *input);
/* The last bytes that were read, 64 KB at most, are to be read again. */
enum gf_status gf_input_give_back(struct gf_input *input, const void *data, size_t size,
                                  struct gf_error *error) GF_CHECKED;
/* The next byte is the first of another picture: gf_input_rewind comes back to here. */
void gf_input_start_here(struct gf_input *input);
bool gf_input_is_stream(const struct gf_input *input); /* no regular file */

/* An output that appears complete or not at all. (output.c) Bytes go to a temporary file in the
 * target's folder (unnamed where the file system can), renamed over the target by commit; standard
 * output is spooled likewise and copied out by commit. Permissions of an existing target are kept;
 * a symbolic link is followed; a target that is no regular file (/dev/null, a FIFO) is written by
 * commit. */
struct gf_output;
/* What commit does beside, both off by default. */
struct gf_output_manner {
    bool
        no_clobber; /* a file that is there is an error, also one that appears at the last moment */
    bool sync;      /* the file and its folder are on the disk when commit returns */
};
void gf_output_set_manner(struct gf_output *output, struct gf_output_manner manner);
int64_t gf_output_size(const struct gf_output *output); /* bytes written so far */
enum gf_status gf_output_open(const char *path, struct gf_output **output,
                              struct gf_error *error) GF_CHECKED;
/* The path behind symbolic links, also where nothing is there yet; malloc. NULL with errno. */
char *gf_output_resolve(const char *path);
const char *gf_output_name(const struct gf_output *output);
enum gf_status gf_output_write(struct gf_output *output, const void *data, size_t size,
                               struct gf_error *error) GF_CHECKED;
/* Starts over: drops what was written. */
enum gf_status gf_output_rewind(struct gf_output *output, struct gf_error *error) GF_CHECKED;
enum gf_status gf_output_commit(struct gf_output *output, struct gf_error *error) GF_CHECKED;
void gf_output_close(struct gf_output *output); /* abandons what was not committed */

struct gf_source {
    struct gf_format format;
    struct gf_metadata metadata;
    bool for_device_codec; /* a JPEG of the kind that a GPU's codec takes, by its header */
    /* The next `rows` rows to dst, pitch bytes apart. Errors name the input. */
    enum gf_status (*read)(struct gf_source *source, int rows, unsigned char *dst, size_t pitch,
                           struct gf_error *error);
    /* After the last row: checks what follows (checksums, the end marker); may be NULL. */
    enum gf_status (*finish)(struct gf_source *source, struct gf_error *error);
    void (*close)(struct gf_source *source); /* frees the source; not the input */
};

/* Recognises the format by content, reads the header, checks the limits (options->max_pixels). */
enum gf_status gf_source_open(struct gf_input *input, const struct gf_options *options,
                              struct gf_source **source, struct gf_error *error) GF_CHECKED;

struct gf_sink {
    /* Takes the next rows. May modify nothing of them. */
    enum gf_status (*write)(struct gf_sink *sink, int rows, const unsigned char *src, size_t pitch,
                            struct gf_error *error);
    enum gf_status (*finish)(struct gf_sink *sink, struct gf_error *error); /* after the last row */
    void (*close)(struct gf_sink *sink);
};

/* The format in which `path` (or options->format) is written; GF_ERROR_USAGE where the extension is
 * unknown. For "-" without options->format: `fallback`, the input's own format. */
enum gf_status gf_sink_format(const char *path, const struct gf_options *options,
                              enum gf_file_format fallback, enum gf_file_format *format,
                              struct gf_error *error) GF_CHECKED;
/* The format of the input by its first bytes, GF_FILE_AUTO where unknown. */
enum gf_file_format gf_file_format_of(const unsigned char *bytes, size_t size);
/* By the extension of a picture's name, likewise. */
enum gf_file_format gf_file_format_named(const char *path);
/* Without its dot. */
const char *gf_file_format_extension(enum gf_file_format format);

/* `format` is of the rows to come. What the file format cannot hold is converted in write(): 16
 * bits to 8 for JPEG (v * 255 / 65535, rounded), alpha dropped for JPEG and PNM (composited on
 * nothing: the colour is kept as it is) with one warning through options->warn. metadata is written
 * unless options->strip, with orientation 1, or as it is where options->autorotate is off. */
enum gf_status gf_sink_open(struct gf_output *output, enum gf_file_format file_format,
                            struct gf_format format, const struct gf_metadata *metadata,
                            const struct gf_options *options, struct gf_sink **sink,
                            struct gf_error *error) GF_CHECKED;

#endif
