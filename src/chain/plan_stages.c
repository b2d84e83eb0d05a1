/* The stages of a plan: their names and costs, fusing them, and cutting them into segments and
 * parts. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/image.h"
#include "base/memory/grow.h"
#include "chain/plan.h"
#include "pixel/point/fused.h"
#include "pixel/point/point.h"
#include "pixel/region/region.h"

const struct gf_filter *gf_plan_stage_filter(const struct gf_stage *stage, int i)
{
    if (stage->filter == &gf_point) {
        const struct gf_point_list *const points = stage->params;
        return i < points->count ? points->item[i].filter : NULL;
    }
    if (stage->filter == &gf_region)
        return i ? NULL : ((const struct gf_region_parts *)stage->params)->written;
    if (stage->filter != &gf_fused)
        return i ? NULL : stage->filter;
    const struct gf_fused_stages *const points = stage->params;
    for (int part = 0; part < GF_FUSED_PARTS; part++) {
        const int count =
            points->part[part].filter ? gf_plan_stage_filters(&points->part[part]) : 0;
        if (i < count)
            return gf_plan_stage_filter(&points->part[part], i);
        i -= count;
    }
    return NULL;
}

int gf_plan_stage_filters(const struct gf_stage *stage)
{
    int count = 0;
    while (gf_plan_stage_filter(stage, count))
        count++;
    return count;
}

/* This function uses strlen(), because each run names its stages: snprintf() would take a third of
 * a tiny picture's time. */
void gf_plan_stage_name(const struct gf_stage *stage, char *name, size_t size)
{
    const struct gf_filter *filter;
    size_t length = 0;
    for (int i = 0; (filter = gf_plan_stage_filter(stage, i)); i++) {
        if (i && length + 1 < size)
            name[length++] = '+';
        const size_t letters = strlen(filter->name), room = size - 1 - length;
        memcpy(name + length, filter->name, letters < room ? letters : room);
        length += letters < room ? letters : room;
    }
    name[length] = '\0';
}

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

/* Returns the cost in nanoseconds of the most expensive point filter of a list, since most lists
 * are one look-up in a table. */
static double point_list_ns(const struct gf_point_list *points, const struct scale *scale)
{
    double most = 0;
    for (int i = 0; i < points->count; i++) {
        const double ns = filter_ns(points->item[i].filter, 0, scale);
        most = ns > most ? ns : most;
    }
    return most;
}

static double stage_ns(const struct gf_stage *stage, const struct scale *scale);

static double fused_ns(const struct gf_fused_stages *stages, const struct scale *scale)
{
    double sum = 0;
    for (int i = 0; i < GF_FUSED_PARTS; i++) {
        if (stages->part[i].filter && (!scale->look_ups_are_free || i == GF_FUSED_STENCIL))
            sum += stage_ns(&stages->part[i], scale);
    }
    return sum;
}

/* Returns the cost in nanoseconds of a filter in a region: it works on the rows of the boxes, and
 * all pixels are copied. */
static double region_ns(const struct gf_stage *stage, const struct scale *scale)
{
    const struct gf_region_parts *const parts = stage->params;
    double sum = (double)gf_row_bytes(stage->out) / 3 * stage->out.height * GF_COST_PIXEL;
    for (int b = 0; b < parts->boxes; b++) {
        const struct gf_region_box *const box = &parts->box[b];
        for (int i = 0; i < box->count; i++)
            sum +=
                stage_ns(&parts->stage[box->first + i], scale) * box->at.height / stage->out.height;
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
        return point_list_ns(stage->params, scale) * pixels;
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

bool gf_plan_is_small(const struct gf_plan *plan)
{
    enum { SMALL_BYTES = 128 << 10 };
    return gf_row_bytes(plan->in) * (size_t)plan->in.height <= SMALL_BYTES &&
           gf_row_bytes(plan->out) * (size_t)plan->out.height <= SMALL_BYTES;
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

/* Whether the stage is a table that an adjacent stencil may apply. */
static bool is_table(const struct gf_plan *plan, int i)
{
    return i >= 0 && i < plan->stage_count && !plan->stage[i].variant &&
           gf_point_is_table(&plan->stage[i]);
}

/* Returns which tables the kernels of a stage can apply besides their own work. */
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

/* Whether the stage only premultiplies RGBA or, with or_makes_opaque, RGB of 8 bits to which it has
 * added an opaque alpha. */
static bool premultiplies(const struct gf_stage *stage, bool or_makes_opaque)
{
    const struct gf_point_list *const points = stage->params;
    if (stage->filter != &gf_point || points->item[points->count - 1].filter != &gf_premultiply ||
        points->count > 2 || (points->count == 2 && points->item[0].filter != &gf_opaque))
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
    const int fuses = gf_is_float(stage->in) ? GF_FUSES_FLOAT_ALPHA : GF_FUSES_ALPHA;
    return (plan->on_device || !far) && premultiplies(stage, far) &&
           stage->in.bits == stage[2].out.bits && gf_point_is_only(stage + 2, &gf_unpremultiply) &&
           stencil->filter->fuses && !stencil->variant &&
           gf_stage_border(stencil) != GF_BORDER_WRAP &&
           stencil->filter->fuses(stencil->params) & fuses;
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
        struct gf_fused_stages *const stages = gf_plan_own(plan, sizeof *stages);
        GF_ALLOCATED(stages, error);
        if (before)
            stages->part[GF_FUSED_BEFORE] = stage[i];
        stages->part[GF_FUSED_STENCIL] = stage[at];
        if (after)
            stages->part[GF_FUSED_AFTER] = stage[at + 1];
        status = gf_stage_bind(&stage[made++], &gf_fused, stages, stage[i].in, error);
        i = at + 1 + after;
    }
    plan->stage_count = made;
    return status;
}

/* Memory that a plan owns, freeing it, cutting its stages into segments, and the rows that each
 * band of a segment needs. */

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
        GF_ALLOCATED(GF_GROW(plan->owned, plan->owned_count), error);
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
    GF_ALLOCATED(plan->segment, error);
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

/* Cutting plans into parts, so that stages that several plans have in common run once. */

/* Whether a filter's parameters in two plans are the same bytes, including those between members.
 * The parser zeroes parameters first. Those of a filter's parts may not be zeroed; an equal stage
 * then counts as different, and runs again. */
static bool same_params(const struct gf_filter *filter, const void *a, const void *b)
{
    return a == b || (a && b && filter->params_size && !memcmp(a, b, filter->params_size));
}

static bool same_list(const struct gf_point_list *a, const struct gf_point_list *b)
{
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = a->item[i].filter == b->item[i].filter &&
               (!a->item[i].filter->params_size ||
                same_params(a->item[i].filter, a->item[i].params, b->item[i].params));
    return same;
}

static bool same_stage(const struct gf_stage *a, const struct gf_stage *b)
{
    if (a->filter != b->filter || a->filter == &gf_fused || a->variant != b->variant ||
        !gf_same_format(a->in, b->in) || !gf_same_format(a->out, b->out))
        return false;
    if (a->filter->kind == GF_COLOUR && !gf_icc_same(a->icc, b->icc))
        return false;
    return a->filter == &gf_point
               ? same_list(a->params, b->params)
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
    GF_THEN(status, gf_plan_cut_segments(part, error));
    if (status)
        gf_plan_free(part);
    return status;
}
