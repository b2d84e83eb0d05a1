/* The part of icc that other filters use. */
#ifndef GF_FILTERS_ICC_ICC_H
#define GF_FILTERS_ICC_ICC_H

#include "stage/filter.h"

/* `icc=srgb` without parameters (params NULL), as a part of another filter. In a build without
 * Little CMS it changes neither colours nor their profile. */
extern const struct gf_filter gf_icc_to_srgb;

#endif
