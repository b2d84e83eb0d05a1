/* Writes JSON, member by member, and reads it into a tree. */
#include "base/text/json.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text/plain_text.h"

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

struct reader {
    char *at, *end; /* the next character, and the end of the text, where *end is '\0' */
    struct gf_json_tree *tree;
    size_t count; /* the number of values in use */
    int depth;
};

static void skip_space(struct reader *reader)
{
    while (*reader->at && strchr(" \t\r\n", *reader->at))
        reader->at++;
}

static bool take(struct reader *reader, char letter)
{
    skip_space(reader);
    if (*reader->at != letter)
        return false;
    reader->at++;
    return true;
}

/* Returns the value of four hexadecimal digits; -1 if the text is not four such digits. */
static int hex4(const char *text)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        if (!isxdigit((unsigned char)text[i]))
            return -1;
        const int digit = tolower((unsigned char)text[i]);
        value = 16 * value + (digit > '9' ? digit - 'a' + 10 : digit - '0');
    }
    return value;
}

static char *put_utf8(char *to, int code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 63));
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    }
    return to;
}

/* Reads what follows \u: a character, a surrogate pair that is one character, or a byte that is not
 * UTF-8 (udc80 to udcff). A zero is an error, since a text cannot contain it. Returns the place
 * behind it; NULL if the text is damaged. */
static char *read_code(struct reader *reader, char *to)
{
    int code = hex4(reader->at);
    if (code <= 0)
        return NULL;
    reader->at += 4;
    if (code >= 0xd800 && code < 0xdc00 && reader->at[0] == '\\' && reader->at[1] == 'u') {
        const int low = hex4(reader->at + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            reader->at += 6;
            return put_utf8(to, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
        }
    }
    if (code >= 0xdc80 && code <= 0xdcff)
        *to++ = (char)(code & 0xff);
    else
        to = put_utf8(to, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
    return to;
}

/* Removes the escapes from the string after its opening quote, in place: the result is never
 * longer. Returns NULL if the string is damaged. */
static const char *read_string(struct reader *reader)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char *const text = reader->at, *to = text;
    for (; *reader->at != '"';) {
        if ((unsigned char)*reader->at < ' ')
            return NULL;
        if (*reader->at != '\\') {
            *to++ = *reader->at++;
            continue;
        }
        const char letter = *++reader->at;
        const char *const known = letter ? strchr(letters, letter) : NULL;
        reader->at += letter != '\0';
        if (known)
            *to++ = meant[known - letters];
        else if (letter != 'u' || !(to = read_code(reader, to)))
            return NULL;
    }
    *to = '\0'; /* may overwrite the closing quote, which has been read */
    reader->at++;
    return text;
}

static bool read_value(struct reader *reader, struct gf_json_value *value);

/* Reads the elements or members of an array or object, up to `close`, its closing bracket. */
static bool read_list(struct reader *reader, struct gf_json_value *value, char close)
{
    const struct gf_json_value **link = &value->first;
    value->type = close == '}' ? GF_JSON_OBJECT : GF_JSON_ARRAY;
    if (++reader->depth > GF_JSON_READ_DEPTH_MAX)
        return false;
    if (!take(reader, close)) {
        do {
            struct gf_json_value *const next = &reader->tree->value[reader->count++];
            *next = (struct gf_json_value){0};
            if (close == '}' &&
                (!take(reader, '"') || !(next->key = read_string(reader)) || !take(reader, ':')))
                return false;
            if (!read_value(reader, next))
                return false;
            *link = next;
            link = &next->next;
        } while (take(reader, ','));
        if (!take(reader, close))
            return false;
    }
    reader->depth--;
    return true;
}

static bool read_word(struct reader *reader, struct gf_json_value *value)
{
    static const struct {
        const char *word;
        enum gf_json_type type;
        int number;
    } words[] = {{"true", GF_JSON_BOOL, 1}, {"false", GF_JSON_BOOL, 0}, {"null", GF_JSON_NULL, 0}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strncmp(reader->at, words[i].word, strlen(words[i].word)))
            continue;
        value->type = words[i].type;
        value->number = words[i].number;
        reader->at += strlen(words[i].word);
        return true;
    }
    return false;
}

static bool read_value(struct reader *reader, struct gf_json_value *value)
{
    const char *end;
    skip_space(reader);
    if (*reader->at == '{' || *reader->at == '[')
        return read_list(reader, value, *reader->at++ == '{' ? '}' : ']');
    if (*reader->at == '"') {
        reader->at++;
        value->type = GF_JSON_STRING;
        value->text = read_string(reader);
        return value->text != NULL;
    }
    if (*reader->at != '-' && !isdigit((unsigned char)*reader->at))
        return read_word(reader, value);
    value->type = GF_JSON_NUMBER;
    if (!gf_value_number(reader->at, &value->number, &end))
        return false;
    reader->at += end - reader->at;
    return true;
}

/* Returns the largest number of values that the text can contain: one for each comma and each
 * opening bracket, and the root. */
static size_t values_at_most(const char *text, size_t size)
{
    size_t count = 1;
    for (size_t i = 0; i < size; i++)
        count += text[i] == ',' || text[i] == '[' || text[i] == '{';
    return count;
}

static int lines_before(const char *text, size_t size)
{
    int lines = 0;
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    return lines;
}

enum gf_status gf_json_read(const char *name, int line, const char *text, size_t size,
                            struct gf_json_tree *tree, struct gf_error *error)
{
    struct reader reader = {.tree = tree, .count = 1};
    tree->value = calloc(values_at_most(text, size), sizeof *tree->value);
    tree->text = malloc(size + 1);
    if (!tree->value || !tree->text) {
        gf_json_tree_free(tree);
        return gf_fail_memory(error);
    }
    memcpy(tree->text, text, size);
    tree->text[size] = '\0';
    reader.at = tree->text;
    reader.end = tree->text + size;
    bool right = read_value(&reader, tree->value);
    if (right)
        skip_space(&reader);
    if (right && reader.at == reader.end)
        return GF_OK;
    const size_t read = (size_t)(reader.at - tree->text);
    const bool deep = reader.depth > GF_JSON_READ_DEPTH_MAX;
    gf_json_tree_free(tree);
    return gf_fail(error, GF_ERROR_INPUT, "%s: line %d is no JSON: %s", name,
                   line + lines_before(text, read < size ? read : size),
                   deep           ? "nested too deeply"
                   : read >= size ? "the file ends before its value does"
                                  : "damaged, or not by this program");
}

void gf_json_tree_free(struct gf_json_tree *tree)
{
    free(tree->value);
    free(tree->text);
    *tree = (struct gf_json_tree){0};
}

const struct gf_json_value *gf_json_member(const struct gf_json_value *value, const char *key)
{
    if (!value || value->type != GF_JSON_OBJECT)
        return NULL;
    const struct gf_json_value *member = value->first;
    while (member && strcmp(member->key, key))
        member = member->next;
    return member;
}

double gf_json_number_of(const struct gf_json_value *value, const char *key)
{
    const struct gf_json_value *const member = gf_json_member(value, key);
    return member && member->type == GF_JSON_NUMBER ? member->number : NAN;
}

int gf_json_int_of(const struct gf_json_value *value, const char *key, int least, int most,
                   int otherwise)
{
    const double number = gf_json_number_of(value, key);
    return number >= least && number <= most ? (int)number : otherwise;
}

const char *gf_json_text_of(const struct gf_json_value *value, const char *key)
{
    const struct gf_json_value *const member = gf_json_member(value, key);
    return member && member->type == GF_JSON_STRING ? member->text : "";
}

const struct gf_json_value *gf_json_first_of(const struct gf_json_value *value, const char *key)
{
    const struct gf_json_value *const member = gf_json_member(value, key);
    return member && (member->type == GF_JSON_ARRAY || member->type == GF_JSON_OBJECT)
               ? member->first
               : NULL;
}

size_t gf_json_count(const struct gf_json_value *first)
{
    size_t count = 0;
    for (; first; first = first->next)
        count++;
    return count;
}
