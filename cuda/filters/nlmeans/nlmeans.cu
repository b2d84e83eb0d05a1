/* nlmeans on a device: chooses the kernel by the depth of the samples. */
#include <limits.h>

#include "cuda/filters/nlmeans/nlmeans16.cuh"
#include "cuda/filters/nlmeans/nlmeans8.cuh"

template <class Pixels, int PATCH>
static int launch_patch(const struct nlmeans_args &args, cudaStream_t stream)
{
    const int search = args.nlmeans.search;
    const size_t bytes =
        (size_t)tile_lines<Pixels, PATCH>(search) * TILE_PITCH * sizeof(typename Pixels::pixel);
    const int blocks =
        tile_blocks(args.p.width, args.p.rows, MADE<PATCH>, Pixels::warps * Pixels::rows);
    launch_kernel<Pixels::channels, PATCH>(args, Pixels(), blocks, bytes, stream);
    return cudaGetLastError();
}

template <class Pixels>
static int launch_nlmeans(const struct nlmeans_args &args, cudaStream_t stream)
{
    switch (args.nlmeans.patch) {
    case 1:
        return launch_patch<Pixels, 1>(args, stream);
    case 2:
        return launch_patch<Pixels, 2>(args, stream);
    default:
        return launch_patch<Pixels, 3>(args, stream);
    }
}

extern "C" int gf_nlmeans_cuda(const struct gf_launch *launch)
{
    const struct gf_nlmeans *const nlmeans = (const struct gf_nlmeans *)launch->stage->constants;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    struct nlmeans_args args = {};
    args.p = view_pair_of(launch, nlmeans->border);
    args.nlmeans = *nlmeans;
    const double farthest = 2 * floor(125 / -(double)nlmeans->factor);
    args.limit = farthest < UINT_MAX ? (unsigned)farthest : UINT_MAX;
    if (!args.p.rows)
        return cudaSuccess;
    return for_channels(args.p.channels, [&](auto channels) {
        constexpr int COUNT = decltype(channels)::value;
        return args.p.bits == 8 ? launch_nlmeans<pixels8<COUNT>>(args, stream)
                                : launch_nlmeans<pixels16<COUNT>>(args, stream);
    });
}
