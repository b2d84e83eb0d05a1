#ifndef GF_CHAIN_PARAMS_H
#define GF_CHAIN_PARAMS_H

#include "base/c_linkage.h"
#include "chain/region.h"
#include "stage/filter.h"

GF_C_BEGIN

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

GF_C_END
#endif
