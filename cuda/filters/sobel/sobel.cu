#include "cuda/filters/sobel/sobel_rolling.cuh"

GF_LAUNCHES(gf_sobel_cuda, launch_rolling<estimated_root, corrected_root>(launch))

extern "C" int gf_sobel_floats_cuda(const struct gf_launch *launch)
{
    const struct gf_sobel *const sobel = (const struct gf_sobel *)launch->stage->constants;
    const struct view_pair p = view_pair_of(launch, sobel->border);
    const cudaStream_t stream = launch->stream;
    return for_float_stencil<false>(p, [&](auto sample, auto channels, auto fuse) -> int {
        typedef decltype(sample) Float;
        typedef decltype(fuse) Fuse;
        constexpr int CHANNELS = decltype(channels)::value;
        const float scale = sobel->scale;
        return sobel->kernel == GF_GRADIENT_SCHARR
                   ? walk_strips<sobel_floats<Float, CHANNELS, 3, 10>, Fuse>(p, scale, stream)
               : sobel->kernel == GF_GRADIENT_PREWITT
                   ? walk_strips<sobel_floats<Float, CHANNELS, 1, 1>, Fuse>(p, scale, stream)
                   : walk_strips<sobel_floats<Float, CHANNELS, 1, 2>, Fuse>(p, scale, stream);
    });
}

/* Launches sobel with tables or conversions of alpha in the same kernel. With tables there are
 * kernels only for Sobel's weights, and for scales for which gf_sobel_estimate_suffices(), such as
 * 1. */
extern "C" int gf_sobel_fused_cuda(const struct gf_launch *launch)
{
    const struct gf_sobel *const sobel = (const struct gf_sobel *)launch->stage->constants;
    const struct view_pair p = view_pair_of(launch, sobel->border);
    if (p.straight)
        return gf_sobel_cuda(launch);
    if (sobel->kernel != GF_GRADIENT_SOBEL || !gf_sobel_estimate_suffices(sobel->scale))
        return cudaErrorNotSupported;
    const float scale = estimate_scale(sobel);
    return for_fuse(launch, [&](auto fuse) -> int {
        const cudaStream_t stream = launch->stream;
        return p.channels == 1
                   ? walk_strips<sobel8<1, estimated_root>, decltype(fuse)>(p, scale, stream)
                   : walk_strips<sobel8<3, estimated_root>, decltype(fuse)>(p, scale, stream);
    });
}
