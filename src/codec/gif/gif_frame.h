/* Writes a frame of a GIF, whose colours are chosen. */
#pragma once

#include "codec/gif/gif_colours.h"
#include "codec/gif/gif_file.h"
#include "codec/gif/gif_lzw.h"

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
