/* Reads the value of one parameter from text. Values are checked here and nowhere else. */
#ifndef GF_CHAIN_PARAM_VALUE_H
#define GF_CHAIN_PARAM_VALUE_H

#include "stage/filter.h"

/* Stores the value in its member of params. The error message begins with the filter's name. */
enum gf_status gf_param_set_value(const struct gf_filter *filter, const struct gf_param *param,
                                  const char *text, void *params,
                                  struct gf_error *error) GF_CHECKED;
/* Stores every parameter's default in params, which must be zero before. */
void gf_params_set_defaults(const struct gf_filter *filter, void *params);

#endif
