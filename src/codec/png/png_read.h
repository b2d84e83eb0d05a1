/* What the files of PNG's reader share. First the rows of a marked PNG in a regular file, whose
 * stripes several threads check, decompress and unfilter. A wrong mark is no error: png_pixels.c
 * then reads the file like any other PNG, from its first IDAT chunk on, and reports damage. */
#pragma once

#include <png.h>
#include <setjmp.h>

#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "codec/png/png_chunk.h"

struct gf_png_stripes_reader;

/* Opens a reader. The input's next byte is the first in the first IDAT chunk, whose length is
 * `length`; stripes have stripe_rows rows. *reader is NULL if the mark does not describe the
 * chunks, if the stripes need more memory than the options allow, or if memory or reading fails.
 * The input's position does not change. */
void gf_png_stripes_read_open(struct gf_input *input, struct gf_format format, uint32_t length,
                              int stripe_rows, const struct gf_options *options,
                              struct gf_png_stripes_reader **reader);
void gf_png_stripes_read_close(struct gf_png_stripes_reader *reader);
/* The memory of the reader in bytes. */
uint64_t gf_png_stripes_read_memory(const struct gf_png_stripes_reader *reader);

/* Reads the next rows and returns their number, which is less than `rows` if a stripe shows that
 * the mark is wrong. */
int gf_png_stripes_read(struct gf_png_stripes_reader *reader, int rows, unsigned char *dst,
                        size_t pitch);
/* Returns the offset of the chunk after the last IDAT chunk. */
int64_t gf_png_stripes_read_end(const struct gf_png_stripes_reader *reader);

/* Reads the rows of a PNG of which libpng has read only the header: not interlaced, samples of 8 or
 * 16 bits, no palette, no transparent colour. A thread decompresses; the caller undoes the
 * filters. */

/* Checks and decompresses the contents of a PNG's IDAT chunks, and checks the chunks after them.
 * The reader starts where libpng has read the head of the first IDAT chunk. */

/* A reason why reading ended. */
struct gf_png_fault {
    enum gf_status status; /* set if reading failed or memory ran out; `error` gives the reason */
    struct gf_error error;
    bool truncated;
    bool in_idat;     /* the fault is in an IDAT chunk */
    const char *text; /* otherwise the damage in libpng's words; valid until png_idat_close() */
};

/* The facts about the chunks after the pixels. */
struct gf_png_trailer {
    bool has_palette; /* input: a PLTE chunk precedes the pixels, so that another one is an error */
    bool has_exif;    /* output: there is an eXIf chunk */
};

struct gf_png_pixels;

/* Opens a reader. `length` is the length of the first IDAT chunk, whose head has been read. The
 * options must stay valid. With options->threads of 1 the caller decompresses. stripe_rows is the
 * number of rows in the independent stripes of a file with the mark of png_chunk.h, or 0. If the
 * mark is right, all threads decompress stripes. */
enum gf_status gf_png_pixels_open(struct gf_input *input, struct gf_format format, uint32_t length,
                                  int stripe_rows, const struct gf_options *options,
                                  struct gf_png_pixels **pixels, struct gf_error *error) GF_CHECKED;
/* The memory of the reader in bytes. */
uint64_t gf_png_pixels_memory(const struct gf_png_pixels *pixels);
void gf_png_pixels_close(struct gf_png_pixels *pixels);

/* Reads the next rows and returns their number, which is less than `rows` after a fault. The
 * picture's last row is valid only if the stream ends without a fault. */
int gf_png_pixels_read(struct gf_png_pixels *pixels, int rows, unsigned char *dst, size_t pitch,
                       struct gf_png_fault *fault);
/* Checks the chunks after the last row. */
bool gf_png_pixels_finish(struct gf_png_pixels *pixels, struct gf_png_trailer *trailer,
                          struct gf_png_fault *fault);

/* The reader of one PNG. png_attempt() makes the calls of libpng, whose errors, warnings and
 * reads png_read.c gets. */

enum { GF_PNG_ADAM7_PASSES = 7 };

struct gf_png_source {
    struct gf_source base;
    png_structp png;
    png_infop info;
    jmp_buf escape;
    struct gf_input *input;
    struct gf_options options;
    struct gf_error *error;
    enum gf_status status;
    bool header_read;
    bool ended;                   /* the file ended too early */
    bool damaged;                 /* the failure is damage in the file */
    bool given_up;                /* damaged, with allow_truncated: the remaining rows are zeros */
    int row;                      /* number of rows that were decoded; of an interlaced picture:
                                   * that were read by the caller */
    int pass;                     /* current pass of an interlaced picture, from 1; else 0 */
    unsigned char *whole;         /* all rows of an interlaced picture */
    struct gf_png_pixels *pixels; /* not NULL if libpng decodes no pixels */
    bool signature_read;
    unsigned char chunk_head[GF_PNG_HEAD_BYTES]; /* head of the chunk that libpng has read last */
    uint64_t chunk_left; /* bytes of that chunk, with its checksum, that libpng has not read */
    uint32_t chunk_crc;  /* the last checksum that libpng read */
    struct gf_png_trailer trailer;
    uint32_t frames, loops; /* stated by acTL; the first picture need not be a frame */
    bool first_is_frame;
    unsigned char control[GF_PNG_CONTROL_BYTES]; /* the fcTL chunk of the first picture */
    int stripe_rows;    /* rows of a stripe in a marked PNG, see png_chunk.h; 0: no mark */
    unsigned char *dst; /* dst, pitch and rows are arguments of png_attempt()'s functions */
    size_t pitch;
    int rows;
    /* Only with a palette: a row of indices; the palette as RGBA, with black for missing entries;
     * the number of the file's entries; and whether a pixel has an index beyond them. */
    unsigned char *indices, palette[256 * 4];
    int colours;
    bool beyond;
};

/* Opens a source that has read the header. (png_read.c) */
enum gf_status gf_png_header_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_png_source **source, struct gf_error *error) GF_CHECKED;
/* Prepares the source for its rows. */
enum gf_status gf_png_start(struct gf_png_source *source, struct gf_error *error) GF_CHECKED;

/* The input's name, for messages. */
const char *gf_png_name(const struct gf_png_source *source);
