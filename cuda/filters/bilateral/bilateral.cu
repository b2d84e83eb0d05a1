#include "cuda/filters/bilateral/bilateral.cuh"

#include "cuda/common/stencil.cuh"

/* bilateral with a small radius for 8-bit pictures of one or three channels. It computes sums that
 * are near the CPU's, and the CPU's own sums only for the few pixels whose near sum does not
 * determine the rounded sample. `margin` bounds the difference between the means of
 * both sums. A mean that is known within this margin rounds to the CPU's sample unless a number
 * halfway between two samples is within the margin. The near sums may therefore use the GPU's power
 * of two, whose last bits differ between kinds of GPU, and integers for distances; about one pixel
 * in 200 is computed again. */

/* A thread computes NEAR_RUN pixels of a column, and a block computes a tile. */
enum {
    NEAR_COLUMNS = 32,
    NEAR_STRETCH = 4,
    NEAR_WARPS = 8,
    NEAR_THREADS = NEAR_COLUMNS * NEAR_WARPS,
    NEAR_ROWS = NEAR_STRETCH * NEAR_WARPS,
};

struct near_args {
    struct bilateral_args exact;
    float margin;
    float space[GF_BILATERAL_NEAR_MAX + 1];  /* exponents of the distance's weight, by |dx| */
    float factor[GF_BILATERAL_NEAR_MAX + 1]; /* factors of the distance's weight, by |dy| */
};

/* Samples are stored as differences from the middle of their range, which are exact and halve the
 * rounding errors of sums. With three channels the samples' bytes are stored, too. */
constexpr float NEAR_MIDDLE = 128.0f;

template <int CHANNELS>
static __device__ __forceinline__ colours<CHANNELS> near_pixel(const unsigned char *from)
{
    colours<CHANNELS> pixel = {};
    unsigned bytes = 0;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        const unsigned sample = from ? __ldg(from + c) : 0;
        pixel.v[c] = __uint_as_float(0x4B000000u | sample) - (8388608.0f + NEAR_MIDDLE);
        bytes |= sample << 8 * c;
    }
    if constexpr (CHANNELS == 3)
        pixel.v[3] = __uint_as_float(bytes);
    return pixel;
}

/* Loads the tile and RADIUS pixels around it. Rows below the rows that the results need are copies
 * of the last needed row. */
template <int CHANNELS, int RADIUS>
static __device__ __forceinline__ void load_near(const struct view_pair &p, int x0, int y0,
                                                 int lines, struct colours<CHANNELS> *tile)
{
    constexpr int COLUMNS = NEAR_COLUMNS + 2 * RADIUS, ROWS = NEAR_ROWS + 2 * RADIUS;
    const bool inside = x0 >= RADIUS && x0 + NEAR_COLUMNS + RADIUS <= p.width && y0 >= RADIUS &&
                        y0 + lines + RADIUS <= p.height;
    for (int i = threadIdx.x; i < ROWS * COLUMNS; i += NEAR_THREADS) {
        int y = y0 - RADIUS + min(i / COLUMNS, lines + 2 * RADIUS - 1);
        int x = x0 - RADIUS + i % COLUMNS;
        if (!inside) {
            y = gf_border_index(y, p.height, p.border);
            x = gf_border_index(x, p.width, p.border);
        }
        const unsigned char *const from = p.in + (long long)(y - p.in_y) * (long long)p.in_pitch;
        tile[i] = near_pixel<CHANNELS>(x < 0 || y < 0 ? nullptr : from + (long long)x * CHANNELS);
    }
}

/* Returns the squared distance of two colours, exactly. */
static __device__ __forceinline__ float near_distance(const struct colours<3> &a,
                                                      const struct colours<3> &b)
{
    const unsigned apart = __vabsdiffu4(__float_as_uint(a.v[3]), __float_as_uint(b.v[3]));
    return __uint_as_float(__dp4a(apart, apart, 0x4B000000u)) - 8388608.0f;
}

static __device__ __forceinline__ float near_distance(const struct colours<1> &a,
                                                      const struct colours<1> &b)
{
    const float apart = a.v[0] - b.v[0];
    return apart * apart;
}

static __device__ __forceinline__ float power_near(float x)
{
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

/* The sum of weights, and the sums of weights times samples. */
template <int CHANNELS> struct near_sums {
    float weight, colour[CHANNELS];

    __device__ __forceinline__ void add_tap(float w, const struct colours<CHANNELS> &tap,
                                            bool first)
    {
        weight = first ? w : weight + w;
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            colour[c] = first ? w * tap.v[c] : fmaf(w, tap.v[c], colour[c]);
    }
    __device__ __forceinline__ void add_row(const struct near_sums &row, float factor)
    {
        weight = fmaf(factor, row.weight, weight);
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            colour[c] = fmaf(factor, row.colour[c], colour[c]);
    }
};

/* Adds row `line` of the windows, counted from the top of the first pixel's window, to pixels FROM
 * to TO, whose windows contain it. `row` is the thread's own column of that row. */
template <int CHANNELS, int RADIUS, int FROM, int TO>
static __device__ __forceinline__ void
add_near_row(const struct near_args &args, const struct colours<CHANNELS> *row, int line,
             const struct colours<CHANNELS> *centre, struct near_sums<CHANNELS> *total)
{
    struct near_sums<CHANNELS> sum[NEAR_STRETCH];
#pragma unroll
    for (int dx = -RADIUS; dx <= RADIUS; dx++) {
        const struct colours<CHANNELS> tap = row[dx];
        const float space = args.space[dx < 0 ? -dx : dx];
#pragma unroll
        for (int k = FROM; k <= TO; k++)
            sum[k].add_tap(
                power_near(fmaf(near_distance(tap, centre[k]), args.exact.colour, space)), tap,
                dx == -RADIUS);
    }
#pragma unroll
    for (int k = FROM; k <= TO; k++)
        total[k].add_row(sum[k], args.factor[abs(line - k - RADIUS)]);
}

/* Adds rows LINE .. NEAR_RUN - 2 of the windows, which only the windows of the first pixels
 * contain, and the corresponding rows at the windows' end. */
template <int CHANNELS, int RADIUS, int LINE>
static __device__ __forceinline__ void
add_first_rows(const struct near_args &args, const struct colours<CHANNELS> *row,
               const struct colours<CHANNELS> *centre, struct near_sums<CHANNELS> *total)
{
    constexpr int COLUMNS = NEAR_COLUMNS + 2 * RADIUS;
    if constexpr (LINE < NEAR_STRETCH - 1) {
        add_near_row<CHANNELS, RADIUS, (LINE > 2 * RADIUS ? LINE - 2 * RADIUS : 0), LINE>(
            args, row + LINE * COLUMNS, LINE, centre, total);
        add_first_rows<CHANNELS, RADIUS, LINE + 1>(args, row, centre, total);
    }
}

template <int CHANNELS, int RADIUS, int LINE>
static __device__ __forceinline__ void
add_last_rows(const struct near_args &args, const struct colours<CHANNELS> *row,
              const struct colours<CHANNELS> *centre, struct near_sums<CHANNELS> *total)
{
    constexpr int COLUMNS = NEAR_COLUMNS + 2 * RADIUS;
    if constexpr (LINE < NEAR_STRETCH + 2 * RADIUS) {
        add_near_row<CHANNELS, RADIUS, LINE - 2 * RADIUS, NEAR_STRETCH - 1>(
            args, row + LINE * COLUMNS, LINE, centre, total);
        add_last_rows<CHANNELS, RADIUS, LINE + 1>(args, row, centre, total);
    }
}

/* Rounds the means to the samples of a pixel. Returns false if one of the samples may differ from
 * the CPU's. */
template <int CHANNELS>
static __device__ __forceinline__ bool round_near(const struct near_sums<CHANNELS> &sums,
                                                  float margin, unsigned sample[CHANNELS])
{
    const float part = reciprocal_near(sums.weight);
    bool certain = true;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        const float raised = fmaf(sums.colour[c], part, NEAR_MIDDLE + 0.5f);
        const float whole = __fadd_rz(raised, 8388608.0f);
        const float fraction = raised - (whole - 8388608.0f);
        sample[c] = __float_as_uint(whole) & 255;
        certain = certain && fabsf(fraction - 0.5f) < 0.5f - margin;
    }
    return certain;
}

/* The pixels of the block's tile that must be computed again, as row * NEAR_COLUMNS + column. */
struct near_list {
    int count;
    unsigned short pixel[NEAR_ROWS * NEAR_COLUMNS];
};

/* Computes the listed pixels as the CPU does. A lane adds a row of a window in the CPU's order, and
 * the first lane of a window adds the rows' sums. */
template <int CHANNELS, int RADIUS>
static __device__ __forceinline__ void
finish_exactly(const struct near_args &args, const struct colours<CHANNELS> *tile,
               const struct near_list &list, const float *space, int x0, int y0)
{
    constexpr int COLUMNS = NEAR_COLUMNS + 2 * RADIUS, SIDES = 2 * RADIUS + 1;
    constexpr int WINDOWS = WARP / SIDES;
    const struct view_pair &p = args.exact.p;
    const int lane = threadIdx.x % WARP, window = min(lane / SIDES, WINDOWS - 1);
    const int dy = min(lane - window * SIDES, SIDES - 1) - RADIUS;
    for (int first = threadIdx.x / WARP * WINDOWS; first < list.count;
         first += NEAR_WARPS * WINDOWS) {
        const int pixel = list.pixel[min(first + window, list.count - 1)];
        const int x = pixel % NEAR_COLUMNS, y = pixel / NEAR_COLUMNS;
        const struct colours<CHANNELS> *const middle = tile + (y + RADIUS) * COLUMNS + x + RADIUS;
        const struct colours<CHANNELS> centre = *middle;
        sums<CHANNELS> row = {}, total = {};
#pragma unroll 1
        for (int dx = -RADIUS; dx <= RADIUS; dx++)
            row.add_tap(centre, middle[dy * COLUMNS + dx], space[abs(dx)] + space[abs(dy)],
                        args.exact.colour, power_of_two());
#pragma unroll 1
        for (int i = 0; i < SIDES; i++) {
            const int from = window * SIDES + i;
            struct sums<CHANNELS> other;
            other.weight = __shfl_sync(~0u, row.weight, from);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                other.colour[c] = __shfl_sync(~0u, row.colour[c], from);
            total.add(other);
        }
        if (lane != window * SIDES || first + window >= list.count)
            continue;
        colours<CHANNELS> result = {};
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            result.v[c] = centre.v[c] + NEAR_MIDDLE + total.colour[c] / total.weight;
        store_pixel<CHANNELS>(p, x0 + x, y0 + y, result);
    }
}

template <int CHANNELS, int RADIUS>
static __global__ void __launch_bounds__(NEAR_THREADS, 3)
    bilateral_near_kernel(const struct near_args args)
{
    typedef struct colours<CHANNELS> pixel_type;
    constexpr int COLUMNS = NEAR_COLUMNS + 2 * RADIUS, ROWS = NEAR_ROWS + 2 * RADIUS;
    __shared__ pixel_type tile[ROWS * COLUMNS];
    __shared__ struct near_list list;
    __shared__ float space[RADIUS + 1];
    const struct view_pair &p = args.exact.p;
    const int tx = threadIdx.x % NEAR_COLUMNS, ty = threadIdx.x / NEAR_COLUMNS;
    const struct tile_origin origin = block_tile(p.width, NEAR_COLUMNS, NEAR_ROWS);
    const int x0 = origin.x, y0 = p.out_y + origin.row;
    const int lines = min((int)NEAR_ROWS, p.rows - origin.row);
    if (threadIdx.x <= RADIUS)
        space[threadIdx.x] = args.space[threadIdx.x];
    if (threadIdx.x == 0)
        list.count = 0;
    load_near<CHANNELS, RADIUS>(p, x0, y0, lines, tile);
    __syncthreads();
    const pixel_type *const top = tile + NEAR_STRETCH * ty * COLUMNS + tx + RADIUS;
    pixel_type centre[NEAR_STRETCH];
    near_sums<CHANNELS> total[NEAR_STRETCH] = {};
#pragma unroll
    for (int k = 0; k < NEAR_STRETCH; k++)
        centre[k] = top[(RADIUS + k) * COLUMNS];
    add_first_rows<CHANNELS, RADIUS, 0>(args, top, centre, total);
#pragma unroll 1
    for (int line = NEAR_STRETCH - 1; line <= 2 * RADIUS; line++)
        add_near_row<CHANNELS, RADIUS, 0, NEAR_STRETCH - 1>(args, top + line * COLUMNS, line,
                                                            centre, total);
    add_last_rows<CHANNELS, RADIUS, 2 * RADIUS + 1>(args, top, centre, total);
#pragma unroll
    for (int k = 0; k < NEAR_STRETCH; k++) {
        const int row = NEAR_STRETCH * ty + k;
        unsigned sample[CHANNELS];
        if (x0 + tx >= p.width || row >= lines)
            continue;
        if (round_near<CHANNELS>(total[k], args.margin, sample)) {
            unsigned char *const to = p.out +
                                      (long long)(y0 + row - p.out_y) * (long long)p.out_pitch +
                                      (long long)(x0 + tx) * CHANNELS;
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                to[c] = (unsigned char)sample[c];
        } else {
            list.pixel[atomicAdd(&list.count, 1)] = (unsigned short)(row * NEAR_COLUMNS + tx);
        }
    }
    __syncthreads();
    finish_exactly<CHANNELS, RADIUS>(args, tile, list, space, x0, y0);
}

template <int CHANNELS, int RADIUS>
static int launch_near(const struct near_args &args, cudaStream_t stream)
{
    if constexpr (RADIUS < GF_BILATERAL_NEAR_MAX) {
        if (args.exact.radius > RADIUS)
            return launch_near<CHANNELS, RADIUS + 1>(args, stream);
    }
    const struct view_pair &p = args.exact.p;
    const int tiles = tile_blocks(p.width, p.rows, NEAR_COLUMNS, NEAR_ROWS);
    return launch_kernel(bilateral_near_kernel<CHANNELS, RADIUS>, tiles, NEAR_THREADS, 0, stream,
                         args);
}

extern "C" int gf_bilateral_near_cuda(const struct gf_launch *launch)
{
    const struct gf_bilateral_weights *const weights =
        (const struct gf_bilateral_weights *)launch->stage->constants;
    struct near_args args = {};
    args.exact = bilateral_args_of(launch);
    args.margin = weights->margin;
    for (int i = 0; i <= weights->radius; i++) {
        args.space[i] = weights->space[i];
        args.factor[i] = weights->factor[i];
    }
    return args.exact.p.channels == 3 ? launch_near<3, 1>(args, launch->stream)
                                      : launch_near<1, 1>(args, launch->stream);
}

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

template <bool FLOATS, int CHANNELS>
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
                centre[k] = load_pixel<CHANNELS, FLOATS>(p, x, y + k);
        }
        for (int top = y0 - radius; top <= last; top += strip_rows) {
            const int rows = min(strip_rows, last + 1 - top);
            __syncthreads();
            for (int i = ty; i < rows; i += TILE_THREADS_Y) {
                for (int j = tx; j < columns; j += TILE_COLUMNS)
                    strip[i * columns + j] =
                        load_pixel<CHANNELS, FLOATS>(p, x0 - radius + j, top + i);
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
                    sum[0].template add_tap<FLOATS>(centre[0], tap, beside + above, args.colour,
                                                    power_of_two());
                    sum[1].template add_tap<FLOATS>(centre[1], tap, beside + below, args.colour,
                                                    power_of_two());
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
            store_pixel<CHANNELS, FLOATS>(p, x, y + k, centre[k]);
        }
    }
}

/* The largest radius with unrolled loops along a row and a tile that holds the whole window. */
enum { SMALL_RADIUS_MAX = 6 };

/* Adds the taps of one row of the window to the sums of the pixels (the first, the second or both)
 * whose windows contain the row. */
template <bool FLOATS, int CHANNELS, int RADIUS, bool FIRST, bool SECOND>
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
            sum[0].template add_tap<FLOATS>(centre[0], tap, space + above, colour, power_of_two());
        if (SECOND)
            sum[1].template add_tap<FLOATS>(centre[1], tap, space + below, colour, power_of_two());
    }
    if (FIRST)
        total[0].add(sum[0]);
    if (SECOND)
        total[1].add(sum[1]);
}

template <bool FLOATS, int CHANNELS, int RADIUS>
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
            tile[i] = load_pixel<CHANNELS, FLOATS>(p, x0 - RADIUS + i % COLUMNS,
                                                   y0 - RADIUS + i / COLUMNS);
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
        add_row<FLOATS, CHANNELS, RADIUS, true, false>(row, centre, beside, beside[RADIUS], 0.0f,
                                                       args.colour, total);
#pragma unroll 1
        for (int i = 1; i <= 2 * RADIUS; i++) {
            row += COLUMNS;
            add_row<FLOATS, CHANNELS, RADIUS, true, true>(
                row, centre, beside, space[abs(i - RADIUS)], space[abs(i - 1 - RADIUS)],
                args.colour, total);
        }
        add_row<FLOATS, CHANNELS, RADIUS, false, true>(row + COLUMNS, centre, beside, 0.0f,
                                                       beside[RADIUS], args.colour, total);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            pixel_type result = centre[k];
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                result.v[c] += total[k].colour[c] / total[k].weight;
            if (y + k < end)
                store_pixel<CHANNELS, FLOATS>(p, x, y + k, result);
        }
    }
}

template <bool FLOATS, int CHANNELS, int RADIUS = 1>
static auto kernel_of(int radius) -> void (*)(struct bilateral_args)
{
    if constexpr (RADIUS > SMALL_RADIUS_MAX)
        return bilateral_kernel<FLOATS, CHANNELS>;
    else
        return radius == RADIUS ? bilateral_small_kernel<FLOATS, CHANNELS, RADIUS>
                                : kernel_of<FLOATS, CHANNELS, RADIUS + 1>(radius);
}

template <bool FLOATS, int CHANNELS>
static int launch_tiles(const struct bilateral_args &args, cudaStream_t stream)
{
    const struct view_pair &p = args.p;
    const dim3 grid = grid_of_rows(ceil_div(p.width, TILE_COLUMNS), ceil_div(p.rows, TILE_ROWS));
    return launch_kernel(kernel_of<FLOATS, CHANNELS>(args.radius), grid, THREADS, 0, stream, args);
}

template <bool FLOATS> static int launch_tiled(const struct gf_launch *launch)
{
    const struct bilateral_args args = bilateral_args_of(launch);
    return for_channels(args.p.channels, [&](auto channels) {
        return launch_tiles<FLOATS, decltype(channels)::value>(args, launch->stream);
    });
}

GF_LAUNCHES(gf_bilateral_tiled_cuda, launch_tiled<false>(launch))
GF_LAUNCHES(gf_bilateral_floats_cuda, launch_tiled<true>(launch))

extern "C" int gf_bilateral_cuda(const struct gf_launch *launch)
{
    return gf_bilateral_near_refuses(launch->stage) ? gf_bilateral_tiled_cuda(launch)
                                                    : gf_bilateral_near_cuda(launch);
}
