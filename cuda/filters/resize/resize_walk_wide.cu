#include "cuda/filters/resize/resize_walk.cuh"

int gf_resize_walk_rgb16(const struct resize_walk &band, cudaStream_t stream)
{
    return walk::launch_any<3, 16>(band, stream);
}

int gf_resize_walk_rgba16(const struct resize_walk &band, cudaStream_t stream)
{
    return walk::launch_any<4, 16>(band, stream);
}
