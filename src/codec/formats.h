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
    unsigned keeps;   /* the kinds of metadata (enum gf_metadata_kind) that the program can write */
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

/* The bits of a sample in a file that is written: what its format can hold, what the options
 * choose, and a sink that converts rows to them. */

/* Returns the least depth of the format that is more than `above`; 0 if there is none. */
int gf_depth_next(const struct gf_file_type *type, int above);
/* Writes the depths of the format: "1, 8 or 16", or "its input's" if it chooses them itself. */
enum { GF_DEPTHS_TEXT_SIZE = 40 };
void gf_depths_text(const struct gf_file_type *type, char text[GF_DEPTHS_TEXT_SIZE]);
/* Returns GF_ERROR_USAGE if options->depth is a depth that the format cannot hold. */
enum gf_status gf_depth_check(const struct gf_file_type *type, const char *name,
                              const struct gf_options *options, struct gf_error *error) GF_CHECKED;
/* Returns the bits of a sample in a file of the type for a picture of `format`, whose input had
 * `stored` bits (0: as many as `format`). Without options->depth only a format without samples of
 * 16 bits, such as AVIF, follows the input. */
int gf_depth_in_file(const struct gf_file_type *type, struct gf_format format, int stored,
                     const struct gf_options *options);
/* Returns the row format that a sink expects when its file has samples of `depth` bits: `format`
 * with 8 or 16 bits. */
struct gf_format gf_depth_rows(const struct gf_file_type *type, struct gf_format format, int depth);
/* Replaces *sink by a sink that converts rows of `from` to those of gf_depth_rows(), unless both
 * have the same bits, also on further pages. It closes the replaced one, as does a failure. */
enum gf_status gf_depth_sink_open(const struct gf_file_type *type, struct gf_format from, int depth,
                                  struct gf_sink **sink, struct gf_error *error) GF_CHECKED;

/* A sink that finds the quality of a lossy file by trials. */

enum { GF_FITTED_TRIALS = 7 }; /* halving 1..100 takes as many */

/* Whether the options ask for trials: options->max_bytes or options->target_ssim is set. */
bool gf_options_fit(const struct gf_options *options);
/* Returns GF_ERROR_USAGE if the options ask for trials and the format has no quality to choose. */
enum gf_status gf_fitted_check(const struct gf_file_type *type, const char *name,
                               const struct gf_options *options, struct gf_error *error) GF_CHECKED;
/* Opens the sink. It keeps the finished rows, encodes them to memory with at most seven qualities,
 * and writes the best of these files to the output. */
enum gf_status gf_fitted_sink_open(const struct gf_file_type *type, struct gf_output *output,
                                   struct gf_format format, const struct gf_options *options,
                                   struct gf_sink **sink, struct gf_error *error) GF_CHECKED;
/* Hands over the metadata of the output, as gf_metadata_for_output() gives it. It becomes empty. */
void gf_fitted_sink_take_metadata(struct gf_sink *sink, struct gf_metadata *metadata);
/* Returns the memory of the sink; `encoder` is the memory of one trial. */
struct gf_codec_memory gf_fitted_sink_memory(struct gf_format format, uint64_t encoder,
                                             const struct gf_options *options);

/* Names kinds of metadata, and warns of metadata and colours of an input that its output does not
 * keep. */

enum { GF_METADATA_KINDS_TEXT_SIZE = 260 };
/* Lists the kinds of metadata in a set (enum gf_metadata_kind): "EXIF, XMP and comments". */
void gf_metadata_kinds_text(unsigned set, char text[GF_METADATA_KINDS_TEXT_SIZE]);

/* The structural similarity of two pictures. */

enum {
    GF_SSIM_SIDE = 11,
    GF_SSIM_SCALES = 5,
    GF_MS_SSIM_SIDE = GF_SSIM_SIDE << (GF_SSIM_SCALES - 1) /* the side that the coarsest scale
                                                            * needs */
};

/* SSIM: Z. Wang, A. C. Bovik, H. R. Sheikh and E. P. Simoncelli, "Image Quality Assessment: From
 * Error Visibility to Structural Similarity", 2004: the mean over all windows of 11x11 pixels that
 * are in the picture, weighted by a Gaussian of sigma 1.5; K1 = 0.01, K2 = 0.03. MS-SSIM: Z. Wang,
 * E. P. Simoncelli and A. C. Bovik, "Multi-scale Structural Similarity for Image Quality
 * Assessment", 2003: five scales; each scale consists of the means of 2x2 pixels of the scale
 * before, with an odd edge repeated; a negative mean counts as 0. Both are means over the channels
 * of b, which has a's size; a counts as converted to b's channels and bits. NaN if the pictures are
 * too small. ms_ssim may be NULL, which saves time. */
enum gf_status gf_ssim(const struct gf_image *a, const struct gf_image *b, int threads,
                       double *ssim, double *ms_ssim, struct gf_error *error) GF_CHECKED;
