/* laplace: computes how much a pixel's neighbours differ from it. */
#include "filters/convolve/convolve.h"
#include "stage/stage.h"

struct laplace {
    double scale, bias;
    int neighbours, border;
};

static const char *const counts[] = {"4", "8", NULL};

static const struct gf_param params[] = {
    GF_PARAM(struct laplace, scale, 1, -100, 100, "multiplies the sum"),
    GF_PARAM(struct laplace, bias, 0, -255, 255,
             "added to the result, in 8-bit steps at every depth: 128 shows both signs"),
    GF_PARAM_CHOICE(struct laplace, neighbours, 0, counts,
                    "4: without the diagonal neighbours; 8: with them"),
    GF_PARAM_BORDER(struct laplace),
    {0},
};

extern const struct gf_filter gf_convolve_filter;

static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct laplace *const laplace = params_;
    struct gf_convolve_params convolve = {
        .kernel = {3, 3, {0}}, .divisor = 1, .bias = laplace->bias, .border = laplace->border};
    for (int i = 0; i < 9; i++) {
        const bool is_corner = i % 2 == 0;
        if (i != 4 && (!is_corner || laplace->neighbours))
            convolve.kernel.value[i] = (float)laplace->scale;
    }
    convolve.kernel.value[4] = (float)(laplace->scale * (laplace->neighbours ? -8 : -4));
    gf_parts_add(parts, &gf_convolve_filter, &convolve, sizeof convolve);
}

const struct gf_filter gf_laplace_filter = {
    .name = "laplace",
    .synonyms = "laplacian edge edges",
    .summary = "sum of the differences from the neighbours",
    .example = "laplace=1:128",
    .definition = "scale * the sum of v' - v over the 4 or 8 neighbours v', plus bias, clamped. "
                  "With 4 neighbours it is OpenCV's Laplacian of ksize 1. Alpha is kept.",
    GF_PARAMS(struct laplace, params),
    .kind = GF_STENCIL,
    .expand = expand,
};
