#ifndef GF_CHAIN_PARAMS_H
#define GF_CHAIN_PARAMS_H

#include "base/c_linkage.h"
#include "stage/filter.h"

GF_C_BEGIN

/* Reads the parameters after a filter's name, "=value:key=value", up to ',' or the end, and moves
 * *text there. Sets *variant if variant=name is among the parameters; `variant` may be NULL for a
 * filter without variants. It uses only the members name, params, check and variants of the filter,
 * because it also reads the parameters of labs (microbenchmarks). */
enum gf_status gf_params_parse(const struct gf_filter *filter, const char **text, void *params,
                               const struct gf_variant **variant,
                               struct gf_error *error) GF_CHECKED;

GF_C_END
#endif
