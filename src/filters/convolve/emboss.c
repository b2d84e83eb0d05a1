/* emboss: shows the picture as a relief with light from one side. */
#include "base/elementary.h"
#include "filters/convolve/convolve.h"
#include "stage/stage.h"

struct emboss {
    double angle, strength;
    int on, border;
};

enum { ON_GRAY, ON_PICTURE };
static const char *const grounds[] = {"gray", "picture", NULL};

static const struct gf_param params[] = {
    GF_PARAM(struct emboss, angle, 135, -360, 360,
             "where the light comes from, in degrees from the right, counter-clockwise"),
    GF_PARAM(struct emboss, strength, 1, 0, 100, "multiplies the slope"),
    GF_PARAM_CHOICE(struct emboss, on, ON_GRAY, grounds, "what the relief is added to"),
    GF_PARAM_BORDER(struct emboss),
    {0},
};

extern const struct gf_filter gf_convolve_filter;

static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    static const int smooth[3] = {1, 2, 1}, slope[3] = {-1, 0, 1};
    const struct emboss *const emboss = params_;
    const double x = gf_sin_pi_double(emboss->angle / 180 + 0.5);
    const double y = -gf_sin_pi_double(emboss->angle / 180);
    struct gf_convolve_params convolve = {.kernel = {3, 3, {0}},
                                          .divisor = 1,
                                          .bias = emboss->on == ON_GRAY ? 128 : 0,
                                          .border = emboss->border};
    for (int i = 0; i < 9; i++) {
        const int row = i / 3, column = i % 3;
        const double towards = x * smooth[row] * slope[column] + y * slope[row] * smooth[column];
        convolve.kernel.value[i] = (float)(-emboss->strength / 4 * towards);
    }
    if (emboss->on == ON_PICTURE)
        convolve.kernel.value[4] += 1;
    gf_parts_add(parts, &gf_convolve_filter, &convolve, sizeof convolve);
}

const struct gf_filter gf_emboss_filter = {
    .name = "emboss",
    .synonyms = "relief bump",
    .summary = "a relief in light from one side",
    .definition =
        "128 (on=gray) or v (on=picture), minus strength * (gx cos a - gy sin a) / 4; gx and gy "
        "are the 3x3 Sobel differences, rightwards and downwards, and a is the angle.",
    GF_PARAMS(struct emboss, params),
    .kind = GF_STENCIL,
    .expand = expand,
};
