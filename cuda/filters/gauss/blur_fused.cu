/* blur on tensor cores with a radius up to GF_GAUSS_FUSED_MAX, fused with tables of samples; and
 * blur of RGBA, whose colour is premultiplied while it is read and divided by alpha before it is
 * written. */
#include "cuda/filters/gauss/gauss.cuh"
#include "cuda/filters/gauss/gauss_mma.cuh"
#include "cuda/filters/gauss/gauss_strip16.cuh"

/* With two tables one block of 8 warps is faster than two blocks of 4. */
typedef mma_shape<2, 3, true, 4, 2, 8> mma_rgb_tables;

extern "C" int gf_blur_fused_cuda(const struct gf_launch *launch)
{
    const struct gf_blur *const blur = (const struct gf_blur *)launch->stage->constants;
    const struct gf_gauss *const gauss = &blur->gauss;
    if (launch->straight)
        return launch_straight(launch, view_pair_of(launch, blur->border), gauss, rounded());
    if (!mma_is_faster<rounded, fuse<true, true>>(launch, gauss))
        return cudaErrorNotSupported;
    mma_args<rounded> args = mma_args_of(launch, gauss, blur->border, rounded());
    const bool few = gauss->radius <= mma_rgb_few::REACH;
    return for_fuse(launch, [&](auto fuse) -> int {
        typedef decltype(fuse) tables;
        if (args.p.channels == 3)
            return few ? launch_mma_shape<mma_rgb_tables, 1, tables>(launch, args)
                       : launch_mma_shape<mma_rgb_some, 1, tables>(launch, args);
        return few ? launch_mma_shape<mma_gray_few, 2, tables>(launch, args)
                   : launch_mma_shape<mma_gray_some, 2, tables>(launch, args);
    });
}
