/* Reads values of parameters, and among them colours, from text. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text/plain_text.h"
#include "chain/foreign.h"
#include "chain/params.h"

/* The named colours of CSS Color Module Level 4, 6.1. The basic names stand first: if a colour has
 * two names, the program writes the first. */
static const struct {
    const char *name;
    unsigned number;
} names[] = {
    {"white", 0xffffff},
    {"black", 0x000000},
    {"gray", 0x808080},
    {"silver", 0xc0c0c0},
    {"red", 0xff0000},
    {"lime", 0x00ff00},
    {"blue", 0x0000ff},
    {"yellow", 0xffff00},
    {"aqua", 0x00ffff},
    {"fuchsia", 0xff00ff},
    {"maroon", 0x800000},
    {"green", 0x008000},
    {"navy", 0x000080},
    {"olive", 0x808000},
    {"purple", 0x800080},
    {"teal", 0x008080},
    {"orange", 0xffa500},
    {"aliceblue", 0xf0f8ff},
    {"antiquewhite", 0xfaebd7},
    {"aquamarine", 0x7fffd4},
    {"azure", 0xf0ffff},
    {"beige", 0xf5f5dc},
    {"bisque", 0xffe4c4},
    {"blanchedalmond", 0xffebcd},
    {"blueviolet", 0x8a2be2},
    {"brown", 0xa52a2a},
    {"burlywood", 0xdeb887},
    {"cadetblue", 0x5f9ea0},
    {"chartreuse", 0x7fff00},
    {"chocolate", 0xd2691e},
    {"coral", 0xff7f50},
    {"cornflowerblue", 0x6495ed},
    {"cornsilk", 0xfff8dc},
    {"crimson", 0xdc143c},
    {"cyan", 0x00ffff},
    {"darkblue", 0x00008b},
    {"darkcyan", 0x008b8b},
    {"darkgoldenrod", 0xb8860b},
    {"darkgray", 0xa9a9a9},
    {"darkgreen", 0x006400},
    {"darkgrey", 0xa9a9a9},
    {"darkkhaki", 0xbdb76b},
    {"darkmagenta", 0x8b008b},
    {"darkolivegreen", 0x556b2f},
    {"darkorange", 0xff8c00},
    {"darkorchid", 0x9932cc},
    {"darkred", 0x8b0000},
    {"darksalmon", 0xe9967a},
    {"darkseagreen", 0x8fbc8f},
    {"darkslateblue", 0x483d8b},
    {"darkslategray", 0x2f4f4f},
    {"darkslategrey", 0x2f4f4f},
    {"darkturquoise", 0x00ced1},
    {"darkviolet", 0x9400d3},
    {"deeppink", 0xff1493},
    {"deepskyblue", 0x00bfff},
    {"dimgray", 0x696969},
    {"dimgrey", 0x696969},
    {"dodgerblue", 0x1e90ff},
    {"firebrick", 0xb22222},
    {"floralwhite", 0xfffaf0},
    {"forestgreen", 0x228b22},
    {"gainsboro", 0xdcdcdc},
    {"ghostwhite", 0xf8f8ff},
    {"gold", 0xffd700},
    {"goldenrod", 0xdaa520},
    {"greenyellow", 0xadff2f},
    {"grey", 0x808080},
    {"honeydew", 0xf0fff0},
    {"hotpink", 0xff69b4},
    {"indianred", 0xcd5c5c},
    {"indigo", 0x4b0082},
    {"ivory", 0xfffff0},
    {"khaki", 0xf0e68c},
    {"lavender", 0xe6e6fa},
    {"lavenderblush", 0xfff0f5},
    {"lawngreen", 0x7cfc00},
    {"lemonchiffon", 0xfffacd},
    {"lightblue", 0xadd8e6},
    {"lightcoral", 0xf08080},
    {"lightcyan", 0xe0ffff},
    {"lightgoldenrodyellow", 0xfafad2},
    {"lightgray", 0xd3d3d3},
    {"lightgreen", 0x90ee90},
    {"lightgrey", 0xd3d3d3},
    {"lightpink", 0xffb6c1},
    {"lightsalmon", 0xffa07a},
    {"lightseagreen", 0x20b2aa},
    {"lightskyblue", 0x87cefa},
    {"lightslategray", 0x778899},
    {"lightslategrey", 0x778899},
    {"lightsteelblue", 0xb0c4de},
    {"lightyellow", 0xffffe0},
    {"limegreen", 0x32cd32},
    {"linen", 0xfaf0e6},
    {"magenta", 0xff00ff},
    {"mediumaquamarine", 0x66cdaa},
    {"mediumblue", 0x0000cd},
    {"mediumorchid", 0xba55d3},
    {"mediumpurple", 0x9370db},
    {"mediumseagreen", 0x3cb371},
    {"mediumslateblue", 0x7b68ee},
    {"mediumspringgreen", 0x00fa9a},
    {"mediumturquoise", 0x48d1cc},
    {"mediumvioletred", 0xc71585},
    {"midnightblue", 0x191970},
    {"mintcream", 0xf5fffa},
    {"mistyrose", 0xffe4e1},
    {"moccasin", 0xffe4b5},
    {"navajowhite", 0xffdead},
    {"oldlace", 0xfdf5e6},
    {"olivedrab", 0x6b8e23},
    {"orangered", 0xff4500},
    {"orchid", 0xda70d6},
    {"palegoldenrod", 0xeee8aa},
    {"palegreen", 0x98fb98},
    {"paleturquoise", 0xafeeee},
    {"palevioletred", 0xdb7093},
    {"papayawhip", 0xffefd5},
    {"peachpuff", 0xffdab9},
    {"peru", 0xcd853f},
    {"pink", 0xffc0cb},
    {"plum", 0xdda0dd},
    {"powderblue", 0xb0e0e6},
    {"rebeccapurple", 0x663399},
    {"rosybrown", 0xbc8f8f},
    {"royalblue", 0x4169e1},
    {"saddlebrown", 0x8b4513},
    {"salmon", 0xfa8072},
    {"sandybrown", 0xf4a460},
    {"seagreen", 0x2e8b57},
    {"seashell", 0xfff5ee},
    {"sienna", 0xa0522d},
    {"skyblue", 0x87ceeb},
    {"slateblue", 0x6a5acd},
    {"slategray", 0x708090},
    {"slategrey", 0x708090},
    {"snow", 0xfffafa},
    {"springgreen", 0x00ff7f},
    {"steelblue", 0x4682b4},
    {"tan", 0xd2b48c},
    {"thistle", 0xd8bfd8},
    {"tomato", 0xff6347},
    {"turquoise", 0x40e0d0},
    {"violet", 0xee82ee},
    {"wheat", 0xf5deb3},
    {"whitesmoke", 0xf5f5f5},
    {"yellowgreen", 0x9acd32},
};
enum { NAMES = sizeof names / sizeof *names };

/* Returns the colour whose number is 0xRRGGBB. */
static struct gf_colour colour_of_number(unsigned number)
{
    return (struct gf_colour){
        {(number >> 16) / 255.0, (number >> 8 & 255) / 255.0, (number & 255) / 255.0}, 0};
}

/* Reads a colour: a name of CSS, "#rgb", "#rrggbb", FFmpeg's "0xrrggbb" or "#rrrrggggbbbb". Returns
 * false if the text is none of them. */
static bool colour_parse(const char *text, struct gf_colour *colour)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    for (int i = 0; i < NAMES; i++) {
        if (!strcasecmp(text, names[i].name)) {
            *colour = colour_of_number(names[i].number);
            return true;
        }
    }
    const bool is_ffmpeg = !strncasecmp(text, "0x", 2);
    text += is_ffmpeg;
    const size_t length = is_ffmpeg || *text == '#' ? strspn(text + 1, digits) : 0;
    if ((length != 3 && length != 6 && length != 12) || text[1 + length])
        return false;
    *colour = (struct gf_colour){.word = 0};
    for (size_t c = 0; c < 3; c++) {
        unsigned value = 0, most = 0;
        for (size_t i = 0; i < length / 3; i++) {
            const size_t digit = (size_t)(strchr(digits, text[1 + c * length / 3 + i]) - digits);
            value = value * 16 + (unsigned)(digit < 16 ? digit : digit - 6);
            most = most * 16 + 15;
        }
        colour->part[c] = (double)value / most;
    }
    return true;
}

void gf_colour_text(unsigned number, char *text, size_t size)
{
    snprintf(text, size, "#%06x", number);
    for (int i = NAMES; i-- > 0;) {
        if (names[i].number == number)
            snprintf(text, size, "%s", names[i].name);
    }
}

static void describe_choices(const char *const *choices, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; choices[i] && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s", i ? ", " : "", choices[i]);
}

static enum gf_status unknown_choice(const struct gf_filter *filter, const struct gf_param *param,
                                     const char *text, const char *more, struct gf_error *error)
{
    char choices[240];
    describe_choices(param->choices, choices, sizeof choices);
    return gf_fail(error, GF_ERROR_USAGE, "%s: %s=%.60s is none of %s%s", filter->name, param->name,
                   text, choices, more);
}

/* Returns this program's word for a word of other programs ("center" is "centre"), or `text`
 * itself. */
static const char *usual_word(const char *text)
{
    static const char *const words[][2] = {
        {"center", "centre"},
        {"middle", "centre"},
        {"grey", "gray"},
        {"top", "north"},
        {"bottom", "south"},
        {"left", "west"},
        {"right", "east"},
        {"topleft", "northwest"},
        {"topright", "northeast"},
        {"bottomleft", "southwest"},
        {"bottomright", "southeast"},
        {"lanczos", "lanczos3"},
        {"bicubic", "cubic"},
        {"bilinear", "linear"},
        {"neighbor", "nearest"},
        {"neighbour", "nearest"},
        {"box", "area"},
        {"catrom", "cubic"},
        {"triangle", "linear"},
        {"inter_area", "area"},
        {"inter_cubic", "cubic"},
        {"inter_linear", "linear"},
        {"inter_nearest", "nearest"},
        {"inter_lanczos4", "lanczos3"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (gf_suggest_same(text, words[i][0]))
            return words[i][1];
    }
    return text;
}

/* Returns the index of the text among the choices; -1 if it is none of them. */
static int find_choice(const char *const *choices, const char *text)
{
    const char *const usual = usual_word(text);
    for (int pass = 0; choices && pass < 2; pass++) {
        for (int i = 0; choices[i]; i++) {
            if (gf_suggest_same(pass ? usual : text, choices[i]))
                return i;
        }
    }
    return -1;
}

static enum gf_status set_choice(const struct gf_filter *filter, const struct gf_param *param,
                                 const char *text, int *value, struct gf_error *error)
{
    const int found = find_choice(param->choices, text);
    struct gf_colour colour;
    if (found < 0)
        return unknown_choice(
            filter, param, text,
            colour_parse(text, &colour) ? "; a colour has its name: colour=white" : "", error);
    *value = found;
    return GF_OK;
}

/* Fails for a number beyond its range. The message has the number's unit, as the parameter's help
 * says it, and for a part of the full scale, or of 1, how the number is written. */
static enum gf_status outside(const struct gf_filter *filter, const struct gf_param *param,
                              const char *text, struct gf_error *error)
{
    text += *text == '+';
    const bool is_whole = strspn(text, "0123456789") == strlen(text);
    const bool is_part = param->greatest == 1 && param->least >= -1;
    const bool is_level = strstr(param->help, "part of the full scale");
    const double value = strtod(text, NULL);
    enum { UNIT_MOST = 70 }; /* a longer help says more than the unit */
    struct gf_error line;
    (void)gf_fail(&line, GF_ERROR_USAGE, "%s: %s=%.60s is outside %g..%g", filter->name,
                  param->name, text, param->least, param->greatest);
    if (is_whole && is_level && value <= 255)
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s, a part of the full scale: %s of 255 is %s/255%s%s%s", line.text, text,
                       text, is_part && value <= 100 ? ", per cent " : "",
                       is_part && value <= 100 ? text : "", is_part && value <= 100 ? "%" : "");
    if (is_whole && is_part && value <= 255)
        return gf_fail(error, GF_ERROR_USAGE, "%s; did you mean '%.60s%s'?", line.text, text,
                       value > 100 ? "/255" : "%");
    size_t length = strcspn(param->help, ";");
    if (length > UNIT_MOST)
        length = strcspn(param->help, ":");
    return length > UNIT_MOST
               ? gf_fail(error, GF_ERROR_USAGE, "%s", line.text)
               : gf_fail(error, GF_ERROR_USAGE, "%s (%.*s)", line.text, (int)length, param->help);
}

static enum gf_status not_a(const struct gf_filter *filter, const struct gf_param *param,
                            const char *text, const char *what, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_USAGE, "%s: %s=%.60s is not %s", filter->name, param->name, text,
                   what);
}

static enum gf_status set_length(const struct gf_filter *filter, const struct gf_param *param,
                                 const char *text, struct gf_length *length, struct gf_error *error)
{
    const char *end;
    char meaning[100];
    if (gf_geometry_meaning(filter, text, meaning, sizeof meaning)) {
        const char *const fit = strstr(meaning, ":fit=inside");
        const bool inside = fit && !fit[strlen(":fit=inside")];
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: %s=%.60s: each number is a parameter of its own%s%.*s; did you mean "
                       "'%s'?",
                       filter->name, param->name, text, inside ? "; exactly this size is " : "",
                       inside ? (int)(fit - meaning) : 0, meaning, meaning);
    }
    length->unit = GF_UNSET;
    if (param->least > 0 && (!strcmp(text, "-1") || !strcmp(text, "-2")))
        return GF_OK; /* -1 and -2 are FFmpeg's words for a side whose length follows from the other
                       */
    if (!gf_value_number(text, &length->value, &end) ||
        (*end && strcmp(end, "%") && strcmp(end, "px")))
        return not_a(filter, param, text, "a length (pixels, or per cent as in 50%)", error);
    length->unit = *end == '%' ? GF_PERCENT : GF_PIXELS;
    if (length->unit == GF_PIXELS && length->value != floor(length->value))
        return not_a(filter, param, text,
                     length->value > 0 && length->value < 1
                         ? "a whole number of pixels; a part is per cent, as 50%"
                         : "a whole number of pixels",
                     error);
    if (length->value < param->least || length->value > param->greatest)
        return outside(filter, param, text, error);
    return GF_OK;
}

/* Reads a matrix. '/' or '|' separates rows, spaces separate numbers. */
static enum gf_status read_matrix(const struct gf_filter *filter, const struct gf_param *param,
                                  const char *text, struct gf_matrix *matrix,
                                  struct gf_error *error)
{
    *matrix = (struct gf_matrix){0};
    int column = 0;
    for (const char *at = text;;) {
        at += strspn(at, " \t\n");
        if (*at == '/' || *at == '|' || !*at) {
            if (!column || (matrix->height && column != matrix->width))
                return not_a(filter, param, text, "a matrix with rows of one length", error);
            matrix->width = column;
            matrix->height++;
            column = 0;
            if (!*at++)
                break;
            continue;
        }
        double value;
        if (matrix->height >= GF_MATRIX_SIDE_MAX || column >= GF_MATRIX_SIDE_MAX)
            return gf_fail(error, GF_ERROR_USAGE, "%s: %s is larger than %dx%d", filter->name,
                           param->name, GF_MATRIX_SIDE_MAX, GF_MATRIX_SIDE_MAX);
        if (!gf_value_number(at, &value, &at) || !strchr(" \t\n/|", *at) || !isfinite((float)value))
            return not_a(filter, param, text, "a matrix such as 0 1 0/1 -4 1/0 1 0", error);
        if (param->least < param->greatest && (value < param->least || value > param->greatest))
            return gf_fail(error, GF_ERROR_USAGE, "%s: %s has %g, which is outside %g..%g",
                           filter->name, param->name, value, param->least, param->greatest);
        /* The matrix's width is known only after the first row, whose values are stored from index
         * 0 on. */
        matrix->value[(matrix->height ? matrix->height * matrix->width : 0) + column++] =
            (float)value;
        if (matrix->height && column > matrix->width)
            return not_a(filter, param, text, "a matrix with rows of one length", error);
    }
    return GF_OK;
}

static enum gf_status set_matrix(const struct gf_filter *filter, const struct gf_param *param,
                                 const char *text, struct gf_matrix *matrix, struct gf_error *error)
{
    for (int i = 0; param->choices && param->choices[i]; i++) {
        if (!strcmp(text, param->choices[i]))
            return read_matrix(filter, param, param->matrices[i], matrix, error);
    }
    if (param->choices && !strpbrk(text, "0123456789"))
        return unknown_choice(filter, param, text, " or a matrix", error);
    return read_matrix(filter, param, text, matrix, error);
}

static enum gf_status set_colour(const struct gf_filter *filter, const struct gf_param *param,
                                 const char *text, struct gf_colour *colour, struct gf_error *error)
{
    const int found = find_choice(param->choices, text);
    if (found >= 0) {
        *colour = (struct gf_colour){.word = found + 1};
        return GF_OK;
    }
    return colour_parse(text, colour)
               ? GF_OK
               : not_a(filter, param, text, "a colour such as white or #ff8800", error);
}

/* Reads a number, also as a fraction (16/9), and in per cent (50%) if the parameter's range shows
 * that it is a part of 1. */
static bool read_number(const struct gf_param *param, const char *text, double *value)
{
    const bool is_part = param->type != GF_TYPE_INT && param->least >= -1 && param->greatest <= 1;
    double below;
    const char *end;
    if (!gf_value_number(text, value, &end))
        return false;
    if (is_part && !strcmp(end, "%"))
        *value /= 100;
    else if (param->type != GF_TYPE_INT && *end == '/' && gf_value_whole_number(end + 1, &below) &&
             below > 0)
        *value /= below;
    else
        return !*end;
    return true;
}

/* Reads ImageMagick's RADIUSxSIGMA for a parameter named sigma, as in 0x8, where a radius of 0
 * means one that suits the sigma: returns the text of SIGMA. Returns any other text itself. */
static const char *skip_radius(const struct gf_param *param, const char *text)
{
    return !strcmp(param->name, "sigma") && !strncmp(text, "0x", 2) ? text + 2 : text;
}

static enum gf_status set_number(const struct gf_filter *filter, const struct gf_param *param,
                                 const char *text, double *value, struct gf_error *error)
{
    if (!read_number(param, skip_radius(param, text), value))
        return not_a(filter, param, text, "a number", error);
    return *value < param->least || *value > param->greatest ? outside(filter, param, text, error)
                                                             : GF_OK;
}

/* Reads a number, or one of the parameter's words. */
static enum gf_status set_word(const struct gf_filter *filter, const struct gf_param *param,
                               const char *text, double *value, struct gf_error *error)
{
    const int word = find_choice(param->choices, text);
    if (word < 0 && isalpha((unsigned char)*text))
        return unknown_choice(filter, param, text, " or a number", error);
    if (word < 0)
        return set_number(filter, param, text, value, error);
    *value = word ? param->greatest + word : NAN;
    return GF_OK;
}

static enum gf_status set_words(const struct gf_filter *filter, const struct gf_param *param,
                                const char *text, const char *what, char *value,
                                struct gf_error *error)
{
    if (!*text)
        return not_a(filter, param, text, what, error);
    if (strlen(text) >= GF_FILE_NAME_SIZE)
        return gf_fail(error, GF_ERROR_USAGE, "%s: %s=%.60s... is not %s: it is too long",
                       filter->name, param->name, text, what);
    strcpy(value, text);
    return GF_OK;
}

const char *gf_param_meant(const struct gf_filter *filter, const char *text)
{
    const struct gf_param *param = gf_filter_params(filter);
    struct gf_colour colour;
    while (param->name &&
           !(param->type == GF_TYPE_CHOICE && find_choice(param->choices, text) >= 0) &&
           !(param->type == GF_TYPE_RELATIVE && text[1] &&
             strspn(text, "0123456789") == strlen(text)) &&
           !(param->type == GF_TYPE_COLOUR && colour_parse(text, &colour)))
        param++;
    return param->name;
}

/* Reads a number, or a percentage of the picture. */
static enum gf_status set_relative(const struct gf_filter *filter, const struct gf_param *param,
                                   const char *text, struct gf_length *length,
                                   struct gf_error *error)
{
    const char *end;
    length->unit = GF_PIXELS;
    if (!gf_value_number(text, &length->value, &end) || strcmp(end, "%") != 0)
        return set_number(filter, param, text, &length->value, error);
    length->unit = GF_PERCENT;
    if (!(length->value > 0 && length->value <= 1000))
        return gf_fail(error, GF_ERROR_USAGE, "%s: %s=%.60s is outside 0%%..1000%%", filter->name,
                       param->name, text);
    return GF_OK;
}

enum gf_status gf_param_set_value(const struct gf_filter *filter, const struct gf_param *param,
                                  const char *text, void *params, struct gf_error *error)
{
    void *const member = (char *)params + param->offset;
    double number;
    enum gf_status status;
    switch (param->type) {
    case GF_TYPE_CHOICE:
        return set_choice(filter, param, text, member, error);
    case GF_TYPE_LENGTH:
        return set_length(filter, param, text, member, error);
    case GF_TYPE_RELATIVE:
        return set_relative(filter, param, text, member, error);
    case GF_TYPE_MATRIX:
        return set_matrix(filter, param, text, member, error);
    case GF_TYPE_COLOUR:
        return set_colour(filter, param, text, member, error);
    case GF_TYPE_FILE:
        return set_words(filter, param, text, "a name of a file", member, error);
    case GF_TYPE_TEXT:
        return set_words(filter, param, text, "a text", member, error);
    case GF_TYPE_WORD:
        return set_word(filter, param, text, member, error);
    case GF_TYPE_FLOAT:
        return set_number(filter, param, text, member, error);
    case GF_TYPE_INT:
        if ((status = set_number(filter, param, text, &number, error)))
            return status;
        if (number != floor(number))
            return not_a(filter, param, text, "a whole number", error);
        *(int *)member = (int)number;
        return GF_OK;
    }
    return GF_OK;
}

/* Sets a colour member by member in memory that is all zero, since the parameters of equal stages
 * are compared as bytes, with those between members. */
static void set_default_colour(const struct gf_param *param, struct gf_colour *colour)
{
    const struct gf_colour usual = colour_of_number((unsigned)fmax(param->value, 0));
    colour->word = param->value < 0 ? -(int)param->value : 0;
    for (int c = 0; c < 3; c++)
        colour->part[c] = colour->word ? 0 : usual.part[c];
}

void gf_params_set_defaults(const struct gf_filter *filter, void *params)
{
    for (const struct gf_param *param = gf_filter_params(filter); param->name; param++) {
        void *const member = (char *)params + param->offset;
        if (param->type == GF_TYPE_FLOAT || param->type == GF_TYPE_WORD)
            *(double *)member = param->value;
        else if (param->type == GF_TYPE_INT || param->type == GF_TYPE_CHOICE)
            *(int *)member = (int)param->value;
        else if (param->type == GF_TYPE_RELATIVE)
            *(struct gf_length *)member = (struct gf_length){param->value, GF_PIXELS};
        else if (param->type == GF_TYPE_COLOUR)
            set_default_colour(param, member);
    }
}
