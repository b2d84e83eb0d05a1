/* The steps that lead to the running sums of cuda/filters/boxblur/boxblur.cu, one technique at a
 * time. */
#include "cuda/study/variants/window.cuh"
#include "cuda/study/variants/window_tile.cuh"
#include "filters/boxblur/boxblur.h"

/* The box blur as an Op of window.cuh: it sums the window's columns, and then these sums. */
template <class Sample, class Sum> struct box_op {
    typedef Sample sample;
    typedef unsigned middle;
    typedef unsigned stored;
    int radius;
    struct gf_box_mean mean;

    template <class Total, class At> __device__ __forceinline__ Total sum(const At &at) const
    {
        Total sum = 0;
        for (int k = -radius; k <= radius; k++)
            sum += at(k);
        return sum;
    }
    template <class At> __device__ __forceinline__ middle column(const At &at) const
    {
        return sum<unsigned>(at);
    }
    template <class At> __device__ __forceinline__ sample row(const At &at) const
    {
        const Sum all = sum<Sum>(at);
        return (sample)(sizeof(Sample) == 1 ? gf_box_mean8(&mean, (unsigned)all)
                                            : gf_box_mean16(&mean, all));
    }
};

typedef box_op<unsigned char, unsigned> box_op8;
typedef box_op<unsigned short, unsigned long long> box_op16;

static const struct gf_box *box_of(const struct gf_launch *launch)
{
    return (const struct gf_box *)launch->stage->constants;
}

template <class Op> static Op op_of(const struct gf_launch *launch)
{
    return {box_of(launch)->radius, box_of(launch)->mean};
}

extern "C" int gf_boxblur_global_cuda(const struct gf_launch *launch)
{
    const int border = box_of(launch)->border;
    return launch->in.format.bits == 8 ? launch_square(launch, border, op_of<box_op8>(launch))
                                       : launch_square(launch, border, op_of<box_op16>(launch));
}

extern "C" int gf_boxblur_separable_cuda(const struct gf_launch *launch)
{
    const int border = box_of(launch)->border;
    const size_t pitch = gf_box_wide_pitch(launch->in.format);
    return launch->in.format.bits == 8
               ? launch_separable(launch, border, pitch, op_of<box_op8>(launch))
               : launch_separable(launch, border, pitch, op_of<box_op16>(launch));
}

template <bool ASYNC> static int launch_tiled(const struct gf_launch *launch, bool padded)
{
    const int border = box_of(launch)->border;
    return launch->in.format.bits == 8
               ? launch_tile_stencil<box_op8, ASYNC>(launch, border, op_of<box_op8>(launch), padded)
               : launch_tile_stencil<box_op16, ASYNC>(launch, border, op_of<box_op16>(launch),
                                                      padded);
}

extern "C" int gf_boxblur_shared_cuda(const struct gf_launch *launch)
{
    return launch_tiled<false>(launch, false);
}

extern "C" int gf_boxblur_padded_cuda(const struct gf_launch *launch)
{
    return launch_tiled<false>(launch, true);
}

extern "C" int gf_boxblur_async_cuda(const struct gf_launch *launch)
{
    return launch_tiled<true>(launch, true);
}
