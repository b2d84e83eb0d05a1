/* Frees a plan, cuts its stages into segments, and finds the rows that each band of a segment
 * needs. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "chain/plan.h"

void *gf_plan_own(struct gf_plan *plan, size_t size)
{
    if (!GF_GROW(plan->owned, plan->owned_count))
        return NULL;
    plan->owned[plan->owned_count] = (struct gf_owned){.params = calloc(1, size ? size : 1)};
    return plan->owned[plan->owned_count++].params;
}

enum gf_status gf_plan_adopt(struct gf_plan *plan, struct gf_plan *part, struct gf_error *error)
{
    for (; part->owned_count; part->owned_count--) {
        if (!GF_GROW(plan->owned, plan->owned_count))
            return gf_fail_memory(error);
        plan->owned[plan->owned_count++] = part->owned[part->owned_count - 1];
    }
    return GF_OK;
}

void gf_plan_free(struct gf_plan *plan)
{
    for (int i = 0; i < plan->stage_count; i++)
        gf_stage_release(&plan->stage[i]);
    for (int i = 0; i < plan->owned_count; i++) {
        if (plan->owned[i].loaded)
            plan->owned[i].loaded->unload(plan->owned[i].params);
        free(plan->owned[i].params);
    }
    free(plan->owned);
    free(plan->stage);
    free(plan->segment);
    *plan = (struct gf_plan){0};
}

enum gf_status gf_plan_cut_segments(struct gf_plan *plan, struct gf_error *error)
{
    plan->segment = calloc((size_t)plan->stage_count + 1, sizeof *plan->segment);
    if (!plan->segment)
        return gf_fail_memory(error);
    struct gf_segment *segment = plan->segment;
    *segment = (struct gf_segment){.in = plan->in, .out = plan->in};
    plan->segment_count = 1;
    for (int i = 0; i < plan->stage_count; i++) {
        const struct gf_stage *const stage = &plan->stage[i];
        const enum gf_statistic statistic = gf_stage_statistic(stage);
        if (statistic || gf_stage_needs_whole(stage) || segment->count + 2 >= GF_CUTS_MAX) {
            segment->statistic = statistic;
            segment = &plan->segment[plan->segment_count++];
            *segment = (struct gf_segment){.first = i, .in = stage->in};
        }
        segment->count++;
        segment->out = stage->out;
    }
    return GF_OK;
}

void gf_segment_rows(const struct gf_plan *plan, const struct gf_segment *segment, int y0, int y1,
                     struct gf_rows *cut)
{
    cut[segment->count] = (struct gf_rows){y0, y1};
    for (int i = segment->count; i > 0; i--)
        gf_stage_input_rows(&plan->stage[segment->first + i - 1], cut[i].first, cut[i].end,
                            &cut[i - 1].first, &cut[i - 1].end);
}
