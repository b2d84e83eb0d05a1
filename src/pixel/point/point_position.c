/* Appends the operations of point filters that depend on the pixel's position. */
#include <stdlib.h>
#include <string.h>

#include "pixel/point/point_builder.h"

static bool dithers(const float *curve, const float *columns, int width)
{
    bool is = true;
    for (int i = 0; i <= GF_POINT_CURVE_STEPS; i++)
        is &= fabsf(curve[i]) <= 0.499f;
    for (int x = GF_POINT_FIELD_REPEAT; is && x < width; x++)
        is = columns[x] == columns[x - GF_POINT_FIELD_REPEAT];
    return is;
}

/* Fills the tables of another field for the whole picture. Returns false when out of memory. */
static bool add_field(struct gf_point_builder *builder, const struct gf_point_field *field)
{
    const struct gf_format format = builder->format;
    const size_t floats = gf_point_field_floats(format), first = (size_t)builder->fields * floats;
    float *const grown = realloc(builder->field, (first + floats) * sizeof *grown);
    if (!grown) {
        gf_point_fail_memory(builder);
        return false;
    }
    builder->field = grown;
    builder->fields++;
    float *const curve = grown + first, *const columns = curve + GF_POINT_CURVE_ROOM;
    float *const rows = columns + gf_point_field_columns(format.width);
    memset(curve, 0, floats * sizeof *curve);
    for (int i = 0; i <= GF_POINT_CURVE_STEPS; i++)
        curve[i] = (float)field->curve(field->context, (double)i / GF_POINT_CURVE_STEPS);
    for (int i = 0; i <= GF_POINT_CURVE_STEPS; i++)
        builder->field_beyond |= !(curve[i] >= 0 && curve[i] <= 1);
    for (int x = 0; x < format.width; x++)
        columns[x] = (float)field->column(field->context, x);
    for (int y = 0; y < format.height; y++)
        rows[y] = (float)field->row(field->context, y);
    if (!first)
        builder->field_dithers = dithers(curve, columns, format.width);
    return true;
}

/* Appends an operation that uses the last field that was added. */
static void append_position(struct gf_point_builder *builder, int kind, const double value[3])
{
    const double max = gf_sample_max(builder->format);
    gf_point_append(builder, (struct gf_point_op){.kind = kind,
                                                  .max = (float)max,
                                                  .a = (float)(value[0] * max),
                                                  .b = (float)(value[1] * max),
                                                  .c = (float)(value[2] * max),
                                                  .d = (float)(builder->fields - 1)});
}

void gf_point_colour_of(struct gf_format format, const struct gf_colour *colour, double part[3])
{
    const double *const from = colour->part;
    double weight[3];
    memcpy(part, from, 3 * sizeof *part);
    gf_point_luma_weights(format, weight);
    if (gf_colour_channels(format) == 1)
        part[0] = weight[0] * from[0] + weight[1] * from[1] + weight[2] * from[2];
}

double gf_length_of(struct gf_length length, int whole, double otherwise)
{
    if (length.unit == GF_PIXELS)
        return length.value;
    const double part = length.unit == GF_PERCENT ? length.value / 100 : otherwise;
    return fmin(floor(whole * part + 0.5), whole);
}

void gf_point_mix(struct gf_point_builder *builder, const struct gf_point_field *field,
                  const double colour[3])
{
    if (add_field(builder, field))
        append_position(builder, GF_POINT_MIX, colour);
}

void gf_point_add(struct gf_point_builder *builder, const struct gf_point_field *field,
                  double amount)
{
    if (add_field(builder, field))
        append_position(builder, GF_POINT_ADD, (const double[3]){amount, amount, amount});
}

void gf_point_fade(struct gf_point_builder *builder, const struct gf_point_field *field)
{
    if (!add_field(builder, field))
        return;
    gf_point_opaque(builder);
    append_position(builder, GF_POINT_FADE, (const double[3]){0});
}
