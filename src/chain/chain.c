/* The chain's grammar: name=key=value:key=value,name2. The first parameters also by position; a
 * value that holds ',' or ':' is quoted with '' or "" or escaped with a backslash. Values are
 * checked against the filter's declaration, and nowhere else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/value.h"
#include "chain/chain.h"
#include "chain/params.h"
#include "chain/variants.h"
#include "stage/stage.h"

enum { TOKEN_MAX = 32768 }; /* a matrix of 31x31 numbers written out */

/* Copies up to one of `stops` (outside quotes) into token, resolving quotes and escapes. Returns
 * where it stopped, or NULL if the text is too long or a quote is left open. */
static const char *next_token(const char *text, const char *stops, char *token)
{
    size_t length = 0;
    char quote = 0;
    for (; *text && (quote || !strchr(stops, *text)); text++) {
        if (quote && *text == quote) {
            quote = 0;
        } else if (!quote && (*text == '\'' || *text == '"')) {
            quote = *text;
        } else {
            if (*text == '\\' && quote != '\'' && text[1])
                text++;
            if (length + 1 >= TOKEN_MAX)
                return NULL;
            token[length++] = *text;
        }
    }
    token[length] = '\0';
    return quote ? NULL : text;
}

static char *trim(char *text)
{
    text += strspn(text, " \t\n");
    for (char *end = text + strlen(text); end > text && strchr(" \t\n", end[-1]);)
        *--end = '\0';
    return text;
}

static void describe_choices(const char *const *choices, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; choices[i] && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s", i ? ", " : "", choices[i]);
}

static enum gf_status set_choice(const struct gf_filter *filter, const struct gf_param *param,
                                 const char *text, int *value, struct gf_error *error)
{
    for (int i = 0; param->choices[i]; i++) {
        if (!strcmp(text, param->choices[i])) {
            *value = i;
            return GF_OK;
        }
    }
    char choices[160];
    describe_choices(param->choices, choices, sizeof choices);
    return gf_fail(error, GF_ERROR_USAGE, "%s: %s=%.60s is none of %s", filter->name, param->name,
                   text, choices);
}

static enum gf_status outside(const struct gf_filter *filter, const struct gf_param *param,
                              const char *text, struct gf_error *error)
{
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
    if (!gf_value_number(text, &length->value, &end) ||
        (*end && strcmp(end, "%") && strcmp(end, "px")))
        return not_a(filter, param, text, "a length (pixels, or per cent as in 50%)", error);
    length->unit = *end == '%' ? GF_PERCENT : GF_PIXELS;
    if (length->unit == GF_PIXELS && length->value != floor(length->value))
        return not_a(filter, param, text, "a whole number of pixels", error);
    if (length->value < param->least || length->value > param->greatest)
        return outside(filter, param, text, error);
    return GF_OK;
}

/* Rows are separated by '/' or '|', samples by spaces. */
static enum gf_status set_matrix(const struct gf_filter *filter, const struct gf_param *param,
                                 const char *text, struct gf_matrix *matrix, struct gf_error *error)
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
        /* The width is known after the first row; until then rows are packed by that row's own
         * length. */
        matrix->value[(matrix->height ? matrix->height * matrix->width : 0) + column++] =
            (float)value;
        if (matrix->height && column > matrix->width)
            return not_a(filter, param, text, "a matrix with rows of one length", error);
    }
    if (matrix->width % 2 == 0 || matrix->height % 2 == 0)
        return gf_fail(error, GF_ERROR_USAGE, "%s: %s is %dx%d; both sides must be odd",
                       filter->name, param->name, matrix->width, matrix->height);
    return GF_OK;
}

static enum gf_status set_number(const struct gf_filter *filter, const struct gf_param *param,
                                 const char *text, double *value, struct gf_error *error)
{
    if (!gf_value_whole_number(text, value))
        return not_a(filter, param, text, "a number", error);
    if (*value < param->least || *value > param->greatest)
        return outside(filter, param, text, error);
    return GF_OK;
}

static enum gf_status set_value(const struct gf_filter *filter, const struct gf_param *param,
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
    case GF_TYPE_MATRIX:
        return set_matrix(filter, param, text, member, error);
    case GF_TYPE_FILE:
        if (!*text)
            return not_a(filter, param, text, "a name of a file", error);
        if (strlen(text) >= GF_FILE_NAME_SIZE)
            return not_a(filter, param, text, "a name of a file: it is too long", error);
        strcpy(member, text);
        return GF_OK;
    case GF_TYPE_WORD:
        if (!strcmp(text, param->choices[0])) {
            *(double *)member = NAN;
            return GF_OK;
        }
        return set_number(filter, param, text, member, error);
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

static void set_defaults(const struct gf_filter *filter, void *params)
{
    for (const struct gf_param *param = gf_filter_params(filter); param->name; param++) {
        void *const member = (char *)params + param->offset;
        if (param->type == GF_TYPE_FLOAT || param->type == GF_TYPE_WORD)
            *(double *)member = param->value;
        else if (param->type == GF_TYPE_INT || param->type == GF_TYPE_CHOICE)
            *(int *)member = (int)param->value;
    }
}

static enum gf_status set_variant(struct gf_chain_item *item, const char *text,
                                  struct gf_error *error)
{
    char names[400] = "";
    const struct gf_variant *variant;
    if (item->variant)
        return gf_fail(error, GF_ERROR_USAGE, "%s: variant is given twice", item->filter->name);
    for (int i = 0; (variant = gf_filter_variant_at(item->filter, i)); i++) {
        if (!strcmp(text, variant->name)) {
            item->variant = variant;
            return GF_OK;
        }
        const size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "", variant->name);
    }
    item->variant = strcmp(text, "naive") ? NULL : gf_filter_naive(item->filter);
    return item->variant ? GF_OK
                         : gf_fail(error, GF_ERROR_USAGE, "%s: variant=%.60s is none of %s",
                                   item->filter->name, text, names);
}

static enum gf_status unknown_param(const struct gf_filter *filter, const char *name,
                                    struct gf_error *error)
{
    const char *best = NULL;
    int distance = 0;
    for (const struct gf_param *param = gf_filter_params(filter); param->name; param++)
        gf_suggest_consider(name, param->name, &best, &distance);
    if (gf_filter_variant_at(filter, 0))
        gf_suggest_consider(name, "variant", &best, &distance);
    return gf_fail(error, GF_ERROR_USAGE, "%s: unknown parameter '%.60s'%s%s%s", filter->name, name,
                   best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "");
}

/* "key=" at the start of text, a word of letters and underscores. */
static size_t key_length(const char *text)
{
    const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return length && text[length] == '=' ? length : 0;
}

/* One "value" or "key=value"; *position counts those by position, `given` has a bit for each
 * parameter. */
static enum gf_status parse_param(struct gf_chain_item *item, const char *raw, char *token,
                                  int *position, unsigned *given, struct gf_error *error)
{
    const struct gf_filter *const filter = item->filter;
    const struct gf_param *const list = gf_filter_params(filter);
    const size_t length = key_length(raw + strspn(raw, " \t\n"));
    int index = 0;
    if (length) {
        token[length] = '\0';
        if (!strcmp(token, "variant") && gf_filter_variant_at(filter, 0)) {
            *position = 32;
            return set_variant(item, trim(token + length + 1), error);
        }
        while (list[index].name && strcmp(list[index].name, token))
            index++;
        if (!list[index].name)
            return unknown_param(filter, token, error);
        token += length + 1;
        *position = 32; /* FFmpeg's rule: nothing goes by position after a name */
    } else {
        while (index < *position && list[index].name)
            index++;
        if (!list[index].name)
            return gf_fail(error, GF_ERROR_USAGE,
                           *position >= 32
                               ? "%s: '%.60s' comes after a named parameter, so it needs its name"
                               : "%s: one value too many: '%.60s'",
                           filter->name, token);
        (*position)++;
    }
    if (*given & 1u << index)
        return gf_fail(error, GF_ERROR_USAGE, "%s: %s is given twice", filter->name,
                       list[index].name);
    *given |= 1u << index;
    return set_value(filter, &list[index], trim(token), item->params, error);
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

/* The parameters after "name=", up to ',' or the end; *text moves there. */
static enum gf_status parse_params(struct gf_chain_item *item, const char **text,
                                   struct gf_error *error)
{
    const struct gf_filter *const filter = item->filter;
    char token[TOKEN_MAX];
    int position = 0;
    unsigned given = 0;
    set_defaults(filter, item->params);
    while (**text == '=' || **text == ':') {
        const char *const raw = *text + 1;
        *text = next_token(raw, ":,", token);
        if (!*text)
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s: a quote is left open, or a value is too long", filter->name);
        char *const value = trim(token);
        if (!*value)
            return gf_fail(error, GF_ERROR_USAGE, "%s: an empty parameter", filter->name);
        const enum gf_status status = parse_param(item, raw, value, &position, &given, error);
        if (status)
            return status;
    }
    return check_params(filter, given, item->params, error);
}

enum gf_status gf_params_parse(const struct gf_filter *filter, const char **text, void *params,
                               struct gf_error *error)
{
    return parse_params(&(struct gf_chain_item){.filter = filter, .params = params}, text, error);
}

static enum gf_status parse_item(const char **text, struct gf_chain_item *item,
                                 struct gf_error *error)
{
    char token[TOKEN_MAX];
    const char *const stop = next_token(*text, "=,:", token);
    const char *const name = stop ? trim(token) : "";
    if (!*name)
        return gf_fail(error, GF_ERROR_USAGE, "a filter's name is missing at '%.60s'", *text);
    item->filter = gf_filter_find(name);
    if (!item->filter) {
        const char *const best = gf_filter_suggest(name);
        return gf_fail(error, GF_ERROR_USAGE, "unknown filter '%.60s'%s%s%s", name,
                       best ? "; did you mean '" : " (gf_filter_at lists them)", best ? best : "",
                       best ? "'?" : "");
    }
    item->params = calloc(1, item->filter->params_size + 1);
    if (!item->params)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    *text = stop;
    return parse_params(item, text, error);
}

enum gf_status gf_chain_parse(const char *text, struct gf_chain *chain, struct gf_error *error)
{
    *chain = (struct gf_chain){0};
    text = text ? text + strspn(text, " \t\n") : "";
    while (*text) {
        struct gf_chain_item *const grown =
            realloc(chain->item, (size_t)(chain->count + 1) * sizeof *grown);
        if (!grown) {
            gf_chain_free(chain);
            return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
        }
        chain->item = grown;
        chain->item[chain->count] = (struct gf_chain_item){0};
        enum gf_status status = parse_item(&text, &chain->item[chain->count++], error);
        if (!status && *text == ',' && !*(text += 1 + strspn(text + 1, " \t\n")))
            status = gf_fail(error, GF_ERROR_USAGE, "the chain ends with ','");
        if (status) {
            gf_chain_free(chain);
            return status;
        }
    }
    return GF_OK;
}

void gf_chain_free(struct gf_chain *chain)
{
    for (int i = 0; i < chain->count; i++)
        free(chain->item[i].params);
    free(chain->item);
    *chain = (struct gf_chain){0};
}
