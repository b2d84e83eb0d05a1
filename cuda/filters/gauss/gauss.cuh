/* Chooses the kernels of a Gaussian by depth and radius. */
#ifndef GF_CUDA_FILTERS_GAUSS_GAUSS_CUH
#define GF_CUDA_FILTERS_GAUSS_GAUSS_CUH

#include "cuda/filters/gauss/gauss_mma.cuh"
#include "cuda/filters/gauss/gauss_rows16.cuh"
#include "cuda/filters/gauss/gauss_rows8.cuh"
#include "cuda/filters/gauss/gauss_strip16.cuh"
#include "cuda/filters/gauss/gauss_tile.cuh"
#include "cuda/filters/gauss/gauss_tile16.cuh"

/* In gauss.cu: the vertical pass into scratch memory. */
int gf_gauss_columns(const struct gf_launch *launch, const struct view_pair &p,
                     const struct gf_gauss *gauss);

template <class Finish>
static int launch_gauss(const struct gf_launch *launch, const struct gf_gauss *gauss, int border,
                        const Finish &finish)
{
    const struct view_pair p = view_pair_of(launch, border);
    const int radius = gauss->radius;
    if (launch->in.format.bits == 8 && radius <= GF_GAUSS_FUSED_MAX)
        return radius <= 3    ? launch_tile<3>(launch, p, gauss, finish)
               : radius <= 6  ? launch_tile<6>(launch, p, gauss, finish)
               : radius <= 10 ? launch_tile<10>(launch, p, gauss, finish)
                              : launch_tile<16>(launch, p, gauss, finish);
    if (radius <= GF_GAUSS_FUSED_MAX)
        return radius <= 3    ? launch_tile16<3>(launch, p, gauss, finish)
               : radius <= 6  ? launch_tile16<6>(launch, p, gauss, finish)
               : radius <= 10 ? launch_tile16<10>(launch, p, gauss, finish)
                              : launch_tile16<16>(launch, p, gauss, finish);
    const int status = gf_gauss_columns(launch, p, gauss);
    if (status)
        return status;
    return launch->in.format.bits == 8 ? launch_rows8(launch, p, gauss, finish)
                                       : launch_rows16(launch, p, gauss, finish);
}

/* The kernel that is known to be the fastest. */
template <class Finish>
static int launch_best_gauss(const struct gf_launch *launch, const struct gf_gauss *gauss,
                             int border, const Finish &finish)
{
    if (launch->in.format.bits == 16 && gauss->radius <= GF_GAUSS_STRIP_MAX)
        return launch_strip16(launch, view_pair_of(launch, border), gauss, finish);
    return mma_is_faster<Finish>(launch, gauss) ? launch_mma(launch, gauss, border, finish)
                                                : launch_gauss(launch, gauss, border, finish);
}

#endif
