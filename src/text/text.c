/* Texts as pictures: fields in them are replaced by facts; the pictures are drawn once and kept for
 * further use. */
#include "text/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process/files.h"
#include "pixel/files/kept_files.h"
#include "text/text_fonts.h"

#ifdef GF_LIBRARY_freetype
#include "text/text_shape.h"
#endif

static const char *const names[] = {
#define NAME(end, name, help) name,
    GF_PICTURE_FACTS(NAME)
#undef NAME
};

/* Returns the fact that is named by the field "{name}" or "{n:4}", which begins at `at`; -1: no
 * fact has the name. *length becomes the length of the field, *digits the least number of digits
 * that it asks for. */
static int find_fact(const char *at, size_t *length, int *digits)
{
    const size_t name = strcspn(at + 1, ":}");
    *length = 1 + name + 1;
    *digits = 1;
    for (int i = 0; i < GF_PICTURE_FACT_COUNT; i++) {
        if (strlen(names[i]) != name || strncmp(at + 1, names[i], name))
            continue;
        if (at[1 + name] == '}')
            return i;
        if (i != GF_PICTURE_NUMBER || at[1 + name] != ':' ||
            !isdigit((unsigned char)at[2 + name]) || at[3 + name] != '}')
            return -1;
        *digits = at[2 + name] - '0';
        *length += 2;
        return i;
    }
    return -1;
}

static void write_fact(const struct gf_text_about *about, int fact, int digits,
                       char text[GF_PICTURE_FACT_SIZE])
{
    char number[GF_PICTURE_FACT_SIZE] = "";
    *text = '\0';
    if (fact == GF_PICTURE_WIDTH || fact == GF_PICTURE_HEIGHT)
        snprintf(text, GF_PICTURE_FACT_SIZE, "%d",
                 fact == GF_PICTURE_WIDTH ? about->width : about->height);
    else if (about->facts)
        about->facts->tell(about->facts->context, (enum gf_picture_fact)fact, number);
    if (fact == GF_PICTURE_NUMBER)
        snprintf(text, GF_PICTURE_FACT_SIZE, "%*s", digits, number);
    else if (*number)
        strcpy(text, number);
    for (char *at = text; fact == GF_PICTURE_NUMBER && *at == ' '; at++)
        *at = '0';
}

static enum gf_status unknown_field(const char *at, struct gf_error *error)
{
    char list[200] = "";
    for (int i = 0; i < GF_PICTURE_FACT_COUNT; i++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s{%s}", i ? ", " : "", names[i]);
    }
    const int length = (int)strcspn(at, "}");
    return gf_fail(error, GF_ERROR_USAGE, "'%.*s' is none of %s; a brace itself is {{",
                   length < 40 ? length + (at[length] == '}') : 40, at, list);
}

enum gf_status gf_text_fill(const char *from, const struct gf_text_about *about, char *to,
                            size_t size, struct gf_error *error)
{
    char fact[GF_PICTURE_FACT_SIZE];
    size_t used = 0;
    while (*from) {
        size_t length = 1;
        const char *put = from;
        size_t put_length = 1;
        if ((*from == '{' || *from == '}') && from[1] == *from) {
            length = 2;
        } else if (*from == '{') {
            int digits;
            const int found = find_fact(from, &length, &digits);
            if (found < 0)
                return unknown_field(from, error);
            write_fact(about, found, digits, fact);
            put = fact;
            put_length = strlen(fact);
        }
        if (used + put_length >= size)
            return gf_fail(error, GF_ERROR_USAGE, "with its fields the text is too long");
        memcpy(to + used, put, put_length);
        used += put_length;
        from += length;
    }
    to[used] = '\0';
    return GF_OK;
}

/* Draws texts. The pictures of all texts are kept under the name of the font's file, so that all
 * chains of a batch share them. */

#ifdef GF_LIBRARY_freetype
/* Whether the text has a field such as {stem}. */
static bool text_has_field(const char *text)
{
    size_t length;
    int digits;
    while ((text = strchr(text, '{')) && find_fact(text, &length, &digits) < 0)
        text++;
    return text;
}

/* A picture is kept under a text, `how`, that says all about how it was drawn. */

enum { HOW_SIZE = 200 + GF_TEXT_FACES_MAX * (GF_TEXT_PATH_SIZE + 16) };

/* What a text `how` says: the style, the fonts after the first one, and the text that is drawn. */
struct how {
    struct gf_text_style style;
    int local;   /* whether a font is one of this machine whose file the chain does not name */
    int further; /* the number of fonts after the first one */
    /* fonts: a line for each font, with its index in the file and the file's path. */
    const char *fonts, *text;
};

static void write_how(const struct gf_text_style *s, const struct gf_text_fonts *fonts,
                      const char *text, char *how)
{
    char *at = how;
    at += sprintf(at, "%.17g %.17g %.17g %.17g %.17g %d %d %d %d %d %d %d %d %d %d %d\n", s->size,
                  s->spacing, s->outline, s->angle, s->soft, s->distance, s->shadow, s->face,
                  s->align, s->padding, s->colour, s->edge, s->background, s->filled,
                  fonts->count > 0, fonts->count > 1 ? fonts->count - 1 : 0);
    for (int i = 1; i < fonts->count; i++)
        at += sprintf(at, "%d %s\n", fonts->font[i].face, fonts->font[i].path);
    strcpy(at, text);
}

static struct how read_how(const char *text)
{
    struct how how = {.further = 0};
    struct gf_text_style *const s = &how.style;
    sscanf(text, "%lf %lf %lf %lf %lf %d %d %d %d %d %d %d %d %d %d %d", &s->size, &s->spacing,
           &s->outline, &s->angle, &s->soft, &s->distance, &s->shadow, &s->face, &s->align,
           &s->padding, &s->colour, &s->edge, &s->background, &s->filled, &how.local, &how.further);
    how.fonts = how.text = strchr(text, '\n') + 1;
    for (int i = 0; i < how.further; i++)
        how.text = strchr(how.text, '\n') + 1;
    return how;
}

struct opened {
    FT_Library freetype;
    struct gf_text_faces faces;
    unsigned char *bytes[GF_TEXT_FACES_MAX]; /* the contents of the font's file, for each face */
};

static enum gf_status open_face(FT_Library freetype, const unsigned char *bytes, size_t size,
                                int index, double pixels, FT_Face *face, double *scale,
                                struct gf_error *error)
{
    const FT_Error failure =
        gf_text.FT_New_Memory_Face(freetype, bytes, (FT_Long)size, index, face);
    if (failure == FT_Err_Out_Of_Memory)
        return gf_fail_memory(error);
    if (failure)
        return gf_fail(error, GF_ERROR_USAGE,
                       index ? "it is not a font with a face of that number (FreeType: error "
                               "0x%02x)"
                             : "it is not a font that FreeType reads (error 0x%02x)",
                       (unsigned)failure);
    *scale = 0;
    if (gf_text_has_pictures(*face))
        return gf_text_choose_pictures(*face, pixels, scale, error);
    if (!FT_IS_SCALABLE(*face))
        return gf_fail(error, GF_ERROR_USAGE, "the font has pictures in place of outlines");
    if (gf_text.FT_Set_Char_Size(*face, 0, (FT_F26Dot6)(pixels * 64 + 0.5), 72, 72))
        return gf_fail(error, GF_ERROR_USAGE, "the font has no letters of that size");
    return GF_OK;
}

/* Opens font number `index` of a file whose bytes are given; `opened` then owns the bytes. */
static enum gf_status add_face(struct opened *opened, unsigned char *bytes, size_t size, int index,
                               const struct gf_text_style *style, struct gf_error *error)
{
    struct gf_text_faces *const faces = &opened->faces;
    opened->bytes[faces->count] = bytes;
    const enum gf_status status =
        open_face(opened->freetype, bytes, size, index, style->size, &faces->face[faces->count],
                  &faces->scale[faces->count], error);
    faces->count++;
    return status;
}

static enum gf_status add_further(struct opened *opened, const struct how *how,
                                  struct gf_error *error)
{
    const char *line = how->fonts;
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < how->further; i++, line = strchr(line, '\n') + 1) {
        unsigned char *bytes = NULL;
        char path[GF_TEXT_PATH_SIZE];
        size_t size = 0;
        int index = 0;
        sscanf(line, "%d %1023[^\n]", &index, path);
        const int fd = gf_named_file_open(path, O_NONBLOCK);
        if (fd < 0)
            return gf_fail(error, gf_status_of_name(GF_ERROR_USAGE, GF_ERROR_READ), "%.200s: %s",
                           path, strerror(errno));
        status = gf_named_file_read(fd, GF_TEXT_FONT_MAX, GF_ERROR_USAGE, &bytes, &size, error);
        close(fd);
        GF_THEN(status, add_face(opened, bytes, size, index, &how->style, error));
    }
    return status;
}

static void close_fonts(struct opened *opened)
{
    for (int i = 0; i < opened->faces.count; i++) {
        if (opened->faces.face[i])
            gf_text.FT_Done_Face(opened->faces.face[i]);
        free(opened->bytes[i]);
    }
    gf_text.FT_Done_FreeType(opened->freetype);
}

/* Draws the text in the font of the bytes, which are the contents of a file. The function frees
 * them. */
static enum gf_status draw(unsigned char *bytes, size_t size, const struct how *how,
                           struct gf_image *image, struct gf_error *error)
{
    struct gf_text_lines lines = {0};
    struct opened opened = {.faces.local = how->local};
    if (gf_text.FT_Init_FreeType(&opened.freetype)) {
        free(bytes);
        return gf_fail_memory(error);
    }
    enum gf_status status = add_face(&opened, bytes, size, how->style.face, &how->style, error);
    GF_THEN(status, add_further(&opened, how, error));
    GF_THEN(status, gf_text_shape(&opened.faces, how->text, &lines, error));
    GF_THEN(status,
            gf_text_draw(opened.freetype, &opened.faces, &lines, &how->style, image, error));
    gf_text_lines_free(&lines);
    close_fonts(&opened);
    return status;
}

/* Notes for how long the picture is of use, and a warning if its text has an unreplaced field. */
static void note(struct gf_picture *picture, const struct how *how)
{
    picture->brief = how->style.filled;
    picture->local = how->local;
    if (!how->style.filled && text_has_field(how->text))
        picture->notes = strdup("text: its braces are drawn as they stand; fields=yes replaces "
                                "{stem} and the like");
}

static enum gf_status read_text(int fd, const char *path, const char *how_text, void **value,
                                struct gf_error *error)
{
    const struct how how = read_how(how_text);
    struct gf_image image = {.data = NULL};
    struct gf_picture *picture = NULL;
    struct gf_error detail = {0};
    unsigned char *font = NULL;
    size_t size = 0;
    enum gf_status status =
        fd >= 0 ? gf_named_file_read(fd, GF_TEXT_FONT_MAX, GF_ERROR_USAGE, &font, &size, &detail)
                : gf_text_font_make(&font, &size, &detail);
    GF_THEN(status, draw(font, size, &how, &image, &detail));
    if (status && (!*path || how.local))
        return gf_fail(error, status, "%s", detail.text);
    if (status)
        return gf_fail(error, status, "%.200s: %s", path, detail.text);
    status = gf_picture_new(&image, &picture, error);
    if (status)
        gf_image_free(&image);
    else
        note(picture, &how);
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
    struct gf_text_fonts fonts = {.count = 0};
    struct gf_text_style own = *style;
    if (!status && (gf_text_names_font(font) || (!*font && gf_text_beyond_ascii(text)))) {
        status = gf_text_fonts_find(font, text, &fonts, error);
        font = fonts.font[0].path;
        own.face = fonts.font[0].face;
    }
    char *const how = status ? NULL : malloc(HOW_SIZE + strlen(text) + 1);
    GF_THEN(status, how ? GF_OK : gf_fail_memory(error));
    if (!status) {
        write_how(&own, &fonts, text, how);
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

const char *gf_text_font_used(int index)
{
    (void)index;
    return NULL;
}
#endif
