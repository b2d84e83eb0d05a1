/* frame: draws a border over the edges. */
#include "pixel/point/point.h"

struct frame {
    struct gf_length width;
    struct gf_colour colour;
};

static const struct gf_param params[] = {
    GF_PARAM_LENGTH(struct frame, width, 0, 1e9,
                    "width of the border; per cent are of the picture's shorter side; default 2%"),
    GF_PARAM_COLOUR(struct frame, colour, 0xffffff, NULL, "colour of the border"),
    {0},
};

struct edges {
    int width, columns, rows;
};

static double within(int at, int size, int width)
{
    return at < width || at >= size - width ? 1 : 0;
}

static double column(const void *context, int x)
{
    const struct edges *const edges = context;
    return within(x, edges->columns, edges->width);
}

static double row(const void *context, int y)
{
    const struct edges *const edges = context;
    return within(y, edges->rows, edges->width);
}

static double same(const void *context, double sum)
{
    return sum;
}

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct frame *const frame = stage->params;
    const struct gf_format in = stage->in;
    const int shorter = in.width < in.height ? in.width : in.height;
    const struct edges edges = {(int)fmin(gf_length_of(frame->width, shorter, 0.02), shorter),
                                in.width, in.height};
    const struct gf_point_field field = {column, row, same, &edges};
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
    GF_PARAMS(struct frame, params),
    .kind = GF_POINT,
    .cost = {.pixel = 2},
    .point = point,
};
