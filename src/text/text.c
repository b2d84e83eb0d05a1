/* Draws texts. The pictures of all texts are kept, with the font's file, so that all chains of a
 * batch share them. */
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/named_file.h"
#include "pixel/files/kept_files.h"
#include "pixel/files/picture_file.h"
#include "text/text_fields.h"
#include "text/text_font.h"
#ifdef GF_LIBRARY_freetype
#include "text/text_shape.h"
#endif

#ifdef GF_LIBRARY_freetype
/* ---- the style as text, under which a picture is kept ---- */

enum { STYLE_SIZE = 200 };

static void write_style(const struct gf_text_style *s, char *how)
{
    snprintf(how, STYLE_SIZE, "%.17g %.17g %.17g %d %d %d %d %d %d %d\n", s->size, s->spacing,
             s->outline, s->face, s->align, s->padding, s->colour, s->edge, s->background,
             s->filled);
}

/* Reads the style, and returns the text after it. */
static const char *read_style(const char *how, struct gf_text_style *s)
{
    sscanf(how, "%lf %lf %lf %d %d %d %d %d %d %d", &s->size, &s->spacing, &s->outline, &s->face,
           &s->align, &s->padding, &s->colour, &s->edge, &s->background, &s->filled);
    return strchr(how, '\n') + 1;
}

static enum gf_status open_face(FT_Library freetype, const unsigned char *bytes, size_t size,
                                const struct gf_text_style *style, FT_Face *face,
                                struct gf_error *error)
{
    const FT_Error failure =
        gf_text.FT_New_Memory_Face(freetype, bytes, (FT_Long)size, style->face, face);
    if (failure == FT_Err_Out_Of_Memory)
        return gf_fail_memory(error);
    if (failure)
        return gf_fail(error, GF_ERROR_USAGE,
                       style->face ? "it is not a font with a face of that number (FreeType: error "
                                     "0x%02x)"
                                   : "it is not a font that FreeType reads (error 0x%02x)",
                       (unsigned)failure);
    if (!FT_IS_SCALABLE(*face))
        return gf_fail(error, GF_ERROR_USAGE, "the font has pictures in place of outlines");
    if (gf_text.FT_Set_Char_Size(*face, 0, (FT_F26Dot6)(style->size * 64 + 0.5), 72, 72))
        return gf_fail(error, GF_ERROR_USAGE, "the font has no letters of that size");
    return GF_OK;
}

static enum gf_status draw(const unsigned char *bytes, size_t size, const char *how,
                           struct gf_image *image, struct gf_error *error)
{
    struct gf_text_style style;
    struct gf_text_lines lines = {0};
    FT_Library freetype;
    FT_Face face = NULL;
    const char *const text = read_style(how, &style);
    if (gf_text.FT_Init_FreeType(&freetype))
        return gf_fail_memory(error);
    enum gf_status status = open_face(freetype, bytes, size, &style, &face, error);
    if (!status)
        status = gf_text_shape(face, text, &lines, error);
    if (!status)
        status = gf_text_draw(freetype, face, &lines, &style, image, error);
    gf_text_lines_free(&lines);
    if (face)
        gf_text.FT_Done_Face(face);
    gf_text.FT_Done_FreeType(freetype);
    return status;
}

/* Notes how long the picture is of use, and a warning if its text has a field as it stands. */
static void note(struct gf_picture *picture, const char *how)
{
    struct gf_text_style style;
    const char *const text = read_style(how, &style);
    picture->brief = style.filled;
    if (!style.filled && gf_text_has_field(text))
        picture->notes = strdup("text: its braces are drawn as they stand; fields=yes replaces "
                                "{stem} and the like");
}

static enum gf_status read_text(int fd, const char *path, const char *how, void **value,
                                struct gf_error *error)
{
    struct gf_image image = {.data = NULL};
    struct gf_picture *picture = NULL;
    struct gf_error detail = {0};
    unsigned char *font = NULL;
    size_t size = 0;
    enum gf_status status =
        fd >= 0 ? gf_named_file_read(fd, GF_TEXT_FONT_MAX, GF_ERROR_USAGE, &font, &size, &detail)
                : gf_text_font_make(&font, &size, &detail);
    if (!status)
        status = draw(font, size, how, &image, &detail);
    free(font);
    if (status)
        return gf_fail(error, status, "%.200s%s%s", path, *path ? ": " : "", detail.text);
    status = gf_picture_new(&image, &picture, error);
    if (status)
        gf_image_free(&image);
    else
        note(picture, how);
    *value = picture;
    return status;
}

static struct gf_kept_files texts = {
    .read = read_text, .free = gf_picture_free, .lock = PTHREAD_MUTEX_INITIALIZER};

enum gf_status gf_text_load(const char *font, const char *text, const struct gf_text_style *style,
                            const struct gf_picture **picture, struct gf_error *error)
{
    enum gf_status status = gf_text_available(error);
    const void *value = NULL;
    char *const how = status ? NULL : malloc(STYLE_SIZE + strlen(text) + 1);
    if (!status && !how)
        status = gf_fail_memory(error);
    if (!status) {
        write_style(style, how);
        strcat(how, text);
        status = gf_kept_files_find(&texts, font, how, &value, error);
    }
    free(how);
    *picture = value;
    return status;
}

void gf_text_release(const struct gf_picture *picture)
{
    gf_kept_files_release(&texts, picture);
}

#else
enum gf_status gf_text_load(const char *font, const char *text, const struct gf_text_style *style,
                            const struct gf_picture **picture, struct gf_error *error)
{
    (void)font;
    (void)text;
    (void)style;
    *picture = NULL;
    return gf_text_available(error);
}

void gf_text_release(const struct gf_picture *picture)
{
    (void)picture;
}
#endif
