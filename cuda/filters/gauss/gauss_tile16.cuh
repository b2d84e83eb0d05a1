/* The Gaussian of 16-bit pictures, radius up to GF_GAUSS_FUSED_MAX: both passes in one kernel, in
 * float and in the order that gauss.h states. */
#ifndef GF_CUDA_FILTERS_GAUSS_GAUSS_TILE16_CUH
#define GF_CUDA_FILTERS_GAUSS_GAUSS_TILE16_CUH

#include "cuda/filters/gauss/gauss_common.cuh"
#include "stage/border.h"

enum {
    TILE16_SAMPLES =
        384, /* of a row: whole runs of pixels and 16-byte chunks for 1 to 4 channels */
    STAGING16_PITCH = 2 * TILE16_SAMPLES + 16,
};

template <class Finish> struct tile16_args {
    struct view_pair p;
    int radius; /* of the taps, at most RADIUS */
    Finish finish;
    float tap[GF_GAUSS_FUSED_MAX + 1]; /* zeros behind the last: adding 0 changes nothing */
};

/* The tile between the passes, rows of floats. Each channel has a plane of its own. */
struct tile16_shape {
    int width; /* pixels */
    int plane; /* floats from one channel to the next */
    int row;   /* floats from one row to the next */
};

static __host__ __device__ __forceinline__ struct tile16_shape shape_of_tile16(int channels,
                                                                               int radius)
{
    struct tile16_shape shape;
    shape.width = TILE16_SAMPLES / channels;
    shape.plane = (shape.width + 2 * radius + 3) / 4 * 4;
    shape.row = channels * shape.plane;
    if (shape.row % 8 == 0) /* see shape_of_tile: four runs of two rows are read at once */
        shape.row += 4;
    return shape;
}

/* Sources of a thread's two columns if the tile reaches beyond the row: the sample for each, and a
 * mask, which is 0 if the border's constant replaces it. */
struct edge_pair {
    unsigned from[2], mask[2];
};

static __device__ __forceinline__ struct edge_pair edge_pair_at(const struct view_pair &p, int left,
                                                                int sample)
{
    struct edge_pair edge;
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const int at = max(sample + j, 0), pixel = pixel_of(p, at);
        const int index = gf_border_index(left + pixel, p.width, p.border);
        edge.from[j] = (unsigned)max(index, 0) * p.channels + (at - pixel * p.channels);
        edge.mask[j] = index < 0 ? 0u : 0xFFFFu << 16 * j;
    }
    return edge;
}

/* Two samples of a row. `inside` is the same for all threads of a block. */
static __device__ __forceinline__ unsigned load_pair(const unsigned char *row, bool inside,
                                                     long long byte, const struct edge_pair &edge)
{
    if (inside)
        return __ldg((const unsigned *)(row + byte));
    const unsigned short *const samples = (const unsigned short *)row;
    return ((unsigned)__ldg(samples + edge.from[0]) & edge.mask[0]) |
           ((unsigned)__ldg(samples + edge.from[1]) << 16 & edge.mask[1]);
}

/* The vertical pass: a thread makes two neighbouring columns of the tile. */
template <int RADIUS, class Args>
static __device__ __forceinline__ void
blur_columns16(const Args &args, const struct tile16_shape &shape, const long long *rows,
               float *planes, int x0, int y0)
{
    const struct view_pair &p = args.p;
    const int left = x0 - RADIUS, pixels = min(shape.width, p.width - x0) + 2 * RADIUS;
    const long long begin = (long long)left * p.channels, start = begin & ~1LL;
    const int slack = (int)(begin - start), count = (slack + pixels * p.channels + 1) / 2;
    const bool inside = start >= 0 && start + 2 * count <= (long long)p.width * p.channels;
    for (int w = threadIdx.x; w < count; w += GAUSS_THREADS) {
        const int sample = 2 * w - slack;
        struct edge_pair edge = {};
        if (!inside)
            edge = edge_pair_at(p, left, sample);
        float *to[2];
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const int at = max(sample + j, 0), pixel = pixel_of(p, at);
            to[j] = sample + j >= 0 && pixel < pixels
                        ? planes + (at - pixel * p.channels) * shape.plane + pixel
                        : nullptr;
        }
        float v[TILE_ROWS + 2 * RADIUS][2];
#pragma unroll
        for (int i = 0; i < TILE_ROWS + 2 * RADIUS; i++) {
            unsigned pair = load_pair(p.in + rows[i], inside, 2 * (start + 2 * w), edge);
            if (row_is_zero(p, y0 - RADIUS + i))
                pair = 0;
            v[i][0] = float_of_low(pair);
            v[i][1] = float_of_high(pair);
        }
#pragma unroll
        for (int i = 0; i < TILE_ROWS; i++) {
#pragma unroll
            for (int j = 0; j < 2; j++) {
                float sum = args.tap[0] * v[i + RADIUS][j];
#pragma unroll
                for (int k = 1; k <= RADIUS; k++)
                    sum = sum + args.tap[k] * (v[i + RADIUS - k][j] + v[i + RADIUS + k][j]);
                if (to[j])
                    to[j][i * shape.row] = sum;
            }
        }
    }
}

/* The sums of a run of one channel. What lies behind the columns of the tile, which the last
 * access takes along, and behind those of the picture is in no sum that is written. */
template <int RADIUS, class Args>
static __device__ __forceinline__ void blur_run16(const Args &args, const float *from,
                                                  float sum[RUN])
{
    constexpr int SPAN = (RUN + 2 * RADIUS + 3) / 4 * 4;
    float v[SPAN];
#pragma unroll
    for (int i = 0; i < SPAN; i += 4) {
        unpack(*(const float4 *)(from + i), v + i);
    }
#pragma unroll
    for (int i = 0; i < RUN; i++) {
        sum[i] = args.tap[0] * v[i + RADIUS];
#pragma unroll
        for (int k = 1; k <= RADIUS; k++)
            sum[i] = sum[i] + args.tap[k] * (v[i + RADIUS - k] + v[i + RADIUS + k]);
    }
}

template <int RADIUS, class Args>
static __device__ __forceinline__ void
blur_rows16(const Args &args, const struct tile16_shape &shape, const float *planes,
            unsigned char *staging, int x0, int y0, int lines)
{
    const struct view_pair &p = args.p;
    const int quarter = shape.width / RUN / 4;
    for (int item = threadIdx.x; item < quarter * 4 * p.channels * TILE_ROWS;
         item += GAUSS_THREADS) {
        const int rest = item >> 3, strip = rest / quarter;
        const int run = (rest - strip * quarter) * 4 + (item & 3);
        const int high = strip / p.channels, channel = strip - high * p.channels;
        const int row = 2 * high + (item >> 2 & 1), x = x0 + run * RUN;
        if (x >= p.width || row >= lines)
            continue;
        const unsigned short *const in =
            (const unsigned short *)(p.in + (long long)(y0 + row - p.in_y) * (long long)p.in_pitch);
        unsigned short *const to = (unsigned short *)(staging + row * STAGING16_PITCH);
        float sum[RUN];
        blur_run16<RADIUS>(args, planes + row * shape.row + channel * shape.plane + run * RUN, sum);
#pragma unroll
        for (int i = 0; i < RUN; i++)
            to[(run * RUN + i) * p.channels + channel] = (unsigned short)args.finish.sample16(
                sum[i], in + (long long)min(x + i, p.width - 1) * p.channels + channel);
    }
}

template <int RADIUS, class Finish>
__global__ void __launch_bounds__(GAUSS_THREADS, RADIUS > 6 ? 2 : 3)
    blur_tile16_kernel(const tile16_args<Finish> args)
{
    extern __shared__ uint4 shared[];
    const struct view_pair &p = args.p;
    const struct tile16_shape shape = shape_of_tile16(p.channels, RADIUS);
    long long *const rows = (long long *)shared;
    float *const planes = (float *)(rows + TILE_ROWS + 2 * RADIUS);
    unsigned char *const staging = (unsigned char *)(planes + TILE_ROWS * shape.row);
    const struct tile_origin origin = block_tile(p.width, shape.width, TILE_ROWS);
    const int x0 = origin.x, y0 = p.out_y + origin.row;
    const int lines = min(TILE_ROWS, p.out_y + p.rows - y0);
    list_rows(p, rows, TILE_ROWS + 2 * RADIUS, y0 - RADIUS, y0 - args.radius,
              y0 + lines - 1 + args.radius);
    __syncthreads();
    blur_columns16<RADIUS>(args, shape, rows, planes, x0, y0);
    __syncthreads();
    blur_rows16<RADIUS>(args, shape, planes, staging, x0, y0, lines);
    __syncthreads();
    store_tile(p, staging, STAGING16_PITCH, 2 * TILE16_SAMPLES, lines, y0,
               2 * (long long)x0 * p.channels, 2 * (long long)p.width * p.channels);
}

template <int RADIUS, class Finish>
static int launch_tile16(const struct gf_launch *launch, const struct view_pair &p,
                         const struct gf_gauss *gauss, const Finish &finish)
{
    const struct tile16_shape shape = shape_of_tile16(p.channels, RADIUS);
    struct tile16_args<Finish> args = {
    };
    args.p = p;
    args.radius = gauss->radius;
    args.finish = finish;
    for (int k = 0; k <= gauss->radius; k++)
        args.tap[k] = gauss->real[k];
    const size_t shared = (TILE_ROWS + 2 * RADIUS) * sizeof(long long) +
                          TILE_ROWS * shape.row * sizeof(float) + TILE_ROWS * STAGING16_PITCH;
    const int tiles = tile_blocks(p.width, p.rows, shape.width, TILE_ROWS);
    blur_tile16_kernel<RADIUS, Finish>
        <<<tiles, GAUSS_THREADS, shared, (cudaStream_t)launch->stream>>>(args);
    return cudaGetLastError();
}

#endif
