#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "chain/region.h"
#include "selftest/selftest_case.h"

static size_t append(char *text, size_t length, const char *format, ...) GF_PRINTF(3, 4);
static size_t append(char *text, size_t length, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int added = vsnprintf(text + length, GF_SELFTEST_TEXT - length, format, arguments);
    va_end(arguments);
    const size_t end = length + (size_t)(added > 0 ? added : 0);
    return end < GF_SELFTEST_TEXT ? end : GF_SELFTEST_TEXT - 1;
}

static size_t append_matrix(char *text, size_t length, int side)
{
    for (int i = 0; i < side * side; i++)
        length = append(text, length, "%s%d", !i ? "" : i % side ? " " : "/", (i * 7 + 3) % 11 - 4);
    return length;
}

static size_t append_value(char *text, size_t length, const struct gf_param *param,
                           enum gf_selftest_set set)
{
    int choices = 0;
    switch (param->type) {
    case GF_TYPE_WORD:
        while (param->choices[choices])
            choices++;
        if (set >= GF_SELFTEST_CHOICES)
            return append(text, length, "%s",
                          param->choices[((int)set - GF_SELFTEST_CHOICES) % choices]);
        /* fallthrough */
    case GF_TYPE_FLOAT:
    case GF_TYPE_INT:
    case GF_TYPE_RELATIVE:
        return append(text, length, "%.9g",
                      set == GF_SELFTEST_LEAST ? param->least : param->greatest);
    case GF_TYPE_MATRIX:
        if (!param->choices)
            return append_matrix(text, length,
                                 set == GF_SELFTEST_GREATEST ? GF_MATRIX_SIDE_MAX : 3);
        /* fallthrough */
    case GF_TYPE_CHOICE:
        while (param->choices[choices])
            choices++;
        return append(text, length, "%s", param->choices[((int)set + choices - 1) % choices]);
    case GF_TYPE_LENGTH:
        return append(text, length, "%s",
                      set == GF_SELFTEST_LEAST      ? "40%"
                      : set == GF_SELFTEST_GREATEST ? "70%"
                                                    : "50%");
    case GF_TYPE_COLOUR:
        while (param->choices && param->choices[choices])
            choices++;
        if (set >= GF_SELFTEST_CHOICES && choices)
            return append(text, length, "%s", param->choices[((int)set + choices - 1) % choices]);
        return append(text, length, "%s", set == GF_SELFTEST_GREATEST ? "#fedcba" : "#123456");
    case GF_TYPE_TEXT:
        return append(text, length, "'%s'", set == GF_SELFTEST_GREATEST ? "Ag\\n{1, 2}" : "gp");
    case GF_TYPE_FILE:
        while (param->choices && param->choices[choices])
            choices++;
        if (choices)
            return append(text, length, "%s", param->choices[((int)set + 1) % choices]);
        break;
    }
    return length;
}

/* Other numbers may matter beside a word alone. Each word is therefore tried with the defaults,
 * then with the least numbers, then with the greatest ones. */
static enum gf_selftest_set numbers_beside_words(int set, int words)
{
    return (enum gf_selftest_set)(set < GF_SELFTEST_CHOICES ? set
                                                            : (set - GF_SELFTEST_CHOICES) / words);
}

static bool is_number(const struct gf_param *param)
{
    return param->type == GF_TYPE_INT || param->type == GF_TYPE_FLOAT;
}

bool gf_selftest_chain(const struct gf_filter *filter, int set, char *text)
{
    const struct gf_param *const list = gf_filter_params(filter);
    size_t length = append(text, 0, "%s", gf_filter_name(filter));
    bool more = set <= GF_SELFTEST_GREATEST;
    char separator = '=';
    enum gf_selftest_set numbers = (enum gf_selftest_set)set;
    for (int i = 0; list[i].name; i++) {
        int choices = 0;
        while (list[i].choices && list[i].choices[choices])
            choices++;
        if (list[i].type == GF_TYPE_WORD && choices > 1) {
            more |= set < GF_SELFTEST_CHOICES + choices * GF_SELFTEST_CHOICES;
            numbers = numbers_beside_words(set, choices);
        }
        more |= set < choices + 1;
        const bool wanted = list[i].required || numbers == GF_SELFTEST_LEAST ||
                            numbers == GF_SELFTEST_GREATEST ||
                            (list[i].type == GF_TYPE_LENGTH && i == 0) ||
                            (set >= GF_SELFTEST_CHOICES &&
                             (list[i].type == GF_TYPE_CHOICE || list[i].type == GF_TYPE_WORD ||
                              list[i].type == GF_TYPE_COLOUR || list[i].choices));
        if (!wanted || list[i].type == GF_TYPE_FILE)
            continue;
        length = append(text, length, "%c%s=", separator, list[i].name);
        length = append_value(text, length, &list[i],
                              is_number(&list[i]) ? numbers : (enum gf_selftest_set)set);
        separator = ':';
    }
    return more;
}

bool gf_selftest_region(const struct gf_filter *filter, char *text)
{
    if (!gf_filter_takes_region(filter))
        return false;
    gf_selftest_chain(filter, GF_SELFTEST_DEFAULT, text);
    append(text, strlen(text),
           "%cregion=20%% 10%% 40%% 50%%/ellipse 50%% 40%% 60%% 50%%/-3 80%% 9 9:feather=5",
           strchr(text, '=') ? ':' : '=');
    return true;
}
