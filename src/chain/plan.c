/* Plans a chain for pictures of one format: finds the filters to run, adds conversions that they
 * need, and binds them to stages. */
#include "chain/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "chain/chain.h"
#include "chain/items.h"
#include "chain/params.h"
#include "filters/icc/icc.h"
#include "filters/tone.h"
#include "icc/icc_build.h"
#include "pixel/orient/orient.h"
#include "pixel/point/point.h"

/* Makes the plan's stages of items: adjacent point filters become one stage, unless no_fuse is
 * set. */

static enum gf_statistic statistic_of(const struct gf_filter *filter, const void *params)
{
    return filter->statistic ? filter->statistic(params) : GF_STATISTIC_NONE;
}

static int pictures_of(const struct gf_plan_item *item)
{
    const struct gf_picture *list[GF_STAGE_PICTURES_MAX];
    return item->filter->pictures ? item->filter->pictures(item->params, list) : 0;
}

/* The items of a plan in order; with no_fuse each point filter is a stage of its own. */
struct items {
    const struct gf_plan_item *item;
    int count;
    bool no_fuse;
};

/* Whether items first .. i read more second pictures than one stage may read. */
static bool reads_too_much(const struct items *items, int first, int i)
{
    int count = 0;
    for (; first <= i; first++)
        count += pictures_of(&items->item[first]);
    return count > GF_STAGE_PICTURES_MAX;
}

/* Whether item i is run in the same stage as the point filters from item `first` on. */
static bool joins_run(const struct items *items, int first, int i)
{
    const struct gf_plan_item *const item = &items->item[i];
    return i < items->count && !items->no_fuse && i - first < GF_POINT_LIST_MAX &&
           item->filter->kind == GF_POINT && !item->variant && !items->item[first].variant &&
           !statistic_of(item->filter, item->params) && !reads_too_much(items, first, i);
}

/* Binds the point filters from item *i on that one stage can run, and moves *i behind them. A
 * filter that needs a histogram always starts a stage. */
static enum gf_status bind_run(struct gf_plan *plan, const struct items *items, int *i,
                               struct gf_stage *stage, struct gf_format in, struct gf_error *error)
{
    struct gf_point_list *const points = gf_plan_own(plan, sizeof *points);
    GF_ALLOCATED(points, error);
    const int first = *i;
    do {
        points->item[points->count].filter = items->item[*i].filter;
        points->item[points->count++].params = items->item[(*i)++].params;
    } while (joins_run(items, first, *i));
    return gf_stage_bind(stage, &gf_point, points, in, error);
}

static enum gf_status bind_kernel(struct gf_stage *stage, const struct gf_plan_item *item,
                                  struct gf_error *error)
{
    stage->variant = item->variant;
    const char *const why = !item->variant               ? NULL
                            : gf_stage_has_floats(stage) ? "takes no floats"
                            : item->variant->refuses     ? item->variant->refuses(stage)
                                                         : NULL;
    return why ? gf_fail(error, GF_ERROR_USAGE, "%s: variant=%s %s", item->written->name,
                         item->variant->name, why)
               : GF_OK;
}

static enum gf_status bind_items(struct gf_plan *plan, const struct gf_plan_item *item, int count,
                                 bool no_fuse, struct gf_error *error)
{
    const struct items items = {item, count, no_fuse};
    plan->stage = calloc((size_t)count + 1, sizeof *plan->stage);
    GF_ALLOCATED(plan->stage, error);
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
        GF_THEN(status, bind_kernel(stage, own, error));
        format = stage->out;
        plan->stage_count += !status;
    }
    plan->out = format;
    return status;
}

extern const struct gf_filter gf_flatten_filter, gf_crop_filter;

struct builder {
    struct gf_plan *plan;
    struct gf_plan_item *item;
    int count;
    struct gf_format format; /* the format of the result of the items so far */
    struct gf_icc icc;
    const struct gf_filter *written; /* the filter of the chain whose parts are being added; NULL: a
                                      * filter of the chain itself */
    const struct gf_facts_of_picture *facts;
    bool no_fuse; /* each point filter is a stage of its own */
    /* If the colour is premultiplied at this point of the plan: its bits before that. 0: it is
     * straight. */
    int straight_bits;
    bool refuses_floats;   /* a filter that takes no floats would have got some */
    bool may_exceed_alpha; /* the last stencil may have made premultiplied colour that exceeds
                            * alpha */
};

/* Finds the format of the result of the item's filter. The error names the filter by its name in
 * the chain. */
static enum gf_status shape(const struct builder *b, const struct gf_plan_item *item,
                            struct gf_format *out, struct gf_error *error)
{
    const struct gf_filter *const filter = item->filter;
    struct gf_error why = {0};
    *out = b->format;
    const enum gf_status status =
        filter->shape ? filter->shape(item->params, b->format, out, &why) : GF_OK;
    return status ? gf_fail(error, status, "%s: %s", (b->written ? b->written : filter)->name,
                            why.text)
                  : GF_OK;
}

/* Fails if the filter gets floats and does not take them. */
static enum gf_status check_samples(struct builder *b, const struct gf_filter *filter,
                                    struct gf_error *error)
{
    if (!gf_is_float(b->format) || filter->takes_floats)
        return GF_OK;
    b->refuses_floats = true;
    const bool is_part = b->written && strcmp(b->written->name, filter->name);
    return gf_fail(
        error, GF_ERROR_USAGE,
        "%s%s%s%s: takes no floats; the filter integer before it makes samples of 16 bits",
        (b->written ? b->written : filter)->name, is_part ? " (" : "", is_part ? filter->name : "",
        is_part ? ")" : "");
}

static enum gf_status add_item(struct builder *b, struct gf_plan_item item, struct gf_error *error)
{
    struct gf_format out;
    if (b->icc.inks)
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: no filter can follow a conversion to CMYK: put it last",
                       (b->written ? b->written : item.filter)->name);
    GF_TRY(check_samples(b, item.filter, error));
    GF_TRY(shape(b, &item, &out, error));
    item.icc = b->icc;
    item.written = b->written;
    GF_ALLOCATED(GF_GROW(b->item, b->count), error);
    b->item[b->count++] = item;
    b->format = out;
    return GF_OK;
}

static enum gf_status add_straight(struct builder *b, struct gf_error *error)
{
    struct gf_unpremultiply *const params = gf_plan_own(b->plan, sizeof *params);
    GF_ALLOCATED(params, error);
    *params = (struct gf_unpremultiply){.bits = b->straight_bits};
    b->straight_bits = 0;
    b->may_exceed_alpha = false;
    return add_item(b, (struct gf_plan_item){.filter = &gf_unpremultiply, .params = params}, error);
}

static enum gf_status add_filter(struct builder *b, struct gf_plan_item item,
                                 struct gf_error *error);

/* Adds a filter to the plan with its default parameters. */
static enum gf_status add_default(struct builder *b, const struct gf_filter *filter,
                                  struct gf_error *error)
{
    void *const params = gf_plan_own(b->plan, filter->params_size);
    GF_ALLOCATED(params, error);
    gf_params_set_defaults(filter, params);
    return add_filter(b, (struct gf_plan_item){.filter = filter, .params = params}, error);
}

static enum gf_status add_colour(struct builder *b, struct gf_plan_item item,
                                 struct gf_error *error);

/* Adds a conversion from HDR before another conversion of colours, `before`, which cannot read HDR
 * itself. Its result has the colours that the other one converts to, if tonemap can make them, or
 * else sRGB. */
static enum gf_status add_tonemap(struct builder *b, const struct gf_plan_item *before,
                                  struct gf_error *error)
{
    const struct gf_icc srgb = gf_icc_named("srgb", gf_colour_channels(b->format) == 1);
    struct gf_icc from = b->icc, to = {0};
    GF_TRY(before->filter->colours(before->params, b->format, &from, &to, error));
    if (!from.hdr[1])
        return GF_OK;
    const bool is_srgb =
        !to.size || gf_icc_same(gf_icc_for(to, gf_colour_channels(b->format)), srgb);
    const struct gf_plan_item item = {.filter = &gf_tonemap_filter,
                                      .params = is_srgb ? &gf_tonemap_to_srgb
                                                        : &gf_tonemap_to_display_p3};
    return add_colour(b, item, error);
}

/* Adds the conversion of floats to linear light before tonemap, unless they are HDR. */
static enum gf_status add_light(struct builder *b, const struct gf_plan_item *tonemap,
                                struct gf_error *error)
{
    struct gf_icc from = b->icc, to;
    GF_TRY(tonemap->filter->colours(tonemap->params, b->format, &from, &to, error));
    const struct gf_plan_item item = {.filter = &gf_icc_filter, .params = gf_icc_to_light};
    return from.hdr[1] == GF_CURVE_LINEAR ? add_colour(b, item, error) : GF_OK;
}

/* Adds a filter that converts colours, unless the colours already have the profile of its result.
 * Tone filters and stencils do not change the profile. A profile that does not fit the picture any
 * more, such as one of RGB after grayscale, counts as none. */
static enum gf_status add_colour(struct builder *b, struct gf_plan_item item,
                                 struct gf_error *error)
{
    struct gf_format out;
    struct gf_icc to = {0};
    if (!b->icc.unsaid && !gf_icc_fits(b->icc, gf_colour_channels(b->format)))
        b->icc = gf_icc_named("srgb", gf_colour_channels(b->format) == 1);
    enum gf_status status = GF_OK;
    if (b->icc.hdr[1] && item.filter != &gf_tonemap_filter)
        status = add_tonemap(b, &item, error);
    else if (gf_is_float(b->format) && item.filter == &gf_tonemap_filter)
        status = add_light(b, &item, error);
    GF_THEN(status, shape(b, &item, &out, error));
    GF_THEN(status, item.filter->colours(item.params, b->format, &b->icc, &to, error));
    /* Colours that no profile describes are not converted; tonemap leaves what is not HDR as it
     * is. */
    if (!status && !b->icc.hdr[1] && (b->icc.unsaid || item.filter == &gf_tonemap_filter))
        return GF_OK;
    const bool same = !status && gf_icc_same(b->icc, to) && out.channels == b->format.channels;
    if (!status && to.inks && gf_has_alpha(b->format)) {
        b->plan->flattened = true;
        status = add_default(b, &gf_flatten_filter, error);
    }
    if (!status && !same && b->straight_bits)
        status = add_straight(b, error);
    if (!status && !same)
        status = add_item(b, item, error);
    if (status)
        return status;
    b->icc = to;
    b->plan->recoloured = true;
    b->plan->linked = !to.size;
    return GF_OK;
}

/* Adds a filter, and before it the conversion of alpha that the filter needs. Stencils need
 * premultiplied colour; point filters and some others need straight colour; filters of geometry
 * accept both. Between two stencils the colour stays premultiplied, in 16 bits, and is limited to
 * alpha. */
static enum gf_status add_filter(struct builder *b, struct gf_plan_item item,
                                 struct gf_error *error)
{
    const struct gf_filter *const filter = item.filter;
    enum gf_status status = GF_OK;
    if (filter->kind == GF_COLOUR)
        return add_colour(b, item, error);
    if (filter->kind == GF_STENCIL && gf_has_alpha(b->format) && !b->straight_bits) {
        const int bits = b->format.bits;
        status = add_item(b, (struct gf_plan_item){.filter = &gf_premultiply}, error);
        b->straight_bits = bits;
    } else if (filter->kind == GF_STENCIL && b->may_exceed_alpha && !gf_is_float(b->format)) {
        status = add_item(b, (struct gf_plan_item){.filter = &gf_limit_to_alpha}, error);
    } else if ((filter->kind == GF_POINT || filter->kind == GF_STRAIGHT) && b->straight_bits) {
        status = add_straight(b, error);
    }
    if (filter->kind == GF_STENCIL)
        b->may_exceed_alpha = b->straight_bits && !filter->within_alpha;
    return status ? status : add_item(b, item, error);
}

static enum gf_status add_orientation(struct builder *b, int orientation, struct gf_error *error)
{
    /* For each orientation of EXIF 2.32, tag 274, the symmetry that undoes it: a transpose, then
     * mirrors. */
    static const struct gf_orient undo[9] = {
        [2] = {.mirror_x = true},
        [3] = {.mirror_x = true, .mirror_y = true},
        [4] = {.mirror_y = true},
        [5] = {.transpose = true},
        [6] = {.transpose = true, .mirror_x = true},
        [7] = {.transpose = true, .mirror_x = true, .mirror_y = true},
        [8] = {.transpose = true, .mirror_y = true},
    };
    return orientation < 2 || orientation > 8
               ? GF_OK
               : add_item(b,
                          (struct gf_plan_item){.filter = &gf_orient, .params = &undo[orientation]},
                          error);
}

/* Returns the variant of the part's kernels with the same name as the variant `asked`; NULL: there
 * is none. */
static const struct gf_variant *part_variant(const struct gf_filter *part,
                                             const struct gf_variant *asked)
{
    const struct gf_variant *variant = NULL;
    for (int i = 0; asked && (variant = gf_filter_variant_at(part, i)); i++) {
        if (!strcmp(variant->name, asked->name))
            return variant;
    }
    return NULL;
}

/* Describes the picture that the next filter gets: its size, its depth and facts about it. */
static struct gf_extent extent_of(const struct builder *b)
{
    struct gf_extent extent = gf_extent_of(b->format);
    extent.bits = b->straight_bits ? b->straight_bits : extent.bits;
    extent.facts = b->facts;
    return extent;
}

static enum gf_status add_expanded(struct builder *b, struct gf_plan_item item,
                                   const struct gf_extent *extent, struct gf_error *error);

/* Copies a part's parameters into memory of the plan, and loads the files that they name. */
static enum gf_status own_part(struct builder *b, const struct gf_part *part, void **params,
                               struct gf_error *error)
{
    struct gf_error why = {0};
    *params = gf_plan_own(b->plan, part->size);
    GF_ALLOCATED(*params, error);
    memcpy(*params, part->params, part->size);
    if (!part->filter->load)
        return GF_OK;
    const enum gf_status status = part->filter->load(*params, &why);
    if (status)
        return gf_fail(error, status, "%s: %s", part->filter->name, why.text);
    b->plan->owned[b->plan->owned_count - 1].loaded = part->filter;
    return GF_OK;
}

/* Adds the filters that are the parts of the item's filter. */
static enum gf_status add_parts(struct builder *b, struct gf_plan_item item,
                                const struct gf_extent *extent, struct gf_error *error)
{
    struct gf_parts parts; /* 25 KB are not zeroed, to save time */
    bool has_variant = !item.variant;
    parts.count = 0;
    item.filter->expand(item.params, extent, &parts);
    for (int i = 0; i < parts.count; i++) {
        const struct gf_part *const part = &parts.part[i];
        const struct gf_extent now = extent_of(b);
        const bool itself = part->filter == item.filter;
        void *params;
        GF_TRY(own_part(b, part, &params, error));
        const struct gf_plan_item next = {.filter = part->filter,
                                          .params = params,
                                          .variant = part_variant(part->filter, item.variant)};
        has_variant |= next.variant != NULL;
        GF_TRY(itself ? add_filter(b, next, error)
                      : add_expanded(b, next, i ? &now : extent, error));
    }
    if (!has_variant)
        return gf_fail(error, GF_ERROR_USAGE, "%s: variant=%s does not take these parameters",
                       item.filter->name, item.variant->name);
    return GF_OK;
}

static enum gf_status add_expanded(struct builder *b, struct gf_plan_item item,
                                   const struct gf_extent *extent, struct gf_error *error)
{
    return item.filter->expand ? add_parts(b, item, extent, error) : add_filter(b, item, error);
}

/* Adds the stage of a filter that is limited to a region. That stage needs straight colour, and as
 * many channels as the filter may make. */
static enum gf_status add_region(struct builder *b, const struct gf_chain_item *item,
                                 struct gf_error *error)
{
    const struct gf_region_request request = {gf_plan_make_for, .item = item, .icc = b->icc,
                                              .facts = b->facts, .no_fuse = b->no_fuse};
    struct gf_region_parts *parts = NULL;
    struct gf_channels *wider = NULL;
    if (b->straight_bits)
        GF_TRY(add_straight(b, error));
    GF_TRY(gf_region_plan(&request, b->format, b->plan, &wider, &parts, error));
    if (wider)
        GF_TRY(add_item(b, (struct gf_plan_item){.filter = &gf_channels, .params = wider}, error));
    if (parts)
        GF_TRY(add_item(b, (struct gf_plan_item){.filter = &gf_region, .params = parts}, error));
    return GF_OK;
}

/* Ends the plan with an ordered dither to `levels` levels. */
static enum gf_status add_dither(struct builder *b, int levels, struct gf_error *error)
{
    struct gf_posterize *const params = gf_plan_own(b->plan, sizeof *params);
    GF_ALLOCATED(params, error);
    *params = (struct gf_posterize){.levels = levels, .dither = GF_DITHER_BAYER8};
    return add_filter(b, (struct gf_plan_item){.filter = &gf_posterize_filter, .params = params},
                      error);
}

static enum gf_status add_chain(struct builder *b, const struct gf_chain *chain,
                                const struct gf_plan_request *request, struct gf_error *error)
{
    enum gf_status status = add_orientation(b, request->orientation, error);
    if (!status && request->from_hdr && b->icc.hdr[1])
        status = add_filter(
            b, (struct gf_plan_item){.filter = &gf_tonemap_filter, .params = &gf_tonemap_to_srgb},
            error);
    struct gf_extent extent = extent_of(b);
    if (request->reduction > 1) {
        const bool turned = request->orientation > 4;
        extent.width = turned ? request->height : request->width;
        extent.height = turned ? request->width : request->height;
        extent.reduction = request->reduction;
    }
    extent.found = request->found;
    for (int i = 0; !status && i < chain->count; i++) {
        const struct gf_chain_item *const item = &chain->item[i];
        b->written = item->filter;
        if (item->filter->smaller && !b->plan->smaller)
            b->plan->smaller = item->filter->smaller(item->params, &extent);
        const struct gf_plan_item whole = {
            .filter = item->filter, .params = item->params, .variant = item->variant};
        status = item->region ? add_region(b, item, error) : add_expanded(b, whole, &extent, error);
        extent = extent_of(b);
    }
    b->written = NULL;
    if (!status && request->to_srgb && !b->icc.inks &&
        (b->icc.hdr[1] || !gf_icc_is_srgb(b->icc, gf_colour_channels(b->format))))
        status = add_filter(b, (struct gf_plan_item){.filter = &gf_icc_to_srgb}, error);
    if (!status && request->opaque && !b->icc.inks && gf_has_alpha(b->format))
        status = add_default(b, &gf_flatten_filter, error);
    if (!status && request->levels)
        status = add_dither(b, request->levels, error);
    if (!status && b->straight_bits)
        status = add_straight(b, error);
    return status;
}

/* Fails if a device has no kernels for the floats of a stage. */
static enum gf_status check_float_kernels(const struct gf_plan *plan, struct gf_error *error)
{
    for (int i = 0; i < plan->stage_count; i++) {
        const struct gf_stage *const stage = &plan->stage[i];
        const struct gf_variant *const kernels = stage->filter->cuda_floats;
        if (!gf_stage_has_floats(stage))
            continue;
        const char *const name = gf_filter_name(gf_stage_variants(stage)),
                          *const limits =
                              kernels && kernels->refuses ? kernels->refuses(stage) : NULL;
        if (!kernels || gf_stage_statistic(stage))
            return gf_fail(error, GF_ERROR_UNAVAILABLE,
                           "%s: floats are filtered on the CPU only (options.device=cpu)", name);
        if (limits)
            return gf_fail(error, GF_ERROR_UNAVAILABLE,
                           "%s: a GPU %s, the CPU all (options.device=cpu)", name, limits);
    }
    return GF_OK;
}

enum gf_status gf_plan_make_for(const struct gf_chain *chain, struct gf_format in,
                                const struct gf_plan_request *request, struct gf_plan *plan,
                                struct gf_error *error)
{
    *plan = (struct gf_plan){.in = in, .out = in};
    struct builder b = {.plan = plan,
                        .format = in,
                        .icc = request->icc,
                        .facts = request->facts,
                        .no_fuse = chain->no_fuse};
    enum gf_status status = add_chain(&b, chain, request, error);
    if (!status && request->window.width) {
        status = gf_items_narrow(plan, b.item, b.count, in, request->window, error);
        plan->in.width = request->window.width;
        plan->in.height = request->window.height;
    }
    GF_THEN(status, bind_items(plan, b.item, b.count, b.no_fuse, error));
    plan->fuses = !b.no_fuse;
    plan->on_device = request->on_device;
    if (!status && plan->fuses && !request->apart)
        status = gf_plan_fuse(plan, error);
    GF_THEN(status, gf_plan_cut_segments(plan, error));
    if (!status && plan->on_device)
        status = check_float_kernels(plan, error);
    plan->icc = b.icc;
    free(b.item);
    if (status)
        gf_plan_free(plan);
    /* The chain was valid when it was parsed, so that a usage error means that it does not fit this
     * picture. It is one of the chain if its own floats meet a filter that takes none. */
    if (status == GF_ERROR_USAGE && !(b.refuses_floats && !gf_is_float(in)))
        status = GF_ERROR_UNFIT;
    if (status && error)
        error->status = status;
    return status;
}

bool gf_plan_may_window(const struct gf_chain *chain)
{
    bool has = false;
    for (int i = 0; i < chain->count; i++)
        has |= chain->item[i].filter == &gf_crop_filter;
    return has;
}

struct gf_rectangle gf_plan_window(const struct gf_chain *chain, struct gf_format in,
                                   const struct gf_plan_request *request)
{
    struct gf_rectangle window = {.width = in.width, .height = in.height};
    const struct gf_chain part = gf_chain_part(chain, 0, gf_chain_next_box(chain, 0));
    struct gf_plan plan = {.in = in, .out = in};
    struct builder b = {.plan = &plan,
                        .format = in,
                        .icc = request->icc,
                        .facts = request->facts,
                        .no_fuse = chain->no_fuse};
    if (request->reduction > 1 || request->icc.hdr[1] || !gf_plan_may_window(&part))
        return window;
    if (add_chain(&b, &part, request, NULL) ||
        gf_items_window(b.item, b.count, in, &window, NULL)) /* the planner will tell the failure */
        window = (struct gf_rectangle){.width = in.width, .height = in.height};
    free(b.item);
    gf_plan_free(&plan);
    return window;
}

int gf_plan_reduction(const struct gf_chain *chain, struct gf_format in, int orientation)
{
    const struct gf_chain_item *const first = chain->item;
    const bool turned = orientation > 4;
    if (!chain->count || !first->filter->reduction || first->region)
        return 1;
    const int most = first->filter->reduction(first->params, turned ? in.height : in.width,
                                              turned ? in.width : in.height);
    return most < 0 && orientation > 1 ? 1 : most;
}

enum gf_status gf_plan_make(const struct gf_chain *chain, struct gf_format in, int orientation,
                            struct gf_plan *plan, struct gf_error *error)
{
    return gf_plan_make_for(chain, in, &(struct gf_plan_request){.orientation = orientation}, plan,
                            error);
}
