/* Appends the operations of point filters that mix channels, use curves and tables, or change
 * alpha. */
#include <stdlib.h>

#include "base/target_clones.h"
#include "pixel/point/point_builder.h"

static double clamp(double v, double max)
{
    return v > 0 ? (v < max ? v : max) : 0;
}

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
    if (!builder->count) {
        for (unsigned c = 0; c < 3 && !same; c++)
            gf_point_map(builder, 1u << c, gain_values, &gain);
        if (same)
            gf_point_map(builder, ~0u, gain_values, &gain);
        return;
    }
    gf_point_to_light(builder);
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_GAIN,
                                                  .max = 1,
                                                  .a = (float)factor[0],
                                                  .b = (float)factor[1],
                                                  .c = (float)factor[2]});
    gf_point_from_light(builder);
}

/* Makes room for `words` more words of data at *first, an index that an operation stores as a
 * float. Returns false after a failure. */
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

struct curve {
    const struct gf_point_curve *curve;
    double max;
};

/* Returns the curve's value without limits. */
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
    if (!builder->count) {
        for (unsigned c = 0; c < 3 && !curve->same; c++)
            gf_point_map(builder, 1u << c, curve_values, &of);
        if (curve->same)
            gf_point_map(builder, ~0u, curve_values, &of);
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
            const double to = curve_value(&of, c, v * max), limited = clamp(to, max);
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
    if (is_beyond) /* append a LINEAR that changes nothing but limits the result */
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

/* A matrix that maps grays to grays is a linear function of a gray sample. */
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
