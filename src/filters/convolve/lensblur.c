/* lensblur: blurs like a lens that is out of focus. */
#include "filters/convolve/spread.h"
#include "stage/filter.h"

struct lensblur {
    double radius; /* the radius in pixels */
    int border;
};

static const struct gf_param params[] = {
    GF_PARAM(struct lensblur, radius, 4, 0.5, 100, "radius of the disc, in pixels"),
    GF_PARAM_BORDER(struct lensblur),
    {0},
};

static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct lensblur *const lensblur = params_;
    const struct gf_spread_params spread = {{.half = lensblur->radius}, lensblur->border};
    gf_spread_add(parts, &spread);
}

const struct gf_filter gf_lensblur_filter = {
    .name = "lensblur",
    .synonyms = "bokeh defocus disc disk",
    .summary = "blur by a disc, as a lens out of focus makes it",
    .definition = "The mean over the disc. The weight of a pixel is the part of the pixel that the "
                  "disc covers, in 64ths (by 8 x 8 points of the pixel). Up to 31 x 31 pixels the "
                  "result is that of convolve with these weights; sums over larger discs are "
                  "exact.",
    GF_PARAMS(struct lensblur, params),
    .kind = GF_STENCIL,
    .expand = expand,
};
