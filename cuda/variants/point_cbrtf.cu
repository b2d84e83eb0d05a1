/* See point_powf.cu. */
#include "point_roots.cuh"

extern "C" int gf_point_cbrtf_cuda(const struct gf_launch *launch)
{
    return launch_roots(launch);
}
