/* A run of point filters becomes one program: what the leading filters do to a sample goes into a
 * table, in double precision; the rest is a list of operations. */
#include "pixel/point.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "pixel/histogram.h"

struct gf_point_builder {
    struct gf_format format;        /* where the run stands: of the next operation's input */
    int bins;                       /* M + 1 of the run's input */
    bool changed;                   /* `value` is not the identity */
    int tables;                     /* 1, or one for each colour channel */
    double *value;                  /* [3][bins], of which `tables` count */
    struct gf_lightness *lightness; /* where there is a RELIGHT */
    float *level;                   /* [bins] */
    int count;
    struct gf_point_op op[GF_POINT_OPS_MAX];
};

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
        return clamp(max * pow(v / max, a), max);
    case GF_POINT_STEP:
        return floor(v + 0.5) >= a ? max : 0;
    default: /* GF_POINT_DECODE */
        return gf_srgb_decode_exact(v / max);
    }
}

/* What is done to each colour sample by itself: into the table, as long as nothing else came
 * before. */
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
    /* Colour on its way back from linear light stays there. */
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

void gf_point_premultiply(struct gf_point_builder *builder)
{
    const double max = gf_sample_max(builder->format);
    append(builder, (struct gf_point_op){.kind = GF_POINT_PREMULTIPLY,
                                         .max = 65535,
                                         .a = (float)(65535 / max),
                                         .b = (float)max});
    builder->format.bits = 16;
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

/* A gray sample's L* depends on it alone: one table, as for any other level. */
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

/* A table's place in the block: *end moves past it. */
static unsigned place(size_t *end, size_t size)
{
    const size_t at = *end;
    *end = (at + size + 15) / 16 * 16;
    return (unsigned)at;
}

/* The program without its tables, and the block's size. */
static size_t lay_out(const struct gf_point_builder *builder, struct gf_format in,
                      struct gf_format out, struct gf_point_program *program)
{
    const size_t samples = (size_t)builder->tables * (size_t)builder->bins;
    size_t end = 0;
    place(&end, sizeof *program);
    *program = (struct gf_point_program){.tables = builder->tables, .count = builder->count};
    memcpy(program->op, builder->op, sizeof builder->op);
    if (!builder->count) {
        program->table = GF_POINT_SAMPLES;
        program->table_at = place(&end, in.bits == 8 ? 4 * 256 : samples * sizeof(uint16_t));
        return end;
    }
    if (builder->changed) {
        program->table = GF_POINT_FLOATS;
        program->table_at = place(&end, samples * sizeof(float));
    }
    if (builder->lightness) {
        program->curve_at = place(&end, sizeof builder->lightness->curve);
        program->level_at = place(&end, (size_t)builder->bins * sizeof(float));
    }
    struct gf_point_op *const last = &program->op[builder->count - 1];
    if (last->kind == GF_POINT_ENCODE && out.bits == 8) {
        last->kind = GF_POINT_ENCODE_8;
        program->encode_at = place(&end, GF_POINT_ENCODE_STEPS + 1);
    }
    return end;
}

static int rounded(double v)
{
    return (int)(v + 0.5); /* clamped already */
}

static void write_samples(const struct gf_point_builder *builder, struct gf_format in,
                          const struct gf_point_program *program, char *block)
{
    uint8_t *const bytes = (uint8_t *)(block + program->table_at);
    uint16_t *const words = (uint16_t *)(block + program->table_at);
    if (in.bits == 16) {
        for (int i = 0; i < builder->tables * builder->bins; i++)
            words[i] = (uint16_t)rounded(builder->value[i]);
        return;
    }
    const int colours = gf_colour_channels(in);
    for (int i = 0; i < 4 * 256; i++) {
        const int channel = i / 256, v = i % 256;
        const double *const table = builder->value + (builder->tables == 1 ? 0 : channel * 256);
        bytes[i] = (uint8_t)(channel < colours ? rounded(table[v]) : v);
    }
}

static void write_tables(const struct gf_point_builder *builder, struct gf_format in,
                         const struct gf_point_program *program, char *block)
{
    if (program->table == GF_POINT_SAMPLES)
        write_samples(builder, in, program, block);
    float *const floats = (float *)(block + program->table_at);
    if (program->table == GF_POINT_FLOATS) {
        for (int i = 0; i < builder->tables * builder->bins; i++)
            floats[i] = (float)builder->value[i];
    }
    if (program->level_at) {
        memcpy(block + program->curve_at, builder->lightness->curve,
               sizeof builder->lightness->curve);
        memcpy(block + program->level_at, builder->level, (size_t)builder->bins * sizeof(float));
    }
    for (int i = 0; program->encode_at && i <= GF_POINT_ENCODE_STEPS; i++) {
        const double x = gf_srgb_encode_exact((double)i / GF_POINT_ENCODE_STEPS);
        block[program->encode_at + (unsigned)i] = (char)rounded(x * 255);
    }
}

static enum gf_status build(const struct gf_stage *stage, struct gf_point_builder *builder,
                            struct gf_error *error)
{
    const struct gf_point_run *const run = stage->params;
    for (int i = 0; i < builder->bins; i++)
        builder->value[i] = i;
    for (int i = 0; i < run->count; i++) {
        struct gf_stage item;
        enum gf_status status =
            gf_stage_bind(&item, run->item[i].filter, run->item[i].params, builder->format, error);
        item.histogram = i ? NULL : stage->histogram;
        if (!status)
            status = item.filter->point(&item, builder, error);
        if (status)
            return status;
        builder->format = item.out;
    }
    return GF_OK;
}

static enum gf_status prepare(struct gf_stage *stage, struct gf_error *error)
{
    struct gf_point_builder builder = {
        .format = stage->in, .bins = 1 << stage->in.bits, .tables = 1};
    builder.value = malloc(3 * (size_t)builder.bins * sizeof *builder.value);
    enum gf_status status = builder.value ? build(stage, &builder, error)
                                          : gf_fail_memory(error);
    if (!status) {
        struct gf_point_program program;
        const size_t size = lay_out(&builder, stage->in, stage->out, &program);
        status = gf_stage_constants(stage, size, error);
        if (!status) {
            memcpy(stage->constants, &program, sizeof program);
            write_tables(&builder, stage->in, &program, stage->constants);
        }
    }
    free(builder.level);
    free(builder.lightness);
    free(builder.value);
    return status;
}

static enum gf_status shape(const void *params, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    const struct gf_point_run *const run = params;
    *out = in;
    for (int i = 0; i < run->count; i++) {
        struct gf_stage item;
        const enum gf_status status =
            gf_stage_bind(&item, run->item[i].filter, run->item[i].params, *out, error);
        if (status)
            return status;
        *out = item.out;
    }
    return GF_OK;
}

static enum gf_statistic statistic(const void *params)
{
    const struct gf_point_run *const run = params;
    if (!run->count || !run->item[0].filter->statistic)
        return GF_STATISTIC_NONE;
    return run->item[0].filter->statistic(run->item[0].params);
}

const char *gf_point_refuses_gray(const struct gf_stage *stage)
{
    return gf_colour_channels(stage->in) == 1 ? "takes pictures with colour only" : NULL;
}

extern gf_launcher gf_point_cuda, gf_point_pixel_cuda, gf_point_grid_stride_cuda,
    gf_point_bytes_cuda, gf_point_words_cuda;

const struct gf_filter gf_point = {
    .name = "point",
    .summary = "a run of point filters",
    .params_size = sizeof(struct gf_point_run),
    .kind = GF_POINT,
    .tolerance = 1,
    .shape = shape,
    .statistic = statistic,
    .prepare = prepare,
    .cpu = gf_point_cpu,
    .cuda = GF_CUDA({GF_VARIANT("vectors", gf_point_cuda,
                                "16 bytes a thread; one table, or a program, for the whole run")},
                    {GF_VARIANT("pixel", gf_point_pixel_cuda,
                                "one thread a pixel, its samples one by one (CUDA Performance "
                                "Optimization, structures of 3 bytes)")},
                    {GF_VARIANT("grid-stride", gf_point_grid_stride_cuda,
                                "the same by as many blocks as the GPU holds, pixels a grid apart "
                                "(Grid Size Heuristics)")},
                    {GF_VARIANT("bytes", gf_point_bytes_cuda,
                                "as vectors, but one sample a thread (Best Practices 9.2.1)")},
                    {GF_VARIANT("words", gf_point_words_cuda, "as vectors, but 4 bytes a thread")}),
};
