/* Reads the parameters region and feather, finds the boxes that a region covers on a picture, and
 * plans a filter that is limited to a region. */
#include "chain/region.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/extremes.h"
#include "base/fail.h"
#include "base/text/plain_text.h"
#include "chain/plan.h"
#include "pixel/point/fused.h"
#include "pixel/point/point.h"
#include "pixel/region/region.h"

const struct gf_param gf_region_params[] = {
    GF_PARAM_TEXT(struct gf_region_params, region,
                  "the part of the picture that changes: 'X Y WIDTH HEIGHT' in pixels or per cent, "
                  "'ellipse X Y WIDTH HEIGHT', several with / between them, or the name of a "
                  "mask's file, which is stretched over the picture and counts where it is bright"),
    GF_PARAM_LENGTH(struct gf_region_params, feather, 0, 1e6,
                    "width of the soft edge inside the region; per cent are of the picture's "
                    "shorter side"),
    {0},
};

bool gf_filter_takes_region(const struct gf_filter *filter)
{
    return filter->kind != GF_COLOUR && !filter->takes_no_region;
}

/* Reads a rectangle in the form WIDTHxHEIGHT+X+Y, which ImageMagick uses. */
static bool read_geometry(const char *text, struct gf_region_part *part)
{
    struct gf_length *const length[] = {&part->w, &part->h, &part->x, &part->y};
    const char *rest = text + strspn(text, " ");
    for (int i = 0; i < 4; i++) {
        const char *const at = rest + (i == 1 && *rest == 'x') + (i > 1 && *rest == '+');
        if ((i == 1 && at == rest) || (i > 1 && !strchr("+-", *rest)) ||
            !gf_value_number(at, &length[i]->value, &rest))
            return false;
        length[i]->unit = GF_PIXELS;
    }
    return !rest[strspn(rest, " ")];
}

/* Reads a shape: an optional name and four lengths. Returns false if the text is something else. */
static bool read_shape(char *text, struct gf_region_part *part)
{
    struct gf_length *const length[] = {&part->x, &part->y, &part->w, &part->h};
    char *rest = text, *word;
    int count = 0;
    while ((word = strsep(&rest, " \t\n"))) {
        const char *end;
        if (!*word)
            continue;
        if (!count && !strcmp(word, "ellipse") && !part->is_ellipse) {
            part->is_ellipse = true;
            continue;
        }
        if (count == 4 || !gf_value_number(word, &length[count]->value, &end) ||
            (*end && strcmp(end, "%") != 0 && strcmp(end, "px") != 0))
            return false;
        length[count++]->unit = *end == '%' ? GF_PERCENT : GF_PIXELS;
    }
    return count == 4;
}

static bool fits(const struct gf_region_part *part)
{
    return fabs(part->x.value) <= 1e7 && fabs(part->y.value) <= 1e7 && part->w.value >= 0 &&
           part->h.value >= 0 && part->w.value <= 1e7 && part->h.value <= 1e7;
}

/* Reads shapes that are separated by / or |. *shapes becomes false if the text is no such list, so
 * that it must be a mask's name. */
static enum gf_status read_shapes(const char *name, const char *text, struct gf_region *region,
                                  bool *shapes, struct gf_error *error)
{
    char copy[GF_FILE_NAME_SIZE], *rest = copy, *one;
    strcpy(copy, text);
    *shapes = true;
    while (*shapes && (one = strsep(&rest, "/|"))) {
        struct gf_region_part part = {.is_ellipse = false};
        *shapes = read_geometry(one, &part) || read_shape(one, &part);
        if (*shapes && region->count == GF_REGION_SHAPES_MAX)
            return gf_fail(error, GF_ERROR_USAGE, "%s: region has more than %d shapes", name,
                           GF_REGION_SHAPES_MAX);
        if (*shapes && !fits(&part))
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s: region=%.60s has a number outside -10000000..10000000, or a size "
                           "below 0",
                           name, text);
        if (*shapes)
            region->part[region->count++] = part;
    }
    return GF_OK;
}

static bool is_bright(const struct gf_image *mask, int x, int y)
{
    return ((const uint16_t *)(const void *)(mask->data + (size_t)y * mask->pitch))[x];
}

/* Finds the smallest rectangle that contains all samples of the mask above 0. */
static struct gf_rectangle find_bright(const struct gf_image *mask)
{
    const struct gf_format format = mask->format;
    int x0 = format.width, x1 = 0, y0 = format.height, y1 = 0;
    for (int y = 0; y < format.height; y++) {
        int left = 0, right = format.width;
        while (left < right && !is_bright(mask, left, y))
            left++;
        while (right > left && !is_bright(mask, right - 1, y))
            right--;
        if (left == right)
            continue;
        x0 = left < x0 ? left : x0;
        x1 = right > x1 ? right : x1;
        y0 = y < y0 ? y : y0;
        y1 = y + 1;
    }
    return x0 < x1 ? (struct gf_rectangle){x0, y0, x1 - x0, y1 - y0}
                   : (struct gf_rectangle){.width = 0};
}

static enum gf_status read_mask(const char *name, const struct gf_region_params *params, bool loads,
                                struct gf_region *region, struct gf_error *error)
{
    struct gf_error detail = {0};
    if (params->feather.unit != GF_UNSET)
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: feather is for shapes; a mask's file has soft edges of its own", name);
    region->count = 0;
    strcpy(region->file, params->region);
    if (!loads)
        return GF_OK;
    const enum gf_status status = gf_region_mask_load(params->region, &region->mask, &detail);
    if (!status)
        region->bright = find_bright(&region->mask->image);
    /* A text of several words, or without an extension, is reported as a wrong shape, not as a
     * missing file. */
    const bool is_shape =
        status == GF_ERROR_READ && (strpbrk(params->region, " \t") || !strchr(params->region, '.'));
    return status ? gf_fail(error, is_shape ? GF_ERROR_USAGE : status,
                            "%s: region=%.60s is neither 'X Y WIDTH HEIGHT' nor 'ellipse X Y WIDTH "
                            "HEIGHT' nor a mask's file: %s",
                            name, params->region, detail.text)
                  : GF_OK;
}

enum gf_status gf_region_read(const struct gf_filter *filter, const struct gf_region_params *params,
                              bool loads, struct gf_region **region, struct gf_error *error)
{
    bool shapes;
    GF_NEW(struct gf_region, made, error);
    made->feather = params->feather;
    enum gf_status status = read_shapes(filter->name, params->region, made, &shapes, error);
    if (!status && !shapes)
        status = read_mask(filter->name, params, loads, made, error);
    if (status)
        gf_region_free(made);
    else
        *region = made;
    return status;
}

void gf_region_free(struct gf_region *region)
{
    if (region)
        gf_region_mask_release(region->mask);
    free(region);
}

static double pixels_of(struct gf_length length, int whole)
{
    const double pixels = length.unit == GF_PERCENT ? length.value * whole / 100 : length.value,
                 most = 3e7;
    return fmin(fmax(pixels, -most), most);
}

/* Converts a shape to pixels of the picture. Places in per cent are rounded down and sizes to the
 * nearest integer, as for crop. */
static struct gf_region_shape shape_of(const struct gf_region_part *part, struct gf_format format)
{
    const int x = (int)floor(pixels_of(part->x, format.width));
    const int y = (int)floor(pixels_of(part->y, format.height));
    return (struct gf_region_shape){
        .is_ellipse = part->is_ellipse,
        .x0 = x,
        .y0 = y,
        .x1 = x + (int)floor(pixels_of(part->w, format.width) + 0.5),
        .y1 = y + (int)floor(pixels_of(part->h, format.height) + 0.5),
    };
}

/* Appends the box of a shape, clipped to the picture. `covered`: the shape covers all of it. */
static void add_box(struct gf_region_parts *parts, struct gf_region_shape shape, bool covered,
                    struct gf_format format)
{
    const int x0 = gf_greatest(shape.x0, 0), x1 = gf_least(shape.x1, format.width);
    const int y0 = gf_greatest(shape.y0, 0), y1 = gf_least(shape.y1, format.height);
    if (x0 < x1 && y0 < y1)
        parts->box[parts->boxes++] =
            (struct gf_region_box){.at = {x0, y0, x1 - x0, y1 - y0}, .covered = covered};
}

static void add_shapes(struct gf_region_parts *parts, const struct gf_region *region,
                       struct gf_format format)
{
    const int shorter = gf_least(format.width, format.height);
    struct gf_region_cover *const cover = &parts->cover;
    cover->feather =
        region->feather.unit == GF_UNSET ? 0 : (float)pixels_of(region->feather, shorter);
    for (int i = 0; i < region->count; i++) {
        const struct gf_region_shape shape = shape_of(&region->part[i], format);
        if (shape.x0 >= shape.x1 || shape.y0 >= shape.y1)
            continue;
        cover->shape[cover->count++] = shape;
        add_box(parts, shape, !shape.is_ellipse && !(cover->feather > 0), format);
    }
}

/* Returns the first or the last column (or row) of the picture that a column (or row) of the mask
 * contributes to; `more` is the margin for interpolation. */
static int scaled(double at, int mask, int picture, int more)
{
    return (int)floor(at * picture / mask) + more;
}

static void add_mask(struct gf_region_parts *parts, const struct gf_region *region,
                     struct gf_format format)
{
    const struct gf_format mask = region->mask->image.format;
    const struct gf_rectangle *const bright = &region->bright;
    const struct gf_region_shape shape = {
        .x0 = scaled(bright->x - 1, mask.width, format.width, -1),
        .y0 = scaled(bright->y - 1, mask.height, format.height, -1),
        .x1 = scaled(bright->x + bright->width + 1, mask.width, format.width, 2),
        .y1 = scaled(bright->y + bright->height + 1, mask.height, format.height, 2),
    };
    parts->mask = region->mask;
    if (bright->width)
        add_box(parts, shape, false, format);
}

/* Merges box b into box a, which becomes the smallest that contains both. */
static void merge(struct gf_region_parts *parts, int a, int b)
{
    struct gf_rectangle *const at = &parts->box[a].at;
    const struct gf_rectangle other = parts->box[b].at;
    const int x1 = gf_greatest(at->x + at->width, other.x + other.width);
    const int y1 = gf_greatest(at->y + at->height, other.y + other.height);
    at->x = gf_least(at->x, other.x);
    at->y = gf_least(at->y, other.y);
    at->width = x1 - at->x;
    at->height = y1 - at->y;
    parts->box[a].covered = false;
    parts->box[b] = parts->box[--parts->boxes];
}

static bool overlap(int a, int a_size, int b, int b_size)
{
    return a < b + b_size && b < a + a_size;
}

static bool is_one(const struct gf_rectangle *a, const struct gf_rectangle *b, bool whole_rows)
{
    return overlap(a->y, a->height, b->y, b->height) &&
           (whole_rows || overlap(a->x, a->width, b->x, b->width));
}

/* Merges boxes that overlap or, with whole_rows, that have rows in common. */
static void region_merge_boxes(struct gf_region_parts *parts, bool whole_rows)
{
    for (int a = 0; a < parts->boxes; a++) {
        for (int b = a + 1; b < parts->boxes; b++) {
            if (!is_one(&parts->box[a].at, &parts->box[b].at, whole_rows))
                continue;
            merge(parts, a, b);
            a = -1; /* the larger box may overlap others */
            break;
        }
    }
}

/* Sets the parts' cover, mask and boxes for a picture of that format. The boxes do not overlap. */
static void region_find_boxes(const struct gf_region *region, struct gf_format format,
                              struct gf_region_parts *parts)
{
    if (region->mask)
        add_mask(parts, region, format);
    else
        add_shapes(parts, region, format);
    region_merge_boxes(parts, false);
}

/* Makes the plan of the filter alone, for a picture of the format `in`. The result gets that many
 * channels, or, if `channels` is 0, as many as the filter makes. `owner` owns the parameters. */
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
        GF_ALLOCATED(params, error);
        params->count = channels;
        item[1].params = params;
    }
    return request->plan(&chain, in, &alone, plan, error);
}

/* Returns the number of channels of a picture that can hold pixels of both formats. */
static int common_channels(struct gf_format a, struct gf_format b)
{
    const int colours = gf_colour_channels(a) > gf_colour_channels(b) ? gf_colour_channels(a)
                                                                      : gf_colour_channels(b);
    return colours + (gf_has_alpha(a) || gf_has_alpha(b));
}

/* Whether no stage after the first needs the whole result of the stage before it, for which a band
 * has no memory. Stencils whose border wraps need it, but only for the first and the last rows. */
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

/* Returns how many columns on each side of a pixel the stage reads; -1 if that is not known. */
static int reach_of(const struct gf_stage *stage)
{
    if (stage->filter == &gf_point)
        return gf_point_is_only(stage, &gf_premultiply) ||
                       gf_point_is_only(stage, &gf_unpremultiply)
                   ? 0
                   : -1;
    if (stage->filter == &gf_fused)
        stage = &((const struct gf_fused_stages *)stage->params)->part[GF_FUSED_STENCIL];
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

/* Appends the stages of a plan to the parts. The plan's parameters become those of the owner. */
static enum gf_status take_stages(struct gf_region_parts *parts, struct gf_plan *plan,
                                  struct gf_plan *owner, struct gf_error *error)
{
    GF_TRY(gf_plan_adopt(owner, plan, error));
    for (int i = 0; i < plan->stage_count; i++)
        parts->stage[parts->stages++] = plan->stage[i];
    return GF_OK;
}

/* Makes stages for each box of its own, which filter only the columns that the box needs. `reach`
 * is how many columns beside a pixel they read. */
static enum gf_status plan_columns(const struct gf_region_request *request, struct gf_format in,
                                   int channels, int reach, struct gf_plan *owner,
                                   struct gf_region_parts *parts, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (int b = 0; !status && b < parts->boxes; b++) {
        struct gf_region_box *const box = &parts->box[b];
        struct gf_plan plan;
        const int end = box->at.x + box->at.width;
        box->from = box->at.x > reach ? box->at.x - reach : 0;
        box->columns = (end < in.width - reach ? end + reach : in.width) - box->from;
        struct gf_format part = in;
        part.width = box->columns;
        status = plan_filter(request, part, channels, owner, &plan, error);
        if (status)
            break;
        box->first = parts->stages;
        box->count = plan.stage_count;
        status = take_stages(parts, &plan, owner, error);
        gf_plan_free(&plan);
    }
    return status;
}

/* Makes stages that filter whole rows, which all boxes share. */
static enum gf_status plan_rows(struct gf_plan *plan, struct gf_plan *owner,
                                struct gf_region_parts *parts, struct gf_error *error)
{
    region_merge_boxes(parts, true);
    for (int b = 0; b < parts->boxes; b++) {
        parts->box[b].count = plan->stage_count;
        parts->box[b].columns = plan->in.width;
    }
    return take_stages(parts, plan, owner, error);
}

/* Makes the parts from the plan of the filter alone. Each box gets its own columns if the filter
 * can be limited to columns. */
static enum gf_status make_run(const struct gf_region_request *request, struct gf_plan *plan,
                               int channels, struct gf_plan *owner, struct gf_region_parts **made,
                               struct gf_error *error)
{
    struct gf_region_parts *const parts = gf_plan_own(owner, sizeof *parts);
    const int reach = reach_of_all(plan);
    GF_ALLOCATED(parts, error);
    parts->written = request->item->filter;
    region_find_boxes(request->item->region, plan->in, parts);
    if (!parts->boxes || !plan->stage_count)
        return GF_OK;
    *made = parts;
    return reach >= 0 && parts->boxes * plan->stage_count <= GF_REGION_STAGES_MAX
               ? plan_columns(request, plan->in, channels, reach, owner, parts, error)
               : plan_rows(plan, owner, parts, error);
}

enum gf_status gf_region_plan(const struct gf_region_request *request, struct gf_format in,
                              struct gf_plan *owner, struct gf_channels **wider,
                              struct gf_region_parts **parts, struct gf_error *error)
{
    struct gf_plan plan;
    GF_TRY(plan_filter(request, in, 0, owner, &plan, error));
    const int channels = common_channels(in, plan.out);
    const bool same = channels == in.channels && channels == plan.out.channels;
    if (!same)
        gf_plan_free(&plan);
    if (channels != in.channels) {
        *wider = gf_plan_own(owner, sizeof **wider);
        GF_ALLOCATED(*wider, error);
        (*wider)->count = channels;
    }
    in.channels = channels;
    if (!same)
        GF_TRY(plan_filter(request, in, channels, owner, &plan, error));
    enum gf_status status = check_plan(request, &plan, error);
    GF_THEN(status, make_run(request, &plan, same ? 0 : channels, owner, parts, error));
    gf_plan_free(&plan);
    return status;
}
