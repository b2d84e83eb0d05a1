#include "cuda/filters/resize/resize_walk.cuh"

int gf_resize_walk_rgb8(const struct resize_walk &band, cudaStream_t stream)
{
    return walk::launch_any<3, 8>(band, stream);
}

int gf_resize_walk_light(const struct resize_walk &band, cudaStream_t stream)
{
    if (band.width_kind == GF_RESAMPLE_HALVES)
        return walk::launch_halves<3, 8, 6, true>(band, stream);
    return band.gathers ? walk::launch_wide<3, 8, 6, true, true>(band, stream)
                        : walk::launch_wide<3, 8, 6, false, true>(band, stream);
}
