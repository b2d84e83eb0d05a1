/* Cuts a text into lines and these into runs of one direction, script and font, and converts the
 * runs to glyphs by HarfBuzz. */

#ifdef GF_LIBRARY_freetype
#include "text/text_shape.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "base/text/plain_text.h"

/* Finds the direction of each letter by rules P2, W4, W5, W7, N1, N2, I1, I2 and L1 of UAX #9, for
 * text without UAX #9's control characters. */

enum kind { LEFT, RIGHT, NUMBER, SEPARATOR, TERMINATOR, NEUTRAL };

static enum kind kind_of(uint32_t code, hb_script_t script)
{
    hb_unicode_funcs_t *const unicode = gf_text.hb_unicode_funcs_get_default();
    switch (gf_text.hb_unicode_general_category(unicode, code)) {
    case HB_UNICODE_GENERAL_CATEGORY_DECIMAL_NUMBER:
        return NUMBER;
    case HB_UNICODE_GENERAL_CATEGORY_LOWERCASE_LETTER:
    case HB_UNICODE_GENERAL_CATEGORY_UPPERCASE_LETTER:
    case HB_UNICODE_GENERAL_CATEGORY_TITLECASE_LETTER:
    case HB_UNICODE_GENERAL_CATEGORY_MODIFIER_LETTER:
    case HB_UNICODE_GENERAL_CATEGORY_OTHER_LETTER:
    case HB_UNICODE_GENERAL_CATEGORY_LETTER_NUMBER:
        return gf_text.hb_script_get_horizontal_direction(script) == HB_DIRECTION_RTL ? RIGHT
                                                                                      : LEFT;
    default:
        break;
    }
    if (code && code < 0x80 && strchr("+-,./:", (int)code))
        return SEPARATOR;
    if (code && code < 0x80 && strchr("#$%", (int)code))
        return TERMINATOR;
    return (code >= 0xa2 && code <= 0xa5) || code == 0x20ac ? TERMINATOR : NEUTRAL;
}

static bool is_mark(uint32_t code)
{
    switch (gf_text.hb_unicode_general_category(gf_text.hb_unicode_funcs_get_default(), code)) {
    case HB_UNICODE_GENERAL_CATEGORY_NON_SPACING_MARK:
    case HB_UNICODE_GENERAL_CATEGORY_ENCLOSING_MARK:
    case HB_UNICODE_GENERAL_CATEGORY_SPACING_MARK:
    case HB_UNICODE_GENERAL_CATEGORY_FORMAT:
        return true;
    default:
        return false;
    }
}

/* Sets the kind and script of each letter. A combining mark takes those of the letter before it. A
 * sign that all scripts share takes the script of the letter before it or, at the start of a line,
 * the script of the first letter. */
static void classify(struct gf_text_letter *letter, int count)
{
    hb_script_t script = HB_SCRIPT_COMMON;
    for (int i = 0; i < count; i++) {
        letter[i].script =
            gf_text.hb_unicode_script(gf_text.hb_unicode_funcs_get_default(), letter[i].code);
        letter[i].kind = i && is_mark(letter[i].code)
                             ? letter[i - 1].kind
                             : (unsigned char)kind_of(letter[i].code, letter[i].script);
        const bool own = letter[i].script != HB_SCRIPT_COMMON &&
                         letter[i].script != HB_SCRIPT_INHERITED &&
                         letter[i].script != HB_SCRIPT_UNKNOWN;
        if (own && script == HB_SCRIPT_COMMON) {
            for (int k = 0; k < i; k++)
                letter[k].script = letter[i].script;
        }
        script = own ? letter[i].script : script;
        letter[i].script = script;
    }
}

/* Applies rules W4, W5, W7: separators and terminators in and beside numbers become part of the
 * number, and a number after left-to-right letters takes their direction. */
static void join_numbers(struct gf_text_letter *letter, int count, enum kind base)
{
    for (int i = 1; i + 1 < count; i++) {
        if (letter[i].kind == SEPARATOR && letter[i - 1].kind == NUMBER &&
            letter[i + 1].kind == NUMBER)
            letter[i].kind = NUMBER;
    }
    for (int i = 1; i < count; i++) {
        if (letter[i].kind == TERMINATOR && letter[i - 1].kind == NUMBER)
            letter[i].kind = NUMBER;
        const int back = count - 1 - i;
        if (letter[back].kind == TERMINATOR && letter[back + 1].kind == NUMBER)
            letter[back].kind = NUMBER;
    }
    enum kind strong = base;
    for (int i = 0; i < count; i++) {
        if (letter[i].kind == LEFT || letter[i].kind == RIGHT)
            strong = letter[i].kind;
        else if (letter[i].kind == NUMBER && strong == LEFT)
            letter[i].kind = LEFT;
    }
}

/* Applies rules N1, N2: neutral characters between two characters of one direction take that
 * direction; other neutral characters take the direction of the line. */
static void resolve_neutrals(struct gf_text_letter *letter, int count, enum kind base)
{
    enum kind before = base;
    for (int i = 0; i < count;) {
        int end = i;
        while (end < count && letter[end].kind > NUMBER)
            end++;
        const enum kind after = end == count ? base : letter[end].kind == LEFT ? LEFT : RIGHT;
        for (; i < end; i++)
            letter[i].kind = (unsigned char)(before == after ? before : base);
        if (i < count) {
            before = letter[i].kind == LEFT ? LEFT : RIGHT;
            i++;
        }
    }
}

void gf_text_set_levels(struct gf_text_letter *letter, int count)
{
    enum kind base = NEUTRAL;
    classify(letter, count);
    for (int i = 0; base == NEUTRAL && i < count; i++)
        base = letter[i].kind <= RIGHT ? (enum kind)letter[i].kind : NEUTRAL;
    base = base == RIGHT ? RIGHT : LEFT;
    int blank = count; /* by rule L1, blanks at the end take the direction of the line */
    while (blank && (letter[blank - 1].code == ' ' || letter[blank - 1].code == '\t'))
        blank--;
    join_numbers(letter, count, base);
    resolve_neutrals(letter, count, base);
    for (int i = 0; i < count; i++) {
        const int kind = i < blank ? letter[i].kind : (int)base;
        letter[i].level = (unsigned char)(kind == RIGHT ? 1 : kind == LEFT && base == LEFT ? 0 : 2);
    }
}

/* What shaping a text needs besides its lines. */
struct shaping {
    const struct gf_text_faces *faces;
    hb_font_t *font[GF_TEXT_FACES_MAX];
    hb_buffer_t *buffer;
    struct gf_text_letter *letter;
    uint32_t *code;
    struct gf_text_lines *lines;
    size_t room; /* the number of glyphs that fit into the memory of lines->glyph */
};

/* Reads the code points of the first line of `text` into s->letter; *count becomes their number,
 * *bytes the length of the line in bytes. A tab becomes four blanks; a carriage return is left
 * out. */
static enum gf_status read_line(struct shaping *s, const char *text, int *count, size_t *bytes,
                                struct gf_error *error)
{
    *count = 0;
    size_t at = 0;
    while (text[at] && text[at] != '\n') {
        uint32_t code = 0;
        const int length = gf_utf8_read(text + at, text + at + strnlen(text + at, 4), &code);
        if (!length)
            return gf_fail(error, GF_ERROR_USAGE, "the text is not UTF-8: byte 0x%02x",
                           (unsigned char)text[at]);
        at += (size_t)length;
        const int times = code == '\t' ? 4 : code != '\r';
        for (int i = 0; i < times; i++)
            s->letter[(*count)++].code = code == '\t' ? ' ' : code;
    }
    *bytes = at;
    return GF_OK;
}

/* Whether the character has no shape of its own, as a combining mark, so that it takes the face of
 * the letter before it. */
static bool follows(uint32_t code)
{
    const hb_unicode_general_category_t kind =
        gf_text.hb_unicode_general_category(gf_text.hb_unicode_funcs_get_default(), code);
    return code == ' ' || kind == HB_UNICODE_GENERAL_CATEGORY_NON_SPACING_MARK ||
           kind == HB_UNICODE_GENERAL_CATEGORY_SPACING_MARK ||
           kind == HB_UNICODE_GENERAL_CATEGORY_ENCLOSING_MARK ||
           kind == HB_UNICODE_GENERAL_CATEGORY_FORMAT;
}

/* Returns the first face that has the letter, among those with pictures or among those with
 * outlines; the number of faces if none has it. */
static int first_face(const struct shaping *s, uint32_t code, bool pictures)
{
    int face = 0;
    while (face < s->faces->count && ((s->faces->scale[face] > 0) != pictures ||
                                      !gf_text.FT_Get_Char_Index(s->faces->face[face], code)))
        face++;
    return face;
}

/* Chooses a face for each letter: the first that has it and is of the kind that suits it (see
 * gf_text_is_picture()), else the first that has it, else face 0. A letter after a zero width
 * joiner takes the face of the letter before. */
static void choose_faces(const struct shaping *s, int count)
{
    for (int i = 0; i < count; i++) {
        struct gf_text_letter *const letter = &s->letter[i];
        const int before = i ? letter[-1].face : 0;
        int face = 0;
        const bool pictures = gf_text_is_picture(letter->code, i + 1 < count ? letter[1].code : 0,
                                                 s->faces->scale[0] > 0);
        const bool blank = letter->code == ' ' && s->faces->scale[before] > 0;
        const bool joined =
            (follows(letter->code) && !blank) || (i && letter[-1].code == GF_TEXT_JOINER);
        if (gf_text_is_sign(letter->code) ||
            (joined && gf_text.FT_Get_Char_Index(s->faces->face[before], letter->code)))
            face = before;
        else if ((face = first_face(s, letter->code, pictures)) == s->faces->count)
            face = first_face(s, letter->code, !pictures);
        letter->face = (unsigned char)(face < s->faces->count ? face : 0);
    }
}

static enum gf_status append_glyphs(struct shaping *s, int start, struct gf_error *error)
{
    unsigned count = 0;
    const hb_glyph_info_t *const info = gf_text.hb_buffer_get_glyph_infos(s->buffer, &count);
    const hb_glyph_position_t *const place =
        gf_text.hb_buffer_get_glyph_positions(s->buffer, &count);
    struct gf_text_lines *const lines = s->lines;
    if (count > (unsigned)(INT_MAX / 2 - lines->glyphs))
        return gf_fail(error, GF_ERROR_USAGE, "the text is too long");
    GF_ALLOCATED(GF_RESERVE(lines->glyph, s->room, lines->glyphs + (int)count), error);
    int64_t *const pen = &lines->width[lines->lines];
    const int face = s->letter[start].face;
    const double scale = s->faces->scale[face] > 0 ? s->faces->scale[face] : 1;
    for (unsigned i = 0; i < count; i++) {
        if (!info[i].codepoint)
            return gf_fail(error, GF_ERROR_USAGE,
                           s->faces->local ? "no font of this machine has a glyph for U+%04X"
                                           : "the font has no glyph for U+%04X",
                           s->letter[start + (int)info[i].cluster].code);
        lines->glyph[lines->glyphs++] =
            (struct gf_text_glyph){.index = info[i].codepoint,
                                   .x = *pen + llround(place[i].x_offset * scale),
                                   .y = llround(place[i].y_offset * scale),
                                   .line = lines->lines,
                                   .face = face};
        *pen += llround(place[i].x_advance * scale);
    }
    return GF_OK;
}

/* Converts a run, the letters start .. end - 1 of one level, script and face, to glyphs. */
static enum gf_status shape_run(struct shaping *s, int start, int end, struct gf_error *error)
{
    s->buffer = gf_text.hb_buffer_create();
    for (int i = start; i < end; i++)
        s->code[i - start] = s->letter[i].code;
    gf_text.hb_buffer_add_codepoints(s->buffer, s->code, end - start, 0, end - start);
    gf_text.hb_buffer_set_direction(s->buffer, s->letter[start].level % 2 ? HB_DIRECTION_RTL
                                                                          : HB_DIRECTION_LTR);
    gf_text.hb_buffer_set_script(s->buffer, s->letter[start].script);
    /* The buffer has no language, so that the picture does not depend on the locale. */
    gf_text.hb_shape(s->font[s->letter[start].face], s->buffer, NULL, 0);
    const enum gf_status status = gf_text.hb_buffer_allocation_successful(s->buffer)
                                      ? append_glyphs(s, start, error)
                                      : gf_fail_memory(error);
    gf_text.hb_buffer_destroy(s->buffer);
    return status;
}

struct run {
    int start, end, level;
};

/* Orders the runs of a line from left to right by rule L2: from the highest level down to 1,
 * adjacent runs of that level or above are reversed. */
static void reorder(struct run *run, int runs)
{
    for (int level = 2; level > 0; level--) {
        for (int i = 0; i < runs;) {
            int end = i;
            while (end < runs && run[end].level >= level)
                end++;
            for (int a = i, b = end - 1; a < b; a++, b--) {
                const struct run other = run[a];
                run[a] = run[b];
                run[b] = other;
            }
            i = end > i ? end : i + 1;
        }
    }
}

static enum gf_status shape_line(struct shaping *s, int count, struct gf_error *error)
{
    struct run *const run = malloc(((size_t)count + 1) * sizeof *run);
    GF_ALLOCATED(run, error);
    gf_text_set_levels(s->letter, count);
    choose_faces(s, count);
    int runs = 0;
    for (int i = 0; i < count; i++) {
        const struct gf_text_letter *const at = &s->letter[i];
        if (!i || at->level != at[-1].level || at->script != at[-1].script ||
            at->face != at[-1].face)
            run[runs++] = (struct run){.start = i, .level = at->level};
        run[runs - 1].end = i + 1;
    }
    reorder(run, runs);
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < runs; i++)
        status = shape_run(s, run[i].start, run[i].end, error);
    free(run);
    return status;
}

static enum gf_status shape_lines(struct shaping *s, const char *text, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (;; s->lines->lines++) {
        int count;
        size_t bytes = 0;
        status = read_line(s, text, &count, &bytes, error);
        GF_THEN(status, shape_line(s, count, error));
        text += bytes;
        if (status || !*text)
            break;
        text++;
    }
    s->lines->lines++;
    return status;
}

enum gf_status gf_text_shape(const struct gf_text_faces *faces, const char *text,
                             struct gf_text_lines *lines, struct gf_error *error)
{
    const size_t length = strlen(text);
    struct shaping s = {.letter = malloc((4 * length + 1) * sizeof *s.letter),
                        .code = malloc((4 * length + 1) * sizeof *s.code),
                        .faces = faces,
                        .lines = lines};
    *lines = (struct gf_text_lines){.width = calloc(length + 1, sizeof *lines->width)};
    enum gf_status status = s.letter && s.code && lines->width ? GF_OK : gf_fail_memory(error);
    if (!status) {
        for (int i = 0; i < faces->count; i++) {
            s.font[i] = gf_text.hb_ft_font_create(faces->face[i], NULL);
            gf_text.hb_ft_font_set_load_flags(
                s.font[i],
                FT_LOAD_NO_HINTING | (faces->scale[i] > 0 ? FT_LOAD_COLOR : FT_LOAD_NO_BITMAP));
        }
        status = shape_lines(&s, text, error);
        for (int i = 0; i < faces->count; i++)
            gf_text.hb_font_destroy(s.font[i]);
    }
    free(s.letter);
    free(s.code);
    return status;
}

void gf_text_lines_free(struct gf_text_lines *lines)
{
    free(lines->glyph);
    free(lines->width);
}
#endif
