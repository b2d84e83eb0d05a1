/* A source of a format whose library decodes a picture only as a whole, from bytes in memory: when
 * the first row is asked for, after the caller has seen how much memory that takes. */
#ifndef GF_CODEC_COMMON_WHOLE_SOURCE_H
#define GF_CODEC_COMMON_WHOLE_SOURCE_H

#include "codec/common/source.h"
#include "codec/io/input.h"
#include "gpufilter/options.h"

struct gf_whole_source;

/* What a format does. Its own struct has `size` bytes, first a struct gf_whole_source, then zeros.
 */
struct gf_whole_calls {
    size_t size;
    /* Reads the header and the metadata, by gf_whole_source_describe() and gf_choose_page(). */
    enum gf_status (*read_header)(struct gf_whole_source *source, struct gf_error *error);
    /* Fills the picture, rows without gaps, in base.format. */
    enum gf_status (*decode)(struct gf_whole_source *source, unsigned char *pixels,
                             struct gf_error *error);
    /* Frees what the format holds beside the struct itself, even after a failed open; may be NULL.
     */
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
/* Checks the size, and sets the format and the memory. library_bytes: what the library itself takes
 * for a pixel. */
enum gf_status gf_whole_source_describe(struct gf_whole_source *source, uint64_t width,
                                        uint64_t height, int channels, int bits,
                                        double library_bytes, struct gf_error *error) GF_CHECKED;
/* Which of `count` pictures is to be decoded, where `wanted` was asked for; warns where several are
 * there and wanted is -1. */
enum gf_status gf_choose_page(const char *name, int wanted, int count,
                              const struct gf_options *options, int *page,
                              struct gf_error *error) GF_CHECKED;
/* Warns of damage that lies behind that many whole pictures. */
void gf_warn_behind(const char *name, int pictures, const char *why,
                    const struct gf_options *options);
/* All bytes of the input; file->data is the caller's to free, even after a failure. */
enum gf_status gf_whole_file(struct gf_input *input, const struct gf_options *options,
                             struct gf_blob *file, struct gf_error *error) GF_CHECKED;
/* "a.webp: damaged: WHY", of one line. Where malloc() has set errno it is GF_ERROR_MEMORY instead:
 * not every library tells that from damage. */
enum gf_status gf_whole_source_fail(const struct gf_whole_source *source, const char *why,
                                    struct gf_error *error);

#endif
