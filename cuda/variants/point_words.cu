/* Point filters as in point.cu, but for the width of their accesses to the picture: 4 bytes. */
#include "cuda/filters/point/point_launch.cuh"

extern "C" int gf_point_words_cuda(const struct gf_launch *launch)
{
    return launch_point<unsigned>(launch);
}
