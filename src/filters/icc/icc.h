/* What other filters use of icc. */
#ifndef GF_FILTERS_ICC_ICC_H
#define GF_FILTERS_ICC_ICC_H

#include "stage/filter.h"

/* `icc=srgb` without parameters (params NULL), as a part of another filter. A build without Little
 * CMS leaves the colours and their profile as they are. */
extern const struct gf_filter gf_icc_to_srgb;

#endif
