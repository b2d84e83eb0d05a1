/* A source for formats whose library decodes a picture only as a whole, from bytes in memory. The
 * source decodes when the first row is read, so that the caller can check the needed memory
 * before. */
#pragma once

#include "codec/common/source.h"
#include "codec/io/input.h"
#include "gpufilter/options.h"

struct gf_whole_source;

/* The functions of a format. Its own struct has `size` bytes: first a struct gf_whole_source, then
 * members that are zero at first. */
struct gf_whole_calls {
    size_t size;
    /* Reads the header and the metadata; calls gf_whole_source_describe() and gf_choose_page(). */
    enum gf_status (*read_header)(struct gf_whole_source *source, struct gf_error *error);
    /* If several frames are wanted, decode() is called for each of them in order, with `pixels` as
     * the call before has left them, and sets base.duration. After gf_end_frames()
     * it returns GF_OK.
     * Decodes the picture to `pixels`, rows without gaps, in base.format: at 1 / base.reduction of
     * its size, which is above 1 only if read_header() has set base.most_reduction. */
    enum gf_status (*decode)(struct gf_whole_source *source, unsigned char *pixels,
                             struct gf_error *error);
    /* Frees the memory of the format's own members, even after a failed open. NULL if they have
     * none. */
    void (*release)(struct gf_whole_source *source);
    bool blank; /* `pixels` of decode() are zeros; pages that decode() does not write take no
                 * memory */
};

struct gf_whole_source {
    struct gf_source base;
    const struct gf_whole_calls *calls;
    struct gf_options options;
    const char *name; /* the input's name */
    int page;         /* the number of the picture that the user chose, from 0; -1: none */
    int last;         /* the last of the frames that are wanted; -1: one picture alone */
    int frame;        /* the frame that decode() makes, if several are wanted */
    int sound;        /* the pictures before the file's damage, where read_header() counts them */
    struct gf_blob file;
    bool headers_only;     /* no row will be read */
    bool borrowed;         /* the bytes of `file` are the input's */
    unsigned char *pixels; /* NULL until the first row is read */
    bool decoded;          /* the present picture */
    bool released;
    int row;
};

/* Opens the source: reads the file into memory, then its header. */
enum gf_status gf_whole_source_open(const struct gf_whole_calls *calls, struct gf_input *input,
                                    const struct gf_options *options, struct gf_source **source,
                                    struct gf_error *error) GF_CHECKED;
/* Opens the source of bytes that were read already, which it frees. */
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
/* Chooses the picture, or the frames, of an animation of `count` frames: source->frame becomes the
 * first of them and source->last the last one that there is. If there are several, the source gets
 * its next(). */
enum gf_status gf_choose_frames(struct gf_whole_source *source, int count,
                                struct gf_error *error) GF_CHECKED;
/* Returns count / per_second seconds, of which both are halved until they are small enough. */
struct gf_duration gf_duration_of(uint64_t count, uint64_t per_second);
/* Ends the frames before the present one, which is damaged, with a warning, if the options allow
 * that. */
bool gf_end_frames(struct gf_whole_source *source, const char *why);
/* Warns that the file is damaged after its first `pictures` pictures, which are whole. */
void gf_warn_behind(const char *name, int pictures, const char *why,
                    const struct gf_options *options);
/* Reads all bytes of the input into file->data, which the caller frees, even after a failure. */
enum gf_status gf_whole_file(struct gf_input *input, const struct gf_options *options,
                             struct gf_blob *file, struct gf_error *error) GF_CHECKED;
/* Reads the next `size` bytes of the input, or those up to its end, behind the bytes of `file`,
 * whose memory has *capacity bytes and grows. The caller frees it, even after a failure. */
enum gf_status gf_whole_read_more(struct gf_input *input, uint64_t size,
                                  const struct gf_options *options, struct gf_blob *file,
                                  size_t *capacity, struct gf_error *error) GF_CHECKED;
/* Whether the wanted pictures are before the damage, or some of them are and will do. */
bool gf_whole_source_suffices(const struct gf_whole_source *source);
/* Fails with the one line "a.webp: damaged: WHY", and how to keep pictures before the damage. If
 * malloc() has set errno the status is GF_ERROR_MEMORY instead, since some libraries report a lack
 * of memory as damage. */
enum gf_status gf_whole_source_fail(const struct gf_whole_source *source, const char *why,
                                    struct gf_error *error);
