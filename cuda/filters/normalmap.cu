#include "cuda/filters/normalmap.cuh"

extern "C" int gf_normalmap_cuda(const struct gf_launch *launch)
{
    return launch_normalmap<by_rsqrt>(launch);
}
