/* Draws lines of text as pictures with alpha, by FreeType and HarfBuzz. Each picture is drawn once,
 * and shared by all callers that request the same text in the same style. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "gpufilter/status.h"
#include "stage/picture.h"

/* The largest text in bytes of UTF-8, the largest font in bytes, and the largest picture in
 * pixels. */
enum { GF_TEXT_BYTES_MAX = 1 << 16, GF_TEXT_FONT_MAX = 1 << 28, GF_TEXT_PIXELS_MAX = 1 << 26 };

enum gf_text_align { GF_TEXT_LEFT, GF_TEXT_CENTRE, GF_TEXT_RIGHT };

struct gf_text_style {
    double size; /* pixels per em, 1 or more */
    /* The distance between lines, as a multiple of the font's own distance. */
    double spacing;
    double outline;               /* pixels around the letters; 0: none */
    double angle;                 /* degrees, clockwise */
    double soft;                  /* the standard deviation of the shadow's blur */
    int distance;                 /* pixels by which the shadow lies to the right and below */
    int shadow;                   /* the shadow's colour, -1 for none */
    int face;                     /* the index, from 0, of the font in a file with several fonts */
    int align;                    /* enum gf_text_align */
    int padding;                  /* pixels around the text */
    int colour, edge, background; /* 0xRRGGBB; background: -1 for none */
    int filled;                   /* 1: the text is of one main picture alone */
};

/* Draws `text`, which is UTF-8 with lines separated by line breaks, in the font of the file `font`,
 * or in the font of this machine that has that name, with other fonts for letters that it lacks. An
 * empty name means the built-in font for a text of ASCII, and otherwise a usual font of this
 * machine. The picture has 8 bits a sample and straight alpha, and is gray if all its colours are
 * gray. Its height is that of the lines in the font, or more if letters extend beyond the lines.
 * Returns GF_ERROR_UNAVAILABLE if the libraries are missing, GF_ERROR_USAGE if the font is damaged
 * or lacks a letter. gf_text_release() returns the picture. Any thread may call this function. */
enum gf_status gf_text_load(const char *font, const char *text, const struct gf_text_style *style,
                            const struct gf_picture **picture, struct gf_error *error) GF_CHECKED;
/* Returns the path of a font of this machine that a text was drawn with, though no chain names the
 * file; NULL past the last one. */
const char *gf_text_font_used(int index);
void gf_text_release(const struct gf_picture *picture);

/* Returns GF_OK if this build can draw text; otherwise the error says why it cannot. */
enum gf_status gf_text_available(struct gf_error *error) GF_CHECKED;
/* Writes the libraries' versions, such as "FreeType 2.12.1, HarfBuzz 6.0.0". The libraries must be
 * loaded. */
void gf_text_libraries(char *text, size_t size);

/* Replaces the fields of a text, such as {stem}, by the facts of a picture. */

/* The picture on which the text is drawn. */
struct gf_text_about {
    const struct gf_facts_of_picture *facts; /* NULL: nothing but the size is known */
    int width, height;
};

/* Writes the text `from` with its fields replaced; {{ and }} stand for single braces, and {n:4} has
 * four digits at least. The error names a field that is unknown. */
enum gf_status gf_text_fill(const char *from, const struct gf_text_about *about, char *to,
                            size_t size, struct gf_error *error) GF_CHECKED;
