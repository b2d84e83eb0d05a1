/* motionblur: blurs like a moving camera. */
#include "base/elementary.h"
#include "filters/convolve/convolve.h"
#include "filters/convolve/coverage.h"
#include "stage/filter.h"

extern const struct gf_filter gf_convolve_filter;

struct motionblur {
    double length, angle; /* length in pixels, angle in degrees */
    int border;
};

static const struct gf_param params[] = {
    GF_PARAM(struct motionblur, length, 9, 1, 30, "length of the movement, in pixels"),
    GF_PARAM(struct motionblur, angle, 0, -360, 360,
             "direction of the movement, in degrees clockwise from the right: 90 is down"),
    GF_PARAM_BORDER(struct motionblur),
    {0},
};

struct way {
    double half, cosine, sine;
};

/* Whether a line that is one pixel wide covers the point. */
static bool line(const void *context, double x, double y)
{
    const struct way *const way = context;
    const double along = x * way->cosine + y * way->sine;
    const double across = y * way->cosine - x * way->sine;
    return fabs(along) <= way->half && fabs(across) <= 0.5;
}

static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct motionblur *const motionblur = params_;
    struct gf_convolve_params convolve = {.border = motionblur->border};
    const struct way way = {motionblur->length / 2, gf_sin_pi_double(motionblur->angle / 180 + 0.5),
                            gf_sin_pi_double(motionblur->angle / 180)};
    gf_coverage_weights(&convolve.kernel, way.half * fabs(way.cosine) + fabs(way.sine) / 2,
                        way.half * fabs(way.sine) + fabs(way.cosine) / 2, line, &way);
    gf_parts_add(parts, &gf_convolve_filter, &convolve, sizeof convolve);
}

const struct gf_filter gf_motionblur_filter = {
    .name = "motionblur",
    .synonyms = "directional speed shake linear",
    .summary = "blur along a line, as of a moving camera",
    .definition = "The mean over a line one pixel wide with the pixel in its middle. The weight of "
                  "a pixel is the part of the pixel that the line covers, in 64ths (by 8 x 8 "
                  "points of the pixel). The result is that of convolve with these weights.",
    .example = "motionblur=15:20",
    GF_PARAMS(struct motionblur, params),
    .kind = GF_STENCIL,
    .expand = expand,
};
