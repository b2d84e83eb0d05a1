#include "base/target_clones.h"
#include "pixel/gauss_rows.h"
#include "pixel/stencil.h"
#include "pixel/stencils.h"
#include "stage/border.h"

struct unsharp {
    double sigma, amount, threshold;
    int border;
};

static const struct gf_param unsharp_params[] = {
    GF_PARAM(struct unsharp, sigma, 1, 0.1, 250, "standard deviation of the blur, in pixels"),
    GF_PARAM(struct unsharp, amount, 1, 0, 10, "how much of the difference is added"),
    GF_PARAM(struct unsharp, threshold, 0, 0, 1,
             "differences up to this are left alone, as a part of the full scale"),
    GF_PARAM_BORDER(struct unsharp),
    {0},
};

static bool unsharp_whole(const void *params)
{
    return ((const struct unsharp *)params)->border == GF_BORDER_WRAP;
}

static void unsharp_needs(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    const struct unsharp *const unsharp = stage->params;
    gf_needs_radius(stage, gf_gauss_radius(unsharp->sigma), unsharp->border, y0, y1, first, end);
}

static enum gf_status unsharp_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct unsharp *const unsharp = stage->params;
    const enum gf_status status = gf_stage_constants(stage, sizeof(struct gf_unsharp), error);
    if (status)
        return status;
    struct gf_unsharp *const constants = stage->constants;
    gf_gauss_init(&constants->gauss, unsharp->sigma);
    constants->border = unsharp->border;
    constants->amount = (float)unsharp->amount;
    constants->limit = (float)(unsharp->threshold * (stage->in.bits == 8 ? 255 : 65535));
    return GF_OK;
}

static size_t unsharp_scratch(const struct gf_stage *stage, int rows)
{
    const struct unsharp *const unsharp = stage->params;
    (void)rows;
    return gf_gauss_scratch(stage->in, gf_gauss_radius(unsharp->sigma));
}

static size_t unsharp_device_scratch(const struct gf_stage *stage, int rows)
{
    const struct unsharp *const unsharp = stage->params;
    return gf_gauss_device_scratch(stage->in, gf_gauss_radius(unsharp->sigma), rows);
}

GF_TARGET_CLONES static void sharpen8(const struct gf_unsharp *constants, const unsigned char *in,
                               const uint32_t *sums, unsigned char *restrict out, size_t count)
{
    const float amount = constants->amount, limit = constants->limit;
    const int up = GF_GAUSS_SHIFT_MAX - constants->gauss.shift;
    for (size_t i = 0; i < count; i++) {
        const float blurred = gf_unsharp_blurred(sums[i] << up);
        const float v = gf_unsharp_sample((float)in[i], blurred, amount, limit);
        out[i] = (unsigned char)gf_round_flat(v, 255.0f);
    }
}

GF_TARGET_CLONES static void sharpen16(const struct gf_unsharp *constants, const gf_u16_any *in,
                                const float *blurred, gf_u16_any *restrict out, size_t count)
{
    const float amount = constants->amount, limit = constants->limit;
    for (size_t i = 0; i < count; i++) {
        const float v = gf_unsharp_sample((float)in[i], blurred[i], amount, limit);
        out[i] = (uint16_t)gf_round_flat(v, 65535.0f);
    }
}

static void finish8(const struct gf_gauss_request *job, int row, size_t first, size_t count,
                    const uint32_t *sums)
{
    sharpen8(job->context, gf_view_row(job->in, row) + first, sums,
             gf_view_row(job->out, row) + first, count);
}

static void finish16(const struct gf_gauss_request *job, int row, size_t first, size_t count,
                     const float *blurred)
{
    sharpen16(job->context, (const gf_u16_any *)gf_view_row(job->in, row) + first, blurred,
              (gf_u16_any *)gf_view_row(job->out, row) + first, count);
}

static void unsharp_cpu(const struct gf_stage *stage, const struct gf_view *in,
                        const struct gf_view *out, void *scratch)
{
    const struct gf_unsharp *const constants = stage->constants;
    gf_gauss_run(&(struct gf_gauss_request){
        .gauss = &constants->gauss,
        .border = constants->border,
        .in = in,
        .out = out,
        .scratch = scratch,
        .context = constants,
        .finish8 = finish8,
        .finish16 = finish16,
    });
}

extern gf_launcher gf_unsharp_cuda;

const struct gf_filter gf_unsharp_filter = {
    .name = "unsharp",
    .summary = "sharpens by unsharp masking",
    .definition =
        "v + amount * (v - blur(v)) where |v - blur(v)| exceeds threshold * M, else v; blur is "
        "the filter of that name, not rounded.",
    .params = unsharp_params,
    .params_size = sizeof(struct unsharp),
    .kind = GF_STENCIL,
    .whole = unsharp_whole,
    .needs = unsharp_needs,
    .prepare = unsharp_prepare,
    .cpu_scratch = unsharp_scratch,
    .cuda_scratch = unsharp_device_scratch,
    .cpu = unsharp_cpu,
    .cpu_intrinsics = true,
    .cuda = GF_CUDA(
        {GF_VARIANT("tiled", gf_unsharp_cuda, "columns in registers, rows through shared memory")}),
};
