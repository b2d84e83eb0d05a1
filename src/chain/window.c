#include <stdlib.h>

#include "base/fail.h"
#include "chain/items.h"
#include "filters/crop/crop.h"
#include "pixel/orient/orient.h"

extern const struct gf_filter gf_crop_filter;

/* How an item makes a rectangle of its result. */
struct step {
    struct gf_format in, out;
    int columns, rows;        /* how far from a pixel's place it reads */
    struct gf_orient orient;  /* how it turns the picture */
    struct gf_crop_origin at; /* where its result begins in its input */
    bool crops;
};

/* Describes the item. Returns false if more of the picture can change a part of its result. A
 * stencil whose border wraps needs the whole picture. */
static bool describe(const struct gf_plan_item *item, const struct gf_stage *stage,
                     struct step *step)
{
    const struct gf_filter *const filter = item->filter;
    if (gf_stage_statistic(stage))
        return false;
    if (filter->kind == GF_POINT)
        return !filter->by_place;
    if (filter->kind == GF_COLOUR || filter->cpu == gf_orient_cpu || filter == &gf_crop_filter)
        return true;
    if (filter->kind != GF_STENCIL || item->variant || !filter->radius || !filter->columns ||
        gf_stage_needs_whole(stage))
        return false;
    step->columns = filter->columns(item->params);
    step->rows = filter->radius(item->params);
    return true;
}

/* Describes the items from the first up to the last crop before which pixels depend on no more than
 * a part of the picture. *steps, which the caller frees, has *count of them. */
static enum gf_status take_steps(const struct gf_plan_item *item, int items, struct gf_format in,
                                 struct step **steps, int *count, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    bool goes = true;
    *count = 0;
    *steps = calloc((size_t)items + 1, sizeof **steps);
    GF_ALLOCATED(*steps, error);
    for (int i = 0; !status && i < items; i++) {
        struct step *const step = &(*steps)[i];
        struct gf_stage stage;
        status = gf_stage_bind(&stage, item[i].filter, item[i].params, in, error);
        *step = (struct step){.in = in, .out = stage.out};
        goes = !status && describe(&item[i], &stage, step);
        if (!goes)
            break;
        step->crops = item[i].filter == &gf_crop_filter;
        const bool turns = item[i].filter->cpu == gf_orient_cpu;
        if (step->crops || turns)
            status = gf_stage_prepare(&stage, error);
        if (!status && turns)
            step->orient = *(const struct gf_orient *)stage.constants;
        if (!status && step->crops) {
            step->at = *(const struct gf_crop_origin *)stage.constants;
            *count = i + 1;
        }
        gf_stage_release(&stage);
        in = step->out;
    }
    return status;
}

static void swap(int *a, int *b)
{
    const int c = *a;
    *a = *b;
    *b = c;
}

static void mirror(struct gf_orient orient, struct gf_format whole, struct gf_rectangle *part)
{
    if (orient.mirror_x)
        part->x = whole.width - part->x - part->width;
    if (orient.mirror_y)
        part->y = whole.height - part->y - part->height;
}

static void transpose(struct gf_orient orient, struct gf_rectangle *part)
{
    if (!orient.transpose)
        return;
    swap(&part->x, &part->y);
    swap(&part->width, &part->height);
}

/* Widens first .. first + *count - 1 on both sides, within the `whole`. */
static void widen(int *first, int *count, int more, int whole)
{
    const int begin = *first > more ? *first - more : 0, end = *first + *count;
    *count = (end < whole - more ? end + more : whole) - begin;
    *first = begin;
}

/* Turns a rectangle of the step's result into the rectangle of its input that it depends on. */
static void go_back(const struct step *step, struct gf_rectangle *part)
{
    mirror(step->orient, step->out, part);
    transpose(step->orient, part);
    part->x += step->at.x;
    part->y += step->at.y;
    widen(&part->x, &part->width, step->columns, step->in.width);
    widen(&part->y, &part->height, step->rows, step->in.height);
}

static struct gf_rectangle all_of(struct gf_format format)
{
    return (struct gf_rectangle){.width = format.width, .height = format.height};
}

/* Returns the rectangle of the steps' input that their result depends on; all of it without steps.
 */
static struct gf_rectangle need_of(const struct step *step, int count, struct gf_format in)
{
    struct gf_rectangle part = all_of(count ? step[count - 1].out : in);
    for (int i = count - 1; i >= 0; i--)
        go_back(&step[i], &part);
    return part;
}

enum gf_status gf_items_window(const struct gf_plan_item *item, int items, struct gf_format in,
                               struct gf_rectangle *window, struct gf_error *error)
{
    struct step *steps;
    int count;
    const enum gf_status status = take_steps(item, items, in, &steps, &count, error);
    *window = status ? all_of(in) : need_of(steps, count, in);
    free(steps);
    return status;
}

static bool contains(struct gf_rectangle window, struct gf_rectangle part)
{
    return window.x <= part.x && window.y <= part.y &&
           window.x + window.width >= part.x + part.width &&
           window.y + window.height >= part.y + part.height;
}

/* Limits first .. *count to the part of a crop's `size` columns (or rows) that begins at `at`. */
static void meet(int *first, int *count, int at, int size)
{
    const int begin = *first > at ? *first : at, end = *first + *count;
    *count = (end < at + size ? end : at + size) - begin;
    *first = begin;
}

/* Turns the rectangle that the item gets into that of its result, and moves a crop accordingly. */
static enum gf_status go_on(struct gf_plan *plan, const struct step *step,
                            struct gf_plan_item *item, struct gf_rectangle *part,
                            struct gf_error *error)
{
    const struct gf_rectangle before = *part;
    transpose(step->orient, part);
    mirror(step->orient, step->out, part);
    if (!step->crops)
        return GF_OK;
    struct gf_crop_params *const crop = gf_plan_own(plan, sizeof *crop);
    GF_ALLOCATED(crop, error);
    meet(&part->x, &part->width, step->at.x, step->out.width);
    meet(&part->y, &part->height, step->at.y, step->out.height);
    *crop = (struct gf_crop_params){.w = gf_in_pixels(part->width),
                                    .h = gf_in_pixels(part->height),
                                    .x = gf_in_pixels(part->x - before.x),
                                    .y = gf_in_pixels(part->y - before.y)};
    item->params = crop;
    part->x -= step->at.x;
    part->y -= step->at.y;
    return GF_OK;
}

enum gf_status gf_items_narrow(struct gf_plan *plan, struct gf_plan_item *item, int items,
                               struct gf_format in, struct gf_rectangle window,
                               struct gf_error *error)
{
    struct step *steps;
    int count;
    enum gf_status status = take_steps(item, items, in, &steps, &count, error);
    if (!status && !contains(window, need_of(steps, count, in)))
        status = gf_fail(error, GF_ERROR_UNFIT, "the chain needs more than the window");
    for (int i = 0; !status && i < count; i++)
        status = go_on(plan, &steps[i], &item[i], &window, error);
    free(steps);
    return status;
}
