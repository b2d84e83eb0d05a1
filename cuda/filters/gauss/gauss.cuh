/* Chooses the kernels of a Gaussian by depth and radius. */
#pragma once

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

/* Whether tiles are faster than strips: a band of few pixels, from `least` to `most`, and few taps.
 * On an H200, us by tiles and by strips: blur=2 of 900x600 RGB8 13.2 and 15.3 (512x512 10.5 and
 * 10.1, 1280x720 13.2 and 13.0), of RGB16 13.5 and 18.7 (256x256 7.7 and 17.1); unsharp=1 of RGB8
 * 12.5 and 17.4 (256x256 9.5 and 10.5, 1280x720 12.2 and 15.0, 1920x1080 22.8 and 19.8). blur=5 of
 * RGB8 is faster by strips at every size. */
static inline bool tiles_are_faster(const struct gf_launch *launch, const struct gf_gauss *gauss,
                                    int least, int most)
{
    const long long pixels = (long long)launch->out.rows * launch->out.format.width;
    return gauss->radius <= 8 && pixels >= least && pixels <= most;
}

/* Launches the kernel that is fastest for the depth and the radius. */
template <class Finish>
static int launch_best_gauss(const struct gf_launch *launch, const struct gf_gauss *gauss,
                             int border, const Finish &finish)
{
    if (launch->in.format.bits == 16 && gauss->radius <= GF_GAUSS_STRIP_MAX)
        return launch_strip16(launch, view_pair_of(launch, border), gauss, finish);
    const int status = mma_is_faster<Finish>(launch, gauss)
                           ? launch_mma(launch, gauss, border, finish)
                           : (int)cudaErrorNotSupported;
    return status == cudaErrorNotSupported ? launch_gauss(launch, gauss, border, finish) : status;
}
