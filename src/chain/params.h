/* The text of a chain: its words, the parameters of filters and their values as text. */
#pragma once

#include <stddef.h>

#include "chain/region.h"
#include "gpufilter/filter.h"
#include "stage/filter.h"

/* The most bytes of a token, which is a word of a chain; a matrix of 31x31 numbers fits. */
enum { GF_TOKEN_MAX = 32768 };

/* Copies the next word of a chain: the text up to one of the characters of `stops`, into `token`,
 * which has room for GF_TOKEN_MAX bytes. A text that begins with ' or " is copied without its
 * quotes, and no character between the quotes stops the copy; quotes elsewhere are ordinary
 * characters. A character after a backslash does not stop the copy either. Blanks at both ends are
 * left out, unless they stand in quotes or after a backslash. Returns where the copy stopped, or
 * NULL if the text is too long or a quote is not closed. */
const char *gf_token_next(const char *text, const char *stops, char *token);

/* Does what gf_token_next() does for the value of a parameter that is a text, up to ':' or ','. A
 * colon of a time (12:30), of an address (https://x.org) or of the field {n:4} belongs to the text,
 * and so does a comma between two digits. */
const char *gf_token_next_text(const char *text, char *token);

/* Parameters that filters take besides their own ones. */
struct gf_common_params {
    const struct gf_variant *variant; /* chosen by variant=name; NULL: the default */
    struct gf_region_params region;
};

/* Reads the parameters after a filter's name, "=value:key=value", up to ',' or the end, and moves
 * *text there. *common must be zero before; `common` is NULL for labs (microbenchmarks), whose
 * `filter` has only the members name, params and check. */
enum gf_status gf_params_parse(const struct gf_filter *filter, const char **text, void *params,
                               struct gf_common_params *common, struct gf_error *error) GF_CHECKED;

/* Reads the value of one parameter, and stores it in the parameter's member of params. The error
 * message begins with the filter's name. */
enum gf_status gf_param_set_value(const struct gf_filter *filter, const struct gf_param *param,
                                  const char *text, void *params,
                                  struct gf_error *error) GF_CHECKED;
/* Returns the name of the filter's first parameter that has the text as a word, a colour or a size;
 * NULL if there is none. */
const char *gf_param_meant(const struct gf_filter *filter, const char *text);
/* Stores every parameter's default in params, which must be zero before. */
void gf_params_set_defaults(const struct gf_filter *filter, void *params);

/* Writes the colour 0xRRGGBB as its name in CSS, if it has one, otherwise as "#rrggbb". */
void gf_colour_text(unsigned number, char *text, size_t size);
