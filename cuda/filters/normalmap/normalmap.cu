#include "cuda/filters/normalmap/normalmap.cuh"

extern "C" int gf_normalmap_cuda(const struct gf_launch *launch)
{
    return launch_normalmap<corrected_root>(launch);
}
