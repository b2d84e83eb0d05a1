/* The parameters of one filter as text. */
#ifndef GF_CHAIN_PARAMS_H
#define GF_CHAIN_PARAMS_H

#include "stage/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the parameters behind a name, "=value:key=value", up to ',' or the end; *text moves there.
 * *variant is set where variant=name is among them; it may be NULL for a filter without variants.
 * Of the filter only the name, params, check and variants are used: labs are read by it too. */
enum gf_status gf_params_parse(const struct gf_filter *filter, const char **text, void *params,
                               const struct gf_variant **variant,
                               struct gf_error *error) GF_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
