/* Evaluates point programs on the CPU. A program without operations maps whole rows through a
 * table; other programs are evaluated in pieces of a row, as planes of floats. */
#include <string.h>

#include "pixel/point/point_planes.h"

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

/* Evaluates a whole row of 16-bit RGB with vectors and returns its width, or returns 0. */
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

/* Evaluates the first pixels of a row of RGB in registers, if input and output have the same depth
 * and no planes are needed. Returns how many pixels it has evaluated. */
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
    return is_gray && ends && op[0].kind == GF_POINT_GRAY && gf_cpu_has(GF_CPU_VBMI)
               ? gf_planes_gray_rgb8(op, program->count, in, width, out)
               : 0;
}

/* The state that all rows of a call share. */
struct evaluation {
    struct gf_planes planes;
    const struct gf_stage *stage;
    const struct gf_picture *pictures[GF_STAGE_PICTURES_MAX];
    struct gf_mix mix;
    struct gf_layer_part part;
};

/* Applies the operations to n pixels, which are in the planes and begin at column x of row y. */
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
            gf_planes_layer(&program->layer[(int)op->d], evaluation->pictures, colours, x, y,
                            planes);
        else if (op->kind == GF_POINT_NOISE)
            gf_planes_noise(op, colours, x, y, planes);
        else if (op->kind >= GF_POINT_MIX)
            gf_planes_position(stage, op, colours, x, y, planes);
        else
            gf_planes_apply(program, op, &colours, planes);
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
        /* Pieces of a field must begin at multiples of GF_PIECE. Evaluating the same pixels twice
         * gives the same result. */
        x = mixes ? x / GF_PIECE * GF_PIECE : x;
        n = end - x < GF_PIECE ? end - x : GF_PIECE;
        if (n < GF_PIECE) /* clears the values of the piece before */
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

/* Whether rows without gaps between them can be processed as one long row, because positions do not
 * matter. The bytes of that row, and a vector after them, must not exceed an int. */
static bool are_one(const struct gf_stage *stage, const struct gf_view *in,
                    const struct gf_view *out)
{
    const size_t in_bytes = gf_row_bytes(stage->in), out_bytes = gf_row_bytes(stage->out);
    return in->pitch == in_bytes && out->pitch == out_bytes && !knows_position(stage->constants) &&
           (size_t)out->rows * (in_bytes > out_bytes ? in_bytes : out_bytes) < INT32_MAX - 64;
}

/* Whether 8-bit gray becomes RGB independently of the position, so that a table of 256 colours
 * suffices. */
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
    /* Clearing these 8 KB takes as long as a look-up. */
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
