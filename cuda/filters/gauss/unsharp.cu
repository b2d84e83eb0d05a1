#include "cuda/filters/gauss/gauss.cuh"
#include "filters/unsharp.h"

struct sharpened {
    static constexpr unsigned START = 0;
    static constexpr int BLOCKS = 2, BYTE = 0;
    static constexpr bool ORIGINAL = true;
    float amount, limit;

    /* gf_unsharp_blurred with float_of() for its conversion. */
    __device__ __forceinline__ unsigned sample8(unsigned sum, unsigned original) const
    {
        const float blurred = float_of(sum >> GF_UNSHARP_DROP) * (1.0f / 32768.0f);
        return round_bits(gf_unsharp_sample(float_of(original), blurred, amount, limit), 255.0f);
    }
    __device__ __forceinline__ unsigned sample16(float blurred, const unsigned short *in) const
    {
        return round_bits(gf_unsharp_sample(float_of(*in), blurred, amount, limit), 65535.0f);
    }
    __device__ __forceinline__ unsigned sample16_near(float blurred, const unsigned short *in) const
    {
        return sample16(blurred, in);
    }
};

static struct sharpened sharpened_of(const struct gf_unsharp *unsharp)
{
    struct sharpened finish;
    finish.amount = unsharp->amount;
    finish.limit = unsharp->limit;
    return finish;
}

extern "C" int gf_unsharp_cuda(const struct gf_launch *launch)
{
    const struct gf_unsharp *const unsharp = (const struct gf_unsharp *)launch->stage->constants;
    return launch_best_gauss(launch, &unsharp->gauss, unsharp->border, sharpened_of(unsharp));
}

extern "C" int gf_unsharp_tiled_cuda(const struct gf_launch *launch)
{
    const struct gf_unsharp *const unsharp = (const struct gf_unsharp *)launch->stage->constants;
    return launch_gauss(launch, &unsharp->gauss, unsharp->border, sharpened_of(unsharp));
}

extern "C" int gf_unsharp_strip_cuda(const struct gf_launch *launch)
{
    const struct gf_unsharp *const unsharp = (const struct gf_unsharp *)launch->stage->constants;
    return launch_strip16(launch, view_pair_of(launch, unsharp->border), &unsharp->gauss,
                          sharpened_of(unsharp));
}

extern "C" int gf_unsharp_tensor_cuda(const struct gf_launch *launch)
{
    const struct gf_unsharp *const unsharp = (const struct gf_unsharp *)launch->stage->constants;
    return launch_mma(launch, &unsharp->gauss, unsharp->border, sharpened_of(unsharp));
}
