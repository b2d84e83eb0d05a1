#include "pixel/point/point.h"

static enum gf_status premultiply_shape(const void *params, struct gf_format in,
                                        struct gf_format *out, struct gf_error *error)
{
    out->bits = gf_is_float(in) ? in.bits : 16;
    return GF_OK;
}

static void premultiply_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    gf_point_premultiply(builder);
}

const struct gf_filter gf_premultiply = {
    .name = "premultiply",
    .summary = "colour times alpha",
    .kind = GF_POINT,
    .takes_floats = true,
    .shape = premultiply_shape,
    .point = premultiply_point,
};

static enum gf_status unpremultiply_shape(const void *params, struct gf_format in,
                                          struct gf_format *out, struct gf_error *error)
{
    const struct gf_unpremultiply *const unpremultiply = params;
    out->bits = unpremultiply->bits;
    return GF_OK;
}

static void unpremultiply_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct gf_unpremultiply *const unpremultiply = stage->params;
    gf_point_unpremultiply(builder, unpremultiply->bits);
}

const struct gf_filter gf_unpremultiply = {
    .name = "unpremultiply",
    .summary = "colour divided by alpha",
    .params_size = sizeof(struct gf_unpremultiply),
    .kind = GF_POINT,
    .takes_floats = true,
    .shape = unpremultiply_shape,
    .point = unpremultiply_point,
};

static void limit_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    gf_point_limit_to_alpha(builder);
}

const struct gf_filter gf_limit_to_alpha = {
    .name = "limit",
    .summary = "premultiplied colour limited to alpha",
    .kind = GF_POINT,
    .point = limit_point,
};

static enum gf_status channels_shape(const void *params, struct gf_format in, struct gf_format *out,
                                     struct gf_error *error)
{
    out->channels = ((const struct gf_channels *)params)->count;
    return GF_OK;
}

static void channels_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    if (gf_colour_channels(stage->out) > gf_colour_channels(stage->in))
        gf_point_colour(builder);
    if (gf_has_alpha(stage->out) && !gf_has_alpha(stage->in))
        gf_point_opaque(builder);
}

const struct gf_filter gf_channels = {
    .name = "channels",
    .summary = "equal colours for gray, and an opaque alpha, where these are missing",
    .params_size = sizeof(struct gf_channels),
    .kind = GF_POINT,
    .takes_floats = true,
    .shape = channels_shape,
    .point = channels_point,
};

static enum gf_status opaque_shape(const void *params, struct gf_format in, struct gf_format *out,
                                   struct gf_error *error)
{
    out->channels += gf_has_alpha(in) ? 0 : 1;
    return GF_OK;
}

static void opaque_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    gf_point_opaque(builder);
}

const struct gf_filter gf_opaque = {
    .name = "opaque",
    .summary = "an alpha channel where there is none",
    .kind = GF_POINT,
    .takes_floats = true,
    .shape = opaque_shape,
    .point = opaque_point,
};
