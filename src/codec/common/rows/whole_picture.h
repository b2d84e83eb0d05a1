/* A source and a sink for formats whose library decodes and encodes a picture only as a whole, from
 * and to bytes in memory. The source decodes when the first row is read, so that the caller can
 * check the needed memory before. */
#pragma once

#include "base/image.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "gpufilter/image.h"
#include "gpufilter/options.h"

struct gf_whole_source;
enum { GF_WHOLE_HEAD = 64 << 10 };

/* The functions of a format. Its own struct has `size` bytes: first a struct gf_whole_source, then
 * members that are zero at first. */
struct gf_whole_calls {
    size_t size;
    /* Reads the header and the metadata; calls gf_whole_source_describe() and gf_choose_page(). */
    enum gf_status (*read_header)(struct gf_whole_source *source, struct gf_error *error);
    /* If several frames are wanted, the function is called for each in order, with `pixels` as the
     * previous call has left them, and sets base.duration. After gf_end_frames() it returns GF_OK.
     * It decodes the picture to `pixels`, rows without gaps, in base.format: at 1 / base.reduction
     * of its size, which is above 1 only if read_header() has set base.most_reduction or levels. */
    enum gf_status (*decode)(struct gf_whole_source *source, unsigned char *pixels,
                             struct gf_error *error);
    /* Frees the memory of the format's own members, even after a failed open. NULL if they have
     * none. */
    void (*release)(struct gf_whole_source *source);
    /* decode() gets `pixels` filled with zeros; memory pages that it does not write take no
     * memory. */
    bool blank;
    /* decode() can decode the part source->window alone, to rows of its size. The bytes of `file`
     * may then belong to the input, and beyond the first GF_WHOLE_HEAD they are there only after
     * gf_whole_source_need(). */
    bool parts;
};

struct gf_whole_source {
    struct gf_source base;
    const struct gf_whole_calls *calls;
    struct gf_options options;
    const char *name; /* the input's name */
    int page;         /* the number of the picture that the user chose, from 0; -1: none */
    int last;         /* the last of the frames that are wanted; -1: one picture alone */
    int frame;        /* number of the frame that decode() is to decode, if several are wanted */
    int sound;        /* number of pictures before the file's damage, if read_header() has set it */
    struct gf_blob file;
    bool headers_only;          /* no row will be read */
    bool borrowed;              /* the bytes of `file` belong to the input */
    struct gf_input *later;     /* the input, if bytes of `file` are read later; else NULL */
    struct gf_rectangle window; /* the part of the picture that is wanted */
    int height;                 /* number of rows of the whole picture */
    unsigned char *pixels;      /* NULL until the first row is read */
    bool decoded;               /* the present picture is in `pixels` */
    bool released;
    int row;
};

/* Opens the source: reads the file into memory, then its header. */
enum gf_status gf_whole_source_open(const struct gf_whole_calls *calls, struct gf_input *input,
                                    const struct gf_options *options, struct gf_source **source,
                                    struct gf_error *error) GF_CHECKED;
/* Defines the function `name` (a gf_source_opener) that does so; the rest are the members of its
 * struct gf_whole_calls. */
#define GF_WHOLE_SOURCE(name, ...) \
    enum gf_status name(struct gf_input *input, const struct gf_options *options, \
                        struct gf_source **source, struct gf_error *error) \
    { \
        static const struct gf_whole_calls gf_own = {__VA_ARGS__}; \
        return gf_whole_source_open(&gf_own, input, options, source, error); \
    }
/* Reads those bytes of the file, as many of them as it has, if that was not done. */
enum gf_status gf_whole_source_need(struct gf_whole_source *source, uint64_t at, uint64_t bytes,
                                    struct gf_error *error) GF_CHECKED;
/* Opens the source of a file whose bytes were read already. The source frees them, even after a
 * failure. */
enum gf_status gf_whole_source_take(const struct gf_whole_calls *calls, struct gf_input *input,
                                    const struct gf_options *options, struct gf_blob file,
                                    struct gf_source **source, struct gf_error *error) GF_CHECKED;
/* Checks the picture's size, and sets the source's format and memory. library_bytes: the bytes that
 * the library allocates for each pixel. */
enum gf_status gf_whole_source_describe(struct gf_whole_source *source, uint64_t width,
                                        uint64_t height, int channels, int bits,
                                        double library_bytes, struct gf_error *error) GF_CHECKED;
/* Chooses which of `count` pictures is decoded. `wanted` is the number that the user chose, or -1;
 * with -1 and several pictures the function warns and chooses the first. */
enum gf_status gf_choose_page(const char *name, int wanted, int count,
                              const struct gf_options *options, int *page,
                              struct gf_error *error) GF_CHECKED;
/* Warns that the first of `count` pictures is taken, if there are several; `second` is the number
 * of the next one. */
void gf_warn_pages(const char *name, int count, int second, const struct gf_options *options);
/* Chooses the picture, or the frames, of an animation of `count` frames: source->frame becomes the
 * first of them and source->last the last one that there is. If there are several, the source gets
 * its next(). */
enum gf_status gf_choose_frames(struct gf_whole_source *source, int count,
                                struct gf_error *error) GF_CHECKED;
/* Returns a duration of count / per_second seconds; halves both numbers until they fit into 32
 * bits. */
struct gf_duration gf_duration_of(uint64_t count, uint64_t per_second);
/* If the options allow truncated files and an earlier frame is whole, ends the animation before the
 * present frame, which is damaged, warns, and returns true. */
bool gf_end_frames(struct gf_whole_source *source, const char *why);
/* Warns that the file is damaged behind its first `pictures` pictures, and why. */
void gf_warn_behind(const char *name, int pictures, const char *why,
                    const struct gf_options *options);
/* Reads all bytes of the input into file->data, which the caller frees, even after a failure. */
enum gf_status gf_whole_file(struct gf_input *input, const struct gf_options *options,
                             struct gf_blob *file, struct gf_error *error) GF_CHECKED;
/* Reads the next `size` bytes of the input, or those up to its end, behind the bytes of `file`,
 * whose memory, *capacity bytes, grows as needed. The caller frees it, even after a failure. */
enum gf_status gf_whole_read_more(struct gf_input *input, uint64_t size,
                                  const struct gf_options *options, struct gf_blob *file,
                                  size_t *capacity, struct gf_error *error) GF_CHECKED;
/* Whether all wanted pictures lie before the file's damage, or some of them do and
 * options.allow_truncated is set. */
bool gf_whole_source_suffices(const struct gf_whole_source *source);
/* Fails with the one line "a.webp: damaged: WHY", and tells how to read the pictures before the
 * damage. If malloc() has set errno the status is GF_ERROR_MEMORY instead, since some libraries
 * report a lack of memory as damage. */
enum gf_status gf_whole_source_fail(const struct gf_whole_source *source, const char *why,
                                    struct gf_error *error);

/* A sink for formats whose library encodes a picture only as a whole: the sink collects the rows
 * and encodes after the last one, or after the last one of each frame. */

struct gf_whole_sink;

/* The functions and limits of a format. */
struct gf_whole_encoder {
    const char *name; /* the format's name, such as "JPEG XL" */
    int side_most;    /* the most pixels that a side may have */
    /* Writes the whole file to the output. */
    enum gf_status (*encode)(struct gf_whole_sink *sink, struct gf_error *error);
    /* For animations; NULL if the format has none. add() adds `pixels` as a frame, end() ends the
     * file after the last one, and release() frees `animation`, even after a failure. */
    enum gf_status (*add)(struct gf_whole_sink *sink, struct gf_error *error);
    enum gf_status (*end)(struct gf_whole_sink *sink, struct gf_error *error);
    void (*release)(struct gf_whole_sink *sink);
};

struct gf_whole_sink {
    struct gf_sink base;
    const struct gf_whole_encoder *encoder;
    struct gf_output *output;
    struct gf_options options;
    struct gf_metadata metadata;
    struct gf_format rows; /* the format of the rows that write() gets */
    /* The pixel format that the library gets: 8 bits or RGB if the file format has no 16 bits or
     * gray. */
    struct gf_format format;
    unsigned char *pixels; /* the picture in `format`, rows without gaps */
    int row;
    void *animation; /* the format's own state of an animation; NULL before its first frame */
    bool animated;   /* several frames are written */
    unsigned loops;  /* how many times the frames are shown; 0: forever */
    int frames;      /* number of frames that were added */
    double shown;    /* duration of the added frames in seconds */
    /* Units of time in a second, for durations: those of the first frame, or finer ones. */
    uint32_t per_second;
};

/* Opens the sink. `format` is the format of the rows that will be written, and `in_file` the format
 * of the pixels for the library. The metadata is copied. Returns GF_ERROR_UNFIT if a side is too
 * long. */
enum gf_status gf_whole_sink_open(const struct gf_whole_encoder *encoder,
                                  const struct gf_sink_order *order, struct gf_format in_file,
                                  struct gf_sink **sink, struct gf_error *error) GF_CHECKED;
/* Returns the memory of the sink. library_bytes: the bytes that the library allocates for each
 * pixel. */
struct gf_codec_memory gf_whole_sink_memory(struct gf_format in_file, double library_bytes);

/* Returns how long the frame that is added is shown, in ticks of 1 / per_second seconds. It must be
 * called once for each frame: it rounds the time since the first frame, so that errors do not add
 * up. */
uint32_t gf_whole_sink_ticks(struct gf_whole_sink *sink, uint32_t per_second);
/* Fails if the `coded` bytes of all frames so far, added to the memory that the sink has declared,
 * are too much. */
enum gf_status gf_whole_sink_check(const struct gf_whole_sink *sink, uint64_t coded,
                                   struct gf_error *error) GF_CHECKED;

/* ---- what a frame of an animation changes ---- */

/* Returns the least rectangle that has all pixels in which two frames of one format differ; its
 * height is 0 if there are none. */
struct gf_rectangle gf_changed_between(const struct gf_image *before, const struct gf_image *after);
