/* The mean of the pixels under a large shape. */
#include "cuda/filters/convolve/spread_mma.cuh"

struct spread_finish {
    double half, scale;
    __device__ __forceinline__ int operator()(double sum) const
    {
        return gf_spread_mean(sum, half, scale);
    }
};

extern "C" int gf_spread_cuda(const struct gf_launch *launch)
{
    const struct gf_spread *const spread = (const struct gf_spread *)launch->stage->constants;
    const struct gf_spread *const there = (const struct gf_spread *)launch->constants;
    const int bits = launch->in.format.bits, all = spread->all.count;
    const int next = spread->lead ? spread->next.count : 0;
    spread_args<spread_finish> args = {};
    args.p = view_pair_of(launch, spread->border);
    args.matrices = {(uint4 *)launch->scratch, &there->all, &there->next, spread->lead};
    args.reach_x = spread->weights.width / 2;
    args.reach_y = spread->weights.height / 2;
    args.finish = {spread->half, spread->scale};
    const int extra = next ? ceil_div(all, next) : 1;
    return bits == 8 ? launch_spread<1>(launch, args, &there->weights, all + next, extra)
                     : launch_spread<2>(launch, args, &there->weights, all + next, extra);
}
