#include "chain/foreign.h"

#include <stdio.h>
#include <string.h>

#include "gpufilter/filter.h"

static bool has_param(const struct gf_filter *filter, const char *name)
{
    const struct gf_param *param = gf_filter_params(filter);
    while (param->name && strcmp(param->name, name) != 0)
        param++;
    return param->name != NULL;
}

/* Writes the numbers with colons between them. The text may end with one of the flags. */
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
    /* The filter has no chain that means the same. */
    if (has_param(filter, "h") ? offsets && (one_side || !has_param(filter, "x")) : *values == ':')
        return false;
    /* thumbnail always shrinks, within a width and a height. */
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
