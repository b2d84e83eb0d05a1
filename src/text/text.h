/* Draws lines of text as pictures with alpha, by FreeType and HarfBuzz. Each picture is drawn once,
 * and shared by all callers that ask for the same text in the same style. */
#ifndef GF_TEXT_TEXT_H
#define GF_TEXT_TEXT_H

#include <stdbool.h>

#include "stage/picture.h"

/* The longest text, in bytes of UTF-8, and the largest font and picture. */
enum { GF_TEXT_BYTES_MAX = 1 << 16, GF_TEXT_FONT_MAX = 1 << 28, GF_TEXT_PIXELS_MAX = 1 << 26 };

enum gf_text_align { GF_TEXT_LEFT, GF_TEXT_CENTRE, GF_TEXT_RIGHT };

struct gf_text_style {
    double size; /* pixels for each em, 1 or more */
    /* the distance from line to line, as a multiple of the font's own */
    double spacing;
    double outline;               /* pixels around the letters; 0: none */
    int face;                     /* the index, from 0, of the font in a file that holds several */
    int align;                    /* enum gf_text_align */
    int padding;                  /* pixels around the text */
    int colour, edge, background; /* 0xRRGGBB; background: -1 for none */
};

/* Draws `text`, which is UTF-8 with lines parted by '\n', in the font of the file `font`; an empty
 * path stands for the built-in font, which has ASCII only. The picture has 8 bits a sample and
 * straight alpha, and is gray where all its colours are gray. The picture is as high as the lines
 * are in the font, and larger where letters reach beyond the lines. GF_ERROR_UNAVAILABLE: the
 * libraries are missing; GF_ERROR_USAGE: the font is damaged or lacks a letter. gf_text_release()
 * gives the picture back. Any thread may call this function. */
enum gf_status gf_text_load(const char *font, const char *text, const struct gf_text_style *style,
                            const struct gf_picture **picture, struct gf_error *error) GF_CHECKED;
void gf_text_release(const struct gf_picture *picture);

/* Tells whether this build can draw text; the error says why it cannot. */
enum gf_status gf_text_available(struct gf_error *error) GF_CHECKED;
/* Writes "FreeType 2.12.1, HarfBuzz 6.0.0"; the libraries must be loaded. */
void gf_text_libraries(char *text, size_t size);

#endif
