/* The declaration of each picture format: names, first bytes, possible pixels, and the functions
 * that open it. The list is formats.def. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "codec/common/opening.h"

enum gf_lossy {
    GF_LOSSY_NEVER,
    GF_LOSSY_USUALLY, /* lossy, unless options->lossless is set */
    GF_LOSSY_ALWAYS
};

struct gf_magic {
    size_t offset, length; /* bytes and their offset in a file; length 0: this entry is unused */
    const char *bytes;
};

struct gf_file_type {
    enum gf_file_format format;
    const char *choice;          /* the word for --format, such as "jxl" */
    const char *name;            /* the name in messages, such as "JPEG XL" */
    const char *extensions;      /* separated by blanks, the usual extension first */
    const char *read_extensions; /* further extensions, of inputs only; may be NULL */
    const char *instead;         /* the extension of outputs, if the format is only read */
    struct gf_magic magic[9];
    /* Recognises a file, if `magic` is not enough; may be NULL. */
    bool (*recognise)(const unsigned char *bytes, size_t size);
    /* The bits of the samples that the program reads or writes, 8 or 16. */
    int bits;
    /* The bits that a sample can have in a file that is written, ascending and separated by blanks,
     * such as "8 10 12"; NULL if the format is only read, or its code chooses them. */
    const char *depths;
    bool gray, alpha; /* a file can hold one channel; a file can hold alpha */
    bool inks;        /* a file can hold CMYK */
    unsigned keeps;   /* the kinds of metadata (enum gf_metadata_kind) that files of the program can
                       * hold */
    bool animates;    /* animations are written */
    bool paged;       /* its pages are written only where they were chosen */
    bool pages;       /* a file can hold several pictures; "name[2]" selects the third */
    enum gf_tags_room tags;
    bool in_program; /* it is never read in a cell: rows as they are behind a line of text */
    bool one_thread; /* its reader starts no thread */
    bool has_end;    /* the reader stops at the end of the picture: another one can follow in the
                      * input */
    enum gf_lossy lossy;
    bool fitted;       /* options->max_bytes and options->target_ssim choose the quality */
    int lossless_bits; /* the most bits of a sample that options->lossless can keep */
    /* The options that affect files of this format: the command line's words, separated by blanks.
     * jpeg_takes has the options that affect the format if options->tiff_compression is JPEG; NULL
     * if they are the same. */
    const char *takes, *jpeg_takes;
    /* The library that the format needs; NULL if it needs none, or a library that every build
     * has. */
    struct gf_library *library;
    /* The package of the library; set even if `open` is NULL. */
    const char *package;
    gf_source_opener *open;           /* NULL: the program was built without the library */
    gf_sink_opener *create;           /* NULL if `open` is NULL or the format is only read */
    gf_sink_memory_call *sink_memory; /* NULL if writing needs almost no memory */
};

/* The declaration of the format with that number, from 0; NULL for a number beyond the last. */
const struct gf_file_type *gf_file_type_at(int index);
/* The type of a format; NULL for GF_FILE_AUTO. */
const struct gf_file_type *gf_file_type(enum gf_file_format format);
/* Whether the option, given as the command line's word, has no effect on files of this format
 * although it affects other formats. */
bool gf_file_type_ignores(const struct gf_file_type *type, const struct gf_options *options,
                          const char *option);
/* A format that the program knows but does not read. */
struct gf_foreign {
    const char *name;  /* such as "PDF" */
    const char *bytes; /* the first bytes of its files, `length` of them; 0: they do not tell it */
    size_t length;
    const char *extensions; /* separated by blanks; NULL: files are not told by their names */
    bool is_film;           /* ffmpeg makes a stream of frames of it */
    const char *command;    /* prints a file of the format as a picture; NULL: none is known */
};
/* Returns the format to which a file's first bytes belong, of which 256 are enough; NULL if they
 * belong to no such format. */
const struct gf_foreign *gf_foreign_format(const unsigned char *bytes, size_t size);
/* Returns the format of files with this extension; NULL if there is none. */
const struct gf_foreign *gf_foreign_named(const char *extension);
/* Whether the list, such as "jpg jpeg jpe", contains the word; upper and lower case count as the
 * same. */
bool gf_word_in_list(const char *list, const char *word);
/* Returns what follows the last dot of the file's name, or "". */
const char *gf_extension_of(const char *path);
