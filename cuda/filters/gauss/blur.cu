#include "cuda/filters/gauss/blur.cuh"
#include "cuda/filters/gauss/gauss.cuh"

extern "C" int gf_blur_cuda(const struct gf_launch *launch)
{
    const struct gf_blur *const blur = (const struct gf_blur *)launch->stage->constants;
    return launch_best_gauss(launch, &blur->gauss, blur->border, rounded());
}

extern "C" int gf_blur_tiled_cuda(const struct gf_launch *launch)
{
    const struct gf_blur *const blur = (const struct gf_blur *)launch->stage->constants;
    return launch_gauss(launch, &blur->gauss, blur->border, rounded());
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
