/* The part of icc that other filters use. */
#ifndef GF_FILTERS_ICC_ICC_H
#define GF_FILTERS_ICC_ICC_H

#include "stage/filter.h"

/* The filter `icc=srgb` without parameters (params is NULL), as a part of another filter. In a
 * build without Little CMS it changes nothing. */
extern const struct gf_filter gf_icc_to_srgb;

#endif
