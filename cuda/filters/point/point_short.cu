/* Chooses a kernel for a short program, where there is one. */
#include "cuda/filters/point/point_short_alpha.cuh"

typedef void short_kernel(struct short_run run);

/* The operations that a kernel is for, in their order. */
struct short_entry {
    int count, kind[3];
    bool adds_alpha, has_field;
    short_kernel *kernel; /* NULL: kernel_of() chooses */
};

static const struct short_entry entries[] = {
    {3,
     {GF_POINT_MATRIX, GF_POINT_ROW, GF_POINT_ROW},
     false,
     false,
     short8_kernel<short_colours<short_matrix>>},
    {1, {GF_POINT_VIBRANCE}, false, false, short8_kernel<short_colours<short_vibrance>>},
    {1, {GF_POINT_MIX}, false, true, short8_kernel<short_mix<false>>},
    {1, {GF_POINT_NOISE}, false, false, NULL},
    {2, {GF_POINT_OPAQUE, GF_POINT_FADE}, true, true, short8_alpha_kernel<short_fade>},
    {2, {GF_POINT_OPAQUE, GF_POINT_KEY}, true, false, short8_alpha_kernel<short_key>},
};

static bool is_for(const struct short_entry *entry, const struct gf_stage *stage,
                   const struct gf_point_program *program)
{
    bool same = program->count == entry->count && program->table == GF_POINT_NO_TABLE &&
                stage->in.channels == 3 && stage->in.bits == 8 && stage->out.bits == 8 &&
                stage->out.channels == (entry->adds_alpha ? 4 : 3) &&
                (!entry->has_field || program->field_is_part);
    for (int i = 0; same && i < entry->count; i++)
        same = program->op[i].kind == entry->kind[i];
    return same;
}

static short_kernel *kernel_of(const struct short_entry *entry, const struct gf_point_op &op)
{
    const bool same = op.d != 0.0f;
    if (op.kind == GF_POINT_NOISE && op.b != 0.0f)
        return same ? short8_kernel<short_noise<true, true>>
                    : short8_kernel<short_noise<true, false>>;
    if (op.kind == GF_POINT_NOISE)
        return same ? short8_kernel<short_noise<false, true>>
                    : short8_kernel<short_noise<false, false>>;
    if (op.kind == GF_POINT_MIX && op.a == 0.0f && op.b == 0.0f && op.c == 0.0f)
        return short8_kernel<short_mix<true>>;
    return entry->kernel;
}

/* cudaErrorNotSupported where there is no such kernel. */
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
    struct short_run run = {};
    run.band = aligned_views(launch);
    run.row_tiles = blocks_for(run.band.width, TILE);
    run.row_inverse = UINT_MAX / run.row_tiles;
    memcpy(run.op, program->op, sizeof run.op);
    const float *const curve = (const float *)((const char *)launch->constants + program->field_at);
    run.curve = (size_t)curve - sizeof(float) * (size_t)SHORT_EXPONENT;
    run.columns = curve + GF_POINT_CURVE_ROOM;
    run.rows = run.columns + gf_point_field_columns(stage->in.width);
    run.zero_until = program->field_zero;
    run.first_row = (unsigned)launch->out.y;
    run.exponent = SHORT_EXPONENT;
    run.odd = SHORT_ODD;
    const unsigned blocks = blocks_for((unsigned)run.band.rows * run.row_tiles, SHORT_WARPS);
    short_kernel *const kernel = kernel_of(entry, run.op[0]);
    return launch_early(kernel, blocks, SHORT_WARPS * WARP, 0, (cudaStream_t)launch->stream, run);
}
