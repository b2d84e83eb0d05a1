#include "cuda/filters/bilateral/bilateral.cuh"

extern "C" int gf_bilateral_near_cuda(const struct gf_launch *launch);

/* A block computes a tile of the output. It reads the tile and `radius` pixels around it as floats
 * into shared memory, in strips of as many rows as fit, so that every radius works. The lanes of a
 * warp are pixels of a row. The channels of a pixel are adjacent in the tile, since its weight
 * needs all of them; cuda/filters/convolve/convolve.cu would store each channel in a plane. */
constexpr int TILE_COLUMNS = 32;
constexpr int TILE_THREADS_Y = 8;
/* Each thread computes two pixels, one below the other. */
constexpr int TILE_ROWS = 2 * TILE_THREADS_Y;
constexpr int THREADS = TILE_COLUMNS * TILE_THREADS_Y;
constexpr int STRIP_FLOATS = 8192;
constexpr float NO_WEIGHT = -1e30f; /* an exponent for which the power of two is 0 */

template <int CHANNELS>
static __global__ void __launch_bounds__(THREADS) bilateral_kernel(struct bilateral_args args)
{
    const struct view_pair &p = args.p;
    typedef struct colours<CHANNELS> pixel_type;
    constexpr int STRIP_PIXELS = STRIP_FLOATS * sizeof(float) / sizeof(pixel_type);
    __shared__ pixel_type strip[STRIP_PIXELS];
    __shared__ float space[GF_BILATERAL_RADIUS_MAX + 1];
    const int thread = threadIdx.x, tx = thread % TILE_COLUMNS, ty = thread / TILE_COLUMNS;
    const int radius = args.radius, columns = TILE_COLUMNS + 2 * radius;
    const int strip_rows = STRIP_PIXELS / columns;
    const int x0 = (int)blockIdx.x * TILE_COLUMNS, x = x0 + tx;
    for (int i = thread; i <= radius; i += THREADS)
        space[i] = args.space[i];
    for (int start = blockIdx.y * TILE_ROWS; start < p.rows; start += GRID_ROWS_MAX * TILE_ROWS) {
        const int y0 = p.out_y + start, y = y0 + 2 * ty, end = p.out_y + p.rows;
        /* The last row of the input view is `radius` rows below the last row of the result. */
        const int last = min(y0 + TILE_ROWS, end) - 1 + radius;
        pixel_type centre[2] = {};
        struct sums<CHANNELS> total[2] = {
        };
#pragma unroll
        for (int k = 0; k < 2; k++) {
            if (x < p.width && y + k < end)
                centre[k] = load_pixel<CHANNELS>(p, x, y + k);
        }
        for (int top = y0 - radius; top <= last; top += strip_rows) {
            const int rows = min(strip_rows, last + 1 - top);
            __syncthreads();
            for (int i = ty; i < rows; i += TILE_THREADS_Y) {
                for (int j = tx; j < columns; j += TILE_COLUMNS)
                    strip[i * columns + j] = load_pixel<CHANNELS>(p, x0 - radius + j, top + i);
            }
            __syncthreads();
            const int from = max(0, y - radius - top), to = min(rows - 1, y + 1 + radius - top);
            for (int i = from; i <= to; i++) {
                const int dy = top + i - y; /* the distance in rows, -radius .. radius + 1 */
                const float above = dy <= radius ? space[abs(dy)] : NO_WEIGHT;
                const float below = dy > -radius ? space[abs(dy - 1)] : NO_WEIGHT;
                const pixel_type *const row = strip + i * columns + tx + radius;
                struct sums<CHANNELS> sum[2] = {
                };
#pragma unroll 4
                for (int dx = -radius; dx <= radius; dx++) {
                    const pixel_type tap = row[dx];
                    const float beside = space[abs(dx)];
                    sum[0].add_tap(centre[0], tap, beside + above, args.colour, power_of_two());
                    sum[1].add_tap(centre[1], tap, beside + below, args.colour, power_of_two());
                }
                total[0].add(sum[0]);
                total[1].add(sum[1]);
            }
        }
#pragma unroll
        for (int k = 0; k < 2; k++) {
            if (x >= p.width || y + k >= end)
                continue;
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                centre[k].v[c] += total[k].colour[c] / total[k].weight;
            store_pixel<CHANNELS>(p, x, y + k, centre[k]);
        }
    }
}

/* The largest radius with unrolled loops along a row and a tile that holds the whole window. */
enum { SMALL_RADIUS_MAX = 6 };

/* Adds the taps of one row of the window to the sums of the pixels (the first, the second or both)
 * whose windows contain the row. */
template <int CHANNELS, int RADIUS, bool FIRST, bool SECOND>
static __device__ __forceinline__ void
add_row(const struct colours<CHANNELS> *row, const struct colours<CHANNELS> centre[2],
        const float beside[RADIUS + 1], float above, float below, float colour,
        struct sums<CHANNELS> total[2])
{
    struct sums<CHANNELS> sum[2] = {
    };
#pragma unroll
    for (int dx = -RADIUS; dx <= RADIUS; dx++) {
        const struct colours<CHANNELS> tap = row[dx];
        const float space = beside[dx < 0 ? -dx : dx];
        if (FIRST)
            sum[0].add_tap(centre[0], tap, space + above, colour, power_of_two());
        if (SECOND)
            sum[1].add_tap(centre[1], tap, space + below, colour, power_of_two());
    }
    if (FIRST)
        total[0].add(sum[0]);
    if (SECOND)
        total[1].add(sum[1]);
}

template <int CHANNELS, int RADIUS>
static __global__ void __launch_bounds__(THREADS) bilateral_small_kernel(struct bilateral_args args)
{
    const struct view_pair &p = args.p;
    typedef struct colours<CHANNELS> pixel_type;
    constexpr int COLUMNS = TILE_COLUMNS + 2 * RADIUS, LINES = TILE_ROWS + 2 * RADIUS;
    __shared__ pixel_type tile[LINES * COLUMNS];
    __shared__ float space[RADIUS + 1];
    const int tx = threadIdx.x % TILE_COLUMNS, ty = threadIdx.x / TILE_COLUMNS;
    const int x0 = (int)blockIdx.x * TILE_COLUMNS, x = x0 + tx;
    if (threadIdx.x <= RADIUS)
        space[threadIdx.x] = args.space[threadIdx.x];
    for (int start = blockIdx.y * TILE_ROWS; start < p.rows; start += GRID_ROWS_MAX * TILE_ROWS) {
        const int y0 = p.out_y + start, y = y0 + 2 * ty, end = p.out_y + p.rows;
        /* The tile's rows that are loaded. The input view ends RADIUS rows below the last row of
         * the result, so that the last tile must not be loaded whole. */
        const int lines = min((int)TILE_ROWS, end - y0) + 2 * RADIUS;
        __syncthreads();
        /* The second pixel of the last pair may be below the rows of the result: then one row of
         * its window is not loaded, and its result is not written. */
        for (int i = threadIdx.x; i < lines * COLUMNS; i += THREADS)
            tile[i] = load_pixel<CHANNELS>(p, x0 - RADIUS + i % COLUMNS, y0 - RADIUS + i / COLUMNS);
        __syncthreads();
        if (x >= p.width || y >= end)
            continue;
        const pixel_type *row = tile + 2 * ty * COLUMNS + tx + RADIUS;
        const pixel_type centre[2] = {row[RADIUS * COLUMNS], row[(RADIUS + 1) * COLUMNS]};
        float beside[RADIUS + 1];
#pragma unroll
        for (int i = 0; i <= RADIUS; i++)
            beside[i] = space[i];
        struct sums<CHANNELS> total[2] = {
        };
        add_row<CHANNELS, RADIUS, true, false>(row, centre, beside, beside[RADIUS], 0.0f,
                                               args.colour, total);
#pragma unroll 1
        for (int i = 1; i <= 2 * RADIUS; i++) {
            row += COLUMNS;
            add_row<CHANNELS, RADIUS, true, true>(row, centre, beside, space[abs(i - RADIUS)],
                                                  space[abs(i - 1 - RADIUS)], args.colour, total);
        }
        add_row<CHANNELS, RADIUS, false, true>(row + COLUMNS, centre, beside, 0.0f, beside[RADIUS],
                                               args.colour, total);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            pixel_type result = centre[k];
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                result.v[c] += total[k].colour[c] / total[k].weight;
            if (y + k < end)
                store_pixel<CHANNELS>(p, x, y + k, result);
        }
    }
}

template <int CHANNELS, int RADIUS>
static bool launch_small(const struct bilateral_args &args, dim3 grid, cudaStream_t stream)
{
    if (args.radius == RADIUS) {
        bilateral_small_kernel<CHANNELS, RADIUS><<<grid, THREADS, 0, stream>>>(args);
        return true;
    }
    if constexpr (RADIUS < SMALL_RADIUS_MAX)
        return launch_small<CHANNELS, RADIUS + 1>(args, grid, stream);
    return false;
}

template <int CHANNELS>
static int launch_tiles(const struct bilateral_args &args, cudaStream_t stream)
{
    const struct view_pair &p = args.p;
    const int strips = (p.rows + TILE_ROWS - 1) / TILE_ROWS;
    const dim3 grid((p.width + TILE_COLUMNS - 1) / TILE_COLUMNS,
                    strips < GRID_ROWS_MAX ? strips : GRID_ROWS_MAX);
    if (!launch_small<CHANNELS, 1>(args, grid, stream))
        bilateral_kernel<CHANNELS><<<grid, THREADS, 0, stream>>>(args);
    return cudaGetLastError();
}

extern "C" int gf_bilateral_tiled_cuda(const struct gf_launch *launch)
{
    const struct bilateral_args args = bilateral_args_of(launch);
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    return for_channels(args.p.channels, [&](auto channels) {
        return launch_tiles<decltype(channels)::value>(args, stream);
    });
}

extern "C" int gf_bilateral_cuda(const struct gf_launch *launch)
{
    return gf_bilateral_near_refuses(launch->stage) ? gf_bilateral_tiled_cuda(launch)
                                                    : gf_bilateral_near_cuda(launch);
}
