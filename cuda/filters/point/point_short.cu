/* Chooses a kernel for a short program, if there is one. */
#include "cuda/filters/point/point_short.cuh"

typedef void short_kernel(struct short_args args);

/* The property of a field's values that a kernel requires. */
enum short_field { NO_FIELD, A_PART, A_DITHER };

/* A kernel and the operations that it runs, in their order. */
struct short_entry {
    int count, kind[3];
    bool adds_alpha;
    enum short_field field;
    short_kernel *kernel; /* NULL: kernel_of() chooses */
};

static const struct short_entry entries[] = {
    {3,
     {GF_POINT_MATRIX, GF_POINT_ROW, GF_POINT_ROW},
     false,
     NO_FIELD,
     short8_kernel<short_colours<short_matrix>>},
    {1, {GF_POINT_VIBRANCE}, false, NO_FIELD, short8_kernel<short_colours<short_vibrance>>},
    {1, {GF_POINT_MIX}, false, A_PART, NULL},
    {2, {GF_POINT_ADD, GF_POINT_QUANTIZE}, false, A_DITHER, short8_kernel<short_dither>},
    {1, {GF_POINT_NOISE}, false, NO_FIELD, NULL},
    {2, {GF_POINT_OPAQUE, GF_POINT_FADE}, true, A_PART, short8_alpha_kernel<short_fade>},
    {2, {GF_POINT_OPAQUE, GF_POINT_KEY}, true, NO_FIELD, short8_alpha_kernel<short_key>},
};

static bool is_for(const struct short_entry *entry, const struct gf_stage *stage,
                   const struct gf_point_program *program)
{
    bool same =
        program->count == entry->count && program->table == GF_POINT_NO_TABLE &&
        (entry->kind[0] == GF_POINT_MIX || (stage->in.channels == 3 && stage->in.bits == 8)) &&
        stage->out.bits == stage->in.bits &&
        stage->out.channels == stage->in.channels + entry->adds_alpha &&
        (entry->field != A_PART || program->field_is_part) &&
        (entry->field != A_DITHER || program->field_dithers);
    for (int i = 0; same && i < entry->count; i++)
        same = program->op[i].kind == entry->kind[i];
    return same;
}

template <typename SAMPLE, int CHANNELS>
static short_kernel *mix_kernel_of(const struct gf_point_op &op)
{
    constexpr bool RGB8 = sizeof(SAMPLE) == 1 && CHANNELS == 3;
    if (RGB8 && op.a == 0.0f && op.b == 0.0f && op.c == 0.0f)
        return short8_kernel<short_mix<SAMPLE, CHANNELS, RGB8>>;
    return short8_kernel<short_mix<SAMPLE, CHANNELS, false>>;
}

static short_kernel *kernel_of(const struct short_entry *entry, const struct gf_point_op &op,
                               struct gf_format format)
{
    static short_kernel *(*const mix[2][4])(const struct gf_point_op &) = {
        {mix_kernel_of<uint8_t, 1>, mix_kernel_of<uint8_t, 2>, mix_kernel_of<uint8_t, 3>,
         mix_kernel_of<uint8_t, 4>},
        {mix_kernel_of<uint16_t, 1>, mix_kernel_of<uint16_t, 2>, mix_kernel_of<uint16_t, 3>,
         mix_kernel_of<uint16_t, 4>}};
    const bool same = op.d != 0.0f;
    if (op.kind == GF_POINT_NOISE && op.b != 0.0f)
        return same ? short8_kernel<short_noise<true, true>>
                    : short8_kernel<short_noise<true, false>>;
    if (op.kind == GF_POINT_NOISE)
        return same ? short8_kernel<short_noise<false, true>>
                    : short8_kernel<short_noise<false, false>>;
    if (op.kind == GF_POINT_MIX)
        return mix[format.bits == 16][format.channels - 1](op);
    return entry->kernel;
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
    short_kernel *const kernel = kernel_of(entry, args.op[0], stage->in);
    return launch_early(kernel, blocks, SHORT_WARPS * WARP, 0, (cudaStream_t)launch->stream, args);
}
