/* lens: adds or corrects the curvature that a lens gives to straight lines. */
#include "filters/warp/warp.h"

struct lens {
    double k1, k2, zoom;
    int kernel;
    struct gf_colour colour;
};

static const struct gf_param params[] = {
    GF_PARAM(struct lens, k1, -0.05, -1, 1,
             "coefficient of r^2; below 0 the edges are stretched, and below -0.1 the corners of a "
             "3:2 picture fold back; above 0 everything is drawn to the middle"),
    GF_PARAM(struct lens, k2, 0, -1, 1, "of r^4"),
    GF_PARAM(struct lens, zoom, 1, 0.05, 20, "enlargement in the middle"),
    GF_WARP_PARAMS(struct lens),
    {0},
};

static const struct gf_filter stage_filter = GF_WARP_STAGE("lens");

static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct lens *const lens = params_;
    const int width = extent->width, height = extent->height;
    const double unit = 2.0 / (width < height ? width : height);
    const double x = (width - 1) / 2.0, y = (height - 1) / 2.0;
    struct gf_warp_params warp = {
        .map = {GF_WARP_LENS, {x, y, unit * unit, x, y, 0, 1 / lens->zoom, lens->k1, lens->k2}},
        .width = width,
        .height = height,
        .kernel = lens->kernel,
        .colour = lens->colour,
    };
    gf_warp_parts(&stage_filter, &warp, extent, parts);
}

const struct gf_filter gf_lens_filter = {
    .name = "lens",
    .synonyms = "barrel pincushion distortion undistort fisheye radial",
    .summary = "curved lines straightened, or bent, as by a lens",
    .definition = "The pixel at d from the middle comes from d (1 + k1 r^2 + k2 r^4), with r = |d| "
                  "over half the shorter side,\nand d divided by the zoom (Brown's radial "
                  "terms). " GF_WARP_DEFINITION,
    .example = "lens=0.3",
    GF_PARAMS(struct lens, params),
    .kind = GF_STENCIL,
    .expand = expand,
    .cuda = GF_CUDA(GF_WARP_KERNELS),
};
