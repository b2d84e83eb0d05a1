/* blur, unsharp and boxblur of floats: strips for a small radius, otherwise the columns into
 * scratch memory and then the rows. boxblur is a Gaussian whose taps are 1. */
#include "cuda/filters/gauss/gauss.cuh"
#include "filters/boxblur/boxblur.h"
#include "filters/unsharp/unsharp.h"

enum float_end_kind { BLURRED, MEAN, SHARPENED, SHARPENED_SOFTLY };

/* The type Finish of all three, so that they have the same kernels. */
struct float_end {
    static constexpr bool ORIGINAL = false;
    enum float_end_kind kind;
    float amount, limit; /* `amount` is the divisor of a mean */

    /* Ends the sums of COUNT neighbouring pixels of a channel. `in` is the first one's own sample,
     * and `left` the number of pixels from it to the end of the row. */
    template <int COUNT, class Sample>
    __device__ __forceinline__ void end(float (&v)[COUNT], const Sample *in, int channels,
                                        int left) const
    {
        if (kind == BLURRED)
            return;
        if (kind == MEAN) {
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                v[i] = v[i] / amount;
            return;
        }
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const float own = float_of(in[min(i, left - 1) * channels]);
            v[i] = kind == SHARPENED ? gf_unsharp_sample(own, v[i], amount, limit)
                                     : gf_unsharp_soft(own, v[i], amount, limit);
        }
    }
};

static int launch_floats(const struct gf_launch *launch, const struct gf_gauss *gauss, int border,
                         const struct float_end &finish)
{
    const struct view_pair p = view_pair_of(launch, border);
    return for_float_type(launch->in.format, [&](auto sample) -> int {
        typedef decltype(sample) Sample;
        if (gauss->radius <= GF_GAUSS_STRIP_MAX)
            return launch_strip16<Sample>(launch, p, gauss, finish);
        LAUNCH_TRY(gf_gauss_columns(launch, p, gauss));
        return launch_rows<gauss_float_sums<Sample>>(launch, p, gauss, finish);
    });
}

extern "C" int gf_blur_floats_cuda(const struct gf_launch *launch)
{
    const struct gf_blur *const blur = (const struct gf_blur *)launch->stage->constants;
    return launch_floats(launch, &blur->gauss, blur->border, {BLURRED, 0.0f, 0.0f});
}

extern "C" int gf_unsharp_floats_cuda(const struct gf_launch *launch)
{
    const struct gf_unsharp *const unsharp = (const struct gf_unsharp *)launch->stage->constants;
    return launch_floats(launch, &unsharp->gauss, unsharp->border,
                         {unsharp->onset == GF_UNSHARP_SOFT ? SHARPENED_SOFTLY : SHARPENED,
                          unsharp->amount, unsharp->limit});
}

extern "C" int gf_boxblur_floats_cuda(const struct gf_launch *launch)
{
    const struct gf_box *const box = (const struct gf_box *)launch->stage->constants;
    struct gf_gauss gauss = {};
    gf_gauss_init_box(&gauss, box->radius);
    return launch_floats(launch, &gauss, box->border, {MEAN, gf_box_area(box), 0.0f});
}
