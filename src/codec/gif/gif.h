/* What the files of GIF's reader and writer share. First the codes of the pixels (LZW). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/image.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/palette/palette.h"
#include "codec/io/output.h"
#include "gpufilter/image.h"
#include "gpufilter/status.h"

struct gf_gif_bytes {
    unsigned char *data;
    size_t size, room;
};

/* Pixels in the order in which they are coded. Each has one of two indices, which may be the same:
 * the coder takes that with which fewer codes follow. Of strings of the same length it takes the
 * newest or, as a rule, that of the earliest pixel with `either`. */
struct gf_gif_pixels {
    const unsigned char *either, *other;
    size_t count;
    bool newest;
};

struct gf_gif_coder;
struct gf_gif_coder *gf_gif_coder_open(void); /* NULL: out of memory */
void gf_gif_coder_close(struct gf_gif_coder *coder);
/* Replaces the bytes by the codes of the pixels, whose indices have so many bits (2..8). */
enum gf_status gf_gif_encode(struct gf_gif_coder *coder, const struct gf_gif_pixels *pixels,
                             int bits, struct gf_gif_bytes *bytes,
                             struct gf_error *error) GF_CHECKED;

/* A decoder for indices of 9 to 11 bits, which giflib refuses: their codes begin with 10 bits or
 * more. (gif_read.c) */
struct gf_gif_decoder {
    const unsigned char *at, *end; /* of the blocks, each behind its length */
    int left;                      /* bytes of the present block */
    int bits, size;                /* of an index, and of the next code */
    uint32_t value;                /* its first `count` bits are the next ones */
    int count;
    int next, last; /* codes: the next new one, and the one before, -1 after a clear code */
    int depth;      /* number of indices on the stack */
    uint16_t prefix[4096];
    unsigned char suffix[4096], stack[4096];
};

/* The bytes of a GIF file around the codes of its pixels. */

/* The bytes behind a packet of XMP: 1, 255 to 0, and 0. Wherever a reader of blocks comes from, it
 * reads the last two as the last block and the end. */
enum { GF_GIF_XMP_TAIL = 258 };

enum { GF_GIF_SIDE_MOST = 65535, GF_GIF_DELAY_MOST = 65535 };

/* What happens to a frame's pixels before the next frame is drawn. */
enum gf_gif_disposal { GF_GIF_STAY = 1, GF_GIF_CLEAR = 2, GF_GIF_RESTORE = 3 };

struct gf_gif_image {
    struct gf_rectangle area;
    int delay; /* in hundredths of a second */
    enum gf_gif_disposal disposal;
    int transparent;                        /* the transparent index; -1: none */
    int bits;                               /* of an index */
    const struct gf_palette_table *palette; /* the image's own; NULL: that of the file */
    const struct gf_gif_bytes *codes;
};

/* The palette of the file stands at its beginning, but grows with the frames. The first bytes of
 * the file are held, so that a small file has a palette of the right size. A larger file gets one
 * of full size, which is filled in at the end. */
struct gf_gif_file {
    struct gf_output *output;
    struct gf_format format;
    bool animated, has_image;
    unsigned char aspect; /* a pixel is (aspect + 15) / 64 as wide as it is high; 0: not said */
    unsigned loops;       /* how many times the frames are shown; 0: forever */
    int colours;          /* the palette has at least so many places */
    struct gf_gif_bytes texts; /* comments and XMP, which follow the header */
    struct gf_gif_bytes held;
    int64_t palette_at; /* where the palette is in the output; 0: nothing is written yet */
};

/* Makes the blocks of the metadata that a GIF keeps. It must be called before the first image. */
enum gf_status gf_gif_file_set_metadata(struct gf_gif_file *file,
                                        const struct gf_metadata *metadata,
                                        struct gf_error *error) GF_CHECKED;

enum gf_status gf_gif_file_end(struct gf_gif_file *file, const struct gf_palette_table *palette,
                               struct gf_error *error) GF_CHECKED;

/* The palettes of a GIF's frames: that of the file, which grows until it is full, or a frame's own.
 */

/* The pixels of a canvas as RGBA, where alpha is 255, or the whole pixel 0. */
struct gf_gif_canvas {
    uint32_t *pixel;
    size_t width;
};

enum { GF_GIF_FREE = -1, GF_GIF_DRAWN = 0 };
struct gf_gif_frame {
    struct gf_rectangle area; /* all that is drawn is within it */
    int16_t *index; /* of each pixel of the canvas; GF_GIF_FREE: it stays what it was before */
    uint64_t drawn; /* pixels that are not free */
    bool repeats;   /* drawn pixels may have colours that they had before, and keep them */
    bool has_palette;
    struct gf_palette_table palette; /* its own */
    int delay;                       /* in hundredths of a second */
    int least;                       /* the least delay with which the frame may be written */
};

struct gf_gif_colours {
    struct gf_format format; /* of the canvas */
    int most, threads;
    bool animated;
    struct gf_palette_table palette; /* the file's */
    /* Once a frame has had too many colours, and the palette of the file was filled with colours
     * that are close to them: the indices by it, and the distance of that frame from it, for a
     * pixel. */
    struct gf_palette_map *map;
    uint64_t usual_distance;
    bool reduced; /* a frame has lost colours */
};

/* Sets the index of each pixel of the frame that is not free, and the pixel of the canvas to the
 * colour of that index. */
enum gf_status gf_gif_colours_set(struct gf_gif_colours *colours,
                                  const struct gf_gif_canvas *canvas, struct gf_gif_frame *frame,
                                  struct gf_error *error) GF_CHECKED;

static inline int gf_gif_index_of(struct gf_palette_table *table, uint32_t pixel, int most)
{
    unsigned char rgba[4];
    memcpy(rgba, &pixel, sizeof rgba);
    return gf_palette_table_find(table, rgba, most);
}

/* Writes a frame of a GIF, whose colours are chosen. */

struct gf_gif_coding {
    struct gf_gif_coder *coder;
    struct gf_gif_bytes codes, more_codes;
    unsigned char *either, *other; /* the indices that each pixel of the area may have */
};

/* For frames of at most so many pixels. False: out of memory; it must be closed nevertheless. */
bool gf_gif_coding_open(struct gf_gif_coding *coding, size_t pixels);
void gf_gif_coding_close(struct gf_gif_coding *coding);
/* `palette` is that of the frame's indices, and `before` the canvas that the frame is drawn upon;
 * its pixels may be NULL where all of them are transparent. */
enum gf_status gf_gif_frame_write(struct gf_gif_coding *coding, const struct gf_gif_frame *frame,
                                  struct gf_palette_table *palette,
                                  const struct gf_gif_canvas *before, enum gf_gif_disposal disposal,
                                  struct gf_gif_file *file, struct gf_error *error) GF_CHECKED;
