/* guided on a device. One kernel finds the line (struct gf_guided_line) of every sample, another
 * one computes the means of the lines. */
#include "filters/guided/guided.h"

#include "cuda/common/stencil.cuh"
#include "cuda/common/window_sums.cuh"
#include "pixel/sample.h"

enum { THREADS = 128 };

struct guided_args {
    struct view_pair p;
    struct gf_guided guided;
    int strip, pitch; /* rows of a block; lines of a row */
    void *line;       /* stored_line [channels][rows + 2 radius][pitch] */
};

/* A line in memory. Of 8 bits, the slope is the lower half of a word and the base the upper one: a
 * dot product with two bytes takes one of them and adds it. */
template <class Sample> struct stored_line {
    typedef int2 type;
    static __device__ __forceinline__ type of(struct gf_guided_line line)
    {
        return {line.slope, line.base};
    }
    template <int SIGN>
    static __device__ __forceinline__ void add(type line, unsigned &slope, unsigned &base)
    {
        slope += (unsigned)(SIGN * line.x);
        base += (unsigned)(SIGN * line.y);
    }
};

template <> struct stored_line<unsigned char> {
    typedef unsigned type;
    static __device__ __forceinline__ type of(struct gf_guided_line line)
    {
        return (unsigned)(line.base << 16 | line.slope);
    }
    template <int SIGN>
    static __device__ __forceinline__ void add(type line, unsigned &slope, unsigned &base)
    {
        slope = (unsigned)__dp2a_lo((int)line, SIGN & 255, (int)slope);
        base = (unsigned)__dp2a_lo((int)line, (SIGN & 255) << 8, (int)base);
    }
};

/* Both conversions are exact and take no conversion instruction, of which a multiprocessor issues
 * few. */
static __device__ __forceinline__ double double_of(unsigned v)
{
    return __hiloint2double(0x43300000, (int)v) - 4503599627370496.0;
}

static __device__ __forceinline__ double double_of(unsigned long long v)
{
    return (double)v;
}

/* Returns 2^23 + v, rounded down; 0 <= v < 2^23. */
static __device__ __forceinline__ float whole_of(float v)
{
    return __fadd_rz(v, 8388608.0f);
}

/* Returns a / b, rounded as by a division, for normal numbers whose quotient is normal or 0. */
static __device__ __forceinline__ float quotient_of(float a, float b)
{
    const float near = reciprocal_near(b), reciprocal = fmaf(near, fmaf(-b, near, 1.0f), near);
    const float quotient = a * reciprocal;
    return fmaf(reciprocal, fmaf(-b, quotient, a), quotient);
}

/* Returns gf_guided_line_of(). The variance is 0 or at least 1, and the edge is more than 1. */
template <class Square>
static __device__ __forceinline__ struct gf_guided_line line_of(const struct gf_guided &guided,
                                                                unsigned sum, Square squares)
{
    const double v = double_of(sum), difference = guided.count * double_of(squares) - v * v;
    const float variance = fmaxf((float)difference, 0.0f);
    const float share = quotient_of(variance, variance + guided.edge);
    const float slope = whole_of(share * guided.most + 0.5f);
    const float rest = 1.0f - (slope - 8388608.0f) * guided.unit;
    const float base = whole_of((float)sum * guided.mean * rest * guided.step + 0.5f);
    return {__float_as_int(slope) - 0x4B000000, __float_as_int(base) - 0x4B000000};
}

template <class Sample, class Square, int CHANNELS>
static __global__ void __launch_bounds__(THREADS, CHANNELS < 3 ? 5 : 0)
    guided_lines_kernel(const struct guided_args args)
{
    typedef typename stored_line<Sample>::type line_type;
    constexpr int COUNT = WINDOW_EACH * CHANNELS;
    __shared__ struct prefixes<unsigned, Square, CHANNELS, THREADS> prefixes;
    const struct view_pair &p = args.p;
    const int radius = args.guided.radius, rows = p.rows + 2 * radius;
    const struct place place = place_of<THREADS>(p, radius, args.strip, rows);
    struct columns<Sample, Square, CHANNELS> columns;
    for (int i = place.top; i < place.end; i++) {
        const int row = gf_border_index(p.out_y - radius + i, p.height, p.border);
        unsigned sum[COUNT] = {};
        Square squares[COUNT] = {};
        if (row >= 0) { /* the condition is the same for the whole block */
            columns.go_to(p, place, radius, row);
#pragma unroll
            for (int k = 0; k < COUNT; k++) {
                sum[k] = columns.sum[k];
                squares[k] = columns.squares[k];
            }
            window_sums(prefixes, radius, place.makes, sum, squares);
        }
        if (!place.makes)
            continue;
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            line_type *const to =
                (line_type *)args.line + ((size_t)c * rows + i) * args.pitch + place.x;
            alignas(16) line_type lines[WINDOW_EACH] = {};
#pragma unroll
            for (int k = 0; k < WINDOW_EACH && row >= 0; k++)
                lines[k] = stored_line<Sample>::of(
                    line_of(args.guided, sum[k * CHANNELS + c], squares[k * CHANNELS + c]));
#pragma unroll
            for (int k = 0; k < (int)sizeof lines / 16; k++)
                ((uint4 *)to)[k] = ((const uint4 *)lines)[k];
        }
    }
}

/* Adds the lines of row i of the thread's columns, or takes them away. */
template <int SIGN, class Sample, int CHANNELS>
static __device__ __forceinline__ void
add_lines(const struct guided_args &args, const struct place &place, int i,
          unsigned (&slope)[WINDOW_EACH * CHANNELS], unsigned (&base)[WINDOW_EACH * CHANNELS])
{
    typedef typename stored_line<Sample>::type line_type;
    const int rows = args.p.rows + 2 * args.guided.radius;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        const line_type *const row =
            (const line_type *)args.line + ((size_t)c * rows + i) * args.pitch;
        alignas(16) line_type lines[WINDOW_EACH] = {};
        if (place.plain) {
#pragma unroll
            for (int k = 0; k < (int)sizeof lines / 16; k++)
                ((uint4 *)lines)[k] = __ldg((const uint4 *)(row + place.x) + k);
        } else {
#pragma unroll
            for (int k = 0; k < WINDOW_EACH; k++) {
                if (place.from[k] >= 0)
                    lines[k] = row[place.from[k]];
            }
        }
#pragma unroll
        for (int k = 0; k < WINDOW_EACH; k++)
            stored_line<Sample>::template add<SIGN>(lines[k], slope[k * CHANNELS + c],
                                                    base[k * CHANNELS + c]);
    }
}

template <class Sample, int CHANNELS>
static __global__ void __launch_bounds__(THREADS, CHANNELS < 3 ? 5 : 0)
    guided_means_kernel(const struct guided_args args)
{
    constexpr int COUNT = WINDOW_EACH * CHANNELS;
    __shared__ struct prefixes<unsigned, unsigned, CHANNELS, THREADS> prefixes;
    const struct view_pair &p = args.p;
    const int radius = args.guided.radius;
    const struct place place = place_of<THREADS>(p, radius, args.strip, p.rows);
    unsigned slopes[COUNT] = {}, bases[COUNT] = {};
#pragma unroll 1
    for (int i = 0; i < 2 * radius; i++)
        add_lines<1, Sample, CHANNELS>(args, place, place.top + i, slopes, bases);
    for (int y = place.top; y < place.end; y++) {
        add_lines<1, Sample, CHANNELS>(args, place, y + 2 * radius, slopes, bases);
        unsigned slope_sum[COUNT], base_sum[COUNT], v[COUNT];
#pragma unroll
        for (int k = 0; k < COUNT; k++) {
            slope_sum[k] = slopes[k];
            base_sum[k] = bases[k];
        }
        add_lines<-1, Sample, CHANNELS>(args, place, y, slopes, bases);
        window_sums(prefixes, radius, place.makes, slope_sum, base_sum);
        if (!place.makes)
            continue;
        load_columns<Sample, CHANNELS>(window_row<Sample>(p, p.out_y + y), place, v);
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            v[k] = (unsigned)gf_round_sample(
                gf_guided_of(&args.guided, (int)slope_sum[k], (int)base_sum[k], (float)v[k]),
                (float)(Sample)~0);
        store_columns<Sample, CHANNELS>(p, place, y, v);
    }
}

template <class Sample, class Square, int CHANNELS>
static int launch_guided(struct guided_args args, cudaStream_t stream)
{
    const struct view_pair &p = args.p;
    const int radius = args.guided.radius, across = windows_across<THREADS>(radius);
    const int rows = p.rows + 2 * radius;
    const auto lines = guided_lines_kernel<Sample, Square, CHANNELS>;
    const auto means = guided_means_kernel<Sample, CHANNELS>;
    int status = window_strip<THREADS>(lines, p.width, rows, radius, &args.strip);
    if (!status) {
        lines<<<tile_blocks(p.width, rows, across, args.strip), THREADS, 0, stream>>>(args);
        status = cudaGetLastError();
    }
    if (!status)
        status = window_strip<THREADS>(means, p.width, p.rows, radius, &args.strip);
    if (status)
        return status;
    means<<<tile_blocks(p.width, p.rows, across, args.strip), THREADS, 0, stream>>>(args);
    return cudaGetLastError();
}

extern "C" int gf_guided_cuda(const struct gf_launch *launch)
{
    const struct gf_guided *const guided = (const struct gf_guided *)launch->stage->constants;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    struct guided_args args = {};
    args.p = view_pair_of(launch, guided->border);
    args.guided = *guided;
    args.pitch = gf_guided_pitch(args.p.width);
    args.line = launch->scratch;
    if (!args.p.rows)
        return cudaSuccess;
    return for_samples(args.p, [&](auto sample, auto channels) -> int {
        using square = typename window_square<decltype(sample)>::type;
        return launch_guided<decltype(sample), square, decltype(channels)::value>(args, stream);
    });
}
