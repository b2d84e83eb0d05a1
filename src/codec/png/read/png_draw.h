/* Draws the frames of an animated PNG over each other, as their fcTL chunks say (PNG, third
 * edition, 11.3.6). */
#pragma once

#include <stdbool.h>

#include "codec/common/source.h"

/* What an fcTL chunk says. */
struct gf_png_control {
    uint32_t width, height, x, y; /* the frame's place on the canvas */
    struct gf_duration duration;
    enum {
        GF_PNG_DISPOSE_NOTHING,
        GF_PNG_DISPOSE_CLEAR, /* the place becomes transparent before the next frame */
        GF_PNG_DISPOSE_UNDER  /* the place becomes what it was below the frame */
    } dispose;
    bool over; /* alpha blends the frame with what is below it; else it replaces that */
};

/* Reads the data of an fcTL chunk. `png` is the file, which begins with the signature and IHDR.
 * full: the frame must fill the canvas. Returns false if a value is not allowed. */
bool gf_png_control_read(const unsigned char *data, const unsigned char *png, bool full,
                         struct gf_png_control *control);
struct gf_png_control gf_png_control_of_canvas(const unsigned char *png);
/* Whether the frame `over` has all pixels of the place of `under`. */
bool gf_png_control_covers(const struct gf_png_control *over, const struct gf_png_control *under);

/* Draws a row of a frame, whose pixels have `channels`, to a row of the canvas, which can have an
 * alpha channel more. */
void gf_png_draw_row(const struct gf_png_control *control, const unsigned char *from, int channels,
                     unsigned char *canvas_row, struct gf_format canvas);
/* Makes the frame's place on the canvas what the next frame is drawn over. `under` is the canvas
 * before the frame was drawn; NULL, if it is not needed. */
void gf_png_dispose(const struct gf_png_control *control, const unsigned char *under,
                    unsigned char *pixels, struct gf_format canvas);
