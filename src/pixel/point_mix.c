/* Fields of the position on the CPU: colours mixed in, alpha faded. */
#include <math.h>
#include <string.h>

#include "base/target_clones.h"
#include "pixel/point_planes.h"

/* The field of a piece that begins with column x of row y. */
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

void gf_planes_position(const struct gf_stage *stage, const struct gf_point_op *op, int colours,
                        int x, int y, struct gf_planes *p)
{
    const float colour[3] = {op->a, op->b, op->c};
    float field[GF_PIECE];
    find_field(stage, (int)op->d, x, y, field);
    if (op->kind == GF_POINT_FADE)
        gf_planes_fade(field, p);
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

void gf_mix_init(struct gf_mix *mix, const struct gf_stage *stage)
{
    enum { SHORT = 16 };
    *mix = (struct gf_mix){.stage = stage};
    if (!is_one_position(stage))
        return;
    const float *const columns = curve_of(stage) + GF_POINT_CURVE_ROOM;
    const int width = stage->in.width;
    for (int x = 0, end; x < width && mix->count < GF_MIX_STRETCHES; x = end) {
        end = x + 1;
        while (end < width && columns[end] == columns[x])
            end++;
        if (end - x < SHORT)
            continue;
        mix->begin[mix->count] = x;
        mix->end[mix->count++] = end;
    }
}

/* Whether bytes are all of a stretch where the field is 1: the colour is of whole samples then. */
static bool is_whole(const struct gf_point_op *op)
{
    return op->a == floorf(op->a) && op->b == floorf(op->b) && op->c == floorf(op->c);
}

static void fill(const struct gf_point_op *op, int channels, uint8_t *to, size_t samples)
{
    const uint8_t colour[3] = {(uint8_t)op->a, (uint8_t)op->b, (uint8_t)op->c};
    memcpy(to, colour, (size_t)channels);
    for (size_t done = (size_t)channels; done < samples; done *= 2)
        memcpy(to + done, to, done < samples - done ? done : samples - done);
}

int gf_mix_stretch(const struct gf_mix *mix, const uint8_t *in, uint8_t *out, int x, int y)
{
    const struct gf_stage *const stage = mix->stage;
    int i = 0;
    while (i < mix->count && (x < mix->begin[i] || x >= mix->end[i]))
        i++;
    if (i == mix->count)
        return 0;
    const struct gf_point_program *const program = stage->constants;
    const struct gf_point_op *const op = &program->op[0];
    const float *const curve = curve_of(stage), *const columns = curve + GF_POINT_CURVE_ROOM;
    const float row = columns[gf_point_field_columns(stage->in.width) + (size_t)y];
    const float field = gf_point_field_of(curve, columns[x], row);
    const size_t channels = (size_t)stage->in.channels, first = (size_t)x * channels;
    const size_t samples = (size_t)(mix->end[i] - x) * channels;
    if (field == 1.0f && is_whole(op))
        fill(op, stage->in.channels, out + first, samples);
    else if (field != 0.0f)
        return 0;
    else if (in != out)
        memcpy(out + first, in + first, samples);
    return mix->end[i] - x;
}
