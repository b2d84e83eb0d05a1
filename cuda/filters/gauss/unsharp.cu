#include "cuda/filters/gauss/gauss.cuh"
#include "filters/unsharp/unsharp.h"

template <bool SOFT> struct sharpened_by {
    static constexpr unsigned START = 0;
    static constexpr int BLOCKS = 2, BYTE = 0;
    static constexpr bool ORIGINAL = true;
    float amount, limit;

    __device__ __forceinline__ float sharpen(float v, float blurred) const
    {
        return SOFT ? gf_unsharp_soft(v, blurred, amount, limit)
                    : gf_unsharp_sample(v, blurred, amount, limit);
    }

    /* `blurred` is what gf_unsharp_blurred() returns; float_of() does its conversion. */
    __device__ __forceinline__ unsigned sample8(unsigned sum, unsigned original) const
    {
        const float blurred = float_of(sum >> GF_UNSHARP_DROP) * (1.0f / 32768.0f);
        return round_bits(sharpen(float_of(original), blurred), 255.0f);
    }
    __device__ __forceinline__ unsigned four(const unsigned sum[4], unsigned originals) const
    {
        unsigned v[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            v[i] = sample8(sum[i], originals >> 8 * i & 255);
        return pack_bytes<BYTE>(v[0], v[1], v[2], v[3]);
    }
    __device__ __forceinline__ unsigned sample16(float blurred, const unsigned short *in) const
    {
        return round_bits(sharpen(float_of(*in), blurred), 65535.0f);
    }
    __device__ __forceinline__ unsigned sample16_near(float blurred, const unsigned short *in) const
    {
        return sample16(blurred, in);
    }
};
typedef sharpened_by<false> sharpened;

/* Computes unsharp in integers, without rounding before the end: without a threshold, and for an
 * amount that is `twice` / 2. The difference has 15 fraction bits and its product 16. A product of
 * 256 or more, which has too many bits for a float, gives 0 or 255 in any case. All combinations of
 * sums, samples and such amounts were tested. */
struct sharpened_whole {
    static constexpr unsigned START = 0;
    static constexpr int BLOCKS = 2, BYTE = 0;
    static constexpr bool ORIGINAL = true;
    unsigned twice;

    /* Returns the result in the upper half of the word, before clamping. `scaled` is (2 + twice)
     * original + 1. */
    __device__ __forceinline__ unsigned sharpen(unsigned sum, unsigned scaled) const
    {
        return (scaled << 15) - twice * (sum >> GF_UNSHARP_DROP);
    }
    __device__ __forceinline__ unsigned sample8(unsigned sum, unsigned original) const
    {
        const int result = (int)sharpen(sum, (2 + twice) * original + 1) >> 16;
        return (unsigned)min(max(result, 0), 255);
    }
    __device__ __forceinline__ unsigned two(const unsigned sum[2], unsigned originals,
                                            unsigned factor) const
    {
        const unsigned first = sharpen(sum[0], __dp4a(originals, factor, 1u));
        const unsigned second = sharpen(sum[1], __dp4a(originals, factor << 8, 1u));
        return __vimin_s16x2_relu(__byte_perm(first, second, 0x7632), 0x00FF00FFu);
    }
    __device__ __forceinline__ unsigned four(const unsigned sum[4], unsigned originals) const
    {
        const unsigned factor = 2 + twice;
        return __byte_perm(two(sum, originals, factor), two(sum + 2, originals, factor << 16),
                           0x6420);
    }
};

template <bool SOFT = false>
static sharpened_by<SOFT> sharpened_of(const struct gf_unsharp *unsharp)
{
    sharpened_by<SOFT> finish;
    finish.amount = unsharp->amount;
    finish.limit = unsharp->limit;
    return finish;
}

static bool is_whole(const struct gf_unsharp *unsharp)
{
    const float twice = 2.0f * unsharp->amount;
    return unsharp->limit == 0.0f && twice == rintf(twice) && twice <= 20.0f;
}

static int launch_sharpened(const struct gf_launch *launch, const struct gf_unsharp *unsharp)
{
    const struct sharpened_whole whole = {(unsigned)(2.0f * unsharp->amount)};
    return is_whole(unsharp)
               ? launch_mma(launch, &unsharp->gauss, unsharp->border, whole)
               : launch_mma(launch, &unsharp->gauss, unsharp->border, sharpened_of(unsharp));
}

extern "C" int gf_unsharp_tiled_cuda(const struct gf_launch *launch)
{
    const struct gf_unsharp *const unsharp = (const struct gf_unsharp *)launch->stage->constants;
    return unsharp->onset == GF_UNSHARP_SOFT
               ? launch_gauss(launch, &unsharp->gauss, unsharp->border, sharpened_of<true>(unsharp))
               : launch_gauss(launch, &unsharp->gauss, unsharp->border, sharpened_of(unsharp));
}

extern "C" int gf_unsharp_cuda(const struct gf_launch *launch)
{
    const struct gf_unsharp *const unsharp = (const struct gf_unsharp *)launch->stage->constants;
    const int most = launch->in.format.bits == 8 ? 1000000 : 300000;
    if (unsharp->onset == GF_UNSHARP_SOFT || tiles_are_faster(launch, &unsharp->gauss, 0, most))
        return gf_unsharp_tiled_cuda(launch);
    const int status = mma_is_faster<sharpened>(launch, &unsharp->gauss)
                           ? launch_sharpened(launch, unsharp)
                           : (int)cudaErrorNotSupported;
    return status == cudaErrorNotSupported
               ? launch_best_gauss(launch, &unsharp->gauss, unsharp->border, sharpened_of(unsharp))
               : status;
}

/* Launches the kernels for straight RGBA, up to GF_GAUSS_STRIP_MAX. */
extern "C" int gf_unsharp_fused_cuda(const struct gf_launch *launch)
{
    const struct gf_unsharp *const unsharp = (const struct gf_unsharp *)launch->stage->constants;
    const struct view_pair p = view_pair_of(launch, unsharp->border);
    return unsharp->onset == GF_UNSHARP_SOFT
               ? launch_straight(launch, p, &unsharp->gauss, sharpened_of<true>(unsharp))
               : launch_straight(launch, p, &unsharp->gauss, sharpened_of(unsharp));
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
    return launch_sharpened(launch, unsharp);
}
