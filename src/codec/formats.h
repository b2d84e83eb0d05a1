/* What is known of each picture format: names, first bytes, what its pixels can be, and how it is
 * opened. The list is formats.def. */
#ifndef GF_CODEC_FORMATS_H
#define GF_CODEC_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/common/opening.h"

enum gf_lossy {
    GF_LOSSY_NEVER,
    GF_LOSSY_USUALLY, /* unless options->lossless is set */
    GF_LOSSY_ALWAYS
};

struct gf_magic {
    size_t offset, length; /* length 0: unused */
    const char *bytes;
};

struct gf_file_type {
    enum gf_file_format format;
    const char *choice;          /* "jxl", the word for --format */
    const char *name;            /* "JPEG XL" */
    const char *extensions;      /* with spaces between; the usual one is the first */
    const char *read_extensions; /* more, of files that are only read; may be NULL */
    const char *instead;         /* the extension of outputs, where it is only read */
    struct gf_magic magic[4];
    bool (*recognise)(const unsigned char *bytes, size_t size); /* beside magic; may be NULL */
    int bits;                                                   /* the most of a sample, 8 or 16 */
    bool gray, alpha; /* it holds pictures of one channel, and pictures with alpha */
    unsigned keeps; /* enum gf_metadata_kind: what its files can hold, as the program writes them */
    bool pages;     /* a file can hold several pictures, of which "name[2]" selects the third */
    enum gf_tags_room tags;
    bool has_end; /* its reader stops where the picture ends: others can follow in an input */
    enum gf_lossy lossy;
    int lossless_bits; /* the most bits that options->lossless can promise */
    /* The options that change its files, in the command line's words with spaces between; and those
     * that do where options->tiff_compression is JPEG, if that matters. */
    const char *takes, *jpeg_takes;
    /* The library that it needs; NULL where it is always there. */
    struct gf_library *library;
    const char *package;              /* which brings that library; set where open is NULL, too */
    gf_source_opener *open;           /* NULL: the program was built without the library */
    gf_sink_opener *create;           /* NULL, too, where the format is only read */
    gf_sink_memory_call *sink_memory; /* NULL: next to none */
};

/* The formats by number from 0; NULL behind the last. */
const struct gf_file_type *gf_file_type_at(int index);
/* The type of a format; NULL for GF_FILE_AUTO. */
const struct gf_file_type *gf_file_type(enum gf_file_format format);
/* Whether the option, in the command line's word, changes other files but not these. */
bool gf_file_type_ignores(const struct gf_file_type *type, const struct gf_options *options,
                          const char *option);
/* The name of a format that is not read ("PDF"), by a file's first bytes, of which 256 are enough;
 * NULL: they are of none that is known. */
const char *gf_foreign_format(const unsigned char *bytes, size_t size);
/* Whether one of the words in a list such as "jpg jpeg jpe" is that word, in capitals or not. */
bool gf_word_in_list(const char *list, const char *word);

#endif
