/* grayscale: makes one channel of luma. */
#include "pixel/point/point.h"

struct grayscale {
    int weights;
};

enum { BT601, BT709, RED, GREEN, BLUE, ALPHA };

static const char *const weights_names[] = {"bt601", "bt709", "red", "green",
                                            "blue",  "alpha", NULL};

static const struct gf_param params[] = {
    GF_PARAM_CHOICE(struct grayscale, weights, BT601, weights_names,
                    "luma weights; or the channel that is taken"),
    {0},
};

static enum gf_status shape(const void *params_, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    const struct grayscale *const grayscale = params_;
    out->channels = gf_has_alpha(in) && grayscale->weights != ALPHA ? 2 : 1;
    return GF_OK;
}

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct grayscale *const grayscale = stage->params;
    const int taken = grayscale->weights;
    if (taken == ALPHA) { /* white, laid on black */
        gf_point_linear(builder, 0, 0, gf_sample_max(stage->in));
        gf_point_luma(builder);
        gf_point_flatten(builder, (const int[3]){0});
    } else if (taken >= RED) {
        gf_point_gray(builder, (const int[3]){taken == RED, taken == GREEN, taken == BLUE}, 1);
    } else if (taken == BT601) {
        gf_point_luma(builder);
    } else {
        gf_point_gray(builder, (const int[3]){13933, 46871, 4732}, 65536);
    }
}

const struct gf_filter gf_grayscale_filter = {
    .name = "grayscale",
    .names = "greyscale gray grey desaturate",
    .synonyms = "mono monochrome colorspace bw",
    .summary = "luma, in one channel",
    .definition =
        "bt601: (77 R + 150 G + 29 B) / 256 in 8 bits, (19595 R + 38470 G + 7471 B) / "
        "65536 in 16. bt709: (13933 R + 46871 G + 4732 B) / 65536. red, green, "
        "blue: that channel. Alpha is kept. Gray pictures stay as they are. alpha: alpha, "
        "or white where there is none, and without alpha.",
    GF_PARAMS(struct grayscale, params),
    .kind = GF_POINT,
    .shape = shape,
    .point = point,
};
