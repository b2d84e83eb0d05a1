#include "report/text.h"

#include <math.h>
#include <string.h>

#include "chain/params.h"

void gf_text_wrap(FILE *file, const char *text, int column, int indent)
{
    int at = column;
    bool first = true; /* the next word is the first of its line */
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

void gf_text_bytes(double bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    int unit = 0;
    for (; bytes >= 999.5 && unit < 4; unit++)
        bytes /= 1000;
    snprintf(text, size, "%.*f %s", unit && bytes < 99.95 ? 1 : 0, bytes, units[unit]);
}

int gf_text_decimals(double ms)
{
    return ms < 10 ? 4 : ms < 100 ? 3 : ms < 1000 ? 2 : 1;
}

void gf_text_number(double value, int decimals, const char *unit, char *text, size_t size)
{
    if (isnan(value))
        snprintf(text, size, "-");
    else
        snprintf(text, size, "%.*f%s", decimals, value, unit);
}

static const char *put_format(struct gf_format format, const char *name, char *text)
{
    snprintf(text, GF_TEXT_FORMAT_SIZE, "%dx%d %s, %s%d bits", format.width, format.height, name,
             gf_is_float(format) ? "floats of " : "", format.bits);
    return text;
}

const char *gf_text_format(struct gf_format format, char text[GF_TEXT_FORMAT_SIZE])
{
    static const char *const names[] = {"?", "gray", "gray and alpha", "RGB", "RGBA"};
    const int known = format.channels >= 1 && format.channels <= 4 ? format.channels : 0;
    return put_format(format, names[known], text);
}

const char *gf_text_inks(struct gf_format format, char text[GF_TEXT_FORMAT_SIZE])
{
    return put_format(format, "CMYK", text);
}

const char *gf_text_plural(int count)
{
    return count == 1 ? "" : "s";
}

int gf_text_widest(int width, const char *text)
{
    const int length = (int)strlen(text);
    return length > width ? length : width;
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
    case GF_TYPE_RELATIVE:
        snprintf(text, size, "%.9g..%.9g or %%", param->least, param->greatest);
        break;
    case GF_TYPE_CHOICE:
        break;
    case GF_TYPE_LENGTH:
        snprintf(text, size, "pixels or %%");
        break;
    case GF_TYPE_MATRIX:
        snprintf(text, size, "matrix");
        break;
    case GF_TYPE_FILE:
        snprintf(text, size, "file");
        break;
    case GF_TYPE_COLOUR:
        snprintf(text, size, "colour");
        break;
    case GF_TYPE_TEXT:
        snprintf(text, size, "text");
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
    else if (param->type == GF_TYPE_COLOUR && param->value < 0)
        snprintf(text, size, "%s", param->choices[-1 - (int)param->value]);
    else if (param->type == GF_TYPE_COLOUR)
        gf_colour_text((unsigned)param->value, text, size);
    else if (param->type != GF_TYPE_LENGTH && param->type != GF_TYPE_MATRIX &&
             param->type != GF_TYPE_FILE && param->type != GF_TYPE_TEXT)
        snprintf(text, size, "%.9g", param->value);
}

void gf_param_limits(const struct gf_param *param, char *text, size_t size)
{
    char range[320], value[40];
    gf_param_range(param, range, sizeof range);
    gf_param_default(param, value, sizeof value);
    snprintf(text, size, "%s%s%s", range, *value ? "; default " : "",
             param->required ? "; required" : value);
}

void gf_params_text(const struct gf_param *params, char *text, size_t size)
{
    text[0] = '\0';
    for (const struct gf_param *param = params; param->name; param++) {
        char value[40];
        gf_param_default(param, value, sizeof value);
        gf_text_append(text, size, *text ? " " : "");
        gf_text_append(text, size, param->name);
        gf_text_append(text, size, *value ? "=" : "");
        gf_text_append(text, size, value);
    }
}

void gf_param_print(FILE *file, const struct gf_param *param)
{
    char limits[400], text[800];
    gf_param_limits(param, limits, sizeof limits);
    snprintf(text, sizeof text, "%s (%s)", param->help, limits);
    const int column = fprintf(file, "  %-10s ", param->name);
    gf_text_wrap(file, text, column, 13);
}

void gf_json_format(struct gf_json *json, const char *key, struct gf_format format)
{
    gf_json_object(json, key, GF_JSON_INLINE);
    gf_json_number(json, "width", format.width, 0);
    gf_json_number(json, "height", format.height, 0);
    gf_json_number(json, "channels", format.channels, 0);
    gf_json_number(json, "bits", format.bits, 0);
    if (gf_is_float(format))
        gf_json_string(json, "samples", "float");
    gf_json_end(json);
}

static double gb_s(double bytes_s)
{
    return bytes_s > 0 ? bytes_s * 1e-9 : NAN;
}

void gf_json_peaks(struct gf_json *json, double device_copy, double upload, double download)
{
    gf_json_object(json, "peaks", GF_JSON_INLINE);
    gf_json_number(json, "device_copy_gb_s", gb_s(device_copy), 6);
    gf_json_number(json, "upload_gb_s", gb_s(upload), 6);
    gf_json_number(json, "download_gb_s", gb_s(download), 6);
    gf_json_end(json);
}
