/* Reads the bytes of an input: a file, or standard input. An input can be read again from its
 * start, and pictures in it can follow one another. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "gpufilter/pipeline_stream.h"

/* The kinds of pictures that a file can hold beside its main picture. A path chooses a picture by
 * its number, as in "a.tif[1]", or the first of a kind, as in "a.heic[depth]",
 * or a layer by its name, as in "a.exr[diffuse]". */

/* clang-format off */
#define GF_PICTURES_ALL(KIND) \
    KIND(MAIN, "main") KIND(OTHER, "picture") KIND(FRAME, "frame") KIND(PAGE, "page") \
    KIND(REDUCED, "reduced") KIND(MASK, "mask") KIND(THUMBNAIL, "thumbnail") \
    KIND(PREVIEW, "preview") KIND(PANORAMA, "panorama") KIND(DISPARITY, "disparity") \
    KIND(ANGLE, "angle") KIND(ORIGINAL, "original") KIND(DEPTH, "depth") \
    KIND(GAIN_MAP, "gainmap") KIND(AUXILIARY, "auxiliary")
/* clang-format on */
enum gf_picture_kind {
#define KIND(end, name) GF_PICTURE_##end,
    GF_PICTURES_ALL(KIND)
#undef KIND
        GF_PICTURE_KINDS
};

/* The pictures of a file that are read. */
struct gf_pages {
    /* The number of the first picture, from 0; or GF_PAGE_OF_KIND + a kind; -1: the user chose
     * none. */
    int first;
    int last; /* the pictures first..last are read one after another, as frames; -1: one alone */
};
/* The value of `last` if all frames from `first` on are read. */
enum { GF_PAGES_ALL = 1 << 20 };

/* A `first` of this number or more chooses the first picture of the kind `first -
 * GF_PAGE_OF_KIND`. */
enum { GF_PAGE_OF_KIND = 1 << 24 };
/* A `first` of this number or more chooses a layer, by a hash of its name. */
enum { GF_PAGE_OF_LAYER = 1 << 30 };
/* Whether a page chooses the layer of that name, which may be that of a kind. */
bool gf_page_is_layer(int page, const char *name, size_t length);

const char *gf_picture_kind_name(enum gf_picture_kind kind);

/* Returns the kind that a page chooses; GF_PICTURE_KINDS if the page is a number or -1. */
enum gf_picture_kind gf_page_kind(int page);

struct gf_input;
struct gf_said;
struct stat;

/* Opens an input. "-" is standard input. "a.gif[3]", if no file has that name, is the fourth
 * picture in a.gif, "a.gif[2..5]" and "a.gif[all]" are several, and "a.heic[depth]" is the first
 * depth map. If `keep` is set, the bytes of a pipe are kept so that gf_input_rewind() can go back
 * to the start. A directory, a missing or an empty file is an error that names it. */
enum gf_status gf_input_open(const char *path, bool keep, struct gf_input **input,
                             struct gf_error *error) GF_CHECKED;
/* Keeps all bytes of a pipe. Before, no bytes may be read, only peeked at. */
void gf_input_keep_all(struct gf_input *input);
/* Opens `size` bytes in memory, which belong to the caller and must stay at their address. The name
 * is for messages. */
enum gf_status gf_input_open_memory(const void *data, size_t size, const char *name,
                                    struct gf_input **input, struct gf_error *error) GF_CHECKED;
/* Opens a stream whose bytes come from the function reader->read. *reader must stay valid until the
 * input is closed; it also names the input for messages. */
enum gf_status gf_input_open_reader(const struct gf_reader *reader, struct gf_input **input,
                                    struct gf_error *error) GF_CHECKED;
/* Opens a regular file whose picture begins at an offset. The input owns the descriptor from now
 * on, even after a failure. */
enum gf_status gf_input_open_descriptor(int descriptor, int64_t offset, struct gf_pages pages,
                                        const char *name, struct gf_input **input,
                                        struct gf_error *error) GF_CHECKED;
void gf_input_close(struct gf_input *input);
/* Splits "path[3]", "path[2..5]", "path[all]" or "path[depth]". Returns the length of the path; 0
 * if there is no such suffix, or if a file has the whole name. */
size_t gf_input_split_pages(const char *name, struct gf_pages *pages);
/* Calls stat() for the file that a path, or "path[3]", opens. Returns false if stat() fails. */
bool gf_input_stat(const char *path, struct stat *file);
/* Whether `path` names the file that an input opens, by whatever name. */
bool gf_input_is_file(const char *input, const char *path);
struct gf_pages gf_input_pages(const struct gf_input *input);
void gf_input_choose_pages(struct gf_input *input, struct gf_pages pages);
/* Returns the first of the chosen pictures (struct gf_pages); -1: none was chosen. */
int gf_input_page(const struct gf_input *input);
/* Whether gf_input_narrow() has limited the input to a part of its file. */
bool gf_input_is_part(const struct gf_input *input);
/* Where another process finds the bytes of an input, which it can only read. */
struct gf_input_loan {
    int descriptor; /* open file with the bytes, which the caller closes */
    int64_t offset, size;
    uint64_t copied; /* bytes of the caller's memory that were copied for the descriptor; else 0 */
};
/* Lends all bytes of the input, from its start on. A stream is first read to its end, into memory
 * unless it is kept in a file; one of more than `most` bytes fails. */
enum gf_status gf_input_lend(struct gf_input *input, uint64_t most, struct gf_input_loan *loan,
                             struct gf_error *error) GF_CHECKED;
/* Returns the regular file that holds the input's bytes and the offset at which they begin, for
 * another process to read. The descriptor is -1 if there is no such file. A kept stream is first
 * read to its end into an unnamed file, which the input then reads. Bytes in memory are copied into
 * a file. */
enum gf_status gf_input_descriptor(struct gf_input *input, int *descriptor, int64_t *offset,
                                   struct gf_error *error) GF_CHECKED;
/* Whether a kept stream ends within `most` bytes. Reads ahead until nothing arrives for that many
 * milliseconds, at most eight times that in all. The position in the input does not change. */
bool gf_input_ends_within(struct gf_input *input, int64_t most, int milliseconds);
/* Moves to the byte at `position`, as counted by gf_input_position(). Only for a regular file. */
void gf_input_go_to(struct gf_input *input, int64_t position);
/* Makes the input consist of `size` bytes at `position` alone, as if they were a file whose first
 * picture is wanted. Only for a regular file that has these bytes. */
void gf_input_narrow(struct gf_input *input, int64_t position, int64_t size);
/* The warnings about the input's picture: see gf_said_begin(). */
struct gf_said *gf_input_said(struct gf_input *input);
/* Sets times[] to those of the last access, before this one, and the last change of the input's
 * file, for futimens(). Returns false if they are unknown. */
bool gf_input_times(const struct gf_input *input, struct timespec times[2]);
/* Sets the time of the last change of an input in memory. */
void gf_input_set_time(struct gf_input *input, struct timespec changed);
/* Writes the path, without symbolic links, of the regular file that the input is; `size` is the
 * path's room. Returns false if the input is no file with a name, or a part of one. */
bool gf_input_path(const struct gf_input *input, char *path, size_t size);
/* The input's name for messages: its path, or "stdin". */
const char *gf_input_name(const struct gf_input *input);

/* Says that only headers will be read, so that a large file need not be read as a whole. */
void gf_input_set_headers_only(struct gf_input *input);
bool gf_input_headers_only(const struct gf_input *input);
/* Says whether a JPEG is to be read as coefficients (codec/common/rows/coefficients.h). */
void gf_input_set_coefficients(struct gf_input *input, bool wanted);
bool gf_input_coefficients(const struct gf_input *input);
/* Says that the caller will choose a window of the picture (struct gf_source), and checks its size
 * against options->max_pixels itself: the whole picture may then exceed it. */
void gf_input_set_windowed(struct gf_input *input);
bool gf_input_windowed(const struct gf_input *input);
/* Gives the bytes of an input in memory that the caller may change; they stay until the input is
 * closed. Returns false if the input has no such memory. A file is read, since a mapped one that
 * becomes shorter ends the program by SIGBUS. */
bool gf_input_borrow(struct gf_input *input, unsigned char **data, size_t *size);

/* Sets the number of threads that may read a large part of a regular file at the same time; without
 * this call it is 1. */
void gf_input_set_threads(struct gf_input *input, int threads);
/* Reads `size` bytes. Fewer bytes mean the end of the input, which is not an error. */
enum gf_status gf_input_read(struct gf_input *input, void *data, size_t size, size_t *got,
                             struct gf_error *error) GF_CHECKED;
/* Reads the bytes that are available now: at least one byte, waiting for the first if necessary;
 * none at the end. */
enum gf_status gf_input_read_some(struct gf_input *input, void *data, size_t size, size_t *got,
                                  struct gf_error *error) GF_CHECKED;
/* Waits at most that many milliseconds for bytes that gf_input_read_some() can read at once.
 * Returns false if none arrived. */
bool gf_input_wait(const struct gf_input *input, int milliseconds);
/* Copies the next bytes without consuming them. */
enum gf_status gf_input_peek(struct gf_input *input, void *data, size_t size, size_t *got,
                             struct gf_error *error) GF_CHECKED;
enum gf_status gf_input_rewind(struct gf_input *input, struct gf_error *error) GF_CHECKED;
/* Copies all gf_input_size() bytes of a regular file. The position in the input does not change. */
enum gf_status gf_input_copy(struct gf_input *input, void *data, struct gf_error *error) GF_CHECKED;
/* The offset of the next byte, counted from the start of the input. */
int64_t gf_input_position(const struct gf_input *input);
/* Reads `size` bytes of a regular file from an offset. Fewer bytes mean the end of the file. The
 * position in the input does not change. */
enum gf_status gf_input_read_at(struct gf_input *input, int64_t offset, void *data, size_t size,
                                size_t *got, struct gf_error *error) GF_CHECKED;
/* Of a plane of samples that begins at an offset of a regular file, with rows of `row` bytes, reads
 * `bytes` bytes from byte `first` on of each of `rows` rows from row y on to their places in a
 * plane at `to`; or these rows whole, where that is faster. Fails at the end of the file. */
struct gf_input_part {
    size_t row, first, bytes;
    int y, rows;
};
enum gf_status gf_input_read_part(struct gf_input *input, int64_t offset, struct gf_input_part part,
                                  unsigned char *to, struct gf_error *error) GF_CHECKED;
/* Fails if the regular file has fewer bytes than when it was opened. */
enum gf_status gf_input_check_size(const struct gf_input *input, struct gf_error *error) GF_CHECKED;
/* Returns the size of a regular file, counted from the start of the input; otherwise -1. */
int64_t gf_input_size(const struct gf_input *input);
/* Returns the last bytes that were read to the input, 64 KB at most, so that the next read gets
 * them again. */
enum gf_status gf_input_give_back(struct gf_input *input, const void *data, size_t size,
                                  struct gf_error *error) GF_CHECKED;
/* Starts another picture at the input's position: gf_input_rewind() goes back to this position from
 * now on. */
void gf_input_start_here(struct gf_input *input);
/* True unless the input is a regular file or memory. */
bool gf_input_is_stream(const struct gf_input *input);

/* Remembers the warnings about a picture, so that none is repeated and at most GF_SAID_MOST are
 * told: a damaged file can cause 300,000 warnings. */

enum { GF_SAID_MOST = 16 };

struct gf_said {
    struct gf_options options; /* the caller's options, with a `warn` that passes no line twice */
    const char *name;          /* the name of the picture, for the warnings */
    /* The caller's function for warnings, to which new lines go. */
    void (*warn)(void *context, const char *text);
    void *context;
    pthread_mutex_t lock;        /* guards the members below */
    uint64_t line[GF_SAID_MOST]; /* hashes of the lines that were passed on */
    unsigned count;              /* number of lines; GF_SAID_MOST + 1: more were left out */
};

/* Begins the warnings of a picture. Returns options that belong to `said`, with a `warn` that any
 * thread may call. */
const struct gf_options *gf_said_begin(struct gf_said *said, const char *name,
                                       const struct gf_options *options);
