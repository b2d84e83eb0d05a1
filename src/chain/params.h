/* The parameters of one filter as text. */
#ifndef GF_CHAIN_PARAMS_H
#define GF_CHAIN_PARAMS_H

#include "stage/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The parameters after a name, "=value:key=value", up to ',' or the end; *text moves there. Needs
 * the filter's name, params and check alone: labs are read by it too. */
enum gf_status gf_params_parse(const struct gf_filter *filter, const char **text, void *params,
                               struct gf_error *error) GF_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
