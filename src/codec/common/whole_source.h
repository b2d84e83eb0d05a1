/* A source of a format whose library decodes a picture only as a whole, from bytes in memory. It
 * decodes when the first row is asked for, after the caller has seen how much memory that takes. */
#ifndef GF_CODEC_COMMON_WHOLE_SOURCE_H
#define GF_CODEC_COMMON_WHOLE_SOURCE_H

#include "codec/common/source.h"
#include "codec/io/input.h"
#include "gpufilter/options.h"

struct gf_whole_source;

/* The functions of a format. Its own struct has `size` bytes: first a struct gf_whole_source, then
 * members that begin as zeros. */
struct gf_whole_calls {
    size_t size;
    /* Reads the header and the metadata, by gf_whole_source_describe() and gf_choose_page(). */
    enum gf_status (*read_header)(struct gf_whole_source *source, struct gf_error *error);
    /* Fills the picture, rows without gaps, in base.format. */
    enum gf_status (*decode)(struct gf_whole_source *source, unsigned char *pixels,
                             struct gf_error *error);
    /* Frees the members that the format has added to the struct, even after a failed open; may be
     * NULL. */
    void (*release)(struct gf_whole_source *source);
};

struct gf_whole_source {
    struct gf_source base;
    const struct gf_whole_calls *calls;
    struct gf_options options;
    const char *name; /* of the input */
    int page;         /* the picture asked for, from 0; -1: none */
    struct gf_blob file;
    unsigned char *pixels; /* NULL until the first row is read */
    bool released;
    int row;
};

/* Reads the file into memory, and its header. */
enum gf_status gf_whole_source_open(const struct gf_whole_calls *calls, struct gf_input *input,
                                    const struct gf_options *options, struct gf_source **source,
                                    struct gf_error *error) GF_CHECKED;
/* Checks the size, and sets the format and the memory. library_bytes: the bytes that the library
 * itself takes for a pixel. */
enum gf_status gf_whole_source_describe(struct gf_whole_source *source, uint64_t width,
                                        uint64_t height, int channels, int bits,
                                        double library_bytes, struct gf_error *error) GF_CHECKED;
/* Chooses which of `count` pictures is decoded where the user asked for `wanted`; warns where there
 * are several and `wanted` is -1. */
enum gf_status gf_choose_page(const char *name, int wanted, int count,
                              const struct gf_options *options, int *page,
                              struct gf_error *error) GF_CHECKED;
/* Warns of damage that lies behind that many whole pictures. */
void gf_warn_behind(const char *name, int pictures, const char *why,
                    const struct gf_options *options);
/* Reads all bytes of the input; the caller frees file->data, even after a failure. */
enum gf_status gf_whole_file(struct gf_input *input, const struct gf_options *options,
                             struct gf_blob *file, struct gf_error *error) GF_CHECKED;
/* Fails with "a.webp: damaged: WHY", in one line. Where malloc() has set errno the failure is
 * GF_ERROR_MEMORY instead, since some libraries report it as damage. */
enum gf_status gf_whole_source_fail(const struct gf_whole_source *source, const char *why,
                                    struct gf_error *error);

#endif
