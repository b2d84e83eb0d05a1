/* Cuts plans into parts, so that stages that several plans have in common run once. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "chain/fuse.h"
#include "chain/plan.h"
#include "pixel/point/fused.h"
#include "pixel/point/point.h"

/* Compares parameters as plain bytes, including the padding between members. The parameters of a
 * chain are zeroed first. The parameters of a filter's parts may not be zeroed; an equal stage then
 * counts as different and is run again. */
static bool same_params(const struct gf_filter *filter, const void *a, const void *b)
{
    return a == b || (a && b && filter->params_size && !memcmp(a, b, filter->params_size));
}

static bool same_run(const struct gf_point_run *a, const struct gf_point_run *b)
{
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = a->item[i].filter == b->item[i].filter &&
               (!a->item[i].filter->params_size ||
                same_params(a->item[i].filter, a->item[i].params, b->item[i].params));
    return same;
}

static bool same_format(struct gf_format a, struct gf_format b)
{
    return a.width == b.width && a.height == b.height && a.channels == b.channels &&
           a.bits == b.bits;
}

static bool same_stage(const struct gf_stage *a, const struct gf_stage *b)
{
    if (a->filter != b->filter || a->filter == &gf_fused || a->variant != b->variant ||
        !same_format(a->in, b->in) || !same_format(a->out, b->out))
        return false;
    if (a->filter->kind == GF_COLOUR && !gf_icc_same(a->icc, b->icc))
        return false;
    return a->filter == &gf_point
               ? same_run(a->params, b->params)
               : !a->filter->params_size || same_params(a->filter, a->params, b->params);
}

int gf_plan_common(const struct gf_plan *a, int first_a, const struct gf_plan *b, int first_b)
{
    int count = 0;
    while (first_a + count < a->stage_count && first_b + count < b->stage_count &&
           same_stage(&a->stage[first_a + count], &b->stage[first_b + count]))
        count++;
    return count;
}

void gf_plan_take_constants(struct gf_plan *plan, struct gf_plan *from)
{
    for (int i = 0; i < plan->stage_count && i < from->stage_count; i++) {
        struct gf_stage *const to = &plan->stage[i], *const stage = &from->stage[i];
        if (!stage->constants || gf_stage_statistic(to) || to->filter->kind == GF_COLOUR ||
            !same_stage(to, stage))
            continue;
        to->constants = stage->constants;
        to->constants_size = stage->constants_size;
        stage->constants = NULL;
    }
}

enum gf_status gf_plan_cut(const struct gf_plan *plan, int first, int end, struct gf_plan *part,
                           struct gf_error *error)
{
    const int count = end - first;
    *part = (struct gf_plan){.in = first ? plan->stage[first - 1].out : plan->in,
                             .out = end ? plan->stage[end - 1].out : plan->in,
                             .icc = plan->icc,
                             .recoloured = plan->recoloured,
                             .on_device = plan->on_device};
    part->stage = calloc((size_t)count + 1, sizeof *part->stage);
    part->stage_count = part->stage ? count : 0;
    for (int i = 0; part->stage && i < count; i++) {
        part->stage[i] = plan->stage[first + i];
        part->stage[i].constants = NULL; /* the part prepares its own constants */
    }
    enum gf_status status = part->stage ? GF_OK : gf_fail_memory(error);
    if (!status && plan->fuses)
        status = gf_plan_fuse(part, error);
    if (!status)
        status = gf_plan_cut_segments(part, error);
    if (status)
        gf_plan_free(part);
    return status;
}
