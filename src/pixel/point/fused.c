#include "pixel/point/fused.h"

#include <string.h>

#include "pixel/float_stage.h"

static const struct gf_stage *stencil_of(const void *params)
{
    return &((const struct gf_fused_stages *)params)->part[GF_FUSED_STENCIL];
}

struct gf_stage gf_fused_part(const struct gf_stage *stage, enum gf_fused_part part)
{
    struct gf_stage found = ((const struct gf_fused_stages *)stage->params)->part[part];
    found.constants =
        (char *)stage->constants + ((const struct gf_fused *)stage->constants)->at[part];
    return found;
}

/* Finds the format of the result, which has the sides of the stencil's result and the depth of the
 * last part's. */
static enum gf_status fused_shape(const void *params, struct gf_format in, struct gf_format *out,
                                  struct gf_error *error)
{
    const struct gf_fused_stages *const stages = params;
    *out =
        stages->part[stages->part[GF_FUSED_AFTER].filter ? GF_FUSED_AFTER : GF_FUSED_STENCIL].out;
    return GF_OK;
}

static enum gf_status fused_prepare(struct gf_stage *stage, struct gf_error *error)
{
    struct gf_fused_stages stages = *(const struct gf_fused_stages *)stage->params;
    struct gf_fused header = {{0}};
    return gf_stage_prepare_parts(stage, stages.part, GF_FUSED_PARTS, header.at, sizeof header,
                                  error);
}

static void fused_input_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    gf_stage_input_rows(stencil_of(stage->params), y0, y1, first, end);
}

static bool fused_needs_whole(const void *params)
{
    return gf_stage_needs_whole(stencil_of(params));
}

/* Returns the most rows that the stencil reads for `rows` rows of the result. */
static int rows_read(const struct gf_stage *stage, int rows)
{
    const struct gf_stage *const stencil = stencil_of(stage->params);
    const int reach = gf_stage_radius(stencil), height = stage->in.height;
    return stencil->filter->input_rows_most ? stencil->filter->input_rows_most(stencil, rows)
           : gf_stage_rows_known(stencil) && rows < height - 2 * reach ? rows + 2 * reach
                                                                       : height;
}

/* Returns the bytes of the stencil's input for `rows` rows of the result, if a part before it makes
 * that. */
static size_t read_bytes(const struct gf_stage *stage, int rows)
{
    const struct gf_fused_stages *const stages = stage->params;
    return stages->part[GF_FUSED_BEFORE].filter
               ? (size_t)rows_read(stage, rows) *
                     gf_part_bytes(gf_row_bytes(stages->part[GF_FUSED_STENCIL].in))
               : 0;
}

/* Returns the bytes of the stencil's result, if the part after it cannot work in place; 0 if it
 * can, since it keeps the format. */
static size_t written_bytes(const struct gf_stage *stage, int rows)
{
    const struct gf_format made = stencil_of(stage->params)->out;
    return made.bits == stage->out.bits ? 0 : (size_t)rows * gf_part_bytes(gf_row_bytes(made));
}

static size_t middle_bytes(const struct gf_stage *stage, int rows)
{
    return read_bytes(stage, rows) + written_bytes(stage, rows);
}

size_t gf_fused_middle(const struct gf_stage *stage, const struct gf_view *out, void *scratch,
                       struct gf_fused_middle *middle)
{
    const struct gf_format read = stencil_of(stage->params)->in;
    const struct gf_format written = stencil_of(stage->params)->out;
    const struct gf_rows made = {out->y, out->y + out->rows};
    const size_t used = read_bytes(stage, out->rows);
    struct gf_rows rows;
    gf_stage_input_rows(stage, made.first, made.end, &rows.first, &rows.end);
    middle->read = gf_view_make(scratch, gf_part_bytes(gf_row_bytes(read)), read, rows);
    middle->written = !written_bytes(stage, out->rows)
                          ? *out
                          : gf_view_make((unsigned char *)scratch + used,
                                         gf_part_bytes(gf_row_bytes(written)), written, made);
    return middle_bytes(stage, out->rows);
}

static size_t fused_cpu_scratch(const struct gf_stage *stage, int rows)
{
    const struct gf_fused_stages *const stages = stage->params;
    size_t most = 0;
    for (int i = 0; i < GF_FUSED_PARTS; i++) {
        const struct gf_stage *const part = &stages->part[i];
        const int made = i == GF_FUSED_BEFORE ? rows_read(stage, rows) : rows;
        const size_t bytes = part->filter ? gf_stage_cpu_scratch(part, made) : 0;
        most = bytes > most ? bytes : most;
    }
    return middle_bytes(stage, rows) + most;
}

static size_t separate_cuda_scratch(const struct gf_stage *stage, int rows)
{
    const struct gf_stage *const stencil = stencil_of(stage->params);
    return middle_bytes(stage, rows) + gf_stage_cuda_scratch(stencil, rows);
}

/* Returns the device's scratch memory. Kernels that may read the whole input take every launch (see
 * cuda_fused), so that they need no memory between the parts. */
static size_t fused_cuda_scratch(const struct gf_stage *stage, int rows)
{
    return gf_stage_rows_known(stencil_of(stage->params)) ? separate_cuda_scratch(stage, rows) : 0;
}

static void fused_cpu(const struct gf_stage *stage, const struct gf_view *in,
                      const struct gf_view *out, void *scratch)
{
    const struct gf_stage before = gf_fused_part(stage, GF_FUSED_BEFORE);
    const struct gf_stage stencil = gf_fused_part(stage, GF_FUSED_STENCIL);
    const struct gf_stage after = gf_fused_part(stage, GF_FUSED_AFTER);
    struct gf_fused_middle middle;
    const size_t used = gf_fused_middle(stage, out, scratch, &middle);
    void *const own = (char *)scratch + used;
    if (before.filter)
        gf_stage_cpu(&before, in, &middle.read, own);
    gf_stage_cpu(&stencil, before.filter ? &middle.read : in, &middle.written, own);
    if (after.filter)
        gf_stage_cpu(&after, &middle.written, out, own);
}

extern gf_launcher gf_fused_cuda, gf_fused_separate_cuda;

const struct gf_filter gf_fused = {
    .name = "fused",
    .summary = "a stencil and the point filters beside it",
    .params_size = sizeof(struct gf_fused_stages),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .shape = fused_shape,
    .input_rows = fused_input_rows,
    .needs_whole = fused_needs_whole,
    .prepare = fused_prepare,
    .cpu_scratch = fused_cpu_scratch,
    .cuda_scratch = fused_cuda_scratch,
    .cpu = fused_cpu,
    .cpu_intrinsics = true,
    .cuda = GF_CUDA({GF_VARIANT("fused", gf_fused_cuda,
                                "tables in shared memory for what the stencil reads and writes, "
                                "or colour times alpha in registers; where it has no such "
                                "kernel, as separate")},
                    {GF_VARIANT("separate", gf_fused_separate_cuda,
                                "a kernel for each part, through global memory (Best Practices "
                                "9.2.1)"),
                     .scratch = separate_cuda_scratch}),
    .cuda_floats = GF_CUDA_FLOATS(gf_fused_cuda, fused_cuda_scratch),
};
