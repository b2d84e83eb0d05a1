/* blur: blurs by a Gaussian. */
#include "filters/blur/blur.h"

#include "base/cpu.h"
#include "pixel/gauss/gauss.h"
#include "pixel/stencil.h"

static int blur_radius(const void *params)
{
    const struct gf_blur_params *const blur = params;
    return blur->window ? blur->window : gf_gauss_radius(blur->sigma);
}

static enum gf_status blur_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_blur_params *const blur = stage->params;
    struct gf_blur *const constants = stage->constants;
    if (blur->window)
        gf_gauss_init_window(&constants->gauss, blur->window);
    else
        gf_gauss_init(&constants->gauss, blur->sigma);
    constants->border = blur->border;
    return GF_OK;
}

GF_TARGET_CLONES static void round_sums(unsigned char *restrict row, const uint32_t *sums,
                                        size_t count, int shift)
{
    const uint32_t half = 1u << (shift - 1);
    for (size_t i = 0; i < count; i++)
        row[i] = (unsigned char)((sums[i] + half) >> shift);
}

static void finish8(const struct gf_gauss_request *request, int row, size_t first, size_t count,
                    const uint32_t *sums)
{
    round_sums(gf_view_row(request->out, row) + first, sums, count,
               request->gauss->shift + GF_GAUSS_FRACTION);
}

static void finish16(const struct gf_gauss_request *request, int row, size_t first, size_t count,
                     const float *blurred)
{
    const int bits = request->out->format.bits;
    gf_floats_to_samples(blurred, bits, count,
                         gf_view_row(request->out, row) + (size_t)(bits / 8) * first);
}

static void blur_cpu(const struct gf_stage *stage, const struct gf_view *in,
                     const struct gf_view *out, void *scratch)
{
    const struct gf_blur *const constants = stage->constants;
    gf_gauss_blur(&(struct gf_gauss_request){
        .gauss = &constants->gauss,
        .border = constants->border,
        .in = in,
        .out = out,
        .scratch = scratch,
        .finish8 = finish8,
        .finish16 = finish16,
    });
}

/* With a large radius a tile has many more input rows than result rows. Applying a table to all of
 * them takes as long as a separate pass, so that nothing is fused. */
static enum gf_fusing blur_fuses(const void *params)
{
    const int radius = blur_radius(params);
    const int tables = radius <= GF_GAUSS_FUSED_MAX ? GF_FUSES_BOTH : GF_FUSES_NOTHING;
    return (enum gf_fusing)(tables | gf_gauss_fuses(radius));
}

extern gf_launcher gf_blur_cuda, gf_blur_stacked_cuda, gf_blur_fused_cuda, gf_blur_floats_cuda;

const struct gf_filter gf_blur_filter = {
    .name = "blur",
    .names = "gblur gaussblur gaussianblur",
    .synonyms = "gaussian gauss smooth",
    .summary = "Gaussian blur",
    .definition =
        "The weights are exp(-i^2 / (2 sigma^2)) for i = -r..r with r = ceil(3 sigma), normalised; "
        "columns first, then rows. 8 bits are computed in fixed point, 16 bits in floats.",
    GF_TAKES(struct gf_blur_params,
             GF_PARAM(struct gf_blur_params, sigma, 1.5, 0.1, 250, "standard deviation, in pixels"),
             GF_PARAM_BORDER(struct gf_blur_params)),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .within_alpha = true,
    .cost = {.pixel = 0.8, .row = 0.15},
    .radius = blur_radius,
    .columns = blur_radius,
    .constants_size = sizeof(struct gf_blur),
    .prepare = blur_prepare,
    .cpu_scratch = gf_gauss_cpu_scratch,
    .cuda_scratch = gf_gauss_cuda_scratch,
    .cpu = blur_cpu,
    .floats = blur_cpu,
    .floats_scratch = gf_gauss_cpu_scratch,
    .cpu_intrinsics = true,
    .cuda = GF_CUDA(
        {GF_VARIANT("best", gf_blur_cuda,
                    "strip where it takes the picture; tensor where that does and is known to be "
                    "faster: on compute capability 9.0, and on 8.x and 12.0 for a radius above 8; "
                    "else, and for some small pictures, tiled")}),
    .cuda_floats = GF_CUDA_FLOATS(gf_blur_floats_cuda, gf_gauss_floats_scratch),
    .fuses = blur_fuses,
    .cuda_fused = GF_LAUNCHER(gf_blur_fused_cuda),
    .cuda_stacked = GF_LAUNCHER(gf_blur_stacked_cuda),
};
