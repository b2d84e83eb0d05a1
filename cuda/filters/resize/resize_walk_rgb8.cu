#include "cuda/filters/resize/resize_walk.cuh"

int gf_resize_walk_rgb8(const struct resize_walk &walk, cudaStream_t stream)
{
    return walk::launch_any<3, 8>(walk, stream);
}

int gf_resize_walk_light(const struct resize_walk &walk, cudaStream_t stream)
{
    if (walk.width_kind == GF_RESAMPLE_HALVES)
        return walk::launch_halves<3, 8, 6, true>(walk, stream);
    return walk.gathers ? walk::launch_wide<3, 8, 6, true, true>(walk, stream)
                        : walk::launch_wide<3, 8, 6, false, true>(walk, stream);
}
