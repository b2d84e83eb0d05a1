#include "cuda/filters/sobel_rolling.cuh"

extern "C" int gf_sobel_cuda(const struct gf_launch *launch)
{
    return launch_rolling<estimated_root, corrected_root>(launch);
}
