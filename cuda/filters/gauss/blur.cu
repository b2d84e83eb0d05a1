#include "cuda/filters/gauss/blur.cuh"
#include "cuda/filters/gauss/gauss.cuh"

extern "C" int gf_blur_cuda(const struct gf_launch *launch)
{
    const struct gf_blur *const blur = (const struct gf_blur *)launch->stage->constants;
    const bool bytes = launch->in.format.bits == 8;
    if (tiles_are_faster(launch, &blur->gauss, bytes ? 300000 : 0, bytes ? 800000 : 600000))
        return launch_gauss(launch, &blur->gauss, blur->border, rounded());
    return launch_best_gauss(launch, &blur->gauss, blur->border, rounded());
}

extern "C" int gf_blur_tiled_cuda(const struct gf_launch *launch)
{
    const struct gf_blur *const blur = (const struct gf_blur *)launch->stage->constants;
    return launch_gauss(launch, &blur->gauss, blur->border, rounded());
}

/* The pictures of a stack are small: a large one fills the device alone, and other kernels are
 * faster then. */
extern "C" int gf_blur_stacked_cuda(const struct gf_launch *launch)
{
    enum { PIXELS_MOST = 1 << 19 };
    const struct gf_blur *const blur = (const struct gf_blur *)launch->stage->constants;
    const struct gf_format format = launch->out.format;
    return !launch->stack.in && blur->gauss.radius <= GF_GAUSS_FUSED_MAX &&
                   launch->stack.count <= GRID_ROWS_MAX &&
                   format.width * format.height <= PIXELS_MOST
               ? gf_blur_tiled_cuda(launch)
               : (int)cudaErrorNotSupported;
}

extern "C" int gf_blur_strip_cuda(const struct gf_launch *launch)
{
    const struct gf_blur *const blur = (const struct gf_blur *)launch->stage->constants;
    return launch_strip16(launch, view_pair_of(launch, blur->border), &blur->gauss, rounded());
}

extern "C" int gf_blur_tensor_cuda(const struct gf_launch *launch)
{
    const struct gf_blur *const blur = (const struct gf_blur *)launch->stage->constants;
    return launch_mma(launch, &blur->gauss, blur->border, rounded());
}
