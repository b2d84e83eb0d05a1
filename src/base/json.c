#include "base/json.h"

#include <inttypes.h>
#include <math.h>

#include "base/printable.h"

static void put_quoted(FILE *file, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    putc('"', file);
    while (*at) {
        const int length = gf_utf8_length((const char *)at);
        if (!length)
            fprintf(file, "\\udc%02x", *at);
        else if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(file, "\\u%04x", *at);
        else
            fwrite(at, 1, (size_t)length, file);
        at += length ? length : 1;
    }
    putc('"', file);
}

static bool in_lines(enum gf_json_layout layout)
{
    return layout == GF_JSON_LINES || layout == GF_JSON_LINES_OPEN;
}

static void break_line(const struct gf_json *json)
{
    fprintf(json->file, "\n%*s", json->indent * json->lines, "");
}

/* Writes what precedes a value: the separator and the key. */
static void put_key(struct gf_json *json, const char *key)
{
    if (!json->depth)
        return;
    const enum gf_json_layout layout = json->level[json->depth - 1].layout;
    bool *const begun = &json->level[json->depth - 1].begun;
    if (*begun)
        putc(',', json->file);
    if (in_lines(layout))
        break_line(json);
    else if (*begun && layout == GF_JSON_INLINE)
        putc(' ', json->file);
    *begun = true;
    if (!key)
        return;
    put_quoted(json->file, key);
    fputs(layout == GF_JSON_COMPACT ? ":" : ": ", json->file);
}

static void open_level(struct gf_json *json, const char *key, enum gf_json_layout layout,
                       const char brackets[2])
{
    put_key(json, key);
    putc(brackets[0], json->file);
    json->lines += in_lines(layout);
    json->level[json->depth].layout = layout;
    json->level[json->depth].close = brackets[1];
    json->level[json->depth++].begun = false;
}

struct gf_json gf_json_begin(FILE *file)
{
    return (struct gf_json){.file = file, .indent = 2};
}

void gf_json_object(struct gf_json *json, const char *key, enum gf_json_layout layout)
{
    open_level(json, key, layout, "{}");
}

void gf_json_array(struct gf_json *json, const char *key, enum gf_json_layout layout)
{
    open_level(json, key, layout, "[]");
}

void gf_json_end(struct gf_json *json)
{
    const enum gf_json_layout layout = json->level[--json->depth].layout;
    json->lines -= in_lines(layout);
    if (layout == GF_JSON_LINES)
        break_line(json);
    putc(json->level[json->depth].close, json->file);
    if (!json->depth)
        putc('\n', json->file);
}

void gf_json_string(struct gf_json *json, const char *key, const char *text)
{
    put_key(json, key);
    if (text)
        put_quoted(json->file, text);
    else
        fputs("null", json->file);
}

void gf_json_hash(struct gf_json *json, const char *key, uint64_t hash)
{
    put_key(json, key);
    fprintf(json->file, hash ? "\"%016" PRIx64 "\"" : "\"\"", hash);
}

void gf_json_number(struct gf_json *json, const char *key, double value, int decimals)
{
    put_key(json, key);
    if (isfinite(value))
        fprintf(json->file, "%.*f", decimals, value);
    else
        fputs("null", json->file);
}

void gf_json_figure(struct gf_json *json, const char *key, double value)
{
    put_key(json, key);
    if (isfinite(value))
        fprintf(json->file, "%.9g", value);
    else
        fputs("null", json->file);
}

void gf_json_bool(struct gf_json *json, const char *key, bool value)
{
    put_key(json, key);
    fputs(value ? "true" : "false", json->file);
}
