#include "cuda/filters/resize/resize_walk.cuh"

int gf_resize_walk_rgb16(const struct resize_walk &walk, cudaStream_t stream)
{
    return walk::launch_any<3, 16>(walk, stream);
}

int gf_resize_walk_rgba16(const struct resize_walk &walk, cudaStream_t stream)
{
    return walk::launch_any<4, 16>(walk, stream);
}
