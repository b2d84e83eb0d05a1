/* Plans a filter that is limited to a region. */
#pragma once

#include "chain/plan.h"
#include "chain/region.h"
#include "pixel/point/premultiply.h"
#include "pixel/region/region.h"

/* gf_plan_make_for(), which itself calls gf_region_plan(). */
typedef enum gf_status gf_planner(const struct gf_chain *chain, struct gf_format in,
                                  const struct gf_plan_request *request, struct gf_plan *plan,
                                  struct gf_error *error);

struct gf_region_request {
    gf_planner *plan;
    const struct gf_chain_item *item;
    struct gf_icc icc;                       /* the profile of the picture's colours */
    const struct gf_facts_of_picture *facts; /* of struct gf_plan_request */
    bool no_fuse;
};

/* Makes the parameters of gf_region for a picture with straight alpha; NULL if the filter changes
 * nothing there. *wider is set if the filter may make more channels than the picture has: the
 * picture needs them before gf_region. `plan` owns both. */
enum gf_status gf_region_plan(const struct gf_region_request *request, struct gf_format in,
                              struct gf_plan *plan, struct gf_channels **wider,
                              struct gf_region_parts **parts, struct gf_error *error) GF_CHECKED;
