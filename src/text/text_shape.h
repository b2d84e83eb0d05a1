/* Shapes text: converts UTF-8 to glyphs and their positions. Directions follow a part of the
 * Unicode Bidirectional Algorithm (UAX #9); HarfBuzz shapes the letters of each run. Only builds
 * with the libraries include this code. */
#pragma once

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_GLYPH_H
#include FT_OUTLINE_H
#include FT_STROKER_H
#include <hb-ft.h>
#include <hb.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/process/library.h"
#include "text/text.h"
#include "text/text_fonts.h"

/* The functions of FreeType (2.10 or later) and HarfBuzz (2.7 or later) that the program calls,
 * through pointers that gf_library_load() sets. */
/* clang-format off */
#define GF_TEXT_CALLS(CALL) \
    CALL(FT_Init_FreeType) CALL(FT_Done_FreeType) CALL(FT_Library_Version) \
    CALL(FT_New_Memory_Face) CALL(FT_Done_Face) CALL(FT_Set_Char_Size) CALL(FT_Select_Size) CALL(FT_Load_Glyph) CALL(FT_Get_Char_Index) \
    CALL(FT_Get_Glyph) CALL(FT_Done_Glyph) CALL(FT_Glyph_Get_CBox) CALL(FT_Glyph_StrokeBorder) CALL(FT_Glyph_Transform) CALL(FT_Outline_New) \
    CALL(FT_Outline_Done) CALL(FT_Outline_Get_Bitmap) \
    CALL(FT_Glyph_To_Bitmap) CALL(FT_Stroker_New) CALL(FT_Stroker_Set) CALL(FT_Stroker_Done) \
    CALL(hb_buffer_create) CALL(hb_buffer_destroy) CALL(hb_buffer_add_codepoints) \
    CALL(hb_buffer_set_direction) CALL(hb_buffer_set_script) CALL(hb_buffer_allocation_successful) \
    CALL(hb_buffer_get_glyph_infos) CALL(hb_buffer_get_glyph_positions) CALL(hb_ft_font_create) \
    CALL(hb_ft_font_set_load_flags) CALL(hb_font_destroy) CALL(hb_script_get_horizontal_direction) \
    CALL(hb_shape) CALL(hb_unicode_funcs_get_default) CALL(hb_unicode_general_category) \
    CALL(hb_unicode_script) CALL(hb_version_string)
/* clang-format on */

struct gf_text_calls {
    GF_TEXT_CALLS(GF_LIBRARY_CALL)
};
extern struct gf_text_calls gf_text;

struct gf_text_glyph {
    unsigned index; /* the glyph's index in the font */
    /* The place of the glyph's origin, from the start of its line and its baseline, in 1/64 pixel;
     * y is counted upwards. */
    int64_t x, y;
    int line, face;
};

struct gf_text_lines {
    struct gf_text_glyph *glyph; /* the glyphs, from left to right in each line */
    int64_t *width;              /* the width of each line, in 1/64 pixel */
    int glyphs, lines;
};

/* A character of a line: its code point, script, and level of direction (odd: right to left);
 * `kind` is its class in UAX #9, `face` the index of its font. */
struct gf_text_letter {
    uint32_t code;
    hb_script_t script;
    unsigned char kind, level, face;
};

/* Sets the script, kind and level of the letters of a line from their code points. */
void gf_text_set_levels(struct gf_text_letter *letter, int count);

/* The open fonts of a text, as in struct gf_text_fonts. */
struct gf_text_faces {
    FT_Face face[GF_TEXT_FACES_MAX];
    /* For a face whose glyphs are pictures: how many pixels of the drawn text one pixel of a
     * glyph's picture becomes; otherwise 0. */
    double scale[GF_TEXT_FACES_MAX];
    int count;
    bool local; /* whether a font is one of this machine whose file the chain does not name */
};

/* Converts UTF-8 to glyphs and their positions, for faces whose size is set. The caller frees the
 * lines by gf_text_lines_free(), even after a failure. */
enum gf_status gf_text_shape(const struct gf_text_faces *faces, const char *text,
                             struct gf_text_lines *lines, struct gf_error *error) GF_CHECKED;
void gf_text_lines_free(struct gf_text_lines *lines);

/* Whether the font's glyphs are coloured pictures, as in fonts of emoji. */
bool gf_text_has_pictures(FT_Face face);
/* Chooses the smallest pictures of the font that have at least `pixels` pixels per em, or else the
 * largest. *scale becomes `pixels` divided by their size. */
enum gf_status gf_text_choose_pictures(FT_Face face, double pixels, double *scale,
                                       struct gf_error *error) GF_CHECKED;

/* The part of the drawn picture in which coloured glyphs are painted: `paint` has premultiplied R,
 * G, B, A. `left` and `top` are as in struct drawing of text_draw.c; the text is turned clockwise
 * by the angle with that cosine and sine. */
struct gf_text_canvas {
    unsigned char *paint;
    int left, top, width, height;
    double cosine, sine;
};

/* Draws the lines in `style`, with faces whose size is set. The caller frees the image by
 * gf_image_free(). */
enum gf_status gf_text_draw(FT_Library library, const struct gf_text_faces *faces,
                            const struct gf_text_lines *lines, const struct gf_text_style *style,
                            struct gf_image *image, struct gf_error *error) GF_CHECKED;
