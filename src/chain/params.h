#pragma once

#include "chain/region.h"
#include "gpufilter/filter.h"
#include "stage/filter.h"

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

/* Reads a colour. Returns false if the text is no colour. */
bool gf_colour_parse(const char *text, struct gf_colour *colour);
/* Returns the colour of the number 0xRRGGBB. */
struct gf_colour gf_colour_of_number(unsigned number);
/* Writes the colour 0xRRGGBB as its name, if it has one, otherwise as gf_colour_parse() reads
 * it. */
void gf_colour_text(unsigned number, char *text, size_t size);
