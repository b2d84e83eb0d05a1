/* Binds the filters that a plan runs to stages. */
#pragma once

#include "chain/plan.h"

/* A filter that the plan will run. It is a filter of the chain, a part of such a filter, or a
 * filter that the planner adds for the picture's orientation or its alpha. */
struct gf_plan_item {
    const struct gf_filter *filter;
    const void *params;
    const struct gf_variant *variant;
    const struct gf_filter *written; /* the filter of the chain of which this item is a part */
    struct gf_icc icc;               /* the profile of the item's input */
};

/* Makes the plan's stages from the items. Adjacent point filters become one stage, unless
 * `no_fuse`. */
enum gf_status gf_plan_bind(struct gf_plan *plan, const struct gf_plan_item *item, int count,
                            bool no_fuse, struct gf_error *error) GF_CHECKED;
