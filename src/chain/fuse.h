/* Fuses stages of a plan, which is the planner's last step before it cuts segments. */
#pragma once

#include "chain/plan.h"

/* Merges a stencil and the tables before and after it into one stage (pixel/point/fused.h);
 * likewise a stencil and the conversions of alpha around it. A table between two stencils goes to
 * the first one, which writes fewer samples than the second one reads. */
enum gf_status gf_plan_fuse(struct gf_plan *plan, struct gf_error *error) GF_CHECKED;
