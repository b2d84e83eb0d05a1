/* Resizing with Pillow's or OpenCV's very samples: both passes by tiles in shared memory; and
 * Image.reduce(). */
#include "cuda/filters/resize/resize.cuh"
#include "filters/resize/opencv.h"

constexpr int WIDTH = 32; /* columns of a tile: a lane's is the same in both passes */
constexpr int WARPS = 8, THREADS = WIDTH * WARPS;
constexpr int EACH = 4;            /* rows of a thread, in either pass */
constexpr int ROWS = WARPS * EACH; /* rows of a tile of the result, and of a strip of the input */

/* Arrays of struct gf_pillow_axis in device memory. */
struct pillow_args {
    struct view_pair p;
    int out_width, column_taps, row_taps;
    const int *column_start, *column_count, *row_start, *row_count;
    const void *column_weight, *row_weight;
    bool premultiplies, straightens;
    int shift; /* as in struct gf_opencv */
    float factor;
};

/* What is computed: of samples of Sample, sums of Sum, which begin with FIRST and are Between
 * between the passes; product() is of a row, the sums of columns are of plain products. */
template <class Sample_, class Between_, class Sum_> struct sums_of {
    typedef Sample_ Sample;
    typedef Between_ Between;
    typedef Sum_ Sum;
    static constexpr int FIRST = 0;
    static __device__ __forceinline__ Sum product(const pillow_args &, Between v, Sum weight)
    {
        return v * weight;
    }
};
struct pillow_bytes : sums_of<unsigned char, unsigned char, int> {
    static constexpr int FIRST = 1 << (GF_PILLOW_BITS - 1);
    static __device__ __forceinline__ int between(int sum)
    {
        return gf_pillow_byte(sum);
    }
    static __device__ __forceinline__ int result(const pillow_args &, int sum)
    {
        return gf_pillow_byte(sum);
    }
};
struct pillow_words : sums_of<unsigned short, unsigned short, double> {
    static __device__ __forceinline__ int between(double sum)
    {
        return gf_pillow_word(sum);
    }
    static __device__ __forceinline__ int result(const pillow_args &, double sum)
    {
        return gf_pillow_word(sum);
    }
};
struct opencv_integers : sums_of<unsigned char, int, int> {
    static __device__ __forceinline__ int between(int sum)
    {
        return sum >> GF_OPENCV_DROPPED;
    }
    static __device__ __forceinline__ int product(const pillow_args &args, int v, int weight)
    {
        return (v * weight) >> args.shift;
    }
    static __device__ __forceinline__ int result(const pillow_args &args, int sum)
    {
        return gf_opencv_result(sum, args.factor);
    }
};
struct opencv_floats : sums_of<unsigned char, float, float> {
    static __device__ __forceinline__ float between(float sum)
    {
        return sum;
    }
    static __device__ __forceinline__ int result(const pillow_args &, float sum)
    {
        return gf_opencv_rounded(sum);
    }
};

template <class Sample, int CHANNELS>
static __device__ __forceinline__ void load_pixel(const Sample *pixel, bool premultiplies,
                                                  int (&v)[CHANNELS])
{
    if (CHANNELS == 4) {
        const uchar4 all = __ldg((const uchar4 *)pixel);
        v[0] = all.x, v[1 % CHANNELS] = all.y, v[2 % CHANNELS] = all.z, v[3 % CHANNELS] = all.w;
    } else {
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            v[c] = __ldg(pixel + c);
    }
#pragma unroll
    for (int c = 0; premultiplies && c < CHANNELS - 1; c++)
        v[c] = gf_pillow_premultiplied(v[c], v[CHANNELS - 1]);
}

/* Computes EACH rows of a strip, from row `first` of the picture on, of which those before `end`
 * are needed, in one column. */
template <class Sums, int CHANNELS>
static __device__ __forceinline__ void make_strip(const struct pillow_args &args, int x, int first,
                                                  int end,
                                                  typename Sums::Between (*strip)[WIDTH * CHANNELS])
{
    typedef typename Sums::Sample Sample;
    typedef typename Sums::Sum Sum;
    const struct view_pair &p = args.p;
    const int start = __ldg(args.column_start + x), count = __ldg(args.column_count + x);
    const Sum *const weight = (const Sum *)args.column_weight + (size_t)x * args.column_taps;
    const Sample *row[EACH];
    Sum sum[EACH][CHANNELS];
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int y = max(min(first + i, min(end, p.height) - 1), 0) - p.in_y;
        row[i] = (const Sample *)(p.in + y * (ptrdiff_t)p.in_pitch) + start * CHANNELS;
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            sum[i][c] = Sums::FIRST;
    }
    for (int k = 0; k < count; k++) {
        const Sum w = __ldg(weight + k);
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            int v[CHANNELS];
            load_pixel<Sample, CHANNELS>(row[i] + k * CHANNELS,
                                         CHANNELS % 2 == 0 && args.premultiplies, v);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                sum[i][c] += v[c] * w;
        }
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            strip[i][threadIdx.x % WIDTH * CHANNELS + c] =
                (typename Sums::Between)Sums::between(sum[i][c]);
    }
}

/* A thread makes EACH rows of a strip, then adds strips to its EACH rows of the result. */
template <class Sums, int CHANNELS>
static __global__ void __launch_bounds__(THREADS) pillow_kernel(struct pillow_args args)
{
    typedef typename Sums::Sample Sample;
    typedef typename Sums::Sum Sum;
    const struct view_pair &p = args.p;
    __shared__ typename Sums::Between strip[ROWS][WIDTH * CHANNELS];
    const int lane = threadIdx.x % WIDTH, own = threadIdx.x / WIDTH * EACH;
    const int x = blockIdx.x * WIDTH + lane, band_end = p.out_y + p.rows;
    for (int tile = p.out_y + blockIdx.y * ROWS; tile < band_end; tile += GRID_ROWS_MAX * ROWS) {
        const int last = min(tile + ROWS, band_end) - 1;
        const int top = __ldg(args.row_start + tile);
        const int bottom = __ldg(args.row_start + last) + __ldg(args.row_count + last);
        Sum sum[EACH][CHANNELS];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                sum[i][c] = Sums::FIRST;
        }
        for (int from = top; from < bottom; from += ROWS) {
            const int to = min(from + ROWS, bottom);
            __syncthreads();
            if (x < args.out_width && from + own < to)
                make_strip<Sums, CHANNELS>(args, x, from + own, to, strip + own);
            __syncthreads();
#pragma unroll
            for (int i = 0; x < args.out_width && i < EACH; i++) {
                const int y = min(tile + own + i, last);
                const int start = __ldg(args.row_start + y);
                const int end = min(start + __ldg(args.row_count + y), to);
                const Sum *const weight = (const Sum *)args.row_weight + (size_t)y * args.row_taps;
                for (int at = max(start, from); at < end; at++) {
                    const Sum w = __ldg(weight + (at - start));
#pragma unroll
                    for (int c = 0; c < CHANNELS; c++)
                        sum[i][c] += Sums::product(args, strip[at - from][lane * CHANNELS + c], w);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int y = tile + own + i;
            if (y > last || x >= args.out_width)
                continue;
            Sample *const to =
                (Sample *)(p.out + (size_t)(y - p.out_y) * p.out_pitch) + (size_t)x * CHANNELS;
            const int alpha = Sums::result(args, sum[i][CHANNELS - 1]);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++) {
                const int v = Sums::result(args, sum[i][c]);
                const bool is_colour = CHANNELS % 2 == 0 && c < CHANNELS - 1 && args.straightens;
                to[c] = (Sample)(is_colour ? gf_pillow_straight(v, alpha) : v);
            }
        }
    }
}

template <class Sums, int CHANNELS>
static int launch_pillow(const struct pillow_args &args, cudaStream_t stream)
{
    const int tiles = ceil_div(args.p.rows, ROWS);
    const dim3 grid(ceil_div(args.out_width, WIDTH), tiles < GRID_ROWS_MAX ? tiles : GRID_ROWS_MAX);
    pillow_kernel<Sums, CHANNELS><<<grid, THREADS, 0, stream>>>(args);
    return cudaGetLastError();
}

template <class Sums>
static int launch_channels(const struct pillow_args &args, cudaStream_t stream)
{
    return for_channels(args.p.channels, [&](auto channels) {
        return launch_pillow<Sums, decltype(channels)::value>(args, stream);
    });
}

static struct pillow_args args_of(const struct gf_launch *launch,
                                  const struct gf_pillow_axis &columns,
                                  const struct gf_pillow_axis &rows)
{
    const char *const block = (const char *)launch->constants;
    struct pillow_args args = {};
    args.p = view_pair_of(launch, 0);
    args.out_width = launch->out.format.width;
    args.column_taps = columns.taps;
    args.row_taps = rows.taps;
    args.column_start = (const int *)(block + columns.start);
    args.column_count = (const int *)(block + columns.count);
    args.row_start = (const int *)(block + rows.start);
    args.row_count = (const int *)(block + rows.count);
    args.column_weight = block + columns.weight;
    args.row_weight = block + rows.weight;
    return args;
}

extern "C" int gf_pillow_cuda(const struct gf_launch *launch)
{
    const struct gf_pillow *const pillow = (const struct gf_pillow *)launch->stage->constants;
    const struct gf_pillow_params *const resize =
        (const struct gf_pillow_params *)launch->stage->params;
    const struct gf_format format = launch->out.format;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    struct pillow_args args = args_of(launch, pillow->columns, pillow->rows);
    args.premultiplies = !resize->from_premultiplied;
    args.straightens = !resize->to_premultiplied;
    if (!pillow->columns.taps) {
        struct resize_args nearest = {};
        nearest.p = args.p;
        nearest.out_width = format.width;
        nearest.column_start = args.column_start;
        nearest.row_start = args.row_start;
        return gf_resize_pick(nearest, format.channels * format.bits / 8, stream);
    }
    return format.bits == 16 ? launch_pillow<pillow_words, 1>(args, stream)
                             : launch_channels<pillow_bytes>(args, stream);
}

extern "C" int gf_opencv_cuda(const struct gf_launch *launch)
{
    const struct gf_opencv *const opencv = (const struct gf_opencv *)launch->stage->constants;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    struct pillow_args args = args_of(launch, opencv->columns, opencv->rows);
    args.shift = opencv->shift;
    args.factor = opencv->factor;
    return opencv->floats ? launch_channels<opencv_floats>(args, stream)
                          : launch_channels<opencv_integers>(args, stream);
}

/* ---- Image.reduce() ---- */

template <int CHANNELS>
static __global__ void __launch_bounds__(THREADS)
    reduce_kernel(struct view_pair p, struct gf_reduce_params reduce, int out_width)
{
    const int x = blockIdx.x * WIDTH + threadIdx.x % WIDTH;
    if (x >= out_width)
        return;
    int columns, rows;
    const int left = gf_reduce_block(x, reduce.x, reduce.box[0], reduce.box[2], &columns);
    for (int y = blockIdx.y * WARPS + threadIdx.x / WIDTH; y < p.rows; y += GRID_ROWS_MAX * WARPS) {
        const int top =
            gf_reduce_block(p.out_y + y, reduce.y, reduce.box[1], reduce.box[3], &rows) - p.in_y;
        const uint32_t pixels = (uint32_t)(rows * columns), factor = gf_reduce_factor((int)pixels);
        uint32_t sum[CHANNELS];
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            sum[c] = pixels / 2;
        for (int i = 0; i < rows; i++) {
            const unsigned char *const row =
                p.in + (top + i) * (ptrdiff_t)p.in_pitch + (size_t)left * CHANNELS;
            for (int k = 0; k < columns; k++) {
                int v[CHANNELS];
                load_pixel<unsigned char, CHANNELS>(row + k * CHANNELS, CHANNELS % 2 == 0, v);
#pragma unroll
                for (int c = 0; c < CHANNELS; c++)
                    sum[c] += v[c];
            }
        }
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            p.out[(size_t)y * p.out_pitch + (size_t)x * CHANNELS + c] =
                (unsigned char)((sum[c] * factor) >> 24);
    }
}

extern "C" int gf_reduce_cuda(const struct gf_launch *launch)
{
    const struct gf_reduce_params *const reduce =
        (const struct gf_reduce_params *)launch->stage->params;
    const struct view_pair p = view_pair_of(launch, 0);
    const int width = launch->out.format.width, blocks = ceil_div(p.rows, WARPS);
    const dim3 grid(ceil_div(width, WIDTH), blocks < GRID_ROWS_MAX ? blocks : GRID_ROWS_MAX);
    return for_channels(p.channels, [&](auto channels) {
        reduce_kernel<decltype(channels)::value>
            <<<grid, THREADS, 0, (cudaStream_t)launch->stream>>>(p, *reduce, width);
        return (int)cudaGetLastError();
    });
}
