/* Loads FreeType and HarfBuzz. */
#include <stdio.h>

#include "text/text.h"
#ifdef GF_LIBRARY_freetype
#include "text/text_calls.h"
#include "text/text_fonts.h"

struct gf_text_calls gf_text;
static struct gf_library library =
    GF_LIBRARY(gf_text, GF_TEXT_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_freetype),
               GF_LIBRARY_TEXT(GF_LIBRARY_harfbuzz));

enum gf_status gf_text_available(struct gf_error *error)
{
    return gf_library_load(&library, "text", GF_ERROR_UNAVAILABLE, error);
}

void gf_text_libraries(char *text, size_t size)
{
    FT_Library freetype;
    int version[3] = {0};
    if (!gf_text.FT_Init_FreeType(&freetype)) {
        gf_text.FT_Library_Version(freetype, &version[0], &version[1], &version[2]);
        gf_text.FT_Done_FreeType(freetype);
    }
    snprintf(text, size, "FreeType %d.%d.%d, HarfBuzz %s%s", version[0], version[1], version[2],
             gf_text.hb_version_string(), gf_text_fonts_library());
}

#else
enum gf_status gf_text_available(struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_UNAVAILABLE,
                   "this build draws no text: it was made without FreeType and HarfBuzz "
                   "(libfreetype-dev, libharfbuzz-dev)");
}

void gf_text_libraries(char *text, size_t size)
{
    snprintf(text, size, "none");
}
#endif
