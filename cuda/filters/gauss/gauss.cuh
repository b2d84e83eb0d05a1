/* Chooses the kernels of a Gaussian by depth and radius. */
#ifndef GF_CUDA_FILTERS_GAUSS_GAUSS_CUH
#define GF_CUDA_FILTERS_GAUSS_GAUSS_CUH

#include "cuda/filters/gauss/gauss_mma.cuh"
#include "cuda/filters/gauss/gauss_rows.cuh"
#include "cuda/filters/gauss/gauss_strip16.cuh"
#include "cuda/filters/gauss/gauss_tile_passes.cuh"

/* The vertical pass into scratch memory (gauss.cu). */
int gf_gauss_columns(const struct gf_launch *launch, const struct view_pair &p,
                     const struct gf_gauss *gauss);

template <class Finish>
static int launch_gauss(const struct gf_launch *launch, const struct gf_gauss *gauss, int border,
                        const Finish &finish)
{
    const struct view_pair p = view_pair_of(launch, border);
    const bool bytes = launch->in.format.bits == 8;
    if (gauss->radius <= GF_GAUSS_FUSED_MAX)
        return bytes ? launch_tile<tile_of_bytes>(launch, p, gauss, finish)
                     : launch_tile<tile_of_shorts>(launch, p, gauss, finish);
    const int status = gf_gauss_columns(launch, p, gauss);
    if (status)
        return status;
    return bytes ? launch_rows<gauss_bytes>(launch, p, gauss, finish)
                 : launch_rows<gauss_shorts>(launch, p, gauss, finish);
}

/* At most so many pixels are blurred sooner by tiles than on tensor cores, where each block begins
 * with the tables of its strip. */
enum { GAUSS_TILED_PIXELS = 1 << 20 };

/* Launches the kernel that is fastest for the depth, the radius and the size. */
template <class Finish>
static int launch_best_gauss(const struct gf_launch *launch, const struct gf_gauss *gauss,
                             int border, const Finish &finish)
{
    if (launch->in.format.bits == 16 && gauss->radius <= GF_GAUSS_STRIP_MAX)
        return launch_strip16(launch, view_pair_of(launch, border), gauss, finish);
    const long long pixels = (long long)launch->out.rows * launch->out.format.width;
    const bool tiled = gauss->radius <= GF_GAUSS_FUSED_MAX && pixels <= GAUSS_TILED_PIXELS;
    return !tiled && mma_is_faster<Finish>(launch, gauss)
               ? launch_mma(launch, gauss, border, finish)
               : launch_gauss(launch, gauss, border, finish);
}

#endif
