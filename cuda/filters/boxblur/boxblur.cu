/* Box blur with running sums in two kernels, for pictures that boxblur_small.cuh and
 * boxblur_prefix.cuh do not accept. The first kernel adds down the columns into scratch memory, the
 * second one along the rows in shared memory. The time grows little with the radius. */
#include "cuda/common/stencil.cuh"
#include "cuda/filters/boxblur/boxblur_prefix.cuh"
#include "cuda/filters/boxblur/boxblur_small.cuh"
#include "filters/boxblur/boxblur.h"
#include "stage/border.h"

enum {
    THREADS = 256,
    TILE_SAMPLES = 768,
    STRETCH = 16, /* neighbouring pixels that a thread slides its window over */
};

struct columns_args {
    struct view_pair p;
    unsigned char *sums;
    size_t sums_pitch;
    int radius, strip; /* `strip` is the number of rows over which a thread slides its window */
};

static __device__ __forceinline__ void add_four(const unsigned char *row, long long at,
                                                long long samples, unsigned sum[4], bool subtract)
{
    const unsigned word = load_bytes(row, at, samples);
#pragma unroll
    for (int c = 0; c < 4; c++)
        sum[c] += subtract ? 0u - (word >> 8 * c & 0xFFu) : word >> 8 * c & 0xFFu;
}

static __device__ __forceinline__ void add_four(const unsigned short *row, long long at,
                                                long long samples, unsigned sum[4], bool subtract)
{
    unsigned v[4] = {0, 0, 0, 0};
    if (at + 4 <= samples) {
        const uint2 four = __ldg((const uint2 *)(row + at));
        v[0] = four.x & 0xFFFFu, v[1] = four.x >> 16, v[2] = four.y & 0xFFFFu, v[3] = four.y >> 16;
    } else {
        for (int c = 0; at + c < samples; c++)
            v[c] = row[at + c];
    }
#pragma unroll
    for (int c = 0; c < 4; c++)
        sum[c] += subtract ? 0u - v[c] : v[c];
}

static __device__ __forceinline__ void store_four(unsigned short *to, const unsigned sum[4])
{
    *(uint2 *)to = make_uint2(sum[0] | sum[1] << 16, sum[2] | sum[3] << 16);
}

static __device__ __forceinline__ void store_four(unsigned *to, const unsigned sum[4])
{
    *(uint4 *)to = make_uint4(sum[0], sum[1], sum[2], sum[3]);
}

template <class Sample, class Sum>
__global__ void __launch_bounds__(THREADS) box_columns_kernel(const struct columns_args args)
{
    extern __shared__ long long rows[];
    const struct view_pair &p = args.p;
    const long long samples = (long long)p.width * p.channels;
    const int across = (int)((samples + 4 * THREADS - 1) / (4 * THREADS));
    const int down = blockIdx.x / across;
    const int line = down * args.strip, lines = min(args.strip, p.rows - line);
    const int top = p.out_y + line - args.radius, window = 2 * args.radius + 1;
    list_rows(p, rows, lines + window - 1, top, top, top + lines + window - 2);
    __syncthreads();
    const long long at = 4 * ((long long)(blockIdx.x - down * across) * THREADS + threadIdx.x);
    if (at >= samples)
        return;
    unsigned sum[4] = {0, 0, 0, 0};
#pragma unroll 4
    for (int i = 0; i < window - 1; i++) {
        if (!row_is_zero(p, top + i))
            add_four((const Sample *)(p.in + rows[i]), at, samples, sum, false);
    }
#pragma unroll 4
    for (int i = 0; i < lines; i++) {
        const int enter = i + window - 1;
        if (!row_is_zero(p, top + enter))
            add_four((const Sample *)(p.in + rows[enter]), at, samples, sum, false);
        store_four((Sum *)(args.sums + (size_t)(line + i) * args.sums_pitch) + at, sum);
        if (!row_is_zero(p, top + i))
            add_four((const Sample *)(p.in + rows[i]), at, samples, sum, true);
    }
}

struct rows_args {
    struct view_pair p;
    const unsigned char *sums;
    size_t sums_pitch;
    int radius, lines; /* `lines` is the number of rows that a block computes */
    struct gf_box_mean mean;
};

/* The layout of one row of column sums in shared memory: a plane for each channel, with room for
 * the window on either side. */
struct box_shape {
    int width;  /* pixels of the tile */
    int plane;  /* words from one channel to the next */
    int blocks; /* the number of sums of STRETCH columns in a plane */
};

/* A word of padding follows every STRETCH words, so that threads that slide STRETCH columns apart
 * access different banks. */
static __host__ __device__ __forceinline__ int padded(int i)
{
    return i + i / STRETCH;
}

static __host__ __device__ __forceinline__ struct box_shape shape_of_box(int channels, int radius)
{
    struct box_shape shape;
    shape.width = TILE_SAMPLES / channels;
    shape.plane = padded(shape.width + 2 * radius) + 1;
    shape.blocks = shape.width / STRETCH + (2 * radius + 1) / STRETCH;
    return shape;
}

template <class Sum>
static __device__ __forceinline__ void load_sums(const struct rows_args &args,
                                                 const struct box_shape &shape, unsigned *planes,
                                                 int x0, int line, int lines)
{
    const struct view_pair &p = args.p;
    for (int i = threadIdx.x; i < shape.width + 2 * args.radius; i += THREADS) {
        const int index = gf_border_index(x0 - args.radius + i, p.width, p.border);
        for (int row = 0; row < lines; row++) {
            const Sum *const from =
                (const Sum *)(args.sums + (size_t)(line + row) * args.sums_pitch) +
                (long long)index * p.channels;
            for (int c = 0; c < p.channels; c++)
                planes[(row * p.channels + c) * shape.plane + padded(i)] =
                    index < 0 ? 0u : (unsigned)__ldg(from + c);
        }
    }
}

static __device__ __forceinline__ int mean_of(const struct gf_box_mean &mean, unsigned sum)
{
    return gf_box_mean8(&mean, sum);
}

static __device__ __forceinline__ int mean_of(const struct gf_box_mean &mean,
                                              unsigned long long sum)
{
    return gf_box_mean16(&mean, sum);
}

/* Computes STRETCH pixels of one channel. The first window is the sum of whole stretches and of the
 * remaining columns; each later window is the window before it, moved by a column. */
template <class Window, class Sample>
static __device__ __forceinline__ void slide(const struct rows_args &args, const unsigned *plane,
                                             const unsigned *blocks, int stretch, Sample *to)
{
    const int window = 2 * args.radius + 1, whole = window / STRETCH;
    /* The start is a multiple of STRETCH, so that padded(i) is right for an i counted from the
     * start. */
    plane += padded(stretch * STRETCH);
    Window sum = 0;
    for (int i = 0; i < whole; i++)
        sum += blocks[stretch + i];
    for (int i = whole * STRETCH; i < window; i++)
        sum += plane[padded(i)];
#pragma unroll
    for (int i = 0; i < STRETCH; i++) {
        to[i * args.p.channels] = (Sample)mean_of(args.mean, sum);
        if (i + 1 < STRETCH)
            sum += (Window)plane[padded(i + window)] - (Window)plane[padded(i)];
    }
}

template <class Sum, class Window, class Sample>
__global__ void __launch_bounds__(THREADS) box_rows_kernel(const struct rows_args args)
{
    extern __shared__ uint4 shared[];
    const struct view_pair &p = args.p;
    const struct box_shape shape = shape_of_box(p.channels, args.radius);
    Sample *const staging = (Sample *)shared;
    unsigned *const planes = (unsigned *)(staging + args.lines * TILE_SAMPLES);
    unsigned *const blocks = planes + args.lines * p.channels * shape.plane;
    const struct tile_origin origin = block_tile(p.width, shape.width, args.lines);
    const int x0 = origin.x, line = origin.row;
    const int lines = min(args.lines, p.rows - line), strips = lines * p.channels;
    load_sums<Sum>(args, shape, planes, x0, line, lines);
    __syncthreads();
    if (2 * args.radius + 1 >= STRETCH) {
        for (int i = threadIdx.x; i < strips * (shape.blocks - 1); i += THREADS) {
            const int strip = i / (shape.blocks - 1), block = i - strip * (shape.blocks - 1);
            unsigned sum = 0;
            for (int j = 0; j < STRETCH; j++)
                sum += planes[strip * shape.plane + padded(block * STRETCH + j)];
            blocks[strip * shape.blocks + block] = sum;
        }
        __syncthreads();
    }
    const int stretches = shape.width / STRETCH;
    for (int i = threadIdx.x; i < strips * stretches; i += THREADS) {
        const int strip = i / stretches, stretch = i - strip * stretches;
        const int row = strip / p.channels, channel = strip - row * p.channels;
        if (x0 + stretch * STRETCH < p.width)
            slide<Window>(args, planes + strip * shape.plane, blocks + strip * shape.blocks,
                          stretch,
                          staging + row * TILE_SAMPLES + stretch * STRETCH * p.channels + channel);
    }
    __syncthreads();
    const int pitch = TILE_SAMPLES * (int)sizeof(Sample);
    store_tile(p, (const unsigned char *)staging, pitch, pitch, lines, p.out_y + line,
               (long long)x0 * p.channels * (int)sizeof(Sample),
               (long long)p.width * p.channels * (int)sizeof(Sample));
}

template <class Sample, class Sum, class Window>
static int launch_box(const struct gf_launch *launch, const struct gf_box *box)
{
    const struct view_pair p = view_pair_of(launch, box->border);
    struct columns_args columns = {};
    columns.p = p;
    columns.sums = (unsigned char *)launch->scratch;
    columns.sums_pitch = gf_box_device_pitch(launch->in.format, box->radius);
    columns.radius = box->radius;
    /* A strip begins with 2 * radius loads for its first window, so that strips are longer for
     * larger radii. */
    columns.strip = box->radius <= 16 ? 32 : box->radius <= 64 ? 64 : 256;
    const long long fours = ((long long)p.width * p.channels + 3) / 4;
    const int tall = (int)((fours + THREADS - 1) / THREADS) * ceil_div(p.rows, columns.strip);
    const size_t table = (size_t)(columns.strip + 2 * box->radius) * sizeof(long long);
    LAUNCH_TRY(launch_kernel(box_columns_kernel<Sample, Sum>, tall, THREADS, table, launch->stream,
                             columns));

    const struct box_shape shape = shape_of_box(p.channels, box->radius);
    const size_t each = (size_t)(p.channels * (shape.plane + shape.blocks)) * sizeof(unsigned) +
                        TILE_SAMPLES * sizeof(Sample);
    struct rows_args rows = {};
    rows.p = p;
    rows.sums = columns.sums;
    rows.sums_pitch = columns.sums_pitch;
    rows.radius = box->radius;
    rows.lines = rows_that_fit(each);
    rows.mean = box->mean;
    const int wide = tile_blocks(p.width, p.rows, shape.width, rows.lines);
    return launch_kernel(box_rows_kernel<Sum, Window, Sample>, wide, THREADS, each * rows.lines,
                         launch->stream, rows);
}

extern "C" int gf_boxblur_cuda(const struct gf_launch *launch)
{
    const struct gf_box *const box = (const struct gf_box *)launch->stage->constants;
    if (gf_box_small(launch->in.format, box->radius))
        return launch->in.format.bits == 8 ? launch_small(launch, box)
                                           : launch_small16(launch, box);
    if (gf_box_prefix(launch->in.format, box->radius))
        return launch_prefix(launch, box);
    if (launch->in.format.bits == 16)
        return launch_box<unsigned short, unsigned, unsigned long long>(launch, box);
    return gf_box_narrow(launch->in.format, box->radius)
               ? launch_box<unsigned char, unsigned short, unsigned>(launch, box)
               : launch_box<unsigned char, unsigned, unsigned>(launch, box);
}

/* Blurs straight RGBA. */
extern "C" int gf_boxblur_fused_cuda(const struct gf_launch *launch)
{
    return launch_small16(launch, (const struct gf_box *)launch->stage->constants);
}
