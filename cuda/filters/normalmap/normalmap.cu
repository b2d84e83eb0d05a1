#include "cuda/filters/normalmap/normalmap.cuh"

GF_LAUNCHES(gf_normalmap_cuda, launch_normalmap<corrected_root>(launch))
