/* Lines of text as pictures with alpha, by FreeType and HarfBuzz. They are drawn once, and shared
 * by all who ask for the same. */
#ifndef GF_TEXT_TEXT_H
#define GF_TEXT_TEXT_H

#include <stdbool.h>

#include "stage/picture.h"

/* The longest text, in bytes of UTF-8, and the largest font and picture. */
enum { GF_TEXT_BYTES_MAX = 1 << 16, GF_TEXT_FONT_MAX = 1 << 28, GF_TEXT_PIXELS_MAX = 1 << 26 };

enum gf_text_align { GF_TEXT_LEFT, GF_TEXT_CENTRE, GF_TEXT_RIGHT };

struct gf_text_style {
    double size;                  /* pixels an em, 1 or more */
    double spacing;               /* the distance from line to line, as a part of the font's own */
    double outline;               /* pixels around the letters; 0: none */
    int face;                     /* which font of a file that holds several, from 0 */
    int align;                    /* enum gf_text_align */
    int padding;                  /* pixels around the text */
    int colour, edge, background; /* 0xRRGGBB; background: -1 for none */
};

/* The text, UTF-8 with lines parted by '\n', in the font of a file, or where the path is empty in
 * one of ASCII that is made here. The picture has 8 bits a sample, straight alpha, and colour
 * unless all of it is gray. It holds the lines by the font's own heights, and whatever of the
 * letters reaches beyond them. GF_ERROR_UNAVAILABLE where the libraries are missing, GF_ERROR_USAGE
 * for a damaged font or one that lacks a letter. To be given back by gf_text_release(). May be
 * called from several threads. */
enum gf_status gf_text_load(const char *font, const char *text, const struct gf_text_style *style,
                            const struct gf_picture **picture, struct gf_error *error) GF_CHECKED;
void gf_text_release(const struct gf_picture *picture);

/* Whether this build can draw text; the error says why not. */
enum gf_status gf_text_available(struct gf_error *error) GF_CHECKED;
/* "FreeType 2.12.1, HarfBuzz 6.0.0"; the libraries must be there. */
void gf_text_libraries(char *text, size_t size);

#endif
