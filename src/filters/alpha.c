/* Point filters of alpha: flatten drops it, chromakey makes it. */
#include "pixel/point/point.h"

/* flatten: composes the picture over a background and drops alpha. */

struct flatten {
    struct gf_colour colour;
};

static enum gf_status flatten_shape(const void *params, struct gf_format in, struct gf_format *out,
                                    struct gf_error *error)
{
    out->channels = gf_colour_channels(in);
    return GF_OK;
}

static void flatten_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct flatten *const flatten = stage->params;
    int level[3];
    double sample[3];
    gf_fill_samples(&flatten->colour, stage->in, level);
    for (int c = 0; c < 3; c++)
        sample[c] = level[c];
    if (gf_is_float(stage->in))
        gf_point_colour_of(stage->in, &flatten->colour, sample);
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
    GF_TAKES(struct flatten,
             GF_PARAM_COLOUR(
                 struct flatten, colour, 0xffffff, GF_WORDS("none"),
                 "what lies below the picture: white, #ff8800; none leaves the colours as they "
                 "are and only drops alpha")),
    .kind = GF_POINT,
    .takes_floats = true,
    .shape = flatten_shape,
    .point = flatten_point,
};

/* chromakey: a colour becomes transparent. */

struct chromakey {
    struct gf_colour colour;
    double similarity, blend;
};

static enum gf_status chromakey_shape(const void *params, struct gf_format in,
                                      struct gf_format *out, struct gf_error *error)
{
    if (in.channels == 3)
        out->channels = 4;
    return GF_OK;
}

static void chromakey_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct chromakey *const key = stage->params;
    if (gf_colour_channels(stage->in) == 3)
        gf_point_key(builder, key->colour.part, key->similarity, key->blend);
}

const struct gf_filter gf_chromakey_filter = {
    .name = "chromakey",
    .names = "colorkey",
    .synonyms = "greenscreen key transparent",
    .summary = "makes a colour transparent",
    .definition =
        "Alpha times (d - similarity) / blend, clamped to 0..1, d the distance of Cb / M and Cr / "
        "M (ITU-R BT.601, full range)\n"
        "from those of the colour. The colour of the pixels stays. Gray pictures stay as they "
        "are.",
    .example = "chromakey=#a06840:0.05:0.04",
    GF_TAKES(struct chromakey,
             GF_PARAM_COLOUR(struct chromakey, colour, 0x00ff00, NULL,
                             "the colour that becomes transparent"),
             GF_PARAM(struct chromakey, similarity, 0.2, 0, 2,
                      "colours up to this distance are wholly transparent"),
             GF_PARAM(struct chromakey, blend, 0.1, 0, 2,
                      "further distance over which colours become opaque; 0: a hard edge")),
    .kind = GF_POINT,
    .takes_floats = true,
    .cost = {.pixel = 1.5},
    .shape = chromakey_shape,
    .point = chromakey_point,
};
