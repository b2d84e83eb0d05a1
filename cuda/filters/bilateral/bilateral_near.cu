#include "cuda/filters/bilateral/bilateral_near.cuh"

extern "C" int gf_bilateral_near_cuda(const struct gf_launch *launch)
{
    const struct gf_bilateral_weights *const weights =
        (const struct gf_bilateral_weights *)launch->stage->constants;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    struct near_args args = {};
    args.exact = bilateral_args_of(launch);
    args.margin = weights->margin;
    for (int i = 0; i <= weights->radius; i++) {
        args.space[i] = weights->space[i];
        args.factor[i] = weights->factor[i];
    }
    return args.exact.p.channels == 3 ? launch_near<3, 1>(args, stream)
                                      : launch_near<1, 1>(args, stream);
}
