/* Chooses fonts of this machine: by name, and for letters that another font lacks. What is drawn
 * with them depends on the machine. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "gpufilter/status.h"

/* Variation selectors 15 and 16, which ask for an outline or a picture of the letter before, and
 * the zero width joiner, which joins emoji. */
enum { GF_TEXT_OUTLINE_SELECTOR = 0xFE0E, GF_TEXT_PICTURE_SELECTOR, GF_TEXT_JOINER = 0x200D };

/* Whether the letter is a selector or the joiner, which fonts need not have. */
static inline bool gf_text_is_sign(unsigned code)
{
    return code == GF_TEXT_OUTLINE_SELECTOR || code == GF_TEXT_PICTURE_SELECTOR ||
           code == GF_TEXT_JOINER;
}

/* Whether a font with pictures comes first for the letter: for emoji beyond U+1F000, and wherever
 * the letter `next` or the first font (`named`) asks for it. */
static inline bool gf_text_is_picture(unsigned code, unsigned next, bool named)
{
    return next == GF_TEXT_PICTURE_SELECTOR ||
           (next != GF_TEXT_OUTLINE_SELECTOR && (code >= 0x1F000 || (named && code > 0x7F)));
}

enum { GF_TEXT_FACES_MAX = 8, GF_TEXT_PATH_SIZE = 1024 };

/* The font for unnamed texts beyond ASCII, the package that has it, and one for more letters. */
#define GF_TEXT_FONT_USUAL "DejaVu Sans"
#define GF_TEXT_FONT_PACKAGE "fonts-dejavu-core"

/* The fonts of a text: the first has most of its letters, each further one some that all fonts
 * before it lack. */
struct gf_text_fonts {
    int count;
    struct gf_text_font {
        char path[GF_TEXT_PATH_SIZE];
        int face; /* the index of the font in the file */
    } font[GF_TEXT_FACES_MAX];
};

/* Whether the text is UTF-8 with letters beyond ASCII. */
bool gf_text_beyond_ascii(const char *text);
/* Whether the value of font= is the name of a font, not of a file. */
bool gf_text_names_font(const char *font);
/* Finds the fonts of that name for the text; the name "" means the usual font. Returns
 * GF_ERROR_UNAVAILABLE if there is none. */
enum gf_status gf_text_fonts_find(const char *name, const char *text, struct gf_text_fonts *fonts,
                                  struct gf_error *error) GF_CHECKED;

/* Makes the font as a TrueType file. The caller frees it. */
enum gf_status gf_text_font_make(unsigned char **bytes, size_t *size,
                                 struct gf_error *error) GF_CHECKED;
