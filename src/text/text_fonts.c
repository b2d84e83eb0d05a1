/* Finds fonts of this machine, by name or for letters that another font lacks, and loads the
 * libraries that draw with them. */
#include "text/text_fonts.h"

#include <stdio.h>

#include "text/text.h"

#ifdef GF_LIBRARY_freetype
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/process/files.h"
#include "base/text/plain_text.h"
#include "text/text_shape.h"
#ifdef GF_LIBRARY_fontconfig
#include <fontconfig/fontconfig.h>

#include "base/process/library.h"
#endif

bool gf_text_beyond_ascii(const char *text)
{
    bool beyond = false;
    for (int length; *text; text += length) {
        length = gf_utf8_length(text);
        beyond |= length > 1;
        if (!length)
            return false;
    }
    return beyond;
}

bool gf_text_names_font(const char *font)
{
    static const char *const extensions[] = {".ttf", ".otf",  ".ttc",   ".otc", ".pfb",
                                             ".pfa", ".woff", ".woff2", ".cff"};
    const char *const dot = strrchr(font, '.');
    struct stat file;
    for (size_t i = 0; dot && i < sizeof extensions / sizeof *extensions; i++) {
        if (!strcasecmp(dot, extensions[i]))
            return false;
    }
    return *font && !strchr(font, '/') && !gf_named_files_handed() && stat(font, &file) != 0;
}

/* The fonts that texts were drawn with, for gf_text_font_used(). */

enum { USED_MAX = 16 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all static variables below */
static char *used[USED_MAX];
static int used_count;

static void note_used(const struct gf_text_fonts *fonts)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < fonts->count; i++) {
        int k = 0;
        while (k < used_count && strcmp(used[k], fonts->font[i].path) != 0)
            k++;
        if (k == used_count && k < USED_MAX && (used[k] = strdup(fonts->font[i].path)))
            used_count++;
    }
    pthread_mutex_unlock(&lock);
}

const char *gf_text_font_used(int index)
{
    pthread_mutex_lock(&lock);
    const char *const path = index < used_count ? used[index] : NULL;
    pthread_mutex_unlock(&lock);
    return path;
}

/* Finding fonts by name with fontconfig, a library. */

#ifdef GF_LIBRARY_fontconfig
/* clang-format off */
#define FONT_CALLS(CALL) \
    CALL(FcInit) CALL(FcNameParse) CALL(FcPatternCreate) CALL(FcPatternDestroy) \
    CALL(FcPatternAddString) CALL(FcPatternAddBool) CALL(FcPatternGetString) \
    CALL(FcPatternGetInteger) CALL(FcPatternGetBool) CALL(FcPatternGetCharSet) CALL(FcConfigSubstitute) \
    CALL(FcDefaultSubstitute) CALL(FcFontSort) CALL(FcFontList) CALL(FcFontSetDestroy) \
    CALL(FcObjectSetBuild) CALL(FcObjectSetDestroy) CALL(FcCharSetHasChar)
/* clang-format on */

static struct {
    FONT_CALLS(GF_LIBRARY_CALL)
} fc;
static struct gf_library library =
    GF_LIBRARY(fc, FONT_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_fontconfig));

/* For each of the last names that were looked up: its fonts, the best first. */
enum { NAMES_MAX = 16 };
static struct {
    char *name; /* NULL: this entry is empty */
    FcFontSet *fonts;
} sorted[NAMES_MAX];
static unsigned sorted_count; /* the number of names that were entered, of which only the last
                               * NAMES_MAX are kept */

static bool is_generic(const char *name)
{
    static const char *const generic[] = {"sans", "sans-serif", "serif", "mono", "monospace"};
    bool found = false;
    for (size_t i = 0; i < sizeof generic / sizeof *generic; i++)
        found |= !strcasecmp(name, generic[i]);
    return found;
}

/* Whether the font has that name in a property of fontconfig, such as FC_FAMILY. */
static bool has_name(FcPattern *font, const char *property, const char *name)
{
    FcChar8 *text;
    bool found = false;
    for (int i = 0; !found && !fc.FcPatternGetString(font, property, i, &text); i++)
        found = !strcasecmp((const char *)text, name);
    return found;
}

/* Returns fonts for the pattern, the best first. The order does not depend on the locale. */
static FcFontSet *sort(FcPattern *pattern)
{
    FcResult result;
    fc.FcPatternAddBool(pattern, FC_SCALABLE, FcTrue);
    fc.FcPatternAddString(pattern, FC_LANG, (const FcChar8 *)"en");
    fc.FcPatternAddString(pattern, FC_NAMELANG, (const FcChar8 *)"en");
    fc.FcConfigSubstitute(NULL, pattern, FcMatchPattern);
    fc.FcDefaultSubstitute(pattern);
    return fc.FcFontSort(NULL, pattern, FcFalse, NULL, &result);
}

/* Returns fonts for a name, the best first. The name is like "DejaVu Sans", "DejaVu Sans:bold" or
 * "DejaVu Sans Bold". Returns NULL if no font has the name. */
static FcFontSet *sort_by_name(const char *name)
{
    FcPattern *pattern = *name ? fc.FcNameParse((const FcChar8 *)name) : fc.FcPatternCreate();
    FcChar8 *family = NULL;
    char asked[200] = "";
    if (!pattern)
        return NULL;
    if (!*name)
        fc.FcPatternAddString(pattern, FC_FAMILY, (const FcChar8 *)GF_TEXT_FONT_USUAL);
    else if (!fc.FcPatternGetString(pattern, FC_FAMILY, 0, &family))
        snprintf(asked, sizeof asked, "%s", (const char *)family);
    FcFontSet *fonts = sort(pattern);
    fc.FcPatternDestroy(pattern);
    if (!fonts || !fonts->nfont || !*asked || is_generic(asked) ||
        has_name(fonts->fonts[0], FC_FAMILY, asked))
        return fonts;
    for (int i = 0; i < fonts->nfont; i++) {
        FcPattern *const font = fonts->fonts[i];
        if (!has_name(font, FC_FULLNAME, asked))
            continue;
        memmove(fonts->fonts + 1, fonts->fonts, (size_t)i * sizeof(FcPattern *));
        fonts->fonts[0] = font;
        return fonts;
    }
    fc.FcFontSetDestroy(fonts);
    return NULL;
}

/* Returns fonts for the name as sort_by_name() does; they are valid until the next call. The caller
 * holds the lock. */
static FcFontSet *fonts_of_name(const char *name)
{
    for (int i = 0; i < NAMES_MAX && sorted[i].name; i++) {
        if (!strcmp(sorted[i].name, name))
            return sorted[i].fonts;
    }
    char *const copy = !sorted_count && !fc.FcInit() ? NULL : strdup(name);
    if (!copy)
        return NULL;
    const unsigned place = sorted_count++ % NAMES_MAX;
    free(sorted[place].name);
    if (sorted[place].fonts)
        fc.FcFontSetDestroy(sorted[place].fonts);
    sorted[place].name = copy;
    sorted[place].fonts = sort_by_name(name);
    return sorted[place].fonts;
}

static void append(struct gf_text_fonts *fonts, FcPattern *font)
{
    FcChar8 *path = NULL;
    struct gf_text_font *const to = &fonts->font[fonts->count];
    to->face = 0;
    if (fc.FcPatternGetString(font, FC_FILE, 0, &path) ||
        strlen((const char *)path) >= sizeof to->path || strchr((const char *)path, '\n'))
        return;
    (void)fc.FcPatternGetInteger(font, FC_INDEX, 0, &to->face);
    strcpy(to->path, (const char *)path);
    fonts->count++;
}

/* Whether the font's letters are coloured pictures (`pictures`) or, otherwise, outlines of one
 * colour. Outlines in several colours count as neither, since they are not drawn. */
static bool has_kind(FcPattern *font, bool pictures)
{
    FcBool outlines = FcFalse, colours = FcFalse;
    (void)fc.FcPatternGetBool(font, FC_OUTLINE, 0, &outlines);
    (void)fc.FcPatternGetBool(font, FC_COLOR, 0, &colours);
    return pictures ? colours && !outlines : outlines && !colours;
}

static bool has_letter(FcPattern *font, uint32_t code, bool pictures)
{
    FcCharSet *letters = NULL;
    return has_kind(font, pictures) && !fc.FcPatternGetCharSet(font, FC_CHARSET, 0, &letters) &&
           fc.FcCharSetHasChar(letters, code);
}

/* Adds a font of the set that has the letter and is of that kind, unless one was chosen before.
 * Returns whether there is such a font. */
static bool choose_for(FcFontSet *set, uint32_t code, bool pictures, int *chosen,
                       struct gf_text_fonts *fonts)
{
    bool found = false;
    for (int i = 0; !found && i < fonts->count; i++)
        found = has_letter(set->fonts[chosen[i]], code, pictures);
    for (int i = 0; !found && i < set->nfont; i++) {
        const int count = fonts->count;
        if (!has_letter(set->fonts[i], code, pictures))
            continue;
        append(fonts, set->fonts[i]);
        found = fonts->count > count;
        chosen[count] = found ? i : 0;
    }
    return found;
}

/* Adds fonts until each letter is in one of them, if any font has it. A font of the kind that suits
 * the letter comes first (see gf_text_is_picture()). */
static void choose(FcFontSet *set, const char *text, struct gf_text_fonts *fonts)
{
    int chosen[GF_TEXT_FACES_MAX] = {0};
    append(fonts, set->fonts[0]);
    while (*text && fonts->count && fonts->count < GF_TEXT_FACES_MAX) {
        uint32_t code = 0, next = 0;
        const int length = gf_utf8_read(text, text + strnlen(text, 4), &code);
        text += length ? length : 1;
        (void)gf_utf8_read(text, text + strnlen(text, 4), &next);
        const bool pictures = gf_text_is_picture(code, next, has_kind(set->fonts[0], true));
        if (code >= ' ' && length && !gf_text_is_sign(code) &&
            !choose_for(set, code, pictures, chosen, fonts) && fonts->count < GF_TEXT_FACES_MAX)
            (void)choose_for(set, code, !pictures, chosen, fonts);
    }
}

static bool find_by_fontconfig(const char *name, const char *text, struct gf_text_fonts *fonts)
{
    pthread_mutex_lock(&lock);
    FcFontSet *const set = fonts_of_name(name);
    if (set && set->nfont)
        choose(set, text, fonts);
    pthread_mutex_unlock(&lock);
    return fonts->count;
}

static enum gf_status load_fontconfig(struct gf_error *error)
{
    return gf_library_load(&library, "font", GF_ERROR_UNAVAILABLE, error);
}
#else
static bool find_by_fontconfig(const char *name, const char *text, struct gf_text_fonts *fonts)
{
    (void)name;
    (void)text;
    return fonts->count;
}

static enum gf_status load_fontconfig(struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_UNAVAILABLE,
                   "this build knows no font by its name: it was made without fontconfig "
                   "(libfontconfig-dev)");
}
#endif

/* Finding fonts without fontconfig. */

/* Finds the usual font in the folders where Linux distributions install it. */
static bool find_usual(struct gf_text_fonts *fonts)
{
    static const char *const paths[] = {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
                                        "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
                                        "/usr/share/fonts/TTF/DejaVuSans.ttf",
                                        "/usr/share/fonts/dejavu/DejaVuSans.ttf"};
    struct stat file;
    for (size_t i = 0; !fonts->count && i < sizeof paths / sizeof *paths; i++) {
        if (stat(paths[i], &file))
            continue;
        strcpy(fonts->font[0].path, paths[i]);
        fonts->font[0].face = 0;
        fonts->count = 1;
    }
    return fonts->count;
}

/* Returns ", fontconfig" if fonts can be found by name, otherwise "". */
static const char *text_fonts_library(void)
{
    struct gf_error missing;
    return load_fontconfig(&missing) ? "" : ", fontconfig";
}

enum gf_status gf_text_fonts_find(const char *name, const char *text, struct gf_text_fonts *fonts,
                                  struct gf_error *error)
{
    struct gf_error missing = {0};
    fonts->count = 0;
    /* A server opens no file that its client has not opened. */
    if (gf_named_files_handed())
        return gf_fail(error, GF_ERROR_UNAVAILABLE,
                       "fonts of the machine are not given to a server");
    const bool loaded = !load_fontconfig(&missing);
    if (loaded ? find_by_fontconfig(name, text, fonts) : !*name && find_usual(fonts)) {
        note_used(fonts);
        return GF_OK;
    }
    if (*name && !loaded)
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "%.100s: there is no file of that name, and %s",
                       name, missing.text);
    if (*name)
        return gf_fail(error, GF_ERROR_UNAVAILABLE,
                       "%.100s: there is neither a file nor a font of that name (fc-list lists "
                       "fonts)",
                       name);
    return gf_fail(error, GF_ERROR_UNAVAILABLE,
                   "letters beyond ASCII need a font, and this machine has none "
                   "(apt-get install " GF_TEXT_FONT_PACKAGE "); or font= names a file");
}

/* Loading FreeType and HarfBuzz. */

struct gf_text_calls gf_text;
static struct gf_library text_library =
    GF_LIBRARY(gf_text, GF_TEXT_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_freetype),
               GF_LIBRARY_TEXT(GF_LIBRARY_harfbuzz));

enum gf_status gf_text_available(struct gf_error *error)
{
    return gf_library_load(&text_library, "text", GF_ERROR_UNAVAILABLE, error);
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
             gf_text.hb_version_string(), text_fonts_library());
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
