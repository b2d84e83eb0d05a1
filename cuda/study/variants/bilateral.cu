/* The steps that lead to the kernel of cuda/filters/bilateral/bilateral.cu, one technique at a
 * time. */
#include "cuda/filters/bilateral/bilateral.cuh"

/* A block's tile. A thread computes one pixel. */
constexpr int TILE_COLUMNS = 32;
constexpr int TILE_ROWS = 8;
constexpr int THREADS = TILE_COLUMNS * TILE_ROWS;

/* Computes e^x with an error of 2 units in the last place, in about ten instructions. */
struct power_of_e {
    __device__ __forceinline__ float operator()(float x) const
    {
        return expf(x);
    }
};

/* Computes e^x by a multiplication and the special function unit. The error grows with x, but far
 * from 0 the weight is close to 0 (Best Practices 11.1.6). */
struct power_of_e_intrinsic {
    __device__ __forceinline__ float operator()(float x) const
    {
        return __expf(x);
    }
};

/* Computes pixel x, y. tap_at(dx, dy) returns a pixel of its window; `space` and args.colour are
 * the factors of the squared distances. */
template <int CHANNELS, class Power, class PixelAt>
static __device__ __forceinline__ void filter_pixel(const struct bilateral_args &args, float space,
                                                    int x, int y, const PixelAt &tap_at)
{
    const int radius = args.radius;
    struct colours<CHANNELS> centre = tap_at(0, 0);
    struct sums<CHANNELS> total = {
    };
    for (int dy = -radius; dy <= radius; dy++) {
        struct sums<CHANNELS> sum = {
        };
        for (int dx = -radius; dx <= radius; dx++)
            sum.add_tap(centre, tap_at(dx, dy), (float)(dx * dx + dy * dy) * space, args.colour,
                        Power());
        total.add(sum);
    }
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        centre.v[c] += total.colour[c] / total.weight;
    store_pixel<CHANNELS>(args.p, x, y, centre);
}

/* Reads the window from global memory (Best Practices 9.2.1). */
template <int CHANNELS, class Power>
static __global__ void __launch_bounds__(THREADS, 4)
    bilateral_window_kernel(const struct bilateral_args args, const float space)
{
    const struct view_pair &p = args.p;
    const int x = blockIdx.x * TILE_COLUMNS + threadIdx.x;
    if (x >= p.width)
        return;
    for (int row = blockIdx.y * TILE_ROWS + threadIdx.y; row < p.rows;
         row += GRID_ROWS_MAX * TILE_ROWS) {
        const int y = p.out_y + row;
        const int radius = args.radius;
        if (x >= radius && x < p.width - radius && y >= radius && y < p.height - radius)
            filter_pixel<CHANNELS, Power>(args, space, x, y, [&](int dx, int dy) {
                return pixel_at<CHANNELS>(p, x + dx, y + dy);
            });
        else
            filter_pixel<CHANNELS, Power>(args, space, x, y, [&](int dx, int dy) {
                return load_pixel<CHANNELS>(p, x + dx, y + dy);
            });
    }
}

/* Reads the window from a tile in shared memory, where pixels are floats, converted once (Best
 * Practices 9.2.3). */
template <int CHANNELS, class Power>
static __global__ void __launch_bounds__(THREADS)
    bilateral_tile_kernel(const struct bilateral_args args, const float space)
{
    const struct view_pair &p = args.p;
    typedef struct colours<CHANNELS> pixel_type;
    extern __shared__ uint4 shared[];
    pixel_type *const tile = (pixel_type *)shared;
    const int radius = args.radius, columns = TILE_COLUMNS + 2 * radius;
    const int x0 = blockIdx.x * TILE_COLUMNS, x = x0 + threadIdx.x;
    for (int start = blockIdx.y * TILE_ROWS; start < p.rows; start += GRID_ROWS_MAX * TILE_ROWS) {
        const int y0 = p.out_y + start, lines = min(TILE_ROWS, p.rows - start) + 2 * radius;
        for (int i = threadIdx.y; i < lines; i += TILE_ROWS) {
            for (int j = threadIdx.x; j < columns; j += TILE_COLUMNS)
                tile[i * columns + j] = load_pixel<CHANNELS>(p, x0 - radius + j, y0 - radius + i);
        }
        __syncthreads();
        const int row = start + (int)threadIdx.y;
        const pixel_type *const centre =
            tile + (threadIdx.y + radius) * columns + threadIdx.x + radius;
        if (x < p.width && row < p.rows)
            filter_pixel<CHANNELS, Power>(args, space, x, p.out_y + row, [&](int dx, int dy) {
                return centre[dy * columns + dx];
            });
        __syncthreads();
    }
}

/* Converts the factors of both exponents from powers of 2 to powers of e. Returns the factor of the
 * distance in space. */
static float make_natural(const struct gf_launch *launch, struct bilateral_args *args)
{
    const float ln_2 = 0.6931472f;
    args->colour *= ln_2;
    return ((const struct gf_bilateral_weights *)launch->stage->constants)->space[1] * ln_2;
}

template <int CHANNELS, class Power, bool TILED>
static int launch_pixels(const struct gf_launch *launch)
{
    struct bilateral_args args = bilateral_args_of(launch);
    const struct view_pair &p = args.p;
    const float space = make_natural(launch, &args);
    const dim3 grid = grid_of_rows(ceil_div(p.width, TILE_COLUMNS), ceil_div(p.rows, TILE_ROWS));
    const dim3 threads(TILE_COLUMNS, TILE_ROWS);
    const size_t tile = (size_t)(TILE_COLUMNS + 2 * args.radius) * (TILE_ROWS + 2 * args.radius) *
                        sizeof(struct colours<CHANNELS>);
    if constexpr (TILED)
        return launch_kernel(bilateral_tile_kernel<CHANNELS, Power>, grid, threads, tile,
                             launch->stream, args, space);
    return launch_kernel(bilateral_window_kernel<CHANNELS, Power>, grid, threads, 0, launch->stream,
                         args, space);
}

template <class Power, bool TILED> static int launch_channels(const struct gf_launch *launch)
{
    return for_channels(launch->in.format.channels, [&](auto channels) {
        return launch_pixels<decltype(channels)::value, Power, TILED>(launch);
    });
}

GF_LAUNCHES(gf_bilateral_global_cuda, launch_channels<power_of_e, false>(launch))
GF_LAUNCHES(gf_bilateral_intrinsic_cuda, launch_channels<power_of_e_intrinsic, false>(launch))
GF_LAUNCHES(gf_bilateral_shared_cuda, launch_channels<power_of_e_intrinsic, true>(launch))
