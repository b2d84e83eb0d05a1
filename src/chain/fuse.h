/* The planner's last step before it cuts segments. */
#ifndef GF_CHAIN_FUSE_H
#define GF_CHAIN_FUSE_H

#include "chain/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes one stage of a stencil and the tables on either side (pixel/fused.h), or the conversions of
 * alpha. Between two stencils a table goes to the first, which writes fewer samples than the second
 * reads. */
enum gf_status gf_plan_fuse(struct gf_plan *plan, struct gf_error *error) GF_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
