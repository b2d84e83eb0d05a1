/* The functions of FreeType (2.10 or later) and HarfBuzz (2.7 or later) that the program calls,
 * through pointers that gf_library_load() sets. */
#pragma once

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_GLYPH_H
#include FT_OUTLINE_H
#include FT_STROKER_H
#include <hb-ft.h>
#include <hb.h>

#include "base/process/library.h"

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
