/* text: draws lines of text on the picture. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process/files.h"
#include "pixel/point/layer.h"
#include "pixel/point/point.h"
#include "text/text.h"

struct text {
    char text[GF_FILE_NAME_SIZE], font[GF_FILE_NAME_SIZE], file[GF_FILE_NAME_SIZE];
    double spacing, outline, opacity, soft, angle;
    struct gf_length size;
    struct gf_colour colour, edge, background, shadow;
    int distance, gravity, align, padding, face, fields;
    struct gf_length x, y;
    const struct gf_picture *picture;
};

/* The parameters of text for a picture of a known size. */
struct part {
    int gravity;
    struct gf_length x, y;
    double opacity, size;
    const struct text *drawn; /* the parameters of a text that depends on the picture, until load()
                                 has drawn it; NULL otherwise */
    struct gf_text_about about;
    bool owns; /* the part owns the picture, not the chain */
    const struct gf_picture *picture;
};

enum { SIZE_LEAST = 1, SIZE_MOST = 2000, SIZE_USUAL = 20 };

static const char *const none[] = {"none", NULL};

static int number_of(const struct gf_colour *colour)
{
    int number = 0;
    for (int c = 0; c < 3; c++)
        number = number << 8 | (int)lround(colour->part[c] * 255);
    return colour->word ? -1 : number;
}

/* Replaces "\n" and "\\" by the characters that they stand for, in place; a backslash before any
 * other character is kept. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        const bool escape = *at == '\\' && (at[1] == 'n' || at[1] == '\\');
        at += escape;
        *to++ = (char)(escape && *at == 'n' ? '\n' : *at);
    }
    *to = '\0';
}

/* Reads the text in a file, without line ends at its end. `text` has room for GF_TEXT_BYTES_MAX +
 * 2. */
static enum gf_status read_file(const char *name, char *text, struct gf_error *error)
{
    errno = 0;
    const int fd = gf_named_file_open(name, 0);
    FILE *const file = fd >= 0 ? fdopen(fd, "rb") : NULL;
    const size_t size = file ? fread(text, 1, GF_TEXT_BYTES_MAX + 1, file) : 0;
    const bool failed = !file || ferror(file);
    const int reason = errno;
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    errno = reason;
    if (failed)
        return gf_fail(error, gf_status_of_name(GF_ERROR_USAGE, GF_ERROR_READ), "%.200s: %s", name,
                       strerror(reason));
    if (size > GF_TEXT_BYTES_MAX)
        return gf_fail(error, GF_ERROR_USAGE, "%.200s: it is larger than %d KiB", name,
                       GF_TEXT_BYTES_MAX >> 10);
    size_t mark;
    struct gf_error detail;
    const enum gf_status status = gf_text_mark(text, size, GF_ERROR_USAGE, &mark, &detail);
    if (status)
        return gf_fail(error, status, "%.200s: %s", name, detail.text);
    if (memchr(text, 0, size))
        return gf_fail(error, GF_ERROR_USAGE, "%.200s: it holds NUL bytes, which no text does",
                       name);
    text[size] = '\0';
    memmove(text, text + mark, size + 1 - mark);
    for (size_t end = strlen(text); end && (text[end - 1] == '\n' || text[end - 1] == '\r');)
        text[--end] = '\0';
    return GF_OK;
}

static enum gf_status check(const void *params_, struct gf_error *error)
{
    const struct text *const text = params_;
    return *text->text && *text->file
               ? gf_fail(error, GF_ERROR_USAGE, "the text is given twice, by text and by file")
               : GF_OK;
}

/* Sets *found to the text to draw, which the caller frees. */
static enum gf_status find_text(const struct text *p, const struct gf_text_about *about,
                                char **found, struct gf_error *error)
{
    char *const text = malloc(2 * (GF_TEXT_BYTES_MAX + 2));
    char *const filled = text ? text + GF_TEXT_BYTES_MAX + 2 : NULL;
    enum gf_status status = text ? GF_OK : gf_fail_memory(error);
    *found = text;
    if (!status && *p->file) {
        status = read_file(p->file, text, error);
    } else if (!status) {
        strcpy(text, *p->text ? p->text : "text");
        unescape(text);
    }
    if (!status && p->fields)
        status = gf_text_fill(text, about, filled, GF_TEXT_BYTES_MAX + 2, error);
    if (!status && p->fields)
        memmove(text, filled, strlen(filled) + 1);
    return status;
}

/* Draws the text with letters of `size` pixels. Sets *picture to the drawing. */
static enum gf_status draw(const struct text *p, double size, const struct gf_text_about *about,
                           const struct gf_picture **picture, struct gf_error *error)
{
    const struct gf_text_style style = {
        .size = size,
        .spacing = p->spacing,
        .outline = p->outline,
        .angle = p->angle,
        .soft = p->soft,
        .distance = p->distance,
        .shadow = number_of(&p->shadow),
        .face = p->face,
        .align = p->align,
        .padding = p->padding,
        .colour = number_of(&p->colour),
        .edge = number_of(&p->edge),
        .background = number_of(&p->background),
        .filled = p->fields,
    };
    struct gf_error missing;
    enum gf_status status = gf_text_available(&missing);
    if (status) /* shape() reports the missing libraries; chains can be parsed without them */
        return status == GF_ERROR_UNAVAILABLE ? GF_OK : gf_fail(error, status, "%s", missing.text);
    char *text;
    status = find_text(p, about, &text, error);
    GF_THEN(status, gf_text_load(p->font, text, &style, picture, error));
    free(text);
    return status;
}

static enum gf_status load(void *params_, struct gf_error *error)
{
    struct text *const text = params_;
    const struct gf_length size = text->size;
    const struct gf_text_about nothing = {0};
    return draw(text, size.unit == GF_PERCENT ? SIZE_USUAL : size.value, &nothing, &text->picture,
                error);
}

static void unload(void *params_)
{
    gf_text_release(((const struct text *)params_)->picture);
}

static int drawn_pictures(const void *params_, const struct gf_picture **list)
{
    list[0] = ((const struct text *)params_)->picture;
    return list[0] ? 1 : 0;
}

static enum gf_status load_part(void *params_, struct gf_error *error)
{
    struct part *const part = params_;
    const struct text *const text = part->drawn;
    if (!text)
        return GF_OK;
    part->drawn = NULL;
    part->picture = NULL;
    part->owns = true;
    return draw(text, part->size, &part->about, &part->picture, error);
}

static void unload_part(void *params_)
{
    const struct part *const part = params_;
    if (part->owns)
        gf_text_release(part->picture);
}

static int pictures(const void *params_, const struct gf_picture **list)
{
    list[0] = ((const struct part *)params_)->picture;
    return list[0] ? 1 : 0;
}

static enum gf_status shape(const void *params_, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    const struct part *const part = params_;
    if (!part->picture)
        return gf_text_available(error);
    gf_point_layer_shape(part->picture, out);
    return GF_OK;
}

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct part *const part = stage->params;
    const struct gf_point_place place = {part->gravity, part->x, part->y};
    gf_point_overlay(builder, part->picture, NULL, place, GF_BLEND_NORMAL, part->opacity);
}

static const struct gf_filter text_part = {
    .name = "text",
    .params_size = sizeof(struct part),
    .kind = GF_POINT,
    .by_place = true,
    .takes_floats = true,
    .cost = {.pixel = 2.5},
    .load = load_part,
    .unload = unload_part,
    .pictures = pictures,
    .shape = shape,
    .point = point,
};

static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct text *const text = params_;
    struct part part;
    memset(&part, 0, sizeof part); /* padding is 0, too, so that equal parts have equal bytes */
    part.gravity = text->gravity;
    part.x = text->x;
    part.y = text->y;
    part.opacity = text->opacity;
    part.picture = text->picture;
    if (text->size.unit == GF_PERCENT || text->fields) {
        const double size = text->size.unit == GF_PERCENT ? text->size.value / 100 * extent->height
                                                          : text->size.value;
        part.drawn = text;
        part.size = fmin(fmax(size, SIZE_LEAST), SIZE_MOST);
    }
    if (text->fields) {
        part.about.facts = extent->facts;
        part.about.width = extent->width;
        part.about.height = extent->height;
    }
    gf_parts_add(parts, &text_part, &part, sizeof part);
}

static bool reads_facts(const void *params_)
{
    return ((const struct text *)params_)->fields;
}

const struct gf_filter gf_text_filter = {
    .name = "text",
    .synonyms = "drawtext annotate caption label title write subtitle font",
    .summary = "lines of text on the picture",
    .definition =
        "The text is drawn once, or once for each picture with fields=yes, by FreeType's "
        "outlines without hinting at parts of pixels, with the glyphs that HarfBuzz chooses "
        "(kerning, ligatures, joined letters), and laid over the picture as overlay does. A "
        "line that begins with a right-to-left script runs from right to left; the Unicode "
        "Bidirectional Algorithm orders mixed lines (UAX #9, without its control characters). A"
        " glyph that the font's file lacks is an error. Fonts of this machine, for a font by "
        "its name or for letters beyond ASCII, complete each other; the result then depends on "
        "the fonts that are installed, and --verbose names those that were used. Emoji have "
        "their colours where a font of pictures has them (CBDT, sbix, such as Noto Color Emoji; "
        "COLR tables are not read): by default beyond U+1F000, elsewhere before U+FE0F; colour "
        "and outline do not change them. A field that "
        "is not known, such as the date of a picture without EXIF, is empty, with one warning "
        "in a run. The result is the same on every device, but may differ between versions of "
        "the libraries.",
    .example = "text=harbour at dusk:size=10:gravity=south:background=#10203a",
    GF_TAKES(
        struct text,
        GF_PARAM_TEXT(
            struct text, text,
            "UTF-8; \\n begins a line, \\\\ is a backslash. Quotes keep commas and colons: "
            "'a, b\\nc'; 12:30 and https://x.org need none; by default \"text\""),
        GF_PARAM_FILE(
            struct text, font, NULL,
            "a font's file (TrueType, OpenType, Type 1), or the name of a font of this machine, "
            "such as DejaVu Sans; by default a plain font for ASCII, and DejaVu Sans for "
            "other letters"),
        GF_PARAM_RELATIVE(
            struct text, size, SIZE_USUAL, SIZE_LEAST, SIZE_MOST,
            "size of the letters (of an em), in pixels; per cent are of the picture's "
            "height"),
        GF_PARAM_COLOUR(struct text, colour, 0xffffff, NULL, "colour of the letters"),
        GF_PARAM_GRAVITY(struct text, "where the text lies"),
        GF_PARAM_LENGTH(
            struct text, x, -1e6, 1e6,
            "distance from the side that gravity names; per cent are of the picture's width"),
        GF_PARAM_LENGTH(struct text, y, -1e6, 1e6,
                        "distance downwards or upwards; per cent are of the picture's height"),
        GF_PARAM(struct text, opacity, 1, 0, 1, "multiplies the alpha of the text"),
        GF_PARAM_COLOUR(struct text, background, -1, none, "colour of a box behind the text"),
        GF_PARAM_INT(struct text, padding, 0, 0, 1000, "pixels around the text, within its box"),
        GF_PARAM(struct text, outline, 0, 0, 100, "width of a line around the letters, in pixels"),
        GF_PARAM_COLOUR(struct text, edge, 0x000000, NULL, "colour of the outline"),
        GF_PARAM_COLOUR(struct text, shadow, -1, none, "colour of a shadow behind the letters"),
        GF_PARAM_INT(struct text, distance, 2, 0, 1000,
                     "pixels by which the shadow lies to the right and below"),
        GF_PARAM(struct text, soft, 1, 0, 50, "standard deviation of the shadow's blur, in pixels"),
        GF_PARAM(struct text, angle, 0, -1000, 1000,
                 "turns the text with its box by degrees clockwise"),
        GF_PARAM_CHOICE(struct text, align, GF_TEXT_LEFT, GF_WORDS("left", "centre", "right"),
                        "where shorter lines lie"),
        GF_PARAM(struct text, spacing, 1, 0.1, 10, "multiplies the font's distance of lines"),
        GF_PARAM_INT(struct text, face, 0, 0, 255, "which font of a collection (.ttc)"),
        GF_PARAM_FILE(struct text, file, NULL, "a file of UTF-8 whose lines are the text"),
        GF_PARAM_CHOICE(struct text, fields, 0, GF_WORDS("no", "yes"),
                        "yes replaces {stem}, {name}, {ext}, {n}, {n:4}, {date}, {time}, {camera}, "
                        "{lens}, {w} and {h} by what they are for each picture; {{ is a brace")),
    .kind = GF_POINT,
    .by_place = true,
    .takes_floats = true,
    .cost = {.pixel = 2.5},
    .check = check,
    .load = load,
    .unload = unload,
    .pictures = drawn_pictures,
    .expand = expand,
    .reads_facts = reads_facts,
};
