/* The bytes of a GIF file around the codes of its pixels. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/rectangle.h"
#include "codec/common/metadata.h"
#include "codec/common/palette/palette.h"
#include "codec/gif/gif_lzw.h"
#include "codec/io/output.h"
#include "gpufilter/image.h"

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
enum gf_status gf_gif_file_add(struct gf_gif_file *file, const struct gf_gif_image *image,
                               struct gf_error *error) GF_CHECKED;
enum gf_status gf_gif_file_end(struct gf_gif_file *file, const struct gf_palette_table *palette,
                               struct gf_error *error) GF_CHECKED;
