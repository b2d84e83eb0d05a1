/* Collects the operations of point filters. Those on single samples at the beginning of a list are
 * combined in a table, in double precision; the others become a list. */
#include "pixel/point/point_program.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "pixel/histogram/histogram.h"

static double clamp(double v, double max)
{
    return v > 0 ? (v < max ? v : max) : 0;
}

void gf_point_fail_memory(struct gf_point_builder *builder)
{
    builder->status = gf_fail_memory(builder->error);
}

void gf_point_append(struct gf_point_builder *builder, struct gf_point_op op)
{
    if (builder->count < GF_POINT_OPS_MAX)
        builder->op[builder->count++] = op;
    else
        builder->status = gf_fail(builder->error, GF_ERROR_USAGE,
                                  "more operations than fit in one run of filters");
}

/* Lets `of` change the tables that map each of the `bins` levels, for the channels whose bit is
 * set, before there are operations. If channels then differ, each has a table of its own. */
static void point_map(struct gf_point_builder *builder, unsigned channels,
                      void (*of)(const void *context, int channel, double *value, int bins),
                      const void *context)
{
    const size_t bins = (size_t)builder->bins;
    const unsigned all = (1u << gf_colour_channels(builder->format)) - 1;
    if (builder->tables == 1 && (channels & all) != all) {
        for (int c = 1; c < gf_colour_channels(builder->format); c++)
            memcpy(builder->value + (size_t)c * bins, builder->value, bins * sizeof(double));
        builder->tables = gf_colour_channels(builder->format);
    }
    for (int c = 0; c < builder->tables; c++) {
        if (channels >> c & 1)
            of(context, c, builder->value + (size_t)c * bins, builder->bins);
    }
    builder->changed = true;
}

struct samplewise {
    int kind;
    double max, a, b, c;
};

GF_TARGET_CLONES static void samplewise_values(const void *context, int channel, double *value,
                                               int bins)
{
    const struct samplewise op = *(const struct samplewise *)context;
    switch (op.kind) {
    case GF_POINT_LINEAR:
        for (int i = 0; i < bins; i++)
            value[i] = clamp((value[i] - op.a) * op.b + op.c, op.max);
        break;
    case GF_POINT_POWER:
        for (int i = 0; i < bins; i++)
            value[i] = clamp(op.max * gf_pow_double(value[i] / op.max, op.a), op.max);
        break;
    case GF_POINT_STEP:
        for (int i = 0; i < bins; i++)
            value[i] = floor(value[i] + 0.5) >= op.a ? op.max : 0;
        break;
    case GF_POINT_QUANTIZE:
        for (int i = 0; i < bins; i++)
            value[i] = clamp(floor(value[i] * op.a + 0.5) * op.b, op.max);
        break;
    case GF_POINT_SOLARIZE:
        for (int i = 0; i < bins; i++)
            value[i] = floor(value[i] + 0.5) > op.a ? op.max - value[i] : value[i];
        break;
    default: /* GF_POINT_DECODE */
        for (int i = 0; i < bins; i++)
            value[i] = gf_srgb_decode_exact(value[i] / op.max);
        break;
    }
}

/* Appends an operation on single colour samples. If there is no operation before it, it is computed
 * into the table instead. */
static void samplewise(struct gf_point_builder *builder, int kind, double a, double b, double c)
{
    const double max = gf_sample_max(builder->format);
    const struct samplewise op = {kind, max, a, b, c};
    if (builder->count || gf_is_float(builder->format))
        gf_point_append(builder, (struct gf_point_op){.kind = kind,
                                                      .max = (float)max,
                                                      .a = (float)a,
                                                      .b = (float)b,
                                                      .c = (float)c,
                                                      .d = (float)builder->left});
    else
        point_map(builder, ~builder->left, samplewise_values, &op);
}

void gf_point_only(struct gf_point_builder *builder, unsigned channels)
{
    builder->left = ~channels & ((1u << gf_colour_channels(builder->format)) - 1);
}

void gf_point_linear(struct gf_point_builder *builder, double pivot, double scale, double offset)
{
    if (scale != 1 || pivot != offset)
        samplewise(builder, GF_POINT_LINEAR, pivot, scale, offset);
}

void gf_point_power(struct gf_point_builder *builder, double exponent)
{
    if (exponent != 1)
        samplewise(builder, GF_POINT_POWER, exponent, 0, 0);
}

void gf_point_step(struct gf_point_builder *builder, double least)
{
    samplewise(builder, GF_POINT_STEP, least, 0, 0);
}

void gf_point_quantize(struct gf_point_builder *builder, int levels)
{
    const double max = gf_sample_max(builder->format);
    samplewise(builder, GF_POINT_QUANTIZE, (levels - 1) / max, max / (levels - 1), 0);
}

void gf_point_solarize(struct gf_point_builder *builder, double least)
{
    samplewise(builder, GF_POINT_SOLARIZE, gf_is_float(builder->format) ? least : ceil(least) - 0.5,
               0, 0);
}

void gf_point_gray(struct gf_point_builder *builder, const int weight[3], int total)
{
    if (gf_colour_channels(builder->format) == 1)
        return;
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_GRAY,
                                                  .max = (float)gf_sample_max(builder->format),
                                                  .a = (float)weight[0],
                                                  .b = (float)weight[1],
                                                  .c = (float)weight[2],
                                                  .d = 1.0f / (float)total});
    builder->format.channels -= 2;
}

static const int luma601[2][3] = {{77, 150, 29}, {GF_LUMA601_R, GF_LUMA601_G, GF_LUMA601_B}};

void gf_point_luma(struct gf_point_builder *builder)
{
    const int bits = builder->format.bits == 8 ? 8 : 16;
    gf_point_gray(builder, luma601[bits == 16], 1 << bits);
}

void gf_point_luma_weights(struct gf_format format, double weight[3])
{
    const int bits = format.bits == 8 ? 8 : 16;
    for (int c = 0; c < 3; c++)
        weight[c] = (double)luma601[bits == 16][c] / (1 << bits);
}

/* point_to_light() and its inverse append the conversion of samples to linear light, 0..1, and
 * back. A conversion that would undo the last one removes it instead. */
static void point_to_light(struct gf_point_builder *builder)
{
    /* The last operation converts back from linear light, so that both can be left out. */
    if (builder->count && builder->op[builder->count - 1].kind == GF_POINT_ENCODE)
        builder->count--;
    else
        samplewise(builder, GF_POINT_DECODE, 0, 0, 0);
}

static void point_from_light(struct gf_point_builder *builder)
{
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_ENCODE,
                                                  .max = (float)gf_sample_max(builder->format)});
}

void gf_point_saturate(struct gf_point_builder *builder, double factor)
{
    if (gf_colour_channels(builder->format) == 1 || factor == 1)
        return;
    point_to_light(builder);
    gf_point_append(builder,
                    (struct gf_point_op){.kind = GF_POINT_SATURATE, .max = 1, .a = (float)factor});
    point_from_light(builder);
}

void gf_point_premultiply(struct gf_point_builder *builder)
{
    const double max = gf_sample_max(builder->format);
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_PREMULTIPLY,
                                                  .max = 65535,
                                                  .a = (float)(65535 / max),
                                                  .b = (float)max});
    if (!gf_is_float(builder->format))
        builder->format.bits = 16;
}

void gf_point_limit_to_alpha(struct gf_point_builder *builder)
{
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_LIMIT, .max = 65535});
}

void gf_point_flatten(struct gf_point_builder *builder, const double sample[3])
{
    if (!gf_has_alpha(builder->format))
        return;
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_FLATTEN,
                                                  .max = (float)gf_sample_max(builder->format),
                                                  .a = (float)sample[0],
                                                  .b = (float)sample[1],
                                                  .c = (float)sample[2]});
    builder->format.channels--;
}

/* Appends an operation that does not change the colour, since only operations can drop alpha. */
void gf_point_drop_alpha(struct gf_point_builder *builder)
{
    if (!gf_has_alpha(builder->format))
        return;
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_LINEAR,
                                                  .max = (float)gf_sample_max(builder->format),
                                                  .b = 1});
    builder->format.channels--;
}

void gf_point_unpremultiply(struct gf_point_builder *builder, int bits)
{
    builder->format.bits = bits;
    const double max = gf_sample_max(builder->format);
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_UNPREMULTIPLY,
                                                  .max = (float)max,
                                                  .a = (float)(65535 / max)});
}

/* L* of a gray sample depends on that sample alone, so that the table of samples is enough. */
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

void gf_point_lightness(struct gf_point_builder *builder, const double *value)
{
    const double max = gf_sample_max(builder->format);
    size_t size;
    builder->lightness = gf_lightness_tables(builder->format.bits, &size);
    builder->level = malloc((size_t)builder->bins * sizeof *builder->level);
    if (!builder->lightness || !builder->level)
        return gf_point_fail_memory(builder);
    if (gf_colour_channels(builder->format) == 1)
        return lightness_of_gray(builder, value);
    for (int i = 0; i < builder->bins; i++)
        builder->level[i] = (float)((value[i] * 100 / max + 16) / 116);
    point_to_light(builder);
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_RELIGHT, .max = 1});
    point_from_light(builder);
}

/* Operations that mix channels, use curves and tables, or change alpha. */

struct gain {
    double max;
    const double *factor;
};

GF_TARGET_CLONES static void gain_values(const void *context, int channel, double *value, int bins)
{
    const struct gain gain = *(const struct gain *)context;
    const double factor = gain.factor[channel];
    for (int i = 0; i < bins; i++) {
        const double light = clamp(gf_srgb_decode_exact(value[i] / gain.max) * factor, 1);
        value[i] = clamp(gain.max * gf_srgb_encode_exact(light), gain.max);
    }
}

void gf_point_light_gain(struct gf_point_builder *builder, const double factor[3])
{
    const struct gain gain = {gf_sample_max(builder->format), factor};
    const bool same = factor[0] == factor[1] && factor[1] == factor[2];
    if (same && factor[0] == 1)
        return;
    if (!builder->count && !gf_is_float(builder->format)) {
        for (unsigned c = 0; c < 3 && !same; c++)
            point_map(builder, 1u << c, gain_values, &gain);
        if (same)
            point_map(builder, ~0u, gain_values, &gain);
        return;
    }
    point_to_light(builder);
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_GAIN,
                                                  .max = 1,
                                                  .a = (float)factor[0],
                                                  .b = (float)factor[1],
                                                  .c = (float)factor[2]});
    point_from_light(builder);
}

/* Makes room for `words` more words of data. *first becomes the index of the first of them, which
 * an operation stores as a float. Returns false after a failure. */
static bool add_data(struct gf_point_builder *builder, size_t words, size_t *first)
{
    *first = (builder->words + 3) / 4 * 4;
    uint32_t *grown = NULL;
    if (*first + words > (size_t)1 << 24)
        builder->status = gf_fail(builder->error, GF_ERROR_USAGE,
                                  "tables of this size do not fit in one run of filters");
    else if (!(grown = realloc(builder->data, (*first + words) * sizeof *grown)))
        gf_point_fail_memory(builder);
    if (!grown)
        return false;
    builder->data = grown;
    builder->words = *first + words;
    return true;
}

/* Appends a CURVE through the levels of floats. */
static void append_levels(struct gf_point_builder *builder, int tables, const double *value)
{
    const size_t last = GF_FLOAT_LEVELS - 1, points = last + 2;
    const size_t all = (size_t)gf_colour_channels(builder->format) * points;
    size_t first;
    if (!add_data(builder, all, &first))
        return;
    for (size_t i = 0; i < all; i++) {
        const size_t at = i % points < last ? i % points : last,
                     table = tables > 1 ? i / points : 0;
        ((float *)(builder->data + first))[i] =
            (float)(value[table * (last + 1) + at] / (double)last);
    }
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_CURVE,
                                                  .max = 1,
                                                  .a = (float)last,
                                                  .c = (float)first,
                                                  .d = (float)last});
}

void gf_point_levels(struct gf_point_builder *builder, int tables, const double *value)
{
    if (gf_is_float(builder->format))
        return append_levels(builder, tables, value);
    builder->tables = tables;
    memcpy(builder->value, value, (size_t)(tables * builder->bins) * sizeof *value);
    builder->changed = true;
}

struct curve {
    const struct gf_point_curve *curve;
    double max;
};

/* Returns the curve's value for v, both in samples, not limited to 0..M. */
static double curve_value(const struct curve *of, int channel, double v)
{
    return of->max * of->curve->of(of->curve->context, channel, v / of->max);
}

static void curve_values(const void *context, int channel, double *value, int bins)
{
    const struct curve *const of = context;
    for (int i = 0; i < bins; i++)
        value[i] = clamp(curve_value(of, channel, value[i]), of->max);
}

void gf_point_curve(struct gf_point_builder *builder, const struct gf_point_curve *curve)
{
    const double max = gf_sample_max(builder->format);
    const struct curve of = {curve, max};
    if (!builder->count && !gf_is_float(builder->format)) {
        for (unsigned c = 0; c < 3 && !curve->same; c++)
            point_map(builder, 1u << c, curve_values, &of);
        if (curve->same)
            point_map(builder, ~0u, curve_values, &of);
        return;
    }
    const int points = curve->points;
    size_t first;
    if (!add_data(builder, 3 * (size_t)(points + 1), &first))
        return;
    const double range = curve->greatest - curve->least;
    bool is_beyond = false;
    for (int c = 0; c < 3; c++) {
        float *const point = (float *)(builder->data + first) + c * (points + 1);
        for (int i = 0; i <= points; i++) {
            const int inside = i < points ? i : points - 1;
            const double v = curve->least + range * inside / (points - 1);
            const double to = curve_value(&of, c, v * max),
                         limited = gf_is_float(builder->format) ? to : clamp(to, max);
            point[i] = (float)(curve->is_lines ? to : limited);
            is_beyond |= curve->is_lines && (float)to != (float)limited;
        }
    }
    gf_point_append(builder,
                    (struct gf_point_op){.kind = GF_POINT_CURVE,
                                         .max = (float)max,
                                         .a = (float)((points - 1) / (range * max)),
                                         .b = (float)(-curve->least * (points - 1) / range),
                                         .c = (float)first,
                                         .d = (float)(points - 1)});
    if (is_beyond) /* LINEAR that changes nothing, but limits the result to 0..M */
        gf_point_append(builder,
                        (struct gf_point_op){.kind = GF_POINT_LINEAR, .max = (float)max, .b = 1});
}

void gf_point_table3d(struct gf_point_builder *builder, int size,
                      const struct gf_table3d_nodes *nodes)
{
    const double max = gf_sample_max(builder->format);
    const size_t words = (size_t)gf_table3d_words(size);
    size_t first;
    if (!add_data(builder, words, &first))
        return;
    for (size_t i = 0; i < words / 2; i++) {
        const uint16_t *const node = nodes->node + 3 * i;
        builder->data[first + 2 * i] = (uint32_t)node[1] << 16 | node[0];
        builder->data[first + 2 * i + 1] = node[2];
    }
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_TABLE3D,
                                                  .max = (float)max,
                                                  .a = (float)((size - 1) / max),
                                                  .b = (float)size,
                                                  .c = (float)first,
                                                  .d = (float)(max / 65535)});
    gf_point_linear(builder, 0, nodes->greatest - nodes->least, nodes->least * max);
    builder->format.channels += gf_colour_channels(builder->format) == 1 ? 2 : 0;
}

static bool keeps_gray(const double matrix[3][4])
{
    const double gain = matrix[0][0] + matrix[0][1] + matrix[0][2];
    for (int c = 1; c < 3; c++) {
        const double sum = matrix[c][0] + matrix[c][1] + matrix[c][2];
        if (fabs(sum - gain) > 1e-9 || matrix[c][3] != matrix[0][3])
            return false;
    }
    return true;
}

static void append_matrix(struct gf_point_builder *builder, const double matrix[3][4])
{
    const double max = gf_sample_max(builder->format);
    for (int c = 0; c < 3; c++)
        gf_point_append(builder, (struct gf_point_op){.kind = c ? GF_POINT_ROW : GF_POINT_MATRIX,
                                                      .max = (float)max,
                                                      .a = (float)matrix[c][0],
                                                      .b = (float)matrix[c][1],
                                                      .c = (float)matrix[c][2],
                                                      .d = (float)(matrix[c][3] * max)});
    builder->format.channels += gf_colour_channels(builder->format) == 1 ? 2 : 0;
}

/* For gray samples, a matrix that maps grays to grays is only a linear function. */
void gf_point_matrix(struct gf_point_builder *builder, const double matrix[3][4])
{
    const double max = gf_sample_max(builder->format);
    const double sum = matrix[0][0] + matrix[0][1] + matrix[0][2];
    if (gf_colour_channels(builder->format) == 1 && keeps_gray(matrix))
        gf_point_linear(builder, 0, fabs(sum - 1) > 1e-9 ? sum : 1, matrix[0][3] * max);
    else
        append_matrix(builder, matrix);
}

void gf_point_matrix_shape(const double matrix[3][4], struct gf_format *out)
{
    if (gf_colour_channels(*out) == 1 && !keeps_gray(matrix))
        out->channels += 2;
}

void gf_point_colour(struct gf_point_builder *builder)
{
    static const double same[3][4] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    if (gf_colour_channels(builder->format) == 1)
        append_matrix(builder, same);
}

void gf_point_vibrance(struct gf_point_builder *builder, double amount)
{
    const double max = gf_sample_max(builder->format);
    if (gf_colour_channels(builder->format) == 1 || amount == 0)
        return;
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_VIBRANCE,
                                                  .max = (float)max,
                                                  .a = (float)(1 + amount),
                                                  .b = (float)(amount / max)});
}

void gf_point_opaque(struct gf_point_builder *builder)
{
    if (gf_has_alpha(builder->format))
        return;
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_OPAQUE,
                                                  .max = (float)gf_sample_max(builder->format)});
    builder->format.channels++;
}

void gf_point_key(struct gf_point_builder *builder, const double colour[3], double similarity,
                  double blend)
{
    const double max = gf_sample_max(builder->format);
    const double y = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2];
    gf_point_opaque(builder);
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_KEY,
                                                  .max = 1,
                                                  .a = (float)((colour[2] - y) / 1.772 * max),
                                                  .b = (float)((colour[0] - y) / 1.402 * max),
                                                  .c = (float)(similarity * max),
                                                  .d = (float)(1 / (fmax(blend, 1e-9) * max))});
}

/* Operations that depend on the pixel's position. */

static bool dithers(const float *curve, const float *columns, int width)
{
    bool is = true;
    for (int i = 0; i <= GF_POINT_CURVE_STEPS; i++)
        is &= fabsf(curve[i]) <= 0.499f;
    for (int x = GF_POINT_FIELD_REPEAT; is && x < width; x++)
        is = columns[x] == columns[x - GF_POINT_FIELD_REPEAT];
    return is;
}

/* Adds a field, whose tables it fills for the whole picture. Returns false when out of memory. */
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

/* Appends an operation that uses the field that was added last. */
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

/* Operations that read second pictures. */

static struct gf_layer *add_layer(struct gf_point_builder *builder)
{
    const double max = gf_sample_max(builder->format);
    struct gf_layer *const layer = &builder->layer[builder->layers++];
    *layer = (struct gf_layer){.source = -1,
                               .mask = -1,
                               .max = (float)max,
                               .least = (float)(1 / max),
                               .over_alpha = gf_has_alpha(builder->format)};
    return layer;
}

static void find_place(const struct gf_point_builder *builder, struct gf_format other,
                       struct gf_point_place place, int *x, int *y)
{
    const struct gf_format own = builder->format;
    const int right = (int)gf_length_of(place.x, own.width, 0);
    const int down = (int)gf_length_of(place.y, own.height, 0);
    const bool from_right = gf_gravity_x(place.gravity, 2) == 2;
    const bool from_below = gf_gravity_y(place.gravity, 2) == 2;
    *x = gf_gravity_x(place.gravity, own.width - other.width) + (from_right ? -right : right);
    *y = gf_gravity_y(place.gravity, own.height - other.height) + (from_below ? -down : down);
}

static void append(struct gf_point_builder *builder, int kind)
{
    gf_point_append(builder, (struct gf_point_op){.kind = kind,
                                                  .max = (float)gf_sample_max(builder->format),
                                                  .d = (float)(builder->layers - 1)});
}

/* Returns what the largest sample of a second picture is where layers read it: on floats they read
 * all pictures as floats. */
static double layer_max(const struct gf_point_builder *builder, struct gf_format other)
{
    return gf_is_float(builder->format) ? 1 : gf_sample_max(other);
}

static void set_mask(struct gf_point_builder *builder, struct gf_layer *layer,
                     const struct gf_mask_use *mask, struct gf_point_place place)
{
    const struct gf_format format = mask->picture->image.format;
    layer->mask = builder->pictures++;
    layer->mask_of = mask->of;
    layer->inverted = mask->inverted;
    layer->mask_scale = (float)(1.0 / layer_max(builder, format));
    find_place(builder, format, place, &layer->mask_x, &layer->mask_y);
}

void gf_point_overlay(struct gf_point_builder *builder, const struct gf_picture *picture,
                      const struct gf_mask_use *mask, struct gf_point_place place, int mode,
                      double opacity)
{
    const struct gf_format format = picture->image.format;
    const double max = layer_max(builder, format);
    if (gf_colour_channels(format) == 3)
        gf_point_colour(builder);
    struct gf_layer *const layer = add_layer(builder);
    if (mask)
        set_mask(builder, layer, mask, place);
    layer->source = builder->pictures++;
    layer->mode = mode;
    layer->opacity = (float)opacity;
    layer->alpha = (float)(opacity / max);
    layer->scale = (float)(gf_sample_max(builder->format) / max);
    find_place(builder, format, place, &layer->x, &layer->y);
    append(builder, GF_POINT_OVERLAY);
}

void gf_point_mask(struct gf_point_builder *builder, const struct gf_mask_use *mask,
                   struct gf_point_place place)
{
    gf_point_opaque(builder);
    set_mask(builder, add_layer(builder), mask, place);
    append(builder, GF_POINT_MASK);
}

void gf_point_layer_shape(const struct gf_picture *picture, struct gf_format *out)
{
    if (gf_colour_channels(picture->image.format) == 3 && gf_colour_channels(*out) == 1)
        out->channels += 2;
}
