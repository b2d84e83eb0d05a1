#include "chain/fuse.h"

#include "base/fail.h"
#include "pixel/point/fused.h"
#include "pixel/point/point.h"
#include "pixel/point/premultiply.h"

/* Whether the stage is a table that an adjacent stencil may apply. */
static bool is_table(const struct gf_plan *plan, int i)
{
    return i >= 0 && i < plan->stage_count && !plan->stage[i].variant &&
           gf_point_is_table(&plan->stage[i]);
}

/* Returns which tables the kernels of a stage can apply in addition to their own work. */
static enum gf_fusing fusing_of(const struct gf_stage *stage)
{
    const int border = gf_stage_border(stage);
    if (!stage->filter->fuses || stage->variant || stage->in.bits != 8 || gf_has_alpha(stage->in))
        return GF_FUSES_NOTHING;
    /* A table before the stencil would also change the value of a constant border. With a border
     * that wraps, each band would need the whole picture after the table. */
    const int usable =
        border == GF_BORDER_CONSTANT || border == GF_BORDER_WRAP ? GF_FUSES_AFTER : GF_FUSES_BOTH;
    return (enum gf_fusing)((int)stage->filter->fuses(stage->params) & usable);
}

/* Whether the stage premultiplies RGBA, or RGB of 8 bits after it has made it opaque. */
static bool premultiplies(const struct gf_stage *stage, bool or_makes_opaque)
{
    const struct gf_point_run *const run = stage->params;
    if (stage->filter != &gf_point || run->item[run->count - 1].filter != &gf_premultiply ||
        run->count > 2 || (run->count == 2 && run->item[0].filter != &gf_opaque))
        return false;
    return stage->in.channels == 4 ||
           (or_makes_opaque && stage->in.channels == 3 && stage->in.bits == 8);
}

/* Whether stage i premultiplies RGBA, stage i + 1 is a stencil that can read RGBA itself, and stage
 * i + 2 divides the stencil's colour by alpha again. */
static bool is_alpha_stencil(const struct gf_plan *plan, int i)
{
    if (i + 2 >= plan->stage_count)
        return false;
    const struct gf_stage *const stage = &plan->stage[i], *const stencil = stage + 1;
    const bool far = !gf_stage_rows_known(stencil);
    return (plan->on_device || !far) && premultiplies(stage, far) &&
           stage->in.bits == stage[2].out.bits && gf_point_is_only(stage + 2, &gf_unpremultiply) &&
           stencil->filter->fuses && !stencil->variant &&
           gf_stage_border(stencil) != GF_BORDER_WRAP &&
           stencil->filter->fuses(stencil->params) & GF_FUSES_ALPHA;
}

enum gf_status gf_plan_fuse(struct gf_plan *plan, struct gf_error *error)
{
    struct gf_stage *const stage = plan->stage;
    const int count = plan->stage_count;
    enum gf_status status = GF_OK;
    int made = 0;
    for (int i = 0; !status && i < count;) {
        const enum gf_fusing own = fusing_of(&stage[i]);
        const enum gf_fusing next = i + 1 < count ? fusing_of(&stage[i + 1]) : GF_FUSES_NOTHING;
        const int alpha = is_alpha_stencil(plan, i);
        const int before = alpha || (!own && next & GF_FUSES_BEFORE && is_table(plan, i));
        const int at = i + before;
        const int after =
            alpha || ((before ? next : own) & GF_FUSES_AFTER && is_table(plan, at + 1));
        if (!before && !after) {
            stage[made++] = stage[i++];
            continue;
        }
        struct gf_fused_run *const run = gf_plan_own(plan, sizeof *run);
        if (!run)
            return gf_fail_memory(error);
        if (before)
            run->part[GF_FUSED_BEFORE] = stage[i];
        run->part[GF_FUSED_STENCIL] = stage[at];
        if (after)
            run->part[GF_FUSED_AFTER] = stage[at + 1];
        status = gf_stage_bind(&stage[made++], &gf_fused, run, stage[i].in, error);
        i = at + 1 + after;
    }
    plan->stage_count = made;
    return status;
}
