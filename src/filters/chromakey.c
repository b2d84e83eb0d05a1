/* chromakey: a colour becomes transparent. */
#include "pixel/point/point.h"

struct chromakey {
    struct gf_colour colour;
    double similarity, blend;
};

static const struct gf_param params[] = {
    GF_PARAM_COLOUR(struct chromakey, colour, 0x00ff00, NULL,
                    "the colour that becomes transparent"),
    GF_PARAM(struct chromakey, similarity, 0.2, 0, 2,
             "colours up to this distance are wholly transparent"),
    GF_PARAM(struct chromakey, blend, 0.1, 0, 2,
             "further distance over which colours become opaque; 0: a hard edge"),
    {0},
};

static enum gf_status shape(const void *params_, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    if (in.channels == 3)
        out->channels = 4;
    return GF_OK;
}

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
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
    GF_PARAMS(struct chromakey, params),
    .kind = GF_POINT,
    .cost = {.pixel = 1.5},
    .shape = shape,
    .point = point,
};
