/* guided on a device. One kernel finds the line (struct gf_guided_line) of every sample, another
 * one computes the means of the lines. */
#include "filters/guided/guided.h"

#include "cuda/common/stencil.cuh"
#include "cuda/common/window_sums.cuh"
#include "pixel/sample.h"

enum { THREADS = 128 };

/* Returns the number of blocks that a multiprocessor's registers must hold. */
static constexpr int blocks_of(int channels)
{
    return channels < 3 ? 5 : 7 - channels;
}

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
    static __device__ __forceinline__ type of(float slope, float base)
    {
        return {__float_as_int(slope) - 0x4B000000, __float_as_int(base) - 0x4B000000};
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
    static __device__ __forceinline__ type of(float slope, float base)
    {
        return __byte_perm(__float_as_uint(slope), __float_as_uint(base), 0x5410);
    }
    template <int SIGN>
    static __device__ __forceinline__ void add(type line, unsigned &slope, unsigned &base)
    {
        slope = (unsigned)__dp2a_lo((int)line, SIGN & 255, (int)slope);
        base = (unsigned)__dp2a_lo((int)line, (SIGN & 255) << 8, (int)base);
    }
};

/* Returns count^2 times the variance of the window's samples. It is an integer below 2^53, which is
 * rounded once. */
static __device__ __forceinline__ float variance_of(const struct gf_guided &guided, unsigned sum,
                                                    unsigned squares)
{
    const unsigned long long count = (unsigned)guided.count;
    return (float)(count * squares - (unsigned long long)sum * sum);
}

static __device__ __forceinline__ float variance_of(const struct gf_guided &guided, unsigned sum,
                                                    unsigned long long squares)
{
    const double v = (double)sum;
    return fmaxf((float)(guided.count * (double)squares - v * v), 0.0f);
}

/* Returns 2^23 + v, rounded down; 0 <= v < 2^23. */
static __device__ __forceinline__ float whole_of(float v)
{
    return __fadd_rz(v, 8388608.0f);
}

/* Returns gf_guided_line_of(). The variance is 0 or at least 1, and the edge is more than 1. Sums
 * of 8-bit samples are less than 2^23. */
template <class Sample, class Square>
static __device__ __forceinline__ typename stored_line<Sample>::type
line_of(const struct gf_guided &guided, unsigned sum, Square squares)
{
    const float variance = variance_of(guided, sum, squares);
    const float share = gf_quotient(variance, variance + guided.edge);
    const float slope = whole_of(share * guided.most + 0.5f);
    const float rest = 1.0f - (slope - 8388608.0f) * guided.unit;
    const float v = sizeof(Sample) == 1 ? float_of(sum) : (float)sum;
    return stored_line<Sample>::of(slope, whole_of(v * guided.mean * rest * guided.step + 0.5f));
}

template <class Sample, class Square, int CHANNELS>
static __global__ void
__launch_bounds__(THREADS, sizeof(Sample) == 1 && CHANNELS == 3 ? 5 : blocks_of(CHANNELS))
    guided_lines_kernel(const struct guided_args args)
{
    typedef typename stored_line<Sample>::type line_type;
    constexpr int COUNT = WINDOW_EACH * CHANNELS;
    __shared__ struct prefixes<unsigned, Square, CHANNELS, THREADS> prefixes;
    const struct view_pair &p = args.p;
    const int radius = args.guided.radius, rows = p.rows + 2 * radius;
    const struct place place = place_of<THREADS>(p, radius, args.strip, rows);
    const struct window_joins<1> joins(radius);
    const auto row_of = [&](int i) {
        return gf_border_index(p.out_y - radius + i, p.height, p.border);
    };
    struct columns<Sample, Square, CHANNELS> columns;
    for (int i = place.top; i < place.end; i++) {
        const int row = row_of(i);
        unsigned sum[COUNT] = {};
        Square squares[COUNT] = {};
        if (row >= 0) { /* the condition is the same for the whole block */
            columns.go_to(p, place, radius, row);
#pragma unroll
            for (int k = 0; k < COUNT; k++) {
                sum[k] = columns.sum[k];
                squares[k] = columns.squares[k];
            }
            if (i + 1 < place.end)
                columns.fetch(p, place, radius, row_of(i + 1));
            window_sums(prefixes, i, radius, joins, place.makes, sum, squares);
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
                lines[k] =
                    line_of<Sample>(args.guided, sum[k * CHANNELS + c], squares[k * CHANNELS + c]);
#pragma unroll
            for (int k = 0; k < (int)sizeof lines / 16; k++)
                ((uint4 *)to)[k] = ((const uint4 *)lines)[k];
        }
    }
}

/* The lines of a thread's columns in a row. */
template <class Sample, int CHANNELS> struct column_lines {
    typedef typename stored_line<Sample>::type line_type;
    alignas(16) line_type line[CHANNELS][WINDOW_EACH];

    __device__ __forceinline__ void load(const struct guided_args &args, const struct place &place,
                                         int i)
    {
        const int rows = args.p.rows + 2 * args.guided.radius;
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            const line_type *const row =
                (const line_type *)args.line + ((size_t)c * rows + i) * args.pitch;
            if (place.plain) {
#pragma unroll
                for (int k = 0; k < (int)sizeof line[c] / 16; k++)
                    ((uint4 *)line[c])[k] = __ldg((const uint4 *)(row + place.x) + k);
            } else {
#pragma unroll
                for (int k = 0; k < WINDOW_EACH; k++)
                    line[c][k] = place.from[k] >= 0 ? row[place.from[k]] : line_type{};
            }
        }
    }
    /* Adds the lines to sums, or takes them away. */
    template <int SIGN>
    __device__ __forceinline__ void add(unsigned (&slope)[WINDOW_EACH * CHANNELS],
                                        unsigned (&base)[WINDOW_EACH * CHANNELS]) const
    {
#pragma unroll
        for (int i = 0; i < WINDOW_EACH * CHANNELS; i++)
            stored_line<Sample>::template add<SIGN>(line[i % CHANNELS][i / CHANNELS], slope[i],
                                                    base[i]);
    }
};

template <class Sample, int CHANNELS>
static __global__ void __launch_bounds__(THREADS, blocks_of(CHANNELS))
    guided_means_kernel(const struct guided_args args)
{
    constexpr int COUNT = WINDOW_EACH * CHANNELS;
    __shared__ struct prefixes<unsigned, unsigned, CHANNELS, THREADS> prefixes;
    const struct view_pair &p = args.p;
    const int radius = args.guided.radius;
    const struct place place = place_of<THREADS>(p, radius, args.strip, p.rows);
    const struct window_joins<1> joins(radius);
    unsigned slopes[COUNT] = {}, bases[COUNT] = {};
    struct column_lines<Sample, CHANNELS> more, less;
#pragma unroll 1
    for (int i = 0; i < 2 * radius; i++) {
        more.load(args, place, place.top + i);
        more.template add<1>(slopes, bases);
    }
    /* Lines of 16 bits take too many registers to be loaded a row ahead. */
    constexpr bool AHEAD = sizeof(Sample) == 1;
    if (AHEAD && place.top < place.end)
        more.load(args, place, place.top + 2 * radius);
    for (int y = place.top; y < place.end; y++) {
        unsigned slope_sum[COUNT], base_sum[COUNT], v[COUNT];
        if (!AHEAD)
            more.load(args, place, y + 2 * radius);
        more.template add<1>(slopes, bases);
#pragma unroll
        for (int k = 0; k < COUNT; k++) {
            slope_sum[k] = slopes[k];
            base_sum[k] = bases[k];
        }
        /* What is loaded before the sums over the block arrives during them. */
        struct column_words<Sample, CHANNELS> samples = {
        };
        less.load(args, place, y);
        if (place.makes)
            samples.load(window_row<Sample>(p, p.out_y + y), place);
        if (AHEAD && y + 1 < place.end)
            more.load(args, place, y + 1 + 2 * radius);
        window_sums(prefixes, y, radius, joins, place.makes, slope_sum, base_sum);
        less.template add<-1>(slopes, bases);
        if (!place.makes)
            continue;
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            v[k] = round_bits(gf_guided_of(&args.guided, (int)slope_sum[k], (int)base_sum[k],
                                           float_of(samples[k])),
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
    LAUNCH_TRY(
        window_strip<THREADS>(lines, p.width, rows, radius, max(40, 8 + 4 * radius), &args.strip));
    LAUNCH_TRY(launch_kernel(lines, tile_blocks(p.width, rows, across, args.strip), THREADS, 0,
                             stream, args));
    LAUNCH_TRY(window_strip<THREADS>(means, p.width, p.rows, radius, 256, &args.strip));
    return launch_kernel(means, tile_blocks(p.width, p.rows, across, args.strip), THREADS, 0,
                         stream, args);
}

extern "C" int gf_guided_cuda(const struct gf_launch *launch)
{
    const struct gf_guided *const guided = (const struct gf_guided *)launch->stage->constants;
    const cudaStream_t stream = launch->stream;
    struct guided_args args = {};
    args.p = view_pair_of(launch, guided->border);
    args.guided = *guided;
    args.pitch = gf_guided_pitch(args.p.width);
    args.line = launch->scratch;
    if (!args.p.rows)
        return cudaSuccess;
    return for_stencil_samples(args.p, [&](auto sample, auto channels) -> int {
        using square = typename window_square<decltype(sample)>::type;
        return launch_guided<decltype(sample), square, decltype(channels)::value>(args, stream);
    });
}
