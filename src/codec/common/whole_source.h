/* A source of a format whose library decodes a picture only as a whole, from bytes in memory. The
 * format parses the header when it is opened and decodes when the first row is asked for, after the
 * caller has seen how much memory that takes. */
#ifndef GF_CODEC_COMMON_WHOLE_SOURCE_H
#define GF_CODEC_COMMON_WHOLE_SOURCE_H

#include "codec/common/source.h"
#include "codec/io/input.h"
#include "gpufilter/options.h"

/* The first member of a format's own struct, which is from calloc. */
struct gf_whole_source {
    struct gf_source base;
    struct gf_options options;
    const char *name; /* of the input */
    int page;         /* the picture asked for, from 0; -1: none */
    struct gf_blob file;
    /* Fills the picture, rows without gaps, in base.format. */
    enum gf_status (*decode)(struct gf_whole_source *source, unsigned char *pixels,
                             struct gf_error *error);
    /* Frees what the format holds beside the struct itself, even after a failed open. */
    void (*release)(struct gf_whole_source *source);
    unsigned char *pixels; /* NULL until the first row is read */
    bool released;
    int row;
};

/* Reads the file into memory. After a failure, here or later in the format's open, the caller ends
 * the source with gf_whole_source_close. */
enum gf_status gf_whole_source_begin(struct gf_whole_source *source, struct gf_input *input,
                                     const struct gf_options *options,
                                     struct gf_error *error) GF_CHECKED;
/* Checks the size, and sets the format and the memory. library_bytes: what the library itself takes
 * for a pixel. */
enum gf_status gf_whole_source_describe(struct gf_whole_source *source, uint64_t width,
                                        uint64_t height, int channels, int bits,
                                        double library_bytes, struct gf_error *error) GF_CHECKED;
void gf_whole_source_close(struct gf_source *source);
/* Which of `count` pictures is to be decoded, where `wanted` was asked for; warns where several are
 * there and wanted is -1. */
enum gf_status gf_choose_page(const char *name, int wanted, int count,
                              const struct gf_options *options, int *page,
                              struct gf_error *error) GF_CHECKED;
/* All bytes of the input; file->data is the caller's to free, even after a failure. */
enum gf_status gf_whole_file(struct gf_input *input, const struct gf_options *options,
                             struct gf_blob *file, struct gf_error *error) GF_CHECKED;
/* "a.webp: damaged: WHY", of one line. */
enum gf_status gf_whole_source_fail(const struct gf_whole_source *source, const char *why,
                                    struct gf_error *error);

#endif
