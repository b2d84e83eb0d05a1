/* The declaration of each picture format: names, first bytes, possible pixels, and the functions
 * that open it. The list is formats.def. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "codec/common/opening.h"
#include "gpufilter/image.h"
#include "gpufilter/status.h"

enum gf_lossy {
    GF_LOSSY_NEVER,
    GF_LOSSY_USUALLY, /* lossy, unless options->lossless is set */
    GF_LOSSY_ALWAYS
};

struct gf_magic {
    /* `length` bytes that stand at `offset` in a file; length 0: the entry is unused. */
    size_t offset, length;
    const char *bytes;
};

struct gf_file_type {
    enum gf_file_format format;
    const char *choice;     /* the word for --format, such as "jxl" */
    const char *name;       /* the name in messages, such as "JPEG XL" */
    const char *extensions; /* extensions without dot, separated by blanks, the usual one first */
    const char *read_extensions; /* further extensions, of inputs only; may be NULL */
    /* The extension that outputs get instead if the format is only read; else NULL. */
    const char *instead;
    struct gf_magic magic[9];
    /* Recognises a file by its first bytes where `magic` is not enough; may be NULL. */
    bool (*recognise)(const unsigned char *bytes, size_t size);
    /* The bits of the integers in memory that the program reads or writes, 8 or 16. */
    int bits;
    /* The bits that a sample can have in a file that is written, ascending and separated by blanks,
     * those of floats last with an f, such as "8 16 16f 32f"; NULL if the format is only read, or
     * its code chooses them. */
    const char *depths;
    bool associated;  /* a file's colours are multiplied by alpha: rows with alpha have floats of 32
                       * bits, so that nothing is lost */
    bool gray, alpha; /* a file can hold one channel; a file can hold alpha */
    bool inks;        /* a file can hold CMYK */
    unsigned keeps;   /* the kinds of metadata (enum gf_metadata_kind) that the program can write */
    bool animates;    /* the program can write animations */
    bool paged;       /* several pages are written only if the user chose them */
    bool pages;       /* a file can hold several pictures; "name[2]" selects the third */
    enum gf_tags_room tags;
    /* The format is never read in a cell, since its rows are plain samples behind a short
     * header. */
    bool in_program;
    bool windowed;   /* a source may be asked for a part of a picture (struct gf_source's window) */
    bool one_thread; /* the format's reader starts no thread */
    gf_folder_call *folder; /* NULL, or the library opens a picture by its name */
    bool has_end; /* the reader stops at the end of the picture: another one can follow in the
                   * input */
    enum gf_lossy lossy;
    bool fitted;       /* options->max_bytes and a target can choose the quality */
    int lossless_bits; /* the most bits of a sample that options->lossless can keep */
    /* The options that affect files of this format: words of the command line, separated by blanks.
     * jpeg_takes lists those that affect it if options->tiff_compression is JPEG or WebP; NULL: the
     * same ones. */
    const char *takes, *jpeg_takes;
    /* The library that the format needs; NULL if it needs none, or a library that every build
     * has. */
    struct gf_library *library;
    /* The package of the library; set even if `open` is NULL. */
    const char *package;
    gf_source_opener *open;           /* NULL: the program was built without the library */
    gf_sink_opener *create;           /* NULL if `open` is NULL or the format is only read */
    gf_sink_memory_call *sink_memory; /* memory for writing; NULL: almost none */
};

/* The declaration of the format with that number, from 0; NULL for a number beyond the last. */
const struct gf_file_type *gf_file_type_at(int index);
/* The type of a format; NULL for GF_FILE_AUTO. */
const struct gf_file_type *gf_file_type(enum gf_file_format format);
/* Whether the option, given as the command line's word, has no effect on files of this format
 * although it affects other formats. */
bool gf_file_type_ignores(const struct gf_file_type *type, const struct gf_options *options,
                          const char *option);
/* A format that the program recognises but does not read, for better messages. */
struct gf_foreign {
    const char *name; /* the format's name, such as "PDF" */
    /* The first bytes of its files, `length` of them; 0: they do not identify it. */
    const char *bytes;
    size_t length;
    const char *extensions; /* separated by blanks; NULL: the format is not recognised by names */
    bool is_film;           /* a film, which ffmpeg can turn into a stream of frames */
    /* A command that converts a file of the format to a picture on its stdout; NULL: none is
     * known. */
    const char *command;
};
/* Returns the format to which a file's first bytes belong, of which 256 are enough; NULL if they
 * belong to no such format. */
const struct gf_foreign *gf_foreign_format(const unsigned char *bytes, size_t size);
/* Returns the format of files with this extension; NULL if there is none. */
const struct gf_foreign *gf_foreign_named(const char *extension);
/* Whether the input, which begins as `format` says, is a slide that OpenSlide is to read
 * (slides.c). */
bool gf_is_slide(struct gf_input *input, enum gf_file_format format);
/* Whether the list, such as "jpg jpeg jpe", contains the word; upper and lower case count as the
 * same. */
bool gf_word_in_list(const char *list, const char *word);
/* Returns what follows the last dot of the file's name, or "". */
const char *gf_extension_of(const char *path);

/* Declarations for the bits per sample of written files (format_facts.c): which a format can hold,
 * which the options choose, and a sink that converts rows to them. */

/* Depths are those of options->depth: GF_DEPTH_FLOAT16 and GF_DEPTH_FLOAT32 come last. */
static inline bool gf_depth_is_float(int depth)
{
    return depth >= GF_DEPTH_FLOAT16;
}
/* Returns the format's least number of bits per sample above `above`; 0 if there is none. */
int gf_depth_next(const struct gf_file_type *type, int above);
/* Writes the numbers of bits per sample that the format can have: "1, 8 or 16", or "its input's" if
 * the format's code chooses. */
enum { GF_DEPTHS_TEXT_SIZE = 40 };
void gf_depths_text(const struct gf_file_type *type, char text[GF_DEPTHS_TEXT_SIZE]);
/* Returns GF_ERROR_USAGE if options->depth is a depth that the format cannot hold. */
enum gf_status gf_depth_check(const struct gf_file_type *type, const char *name,
                              const struct gf_options *options, struct gf_error *error) GF_CHECKED;
/* Returns the bits of a sample in a file of the type for a picture of `format`, whose input had
 * `stored` bits (0: as many as `format`). Unless options->depth is set, only a format that lacks 16
 * bits, such as AVIF, takes the input's bits. */
int gf_depth_in_file(const struct gf_file_type *type, struct gf_format format, int stored,
                     const struct gf_options *options);
/* Returns the row format that a sink expects when its file has samples of `depth` bits: `format`
 * with 8 or 16 bits, or with floats if the depth is one of floats. */
struct gf_format gf_depth_rows(const struct gf_file_type *type, struct gf_format format, int depth);
/* Replaces *sink by a sink that converts rows of `from` to those of gf_depth_rows(), on all pages;
 * leaves *sink if both have the same samples. The new sink closes the replaced one, and a failure
 * closes it at once. Warns at the end of a picture of `name` whose floats were clamped. */
enum gf_status gf_depth_sink_open(const struct gf_file_type *type, struct gf_format from, int depth,
                                  const char *name, const struct gf_options *options,
                                  struct gf_sink **sink, struct gf_error *error) GF_CHECKED;

/* Declarations of a sink that finds the quality of a lossy file by trials. */

/* A bisection of 1..100 takes 7 trials. The search for a target takes 3 to 5 as a rule, each with a
 * decoder and a measure. */
enum { GF_FITTED_TRIALS = 7 };

/* Whether the options ask for trials: options->max_bytes or a target is set. */
bool gf_options_fit(const struct gf_options *options);
enum { GF_FIT_TEXT_SIZE = 64 };
/* Writes the target or, without one, the limit as "options.max_bytes=2000". Returns false if the
 * options ask for no trials. */
bool gf_options_fit_text(const struct gf_options *options, char text[GF_FIT_TEXT_SIZE]);
/* Returns GF_ERROR_USAGE if the options ask for trials and the format has no quality to choose. */
enum gf_status gf_fitted_check(const struct gf_file_type *type, const char *name,
                               const struct gf_options *options, struct gf_error *error) GF_CHECKED;
/* Opens the sink. It keeps the finished rows, encodes them to memory with several qualities,
 * and writes the best one that meets the limit, or the least that meets the target, to the output.
 */
enum gf_status gf_fitted_sink_open(const struct gf_file_type *type, struct gf_output *output,
                                   struct gf_format format, const struct gf_options *options,
                                   struct gf_sink **sink, struct gf_error *error) GF_CHECKED;
/* Gives the sink the metadata that gf_metadata_for_output() chose for the output. *metadata becomes
 * empty. */
void gf_fitted_sink_take_metadata(struct gf_sink *sink, struct gf_metadata *metadata);
/* Returns the memory that the sink needs; `encoder` is the number of bytes that one trial's encoder
 * needs. */
struct gf_codec_memory gf_fitted_sink_memory(struct gf_format format, uint64_t encoder,
                                             const struct gf_options *options);

/* Loads the format's library, or fails with `failure` and a message (codec.c). */
enum gf_status gf_file_type_load(const struct gf_file_type *type, const char *name,
                                 enum gf_status failure, struct gf_error *error) GF_CHECKED;

/* sinks.c names kinds of metadata, and warns of metadata and colours of an input that its output
 * does not keep. */

enum { GF_METADATA_KINDS_TEXT_SIZE = 260 };
/* Writes the kinds of metadata in `set`, bits of enum gf_metadata_kind, as text: "EXIF, XMP and
 * comments". */
void gf_metadata_kinds_text(unsigned set, char text[GF_METADATA_KINDS_TEXT_SIZE]);
