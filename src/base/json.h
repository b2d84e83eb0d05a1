/* Writes JSON, member by member, with its commas, line breaks and quotes. The key is NULL for an
 * element of an array and for the outermost value.
 * struct gf_json json = gf_json_begin(file); gf_json_object(&json, NULL, GF_JSON_COMPACT);
 * gf_json_number(&json, "pi", 3.14159, 2); gf_json_end(&json);
 * writes {"pi":3.14} and a line break. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The separators between the members of an object or array. */
enum gf_json_layout {
    GF_JSON_COMPACT,    /* "a":1,"b":2 */
    GF_JSON_INLINE,     /* "a": 1, "b": 2 */
    GF_JSON_LINES,      /* as GF_JSON_INLINE, but each member has a line of its own */
    GF_JSON_LINES_OPEN, /* as GF_JSON_LINES, but the last member and the bracket are on one line */
};

enum { GF_JSON_DEPTH_MAX = 8 };

struct gf_json {
    FILE *file;
    int indent; /* the number of spaces by which each level is indented */
    int depth, lines;
    struct {
        enum gf_json_layout layout;
        char close;
        bool begun;
    } level[GF_JSON_DEPTH_MAX];
};

struct gf_json gf_json_begin(FILE *file);
void gf_json_object(struct gf_json *json, const char *key, enum gf_json_layout layout);
void gf_json_array(struct gf_json *json, const char *key, enum gf_json_layout layout);
/* Ends the innermost object or array that is open. A line break follows the outermost one. */
void gf_json_end(struct gf_json *json);

/* Writes a text; NULL becomes null. Bytes that are not UTF-8 become \udc80 to \udcff, as Python
 * writes them. */
void gf_json_string(struct gf_json *json, const char *key, const char *text);
/* Writes a hash as a text of 16 digits; 0 becomes "". */
void gf_json_hash(struct gf_json *json, const char *key, uint64_t hash);
/* Writes a number with that many decimals. NaN and infinity become null. */
void gf_json_number(struct gf_json *json, const char *key, double value, int decimals);
/* Writes a number with up to nine significant digits. */
void gf_json_figure(struct gf_json *json, const char *key, double value);
void gf_json_bool(struct gf_json *json, const char *key, bool value);

/* A key of a JSON object, or a column of a table, and its description in the manual. */
struct gf_key_help {
    const char *path, *help;
};
