#include "cuda/filters/bilateral.cuh"

/* A block makes a tile of the output. It reads the tile and `radius` pixels around it as floats
 * into shared memory, a strip of as many rows as fit at a time, so that every radius works. The
 * lanes of a warp lie along a row. */
constexpr int TILE_COLUMNS = 32;
constexpr int TILE_THREADS_Y = 8;
constexpr int TILE_ROWS = 2 * TILE_THREADS_Y; /* a thread makes two pixels, one below the other */
constexpr int THREADS = TILE_COLUMNS * TILE_THREADS_Y;
constexpr int STRIP_FLOATS = 8192;
constexpr float NO_WEIGHT = -1e30f; /* an exponent whose power is 0 */

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
        /* The view ends `radius` rows below the last row that is made. */
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
                const int dy = top + i - y; /* -radius .. radius + 1 */
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

template <int CHANNELS>
static int launch_tiles(const struct bilateral_args &args, cudaStream_t stream)
{
    const struct view_pair &p = args.p;
    const int strips = (p.rows + TILE_ROWS - 1) / TILE_ROWS;
    const dim3 grid((p.width + TILE_COLUMNS - 1) / TILE_COLUMNS,
                    strips < GRID_ROWS_MAX ? strips : GRID_ROWS_MAX);
    bilateral_kernel<CHANNELS><<<grid, THREADS, 0, stream>>>(args);
    return cudaGetLastError();
}

extern "C" int gf_bilateral_cuda(const struct gf_launch *launch)
{
    const struct bilateral_args args = bilateral_args_of(launch);
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    return for_channels(args.p.channels, [&](auto channels) {
        return launch_tiles<decltype(channels)::value>(args, stream);
    });
}
