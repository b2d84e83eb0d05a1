/* Draws lines of text as pictures with alpha, by FreeType and HarfBuzz. Each picture is drawn once,
 * and shared by all callers that request the same text in the same style. */
#pragma once

#include <stddef.h>

#include "gpufilter/status.h"
#include "stage/picture.h"

/* The largest text in bytes of UTF-8, the largest file of a font in bytes, and the largest picture
 * in pixels. */
enum { GF_TEXT_BYTES_MAX = 1 << 16, GF_TEXT_FONT_MAX = 1 << 28, GF_TEXT_PIXELS_MAX = 1 << 26 };

enum gf_text_align { GF_TEXT_LEFT, GF_TEXT_CENTRE, GF_TEXT_RIGHT };

struct gf_text_style {
    double size; /* the font's size in pixels per em, 1 or more */
    /* The distance between lines, as a multiple of the distance that the font states. */
    double spacing;
    double outline; /* the width of the outline around the letters; 0: there is none */
    double angle;   /* degrees by which the text is turned clockwise */
    double soft;    /* the standard deviation of the Gaussian that blurs the shadow */
    int distance;   /* by how much the shadow lies to the right of and below the letters */
    int shadow;     /* the shadow's colour, 0xRRGGBB; -1: there is none */
    int face;       /* the index, from 0, of the font in a file with several fonts */
    int align;      /* enum gf_text_align */
    int padding;    /* the margin around the text */
    int colour, edge, background; /* colours of the letters, the outline and the box behind them,
                                   * 0xRRGGBB; background: -1 for no box */
    int filled; /* 1: the text has facts of one picture, so that no other can use what is drawn */
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
/* Returns the path of the index-th font of this machine that a text was drawn with although no
 * chain names its file; NULL past the last one. */
const char *gf_text_font_used(int index);
void gf_text_release(const struct gf_picture *picture);

/* Returns GF_OK if this build can draw text; otherwise the error says why it cannot. */
enum gf_status gf_text_available(struct gf_error *error) GF_CHECKED;
/* Writes the versions of the libraries, such as "FreeType 2.12.1, HarfBuzz 6.0.0". They must be
 * loaded. */
void gf_text_libraries(char *text, size_t size);

/* The picture on which a text is drawn, with whose facts gf_text_fill() replaces fields such as
 * {stem}. */
struct gf_text_about {
    const struct gf_facts_of_picture *facts; /* NULL: nothing but the size is known */
    int width, height;
};

/* Writes the text `from` to `to`, with its fields replaced; {{ and }} stand for single braces, and
 * {n:4} is written with at least four digits. Returns an error that names a field if that is
 * unknown. */
enum gf_status gf_text_fill(const char *from, const struct gf_text_about *about, char *to,
                            size_t size, struct gf_error *error) GF_CHECKED;
