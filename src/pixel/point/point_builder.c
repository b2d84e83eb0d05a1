/* Collects the operations of point filters. Operations on single samples at the beginning of a run
 * are combined in a table, in double precision; the others become a list. */
#include "pixel/point/point_builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/target_clones.h"
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

void gf_point_map(struct gf_point_builder *builder, unsigned channels,
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

/* Appends an operation on single colour samples. It goes into the table if no operation came before
 * it. */
static void samplewise(struct gf_point_builder *builder, int kind, double a, double b, double c)
{
    const double max = gf_sample_max(builder->format);
    const struct samplewise op = {kind, max, a, b, c};
    if (builder->count)
        gf_point_append(builder, (struct gf_point_op){.kind = kind,
                                                      .max = (float)max,
                                                      .a = (float)a,
                                                      .b = (float)b,
                                                      .c = (float)c,
                                                      .d = (float)builder->left});
    else
        gf_point_map(builder, ~builder->left, samplewise_values, &op);
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
    samplewise(builder, GF_POINT_SOLARIZE, ceil(least) - 0.5, 0, 0);
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
    const int bits = builder->format.bits;
    gf_point_gray(builder, luma601[bits == 16], 1 << bits);
}

void gf_point_luma_weights(struct gf_format format, double weight[3])
{
    for (int c = 0; c < 3; c++)
        weight[c] = (double)luma601[format.bits == 16][c] / (1 << format.bits);
}

void gf_point_to_light(struct gf_point_builder *builder)
{
    /* If the last operation converts from linear light, it and the new operation cancel each
     * other. */
    if (builder->count && builder->op[builder->count - 1].kind == GF_POINT_ENCODE)
        builder->count--;
    else
        samplewise(builder, GF_POINT_DECODE, 0, 0, 0);
}

void gf_point_from_light(struct gf_point_builder *builder)
{
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_ENCODE,
                                                  .max = (float)gf_sample_max(builder->format)});
}

void gf_point_saturate(struct gf_point_builder *builder, double factor)
{
    if (gf_colour_channels(builder->format) == 1 || factor == 1)
        return;
    gf_point_to_light(builder);
    gf_point_append(builder,
                    (struct gf_point_op){.kind = GF_POINT_SATURATE, .max = 1, .a = (float)factor});
    gf_point_from_light(builder);
}

void gf_point_premultiply(struct gf_point_builder *builder)
{
    const double max = gf_sample_max(builder->format);
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_PREMULTIPLY,
                                                  .max = 65535,
                                                  .a = (float)(65535 / max),
                                                  .b = (float)max});
    builder->format.bits = 16;
}

void gf_point_limit_to_alpha(struct gf_point_builder *builder)
{
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_LIMIT, .max = 65535});
}

void gf_point_flatten(struct gf_point_builder *builder, const int sample[3])
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

/* Appends an operation that does not change the colour, because a table alone cannot drop alpha. */
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

void gf_point_levels(struct gf_point_builder *builder, int tables, const double *value)
{
    builder->tables = tables;
    memcpy(builder->value, value, (size_t)(tables * builder->bins) * sizeof *value);
    builder->changed = true;
}

/* The L* of a gray sample depends on the sample alone, so that a table of samples suffices. */
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
    gf_point_to_light(builder);
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_RELIGHT, .max = 1});
    gf_point_from_light(builder);
}
