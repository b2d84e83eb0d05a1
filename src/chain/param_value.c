/* Reads the value of a parameter from text and checks it against the parameter's declaration. */
#include "chain/params.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/value.h"
#include "chain/foreign.h"

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

/* Returns the word by which the program names what other programs call `text`; or `text`. */
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
            gf_colour_parse(text, &colour) ? "; a colour has its name: colour=white" : "", error);
    *value = found;
    return GF_OK;
}

static enum gf_status outside(const struct gf_filter *filter, const struct gf_param *param,
                              const char *text, struct gf_error *error)
{
    const bool is_whole = strspn(text, "0123456789") == strlen(text);
    if (is_whole && param->greatest == 1 && param->least >= -1 && strtod(text, NULL) <= 255)
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: %s=%.60s is outside %g..%g; did you mean '%.60s%s'?", filter->name,
                       param->name, text, param->least, param->greatest, text,
                       strtod(text, NULL) > 100 ? "/255" : "%");
    return gf_fail(error, GF_ERROR_USAGE, "%s: %s=%.60s is outside %g..%g", filter->name,
                   param->name, text, param->least, param->greatest);
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
    if (gf_geometry_meaning(filter, text, meaning, sizeof meaning))
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: %s=%.60s: each number is a parameter of its own; did you mean '%s'?",
                       filter->name, param->name, text, meaning);
    length->unit = GF_UNSET;
    if (param->least > 0 && (!strcmp(text, "-1") || !strcmp(text, "-2")))
        return GF_OK; /* FFmpeg's word for a side that follows from the other */
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
        /* The matrix's width is known only after the first row; until then values are stored from
         * index 0 on. */
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
    return gf_colour_parse(text, colour)
               ? GF_OK
               : not_a(filter, param, text, "a colour such as white or #ff8800", error);
}

/* Reads a number, also as a fraction (16/9), and in per cent (50%) if the parameter is a part of
 * one. */
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

/* Returns the second number of ImageMagick's RADIUSxSIGMA, as in 0x8, if the parameter is a sigma;
 * else the text. ImageMagick finds a radius for the sigma where the radius is 0. */
static const char *skip_radius(const struct gf_param *param, const char *text)
{
    return !strcmp(param->name, "sigma") && !strncmp(text, "0x", 2) ? text + 2 : text;
}

static enum gf_status set_number(const struct gf_filter *filter, const struct gf_param *param,
                                 const char *text, double *value, struct gf_error *error)
{
    if (!read_number(param, skip_radius(param, text), value))
        return not_a(filter, param, text, "a number", error);
    if (*value < param->least || *value > param->greatest)
        return outside(filter, param, text, error);
    return GF_OK;
}

/* Reads a number or a word. */
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

/* Reads a number, or per cent of the picture. */
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

/* Sets a colour member by member, since equal parameters must have equal bytes, also between the
 * members. */
static void set_default_colour(const struct gf_param *param, struct gf_colour *colour)
{
    const struct gf_colour usual = gf_colour_of_number((unsigned)fmax(param->value, 0));
    colour->word = param->value < 0 ? -(int)param->value : 0;
    for (int c = 0; c < 3; c++)
        colour->part[c] = colour->word ? 0 : usual.part[c];
}

static void set_default_length(const struct gf_param *param, struct gf_length *length)
{
    length->value = param->value;
    length->unit = GF_PIXELS;
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
            set_default_length(param, member);
        else if (param->type == GF_TYPE_COLOUR)
            set_default_colour(param, member);
    }
}
