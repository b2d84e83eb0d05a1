/* The kernels of cuda/filters/point, with memory accesses of 4 bytes. */
#include "cuda/filters/point/point_launch.cuh"

extern "C" int gf_point_words_cuda(const struct gf_launch *launch)
{
    return launch_point<unsigned>(launch);
}
