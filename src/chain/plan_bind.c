#include "chain/plan_bind.h"

#include <stdlib.h>

#include "base/fail.h"
#include "pixel/point/point.h"

static enum gf_statistic statistic_of(const struct gf_filter *filter, const void *params)
{
    return filter->statistic ? filter->statistic(params) : GF_STATISTIC_NONE;
}

static int pictures_of(const struct gf_plan_item *item)
{
    const struct gf_picture *list[GF_STAGE_PICTURES_MAX];
    return item->filter->pictures ? item->filter->pictures(item->params, list) : 0;
}

/* The items, and whether each point filter is a stage of its own. */
struct items {
    const struct gf_plan_item *item;
    int count;
    bool no_fuse;
};

/* Whether items first .. i read too many second pictures for one stage. */
static bool reads_too_much(const struct items *items, int first, int i)
{
    int count = 0;
    for (; first <= i; first++)
        count += pictures_of(&items->item[first]);
    return count > GF_STAGE_PICTURES_MAX;
}

/* Whether item i joins the run that starts at item `first`. */
static bool joins_run(const struct items *items, int first, int i)
{
    const struct gf_plan_item *const item = &items->item[i];
    return i < items->count && !items->no_fuse && i - first < GF_POINT_RUN_MAX &&
           item->filter->kind == GF_POINT && !item->variant && !items->item[first].variant &&
           !statistic_of(item->filter, item->params) && !reads_too_much(items, first, i);
}

/* Binds the run of point filters that starts at item i as one stage. A filter that needs a
 * histogram always starts a run. */
static enum gf_status bind_run(struct gf_plan *plan, const struct items *items, int *i,
                               struct gf_stage *stage, struct gf_format in, struct gf_error *error)
{
    struct gf_point_run *const run = gf_plan_own(plan, sizeof *run);
    if (!run)
        return gf_fail_memory(error);
    const int first = *i;
    do {
        run->item[run->count].filter = items->item[*i].filter;
        run->item[run->count++].params = items->item[(*i)++].params;
    } while (joins_run(items, first, *i));
    return gf_stage_bind(stage, &gf_point, run, in, error);
}

static enum gf_status bind_kernel(struct gf_stage *stage, const struct gf_plan_item *item,
                                  struct gf_error *error)
{
    stage->variant = item->variant;
    const char *const why =
        item->variant && item->variant->refuses ? item->variant->refuses(stage) : NULL;
    return why ? gf_fail(error, GF_ERROR_USAGE, "%s: variant=%s %s", item->written->name,
                         item->variant->name, why)
               : GF_OK;
}

enum gf_status gf_plan_bind(struct gf_plan *plan, const struct gf_plan_item *item, int count,
                            bool no_fuse, struct gf_error *error)
{
    const struct items items = {item, count, no_fuse};
    plan->stage = calloc((size_t)count + 1, sizeof *plan->stage);
    if (!plan->stage)
        return gf_fail_memory(error);
    struct gf_format format = plan->in;
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < count;) {
        struct gf_stage *const stage = &plan->stage[plan->stage_count];
        const struct gf_plan_item *const own = &item[i];
        if (own->filter->kind == GF_POINT) {
            status = bind_run(plan, &items, &i, stage, format, error);
        } else {
            status = gf_stage_bind(stage, own->filter, own->params, format, error);
            stage->icc = own->icc;
            stage->written = own->written;
            i++;
        }
        if (!status)
            status = bind_kernel(stage, own, error);
        format = stage->out;
        plan->stage_count += !status;
    }
    plan->out = format;
    return status;
}
