/* Evaluation of point programs on the CPU: a row at a time through a table, or, where there are
 * operations, in pieces of a row held as planes of floats. */
#include <math.h>
#include <string.h>

#include "base/target_clones.h"
#include "pixel/map_simd.h"
#include "pixel/point_planes.h"

#define INLINE static inline __attribute__((always_inline))

/* Eight samples of a row with one load and one store; table: [channel][256]. `out` may be `in`. */
INLINE void map_8(const uint8_t *in, uint8_t *out, size_t n, const int channels,
                  const uint8_t *table)
{
    const int words = channels == 3 ? 3 : 1; /* that begin with every channel once */
    size_t i = 0;
    for (; i + 8 * (size_t)words <= n; i += 8 * (size_t)words) {
        for (int k = 0; k < words; k++) {
            uint64_t from, to = 0;
            memcpy(&from, in + i + 8 * k, 8);
            for (int j = 0; j < 8; j++)
                to |=
                    (uint64_t)table[(from >> 8 * j & 255) + 256 * (size_t)((8 * k + j) % channels)]
                    << 8 * j;
            memcpy(out + i + 8 * k, &to, 8);
        }
    }
    for (; i < n; i++)
        out[i] = table[in[i] + 256 * (i % (size_t)channels)];
}

INLINE void map_16(const uint16_t *restrict in, uint16_t *restrict out, size_t n,
                   const int channels, const uint16_t *const table[3])
{
    const int colours = channels >= 3 ? 3 : 1;
    for (size_t i = 0; i < n; i++) {
        for (int c = 0; c < colours; c++)
            out[i * (size_t)channels + (size_t)c] = table[c][in[i * (size_t)channels + (size_t)c]];
        if (channels != colours)
            out[i * (size_t)channels + (size_t)colours] =
                in[i * (size_t)channels + (size_t)colours];
    }
}

static void map_row_8(const struct gf_point_program *program, const uint8_t *in, uint8_t *out,
                      size_t width, int channels)
{
    const uint8_t *const table = gf_point_block(program, program->table_at);
    if (gf_map_simd(in, out, width * (size_t)channels, channels, table))
        return;
    switch (channels) {
    case 1:
        map_8(in, out, width, 1, table);
        break;
    case 2:
        map_8(in, out, 2 * width, 2, table);
        break;
    case 3:
        map_8(in, out, 3 * width, 3, table);
        break;
    default:
        map_8(in, out, 4 * width, 4, table);
    }
}

static void map_row_16(const struct gf_point_program *program, const uint16_t *in, uint16_t *out,
                       size_t width, int channels)
{
    const uint16_t *const first = gf_point_block(program, program->table_at);
    const int step = program->tables == 1 ? 0 : 65536;
    const uint16_t *const table[3] = {first, first + step, first + 2 * step};
    switch (channels) {
    case 1:
        map_16(in, out, width, 1, table);
        break;
    case 2:
        map_16(in, out, width, 2, table);
        break;
    case 3:
        map_16(in, out, width, 3, table);
        break;
    default:
        map_16(in, out, width, 4, table);
    }
}

/* Pixels first..n-1. */
INLINE void split(const void *in, int bits, int first, int n, const int channels,
                  struct gf_planes *planes)
{
    const uint8_t *const bytes = in;
    const uint16_t *const words = in;
    for (int c = 0; c < channels; c++) {
        float *const plane =
            channels % 2 == 0 && c == channels - 1 ? planes->alpha : planes->colour[c];
        if (bits == 8) {
            for (int i = first; i < n; i++)
                plane[i] = bytes[i * channels + c];
        } else {
            for (int i = first; i < n; i++)
                plane[i] = words[i * channels + c];
        }
    }
}

GF_TARGET_CLONES static void split_planes(const void *in, struct gf_format format, int first, int n,
                                          struct gf_planes *planes)
{
    switch (format.channels) {
    case 1:
        split(in, format.bits, first, n, 1, planes);
        break;
    case 2:
        split(in, format.bits, first, n, 2, planes);
        break;
    case 3:
        split(in, format.bits, first, n, 3, planes);
        break;
    default:
        split(in, format.bits, first, n, 4, planes);
    }
}

INLINE void join(void *out, int bits, int first, int n, const int channels,
                 const struct gf_planes *planes)
{
    uint8_t *const bytes = out;
    uint16_t *const words = out;
    for (int c = 0; c < channels; c++) {
        const float *const plane =
            channels % 2 == 0 && c == channels - 1 ? planes->alpha : planes->colour[c];
        if (bits == 8) {
            for (int i = first; i < n; i++)
                bytes[i * channels + c] = (uint8_t)(int)(plane[i] + 0.5f);
        } else {
            for (int i = first; i < n; i++)
                words[i * channels + c] = (uint16_t)(int)(plane[i] + 0.5f);
        }
    }
}

/* Every operation has clamped its result to 0..M. */
GF_TARGET_CLONES static void join_planes(void *out, struct gf_format format, int first, int n,
                                         const struct gf_planes *planes)
{
    switch (format.channels) {
    case 1:
        join(out, format.bits, first, n, 1, planes);
        break;
    case 2:
        join(out, format.bits, first, n, 2, planes);
        break;
    case 3:
        join(out, format.bits, first, n, 3, planes);
        break;
    default:
        join(out, format.bits, first, n, 4, planes);
    }
}

static bool is_rgb8(struct gf_format format)
{
    return format.bits == 8 && format.channels == 3;
}

/* A piece is always computed to its full length, so that loops have no remainders. */
GF_TARGET_CLONES static void linear(const struct gf_point_op op, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_linear_of(&op, v[i]);
}

GF_TARGET_CLONES static void power(const struct gf_point_op op, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_power_of(&op, v[i]);
}

GF_TARGET_CLONES static void step(const struct gf_point_op op, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_step_of(&op, v[i]);
}

GF_TARGET_CLONES static void decode(const struct gf_point_op op, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_srgb_decode(v[i] / op.max);
}

GF_TARGET_CLONES static void encode(const struct gf_point_op op, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_encode_of(&op, v[i]);
}

GF_TARGET_CLONES static void encode_8(const unsigned char *table, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_encode_8_of(table, v[i]);
}

GF_TARGET_CLONES static void gray(const struct gf_point_op op, struct gf_planes *p)
{
    for (int i = 0; i < GF_PIECE; i++)
        p->colour[0][i] = gf_point_gray_of(&op, p->colour[0][i], p->colour[1][i], p->colour[2][i]);
}

GF_TARGET_CLONES static void saturate(const struct gf_point_op op, struct gf_planes *p)
{
    const float factor = op.a;
    for (int i = 0; i < GF_PIECE; i++) {
        const struct gf_rgb from = {p->colour[0][i], p->colour[1][i], p->colour[2][i]};
        const struct gf_rgb to = gf_saturate(from, factor);
        p->colour[0][i] = to.r;
        p->colour[1][i] = to.g;
        p->colour[2][i] = to.b;
    }
}

GF_TARGET_CLONES static void find_levels(const struct gf_point_program *program,
                                         const struct gf_planes *p, float *new_fy)
{
    const uint32_t *const curve = gf_point_block(program, program->curve_at);
    const float *const level = gf_point_block(program, program->level_at);
    for (int i = 0; i < GF_PIECE; i++) {
        const struct gf_rgb from = {p->colour[0][i], p->colour[1][i], p->colour[2][i]};
        new_fy[i] = level[gf_lightness_bin(from, curve)];
    }
}

GF_TARGET_CLONES static void relight(const float *new_fy, struct gf_planes *p)
{
    for (int i = 0; i < GF_PIECE; i++) {
        const struct gf_rgb from = {p->colour[0][i], p->colour[1][i], p->colour[2][i]};
        const struct gf_rgb to = gf_relight(from, new_fy[i]);
        p->colour[0][i] = to.r;
        p->colour[1][i] = to.g;
        p->colour[2][i] = to.b;
    }
}

GF_TARGET_CLONES static void premultiply(const struct gf_point_op op, float *restrict v,
                                         const float *restrict alpha)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_premultiply_of(&op, v[i], alpha[i]);
}

GF_TARGET_CLONES static void limit(float *restrict v, const float *restrict alpha)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_limit_of(v[i], alpha[i]);
}

GF_TARGET_CLONES static void unpremultiply(const struct gf_point_op op, float *restrict v,
                                           const float *restrict alpha)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_unpremultiply_of(&op, v[i], alpha[i]);
}

GF_TARGET_CLONES static void multiply(float *v, float factor)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] *= factor;
}

GF_TARGET_CLONES static void divide(float *v, float divisor)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] /= divisor;
}

GF_TARGET_CLONES static void flatten(const struct gf_point_op op, float colour, float *restrict v,
                                     const float *restrict alpha)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_point_flatten_of(&op, v[i], colour, alpha[i]);
}

void gf_planes_split(const uint8_t *from, struct gf_format format, int n, struct gf_planes *p)
{
    split_planes(from, format, is_rgb8(format) ? gf_planes_split_rgb8(from, n, p) : 0, n, p);
}

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

static void apply_position(const struct gf_stage *stage, const struct gf_point_op *op, int colours,
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

static void apply_channelwise(const struct gf_point_program *program, const struct gf_point_op *op,
                              float *v, const float *alpha)
{
    switch (op->kind) {
    case GF_POINT_LINEAR:
        linear(*op, v);
        break;
    case GF_POINT_POWER:
        power(*op, v);
        break;
    case GF_POINT_STEP:
        step(*op, v);
        break;
    case GF_POINT_DECODE:
        decode(*op, v);
        break;
    case GF_POINT_ENCODE:
        encode(*op, v);
        break;
    case GF_POINT_ENCODE_8:
        encode_8(gf_point_block(program, program->encode_at), v);
        break;
    case GF_POINT_PREMULTIPLY:
        premultiply(*op, v, alpha);
        break;
    case GF_POINT_LIMIT:
        limit(v, alpha);
        break;
    case GF_POINT_UNPREMULTIPLY:
        unpremultiply(*op, v, alpha);
        break;
    default:
        divide(v, op->a);
    }
}

static void apply(const struct gf_point_program *program, const struct gf_point_op *op,
                  int *colours, struct gf_planes *p)
{
    float new_fy[GF_PIECE];
    switch (op->kind) {
    case GF_POINT_GRAY:
        gray(*op, p);
        *colours = 1;
        return;
    case GF_POINT_FLATTEN:
        for (int c = 0; c < *colours; c++)
            flatten(*op, (const float[3]){op->a, op->b, op->c}[c], p->colour[c], p->alpha);
        return;
    case GF_POINT_SATURATE:
        saturate(*op, p);
        return;
    case GF_POINT_RELIGHT:
        find_levels(program, p, new_fy);
        relight(new_fy, p);
        return;
    }
    if (op->kind >= GF_POINT_GAIN) {
        gf_planes_apply(program, op, colours, p);
        return;
    }
    for (int c = 0; c < *colours; c++)
        if (!gf_point_leaves(op, c))
            apply_channelwise(program, op, p->colour[c], p->alpha);
    if (op->kind == GF_POINT_PREMULTIPLY)
        multiply(p->alpha, op->a);
    else if (op->kind == GF_POINT_UNPREMULTIPLY)
        divide(p->alpha, op->a);
}

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

/* The pixels at the beginning of a row of RGB of 8 bits that go from bytes to bytes in registers.
 */
static int evaluate_fast(const struct gf_stage *stage, const uint8_t *in, uint8_t *out)
{
    const struct gf_point_program *const program = stage->constants;
    const struct gf_point_op *const op = program->op;
    const bool is_gray = stage->out.channels == 1 && stage->out.bits == 8;
    if (program->table == GF_POINT_FLOATS || !is_rgb8(stage->in))
        return 0;
    if (program->count == 3 && op[0].kind == GF_POINT_MATRIX && is_rgb8(stage->out))
        return gf_planes_matrix_rgb8(op, in, stage->in.width, out);
    const bool ends = program->count == 1 || (program->count == 2 && op[1].kind == GF_POINT_STEP);
    return is_gray && ends && op[0].kind == GF_POINT_GRAY
               ? gf_planes_gray_rgb8(op, program->count, in, stage->in.width, out)
               : 0;
}

static bool is_one_position(const struct gf_stage *stage)
{
    const struct gf_point_program *const program = stage->constants;
    return program->count == 1 && program->op[0].kind == GF_POINT_MIX &&
           program->table == GF_POINT_NO_TABLE && stage->in.bits == 8 && !gf_has_alpha(stage->in);
}

/* Whether bytes are all of a stretch where the field is 1: the colour is of whole samples then. */
static bool is_whole(const struct gf_point_op *op)
{
    return op->a == floorf(op->a) && op->b == floorf(op->b) && op->c == floorf(op->c);
}

/* Where nothing but a field is mixed in, as a frame is: a stretch of columns from x on where the
 * field stays 0 is copied, and one where it stays 1 filled. Returns its pixels; 0: the planes do
 * it.
 */
static int mix_stretch(const struct gf_stage *stage, const uint8_t *in, uint8_t *out, int x, int y)
{
    enum { SHORT = 16, BLOCK = 64 };
    const struct gf_point_program *const program = stage->constants;
    const struct gf_point_op *const op = program->op;
    const float *const curve =
        gf_point_block(program, program->field_at + (unsigned)op->d * program->field_bytes);
    const float *const columns = curve + GF_POINT_CURVE_ROOM;
    const float row = columns[gf_point_field_columns(stage->in.width) + (size_t)y];
    const float field = gf_point_field_of(curve, columns[x], row);
    const int width = stage->in.width, channels = stage->in.channels;
    int count = 1;
    if (field != 0.0f && (field != 1.0f || !is_whole(op)))
        return 0;
    while (x + count < width && columns[x + count] == columns[x] && count < BLOCK)
        count++;
    while (count >= BLOCK && x + count + BLOCK <= width &&
           !memcmp(columns + x, columns + x + count, BLOCK * sizeof *columns))
        count += BLOCK;
    if (count < SHORT)
        return 0;
    uint8_t *const to = out + (size_t)x * (size_t)channels;
    const size_t samples = (size_t)count * (size_t)channels;
    if (field == 0.0f && in == out)
        return count;
    if (field == 0.0f) {
        memcpy(to, in + (size_t)x * (size_t)channels, samples);
        return count;
    }
    const uint8_t colour[3] = {(uint8_t)op->a, (uint8_t)op->b, (uint8_t)op->c};
    memcpy(to, colour, (size_t)channels);
    for (size_t done = (size_t)channels; done < samples; done *= 2)
        memcpy(to + done, to, done < samples - done ? done : samples - done);
    return count;
}

static void evaluate_row(const struct gf_stage *stage, const struct gf_picture *const *pictures,
                         const uint8_t *in, uint8_t *out, int y)
{
    const struct gf_point_program *const program = stage->constants;
    const int in_size = stage->in.channels * stage->in.bits / 8;
    const int out_size = stage->out.channels * stage->out.bits / 8;
    _Alignas(64) struct gf_planes planes = {0};
    const bool mixes = is_one_position(stage);
    for (int x = evaluate_fast(stage, in, out), n; x < stage->in.width; x += n) {
        if (mixes && (n = mix_stretch(stage, in, out, x, y)) > 0)
            continue;
        /* Columns of fields are filled for whole pieces. A stretch is mixed once more, which
         * changes nothing. */
        x = mixes ? x / GF_PIECE * GF_PIECE : x;
        n = stage->in.width - x < GF_PIECE ? stage->in.width - x : GF_PIECE;
        int colours = gf_colour_channels(stage->in);
        if (n < GF_PIECE) /* what the piece before has left is no sample */
            memset(&planes, 0, sizeof planes);
        const uint8_t *const from = in + (ptrdiff_t)x * in_size;
        uint8_t *const to = out + (ptrdiff_t)x * out_size;
        gf_planes_split(from, stage->in, n, &planes);
        if (program->table == GF_POINT_FLOATS)
            look_up(program, stage->in, &planes);
        for (int i = 0; i < program->count; i++) {
            const struct gf_point_op *const op = &program->op[i];
            if (op->kind >= GF_POINT_OVERLAY)
                gf_planes_layer(&program->layer[(int)op->d], pictures, colours, x, y, &planes);
            else if (op->kind == GF_POINT_NOISE)
                gf_planes_noise(op, colours, x, y, &planes);
            else if (op->kind >= GF_POINT_MIX)
                apply_position(stage, op, colours, x, y, &planes);
            else
                apply(program, op, &colours, &planes);
        }
        const int joined = is_rgb8(stage->out) ? gf_planes_join_rgb8(to, n, &planes) : 0;
        join_planes(to, stage->out, joined, n, &planes);
    }
}

void gf_point_cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                  void *scratch)
{
    (void)scratch;
    const struct gf_point_program *const program = stage->constants;
    const size_t width = (size_t)stage->in.width;
    const struct gf_picture *pictures[GF_STAGE_PICTURES_MAX];
    const bool is_plain =
        gf_stage_pictures(stage, pictures) && gf_layer_is_samplewise(program, stage->in, pictures);
    for (int y = out->y; y < out->y + out->rows; y++) {
        const uint8_t *const from = gf_view_row(in, y);
        uint8_t *const to = gf_view_row(out, y);
        if (is_plain)
            gf_layer_plain_row(&program->layer[0], &pictures[program->layer[0].source]->image, y,
                               stage->in, from, to);
        else if (program->table != GF_POINT_SAMPLES)
            evaluate_row(stage, pictures, from, to, y);
        else if (stage->in.bits == 8)
            map_row_8(program, from, to, width, stage->in.channels);
        else
            map_row_16(program, (const uint16_t *)from, (uint16_t *)to, width, stage->in.channels);
    }
}
