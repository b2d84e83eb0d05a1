/* The variants of the filters' kernels that are not the default, which people study. Beside
 * src/cli/study/study.h this header is all that a build without the study (make STUDY=0) contains
 * of it. */
#pragma once

#include <stddef.h>

#include "stage/filter.h"

enum { GF_MEDIAN_LOCAL_MAX = 5 }; /* the largest radius of median's variant "local" */

#ifdef GF_WITH_STUDY
/* Returns one of the lists that variants.def has for the filter: `index` counts them from 0 on.
 * NULL: there are no more. */
const struct gf_variant *gf_studied_variants(const struct gf_filter *filter, int index);
#else
static inline const struct gf_variant *gf_studied_variants(const struct gf_filter *filter,
                                                           int index)
{
    (void)filter, (void)index;
    return NULL;
}
#endif
