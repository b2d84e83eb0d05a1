/* Point filters of a picture's edges: frame, round, vignette. */
#include "pixel/point/point.h"

/* frame: draws a border over the edges. */

struct frame {
    struct gf_length width;
    struct gf_colour colour;
};

struct edges {
    int width, columns, rows;
};

static double within(int at, int size, int width)
{
    return at < width || at >= size - width ? 1 : 0;
}

static double frame_column(const void *context, int x)
{
    const struct edges *const edges = context;
    return within(x, edges->columns, edges->width);
}

static double frame_row(const void *context, int y)
{
    const struct edges *const edges = context;
    return within(y, edges->rows, edges->width);
}

static double same(const void *context, double sum)
{
    return sum;
}

static void frame_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct frame *const frame = stage->params;
    const struct gf_format in = stage->in;
    const int shorter = in.width < in.height ? in.width : in.height;
    const struct edges edges = {(int)fmin(gf_length_of(frame->width, shorter, 0.02), shorter),
                                in.width, in.height};
    const struct gf_point_field field = {frame_column, frame_row, same, &edges};
    double colour[3];
    gf_point_colour_of(in, &frame->colour, colour);
    gf_point_mix(builder, &field, colour);
}

const struct gf_filter gf_frame_filter = {
    .name = "frame",
    .synonyms = "edge",
    .summary = "a border drawn over the edges",
    .definition = "The colour where a pixel is less than width from an edge, else v. Gray pictures "
                  "take the colour's luma. The picture keeps its size; border makes a larger one.",
    .example = "frame=6:#222222",
    GF_TAKES(struct frame,
             GF_PARAM_LENGTH(
                 struct frame, width, 0, 1e9,
                 "width of the border; per cent are of the picture's shorter side; default 2%"),
             GF_PARAM_COLOUR(struct frame, colour, 0xffffff, NULL, "colour of the border")),
    .kind = GF_POINT,
    .takes_floats = true,
    .by_place = true,
    .cost = {.pixel = 2},
    .point = frame_point,
};

/* round: makes corners round and transparent. */

struct round {
    struct gf_length radius;
};

struct corners {
    double radius, width, height;
};

/* Returns the square of a pixel's distance along one axis from the centre of the corner's circle,
 * in units of (radius + 1)^2. The squares for both axes add up to 1 at a pixel one pixel outside of
 * the circle. */
static double round_part(double middle, double size, double radius)
{
    const double beyond = fmax(fmax(radius - middle, middle - (size - radius)), 0);
    return beyond * beyond / ((radius + 1) * (radius + 1));
}

static double round_column(const void *context, int x)
{
    const struct corners *const corners = context;
    return round_part(x + 0.5, corners->width, corners->radius);
}

static double round_row(const void *context, int y)
{
    const struct corners *const corners = context;
    return round_part(y + 0.5, corners->height, corners->radius);
}

static double cover(const void *context, double square)
{
    const double radius = ((const struct corners *)context)->radius;
    return fmin(fmax(radius + 0.5 - sqrt(square) * (radius + 1), 0), 1);
}

static enum gf_status shape(const void *params, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    out->channels += gf_has_alpha(in) ? 0 : 1;
    return GF_OK;
}

static void round_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct gf_format in = stage->in;
    const int shorter = in.width < in.height ? in.width : in.height;
    const double radius = gf_length_of(((const struct round *)stage->params)->radius, shorter, 0.1);
    const struct corners corners = {fmin(radius, shorter / 2.0), in.width, in.height};
    const struct gf_point_field field = {round_column, round_row, cover, &corners};
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
    GF_TAKES(struct round,
             GF_PARAM_LENGTH(
                 struct round, radius, 0, 1e9,
                 "radius of the corners, at most half of the picture's shorter side; per cent "
                 "are of this side; default 10%")),
    .kind = GF_POINT,
    .takes_floats = true,
    .by_place = true,
    .cost = {.pixel = 2.5},
    .shape = shape,
    .point = round_point,
};

/* vignette: fades the corners into a colour. */

struct vignette {
    double strength, radius;
    struct gf_colour colour;
};

struct lens {
    double width, height;
    const struct vignette *vignette;
};

/* Returns half the square of the distance from the centre along one axis, where the picture extends
 * from -1 to 1. */
static double vignette_part(double at, double size)
{
    const double distance = (2 * at + 1) / size - 1;
    return distance * distance / 2;
}

static double vignette_column(const void *context, int x)
{
    return vignette_part(x, ((const struct lens *)context)->width);
}

static double vignette_row(const void *context, int y)
{
    return vignette_part(y, ((const struct lens *)context)->height);
}

static double shade(const void *context, double square)
{
    const struct vignette *const vignette = ((const struct lens *)context)->vignette;
    const double t = fmax((sqrt(square) - vignette->radius) / (1 - vignette->radius), 0);
    return vignette->strength * t * t * (3 - 2 * t);
}

static void vignette_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct vignette *const vignette = stage->params;
    const struct lens lens = {stage->in.width, stage->in.height, vignette};
    const struct gf_point_field field = {vignette_column, vignette_row, shade, &lens};
    double colour[3];
    gf_point_colour_of(stage->in, &vignette->colour, colour);
    gf_point_mix(builder, &field, colour);
}

const struct gf_filter gf_vignette_filter = {
    .name = "vignette",
    .synonyms = "falloff corners",
    .summary = "corners fade into a colour",
    .definition = "v + (colour - v) strength t^2 (3 - 2 t) with t = (d - radius) / (1 - radius), "
                  "at least 0. d is the distance from the middle by ellipses of the picture's "
                  "shape: 1 in the corners. Gray pictures take the colour's luma.",
    GF_TAKES(
        struct vignette,
        GF_PARAM(struct vignette, strength, 0.6, 0, 1, "how far the corners fade: 1 is the colour"),
        GF_PARAM(struct vignette, radius, 0.3, 0, 0.99,
                 "where the fading begins: 0 is the middle, 1 a corner; 0.7 touches the sides"),
        GF_PARAM_COLOUR(struct vignette, colour, 0x000000, NULL, "what the corners fade into")),
    .kind = GF_POINT,
    .takes_floats = true,
    .by_place = true,
    .cost = {.pixel = 2},
    .point = vignette_point,
};
