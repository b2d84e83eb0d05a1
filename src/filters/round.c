/* round: makes corners round and transparent. */
#include "pixel/point/point.h"

struct round {
    struct gf_length radius;
};

static const struct gf_param params[] = {
    GF_PARAM_LENGTH(struct round, radius, 0, 1e9,
                    "radius of the corners, at most half of the picture's shorter side; per cent "
                    "are of this side; default 10%"),
    {0},
};

struct corners {
    double radius, width, height;
};

/* Returns the square of a pixel's distance along one axis from the centre of the corner's circle,
 * in units of (radius + 1)^2. The squares for both axes add up to 1 at a pixel one pixel outside of
 * the circle. */
static double part(double middle, double size, double radius)
{
    const double beyond = fmax(fmax(radius - middle, middle - (size - radius)), 0);
    return beyond * beyond / ((radius + 1) * (radius + 1));
}

static double column(const void *context, int x)
{
    const struct corners *const corners = context;
    return part(x + 0.5, corners->width, corners->radius);
}

static double row(const void *context, int y)
{
    const struct corners *const corners = context;
    return part(y + 0.5, corners->height, corners->radius);
}

static double cover(const void *context, double square)
{
    const double radius = ((const struct corners *)context)->radius;
    return fmin(fmax(radius + 0.5 - sqrt(square) * (radius + 1), 0), 1);
}

static enum gf_status shape(const void *params_, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    out->channels += gf_has_alpha(in) ? 0 : 1;
    return GF_OK;
}

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct gf_format in = stage->in;
    const int shorter = in.width < in.height ? in.width : in.height;
    const double radius = gf_length_of(((const struct round *)stage->params)->radius, shorter, 0.1);
    const struct corners corners = {fmin(radius, shorter / 2.0), in.width, in.height};
    const struct gf_point_field field = {column, row, cover, &corners};
    gf_point_opaque(builder);
    if (corners.radius >= 1)
        gf_point_fade(builder, &field);
}

const struct gf_filter gf_round_filter = {
    .name = "round",
    .synonyms = "corners rounded roundcorners",
    .summary = "rounded, transparent corners",
    .definition =
        "Alpha times radius + 1/2 - d, clamped to 0..1, in the corners: d is the distance "
        "of the pixel from the middle\n"
        "of the corner's circle. A picture without alpha gets one.",
    .example = "round=20%",
    GF_PARAMS(struct round, params),
    .kind = GF_POINT,
    .cost = {.pixel = 2.5},
    .shape = shape,
    .point = point,
};
