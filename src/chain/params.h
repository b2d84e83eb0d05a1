/* The text of a chain: its words, the parameters of filters and their values, and what other
 * programs call them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "chain/region.h"
#include "gpufilter/filter.h"
#include "stage/filter.h"

enum { GF_TOKEN_MAX = 32768 }; /* the most bytes of a token; a matrix of 31x31 numbers fits */

/* The words of the text: copies it up to one of the characters of `stops` into `token`, which has
 * room for GF_TOKEN_MAX bytes. A text that begins with ' or " is copied without its quotes, and no
 * character between the quotes stops the copy; quotes elsewhere are ordinary characters. A
 * character after a backslash does not stop the copy either. Blanks at both ends are left out,
 * unless they stand in quotes or after a backslash. Returns where the copy stopped, or NULL if the
 * text is too long or a quote is not closed. */
const char *gf_token_next(const char *text, const char *stops, char *token);

/* Does the same for a text, up to ':' or ','. A colon of a time (12:30), of an address
 * (https://x.org) or of the field {n:4} belongs to the text, and so does a comma between two
 * digits. */
const char *gf_token_next_text(const char *text, char *token);

/* Parameters that filters take besides their own ones. */
struct gf_common_params {
    const struct gf_variant *variant; /* chosen by variant=name; NULL: the default */
    struct gf_region_params region;
};

/* Reads the parameters after a filter's name, "=value:key=value", up to ',' or the end, and moves
 * *text there. `common` must be zero before; it is NULL for labs (microbenchmarks), which have
 * parameters of their own alone. Of these `filter` has only the members name, params and check. */
enum gf_status gf_params_parse(const struct gf_filter *filter, const char **text, void *params,
                               struct gf_common_params *common, struct gf_error *error) GF_CHECKED;

/* Stores the value in its member of params. The error message begins with the filter's name. */
enum gf_status gf_param_set_value(const struct gf_filter *filter, const struct gf_param *param,
                                  const char *text, void *params,
                                  struct gf_error *error) GF_CHECKED;
/* Stores every parameter's default in params, which must be zero before. */
void gf_params_set_defaults(const struct gf_filter *filter, void *params);

/* Colours as text: names of CSS, "#rgb", "#rrggbb" (in FFmpeg "0xrrggbb") and "#rrrrggggbbbb". */

/* Writes the colour 0xRRGGBB as its name, if it has one, otherwise as colour_parse() reads
 * it. */
void gf_colour_text(unsigned number, char *text, size_t size);

/* Adds the quoted form of a text to the error of a chain in which the text has a colon or a comma.
 */

/* What ImageMagick, libvips, sharp and FFmpeg call by words that no filter has. */

/* Returns a chain that does what other programs do for the first item of the chain, such as
 * "rotate=90" for "transpose=clock"; NULL if there is none. It is an example, in which the values
 * of the item do not stand. */
const char *gf_foreign_meaning(const char *chain);
/* Returns the index-th chain of the table, for tests; NULL after the last one. */
const char *gf_foreign_meaning_at(int index);

/* The geometry of ImageMagick, as in 400x300, 50%x50%, x300, 300x200+10+20 and 400x300>. */

/* If the filter takes the geometry in place of its first lengths, `values` becomes these, separated
 * by colons, and their most is returned: 2, or 4 with a place; else 0. These filters are those
 * whose w and h mean what they mean in ImageMagick. */
int gf_geometry_lengths(const struct gf_filter *filter, const char *text, char *values,
                        size_t size);
/* Writes what the filter takes in place of the geometry, such as "resize=400:300:fit=inside".
 * Returns false if the text is no geometry. */
bool gf_geometry_meaning(const struct gf_filter *filter, const char *text, char *meaning,
                         size_t size);
