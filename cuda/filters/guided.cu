/* guided on a device. One kernel finds the line (struct gf_guided_line) of every sample, another
 * one computes the means of the lines. */
#include "filters/guided/guided.h"

#include "cuda/common/window_sums.cuh"
#include "pixel/sample.h"

enum { THREADS = 256, STRIP = 64, GRID_Y_MAX = 65535 };

struct guided_args {
    struct view_pair p;
    struct gf_guided guided;
    int strip;                   /* rows of a block */
    struct gf_guided_line *line; /* [channels][rows + 2 radius][width] */
};

template <class Sample, class Square>
static __global__ void __launch_bounds__(THREADS) guided_lines_kernel(const struct guided_args args)
{
    __shared__ struct prefixes<unsigned, Square, THREADS> prefixes;
    const struct view_pair &p = args.p;
    const int radius = args.guided.radius, rows = p.rows + 2 * radius;
    const struct place place = place_of<THREADS>(p, radius, args.strip, rows);
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
    __shared__ struct prefixes<unsigned, unsigned, THREADS> prefixes;
    const struct view_pair &p = args.p;
    const int radius = args.guided.radius, rows = p.rows + 2 * radius;
    const struct place place = place_of<THREADS>(p, radius, args.strip, p.rows);
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
