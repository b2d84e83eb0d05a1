#include "resize.cuh"

constexpr int THREADS = 256;
constexpr int GRID_Y = 32768;

/* A thread for each pixel. */
template <int PIXEL>
static __global__ void __launch_bounds__(THREADS) pick_kernel(struct resize_band band)
{
    const int x = blockIdx.x * THREADS + threadIdx.x;
    if (x >= band.width)
        return;
    const size_t from = (size_t)__ldg(band.column_start + x) * PIXEL;
    for (int i = blockIdx.y; i < band.rows; i += GRID_Y) {
        const int y = __ldg(band.row_start + band.first + i) - band.in_first;
        const unsigned char *const in = band.in + y * (ptrdiff_t)band.in_pitch + from;
        unsigned char *const out = band.out + i * band.out_pitch + (size_t)x * PIXEL;
        if (PIXEL % 2 == 0) {
#pragma unroll
            for (int k = 0; k < PIXEL / 2; k++)
                ((uint16_t *)out)[k] = __ldg((const uint16_t *)in + k);
        } else {
#pragma unroll
            for (int k = 0; k < PIXEL; k++)
                out[k] = __ldg(in + k);
        }
    }
}

template <int PIXEL> static int launch_pick(const struct resize_band &band, cudaStream_t stream)
{
    const dim3 grid((band.width + THREADS - 1) / THREADS, band.rows < GRID_Y ? band.rows : GRID_Y);
    pick_kernel<PIXEL><<<grid, THREADS, 0, stream>>>(band);
    return cudaGetLastError();
}

int gf_resize_nearest(const struct resize_band &band, int pixel_bytes, cudaStream_t stream)
{
    switch (pixel_bytes) {
    case 1:
        return launch_pick<1>(band, stream);
    case 2:
        return launch_pick<2>(band, stream);
    case 3:
        return launch_pick<3>(band, stream);
    case 4:
        return launch_pick<4>(band, stream);
    case 6:
        return launch_pick<6>(band, stream);
    default:
        return launch_pick<8>(band, stream);
    }
}
