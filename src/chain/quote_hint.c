#include "chain/quote_hint.h"

#include <string.h>
#include <strings.h>

#include "chain/token.h"

enum { SHOWN_MOST = 120 };

bool gf_quote_hint_suits(const struct gf_filter *filter)
{
    return gf_filter_params(filter)->name && gf_filter_params(filter)->type == GF_TYPE_TEXT;
}

/* Returns where the text of the values "=text" or "=text=..." begins; NULL if it is quoted. */
static const char *begin_of_text(const struct gf_filter *filter, const char *values)
{
    const size_t length = strlen(gf_filter_params(filter)->name);
    if (*values != '=')
        return NULL;
    values += 1 + strspn(values + 1, " \t\n");
    if (!strncmp(values, gf_filter_params(filter)->name, length) && values[length] == '=')
        values += length + 1;
    return strchr("'\"", *values) ? NULL : values;
}

/* Appends the text begin .. end - 1 in quotes to the error, as a word for a shell. */
static void append(const struct gf_filter *filter, const char *begin, const char *end,
                   const char *what, struct gf_error *error)
{
    if (!error)
        return;
    const struct gf_error reason = *error;
    while (end > begin && strchr(" \t\n", end[-1]))
        end--;
    for (const char *at = begin; at < end; at++) {
        if (strchr("'\"\\$`!", *at))
            return;
    }
    if (*reason.text && end - begin <= SHOWN_MOST)
        (void)gf_fail(error, reason.status, "%s%s a text with a %s is quoted: \"%s='%.*s'\"",
                      reason.text, reason.text[strlen(reason.text) - 1] == '?' ? " Else" : ";",
                      what, filter->name, (int)(end - begin), begin);
}

/* Whether the value begin .. end - 1 is surely meant as the name of a font's file. */
static bool is_font_file(const char *begin, const char *end)
{
    static const char *const extensions[] = {".ttf", ".otf", ".ttc",  ".otc",
                                             ".pfb", ".pfa", ".woff", ".woff2"};
    bool is_file = (*begin == '/' && begin[1] != '/') || *begin == '.';
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        const ptrdiff_t length = (ptrdiff_t)strlen(extensions[i]);
        is_file |=
            end - begin > length && !strncasecmp(end - length, extensions[i], (size_t)length);
    }
    return is_file;
}

void gf_quote_hint_colon(const struct gf_filter *filter, const char *values, struct gf_error *error)
{
    const char *const begin = gf_quote_hint_suits(filter) ? begin_of_text(filter, values) : NULL;
    const char *end = begin;
    while (end && *end && *end != ',') {
        const char *const value = *end == ':' ? end + 1 : end;
        const char *const stop = value + strcspn(value, ":,");
        if (memchr(value, '=', (size_t)(stop - value)) ||
            (end > begin && is_font_file(value, stop)))
            break;
        end = stop;
    }
    if (end && memchr(begin, ':', (size_t)(end - begin)))
        append(filter, begin, end, "colon", error);
}

void gf_quote_hint_comma(const struct gf_filter *filter, const char *item, const char *next,
                         struct gf_error *error)
{
    char token[GF_TOKEN_MAX];
    const char *const begin =
        gf_quote_hint_suits(filter) ? begin_of_text(filter, item + strcspn(item, "=,:")) : NULL;
    const char *const comma = begin ? gf_token_next_text(begin, token) : NULL;
    if (comma && *comma == ',' && comma + 1 + strspn(comma + 1, " \t\n") == next)
        append(filter, begin, next + strcspn(next, "=:,"), "comma", error);
}
