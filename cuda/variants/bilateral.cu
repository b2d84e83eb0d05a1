/* The way to bilateral.cu's kernel, one technique at a time. */
#include "cuda/filters/bilateral.cuh"

/* A thread makes a pixel. */
constexpr int TILE_COLUMNS = 32;
constexpr int TILE_ROWS = 8;
constexpr int THREADS = TILE_COLUMNS * TILE_ROWS;
constexpr int GRID_Y = 32768;

/* e^x to 2 units in the last place, by some ten instructions. */
struct power_of_e {
    __device__ __forceinline__ float operator()(float x) const
    {
        return expf(x);
    }
};

/* e^x by a multiplication and the unit for special functions; the error grows with x, but where x
 * is far from 0 the weight is next to nothing (Best Practices 11.1.6). */
struct power_of_e_intrinsic {
    __device__ __forceinline__ float operator()(float x) const
    {
        return __expf(x);
    }
};

/* The window of pixel x, y, whose pixels tap_at(dx, dy) gives; colour and space: factors of the
 * squared distances. */
template <int CHANNELS, class Power, class PixelAt>
static __device__ __forceinline__ void filter_pixel(const struct bilateral_band &band, float space,
                                                    int x, int y, const PixelAt &tap_at)
{
    const int radius = band.radius;
    struct colours<CHANNELS> centre = tap_at(0, 0);
    struct sums<CHANNELS> total = {
    };
    for (int dy = -radius; dy <= radius; dy++) {
        struct sums<CHANNELS> sum = {
        };
        for (int dx = -radius; dx <= radius; dx++)
            sum.add_tap(centre, tap_at(dx, dy), (float)(dx * dx + dy * dy) * space, band.colour,
                        Power());
        total.add(sum);
    }
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        centre.v[c] += total.colour[c] / total.weight;
    store_pixel<CHANNELS>(band, x, y, centre);
}

/* The window from global memory (Best Practices 9.2.1). */
template <int CHANNELS, class Power>
static __global__ void __launch_bounds__(THREADS, 4)
    bilateral_window_kernel(const struct bilateral_band band, const float space)
{
    const int x = blockIdx.x * TILE_COLUMNS + threadIdx.x;
    if (x >= band.width)
        return;
    for (int row = blockIdx.y * TILE_ROWS + threadIdx.y; row < band.rows;
         row += GRID_Y * TILE_ROWS) {
        const int y = band.first + row;
        const int radius = band.radius;
        if (x >= radius && x < band.width - radius && y >= radius && y < band.height - radius)
            filter_pixel<CHANNELS, Power>(band, space, x, y, [&](int dx, int dy) {
                return pixel_at<CHANNELS>(band, x + dx, y + dy);
            });
        else
            filter_pixel<CHANNELS, Power>(band, space, x, y, [&](int dx, int dy) {
                return load_pixel<CHANNELS>(band, x + dx, y + dy);
            });
    }
}

/* The window from a tile in shared memory, where pixels lie as floats, converted once (Best
 * Practices 9.2.3). */
template <int CHANNELS, class Power>
static __global__ void __launch_bounds__(THREADS)
    bilateral_tile_kernel(const struct bilateral_band band, const float space)
{
    typedef struct colours<CHANNELS> pixel_type;
    extern __shared__ uint4 shared[];
    pixel_type *const tile = (pixel_type *)shared;
    const int radius = band.radius, columns = TILE_COLUMNS + 2 * radius;
    const int x0 = blockIdx.x * TILE_COLUMNS, x = x0 + threadIdx.x;
    for (int start = blockIdx.y * TILE_ROWS; start < band.rows; start += GRID_Y * TILE_ROWS) {
        const int y0 = band.first + start, lines = min(TILE_ROWS, band.rows - start) + 2 * radius;
        for (int i = threadIdx.y; i < lines; i += TILE_ROWS) {
            for (int j = threadIdx.x; j < columns; j += TILE_COLUMNS)
                tile[i * columns + j] =
                    load_pixel<CHANNELS>(band, x0 - radius + j, y0 - radius + i);
        }
        __syncthreads();
        const int row = start + (int)threadIdx.y;
        const pixel_type *const centre =
            tile + (threadIdx.y + radius) * columns + threadIdx.x + radius;
        if (x < band.width && row < band.rows)
            filter_pixel<CHANNELS, Power>(band, space, x, band.first + row, [&](int dx, int dy) {
                return centre[dy * columns + dx];
            });
        __syncthreads();
    }
}

/* The factors of both exponents come for powers of two. */
static float make_natural(const struct gf_launch *launch, struct bilateral_band *band)
{
    const float ln_2 = 0.6931472f;
    band->colour *= ln_2;
    return ((const struct gf_bilateral_weights *)launch->stage->constants)->space[1] * ln_2;
}

template <int CHANNELS, class Power, bool TILED>
static int launch_pixels(const struct gf_launch *launch)
{
    struct bilateral_band band = band_of(launch);
    const float space = make_natural(launch, &band);
    const int strips = (band.rows + TILE_ROWS - 1) / TILE_ROWS;
    const dim3 grid((band.width + TILE_COLUMNS - 1) / TILE_COLUMNS,
                    strips < GRID_Y ? strips : GRID_Y);
    const dim3 threads(TILE_COLUMNS, TILE_ROWS);
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    const size_t tile = (size_t)(TILE_COLUMNS + 2 * band.radius) * (TILE_ROWS + 2 * band.radius) *
                        sizeof(struct colours<CHANNELS>);
    if constexpr (TILED)
        bilateral_tile_kernel<CHANNELS, Power><<<grid, threads, tile, stream>>>(band, space);
    else
        bilateral_window_kernel<CHANNELS, Power><<<grid, threads, 0, stream>>>(band, space);
    return cudaGetLastError();
}

template <class Power, bool TILED> static int launch_channels(const struct gf_launch *launch)
{
    switch (launch->in.format.channels) {
    case 1:
        return launch_pixels<1, Power, TILED>(launch);
    case 2:
        return launch_pixels<2, Power, TILED>(launch);
    case 3:
        return launch_pixels<3, Power, TILED>(launch);
    default:
        return launch_pixels<4, Power, TILED>(launch);
    }
}

extern "C" int gf_bilateral_global_cuda(const struct gf_launch *launch)
{
    return launch_channels<power_of_e, false>(launch);
}

extern "C" int gf_bilateral_intrinsic_cuda(const struct gf_launch *launch)
{
    return launch_channels<power_of_e_intrinsic, false>(launch);
}

extern "C" int gf_bilateral_shared_cuda(const struct gf_launch *launch)
{
    return launch_channels<power_of_e_intrinsic, true>(launch);
}
