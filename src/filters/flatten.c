/* flatten: composes the picture over a background and drops alpha. */
#include "pixel/fill.h"
#include "pixel/point/point.h"

struct flatten {
    struct gf_colour colour;
};

static const char *const words[] = {"none", NULL};

static const struct gf_param params[] = {
    GF_PARAM_COLOUR(struct flatten, colour, 0xffffff, words,
                    "what lies below the picture: white, #ff8800; none leaves the colours as they "
                    "are and only drops alpha"),
    {0},
};

static enum gf_status shape(const void *params_, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    out->channels = gf_colour_channels(in);
    return GF_OK;
}

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct flatten *const flatten = stage->params;
    int sample[3];
    gf_fill_samples(&flatten->colour, stage->in, sample);
    if (flatten->colour.word)
        gf_point_drop_alpha(builder);
    else
        gf_point_flatten(builder, sample);
}

const struct gf_filter gf_flatten_filter = {
    .name = "flatten",
    .synonyms = "background alpha composite opaque matte",
    .summary = "the picture on a background colour, without alpha",
    .definition = "(v a + colour (M - a)) / M, with a the alpha. On gray pictures the luma of the "
                  "colour counts. Pictures without alpha stay as they are. A JPEG or PNM output of "
                  "a picture with alpha gets flatten=white at the end of its chain.",
    .example = "flatten=orange",
    GF_PARAMS(struct flatten, params),
    .kind = GF_POINT,
    .shape = shape,
    .point = point,
};
