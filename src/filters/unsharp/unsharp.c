/* unsharp: sharpens by adding the difference between the picture and its blurred version. */
#include "filters/unsharp/unsharp.h"

#include "base/cpu.h"
#include "pixel/sample.h"
#include "pixel/stencil.h"

static int unsharp_radius(const void *params)
{
    return gf_gauss_radius(((const struct gf_unsharp_params *)params)->sigma);
}

static enum gf_status unsharp_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_unsharp_params *const unsharp = stage->params;
    struct gf_unsharp *const constants = stage->constants;
    gf_gauss_init(&constants->gauss, unsharp->sigma);
    constants->border = unsharp->border;
    constants->onset = unsharp->onset;
    constants->amount = (float)unsharp->amount;
    constants->limit = (float)(unsharp->threshold * gf_sample_max(stage->in));
    return GF_OK;
}

GF_TARGET_CLONES static void sharpen8(const struct gf_unsharp *constants, const unsigned char *in,
                                      const uint32_t *sums, unsigned char *restrict out,
                                      size_t count)
{
    const float amount = constants->amount, limit = constants->limit;
    const int up = GF_GAUSS_SHIFT_MAX - constants->gauss.shift;
    if (constants->onset == GF_UNSHARP_SOFT) {
        for (size_t i = 0; i < count; i++) {
            const float blurred = gf_unsharp_blurred(sums[i] << up);
            const float v = gf_unsharp_soft((float)in[i], blurred, amount, limit);
            out[i] = (unsigned char)gf_round_flat(v, 255.0f);
        }
        return;
    }
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
    if (constants->onset == GF_UNSHARP_SOFT) {
        for (size_t i = 0; i < count; i++) {
            const float v = gf_unsharp_soft((float)in[i], blurred[i], amount, limit);
            out[i] = (uint16_t)gf_round_flat(v, 65535.0f);
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const float v = gf_unsharp_sample((float)in[i], blurred[i], amount, limit);
        out[i] = (uint16_t)gf_round_flat(v, 65535.0f);
    }
}

GF_TARGET_CLONES static void sharpen32(const struct gf_unsharp *constants, const float *in,
                                       const float *blurred, float *restrict out, size_t count)
{
    const float amount = constants->amount, limit = constants->limit;
    const bool is_soft = constants->onset == GF_UNSHARP_SOFT;
    for (size_t i = 0; i < count; i++)
        out[i] = is_soft ? gf_unsharp_soft(in[i], blurred[i], amount, limit)
                         : gf_unsharp_sample(in[i], blurred[i], amount, limit);
}

static void finish8(const struct gf_gauss_request *request, int row, size_t first, size_t count,
                    const uint32_t *sums)
{
    sharpen8(request->context, gf_view_row(request->in, row) + first, sums,
             gf_view_row(request->out, row) + first, count);
}

static void finish16(const struct gf_gauss_request *request, int row, size_t first, size_t count,
                     const float *blurred)
{
    if (request->in->format.bits == 32) {
        sharpen32(request->context, (const float *)gf_view_row(request->in, row) + first, blurred,
                  (float *)gf_view_row(request->out, row) + first, count);
        return;
    }
    sharpen16(request->context, (const gf_u16_any *)gf_view_row(request->in, row) + first, blurred,
              (gf_u16_any *)gf_view_row(request->out, row) + first, count);
}

static void unsharp_cpu(const struct gf_stage *stage, const struct gf_view *in,
                        const struct gf_view *out, void *scratch)
{
    const struct gf_unsharp *const constants = stage->constants;
    gf_gauss_blur(&(struct gf_gauss_request){
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

static enum gf_fusing unsharp_fuses(const void *params)
{
    return gf_gauss_fuses(unsharp_radius(params));
}

extern gf_launcher gf_unsharp_cuda, gf_unsharp_fused_cuda, gf_unsharp_floats_cuda;

const struct gf_filter gf_unsharp_filter = {
    .name = "unsharp",
    .names = "sharpen",
    .synonyms = "sharp usm adaptivesharpen smartsharp",
    .summary = "sharpens by unsharp masking",
    .definition =
        "v + amount * (v - blur(v)) where |v - blur(v)| exceeds threshold * M, else v; blur is "
        "the filter of that name, not rounded. With onset=soft, v + amount * s (|v - blur(v)| - "
        "threshold * M) there, with the sign s of v - blur(v).",
    GF_TAKES(
        struct gf_unsharp_params,
        GF_PARAM(struct gf_unsharp_params, sigma, 1, 0.1, 250,
                 "standard deviation of the blur, in pixels"),
        GF_PARAM(struct gf_unsharp_params, amount, 1, 0, 10, "how much of the difference is added"),
        GF_PARAM(struct gf_unsharp_params, threshold, 0, 0, 1,
                 "only differences above this part of the full scale are changed"),
        GF_PARAM_BORDER(struct gf_unsharp_params),
        GF_PARAM_CHOICE(
            struct gf_unsharp_params, onset, GF_UNSHARP_HARD, GF_WORDS("hard", "soft"),
            "hard: a difference above the threshold counts whole; soft: only what exceeds "
            "the threshold counts, so that grain near it shows no steps")),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .cost = {.pixel = 1.2, .row = 0.15},
    .radius = unsharp_radius,
    .columns = unsharp_radius,
    .constants_size = sizeof(struct gf_unsharp),
    .prepare = unsharp_prepare,
    .cpu_scratch = gf_gauss_cpu_scratch,
    .cuda_scratch = gf_gauss_cuda_scratch,
    .cpu = unsharp_cpu,
    .floats = unsharp_cpu,
    .floats_scratch = gf_gauss_cpu_scratch,
    .cpu_intrinsics = true,
    .cuda = GF_CUDA(
        {GF_VARIANT("best", gf_unsharp_cuda,
                    "strip where it takes the picture; tensor where that does and is known to be "
                    "faster: on compute capability 9.0, and on 8.x and 12.0 for a radius above "
                    "8; else tiled")}),
    .cuda_floats = GF_CUDA_FLOATS(gf_unsharp_floats_cuda, gf_gauss_floats_scratch),
    .fuses = unsharp_fuses,
    .cuda_fused = GF_LAUNCHER(gf_unsharp_fused_cuda),
};
