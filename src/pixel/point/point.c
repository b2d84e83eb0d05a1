/* Makes a stage of a list of point filters: its program, and the tables behind the program. */
#include "pixel/point/point.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "pixel/float_rows.h"
#include "pixel/point/point_program.h"
#include "pixel/point/point_planes.h"

/* Reserves `size` bytes at the end of a block that is *end bytes long, and returns their offset, a
 * multiple of 16. */
static unsigned place(size_t *end, size_t size)
{
    const size_t at = *end;
    *end = (at + size + 15) / 16 * 16;
    return (unsigned)at;
}

/* The bit patterns of a half, and the least number of pixels for which a device gets a table of
 * them: the host makes it in the time of a sample each. */
enum { HALVES = 1 << 16 };

/* Returns how many tables of halves do what the program does, 1 or 3; 0 if a sample of the result
 * depends on others, too, or if no operation takes longer than a look-up. */
static int tables_of_halves(const struct gf_point_builder *builder, struct gf_format in,
                            struct gf_format out)
{
    bool takes_long = false, differs = false;
    if (in.bits != 16 || in.channels != out.channels || (int64_t)in.width * in.height < HALVES)
        return 0;
    for (const struct gf_point_op *op = builder->op; op < builder->op + builder->count; op++) {
        switch (op->kind) {
        case GF_POINT_POWER:
        case GF_POINT_DECODE:
        case GF_POINT_ENCODE:
        case GF_POINT_CURVE:
            takes_long = true;
            break;
        case GF_POINT_LINEAR:
        case GF_POINT_STEP:
        case GF_POINT_GAIN:
        case GF_POINT_QUANTIZE:
        case GF_POINT_SOLARIZE:
            break;
        default:
            return 0;
        }
        differs |= op->kind == GF_POINT_CURVE || (op->kind <= GF_POINT_POWER && op->d != 0) ||
                   (op->kind == GF_POINT_GAIN && (op->b != op->a || op->c != op->a));
    }
    return !takes_long ? 0 : differs ? gf_colour_channels(in) : 1;
}

/* Fills in all of the program but its tables, and returns the bytes of the block. */
static size_t lay_out(const struct gf_point_builder *builder, struct gf_format in,
                      struct gf_format out, struct gf_point_program *program)
{
    const size_t samples = (size_t)builder->tables * (size_t)builder->bins;
    size_t end = 0;
    place(&end, sizeof *program);
    *program = (struct gf_point_program){.tables = builder->tables, .count = builder->count};
    memcpy(program->op, builder->op, sizeof builder->op);
    program->layers = builder->layers;
    memcpy(program->layer, builder->layer, sizeof builder->layer);
    if (!builder->count && !gf_is_float(in)) {
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
        program->step_at = place(&end, sizeof builder->lightness->step);
        program->level_at = place(&end, (size_t)builder->bins * sizeof(float));
    }
    program->field_bytes = (unsigned)(gf_point_field_floats(in) * sizeof(float));
    program->fields = builder->fields;
    program->field_is_part = !builder->field_beyond;
    program->field_dithers = builder->field_dithers;
    program->field_zero = -INFINITY;
    for (int i = 0; builder->fields && i <= GF_POINT_CURVE_STEPS && builder->field[i] == 0; i++)
        program->field_zero = (float)i / GF_POINT_CURVE_STEPS;
    if (builder->fields)
        program->field_at = place(&end, (size_t)builder->fields * program->field_bytes);
    if (builder->words)
        program->data_at = place(&end, builder->words * sizeof(uint32_t));
    if (gf_is_float(in)) {
        const int tables = tables_of_halves(builder, in, out);
        if (tables) {
            program->table = GF_POINT_SAMPLES;
            program->tables = tables;
            program->table_at = place(&end, (size_t)tables * HALVES * sizeof(uint16_t));
        }
        return end;
    }
    if (builder->count == 1 && builder->op->kind == GF_POINT_NOISE && builder->op->b != 0 &&
        in.bits == 8)
        program->buckets_at = place(&end, GF_NOISE_BUCKETS * sizeof(uint32_t));
    struct gf_point_op *const last = &program->op[builder->count - 1];
    if (last->kind == GF_POINT_ENCODE && out.bits == 8) {
        last->kind = GF_POINT_ENCODE_8;
        program->encode_at = place(&end, GF_POINT_ENCODE_STEPS + 1);
    }
    return end;
}

static int rounded(double v)
{
    return (int)(v + 0.5); /* v is not negative */
}

static void write_samples(const struct gf_point_builder *builder, struct gf_format in,
                          struct gf_point_program *program, char *block)
{
    struct gf_point_op op;
    uint8_t *const bytes = (uint8_t *)(block + program->table_at);
    uint16_t *const words = (uint16_t *)(block + program->table_at);
    if (in.bits == 16) {
        for (int i = 0; i < builder->tables * builder->bins; i++)
            words[i] = (uint16_t)rounded(builder->value[i]);
        if (builder->tables == 1 && gf_words_recognise(words, &op))
            program->op[0] = op;
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
                         struct gf_point_program *program, char *block)
{
    if (program->table == GF_POINT_SAMPLES && !gf_is_float(in))
        write_samples(builder, in, program, block);
    float *const floats = (float *)(block + program->table_at);
    if (program->table == GF_POINT_FLOATS) {
        for (int i = 0; i < builder->tables * builder->bins; i++)
            floats[i] = (float)builder->value[i];
    }
    if (program->level_at) {
        memcpy(block + program->curve_at, builder->lightness->curve,
               sizeof builder->lightness->curve);
        memcpy(block + program->step_at, builder->lightness->step, sizeof builder->lightness->step);
        memcpy(block + program->level_at, builder->level, (size_t)builder->bins * sizeof(float));
    }
    if (program->fields)
        memcpy(block + program->field_at, builder->field,
               (size_t)program->fields * program->field_bytes);
    if (builder->words)
        memcpy(block + program->data_at, builder->data, builder->words * sizeof(uint32_t));
    if (program->buckets_at)
        program->doubt_limit =
            gf_noise_buckets(program->op->a, (uint32_t *)(block + program->buckets_at));
    for (int i = 0; program->encode_at && i <= GF_POINT_ENCODE_STEPS; i++) {
        const double x = gf_srgb_encode_exact((double)i / GF_POINT_ENCODE_STEPS);
        block[program->encode_at + (unsigned)i] = (char)rounded(x * 255);
    }
}

/* Makes tables of halves by the program: on a picture of all halves, a channel for each table. */
static enum gf_status write_halves(const struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_point_program *const program = stage->constants;
    const int channels = program->tables;
    const size_t count = (size_t)channels * HALVES;
    const struct gf_format half = {HALVES, 1, channels, 16, GF_SAMPLES_FLOAT};
    uint16_t *const table = (uint16_t *)((char *)stage->constants + program->table_at);
    float *const v = malloc(2 * count * sizeof *v);
    GF_ALLOCATED(v, error);
    float *const made = v + count;
    struct gf_stage all = *stage;
    all.in = all.out = half;
    all.in.bits = all.out.bits = 32;
    const struct gf_view view = {(unsigned char *)v, count * sizeof *v, all.in, 0, 1};
    for (size_t i = 0; i < count; i++)
        table[i] = (uint16_t)(i / (size_t)channels);
    gf_floats_of_row(table, half, count, v);
    gf_point_floats(&all, &view, &view, NULL);
    for (size_t i = 0; i < count; i++)
        made[i] = v[i % HALVES * (size_t)channels + i / HALVES];
    gf_floats_to_row(made, half, count, table);
    free(v);
    return GF_OK;
}

static enum gf_status build(const struct gf_stage *stage, struct gf_point_builder *builder,
                            struct gf_error *error)
{
    const struct gf_point_list *const points = stage->params;
    for (int i = 0; i < builder->bins; i++)
        builder->value[i] = i;
    for (int i = 0; i < points->count; i++) {
        struct gf_stage item;
        enum gf_status status = gf_stage_bind(&item, points->item[i].filter, points->item[i].params,
                                              builder->format, error);
        builder->left = 0;
        item.histogram = i ? NULL : stage->histogram;
        if (status)
            return status;
        item.filter->point(&item, builder);
        if (builder->status)
            return builder->status;
        builder->format = item.out;
    }
    return GF_OK;
}

static enum gf_status prepare(struct gf_stage *stage, struct gf_error *error)
{
    struct gf_point_builder builder = {.error = error,
                                       .format = stage->in,
                                       .bins = gf_is_float(stage->in) ? 1 : 1 << stage->in.bits,
                                       .tables = 1};
    builder.value = malloc(3 * (size_t)builder.bins * sizeof *builder.value);
    enum gf_status status = builder.value ? build(stage, &builder, error) : gf_fail_memory(error);
    if (!status) {
        struct gf_point_program program;
        const size_t size = lay_out(&builder, stage->in, stage->out, &program);
        status = gf_stage_constants(stage, size, error);
        if (!status) {
            memcpy(stage->constants, &program, sizeof program);
            write_tables(&builder, stage->in, stage->constants, stage->constants);
            if (program.table == GF_POINT_SAMPLES && gf_is_float(stage->in))
                status = write_halves(stage, error);
        }
    }
    free(builder.data);
    free(builder.field);
    free(builder.level);
    free(builder.lightness);
    free(builder.value);
    return status;
}

static enum gf_status shape(const void *params, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    const struct gf_point_list *const points = params;
    *out = in;
    for (int i = 0; i < points->count; i++) {
        struct gf_stage item;
        GF_TRY(gf_stage_bind(&item, points->item[i].filter, points->item[i].params, *out, error));
        *out = item.out;
    }
    return GF_OK;
}

static enum gf_statistic statistic(const void *params)
{
    const struct gf_point_list *const points = params;
    if (!points->count || !points->item[0].filter->statistic)
        return GF_STATISTIC_NONE;
    return points->item[0].filter->statistic(points->item[0].params);
}

static int smooth(const void *params)
{
    const struct gf_point_list *const points = params;
    return points->count ? gf_filter_smooth(points->item[0].filter, points->item[0].params) : 1;
}

bool gf_point_is_table(const struct gf_stage *stage)
{
    struct gf_stage copy = *stage;
    copy.constants = NULL;
    if (stage->filter != &gf_point || stage->in.bits != 8 || stage->out.bits != 8 ||
        stage->in.channels != stage->out.channels || gf_has_alpha(stage->in) ||
        statistic(stage->params) || gf_stage_prepare(&copy, NULL))
        return false;
    const struct gf_point_program *const program = copy.constants;
    const bool is_table = program->table == GF_POINT_SAMPLES && program->tables == 1;
    gf_stage_release(&copy);
    return is_table;
}

/* Lists the second pictures of all filters, in the order in which build() adds them. */
static int pictures(const void *params, const struct gf_picture **list)
{
    const struct gf_point_list *const points = params;
    int count = 0;
    for (int i = 0; i < points->count; i++) {
        const struct gf_filter *const filter = points->item[i].filter;
        count += filter->pictures ? filter->pictures(points->item[i].params, list + count) : 0;
    }
    return count;
}

bool gf_point_is_only(const struct gf_stage *stage, const struct gf_filter *filter)
{
    const struct gf_point_list *const points = stage->params;
    return stage->filter == &gf_point && points->count == 1 && points->item[0].filter == filter;
}

/* No kernel for floats reads second pictures. */
static const char *refuses_floats(const struct gf_stage *stage)
{
    const struct gf_picture *list[GF_STAGE_PICTURES_MAX];
    return gf_stage_pictures(stage, list) ? "takes no second pictures with floats" : NULL;
}

extern gf_launcher gf_point_cuda, gf_point_floats_cuda, gf_point_counting_cuda,
    gf_point_stacked_cuda;

const struct gf_filter gf_point = {
    .name = "point",
    .summary = "a run of point filters",
    .params_size = sizeof(struct gf_point_list),
    .kind = GF_POINT,
    .takes_floats = true,
    .shape = shape,
    .statistic = statistic,
    .smooth = smooth,
    .pictures = pictures,
    .prepare = prepare,
    .cpu = gf_point_cpu,
    .floats = gf_point_floats,
    .cpu_intrinsics = true,
    .cuda = GF_CUDA({GF_VARIANT("vectors", gf_point_cuda,
                                "16 bytes a thread; one table, or a program, for the whole run")}),
    .cuda_floats = &(const struct gf_variant){.launch = GF_LAUNCHER(gf_point_floats_cuda),
                                              .refuses = refuses_floats},
    .cuda_counting = GF_LAUNCHER(gf_point_counting_cuda),
    .cuda_stacked = GF_LAUNCHER(gf_point_stacked_cuda),
};
