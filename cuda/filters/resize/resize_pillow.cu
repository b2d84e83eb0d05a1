/* Resizing with Pillow's or OpenCV's very samples: both passes by tiles in shared memory; and
 * Image.reduce(). */
#include "cuda/filters/resize/resize.cuh"
#include "filters/resize/opencv.h"

constexpr int WIDTH = 32; /* columns of a tile: a lane's is the same in both passes */
constexpr int WARPS = 8, THREADS = WIDTH * WARPS;
constexpr int PAIR = 2;            /* rows that a thread computes together in the first pass */
constexpr int EACH = 4;            /* and in the second */
constexpr int ROWS = WARPS * EACH; /* rows of a tile of the result */

/* Arrays of struct gf_pillow_axis in device memory. */
struct pillow_args {
    struct view_pair p;
    int out_width, column_taps, row_taps;
    const int *column_start, *column_count, *row_start, *row_count;
    const void *column_weight, *row_weight;
    bool premultiplies, straightens;
    int dropped, shift; /* as in struct gf_opencv */
    float factor;
    struct stacked stack;
};

/* What is computed: of samples of Sample, sums of Sum, which begin with FIRST and are Between
 * between the passes; product() is of a row, the sums of columns are of plain products. */
template <class Sample_, class Between_, class Sum_> struct sums_of {
    typedef Sample_ Sample;
    typedef Between_ Between;
    typedef Sum_ Sum;
    static constexpr int FIRST = 0;
    /* Rows of a strip of the input: all of most tiles. */
    static constexpr int STRIP = (sizeof(Between) == 4 ? 2 : 4) * ROWS;
    static __device__ __forceinline__ Sum product(const pillow_args &, Between v, Sum weight)
    {
        return v * weight;
    }
};
struct pillow_bytes : sums_of<unsigned char, unsigned char, int> {
    static constexpr int FIRST = 1 << (GF_PILLOW_BITS - 1);
    static __device__ __forceinline__ int between(const pillow_args &, int sum)
    {
        return gf_pillow_byte(sum);
    }
    static __device__ __forceinline__ int result(const pillow_args &, int sum)
    {
        return gf_pillow_byte(sum);
    }
};
struct pillow_words : sums_of<unsigned short, unsigned short, double> {
    static __device__ __forceinline__ int between(const pillow_args &, double sum)
    {
        return gf_pillow_word(sum);
    }
    static __device__ __forceinline__ int result(const pillow_args &, double sum)
    {
        return gf_pillow_word(sum);
    }
};
struct opencv_integers : sums_of<unsigned char, int, int> {
    static __device__ __forceinline__ int between(const pillow_args &args, int sum)
    {
        return sum >> args.dropped;
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
    static __device__ __forceinline__ float between(const pillow_args &, float sum)
    {
        return sum;
    }
    static __device__ __forceinline__ int result(const pillow_args &, float sum)
    {
        return gf_opencv_rounded(sum);
    }
};

/* A pixel between the passes: what one load of shared memory gives. */
template <class Sample, int CHANNELS>
struct __align__(sizeof(Sample) * (CHANNELS == 3 ? 4 : CHANNELS)) between
{
    Sample v[CHANNELS == 3 ? 4 : CHANNELS];
};

template <int CHANNELS>
static __device__ __forceinline__ void premultiply(bool premultiplies, int (&v)[CHANNELS])
{
#pragma unroll
    for (int c = 0; CHANNELS % 2 == 0 && premultiplies && c < CHANNELS - 1; c++)
        v[c] = gf_pillow_premultiplied(v[c], v[CHANNELS - 1]);
}

template <class Sample, int CHANNELS>
static __device__ __forceinline__ void load_pixel(const Sample *pixel, bool premultiplies,
                                                  int (&v)[CHANNELS])
{
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        v[c] = __ldg(pixel + c);
    premultiply<CHANNELS>(premultiplies, v);
}

/* Adds pixels of PAIR rows, four at a time, of bytes that are loaded as words: the pixels of
 * `count` for which the row has whole words. Returns how many it has added. The rows are `start`
 * bytes from the rows' beginnings, of `row_bytes` bytes. */
template <class Sum, int CHANNELS>
static __device__ __forceinline__ int add_fours(const unsigned char *const (&row)[PAIR], int start,
                                                int row_bytes, const Sum *weight, int count,
                                                bool premultiplies, Sum (&sum)[PAIR][CHANNELS])
{
    const int whole = row_bytes / 4 - start / 4 - 1; /* words behind the first */
    const int end = min(count / 4, whole / CHANNELS) * 4;
    const int bits = start % 4 * 8;
    const uint32_t *word[PAIR];
    uint32_t last[PAIR];
    if (end <= 0)
        return 0;
#pragma unroll
    for (int i = 0; i < PAIR; i++) {
        word[i] = (const uint32_t *)(row[i] - start % 4);
        last[i] = __ldg(word[i]);
    }
#pragma unroll 1
    for (int k = 0; k < end; k += 4) {
        const int4 four = __ldg((const int4 *)(weight + k));
        Sum w[4];
        memcpy(w, &four, sizeof w);
#pragma unroll
        for (int i = 0; i < PAIR; i++) {
            uint32_t bytes[CHANNELS];
#pragma unroll
            for (int j = 0; j < CHANNELS; j++) {
                const uint32_t next = __ldg(++word[i]);
                bytes[j] = __funnelshift_r(last[i], next, bits);
                last[i] = next;
            }
#pragma unroll
            for (int t = 0; t < 4; t++) {
                int v[CHANNELS];
#pragma unroll
                for (int c = 0; c < CHANNELS; c++) {
                    const int at = t * CHANNELS + c;
                    v[c] = bytes[at / 4] >> at % 4 * 8 & 255;
                }
                premultiply<CHANNELS>(premultiplies, v);
#pragma unroll
                for (int c = 0; c < CHANNELS; c++)
                    sum[i][c] += v[c] * w[t];
            }
        }
    }
    return end;
}

/* A column of the result: the inputs of the first pass. */
template <class Sum> struct inputs_of {
    int start, count;
    const Sum *weight;
};

/* Computes PAIR rows of a strip, from row `first` of the picture on, of which those before `end`
 * exist, in one column. */
template <class Sums, int CHANNELS>
static __device__ __forceinline__ void
make_rows(const struct pillow_args &args, const struct inputs_of<typename Sums::Sum> &its,
          int first, int end, struct between<typename Sums::Between, CHANNELS> (*strip)[WIDTH])
{
    typedef typename Sums::Sample Sample;
    typedef typename Sums::Sum Sum;
    const struct view_pair &p = args.p;
    const unsigned char *const in = picture_in(p, args.stack, (int)blockIdx.z);
    const Sample *row[PAIR];
    Sum sum[PAIR][CHANNELS];
    int k = 0;
#pragma unroll
    for (int i = 0; i < PAIR; i++) {
        const int y = max(min(first + i, min(end, p.height) - 1), 0) - p.in_y;
        row[i] = (const Sample *)(in + y * (ptrdiff_t)p.in_pitch) + its.start * CHANNELS;
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            sum[i][c] = Sums::FIRST;
    }
    if constexpr (sizeof(Sample) == 1)
        k = add_fours<Sum, CHANNELS>(row, its.start * CHANNELS, p.width * CHANNELS, its.weight,
                                     its.count, args.premultiplies, sum);
    for (; k < its.count; k++) {
        const Sum w = __ldg(its.weight + k);
#pragma unroll
        for (int i = 0; i < PAIR; i++) {
            int v[CHANNELS];
            load_pixel<Sample, CHANNELS>(row[i] + k * CHANNELS, args.premultiplies, v);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                sum[i][c] += v[c] * w;
        }
    }
#pragma unroll
    for (int i = 0; i < PAIR; i++) {
        struct between<typename Sums::Between, CHANNELS> pixel = {
        };
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            pixel.v[c] = (typename Sums::Between)Sums::between(args, sum[i][c]);
        strip[i][threadIdx.x % WIDTH] = pixel;
    }
}

/* Writes a pixel of the result. */
template <class Sums, int CHANNELS>
static __device__ __forceinline__ void store_pixel(const struct pillow_args &args,
                                                   const typename Sums::Sum (&sum)[CHANNELS],
                                                   typename Sums::Sample *to)
{
    const int alpha = Sums::result(args, sum[CHANNELS - 1]);
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        const int v = Sums::result(args, sum[c]);
        const bool is_colour = CHANNELS % 2 == 0 && c < CHANNELS - 1 && args.straightens;
        to[c] = (typename Sums::Sample)(is_colour ? gf_pillow_straight(v, alpha) : v);
    }
}

/* The threads of a block make a strip, then each adds it to its EACH rows of the result. */
template <class Sums, int CHANNELS>
static __global__ void __launch_bounds__(THREADS, CHANNELS % 2 ? 4 : 3)
    pillow_kernel(const __grid_constant__ struct pillow_args args)
{
    typedef typename Sums::Sample Sample;
    typedef typename Sums::Sum Sum;
    const struct view_pair &p = args.p;
    __shared__ struct between<typename Sums::Between, CHANNELS> strip[Sums::STRIP][WIDTH];
    const int lane = threadIdx.x % WIDTH, own = threadIdx.x / WIDTH * EACH;
    const int x = blockIdx.x * WIDTH + lane, band_end = p.out_y + p.rows;
    const bool exists = x < args.out_width;
    const int column = min(x, args.out_width - 1);
    const struct inputs_of<Sum> its = {
        __ldg(args.column_start + column), __ldg(args.column_count + column),
            (const Sum *)args.column_weight + (size_t)column *args.column_taps
    };
    unsigned char *const out = p.out + blockIdx.z * args.stack.out_rows * p.out_pitch;
    for (int tile = p.out_y + blockIdx.y * ROWS; tile < band_end; tile += GRID_ROWS_MAX * ROWS) {
        const int last = min(tile + ROWS, band_end) - 1;
        const int top = __ldg(args.row_start + tile);
        const int bottom = __ldg(args.row_start + last) + __ldg(args.row_count + last);
        int start[EACH], end[EACH];
        Sum sum[EACH][CHANNELS];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int y = min(tile + own + i, last);
            start[i] = __ldg(args.row_start + y);
            end[i] = start[i] + __ldg(args.row_count + y);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                sum[i][c] = Sums::FIRST;
        }
        for (int from = top; from < bottom; from += Sums::STRIP) {
            const int to = min(from + Sums::STRIP, bottom);
            __syncthreads();
#pragma unroll 1
            for (int y = threadIdx.x / WIDTH * PAIR; exists && from + y < to; y += WARPS * PAIR)
                make_rows<Sums, CHANNELS>(args, its, from + y, to, strip + y);
            __syncthreads();
#pragma unroll
            for (int i = 0; exists && i < EACH; i++) {
                const int row = min(tile + own + i, last);
                const Sum *const weight =
                    (const Sum *)args.row_weight + (size_t)row * args.row_taps - start[i];
                for (int at = max(start[i], from); at < min(end[i], to); at++) {
                    const Sum w = __ldg(weight + at);
                    const struct between<typename Sums::Between, CHANNELS> pixel =
                        strip[at - from][lane];
#pragma unroll
                    for (int c = 0; c < CHANNELS; c++)
                        sum[i][c] += Sums::product(args, pixel.v[c], w);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int y = tile + own + i;
            if (y <= last && exists)
                store_pixel<Sums, CHANNELS>(args, sum[i],
                                            (Sample *)(out + (size_t)(y - p.out_y) * p.out_pitch) +
                                                (size_t)x * CHANNELS);
        }
    }
}

template <class Sums, int CHANNELS>
static int launch_pillow(const struct pillow_args &args, cudaStream_t stream)
{
    dim3 grid = grid_of_rows(ceil_div(args.out_width, WIDTH), ceil_div(args.p.rows, ROWS));
    grid.z = args.stack.count;
    return launch_kernel(pillow_kernel<Sums, CHANNELS>, grid, THREADS, 0, stream, args);
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
    args.stack = stacked_of(launch);
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
    struct pillow_args args = args_of(launch, pillow->columns, pillow->rows);
    args.premultiplies = !resize->from_premultiplied;
    args.straightens = !resize->to_premultiplied;
    if (!pillow->columns.taps) {
        struct resize_args nearest = {};
        nearest.p = args.p;
        nearest.out_width = format.width;
        nearest.column_start = args.column_start;
        nearest.row_start = args.row_start;
        return gf_resize_pick(nearest, format.channels * format.bits / 8, launch->stream);
    }
    return format.bits == 16 ? launch_pillow<pillow_words, 1>(args, launch->stream)
                             : launch_channels<pillow_bytes>(args, launch->stream);
}

extern "C" int gf_opencv_cuda(const struct gf_launch *launch)
{
    const struct gf_opencv *const opencv = (const struct gf_opencv *)launch->stage->constants;
    struct pillow_args args = args_of(launch, opencv->columns, opencv->rows);
    args.dropped = opencv->dropped;
    args.shift = opencv->shift;
    args.factor = opencv->factor;
    return opencv->floats ? launch_channels<opencv_floats>(args, launch->stream)
                          : launch_channels<opencv_integers>(args, launch->stream);
}

extern "C" int gf_pillow_stacked_cuda(const struct gf_launch *launch)
{
    const struct gf_pillow *const pillow = (const struct gf_pillow *)launch->stage->constants;
    return pillow->columns.taps && launch->stack.count <= GRID_ROWS_MAX
               ? gf_pillow_cuda(launch)
               : (int)cudaErrorNotSupported;
}

extern "C" int gf_opencv_stacked_cuda(const struct gf_launch *launch)
{
    return launch->stack.count <= GRID_ROWS_MAX ? gf_opencv_cuda(launch)
                                                : (int)cudaErrorNotSupported;
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
    const int width = launch->out.format.width;
    const dim3 grid = grid_of_rows(ceil_div(width, WIDTH), ceil_div(p.rows, WARPS));
    return for_channels(p.channels, [&](auto channels) {
        return launch_kernel(reduce_kernel<decltype(channels)::value>, grid, THREADS, 0,
                             launch->stream, p, *reduce, width);
    });
}
