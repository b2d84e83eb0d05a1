/* Point programs on the CPU that depend on a pixel's position: mixing in a colour, and fading
 * alpha. */
#include <math.h>
#include <string.h>

#include "base/target_clones.h"
#include "pixel/point/point_planes.h"

/* Computes a field's values for a piece of a row that begins at column x of row y. */
GF_TARGET_CLONES static void find_field(const struct gf_stage *stage, int number, int x, int y,
                                        float *restrict field)
{
    const struct gf_point_program *const program = stage->constants;
    const float *const curve =
        gf_point_block(program, program->field_at + (unsigned)number * program->field_bytes);
    const float *const columns = curve + GF_POINT_CURVE_ROOM;
    const float row = columns[gf_point_field_columns(stage->in.width) + (size_t)y];
    float at[GF_PIECE];
    for (int i = 0; i < GF_PIECE; i++)
        at[i] = gf_point_field_at(columns[x + i], row);
    for (int i = 0; i < GF_PIECE; i++)
        field[i] = gf_point_field_value(curve, at[i]);
}

GF_TARGET_CLONES static void blend(const struct gf_point_op op, float colour, float *restrict v,
                                   const float *restrict field)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_blend_of(&op, v[i], colour, field[i]);
}

GF_TARGET_CLONES static void fade(const float *restrict field, float *restrict alpha)
{
    for (int i = 0; i < GF_PIECE; i++)
        alpha[i] *= field[i];
}

void gf_planes_position(const struct gf_stage *stage, const struct gf_point_op *op, int colours,
                        int x, int y, struct gf_planes *p)
{
    const float colour[3] = {op->a, op->b, op->c};
    float field[GF_PIECE];
    find_field(stage, (int)op->d, x, y, field);
    if (op->kind == GF_POINT_FADE)
        fade(field, p->alpha);
    for (int c = 0; c < colours && op->kind != GF_POINT_FADE; c++)
        blend(*op, colour[c], p->colour[c], field);
}

static bool is_one_position(const struct gf_stage *stage)
{
    const struct gf_point_program *const program = stage->constants;
    return program->count == 1 && program->op[0].kind == GF_POINT_MIX &&
           program->table == GF_POINT_NO_TABLE && stage->in.bits == 8 && !gf_has_alpha(stage->in);
}

static const float *curve_of(const struct gf_stage *stage)
{
    const struct gf_point_program *const program = stage->constants;
    return gf_point_block(program,
                          program->field_at + (unsigned)program->op[0].d * program->field_bytes);
}

/* Returns the end of the stretch of columns from x on that have the same value in the field. */
static int end_of(const float *columns, int x, int width)
{
    enum { BLOCK = 64 };
    const float place = columns[x];
    while (x + BLOCK < width && !memcmp(columns + x, columns + x + 1, BLOCK * sizeof *columns))
        x += BLOCK;
    while (x < width && columns[x] == place)
        x++;
    return x;
}

void gf_mix_init(struct gf_mix *mix, const struct gf_stage *stage)
{
    enum { SHORT = 16 };
    *mix = (struct gf_mix){.stage = stage, .row = NAN};
    if (!is_one_position(stage))
        return;
    const float *const columns = curve_of(stage) + GF_POINT_CURVE_ROOM;
    const struct gf_point_op *const op = ((const struct gf_point_program *)stage->constants)->op;
    const uint8_t colour[3] = {(uint8_t)op->a, (uint8_t)op->b, (uint8_t)op->c};
    const int width = stage->in.width;
    gf_pattern_make(&mix->colour, colour, (size_t)stage->in.channels);
    for (int x = 0, end; x < width && mix->count < GF_MIX_STRETCHES; x = end) {
        end = end_of(columns, x, width);
        if (end - x < SHORT)
            continue;
        mix->begin[mix->count] = x;
        mix->end[mix->count++] = end;
    }
}

/* Whether the colour consists of integers, so that it can be copied where the field is 1. */
static bool is_whole(const struct gf_point_op *op)
{
    return op->a == floorf(op->a) && op->b == floorf(op->b) && op->c == floorf(op->c);
}

/* Decides for each stretch of columns, in a row with this value in the field, whether its pixels
 * are copied, filled with the colour, or computed. */
static void sort_stretches(struct gf_mix *mix, float row)
{
    const struct gf_point_program *const program = mix->stage->constants;
    const float *const curve = curve_of(mix->stage), *const columns = curve + GF_POINT_CURVE_ROOM;
    for (int i = 0; i < mix->count; i++) {
        const float field = gf_point_field_of(curve, columns[mix->begin[i]], row);
        mix->copies[i] = field == 0.0f;
        mix->fills[i] = field == 1.0f && is_whole(program->op);
    }
    mix->row = row;
}

int gf_mix_stretch(struct gf_mix *mix, const uint8_t *in, uint8_t *out, int x, int y)
{
    const struct gf_format format = mix->stage->in;
    const float row = curve_of(
        mix->stage)[GF_POINT_CURVE_ROOM + gf_point_field_columns(format.width) + (size_t)y];
    if (row != mix->row)
        sort_stretches(mix, row);
    int i = 0;
    while (i < mix->count && (x < mix->begin[i] || x >= mix->end[i]))
        i++;
    if (i == mix->count)
        return 0;
    const size_t channels = (size_t)format.channels, first = (size_t)x * channels,
                 samples = (size_t)(mix->end[i] - x) * channels;
    if (mix->fills[i])
        gf_pattern_put(&mix->colour, out + first, samples);
    else if (!mix->copies[i])
        return 0;
    else if (in != out)
        memcpy(out + first, in + first, samples);
    return mix->end[i] - x;
}
