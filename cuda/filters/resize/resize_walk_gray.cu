#include "cuda/filters/resize/resize_walk.cuh"

int gf_resize_walk_gray8(const struct resize_walk &walk, cudaStream_t stream)
{
    return walk::launch_any<1, 8>(walk, stream);
}

int gf_resize_walk_gray16(const struct resize_walk &walk, cudaStream_t stream)
{
    return walk::launch_any<1, 16>(walk, stream);
}
