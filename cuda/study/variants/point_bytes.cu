/* The kernels of cuda/filters/point, with memory accesses of one sample. */
#include "cuda/filters/point/point_launch.cuh"

extern "C" int gf_point_bytes_cuda(const struct gf_launch *launch)
{
    return launch_point<unsigned char>(launch);
}
