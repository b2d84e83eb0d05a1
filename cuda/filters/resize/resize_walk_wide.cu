#include "cuda/filters/resize/resize_walk.cuh"

int gf_resize_walk_rgb16(const struct resize_walk &walk, cudaStream_t stream)
{
    return walk::launch_any<3, 16>(walk, stream);
}

int gf_resize_walk_rgba16(const struct resize_walk &walk, cudaStream_t stream)
{
    return walk::launch_any<4, 16>(walk, stream);
}

template <int STRAIGHT>
static int launch_straight(const struct resize_walk &walk, cudaStream_t stream)
{
    return walk.reach == 2   ? walk::launch_halves<4, 16, 2, false, STRAIGHT>(walk, stream)
           : walk.reach == 4 ? walk::launch_halves<4, 16, 4, false, STRAIGHT>(walk, stream)
                             : walk::launch_halves<4, 16, 6, false, STRAIGHT>(walk, stream);
}

int gf_resize_walk_straight(const struct resize_walk &walk, cudaStream_t stream)
{
    return walk.p.straight == 8 ? launch_straight<8>(walk, stream)
                                : launch_straight<16>(walk, stream);
}
