/* The boxes of a region on a picture of a known size. */
#ifndef GF_CHAIN_REGION_BOXES_H
#define GF_CHAIN_REGION_BOXES_H

#include "base/c_linkage.h"
#include "chain/region.h"
#include "pixel/region/region.h"

GF_C_BEGIN

/* Sets run->cover, run->mask and the places of the boxes, which do not overlap. */
void gf_region_find_boxes(const struct gf_region *region, struct gf_format format,
                          struct gf_region_run *run);
/* Merges boxes that overlap or, with whole_rows, have rows in common. */
void gf_region_merge_boxes(struct gf_region_run *run, bool whole_rows);

GF_C_END
#endif
