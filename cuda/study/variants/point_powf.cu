/* The kernels of point programs with the cube roots of CIELAB and the powers of sRGB by powf. They
 * are otherwise equal to the default (Best Practices Guide 11.1.5). */
#define GF_ROOTS_BY_POWF
#include "cuda/study/variants/point_cube_root.cuh"

GF_LAUNCHES(gf_point_powf_cuda, launch_cube_root_program(launch))
