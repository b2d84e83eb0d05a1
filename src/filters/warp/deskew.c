/* deskew: turns a scanned page so that its lines are level. */
#include <stdio.h>

#include "filters/warp/warp.h"

struct deskew {
    double threshold, max;
    int kernel, fit;
    struct gf_colour colour;
};

static const struct gf_param params[] = {
    GF_PARAM(struct deskew, threshold, 0.4, 0.01, 1,
             "the part of the writing's contrast from which a pixel counts as ink: 40%"),
    GF_PARAM(struct deskew, max, 15, 0.1, 45, "the largest angle that is looked for, in degrees"),
    GF_WARP_PARAMS(struct deskew),
    GF_PARAM_CHOICE(struct deskew, fit, GF_WARP_GROW, gf_warp_fit_names,
                    "grow: the result holds the whole page; keep: it has the page's size"),
    {0},
};

static void find(const void *params_, const struct gf_view *picture, struct gf_found *found)
{
    const struct deskew *const deskew = params_;
    int angle;
    found->is_known = true;
    if (!gf_skew_find(picture, deskew->threshold, (int)(deskew->max * 100), &angle))
        snprintf(found->text, sizeof found->text, "deskew: found no lines, and turned nothing");
    else
        snprintf(found->text, sizeof found->text, "deskew: turned by %.2f degrees", -angle / 100.0);
    found->angle = -angle / 100.0;
}

extern const struct gf_filter gf_rotate_filter;

/* Appends the rotation. Before the angle is known it stands for any, and keeps the size. */
static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct deskew *const deskew = params_;
    const struct gf_rotate_params rotate = {
        .angle = extent->found.is_known ? extent->found.angle : 1,
        .fit = extent->found.is_known ? deskew->fit : GF_WARP_KEEP,
        .kernel = deskew->kernel,
        .colour = deskew->colour,
    };
    gf_parts_add(parts, &gf_rotate_filter, &rotate, sizeof rotate);
}

const struct gf_filter gf_deskew_filter = {
    .name = "deskew",
    .synonyms = "straighten skew autorotate level",
    .summary = "turns a scanned page until its lines are level",
    .definition =
        "rotate by the angle at which the lower edges of the ink lie in the fewest rows, and its "
        "left edges in the fewest columns, in hundredths of a degree; --verbose tells it. Lines of "
        "text and upright lines count alike: the angle has the greatest sum of squared differences "
        "between the numbers of edges in neighbouring rows, and columns. It is looked for in a "
        "copy of at most 1024 pixels a side, whose ink is what is darker than its surroundings. A "
        "picture without lines, whose sum is not 4 times that of scattered edges, stays as it is, "
        "and so does one whose sum is less than 7/4 of that at 0 degrees. The input of deskew lies "
        "whole in host memory. --explain "
        "reads no pixels, and shows the size of the page.",
    GF_PARAMS(struct deskew, params),
    .kind = GF_STENCIL,
    .expand = expand,
    .find = find,
    .takes_no_region = true,
};
