/* posterize: reduces the picture to few levels, with or without an ordered dither. */
#include "filters/posterize.h"

#include "pixel/point/point.h"

static const char *const dither_names[] = {"none", "bayer2", "bayer4", "bayer8", NULL};

static const struct gf_param params[] = {
    GF_PARAM_INT(struct gf_posterize, levels, 4, 2, 256, "levels a channel, evenly spaced"),
    GF_PARAM_CHOICE(struct gf_posterize, dither, GF_DITHER_NONE, dither_names,
                    "the side of the Bayer matrix by which pixels between two levels are shared "
                    "out"),
    {0},
};

/* An ordered dither's matrix of thresholds, which has 2^order rows and columns. */
struct bayer {
    int order;
};

/* Returns the part of a threshold's number that column x determines, in units of 1/4096. */
static double column(const void *context, int x)
{
    const struct bayer *const bayer = context;
    return (double)(x & ((1 << bayer->order) - 1)) / 4096;
}

static double row(const void *context, int y)
{
    const struct bayer *const bayer = context;
    return (double)((y & ((1 << bayer->order) - 1)) << bayer->order) / 4096;
}

/* Returns threshold number 4096 * sum, less a half, in -1/2..1/2. The matrix B of side 2n consists
 * of four copies of 4 B(n), to which 0, 2, 3 and 1 are added. */
static double threshold(const void *context, double sum)
{
    const struct bayer *const bayer = context;
    const int order = bayer->order, side = 1 << order;
    const int index = (int)(sum * 4096) % (side * side), x = index % side, y = index / side;
    int rank = 0;
    for (int bit = 0; bit < order; bit++) {
        const int right = x >> bit & 1, below = y >> bit & 1;
        rank = 4 * rank + 2 * (right ^ below) + below;
    }
    return (rank + 0.5) / (side * side) - 0.5;
}

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct gf_posterize *const posterize = stage->params;
    const struct bayer bayer = {posterize->dither};
    const struct gf_point_field field = {column, row, threshold, &bayer};
    if (posterize->dither != GF_DITHER_NONE)
        gf_point_add(builder, &field, 1.0 / (posterize->levels - 1));
    gf_point_quantize(builder, posterize->levels);
}

const struct gf_filter gf_posterize_filter = {
    .name = "posterize",
    .names = "posterise",
    .synonyms = "dither ordered-dither quantize reduce elbg",
    .summary = "few levels, with or without dither",
    .definition =
        "round(v (levels - 1) / M) M / (levels - 1), a half up. With dither the threshold of a "
        "pixel is not 1/2 but\n"
        "(B + 1/2) / side^2, B of Bayer's matrix (B. E. Bayer, 1973): 0 2/3 1 of side 2, and 4 B + "
        "0 2/3 1 of twice the side.",
    .example = "posterize=3:bayer4",
    GF_PARAMS(struct gf_posterize, params),
    .kind = GF_POINT,
    .cost = {.pixel = 2.5},
    .point = point,
};
