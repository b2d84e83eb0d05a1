/* The kernels of point_powf.cu, with the cube roots of CIELAB by cbrtf. */
#define GF_ROOTS_BY_CBRTF
#include "cuda/study/variants/point_cube_root.cuh"

extern "C" int gf_point_cbrtf_cuda(const struct gf_launch *launch)
{
    return launch_cube_root_program(launch);
}
