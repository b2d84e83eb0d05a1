/* lensblur: blurs like a lens that is out of focus. */
#include "filters/convolve/convolve.h"
#include "filters/convolve/coverage.h"
#include "stage/filter.h"

extern const struct gf_filter gf_convolve_filter;

struct lensblur {
    double radius; /* the radius in pixels */
    int border;
};

static const struct gf_param params[] = {
    GF_PARAM(struct lensblur, radius, 4, 0.5, 15.5, "radius of the disc, in pixels"),
    GF_PARAM_BORDER(struct lensblur),
    {0},
};

static bool disc(const void *context, double x, double y)
{
    const double radius = ((const struct lensblur *)context)->radius;
    return x * x + y * y <= radius * radius;
}

static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct lensblur *const lensblur = params_;
    struct gf_convolve_params convolve = {.border = lensblur->border};
    gf_coverage_weights(&convolve.kernel, lensblur->radius, lensblur->radius, disc, lensblur);
    gf_parts_add(parts, &gf_convolve_filter, &convolve, sizeof convolve);
}

const struct gf_filter gf_lensblur_filter = {
    .name = "lensblur",
    .synonyms = "bokeh defocus disc disk",
    .summary = "blur by a disc, as a lens out of focus makes it",
    .definition = "The mean over the disc. The weight of a pixel is the part of the pixel that the "
                  "disc covers, in 64ths (by 8 x 8 points of the pixel). The result is that of "
                  "convolve with these weights.",
    GF_PARAMS(struct lensblur, params),
    .kind = GF_STENCIL,
    .expand = expand,
};
