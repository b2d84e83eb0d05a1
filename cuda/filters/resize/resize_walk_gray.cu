#include "cuda/filters/resize/resize_walk.cuh"

int gf_resize_walk_gray8(const struct resize_walk &band, cudaStream_t stream)
{
    return walk::launch_any<1, 8>(band, stream);
}

int gf_resize_walk_gray16(const struct resize_walk &band, cudaStream_t stream)
{
    return walk::launch_any<1, 16>(band, stream);
}
