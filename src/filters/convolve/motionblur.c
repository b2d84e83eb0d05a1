/* motionblur: blurs like a moving camera. */
#include "base/elementary.h"
#include "filters/convolve/spread.h"
#include "stage/filter.h"

struct motionblur {
    double length, angle; /* length in pixels, angle in degrees */
    int border;
};

static const struct gf_param params[] = {
    GF_PARAM(struct motionblur, length, 9, 1, 200, "length of the movement, in pixels"),
    GF_PARAM(struct motionblur, angle, 0, -360, 360,
             "direction of the movement, in degrees clockwise from the right: 90 is down"),
    GF_PARAM_BORDER(struct motionblur),
    {0},
};

static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct motionblur *const motionblur = params_;
    const struct gf_spread_params spread = {
        {.is_line = true,
         .half = motionblur->length / 2,
         .cosine = gf_sin_pi_double(motionblur->angle / 180 + 0.5),
         .sine = gf_sin_pi_double(motionblur->angle / 180)},
        motionblur->border};
    gf_spread_add(parts, &spread);
}

const struct gf_filter gf_motionblur_filter = {
    .name = "motionblur",
    .synonyms = "directional speed shake linear",
    .summary = "blur along a line, as of a moving camera",
    .definition = "The mean over a line one pixel wide with the pixel in its middle. The weight of "
                  "a pixel is the part of the pixel that the line covers, in 64ths (by 8 x 8 "
                  "points of the pixel). Up to 31 x 31 pixels the result is that of convolve with "
                  "these weights; sums over longer lines are exact.",
    .example = "motionblur=15:20",
    GF_PARAMS(struct motionblur, params),
    .kind = GF_STENCIL,
    .expand = expand,
};
