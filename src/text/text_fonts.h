/* Chooses fonts of this machine: by name, and for letters that another font lacks. What is drawn
 * with them depends on the machine. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "gpufilter/status.h"

/* Variation selectors 15 and 16, which ask for an outline (text) or a picture (emoji) of the letter
 * before them, and the zero width joiner, which makes one emoji of several. */
enum { GF_TEXT_OUTLINE_SELECTOR = 0xFE0E, GF_TEXT_PICTURE_SELECTOR, GF_TEXT_JOINER = 0x200D };

/* Whether the code is one of the two selectors or the joiner, which a font need not contain. */
static inline bool gf_text_is_sign(unsigned code)
{
    return code == GF_TEXT_OUTLINE_SELECTOR || code == GF_TEXT_PICTURE_SELECTOR ||
           code == GF_TEXT_JOINER;
}

/* Whether a font with coloured pictures is preferred for the letter: for emoji from U+1F000 on, and
 * beyond ASCII if the font that the user named has pictures (`named`). The selector `next`, the
 * letter after it, decides instead, if it is one. */
static inline bool gf_text_is_picture(unsigned code, unsigned next, bool named)
{
    return next == GF_TEXT_PICTURE_SELECTOR ||
           (next != GF_TEXT_OUTLINE_SELECTOR && (code >= 0x1F000 || (named && code > 0x7F)));
}

enum { GF_TEXT_FACES_MAX = 8, GF_TEXT_PATH_SIZE = 1024 };

/* The font for texts beyond ASCII if the user names none, and the package that contains it. */
#define GF_TEXT_FONT_USUAL "DejaVu Sans"
#define GF_TEXT_FONT_PACKAGE "fonts-dejavu-core"

/* The fonts of a text: the first has most of its letters, each further one has some that all fonts
 * before it lack. */
struct gf_text_fonts {
    int count;
    struct gf_text_font {
        char path[GF_TEXT_PATH_SIZE];
        int face; /* the index of the font in the file */
    } font[GF_TEXT_FACES_MAX];
};

/* Whether the text is valid UTF-8 and has letters beyond ASCII. */
bool gf_text_beyond_ascii(const char *text);
/* Whether the value of font= is the name of a font, not of a file. */
bool gf_text_names_font(const char *font);
/* Finds fonts for all letters of the text: first the one with that name, where "" means the usual
 * font. Returns GF_ERROR_UNAVAILABLE if no font has the name. */
enum gf_status gf_text_fonts_find(const char *name, const char *text, struct gf_text_fonts *fonts,
                                  struct gf_error *error) GF_CHECKED;

/* Makes the built-in font of ASCII letters, as the bytes of a TrueType file, which the caller
 * frees. */
enum gf_status gf_text_font_make(unsigned char **bytes, size_t *size,
                                 struct gf_error *error) GF_CHECKED;
