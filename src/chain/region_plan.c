#include "chain/region_plan.h"

#include <string.h>

#include "base/fail.h"
#include "pixel/point/fused.h"
#include "pixel/point/point.h"

/* Makes the plan of the filter alone, for a picture of that format. With channels, the result gets
 * that many; 0: those that the filter makes. */
static enum gf_status plan_filter(const struct gf_region_request *request, struct gf_format in,
                                  int channels, struct gf_plan *owner, struct gf_plan *plan,
                                  struct gf_error *error)
{
    struct gf_chain_item item[2] = {*request->item, {.filter = &gf_channels}};
    const struct gf_chain chain = {
        .item = item, .count = channels ? 2 : 1, .no_fuse = request->no_fuse};
    const struct gf_plan_request alone = {.icc = request->icc, .facts = request->facts};
    item[0].region = NULL;
    if (channels) {
        struct gf_channels *const params = gf_plan_own(owner, sizeof *params);
        if (!params)
            return gf_fail_memory(error);
        params->count = channels;
        item[1].params = params;
    }
    return request->plan(&chain, in, &alone, plan, error);
}

/* The number of channels of a picture that holds pixels of both formats. */
static int common_channels(struct gf_format a, struct gf_format b)
{
    const int colours = gf_colour_channels(a) > gf_colour_channels(b) ? gf_colour_channels(a)
                                                                      : gf_colour_channels(b);
    return colours + (gf_has_alpha(a) || gf_has_alpha(b));
}

/* Whether stages after the first one need the whole result of the stage before, for which a band
 * has no memory. Stencils whose border wraps need it for the first and the last rows alone. */
static bool goes_by_bands(const struct gf_plan *plan)
{
    bool good = true;
    for (int i = 1; i < plan->stage_count; i++) {
        const struct gf_stage *const stage = &plan->stage[i];
        good &=
            !gf_stage_statistic(stage) &&
            (stage->filter->radius || stage->filter == &gf_fused || !gf_stage_needs_whole(stage));
    }
    return good;
}

static enum gf_status check_plan(const struct gf_region_request *request,
                                 const struct gf_plan *plan, struct gf_error *error)
{
    const char *const name = request->item->filter->name;
    if (plan->out.width != plan->in.width || plan->out.height != plan->in.height)
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: a region needs a result of the picture's size, %dx%d; this one has "
                       "%dx%d",
                       name, plan->in.width, plan->in.height, plan->out.width, plan->out.height);
    if (!goes_by_bands(plan) || plan->stage_count > GF_REGION_STAGES_MAX)
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: a region is not for filters that go through the picture several times",
                       name);
    return GF_OK;
}

/* Returns how many columns beside a pixel the stage reads; -1 if that is not known. */
static int reach_of(const struct gf_stage *stage)
{
    if (stage->filter == &gf_point)
        return gf_point_is_only(stage, &gf_premultiply) ||
                       gf_point_is_only(stage, &gf_unpremultiply)
                   ? 0
                   : -1;
    if (stage->filter == &gf_fused)
        stage = &((const struct gf_fused_run *)stage->params)->part[GF_FUSED_STENCIL];
    const bool known = stage->filter->columns && !stage->variant && !gf_stage_needs_whole(stage);
    return known ? stage->filter->columns(stage->params) : -1;
}

static int reach_of_all(const struct gf_plan *plan)
{
    int sum = 0;
    for (int i = 0; i < plan->stage_count && sum >= 0; i++) {
        const int reach = reach_of(&plan->stage[i]);
        sum = reach < 0 ? -1 : sum + reach;
    }
    return sum;
}

/* Appends the stages of a plan to the run. The plan's parameters go to the owner. */
static enum gf_status take_stages(struct gf_region_run *run, struct gf_plan *plan,
                                  struct gf_plan *owner, struct gf_error *error)
{
    GF_TRY(gf_plan_adopt(owner, plan, error));
    for (int i = 0; i < plan->stage_count; i++)
        run->stage[run->stages++] = plan->stage[i];
    return GF_OK;
}

/* Makes stages for each box, for the columns that it needs. */
static enum gf_status plan_columns(const struct gf_region_request *request, struct gf_format in,
                                   int channels, int reach, struct gf_plan *owner,
                                   struct gf_region_run *run, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (int b = 0; !status && b < run->boxes; b++) {
        struct gf_region_box *const box = &run->box[b];
        struct gf_plan plan;
        const int end = box->at.x + box->at.width;
        box->from = box->at.x > reach ? box->at.x - reach : 0;
        box->columns = (end < in.width - reach ? end + reach : in.width) - box->from;
        struct gf_format part = in;
        part.width = box->columns;
        status = plan_filter(request, part, channels, owner, &plan, error);
        if (status)
            break;
        box->first = run->stages;
        box->count = plan.stage_count;
        status = take_stages(run, &plan, owner, error);
        gf_plan_free(&plan);
    }
    return status;
}

/* Lets all boxes share the stages for whole rows. */
static enum gf_status plan_rows(struct gf_plan *plan, struct gf_plan *owner,
                                struct gf_region_run *run, struct gf_error *error)
{
    gf_region_merge_boxes(run, true);
    for (int b = 0; b < run->boxes; b++) {
        run->box[b].count = plan->stage_count;
        run->box[b].columns = plan->in.width;
    }
    return take_stages(run, plan, owner, error);
}

/* Makes the run of a filter whose plan is given. Whether each box gets its own columns depends on
 * the filter. */
static enum gf_status make_run(const struct gf_region_request *request, struct gf_plan *plan,
                               int channels, struct gf_plan *owner, struct gf_region_run **made,
                               struct gf_error *error)
{
    struct gf_region_run *const run = gf_plan_own(owner, sizeof *run);
    const int reach = reach_of_all(plan);
    if (!run)
        return gf_fail_memory(error);
    run->written = request->item->filter;
    gf_region_find_boxes(request->item->region, plan->in, run);
    if (!run->boxes || !plan->stage_count)
        return GF_OK;
    *made = run;
    return reach >= 0 && run->boxes * plan->stage_count <= GF_REGION_STAGES_MAX
               ? plan_columns(request, plan->in, channels, reach, owner, run, error)
               : plan_rows(plan, owner, run, error);
}

enum gf_status gf_region_plan(const struct gf_region_request *request, struct gf_format in,
                              struct gf_plan *owner, struct gf_channels **wider,
                              struct gf_region_run **run, struct gf_error *error)
{
    struct gf_plan plan;
    GF_TRY(plan_filter(request, in, 0, owner, &plan, error));
    const int channels = common_channels(in, plan.out);
    const bool same = channels == in.channels && channels == plan.out.channels;
    if (!same)
        gf_plan_free(&plan);
    if (channels != in.channels) {
        *wider = gf_plan_own(owner, sizeof **wider);
        if (!*wider)
            return gf_fail_memory(error);
        (*wider)->count = channels;
    }
    in.channels = channels;
    if (!same)
        GF_TRY(plan_filter(request, in, channels, owner, &plan, error));
    enum gf_status status = check_plan(request, &plan, error);
    if (!status)
        status = make_run(request, &plan, same ? 0 : channels, owner, run, error);
    gf_plan_free(&plan);
    return status;
}
