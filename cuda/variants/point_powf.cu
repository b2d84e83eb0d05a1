/* CIELAB's and sRGB's roots by cbrtf and by powf, all else the same: tiles by a program on
 * unrounded floats (Best Practices Guide 11.1.5). */
#define GF_ROOTS_BY_POWF
#include "cuda/variants/point_cube_root.cuh"

extern "C" int gf_point_powf_cuda(const struct gf_launch *launch)
{
    return launch_cube_root_program(launch);
}
