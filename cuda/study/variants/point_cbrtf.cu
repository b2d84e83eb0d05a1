/* The kernels of point_powf.cu, with the cube roots of CIELAB by cbrtf. */
#define GF_ROOTS_BY_CBRTF
#include "cuda/study/variants/point_cube_root.cuh"

GF_LAUNCHES(gf_point_cbrtf_cuda, launch_cube_root_program(launch))
