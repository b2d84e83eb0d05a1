/* Glyphs as a picture. Only builds with the libraries have it. */
#ifndef GF_TEXT_TEXT_DRAW_H
#define GF_TEXT_TEXT_DRAW_H

#include "text/text.h"
#include "text/text_shape.h"

/* Draws the lines with a face whose size is set. The caller frees the image by gf_image_free(). */
enum gf_status gf_text_draw(FT_Library library, FT_Face face, const struct gf_text_lines *lines,
                            const struct gf_text_style *style, struct gf_image *image,
                            struct gf_error *error) GF_CHECKED;

#endif
