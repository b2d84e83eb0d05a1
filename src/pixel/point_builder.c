/* The operations that point filters append. What the leading ones do to a sample goes into a table,
 * in double precision; the rest becomes a list of operations. */
#include "pixel/point_builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "pixel/histogram.h"

static double clamp(double v, double max)
{
    return v > 0 ? (v < max ? v : max) : 0;
}

static void append(struct gf_point_builder *builder, struct gf_point_op op)
{
    builder->op[builder->count++] = op;
}

static double channelwise_value(int kind, double v, double max, double a, double b, double c)
{
    switch (kind) {
    case GF_POINT_LINEAR:
        return clamp((v - a) * b + c, max);
    case GF_POINT_POWER:
        return clamp(max * gf_pow_double(v / max, a), max);
    case GF_POINT_STEP:
        return floor(v + 0.5) >= a ? max : 0;
    default: /* GF_POINT_DECODE */
        return gf_srgb_decode_exact(v / max);
    }
}

/* An operation on each colour sample by itself goes into the table, unless another operation came
 * before it. */
static void channelwise(struct gf_point_builder *builder, int kind, double a, double b, double c)
{
    const double max = gf_sample_max(builder->format);
    if (builder->count) {
        append(builder,
               (struct gf_point_op){
                   .kind = kind, .max = (float)max, .a = (float)a, .b = (float)b, .c = (float)c});
        return;
    }
    for (int i = 0; i < builder->tables * builder->bins; i++)
        builder->value[i] = channelwise_value(kind, builder->value[i], max, a, b, c);
    builder->changed = true;
}

void gf_point_linear(struct gf_point_builder *builder, double pivot, double scale, double offset)
{
    if (scale != 1 || pivot != offset)
        channelwise(builder, GF_POINT_LINEAR, pivot, scale, offset);
}

void gf_point_power(struct gf_point_builder *builder, double exponent)
{
    if (exponent != 1)
        channelwise(builder, GF_POINT_POWER, exponent, 0, 0);
}

void gf_point_step(struct gf_point_builder *builder, double least)
{
    channelwise(builder, GF_POINT_STEP, least, 0, 0);
}

void gf_point_gray(struct gf_point_builder *builder, const int weight[3], int total)
{
    if (gf_colour_channels(builder->format) == 1)
        return;
    append(builder, (struct gf_point_op){.kind = GF_POINT_GRAY,
                                         .max = (float)gf_sample_max(builder->format),
                                         .a = (float)weight[0],
                                         .b = (float)weight[1],
                                         .c = (float)weight[2],
                                         .d = 1.0f / (float)total});
    builder->format.channels -= 2;
}

static void to_linear_light(struct gf_point_builder *builder)
{
    /* Where the operation before leads back from linear light, it is not needed. */
    if (builder->count && builder->op[builder->count - 1].kind == GF_POINT_ENCODE)
        builder->count--;
    else
        channelwise(builder, GF_POINT_DECODE, 0, 0, 0);
}

static void from_linear_light(struct gf_point_builder *builder)
{
    append(builder, (struct gf_point_op){.kind = GF_POINT_ENCODE,
                                         .max = (float)gf_sample_max(builder->format)});
}

void gf_point_saturate(struct gf_point_builder *builder, double factor)
{
    if (gf_colour_channels(builder->format) == 1 || factor == 1)
        return;
    to_linear_light(builder);
    append(builder, (struct gf_point_op){.kind = GF_POINT_SATURATE, .max = 1, .a = (float)factor});
    from_linear_light(builder);
}

/* Fills the tables of one more field of the whole picture. */
static enum gf_status add_field(struct gf_point_builder *builder,
                                const struct gf_point_field *field, struct gf_error *error)
{
    const struct gf_format format = builder->format;
    const size_t floats = gf_point_field_floats(format), first = (size_t)builder->fields * floats;
    float *const grown = realloc(builder->field, (first + floats) * sizeof *grown);
    if (!grown)
        return gf_fail_memory(error);
    builder->field = grown;
    builder->fields++;
    float *const curve = grown + first, *const columns = curve + GF_POINT_CURVE_ROOM;
    float *const rows = columns + gf_point_field_columns(format.width);
    memset(curve, 0, floats * sizeof *curve);
    for (int i = 0; i <= GF_POINT_CURVE_STEPS; i++)
        curve[i] = (float)field->curve(field->context, (double)i / GF_POINT_CURVE_STEPS);
    for (int x = 0; x < format.width; x++)
        columns[x] = (float)field->column(field->context, x);
    for (int y = 0; y < format.height; y++)
        rows[y] = (float)field->row(field->context, y);
    return GF_OK;
}

/* Appends an operation on the field that was added last. */
static void append_position(struct gf_point_builder *builder, int kind, const double value[3])
{
    const double max = gf_sample_max(builder->format);
    append(builder, (struct gf_point_op){.kind = kind,
                                         .max = (float)max,
                                         .a = (float)(value[0] * max),
                                         .b = (float)(value[1] * max),
                                         .c = (float)(value[2] * max),
                                         .d = (float)(builder->fields - 1)});
}

enum gf_status gf_point_mix(struct gf_point_builder *builder, const struct gf_point_field *field,
                            const double colour[3], struct gf_error *error)
{
    const enum gf_status status = add_field(builder, field, error);
    if (!status)
        append_position(builder, GF_POINT_MIX, colour);
    return status;
}

enum gf_status gf_point_add(struct gf_point_builder *builder, const struct gf_point_field *field,
                            double amount, struct gf_error *error)
{
    const enum gf_status status = add_field(builder, field, error);
    if (!status)
        append_position(builder, GF_POINT_ADD, (const double[3]){amount, amount, amount});
    return status;
}

void gf_point_premultiply(struct gf_point_builder *builder)
{
    const double max = gf_sample_max(builder->format);
    append(builder, (struct gf_point_op){.kind = GF_POINT_PREMULTIPLY,
                                         .max = 65535,
                                         .a = (float)(65535 / max),
                                         .b = (float)max});
    builder->format.bits = 16;
}

void gf_point_limit_to_alpha(struct gf_point_builder *builder)
{
    append(builder, (struct gf_point_op){.kind = GF_POINT_LIMIT, .max = 65535});
}

void gf_point_flatten(struct gf_point_builder *builder, const int sample[3])
{
    if (!gf_has_alpha(builder->format))
        return;
    append(builder, (struct gf_point_op){.kind = GF_POINT_FLATTEN,
                                         .max = (float)gf_sample_max(builder->format),
                                         .a = (float)sample[0],
                                         .b = (float)sample[1],
                                         .c = (float)sample[2]});
    builder->format.channels--;
}

/* An operation, though it changes nothing, since a table alone leaves alpha where it is. */
void gf_point_drop_alpha(struct gf_point_builder *builder)
{
    if (!gf_has_alpha(builder->format))
        return;
    append(builder, (struct gf_point_op){.kind = GF_POINT_LINEAR,
                                         .max = (float)gf_sample_max(builder->format),
                                         .b = 1});
    builder->format.channels--;
}

void gf_point_unpremultiply(struct gf_point_builder *builder, int bits)
{
    builder->format.bits = bits;
    const double max = gf_sample_max(builder->format);
    append(builder, (struct gf_point_op){.kind = GF_POINT_UNPREMULTIPLY,
                                         .max = (float)max,
                                         .a = (float)(65535 / max)});
}

void gf_point_levels(struct gf_point_builder *builder, int tables, const double *value)
{
    builder->tables = tables;
    memcpy(builder->value, value, (size_t)(tables * builder->bins) * sizeof *value);
    builder->changed = true;
}

/* A gray sample's L* depends on that sample alone, so that one table is enough. */
static void lightness_of_gray(struct gf_point_builder *builder, const double *value)
{
    const double max = gf_sample_max(builder->format);
    for (int v = 0; v < builder->bins; v++) {
        const float x = builder->lightness->linear[v];
        const int bin = gf_lightness_bin((struct gf_rgb){x, x, x}, builder->lightness->curve);
        const double y = gf_lab_inverse_exact((value[bin] * 100 / max + 16) / 116);
        builder->value[v] = clamp(max * gf_srgb_encode_exact(y), max);
    }
    builder->changed = true;
}

enum gf_status gf_point_lightness(struct gf_point_builder *builder, const double *value,
                                  struct gf_error *error)
{
    const double max = gf_sample_max(builder->format);
    size_t size;
    builder->lightness = gf_lightness_tables(builder->format.bits, &size);
    builder->level = malloc((size_t)builder->bins * sizeof *builder->level);
    if (!builder->lightness || !builder->level)
        return gf_fail_memory(error);
    if (gf_colour_channels(builder->format) == 1) {
        lightness_of_gray(builder, value);
        return GF_OK;
    }
    for (int i = 0; i < builder->bins; i++)
        builder->level[i] = (float)((value[i] * 100 / max + 16) / 116);
    to_linear_light(builder);
    append(builder, (struct gf_point_op){.kind = GF_POINT_RELIGHT, .max = 1});
    from_linear_light(builder);
    return GF_OK;
}
