/* The reader of one PNG, which png_read.c and png_libpng.c share. gf_png_attempt() makes the calls
 * of libpng; png_libpng.c gets libpng's errors, warnings and reads. */
#pragma once

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
    int stripe_rows;    /* rows of a stripe in a marked PNG, see png_mark.h; 0: no mark */
    unsigned char *dst; /* dst, pitch and rows are arguments of gf_png_attempt()'s functions */
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
/* Fails with the message for a fault that the project's own reader found. */
enum gf_status gf_png_fail(struct gf_png_source *source, const struct gf_png_fault *fault,
                           struct gf_error *error);

/* Calls `work`, which may call libpng, and returns the status of its failure. `work` must not own
 * anything, since an error leaves it by longjmp. */
enum gf_status gf_png_attempt(struct gf_png_source *source,
                              void (*work)(struct gf_png_source *source),
                              struct gf_error *error) GF_CHECKED;
/* Reads up to the head of the first IDAT chunk; called by gf_png_attempt. */
void gf_png_read_header(struct gf_png_source *source);

/* Adds the metadata after the pixels, and finds out whether an animation has any frames, if the
 * input is a regular file. It must be called before the
 * pixels are read, which need the orientation. */
enum gf_status gf_png_read_late_metadata(struct gf_png_source *source,
                                         struct gf_error *error) GF_CHECKED;
/* Returns the number of pictures: 1, or more in an animation. */
int gf_png_pictures(const struct gf_png_source *source);
/* Warns of EXIF after the pixels, which came too late in a pipe. */
void gf_png_warn_of_late_metadata(const struct gf_png_source *source);
