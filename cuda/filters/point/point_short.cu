/* Chooses a kernel for a short program of point operations, if point_short.cuh has one for its
 * operations. */
#include "cuda/filters/point/point_short.cuh"

typedef void short_kernel(struct short_args args);

/* The property of a field's values that a kernel requires. */
enum short_field { NO_FIELD, A_PART, A_DITHER };

/* Variants of a kernel, chosen by the parameters of a program's first operation: see
 * variant_of(). */
enum short_variant { ANY = -1, BLACK = 1, NORMAL = 1, SAME = 2 };

/* A list that has a kernel of its own. */
struct short_entry {
    int count, kind[3]; /* the operations, in their order */
    int channels, bits; /* of the input */
    bool adds_alpha;
    enum short_field field;
    int variant;
    short_kernel *kernel;
};

/* clang-format off */
#define RGB8 3, 8
#define MIX(channels, bits) \
    {1, {GF_POINT_MIX}, channels, bits, false, A_PART, ANY, short8_kernel<short_mix<uint##bits##_t, channels, false>>}
#define NOISE(normal, same) \
    {1, {GF_POINT_NOISE}, RGB8, false, NO_FIELD, normal * NORMAL | same * SAME, short8_kernel<short_noise<normal, same>>}
static const struct short_entry entries[] = {
    {3, {GF_POINT_MATRIX, GF_POINT_ROW, GF_POINT_ROW}, RGB8, false, NO_FIELD, ANY, short8_kernel<short_colours<short_matrix>>},
    {1, {GF_POINT_VIBRANCE}, RGB8, false, NO_FIELD, ANY, short8_kernel<short_colours<short_vibrance>>},
    {1, {GF_POINT_MIX}, RGB8, false, A_PART, BLACK, short8_kernel<short_mix<uint8_t, 3, true>>},
    MIX(1, 8), MIX(2, 8), MIX(3, 8), MIX(4, 8), MIX(1, 16), MIX(2, 16), MIX(3, 16), MIX(4, 16),
    {2, {GF_POINT_ADD, GF_POINT_QUANTIZE}, RGB8, false, A_DITHER, ANY, short8_kernel<short_dither>},
    NOISE(false, false), NOISE(false, true), NOISE(true, false), NOISE(true, true),
    {2, {GF_POINT_OPAQUE, GF_POINT_FADE}, RGB8, true, A_PART, ANY, short8_alpha_kernel<short_fade>},
    {2, {GF_POINT_OPAQUE, GF_POINT_KEY}, RGB8, true, NO_FIELD, ANY, short8_alpha_kernel<short_key>},
};
/* clang-format on */

static int variant_of(const struct gf_point_op &op)
{
    if (op.kind == GF_POINT_MIX)
        return op.a == 0.0f && op.b == 0.0f && op.c == 0.0f ? BLACK : 0;
    return (op.b != 0.0f ? NORMAL : 0) | (op.d != 0.0f ? SAME : 0); /* for NOISE */
}

static bool is_for(const struct short_entry *entry, const struct gf_stage *stage,
                   const struct gf_point_program *program)
{
    bool same = program->count == entry->count && program->table == GF_POINT_NO_TABLE &&
                stage->in.channels == entry->channels && stage->in.bits == entry->bits &&
                stage->out.bits == entry->bits &&
                stage->out.channels == entry->channels + entry->adds_alpha &&
                (entry->field != A_PART || program->field_is_part) &&
                (entry->field != A_DITHER || program->field_dithers) &&
                (entry->variant == ANY || entry->variant == variant_of(program->op[0]));
    for (int i = 0; same && i < entry->count; i++)
        same = program->op[i].kind == entry->kind[i];
    return same;
}

/* Finds the scale and the offset by which each level becomes the sample that gf_point_quantize_of()
 * and rounding give. Returns false if there are no such numbers, or if more than half a step is
 * added. */
static bool find_levels(const struct gf_point_op *op, struct short_args *args)
{
    const struct gf_point_op &add = op[0], &quantize = op[1];
    const int last = (int)(quantize.max * quantize.a + 0.5f);
    bool found = false;
    args->scale = (unsigned)(0x1p24 * (double)quantize.b + 0.5);
    for (int below = 0; !found && below < 2; below++) { /* a half is rounded up, or down */
        const unsigned half = (1u << 23) + (below ? -(1u << 7) : 1u << 7);
        found = add.a * quantize.a < 1.001f;
        for (int level = 0; found && level <= last; level++)
            found = ((unsigned)level * args->scale + half) >> 24 ==
                    (unsigned)(gf_clamp((float)level * quantize.b, quantize.max) + 0.5f);
        args->offset = half - SHORT_EXPONENT * args->scale;
    }
    return found;
}

/* Returns cudaErrorNotSupported if no kernel runs the program. */
extern "C" int gf_point_short_cuda(const struct gf_launch *launch)
{
    const struct gf_stage *const stage = launch->stage;
    const struct gf_point_program *const program =
        (const struct gf_point_program *)stage->constants;
    const struct short_entry *entry = NULL;
    for (size_t i = 0; !entry && i < sizeof entries / sizeof *entries; i++)
        entry = is_for(&entries[i], stage, program) ? &entries[i] : NULL;
    if (!entry)
        return cudaErrorNotSupported;
    struct short_args args = {};
    args.band = aligned_views(launch);
    args.row_tiles = blocks_for(args.band.width, TILE);
    args.row_inverse = UINT_MAX / args.row_tiles;
    memcpy(args.op, program->op, sizeof args.op);
    const float *const curve = (const float *)((const char *)launch->constants + program->field_at);
    args.curve = (size_t)curve - sizeof(float) * (size_t)SHORT_EXPONENT;
    args.columns = curve + GF_POINT_CURVE_ROOM;
    args.rows = args.columns + gf_point_field_columns(stage->in.width);
    args.zero_until = program->field_zero;
    args.first_row = (unsigned)launch->out.y;
    args.exponent = SHORT_EXPONENT;
    args.odd = SHORT_ODD;
    if (entry->field == A_DITHER && !find_levels(args.op, &args))
        return cudaErrorNotSupported;
    const unsigned blocks = blocks_for((unsigned)args.band.rows * args.row_tiles, SHORT_WARPS);
    return launch_early(entry->kernel, blocks, SHORT_WARPS * WARP, 0, launch->stream, args);
}
