#include "chain/stage_cost.h"

#include "pixel/point/fused.h"
#include "pixel/point/point.h"
#include "pixel/region/region.h"

struct scale {
    gf_filter_times *times;
    const void *context;
    bool look_ups_are_free;
};

static double declared_ns(const struct gf_filter_cost *cost, double radius)
{
    const double side = 2 * radius + 1;
    if (cost->radius_max && radius > cost->radius_max)
        return cost->pixel_beyond + cost->row_beyond * radius;
    const double ns = cost->pixel + cost->row * radius + cost->tap * side * side;
    return ns > 0 ? ns : GF_COST_PIXEL;
}

static double filter_ns(const struct gf_filter *filter, double radius, const struct scale *scale)
{
    const double times = scale->times ? scale->times(scale->context, filter) : 1;
    return declared_ns(&filter->cost, radius) * times;
}

/* Returns the cost of the most expensive of the fused point filters, since most of them together
 * are one look-up. */
static double point_run_ns(const struct gf_point_run *run, const struct scale *scale)
{
    double most = 0;
    for (int i = 0; i < run->count; i++) {
        const double ns = filter_ns(run->item[i].filter, 0, scale);
        most = ns > most ? ns : most;
    }
    return most;
}

static double stage_ns(const struct gf_stage *stage, const struct scale *scale);

static double fused_ns(const struct gf_fused_run *run, const struct scale *scale)
{
    double sum = 0;
    for (int i = 0; i < GF_FUSED_PARTS; i++) {
        if (run->part[i].filter && (!scale->look_ups_are_free || i == GF_FUSED_STENCIL))
            sum += stage_ns(&run->part[i], scale);
    }
    return sum;
}

/* The rows of the boxes are filtered, and all pixels are copied. */
static double region_ns(const struct gf_stage *stage, const struct scale *scale)
{
    const struct gf_region_run *const run = stage->params;
    double sum = (double)gf_row_bytes(stage->out) / 3 * stage->out.height * GF_COST_PIXEL;
    for (int b = 0; b < run->boxes; b++) {
        const struct gf_region_box *const box = &run->box[b];
        for (int i = 0; i < box->count; i++)
            sum +=
                stage_ns(&run->stage[box->first + i], scale) * box->at.height / stage->out.height;
    }
    return sum;
}

static double stage_ns(const struct gf_stage *stage, const struct scale *scale)
{
    const double in = (double)gf_row_bytes(stage->in), out = (double)gf_row_bytes(stage->out);
    /* If only the channels change, the format with more channels counts. */
    const bool same = stage->in.width == stage->out.width && stage->in.height == stage->out.height;
    const bool shrinks = stage->out.height < stage->in.height && stage->filter->cost.row > 0;
    /* If a filter shrinks the picture, one of its two passes works on every row of the input. */
    const int rows = shrinks ? stage->in.height : stage->out.height;
    const double pixels = (same && in > out ? in : out) / 3 * (double)rows;
    const int y = stage->out.height / 2;
    int first = y, end = y + 1;
    if (stage->filter == &gf_point)
        return point_run_ns(stage->params, scale) * pixels;
    if (stage->filter == &gf_fused)
        return fused_ns(stage->params, scale);
    if (stage->filter == &gf_region)
        return region_ns(stage, scale);
    gf_stage_input_rows(stage, y, y + 1, &first, &end);
    const double radius = gf_stage_needs_whole(stage) ? 0 : (end - first - 1) / 2.0;
    return filter_ns(stage->filter, radius, scale) * pixels;
}

double gf_stage_ns(const struct gf_stage *stage, gf_filter_times *times, const void *context,
                   bool look_ups_are_free)
{
    const struct scale scale = {times, context, look_ups_are_free};
    return stage_ns(stage, &scale);
}

int gf_plan_useful_threads(const struct gf_plan *plan, int most)
{
    const double thread_ns = 1e6;
    double sum = 0;
    for (int i = 0; i < plan->stage_count; i++)
        sum += gf_stage_ns(&plan->stage[i], NULL, NULL, false);
    if (sum >= most * thread_ns)
        return most;
    return sum > thread_ns ? (int)(sum / thread_ns) : 1;
}
