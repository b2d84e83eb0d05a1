/* Writes JSON, member by member, with its commas, line breaks and quotes. The key is NULL for an
 * element of an array and for the outermost value. The calls
 *   struct gf_json json = gf_json_begin(file);
 *   gf_json_object(&json, NULL, GF_JSON_COMPACT);
 *   gf_json_number(&json, "pi", 3.14159, 2);
 *   gf_json_end(&json);
 * write {"pi":3.14} and a line break. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gpufilter/status.h"

/* What stands between two members of an object or array. */
enum gf_json_layout {
    GF_JSON_COMPACT,    /* "a":1,"b":2 */
    GF_JSON_INLINE,     /* "a": 1, "b": 2 */
    GF_JSON_LINES,      /* as GF_JSON_INLINE, but each member has a line of its own */
    GF_JSON_LINES_OPEN, /* as GF_JSON_LINES, but the last member and the bracket are on one line */
};

enum { GF_JSON_DEPTH_MAX = 8 };

struct gf_json {
    FILE *file;
    int indent; /* the spaces of indentation for each level */
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
/* Writes a hash as a text of 16 hexadecimal digits; 0 becomes "". */
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

/* Reads JSON (RFC 8259) into a tree. The text may come from a stranger: its depth and size are
 * limited, and damage is an error that names the line. */

enum gf_json_type {
    GF_JSON_NULL,
    GF_JSON_BOOL,
    GF_JSON_NUMBER,
    GF_JSON_STRING,
    GF_JSON_ARRAY,
    GF_JSON_OBJECT
};

struct gf_json_value {
    enum gf_json_type type;
    const char *key;  /* the key of a member of an object; otherwise NULL */
    const char *text; /* the text of a string; \udc80 to \udcff have become bytes */
    double number;    /* the value of a number; 0 or 1 for a bool */
    /* `first` is the first element or member of this value, `next` the element or member that
     * follows this value in its parent; NULL: there is none. */
    const struct gf_json_value *first, *next;
};

enum { GF_JSON_READ_DEPTH_MAX = 32 };

struct gf_json_tree {
    struct gf_json_value *value; /* all values; the first is the root */
    char *text;                  /* the memory in which the strings lie */
};

/* Reads one value; the text contains nothing else but white space. Messages name the file `name`
 * and count lines from `line`, the number of the text's first line. */
enum gf_status gf_json_read(const char *name, int line, const char *text, size_t size,
                            struct gf_json_tree *tree, struct gf_error *error) GF_CHECKED;
void gf_json_tree_free(struct gf_json_tree *tree);

/* Returns a member of an object; NULL if the value is no object, or has no such member. `value` may
 * be NULL. */
const struct gf_json_value *gf_json_member(const struct gf_json_value *value, const char *key);
/* Returns the object's member `key` as a number; NaN if it is missing or no number. */
double gf_json_number_of(const struct gf_json_value *value, const char *key);
/* Returns the object's member `key` as an integer within least .. most, or else `otherwise`. */
int gf_json_int_of(const struct gf_json_value *value, const char *key, int least, int most,
                   int otherwise);
/* Returns the text of the object's member `key`; "" if the member is missing or no text. */
const char *gf_json_text_of(const struct gf_json_value *value, const char *key);
/* Returns the first element or member inside the object's member `key`, or NULL. Its `next` is the
 * following one. */
const struct gf_json_value *gf_json_first_of(const struct gf_json_value *value, const char *key);
size_t gf_json_count(const struct gf_json_value *first); /* counts the values from `first` on */
