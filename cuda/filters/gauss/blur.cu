#include "cuda/filters/gauss/gauss.cuh"
#include "filters/blur.h"

struct rounded {
    static constexpr unsigned START = 1u << 23; /* a half: the sum has 24 fraction bits */
    static constexpr int BLOCKS = 3, BYTE = 3;
    static constexpr bool ORIGINAL = false;

    __device__ __forceinline__ unsigned sample8(unsigned sum, unsigned) const
    {
        return sum;
    }
    __device__ __forceinline__ unsigned sample16(float blurred, const unsigned short *) const
    {
        return round_bits(blurred, 65535.0f);
    }
    __device__ __forceinline__ unsigned sample16_near(float blurred, const unsigned short *) const
    {
        return __float_as_uint(raised_level(blurred));
    }
};

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
