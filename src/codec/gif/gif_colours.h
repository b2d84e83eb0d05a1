/* The palettes of a GIF's frames: that of the file, which grows until it is full, or a frame's own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "codec/common/palette/palette.h"
#include "codec/gif/gif_file.h"

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
