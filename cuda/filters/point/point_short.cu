/* Chooses a kernel for a short program, where there is one. */
#include "cuda/filters/point/point_short_alpha.cuh"

typedef void short_kernel(struct short_run run);

/* The operations that a kernel is for, in their order. */
struct short_entry {
    int count, kind[3];
    bool adds_alpha, has_field;
    short_kernel *kernel;
};

static const struct short_entry entries[] = {
    {3,
     {GF_POINT_MATRIX, GF_POINT_ROW, GF_POINT_ROW},
     false,
     false,
     short8_kernel<short_colours<short_matrix>>},
    {1, {GF_POINT_VIBRANCE}, false, false, short8_kernel<short_colours<short_vibrance>>},
    {1, {GF_POINT_MIX}, false, true, short8_kernel<short_mix<false>>},
    {1, {GF_POINT_NOISE}, false, false, short8_kernel<short_noise<false>>},
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
    memcpy(run.op, program->op, sizeof run.op);
    run.curve = (const float *)((const char *)launch->constants + program->field_at);
    run.columns = run.curve + GF_POINT_CURVE_ROOM;
    run.rows = run.columns + gf_point_field_columns(stage->in.width);
    run.zero_until = program->field_zero;
    run.first_row = (unsigned)launch->out.y;
    run.exponent = SHORT_EXPONENT;
    run.odd = SHORT_ODD;
    const unsigned blocks = blocks_for((unsigned)run.band.rows * run.row_tiles, SHORT_WARPS);
    const struct gf_point_op &op = run.op[0];
    const bool is_normal = op.kind == GF_POINT_NOISE && op.b != 0.0f;
    const bool is_black = op.kind == GF_POINT_MIX && op.a == 0.0f && op.b == 0.0f && op.c == 0.0f;
    short_kernel *const kernel = is_normal  ? short8_kernel<short_noise<true>>
                                 : is_black ? short8_kernel<short_mix<true>>
                                            : entry->kernel;
    kernel<<<blocks, SHORT_WARPS * WARP, 0, (cudaStream_t)launch->stream>>>(run);
    return cudaGetLastError();
}
