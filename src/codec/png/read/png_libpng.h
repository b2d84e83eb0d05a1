/* What png_read.c and png_libpng.c share: the reader of one PNG. libpng's calls are made under
 * gf_png_attempt, and its errors, warnings and reads come back to png_libpng.c. */
#ifndef GF_CODEC_PNG_READ_PNG_LIBPNG_H
#define GF_CODEC_PNG_READ_PNG_LIBPNG_H

#include <setjmp.h>
#include <png.h>

#include "codec/common/source.h"
#include "codec/io/input.h"
#include "codec/png/png_chunk.h"
#include "codec/png/read/png_pixels.h"

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
    bool damaged;                 /* the file's contents are what failed */
    bool given_up;                /* it is damaged and allow_truncated is set: the rest is zero */
    int row;                      /* rows that were decoded, of an interlaced picture handed out */
    int pass;                     /* of an interlaced picture, counted from 1; else 0 */
    unsigned char *whole;         /* all rows of an interlaced picture */
    struct gf_png_pixels *pixels; /* not NULL where libpng decodes no pixels */
    bool signature_read;
    unsigned char chunk_head[GF_PNG_HEAD_BYTES]; /* the last that libpng read */
    uint64_t chunk_left; /* bytes of that chunk, and its checksum, that libpng did not read yet */
    uint32_t chunk_crc;  /* the last checksum that libpng read */
    struct gf_png_trailer trailer;
    uint32_t frames; /* of an animation, as its acTL chunk says; the first need not be in it */
    bool first_is_frame;
    int stripe_rows;    /* as a mark before the pixels says, see png_mark.h; 0: there is none */
    unsigned char *dst; /* dst, pitch and rows are the arguments of what gf_png_attempt() calls */
    size_t pitch;
    int rows;
    /* Where there is a palette: a row of indices, the palette as RGBA with black where the file has
     * no entry, the file's entries, and whether a pixel has an index beyond them. */
    unsigned char *indices, palette[256 * 4];
    int colours;
    bool beyond;
};

/* The input's name, for messages. */
const char *gf_png_name(const struct gf_png_source *source);
/* The error for a fault that the project's own reader found. */
enum gf_status gf_png_fail(struct gf_png_source *source, const struct gf_png_fault *fault,
                           struct gf_error *error);

/* Calls `work`, which may call libpng, and returns the status of its failure. `work` must own
 * nothing: an error leaves it by longjmp. */
enum gf_status gf_png_attempt(struct gf_png_source *source,
                              void (*work)(struct gf_png_source *source),
                              struct gf_error *error) GF_CHECKED;
/* To be run by gf_png_attempt: reads up to the head of the first IDAT chunk. */
void gf_png_read_header(struct gf_png_source *source);

/* Adds the metadata that stands behind the pixels, where the input can be read out of order. To be
 * called before the pixels are read, which wait for the orientation. */
enum gf_status gf_png_read_late_metadata(struct gf_png_source *source,
                                         struct gf_error *error) GF_CHECKED;
/* Warns of an animation, of which the first picture is read. */
void gf_png_warn_of_frames(const struct gf_png_source *source);
/* Warns of EXIF that came behind the pixels of a pipe. */
void gf_png_warn_of_late_metadata(const struct gf_png_source *source);

#endif
