/* Finds the row of foreign.def for what was typed, and puts its numbers into the answer. */
#include "chain/foreign.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text/plain_text.h"
#include "gpufilter/filter.h"

static const struct gf_foreign_row table[] = {
#define GF_FILTER_WORDS(...) {GF_FOREIGN_FILTER, __VA_ARGS__},
#define GF_OPTION_WORDS(...) {GF_FOREIGN_OPTION, __VA_ARGS__},
#define GF_HINT(...) {GF_FOREIGN_HINT, __VA_ARGS__},
#define GF_FORMAT_WORDS(...) {GF_FOREIGN_FORMAT, __VA_ARGS__},
#define GF_TOGETHER_WORDS(...) {GF_FOREIGN_TOGETHER, __VA_ARGS__},
#include "chain/foreign.def"
};
enum { ROWS = sizeof table / sizeof *table, ITEM_MOST = 200, NAME_MOST = 48 };

const struct gf_foreign_row *gf_foreign_at(int index)
{
    return index >= 0 && index < ROWS ? &table[index] : NULL;
}

/* What was typed: a name, and the values behind its "=". */
struct typed {
    char name[NAME_MOST];
    const char *values; /* "": none */
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Finds the number-th number, from 1 on, with its sign and a % behind it. Digits of words, as in
 * BGR2GRAY, are none; the x of 120x45 separates two. */
static bool find_number(const char *values, int number, char *token, size_t size)
{
    for (const char *at = values; *at;) {
        const bool begins = at == values || !is_word(at[-1]) ||
                            (tolower((unsigned char)at[-1]) == 'x' && at - values > 1 &&
                             strchr("0123456789%.", at[-2]));
        const char *digits = at + (*at == '-' && (at == values || !is_word(at[-1])));
        size_t length = begins ? strspn(digits, "0123456789.") : 0;
        if (!length || !strpbrk(digits, "0123456789")) {
            at++;
            continue;
        }
        length += (size_t)(digits - at);
        length += at[length] == '%';
        if (!--number) {
            snprintf(token, size, "%.*s", (int)length, at);
            return true;
        }
        at += length;
    }
    return false;
}

/* Finds the value behind "key=", or for a number the value at that place, without its key; for a
 * number behind '#' only if it has none. "_1" is the value's last word, in small letters: open for
 * MORPH_OPEN. */
static bool find_text(const char *values, const char *key, char *token, size_t size)
{
    const bool bare = *key == '#', last = *key == '_';
    int place = atoi(key + (bare || last));
    for (const char *at = values; *at; at += strcspn(at, ":") + (at[strcspn(at, ":")] == ':')) {
        const size_t length = strcspn(at, ":"), name = strcspn(at, "=:");
        const bool named = name < length;
        if (place ? --place != 0 : !named || strncasecmp(at, key, name) || key[name])
            continue;
        const char *const value = named && !bare ? at + name + 1 : at;
        snprintf(token, size, "%.*s", (int)(length - (size_t)(value - at)), value);
        token[strstr(token, " -") ? (size_t)(strstr(token, " -") - token) : strlen(token)] = '\0';
        const size_t colour = strcspn(token, "@"); /* as in red@0.5 */
        if (token[colour] && !token[colour + 1 + strspn(token + colour + 1, "0123456789.")])
            token[colour] = '\0';
        if (last && strrchr(token, '_'))
            memmove(token, strrchr(token, '_') + 1, strlen(strrchr(token, '_')));
        for (char *letter = token; last && *letter; letter++)
            *letter = (char)tolower((unsigned char)*letter);
        return *token && !(bare && named);
    }
    return false;
}

/* Finds what one reference of a place stands for: "2" is the second number, "k1" the number behind
 * "k1=", "$2" and "$color" a text, as "#1" and "_1", "$0" the name, "$*" all behind it. */
static bool find_value(const struct typed *typed, const char *reference, char *token, size_t size)
{
    char text[ITEM_MOST];
    if (!strcmp(reference, "$0"))
        return snprintf(token, size, "%s", typed->name) > 0;
    if (!strcmp(reference, "$*"))
        return snprintf(token, size, "%s", typed->values) > 0;
    if (*reference == '$')
        return find_text(typed->values, reference + 1, token, size);
    if (strchr("#_", *reference))
        return find_text(typed->values, reference, token, size);
    return isdigit((unsigned char)*reference)
               ? find_number(typed->values, atoi(reference), token, size)
               : find_text(typed->values, reference, text, sizeof text) &&
                     find_number(text, 1, token, size);
}

/* Computes with a number: each step is a sign and a number, as in "-1/2", where @2 is the second
 * number typed, or a letter: r, the root; v, 1 divided by it; e, 2 to its power; q, its square; c,
 * its cosine; t, its tangent; i, rounded. Behind n is a number that becomes none. */
static double compute(const struct typed *typed, double value, const char *steps)
{
    while (*steps) {
        const char step = *steps++, *stop;
        char *end = (char *)steps, token[ITEM_MOST];
        double by = 0;
        if (*steps == '@') {
            if (!find_number(typed->values, (int)strtol(steps + 1, &end, 10), token,
                             sizeof token) ||
                !gf_value_number(token, &by, &stop))
                by = strchr("=n", step) ? value : NAN;
        } else if (strchr("+-*/n", step))
            by = strtod(steps, &end);
        value = step == '+'   ? value + by
                : step == '-' ? value - by
                : step == '*' ? value * by
                : step == '/' ? value / by
                : step == 'r' ? sqrt(value)
                : step == 'v' ? 1 / value
                : step == 'e' ? exp2(value)
                : step == 'q' ? value * value
                : step == 'c' ? cos(value)
                : step == 't' ? tan(value)
                : step == 'n' ? (value == by ? NAN : value)
                : step == '=' ? (value == by ? value : NAN)
                              : round(value);
        steps = end;
    }
    return value;
}

/* Fills in a place, "{REFERENCE,REFERENCE:STEPS|USUAL}" without its braces: the first reference
 * that was typed, computed with. Returns false if there is neither a value nor a usual one. */
static bool fill_place(const struct typed *typed, bool usual, char *place, char *token, size_t size)
{
    char *rest = place;
    const char *references = strsep(&rest, "|"), *reference;
    const char *const ordinary = rest;
    char *steps = (char *)references;
    rest = strsep(&steps, ":");
    while (!usual && (reference = strsep(&rest, ","))) {
        double value;
        const char *end;
        if (!find_value(typed, reference, token, size))
            continue;
        if (!steps || !gf_value_number(token, &value, &end))
            return true;
        if (*steps == 'p') /* a number with a % is a part */
            value /= *end == '%' ? 100 : 1;
        value = compute(typed, value, steps + (*steps == 'p'));
        snprintf(token, size, "%.4g", value);
        if (isfinite(value))
            return true;
    }
    snprintf(token, size, "%s", ordinary ? ordinary : "");
    return ordinary;
}

/* Writes the text of the table with its places filled in. A part in [ ] is left out if one of its
 * places has no value; [[ and {{ are characters. */
static void fill(const struct typed *typed, bool usual, const char *text, char *filled, size_t size)
{
    size_t length = 0, part = 0;
    bool complete = true, in_part = false;
    for (const char *at = text ? text : ""; *at && length + 1 < size; at++) {
        char place[80], token[ITEM_MOST] = "";
        if ((*at == '[' || *at == '{') && at[1] == *at) {
            filled[length++] = *at++;
        } else if (*at == '[') {
            part = length;
            complete = in_part = true;
        } else if (*at == ']' && in_part) {
            length = complete ? length : part;
            in_part = false;
        } else if (*at == '{') {
            snprintf(place, sizeof place, "%.*s", (int)strcspn(at + 1, "}"), at + 1);
            complete &= fill_place(typed, usual, place, token, sizeof token);
            length += (size_t)snprintf(filled + length, size - length, "%s", token);
            length = length < size ? length : size - 1;
            at += strcspn(at, "}");
        } else {
            filled[length++] = *at;
        }
    }
    /* Parts that were left out leave commas at the ends. */
    while (length && filled[length - 1] == ',')
        length--;
    filled[length] = '\0';
    memmove(filled, filled + strspn(filled, ","), length + 1 - strspn(filled, ","));
}

/* Whether the row is about the item: one of its words is the name, or one of its patterns, which
 * have a '=' or '(', fits the whole item and none that begins with '!' does. The case counts in
 * those that begin with '^'. */
static bool fits(const struct gf_foreign_row *row, const char *item, const char *name)
{
    if (!strpbrk(row->words, "=("))
        return gf_suggest_listed(row->words, name);
    bool any = false;
    for (const char *at = row->words; *at; at += strspn(at, " ")) {
        char pattern[80];
        const size_t length = strcspn(at, " ");
        snprintf(pattern, sizeof pattern, "%.*s", (int)length, at);
        if (*pattern == '!' && !fnmatch(pattern + 1, item, FNM_CASEFOLD))
            return false;
        any |= *pattern == '^' ? !fnmatch(pattern + 1, item, 0)
                               : *pattern != '!' && !fnmatch(pattern, item, FNM_CASEFOLD);
        at += length;
    }
    return any;
}

size_t gf_foreign_length(const char *chain)
{
    const size_t name =
        strspn(chain, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
    if (name && chain[name] == '(' && strchr(chain, ')'))
        return (size_t)(strchr(chain, ')') - chain) + 1;
    size_t length = 0;
    for (;;) {
        length += strcspn(chain + length, ",");
        const char *const behind = chain + length;
        if (*behind != ',' || !strchr("0123456789-+.", behind[1]) || !behind[1])
            return length;
        length++;
    }
}

/* Copies what was typed without the plus signs before numbers, and without their units. A blank in
 * the name becomes '_', and the call of a function, NAME(VALUES), NAME=VALUES. */
static void simplify(const char *item, char *plain, size_t size)
{
    const size_t name = strcspn(item, "=:("), end = strlen(item);
    const bool is_call = item[name] == '(' && item[end - 1] == ')';
    size_t length = 0;
    for (const char *at = item; at < item + end - is_call && length + 1 < size; at++) {
        const bool is_unit = (!strncasecmp(at, "px", 2) && !is_word(at[2])) ||
                             (!strncasecmp(at, "deg", 3) && !is_word(at[3]));
        if (at > item && is_unit && isdigit((unsigned char)at[-1]))
            at += tolower((unsigned char)*at) == 'p' ? 1 : 2;
        else if (is_call && at == item + name)
            plain[length++] = '=';
        else if (at > item && at < item + name && *at == ' ' && isalpha((unsigned char)at[1]))
            plain[length++] = '_';
        else if (at == item || *at != '+' || !strchr("=:(", at[-1]) ||
                 !isdigit((unsigned char)at[1 + (at[1] == '.')]))
            plain[length++] = *at;
    }
    plain[length] = '\0';
}

bool gf_foreign_answer(enum gf_foreign_kind kind, const char *item, bool usual,
                       struct gf_foreign_answer *answer)
{
    char text[ITEM_MOST], plain[ITEM_MOST];
    struct typed typed;
    item += strspn(item, " \t\n");
    snprintf(text, sizeof text, "%.*s",
             (int)(kind == GF_FOREIGN_TOGETHER || kind == GF_FOREIGN_OPTION
                       ? strlen(item)
                       : gf_foreign_length(item)),
             item);
    simplify(text, plain, sizeof plain);
    const size_t name = strcspn(plain, kind == GF_FOREIGN_OPTION ? "=" : " =:(");
    snprintf(typed.name, sizeof typed.name, "%.*s", (int)name, plain);
    typed.values = plain[name] ? plain + name + 1 : plain + name;
    int i = 0;
    while (i < ROWS && (table[i].kind != kind || (!fits(&table[i], text, typed.name) &&
                                                  !fits(&table[i], plain, typed.name))))
        i++;
    /* G'MIC's fx_NAME is mostly NAME, as is Python's MODULE.NAME. */
    const char *const dot = kind == GF_FOREIGN_FILTER ? strrchr(typed.name, '.') : NULL;
    if (i == ROWS && (dot || !strncasecmp(text, "fx_", 3)))
        return gf_foreign_answer(kind, item + (dot ? dot + 1 - typed.name : 3), usual, answer);
    if (i == ROWS && (kind != GF_FOREIGN_FILTER || usual || !strcmp(text, plain)))
        return false;
    *answer = (struct gf_foreign_answer){.whose = "", .row = -1};
    if (i == ROWS)
        return snprintf(answer->meaning, sizeof answer->meaning, "%s", plain) > 0;
    answer->whose = table[i].whose;
    answer->row = i;
    fill(&typed, usual, table[i].meaning, answer->meaning, sizeof answer->meaning);
    fill(&typed, false, table[i].note, answer->note, sizeof answer->note);
    return true;
}

static bool has_param(const struct gf_filter *filter, const char *name)
{
    const struct gf_param *param = gf_filter_params(filter);
    while (param->name && strcmp(param->name, name) != 0)
        param++;
    return param->name != NULL;
}

/* Writes the numbers of a geometry with colons between them. The text may end with one of the
 * characters `flags`. Returns false if it is no geometry. */
static bool take_apart(const char *text, const char *flags, char *values, size_t size)
{
    const size_t length = strspn(text, "0123456789.%xX+");
    if (!strpbrk(text, "xX") || length >= size || (text[length] && !strchr(flags, text[length])) ||
        (text[length] && text[length + 1]))
        return false;
    for (size_t i = 0; i < length; i++)
        values[i] = strchr("xX+", text[i]) ? ':' : text[i];
    values[length] = '\0';
    return true;
}

int gf_geometry_lengths(const struct gf_filter *filter, const char *text, char *values, size_t size)
{
    const bool suits = has_param(filter, "gravity") && gf_filter_params(filter)[1].name &&
                       !strcmp(gf_filter_params(filter)->name, "w") && !has_param(filter, "kernel");
    const int lengths = 2 + 2 * has_param(filter, "x");
    int numbers = 1;
    if (!suits || !take_apart(text, "", values, size) || *values == ':' ||
        values[strlen(values) - 1] == ':')
        return 0;
    for (const char *at = values; *at; at++)
        numbers += *at == ':';
    return numbers <= lengths ? lengths : 0;
}

bool gf_geometry_meaning(const struct gf_filter *filter, const char *text, char *meaning,
                         size_t size)
{
    char values[60];
    if (!take_apart(text, "!><^", values, sizeof values) || !strcmp(values, ":"))
        return false;
    const size_t length = strlen(values);
    const char flag = text[length];
    const bool has_fit = has_param(filter, "fit"), only = has_param(filter, "only");
    const bool one_side = *values == ':' || values[length - 1] == ':';
    const bool offsets = strchr(strchr(values, ':') + 1, ':');
    /* No chain of the filter means the same. */
    if (has_param(filter, "h") ? offsets && (one_side || !has_param(filter, "x")) : *values == ':')
        return false;
    /* The filter thumbnail always shrinks, within a width and a height, so that resize does the
     * rest. */
    const bool other = has_fit && !only && (one_side || flag == '!' || flag == '<');
    const char *const name = other ? "resize" : filter->name;
    const char *const fit = !has_fit || flag == '!' || (flag == '>' && !only) ? ""
                            : flag == '^'                                     ? ":fit=cover"
                            : flag == '>' ? ":fit=inside:only=shrink"
                            : flag == '<' ? ":fit=inside:only=enlarge"
                                          : ":fit=inside";
    if (!has_param(filter, "h"))
        snprintf(meaning, size, "%s=%.*s", name, (int)strcspn(values, ":"), values);
    else if (*values == ':')
        snprintf(meaning, size, "%s=h=%s", name, values + 1);
    else if (values[length - 1] == ':')
        snprintf(meaning, size, "%s=w=%.*s", name, (int)length - 1, values);
    else
        snprintf(meaning, size, "%s=%s%s", name, values, fit);
    return true;
}
