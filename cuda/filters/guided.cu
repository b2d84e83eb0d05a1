/* guided on a device. One kernel finds the line (struct gf_guided_line) of every sample, another
 * one computes the means of the lines. In both, a block moves down a strip with a thread for each
 * column, which keeps the sum of the 2 radius + 1 samples of its column. The sum of a window is the
 * difference of two prefix sums of the column sums over the block, so that the time does not depend
 * on the radius. All sums are of integers, so that every order gives the same bits. The kernels do
 * not use walk.cuh, since their windows may be wider than a strip. */
#include "filters/guided/guided.h"

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "pixel/sample.h"
#include "stage/border.h"

enum { THREADS = 256, WARPS = THREADS / WARP, STRIP = 64, GRID_Y_MAX = 65535 };

struct guided_args {
    struct view_pair p;
    struct gf_guided guided;
    int strip;                   /* rows of a block */
    struct gf_guided_line *line; /* [channels][rows + 2 radius][width] */
};

/* The place of a block and a thread. The block computes columns first .. first + THREADS - 2 radius
 * - 1. A thread's column x may be beyond the picture; `from` is the column of the picture that
 * replaces x, or -1 if zeros replace it. */
struct place {
    int x, from, channel, top, end;
    bool makes; /* the thread computes a result in its column */
};

static __device__ __forceinline__ struct place place_of(const struct guided_args &args, int rows)
{
    const struct view_pair &p = args.p;
    const int radius = args.guided.radius;
    struct place place;
    const int t = (int)threadIdx.x;
    place.x = (int)blockIdx.x * (THREADS - 2 * radius) + t - radius;
    place.from = place.x < p.width + radius ? gf_border_index(place.x, p.width, p.border) : -1;
    place.channel = (int)blockIdx.z;
    place.top = (int)blockIdx.y * args.strip;
    place.end = min(place.top + args.strip, rows);
    place.makes = t >= radius && t < THREADS - radius && place.x < p.width;
    return place;
}

/* The shared memory of window_sums(). The sums of warps come first: they are read as vectors, and
 * no vector may contain a number that another warp writes at that time. */
template <class A, class B> struct prefixes {
    A first_warp[WARPS];
    B second_warp[WARPS];
    A first[THREADS + 1];
    B second[THREADS + 1];
};

template <class T> static __device__ __forceinline__ T warp_prefix(T v, int lane)
{
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        const T other = __shfl_up_sync(0xffffffffu, v, step);
        v += lane >= step ? other : 0;
    }
    return v;
}

/* Replaces *a and *b by their sums over the 2 radius + 1 threads around this one. The sums are
 * valid in threads whose place.makes is set. All threads of the block call the function. */
template <class A, class B>
static __device__ __forceinline__ void window_sums(struct prefixes<A, B> *s, int radius, bool makes,
                                                   A *a, B *b)
{
    const int t = (int)threadIdx.x, lane = t % WARP, warp = t / WARP;
    A first = warp_prefix(*a, lane);
    B second = warp_prefix(*b, lane);
    __syncthreads(); /* every thread has read the sums of the row before */
    if (lane == WARP - 1) {
        s->first_warp[warp] = first;
        s->second_warp[warp] = second;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < WARPS - 1; i++) {
        first += i < warp ? s->first_warp[i] : 0;
        second += i < warp ? s->second_warp[i] : 0;
    }
    s->first[t + 1] = first;
    s->second[t + 1] = second;
    if (t == 0)
        s->first[0] = s->second[0] = 0;
    __syncthreads();
    if (makes) {
        *a = s->first[t + radius + 1] - s->first[t - radius];
        *b = s->second[t + radius + 1] - s->second[t - radius];
    }
}

/* The sums of samples and of their squares in a thread's column, over the window's rows around
 * `row`. */
template <class Sample, class Square> struct column {
    unsigned sum;
    Square squares;
    int row;

    __device__ __forceinline__ void add(const struct view_pair &p, const struct place &place,
                                        int at, bool takes_away)
    {
        const int y = gf_border_index(at, p.height, p.border);
        if (y < 0 || place.from < 0)
            return;
        const Sample *const from =
            (const Sample *)(p.in + (ptrdiff_t)(y - p.in_y) * (ptrdiff_t)p.in_pitch);
        const unsigned v = __ldg(from + (size_t)place.from * p.channels + place.channel);
        const Square square = (Square)v * v;
        sum += takes_away ? 0u - v : v;
        squares += takes_away ? (Square)0 - square : square;
    }

    __device__ __forceinline__ void go_to(const struct view_pair &p, const struct place &place,
                                          int radius, int to)
    {
        if (row >= 0 && to == row + 1) {
            add(p, place, to + radius, false);
            add(p, place, to - radius - 1, true);
        } else if (row >= 0 && to == row - 1) {
            add(p, place, to - radius, false);
            add(p, place, to + radius + 1, true);
        } else if (to != row) {
            sum = 0;
            squares = 0;
#pragma unroll 1
            for (int i = -radius; i <= radius; i++)
                add(p, place, to + i, false);
        }
        row = to;
    }
};

template <class Sample, class Square>
static __global__ void __launch_bounds__(THREADS) guided_lines_kernel(const struct guided_args args)
{
    __shared__ struct prefixes<unsigned, Square> prefixes;
    const struct view_pair &p = args.p;
    const int radius = args.guided.radius, rows = p.rows + 2 * radius;
    const struct place place = place_of(args, rows);
    struct column<Sample, Square> column = {
        0, 0, -1
    };
    struct gf_guided_line *line =
        args.line + ((size_t)place.channel * rows + place.top) * p.width + place.x;
    for (int i = place.top; i < place.end; i++, line += p.width) {
        const int row = gf_border_index(p.out_y - radius + i, p.height, p.border);
        struct gf_guided_line result = {0, 0};
        if (row >= 0) { /* the condition is the same for the whole block */
            column.go_to(p, place, radius, row);
            unsigned sum = column.sum;
            Square squares = column.squares;
            window_sums(&prefixes, radius, place.makes, &sum, &squares);
            result = gf_guided_line_of(&args.guided, (double)sum, (double)squares);
        }
        if (place.makes)
            *line = result;
    }
}

template <class Sample>
static __global__ void __launch_bounds__(THREADS) guided_means_kernel(const struct guided_args args)
{
    __shared__ struct prefixes<unsigned, unsigned> prefixes;
    const struct view_pair &p = args.p;
    const int radius = args.guided.radius, rows = p.rows + 2 * radius;
    const struct place place = place_of(args, p.rows);
    const struct gf_guided_line *const lines =
        args.line + (size_t)place.channel * rows * p.width + (place.from < 0 ? 0 : place.from);
    const bool reads = place.from >= 0;
    unsigned slopes = 0, bases = 0;
#pragma unroll 1
    for (int i = 0; i < 2 * radius && reads; i++) {
        const struct gf_guided_line line = lines[(size_t)(place.top + i) * p.width];
        slopes += line.slope;
        bases += line.base;
    }
    for (int y = place.top; y < place.end; y++) {
        if (reads) {
            const struct gf_guided_line line = lines[(size_t)(y + 2 * radius) * p.width];
            slopes += line.slope;
            bases += line.base;
        }
        unsigned slope_sum = slopes, base_sum = bases;
        window_sums(&prefixes, radius, place.makes, &slope_sum, &base_sum);
        if (place.makes) {
            const size_t at = (size_t)place.x * p.channels + place.channel;
            const int row = p.out_y + y;
            const Sample *const in =
                (const Sample *)(p.in + (ptrdiff_t)(row - p.in_y) * (ptrdiff_t)p.in_pitch);
            Sample *const out = (Sample *)(p.out + (size_t)y * p.out_pitch);
            const float v = gf_guided_of(&args.guided, (int)slope_sum, (int)base_sum, in[at]);
            out[at] = (Sample)gf_round_sample(v, sizeof(Sample) == 1 ? 255.0f : 65535.0f);
        }
        if (reads) {
            const struct gf_guided_line line = lines[(size_t)y * p.width];
            slopes -= line.slope;
            bases -= line.base;
        }
    }
}

template <class Sample, class Square>
static int launch_guided(struct guided_args args, cudaStream_t stream)
{
    const struct view_pair &p = args.p;
    const int radius = args.guided.radius, across = ceil_div(p.width, THREADS - 2 * radius);
    const int rows = p.rows + 2 * radius, least = ceil_div(rows, GRID_Y_MAX);
    args.strip = least > STRIP ? least : STRIP;
    const dim3 lines(across, ceil_div(rows, args.strip), p.channels);
    guided_lines_kernel<Sample, Square><<<lines, THREADS, 0, stream>>>(args);
    const int status = cudaGetLastError();
    if (status)
        return status;
    const dim3 means(across, ceil_div(p.rows, args.strip), p.channels);
    guided_means_kernel<Sample><<<means, THREADS, 0, stream>>>(args);
    return cudaGetLastError();
}

extern "C" int gf_guided_cuda(const struct gf_launch *launch)
{
    const struct gf_guided *const guided = (const struct gf_guided *)launch->stage->constants;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    struct guided_args args = {};
    args.p = view_pair_of(launch, guided->border);
    args.guided = *guided;
    args.line = (struct gf_guided_line *)launch->scratch;
    if (!args.p.rows)
        return cudaSuccess;
    return args.p.bits == 8 ? launch_guided<unsigned char, unsigned>(args, stream)
                            : launch_guided<unsigned short, unsigned long long>(args, stream);
}
