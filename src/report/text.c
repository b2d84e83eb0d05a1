#include "report/text.h"

#include <math.h>
#include <string.h>

void gf_text_wrap(FILE *file, const char *text, int column, int indent)
{
    int at = column;
    bool first = true; /* of its line */
    for (const char *word = text + strspn(text, " \n"); *word;) {
        const int length = (int)strcspn(word, " \n");
        if (!first && at + 1 + length > GF_SCREEN_WIDTH) {
            fprintf(file, "\n%*s", indent, "");
            at = indent;
            first = true;
        }
        at += fprintf(file, "%s%.*s", first ? "" : " ", length, word);
        first = false;
        word += length;
        word += strspn(word, " \n");
    }
    putc('\n', file);
}

void gf_text_append(char *text, size_t size, const char *more)
{
    const size_t length = strlen(text);
    if (length + 1 < size)
        snprintf(text + length, size - length, "%s", more);
}

void gf_param_range(const struct gf_param *param, char *text, size_t size)
{
    text[0] = '\0';
    switch (param->type) {
    case GF_TYPE_FLOAT:
    case GF_TYPE_INT:
    case GF_TYPE_WORD:
        snprintf(text, size, "%.9g..%.9g", param->least, param->greatest);
        break;
    case GF_TYPE_CHOICE:
        break;
    case GF_TYPE_LENGTH:
        snprintf(text, size, "pixels or %%");
        break;
    case GF_TYPE_MATRIX:
        snprintf(text, size, "matrix up to %dx%d", GF_MATRIX_SIDE_MAX, GF_MATRIX_SIDE_MAX);
        break;
    case GF_TYPE_FILE:
        snprintf(text, size, "file");
        break;
    }
    for (int i = 0; param->choices && param->choices[i]; i++) {
        gf_text_append(text, size, i ? ", " : *text ? " or " : "");
        gf_text_append(text, size, param->choices[i]);
    }
}

void gf_param_default(const struct gf_param *param, char *text, size_t size)
{
    text[0] = '\0';
    if (param->required)
        return;
    if (param->type == GF_TYPE_CHOICE)
        snprintf(text, size, "%s", param->choices[(int)param->value]);
    else if (param->type == GF_TYPE_WORD && isnan(param->value))
        snprintf(text, size, "%s", param->choices[0]);
    else if (param->type != GF_TYPE_LENGTH && param->type != GF_TYPE_MATRIX &&
             param->type != GF_TYPE_FILE)
        snprintf(text, size, "%.9g", param->value);
}

void gf_param_limits(const struct gf_param *param, char *text, size_t size)
{
    char range[120], value[40];
    gf_param_range(param, range, sizeof range);
    gf_param_default(param, value, sizeof value);
    snprintf(text, size, "%s%s%s", range, *value ? "; default " : "",
             param->required ? "; required" : value);
}
