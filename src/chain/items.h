/* The items of a plan before they become stages, and the rectangle of the picture that they read:
 * going backwards from a crop, each item turns the rectangle of its result into that of its input,
 * as far as its pixels do not depend on anything else. */
#pragma once

#include "chain/plan.h"

/* A filter that the plan will run: a filter of the chain, a part of such a filter, or one that the
 * planner adds for the picture's orientation, its colours or its alpha. */
struct gf_plan_item {
    const struct gf_filter *filter;
    const void *params;
    const struct gf_variant *variant;
    const struct gf_filter *written; /* the filter of the chain of which this one does a part */
    struct gf_icc icc;               /* the profile of the item's input */
};

/* Sets *window to the rectangle of a picture of the format `in` that the items need; to all of it
 * if they do not begin with filters of parts of a picture that lead to a crop. */
enum gf_status gf_items_window(const struct gf_plan_item *item, int count, struct gf_format in,
                               struct gf_rectangle *window, struct gf_error *error) GF_CHECKED;
/* Changes the items, made for a picture of the format `in`, to read only that rectangle of it,
 * which contains gf_items_window()'s. Their result stays the same. `plan` owns new parameters. */
enum gf_status gf_items_narrow(struct gf_plan *plan, struct gf_plan_item *item, int count,
                               struct gf_format in, struct gf_rectangle window,
                               struct gf_error *error) GF_CHECKED;
