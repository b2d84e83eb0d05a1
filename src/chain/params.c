/* Cuts the text of a chain into words, and parses the parameters of filters. */
#include "chain/params.h"
#include "chain/foreign.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text/plain_text.h"
#include "chain/chain.h"

static const char blanks[] = " \t\n";

static bool is_digit(char c)
{
    return isdigit((unsigned char)c);
}

/* Whether the colon or comma `at` belongs to the text around it, as in gf_token_next_text(). A
 * digit after a comma does, because no filter's name begins with one. */
static bool is_part_of_text(const char *begin, const char *at)
{
    if (at == begin)
        return false;
    if (is_digit(at[-1]) && is_digit(at[1])) {
        const bool is_time =
            is_digit(at[2]) && !isalnum((unsigned char)at[3]) && !(at[3] && strchr("./_-", at[3]));
        return *at == ',' || is_time;
    }
    if (at - begin >= 2 && !strncmp(at - 2, "{n:", 3) && is_digit(at[1]) && at[2] == '}')
        return true;
    return isalpha((unsigned char)at[-1]) && !strncmp(at, "://", 3);
}

static const char *next_token(const char *text, const char *stops, bool is_text, char *token)
{
    text += strspn(text, blanks);
    const char *const begin = text;
    const bool is_quoted = *text == '\'' || *text == '"';
    /* `kept` is the length without the blanks at the end that no quotes contain. */
    size_t length = 0, kept = 0;
    char quote = 0;
    for (; *text && (quote || !strchr(stops, *text) ||
                     (is_text && !is_quoted && is_part_of_text(begin, text)));
         text++) {
        if (quote && *text == quote) {
            quote = 0;
        } else if (is_quoted && !quote && (*text == '\'' || *text == '"')) {
            quote = *text;
        } else {
            const bool is_escaped = *text == '\\' && quote != '\'' && text[1];
            text += is_escaped;
            if (length + 1 >= GF_TOKEN_MAX)
                return NULL;
            token[length++] = *text;
            if (quote || is_escaped || !strchr(blanks, *text))
                kept = length;
        }
    }
    token[kept] = '\0';
    return quote ? NULL : text;
}

const char *gf_token_next(const char *text, const char *stops, char *token)
{
    return next_token(text, stops, false, token);
}

const char *gf_token_next_text(const char *text, char *token)
{
    return next_token(text, ":,", true, token);
}

/* Removes the blanks at both ends of the text, in place. */
static char *token_trim(char *text)
{
    text += strspn(text, blanks);
    for (char *end = text + strlen(text); end > text && strchr(blanks, end[-1]);)
        *--end = '\0';
    return text;
}

/* Reads parameters, "value:key=value". The first values may have no names; every value after a
 * named one needs a name, as in FFmpeg. */

/* The state while parameters are read. `given` has a bit for each parameter of the filter that has
 * been set, `given_region` one for each of gf_region_params. */
struct parser {
    const struct gf_filter *filter;
    void *params;
    struct gf_common_params *common;
    int position; /* the index of the parameter that the next value without a name sets */
    bool has_names;
    const struct gf_param *named; /* the last parameter that was named; or NULL */
    unsigned given, given_region;
};

static void add_name(char *names, size_t size, const char *name)
{
    const size_t length = strlen(names);
    snprintf(names + length, size - length, "%s%s", length ? ", " : "", name);
}

static enum gf_status set_variant(struct parser *parser, const char *text, struct gf_error *error)
{
    const struct gf_filter *const filter = parser->filter;
    const struct gf_variant *variant;
    char names[400] = "";
    if (parser->common->variant)
        return gf_fail(error, GF_ERROR_USAGE, "%s: variant is given twice", filter->name);
    for (int i = 0; (variant = gf_filter_variant_at(filter, i)); i++) {
        if (!strcmp(text, variant->name)) {
            parser->common->variant = variant;
            return GF_OK;
        }
        add_name(names, sizeof names, variant->name);
    }
    parser->common->variant = strcmp(text, "naive") ? NULL : gf_filter_naive(filter);
    return parser->common->variant
               ? GF_OK
               : gf_fail(error, GF_ERROR_USAGE, "%s: variant=%.60s is none of %s", filter->name,
                         text, names);
}

/* Whether the filter takes the parameters region and feather. */
static bool takes_region(const struct parser *parser)
{
    return parser->common && gf_filter_takes_region(parser->filter);
}

/* Returns the declaration of the parameter region or feather, if `name` is one of them; otherwise
 * NULL. */
static const struct gf_param *find_region_param(const char *name)
{
    const struct gf_param *param = gf_region_params;
    while (param->name && strcmp(param->name, name) != 0)
        param++;
    return param->name ? param : NULL;
}

/* Sets the value of a parameter. Blanks at its ends, which stood in quotes, are kept if it is a
 * file's name or a text. */
static enum gf_status set_value(const struct gf_filter *filter, const struct gf_param *param,
                                char *value, void *params, struct gf_error *error)
{
    const bool is_text = param->type == GF_TYPE_FILE || param->type == GF_TYPE_TEXT;
    return gf_param_set_value(filter, param, is_text ? value : token_trim(value), params, error);
}

static enum gf_status set_region(struct parser *parser, const struct gf_param *param, char *value,
                                 struct gf_error *error)
{
    const struct gf_filter *const filter = parser->filter;
    const unsigned bit = 1u << (param - gf_region_params);
    if (!takes_region(parser))
        return gf_fail(
            error, GF_ERROR_USAGE,
            "%s: %s is for filters that keep the picture's size and profile and go through "
            "the picture once",
            filter->name, param->name);
    if (parser->given_region & bit)
        return gf_fail(error, GF_ERROR_USAGE, "%s: %s is given twice", filter->name, param->name);
    parser->given_region |= bit;
    parser->named = param;
    return set_value(filter, param, value, &parser->common->region, error);
}

static enum gf_status unknown_param(const struct parser *parser, const char *name,
                                    struct gf_error *error)
{
    const struct gf_filter *const filter = parser->filter;
    const char *best = NULL;
    int distance = 0;
    char names[240] = "";
    for (const struct gf_param *param = gf_filter_params(filter); param->name; param++) {
        gf_suggest_consider(name, param->name, &best, &distance);
        add_name(names, sizeof names, param->name);
    }
    for (const struct gf_param *param = gf_region_params; takes_region(parser) && param->name;
         param++) {
        gf_suggest_consider(name, param->name, &best, &distance);
        add_name(names, sizeof names, param->name);
    }
    if (gf_filter_variant_at(filter, 0)) {
        gf_suggest_consider(name, "variant", &best, &distance);
        add_name(names, sizeof names, "variant");
    }
    return gf_fail(error, GF_ERROR_USAGE, "%s: unknown parameter '%.60s'; %s%s%s", filter->name,
                   name,
                   best     ? "did you mean '"
                   : *names ? "it has "
                            : "it has none",
                   best ? best : names, best ? "'?" : "");
}

/* Returns the length of the key if the text begins with "key=", otherwise 0. */
static size_t key_length(const char *text)
{
    size_t length = 0;
    while (isalpha((unsigned char)text[length]) || text[length] == '_' ||
           (length && isdigit((unsigned char)text[length])))
        length++;
    return length && text[length] == '=' ? length : 0;
}

/* Returns the name that the filter's parameter has here, if other programs call it `word`; NULL if
 * that is not known. */
static const char *name_of_synonym(const struct gf_filter *filter, const char *word)
{
    static const struct {
        const char *word, *name;
        enum gf_param_type type;
    } synonyms[] = {
        {"width", "w", GF_TYPE_LENGTH},
        {"height", "h", GF_TYPE_LENGTH},
        {"left", "x", GF_TYPE_LENGTH},
        {"top", "y", GF_TYPE_LENGTH},
        {"color", "colour", GF_TYPE_COLOUR},
        {"position", "gravity", GF_TYPE_CHOICE},
        {"fontsize", "size", GF_TYPE_RELATIVE},
        {"fontcolor", "colour", GF_TYPE_COLOUR},
        {"fontfile", "font", GF_TYPE_FILE},
        {"boxcolor", "background", GF_TYPE_COLOUR},
        {"rotate", "angle", GF_TYPE_FLOAT},
        {"shim", "gap", GF_TYPE_INT},
        {"padding", "gap", GF_TYPE_INT},
        {"spacing", "gap", GF_TYPE_INT},
        {"background", "colour", GF_TYPE_COLOUR},
        {"bordercolor", "colour", GF_TYPE_COLOUR},
        {"fill", "colour", GF_TYPE_COLOUR},
        {"fuzz", "tolerance", GF_TYPE_FLOAT},
        {"fuzz", "similarity", GF_TYPE_FLOAT},
        {"h", "angle", GF_TYPE_FLOAT},
        {"blend", "mode", GF_TYPE_CHOICE},
        {"all_mode", "mode", GF_TYPE_CHOICE},
        {"flags", "kernel", GF_TYPE_CHOICE},
        {"filter", "kernel", GF_TYPE_CHOICE},
        {"interpolator", "kernel", GF_TYPE_CHOICE},
        {"clip_limit", "clip", GF_TYPE_FLOAT},
        {"cliplimit", "clip", GF_TYPE_FLOAT},
        {"strength", "sigma", GF_TYPE_FLOAT},
        {"std", "sigma", GF_TYPE_FLOAT},
        {"intensity", "amount", GF_TYPE_FLOAT},
    };
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
        const struct gf_param *param = gf_filter_params(filter);
        while (param->name &&
               (param->type != synonyms[i].type || strcmp(param->name, synonyms[i].name) != 0))
            param++;
        if (param->name && !strcasecmp(synonyms[i].word, word))
            return param->name;
    }
    return NULL;
}

static enum gf_status find_by_name(const struct parser *parser, const char *name, int *index,
                                   struct gf_error *error)
{
    const struct gf_param *const list = gf_filter_params(parser->filter);
    const char *const meant = name_of_synonym(parser->filter, name);
    for (int pass = 0; pass < 1 + (meant != NULL); pass++) {
        for (*index = 0; list[*index].name; ++*index) {
            if (!strcmp(list[*index].name, pass ? meant : name))
                return GF_OK;
        }
    }
    return unknown_param(parser, name, error);
}

static enum gf_status find_by_position(struct parser *parser, const char *text, int *index,
                                       struct gf_error *error)
{
    const char *const name = parser->filter->name;
    if (parser->named && parser->named == find_region_param("region"))
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: '%.60s' has no name; blanks separate the numbers of a region: "
                       "'region=X Y WIDTH HEIGHT'",
                       name, text);
    if (parser->named && !strcmp(parser->named->name, "aspect"))
        return gf_fail(error, GF_ERROR_USAGE, "%s: '%.60s' has no name; a ratio is aspect=16/9",
                       name, text);
    if (parser->has_names)
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: '%.60s' comes after a named parameter, so it needs its name", name,
                       text);
    if (!gf_filter_params(parser->filter)[parser->position].name)
        return gf_fail(error, GF_ERROR_USAGE, "%s: one value too many: '%.60s'", name, text);
    *index = parser->position++;
    return GF_OK;
}

/* Whether the next value is a text. `name` is the name that stands before it; "": none. */
static bool takes_text(const struct parser *parser, const char *name)
{
    const struct gf_param *param = gf_filter_params(parser->filter);
    if (!*name && parser->has_names)
        return false;
    for (int i = 0; param->name && (*name ? strcmp(param->name, name) != 0 : i < parser->position);
         i++)
        param++;
    return param->name && param->type == GF_TYPE_TEXT;
}

/* Sets the parameter that the value is for. `name` is the name that stands before it; "": none. */
static enum gf_status parse_param(struct parser *parser, const char *name, char *value,
                                  struct gf_error *error)
{
    const struct gf_filter *const filter = parser->filter;
    int index = 0;
    if (*name) {
        parser->has_names = true;
        if (!strcmp(name, "variant") && gf_filter_variant_at(filter, 0))
            return set_variant(parser, value, error);
        const struct gf_param *const region = parser->common ? find_region_param(name) : NULL;
        if (region)
            return set_region(parser, region, value, error);
        GF_TRY(find_by_name(parser, name, &index, error));
    } else {
        GF_TRY(find_by_position(parser, value, &index, error));
    }
    const struct gf_param *const param = &gf_filter_params(filter)[index];
    const char *const meant =
        !*name && param->type == GF_TYPE_FILE ? gf_param_meant(filter, value) : NULL;
    if (meant && access(value, F_OK))
        return gf_fail(error, GF_ERROR_USAGE, "%s: %s=%.60s is no file; did you mean '%s=%.60s'?",
                       filter->name, param->name, value, meant, value);
    parser->named = *name ? param : NULL;
    if (parser->given & 1u << index)
        return gf_fail(error, GF_ERROR_USAGE, "%s: %s is given twice", filter->name, param->name);
    parser->given |= 1u << index;
    return set_value(filter, param, value, parser->params, error);
}

/* Sets the parameters that the value is for: one, or several if it is ImageMagick's geometry. */
static enum gf_status parse_values(struct parser *parser, const char *name, char *value,
                                   struct gf_error *error)
{
    char values[60];
    const bool is_first = !*name && !parser->position && !parser->has_names;
    const int lengths =
        is_first ? gf_geometry_lengths(parser->filter, value, values, sizeof values) : 0;
    if (!lengths)
        return parse_param(parser, name, value, error);
    enum gf_status status = GF_OK;
    for (char *rest = values; !status && rest;)
        status = parse_param(parser, name, strsep(&rest, ":"), error);
    /* Values that the geometry leaves out are not set by the next value. */
    parser->position = lengths;
    return status;
}

static enum gf_status check_params(const struct gf_filter *filter, unsigned given,
                                   const void *params, struct gf_error *error)
{
    const struct gf_param *const list = gf_filter_params(filter);
    for (int i = 0; list[i].name; i++) {
        if (list[i].required && !(given & 1u << i))
            return gf_fail(error, GF_ERROR_USAGE, "%s: %s is missing: %s", filter->name,
                           list[i].name, list[i].help);
    }
    struct gf_error detail = {0};
    const enum gf_status status = filter->check ? filter->check(params, &detail) : GF_OK;
    return status ? gf_fail(error, status, "%s: %s", filter->name, detail.text) : GF_OK;
}

enum gf_status gf_params_parse(const struct gf_filter *filter, const char **text, void *params,
                               struct gf_common_params *common, struct gf_error *error)
{
    struct parser parser = {.filter = filter, .params = params, .common = common};
    char name[64], token[GF_TOKEN_MAX];
    gf_params_set_defaults(filter, params);
    while (**text == '=' || **text == ':') {
        const char *const raw = *text + 1 + strspn(*text + 1, " \t\n");
        const size_t length = key_length(raw);
        snprintf(name, sizeof name, "%.*s", (int)length, raw);
        const char *const begin = length ? raw + length + 1 : raw;
        *text = takes_text(&parser, name) ? gf_token_next_text(begin, token)
                                          : gf_token_next(begin, ":,", token);
        if (!*text)
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s: a quote is left open, or a value is too long", filter->name);
        if (!*name && !*token)
            return gf_fail(error, GF_ERROR_USAGE, "%s: an empty parameter", filter->name);
        GF_TRY(parse_values(&parser, name, token, error));
    }
    if (parser.given_region && !*common->region.region)
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: feather is the soft edge of a region, which is "
                       "missing: region=X Y WIDTH HEIGHT",
                       filter->name);
    return check_params(filter, parser.given, params, error);
}
