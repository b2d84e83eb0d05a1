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
    float amount, limit; /* those of a mean are its divisor and 1 / divisor */

    __device__ __forceinline__ bool compares() const
    {
        return kind >= SHARPENED;
    }

    /* Ends the sums of COUNT neighbouring pixels of a channel, of a SMALL mean or of any kind.
     * own(i) is the picture's own sample. Two steps find the quotient of a small mean; all floats
     * and all divisors were tried. The remainder of a 0, an infinity or a NaN is 0 or a NaN. */
    template <bool SMALL, int COUNT, class Own>
    __device__ __forceinline__ void end(float (&v)[COUNT], const Own &own) const
    {
        if (SMALL) {
#pragma unroll
            for (int i = 0; i < COUNT; i++) {
                const float near = v[i] * limit, rest = fmaf(-amount, near, v[i]);
                v[i] = fabsf(rest) > 0.0f ? fmaf(rest, limit, near) : near;
            }
            return;
        }
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
            v[i] = kind == SHARPENED ? gf_unsharp_sample(own(i), v[i], amount, limit)
                                     : gf_unsharp_soft(own(i), v[i], amount, limit);
        }
    }
};

/* Launches the kernel of floats of straight RGBA, which has a shape for each larger radius. */
template <class Sample, bool MEAN, class Finish>
static int launch_straight_floats(const struct gf_launch *launch, const struct view_pair &p,
                                  const struct gf_gauss *gauss, const Finish &finish)
{
    constexpr int BITS = 8 * sizeof(Sample);
    switch (gauss->radius) {
    case 4:
        return launch_strip16_of<strip16<4, 4, BITS, Sample, MEAN>>(launch, p, gauss, finish);
    case 5:
        return launch_strip16_of<strip16<4, 5, BITS, Sample, MEAN>>(launch, p, gauss, finish);
    case 6:
        return launch_strip16_of<strip16<4, 6, BITS, Sample, MEAN>>(launch, p, gauss, finish);
    default:
        return launch_strip16_of<strip16<4, 3, BITS, Sample, MEAN>>(launch, p, gauss, finish);
    }
}

static int launch_floats(const struct gf_launch *launch, const struct gf_gauss *gauss, int border,
                         const struct float_end &finish)
{
    const struct view_pair p = view_pair_of(launch, border);
    return for_float_type(launch->in.format, [&](auto sample) -> int {
        typedef decltype(sample) Sample;
        if (p.straight)
            return finish.kind == MEAN
                       ? launch_straight_floats<Sample, true>(launch, p, gauss, finish)
                       : launch_straight_floats<Sample, false>(launch, p, gauss, finish);
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
    const float area = gf_box_area(box);
    return launch_floats(launch, &gauss, box->border, {MEAN, area, 1.0f / area});
}
