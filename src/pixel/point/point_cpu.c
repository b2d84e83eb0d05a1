/* Evaluates point programs on the CPU: the operations on planes of floats, and whole rows. */
#include <string.h>

#include "base/cpu.h"
#include "pixel/point/point_planes.h"

/* The operations that neither depend on the pixel's position nor read second pictures. A piece is
 * always computed in full, so that loops have no remainders. */

/* Defines an operation on the samples v[i] of one channel; `result` is the new value of v[i]. */
#define OF_SAMPLES(name, result) \
    GF_TARGET_CLONES static void name(const struct gf_point_op op, int channel, float *restrict v, \
                                      const float *restrict alpha) \
    { \
        for (int i = 0; i < GF_PIECE; i++) \
            v[i] = result; \
    }

static inline float value_of_channel(const struct gf_point_op *op, int channel)
{
    return channel == 0 ? op->a : channel == 1 ? op->b : op->c;
}

OF_SAMPLES(linear, gf_point_linear_of(&op, v[i]))
OF_SAMPLES(power, gf_point_power_of(&op, v[i]))
OF_SAMPLES(step, gf_point_step_of(&op, v[i]))
OF_SAMPLES(decode, gf_srgb_decode(v[i] / op.max))
OF_SAMPLES(encode, gf_point_encode_of(&op, v[i]))
OF_SAMPLES(premultiply, gf_point_premultiply_of(&op, v[i], alpha[i]))
OF_SAMPLES(unpremultiply, gf_point_unpremultiply_of(&op, v[i], alpha[i]))
OF_SAMPLES(limit, gf_point_limit_of(v[i], alpha[i]))
OF_SAMPLES(flatten, gf_point_flatten_of(&op, v[i], value_of_channel(&op, channel), alpha[i]))
OF_SAMPLES(gain, gf_point_gain_of(&op, v[i], channel))
OF_SAMPLES(quantize, gf_point_quantize_of(&op, v[i]))
OF_SAMPLES(solarize, gf_point_solarize_of(&op, v[i]))
OF_SAMPLES(multiply, v[i] * op.a)
OF_SAMPLES(divide, v[i] / op.a)

static void (*const of_samples[])(const struct gf_point_op op, int channel, float *restrict v,
                                  const float *restrict alpha) = {
    [GF_POINT_LINEAR] = linear,
    [GF_POINT_POWER] = power,
    [GF_POINT_STEP] = step,
    [GF_POINT_DECODE] = decode,
    [GF_POINT_ENCODE] = encode,
    [GF_POINT_PREMULTIPLY] = premultiply,
    [GF_POINT_UNPREMULTIPLY] = unpremultiply,
    [GF_POINT_LIMIT] = limit,
    [GF_POINT_FLATTEN] = flatten,
    [GF_POINT_GAIN] = gain,
    [GF_POINT_QUANTIZE] = quantize,
    [GF_POINT_SOLARIZE] = solarize,
};

GF_TARGET_CLONES static void encode_8(const unsigned char *table, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_encode_8_of(table, v[i]);
}

/* Applies a CURVE in two loops, because compilers do not vectorise a limit and a look-up that
 * depends on it in one. */
GF_TARGET_CLONES static void curve(const struct gf_point_op op, const float *restrict point,
                                   float *restrict v)
{
    float at[GF_PIECE];
    for (int i = 0; i < GF_PIECE; i++)
        at[i] = gf_clamp(v[i] * op.a + op.b, op.d);
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_curve_at(point, at[i]);
}

static void apply_to_channels(const struct gf_point_program *program, const struct gf_point_op *op,
                              int colours, struct gf_planes *p)
{
    const float *const data = gf_point_block(program, program->data_at);
    for (int c = 0; c < colours; c++) {
        if (gf_point_leaves(op, c))
            continue;
        if (op->kind == GF_POINT_ENCODE_8)
            encode_8(gf_point_block(program, program->encode_at), p->colour[c]);
        else if (op->kind == GF_POINT_CURVE)
            curve(*op, data + (int)op->c + c * ((int)op->d + 2), p->colour[c]);
        else
            of_samples[op->kind](*op, c, p->colour[c], p->alpha);
    }
    if (op->kind == GF_POINT_PREMULTIPLY)
        multiply(*op, 0, p->alpha, NULL);
    else if (op->kind == GF_POINT_UNPREMULTIPLY)
        divide(*op, 0, p->alpha, NULL);
}

static inline struct gf_rgb pixel_of(const struct gf_planes *p, int i)
{
    return (struct gf_rgb){p->colour[0][i], p->colour[1][i], p->colour[2][i]};
}

static inline void set_pixel(struct gf_planes *p, int i, struct gf_rgb v)
{
    p->colour[0][i] = v.r;
    p->colour[1][i] = v.g;
    p->colour[2][i] = v.b;
}

/* Defines an operation on pixels. `result` is the new value of pixel v; only RELIGHT has new_fy. */
#define OF_PIXELS(name, result) \
    GF_TARGET_CLONES static void name(const struct gf_point_op op, const float *new_fy, \
                                      struct gf_planes *p) \
    { \
        for (int i = 0; i < GF_PIECE; i++) { \
            const struct gf_rgb v = pixel_of(p, i); \
            set_pixel(p, i, result); \
        } \
    }
OF_PIXELS(saturate, gf_saturate(v, op.a))
OF_PIXELS(relight, gf_relight(v, new_fy[i]))
OF_PIXELS(vibrance, gf_point_vibrance_of(&op, v))

GF_TARGET_CLONES static void gray(const struct gf_point_op op, struct gf_planes *p)
{
    for (int i = 0; i < GF_PIECE; i++)
        p->colour[0][i] = gf_point_gray_of(&op, p->colour[0][i], p->colour[1][i], p->colour[2][i]);
}

GF_TARGET_CLONES static void find_levels(const struct gf_point_program *program,
                                         const struct gf_planes *p, float *new_fy)
{
    const uint32_t *const curves = gf_point_block(program, program->curve_at);
    const float *const level = gf_point_block(program, program->level_at);
    for (int i = 0; i < GF_PIECE; i++)
        new_fy[i] = level[gf_lightness_bin(pixel_of(p, i), curves)];
}

GF_TARGET_CLONES static void matrix(const struct gf_point_op *at, struct gf_planes *p)
{
    const struct gf_point_op op[3] = {at[0], at[1], at[2]};
    for (int i = 0; i < GF_PIECE; i++)
        set_pixel(p, i, gf_point_matrix_of(op, pixel_of(p, i)));
}

GF_TARGET_CLONES static void key(const struct gf_point_op op, struct gf_planes *p)
{
    for (int i = 0; i < GF_PIECE; i++)
        p->alpha[i] *= gf_point_key_of(&op, pixel_of(p, i));
}

/* For each pixel of a piece, the nodes that table3d() reads, and their weights. */
struct places {
    int node[4][GF_PIECE];
    float weight[4][GF_PIECE];
};

GF_TARGET_CLONES static void find_places(const struct gf_point_op op, const struct gf_planes *p,
                                         struct places *places)
{
    const int size = (int)op.b;
    for (int i = 0; i < GF_PIECE; i++) {
        const struct gf_rgb v = pixel_of(p, i);
        const struct gf_table3d_place place =
            gf_table3d_place_of(size, v.r * op.a, v.g * op.a, v.b * op.a);
        places->node[0][i] = place.n0;
        places->node[1][i] = place.n1;
        places->node[2][i] = place.n2;
        places->node[3][i] = place.n3;
        places->weight[0][i] = place.w0;
        places->weight[1][i] = place.w1;
        places->weight[2][i] = place.w2;
        places->weight[3][i] = place.w3;
    }
}

GF_TARGET_CLONES static void table3d(const struct gf_point_op op, const uint32_t *restrict nodes,
                                     const struct places *restrict places,
                                     struct gf_planes *restrict p)
{
    for (int i = 0; i < GF_PIECE; i++) {
        const struct gf_table3d_place place = {
            places->node[0][i],   places->node[1][i],   places->node[2][i],   places->node[3][i],
            places->weight[0][i], places->weight[1][i], places->weight[2][i], places->weight[3][i]};
        set_pixel(p, i, gf_point_scaled(&op, gf_table3d_mix(nodes, place)));
    }
}

static void apply_table3d(const struct gf_point_program *program, const struct gf_point_op *op,
                          struct gf_planes *p)
{
    const uint32_t *const data = gf_point_block(program, program->data_at);
    struct places places;
    find_places(*op, p, &places);
    table3d(*op, data + (int)op->c, &places, p);
}

static void to_colour(int *colours, struct gf_planes *p)
{
    for (int c = 1; c < 3 && *colours == 1; c++)
        memcpy(p->colour[c], p->colour[0], sizeof p->colour[0]);
    *colours = 3;
}

/* Applies an operation that neither depends on the position nor reads second pictures. *colours is
 * the number of colour channels, which it may change. */
static void planes_apply(const struct gf_point_program *program, const struct gf_point_op *op,
                         int *colours, struct gf_planes *p)
{
    float new_fy[GF_PIECE];
    switch (op->kind) {
    case GF_POINT_GRAY:
        gray(*op, p);
        *colours = 1;
        break;
    case GF_POINT_SATURATE:
        saturate(*op, NULL, p);
        break;
    case GF_POINT_RELIGHT:
        find_levels(program, p, new_fy);
        relight(*op, new_fy, p);
        break;
    case GF_POINT_MATRIX:
        to_colour(colours, p);
        matrix(op, p);
        break;
    case GF_POINT_ROW: /* MATRIX, the operation before it, has used this row */
        break;
    case GF_POINT_VIBRANCE:
        vibrance(*op, NULL, p);
        break;
    case GF_POINT_TABLE3D:
        to_colour(colours, p);
        apply_table3d(program, op, p);
        break;
    case GF_POINT_OPAQUE:
        for (int i = 0; i < GF_PIECE; i++)
            p->alpha[i] = op->max;
        break;
    case GF_POINT_KEY:
        key(*op, p);
        break;
    default:
        apply_to_channels(program, op, *colours, p);
    }
}

/* Programs without operations map whole rows by a table; other programs are evaluated in pieces of
 * a row, as planes of floats. */

static void look_up(const struct gf_point_program *program, struct gf_format in,
                    struct gf_planes *p)
{
    const float *const first = gf_point_block(program, program->table_at);
    const int stride = program->tables == 1 ? 0 : 1 << in.bits;
    for (int c = 0; c < gf_colour_channels(in); c++) {
        const float *const table = first + c * stride;
        for (int i = 0; i < GF_PIECE; i++)
            p->colour[c][i] = table[(int)p->colour[c][i]];
    }
}

/* Evaluates a whole row of 16-bit RGB with vectors, if it can, and returns the number of its
 * pixels; otherwise 0. */
static int evaluate_words(const struct gf_stage *stage, const void *in, void *out, int width)
{
    const struct gf_point_program *const program = stage->constants;
    const struct gf_point_op *const op = program->op;
    const size_t n = (size_t)width;
    if (!gf_cpu_has(GF_CPU_AVX512))
        return 0;
    const bool mixes = program->count == 3 && op->kind == GF_POINT_MATRIX;
    if (mixes && stage->out.bits == 16 && stage->out.channels == 3)
        return gf_words_matrix(op, in, n, out) ? width : 0;
    const bool grays = program->count == 1 && op->kind == GF_POINT_GRAY;
    return grays && stage->out.bits == 16 && gf_words_gray(op, in, n, out) ? width : 0;
}

/* Evaluates the first pixels of an 8-bit RGB row in registers, if the result has the same depth and
 * no planes are needed. Returns how many. */
static int evaluate_fast(const struct gf_stage *stage, const uint8_t *in, uint8_t *out, int width)
{
    const struct gf_point_program *const program = stage->constants;
    const struct gf_point_op *const op = program->op;
    const bool is_gray = stage->out.channels == 1 && stage->out.bits == 8;
    if (program->table == GF_POINT_FLOATS || stage->in.channels != 3)
        return 0;
    if (stage->in.bits == 16)
        return evaluate_words(stage, in, out, width);
    if (program->count == 3 && op[0].kind == GF_POINT_MATRIX && gf_is_rgb8(stage->out) &&
        gf_cpu_has(GF_CPU_AVX2))
        return gf_planes_matrix_rgb8(op, in, width, out);
    const bool ends = program->count == 1 || (program->count == 2 && op[1].kind == GF_POINT_STEP);
    return is_gray && ends && op[0].kind == GF_POINT_GRAY
               ? gf_planes_gray_rgb8(op, program->count, in, width, out)
               : 0;
}

/* What all rows that one call of gf_point_cpu() evaluates share. */
struct evaluation {
    struct gf_planes planes;
    const struct gf_stage *stage;
    const struct gf_picture *pictures[GF_STAGE_PICTURES_MAX];
    struct gf_mix mix;
    struct gf_layer_part part;
};

/* Applies the program's operations to a piece in the planes, from column x of row y on. */
static void apply(struct evaluation *evaluation, int x, int y)
{
    const struct gf_stage *const stage = evaluation->stage;
    const struct gf_point_program *const program = stage->constants;
    struct gf_planes *const planes = &evaluation->planes;
    int colours = gf_colour_channels(stage->in);
    if (program->table == GF_POINT_FLOATS)
        look_up(program, stage->in, planes);
    for (int i = 0; i < program->count; i++) {
        const struct gf_point_op *const op = &program->op[i];
        if (op->kind >= GF_POINT_OVERLAY)
            gf_planes_layer(&program->layer[(int)op->d], evaluation->pictures, colours, x, y, false,
                            planes);
        else if (op->kind == GF_POINT_NOISE)
            gf_planes_noise(op, colours, x, y, planes);
        else if (op->kind >= GF_POINT_MIX)
            gf_planes_position(stage, op, colours, x, y, planes);
        else
            planes_apply(program, op, &colours, planes);
    }
}

static void evaluate_row(struct evaluation *evaluation, const uint8_t *in, uint8_t *out, int width,
                         int y)
{
    const struct gf_stage *const stage = evaluation->stage;
    struct gf_planes *const planes = &evaluation->planes;
    const int in_size = stage->in.channels * stage->in.bits / 8;
    const int out_size = stage->out.channels * stage->out.bits / 8;
    const bool mixes = evaluation->mix.count > 0;
    const struct gf_layer_part *const part = &evaluation->part;
    const bool changes = y >= part->y && y < part->end_y;
    const int begin = changes ? part->x : width;
    const int end = changes && part->end_x < width ? part->end_x : width;
    if (in != out && end - begin < width) {
        memcpy(out, in, (size_t)begin * (size_t)in_size);
        memcpy(out + (ptrdiff_t)end * in_size, in + (ptrdiff_t)end * in_size,
               (size_t)(width - end) * (size_t)in_size);
    }
    for (int x = begin ? begin : evaluate_fast(stage, in, out, width), n; x < end; x += n) {
        if (mixes && (n = gf_mix_stretch(&evaluation->mix, in, out, x, y)) > 0)
            continue;
        /* A piece in which a field counts must begin at a multiple of GF_PIECE. Pixels before x are
         * evaluated again, with the same result. */
        x = mixes ? x / GF_PIECE * GF_PIECE : x;
        n = end - x < GF_PIECE ? end - x : GF_PIECE;
        if (n < GF_PIECE) /* otherwise planes would have values of the piece before */
            memset(planes, 0, sizeof *planes);
        uint8_t *const to = out + (ptrdiff_t)x * out_size;
        gf_planes_split(in + (ptrdiff_t)x * in_size, stage->in, n, planes);
        apply(evaluation, x, y);
        gf_planes_join(to, stage->out, n, planes);
    }
}

static bool knows_position(const struct gf_point_program *program)
{
    bool knows = false;
    for (int i = 0; i < program->count; i++)
        knows |= program->op[i].kind >= GF_POINT_MIX;
    return knows;
}

/* Whether rows can be evaluated as one long row: there are no gaps between them, and positions do
 * not matter. The bytes of that row, and a vector after them, must not exceed an int. */
static bool are_one(const struct gf_stage *stage, const struct gf_view *in,
                    const struct gf_view *out)
{
    const size_t in_bytes = gf_row_bytes(stage->in), out_bytes = gf_row_bytes(stage->out);
    return in->pitch == in_bytes && out->pitch == out_bytes && !knows_position(stage->constants) &&
           (size_t)out->rows * (in_bytes > out_bytes ? in_bytes : out_bytes) < INT32_MAX - 64;
}

/* Whether 8-bit gray becomes 8-bit RGB regardless of position, by a table of 256 colours. */
static bool colours_gray(const struct gf_stage *stage)
{
    return stage->in.channels == 1 && stage->in.bits == 8 && gf_is_rgb8(stage->out) &&
           !knows_position(stage->constants);
}

static void fill_colours(struct evaluation *evaluation, uint8_t table[3][256])
{
    uint8_t levels[256], pixels[3 * 256];
    for (int v = 0; v < 256; v++)
        levels[v] = (uint8_t)v;
    memset(&evaluation->planes, 0, sizeof evaluation->planes);
    gf_planes_split(levels, evaluation->stage->in, 256, &evaluation->planes);
    apply(evaluation, 0, 0);
    gf_planes_join(pixels, evaluation->stage->out, 256, &evaluation->planes);
    for (int i = 0; i < 3 * 256; i++)
        table[i % 3][i / 3] = pixels[i];
}

void gf_point_cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                  void *scratch)
{
    const struct gf_point_program *const program = stage->constants;
    const bool joined = are_one(stage, in, out);
    const int width = joined ? stage->in.width * out->rows : stage->in.width;
    const int end = joined ? out->y + 1 : out->y + out->rows;
    _Alignas(64) struct evaluation evaluation;
    evaluation.stage = stage;
    const bool is_plain = gf_stage_pictures(stage, evaluation.pictures) &&
                          gf_layer_is_samplewise(program, stage->in, evaluation.pictures);
    const bool colours = colours_gray(stage);
    uint8_t table[3][256];
    /* The planes are cleared only if they are needed: these 8 KB take as long as a look-up. */
    if (!is_plain && program->table != GF_POINT_SAMPLES)
        memset(&evaluation.planes, 0, sizeof evaluation.planes);
    gf_mix_init(&evaluation.mix, stage);
    evaluation.part = gf_layer_part_of(stage, evaluation.pictures);
    if (colours)
        fill_colours(&evaluation, table);
    for (int y = out->y; y < end; y++) {
        const uint8_t *const from = gf_view_row(in, y);
        uint8_t *const to = gf_view_row(out, y);
        if (is_plain)
            gf_layer_plain_row(&program->layer[0],
                               &evaluation.pictures[program->layer[0].source]->image, y, stage->in,
                               from, to);
        else if (program->table == GF_POINT_SAMPLES)
            gf_point_map_samples(program, stage->in, from, to, (size_t)width);
        else if (colours)
            gf_point_map_colour(table, from, to, (size_t)width);
        else
            evaluate_row(&evaluation, from, to, width, y);
    }
}
