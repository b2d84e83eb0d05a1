/* What the files of GIF's reader and writer share. The first part is LZW, the code of a GIF's
 * pixels. */
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

/* Pixels in the order in which they are coded. The coder may write either of two indices for a
 * pixel, which may be equal, and chooses so that fewer codes follow. Of strings of equal length it
 * takes the newest if `newest` is set, otherwise the one that has `either` at the first pixel where
 * they differ. */
struct gf_gif_pixels {
    const unsigned char *either, *other;
    size_t count;
    bool newest;
};

struct gf_gif_coder;
struct gf_gif_coder *gf_gif_coder_open(void); /* returns NULL when out of memory */
void gf_gif_coder_close(struct gf_gif_coder *coder);
/* Replaces the bytes by the codes of the pixels, whose indices have `bits` bits (2..8). */
enum gf_status gf_gif_encode(struct gf_gif_coder *coder, const struct gf_gif_pixels *pixels,
                             int bits, struct gf_gif_bytes *bytes,
                             struct gf_error *error) GF_CHECKED;

/* A decoder of LZW (gif_read.c) for indices of 9 to 11 bits, whose codes have 10 bits or more and
 * which giflib refuses. */
struct gf_gif_decoder {
    /* The unread bytes of the file's blocks, each of which follows a byte with its length. */
    const unsigned char *at, *end;
    int left;       /* unread bytes of the present block */
    int bits, size; /* number of bits of an index, and of the next code */
    uint32_t value; /* its lowest `count` bits were read and not used yet */
    int count;
    /* next: the code that the next new string gets; last: the code read before, -1 after a clear
     * code. */
    int next, last;
    int depth; /* number of indices on the stack */
    uint16_t prefix[4096];
    unsigned char suffix[4096], stack[4096];
};

/* ---- the bytes of a GIF file around the codes of its pixels (gif_file.c) ---- */

/* A packet of XMP is followed by the bytes 1, 255 down to 0, and 0. A reader that takes the packet
 * for blocks and skips by their lengths lands in these bytes, and from each of them steps to the
 * end. */
enum { GF_GIF_XMP_TAIL = 258 };

enum { GF_GIF_SIDE_MOST = 65535, GF_GIF_DELAY_MOST = 65535 };

/* What happens to a frame's pixels before the next frame is drawn. */
enum gf_gif_disposal { GF_GIF_STAY = 1, GF_GIF_CLEAR = 2, GF_GIF_RESTORE = 3 };

struct gf_gif_image {
    struct gf_rectangle area;
    int delay; /* how long it is shown, in hundredths of a second */
    enum gf_gif_disposal disposal;
    int transparent; /* the index whose pixels are not drawn; -1: none */
    int bits;        /* number of bits of an index */
    /* The image's own palette; NULL: it uses that of the file. */
    const struct gf_palette_table *palette;
    const struct gf_gif_bytes *codes;
};

/* A GIF file that is being written. Its palette stands at its beginning, but gets colours until the
 * last frame. So the first bytes are held back in memory, and a small file gets a palette of the
 * right size; a larger file gets one of full size, which is filled in at the end. */
struct gf_gif_file {
    struct gf_output *output;
    struct gf_format format;
    bool animated, has_image;
    /* A pixel's width divided by its height is (aspect + 15) / 64; 0: unknown. */
    unsigned char aspect;
    unsigned loops;            /* how many times the frames are shown; 0: forever */
    int colours;               /* the least number of entries that the palette gets */
    struct gf_gif_bytes texts; /* comments and XMP, which follow the header */
    struct gf_gif_bytes held;
    int64_t palette_at; /* offset of the palette in the output; 0: nothing is written yet */
};

/* Makes the blocks of the metadata that a GIF keeps. Must be called before the first image is
 * written. */
enum gf_status gf_gif_file_set_metadata(struct gf_gif_file *file,
                                        const struct gf_metadata *metadata,
                                        struct gf_error *error) GF_CHECKED;

enum gf_status gf_gif_file_end(struct gf_gif_file *file, const struct gf_palette_table *palette,
                               struct gf_error *error) GF_CHECKED;

/* ---- the palettes of a GIF's frames: that of the file, which grows until it is full, or a frame's
 * own (gif_colours.c) ---- */

/* The pixels of a canvas as RGBA: alpha is 255, or the whole pixel is 0 (transparent). */
struct gf_gif_canvas {
    uint32_t *pixel;
    size_t width;
};

enum { GF_GIF_FREE = -1, GF_GIF_DRAWN = 0 };
struct gf_gif_frame {
    struct gf_rectangle area; /* the area that contains all drawn pixels */
    /* For each pixel of the canvas, GF_GIF_FREE (it keeps its colour), GF_GIF_DRAWN or an index. */
    int16_t *index;
    uint64_t drawn; /* number of pixels that are not GF_GIF_FREE */
    bool repeats;   /* some drawn pixels had their colour in the frame before, and must keep it */
    bool has_palette;
    struct gf_palette_table palette; /* the frame's own palette, if has_palette */
    int delay;                       /* how long it is shown, in hundredths of a second */
    int least;                       /* the least delay with which the frame may be written */
};

struct gf_gif_colours {
    struct gf_format format; /* the format of the canvas */
    int most, threads;
    bool dithers, animated;
    struct gf_palette_table palette; /* the file's palette */
    /* Set once a frame had too many colours and the palette of the file was filled with colours
     * close to them: `map` finds the indices by that palette, and usual_distance is that frame's
     * distance from it for each pixel (palette.h). */
    struct gf_palette_map *map;
    uint64_t usual_distance;
    bool reduced; /* some frame has lost colours */
};

/* Chooses the frame's palette, sets the index of each pixel that is not GF_GIF_FREE, and sets the
 * pixel of the canvas to the colour of that index. */
enum gf_status gf_gif_colours_set(struct gf_gif_colours *colours,
                                  const struct gf_gif_canvas *canvas, struct gf_gif_frame *frame,
                                  struct gf_error *error) GF_CHECKED;

static inline int gf_gif_index_of(struct gf_palette_table *table, uint32_t pixel, int most)
{
    unsigned char rgba[4];
    memcpy(rgba, &pixel, sizeof rgba);
    return gf_palette_table_find(table, rgba, most);
}

/* ---- writing a frame of a GIF whose colours are chosen (gif_file.c) ---- */

struct gf_gif_coding {
    struct gf_gif_coder *coder;
    struct gf_gif_bytes codes, more_codes;
    /* The two indices of each pixel of the area, of which the coder writes one (struct
     * gf_gif_pixels). */
    unsigned char *either, *other;
};

/* Allocates memory for frames of at most `pixels` pixels. Returns false when out of memory;
 * gf_gif_coding_close() must be called nevertheless. */
bool gf_gif_coding_open(struct gf_gif_coding *coding, size_t pixels);
void gf_gif_coding_close(struct gf_gif_coding *coding);
/* Writes the frame. `palette` is the palette of its indices; `before` is the canvas on which it is
 * drawn, whose pixels may be NULL if all are transparent. */
enum gf_status gf_gif_frame_write(struct gf_gif_coding *coding, const struct gf_gif_frame *frame,
                                  struct gf_palette_table *palette,
                                  const struct gf_gif_canvas *before, enum gf_gif_disposal disposal,
                                  struct gf_gif_file *file, struct gf_error *error) GF_CHECKED;
