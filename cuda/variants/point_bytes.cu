/* Point filters as in point.cu, but for the width of their accesses to the picture: a byte, or a
 * sample of 16 bits. */
#include "cuda/filters/point/point_launch.cuh"

extern "C" int gf_point_bytes_cuda(const struct gf_launch *launch)
{
    return launch_point<unsigned char>(launch);
}
