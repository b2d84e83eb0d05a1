#include "bilateral.h"

#include <cuda_runtime.h>
#include <stdint.h>

#include "stage.h"

/* A tile of the result and, around it, `radius` pixels on each side, as floats in shared memory: a
 * strip of rows at a time, as many as fit, so that any radius works. Warps lie along rows. */
constexpr int TILE_COLUMNS = 32;
constexpr int TILE_THREADS_Y = 8;
constexpr int TILE_ROWS = 2 * TILE_THREADS_Y; /* a thread makes two pixels, one below the other */
constexpr int THREADS = TILE_COLUMNS * TILE_THREADS_Y;
constexpr int STRIP_FLOATS = 8192;
constexpr float NO_WEIGHT = -1e30f; /* an exponent whose power is 0 */
constexpr int GRID_Y = 32768;

struct bilateral_band {
    const unsigned char *in; /* row in_first of the picture */
    unsigned char *out;      /* row first of the result */
    size_t in_pitch, out_pitch;
    int in_first, first, rows, width, height, bits;
    int radius, border;
    float colour; /* of struct gf_bilateral_weights */
    const float *space;
};

/* Colours of a pixel, alpha last; three channels take the room of four, so that one access reads a
 * pixel. */
template <int CHANNELS> struct __align__(CHANNELS == 3 ? 16 : 4 * CHANNELS) colours
{
    float v[CHANNELS == 3 ? 4 : CHANNELS];
};

/* Error 2^-22 relative, and 0 for what lies below 2^-126. */
static __device__ __forceinline__ float power_of_two(float x)
{
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

template <int CHANNELS>
static __device__ __forceinline__ struct colours<CHANNELS>
load_pixel(const struct bilateral_band &band, int x, int y) {
    struct colours<CHANNELS> pixel = {
    };
    const int column = gf_border_index(x, band.width, band.border);
    const int row = gf_border_index(y, band.height, band.border);
    if (column < 0 || row < 0)
        return pixel;
    const unsigned char *const from = band.in + (row - band.in_first) * (ptrdiff_t)band.in_pitch;
    const size_t at = (size_t)column * CHANNELS;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        pixel.v[c] = band.bits == 8 ? (float)__ldg(from + at + c)
                                    : (float)__ldg((const uint16_t *)from + at + c);
    return pixel;
}

template <int CHANNELS>
static __device__ __forceinline__ void store_pixel(const struct bilateral_band &band, int x, int y,
                                                   const struct colours<CHANNELS> &pixel)
{
    unsigned char *const to = band.out + (y - band.first) * (ptrdiff_t)band.out_pitch;
    const size_t at = (size_t)x * CHANNELS;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        if (band.bits == 8)
            to[at + c] = (unsigned char)gf_round_sample(pixel.v[c], 255.0f);
        else
            ((uint16_t *)to)[at + c] = (uint16_t)gf_round_sample(pixel.v[c], 65535.0f);
    }
}

/* Weights, and sums of weights times differences from the centre: differences, since they lose
 * less. */
template <int CHANNELS> struct sums {
    float weight, colour[CHANNELS];

    __device__ __forceinline__ void add_tap(const struct colours<CHANNELS> &centre,
                                            const struct colours<CHANNELS> &tap, float space,
                                            float colour_factor)
    {
        constexpr int COLOURS = CHANNELS >= 3 ? 3 : 1;
        float difference[CHANNELS], distance = 0.0f;
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            difference[c] = tap.v[c] - centre.v[c];
            if (c < COLOURS)
                distance = c ? fmaf(difference[c], difference[c], distance)
                             : difference[c] * difference[c];
        }
        const float w = power_of_two(fmaf(distance, colour_factor, space));
        weight += w;
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            colour[c] = fmaf(w, difference[c], colour[c]);
    }
    __device__ __forceinline__ void add(const struct sums &other)
    {
        weight += other.weight;
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            colour[c] += other.colour[c];
    }
};

template <int CHANNELS>
static __global__ void __launch_bounds__(THREADS) bilateral_kernel(struct bilateral_band band)
{
    typedef struct colours<CHANNELS> pixel_type;
    constexpr int STRIP_PIXELS = STRIP_FLOATS * sizeof(float) / sizeof(pixel_type);
    __shared__ pixel_type strip[STRIP_PIXELS];
    __shared__ float space[GF_BILATERAL_RADIUS_MAX + 1];
    const int thread = threadIdx.x, tx = thread % TILE_COLUMNS, ty = thread / TILE_COLUMNS;
    const int radius = band.radius, columns = TILE_COLUMNS + 2 * radius;
    const int strip_rows = STRIP_PIXELS / columns;
    const int x0 = (int)blockIdx.x * TILE_COLUMNS, x = x0 + tx;
    for (int i = thread; i <= radius; i += THREADS)
        space[i] = band.space[i];
    for (int start = blockIdx.y * TILE_ROWS; start < band.rows; start += GRID_Y * TILE_ROWS) {
        const int y0 = band.first + start, y = y0 + 2 * ty, end = band.first + band.rows;
        /* Beyond the band's last row there may be no input: a row that is not made needs none. */
        const int last = min(y0 + TILE_ROWS, end) - 1 + radius;
        pixel_type centre[2] = {};
        struct sums<CHANNELS> total[2] = {
        };
#pragma unroll
        for (int k = 0; k < 2; k++) {
            if (x < band.width && y + k < end)
                centre[k] = load_pixel<CHANNELS>(band, x, y + k);
        }
        for (int top = y0 - radius; top <= last; top += strip_rows) {
            const int rows = min(strip_rows, last + 1 - top);
            __syncthreads();
            for (int i = ty; i < rows; i += TILE_THREADS_Y) {
                for (int j = tx; j < columns; j += TILE_COLUMNS)
                    strip[i * columns + j] = load_pixel<CHANNELS>(band, x0 - radius + j, top + i);
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
                    sum[0].add_tap(centre[0], tap, beside + above, band.colour);
                    sum[1].add_tap(centre[1], tap, beside + below, band.colour);
                }
                total[0].add(sum[0]);
                total[1].add(sum[1]);
            }
        }
#pragma unroll
        for (int k = 0; k < 2; k++) {
            if (x >= band.width || y + k >= end)
                continue;
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                centre[k].v[c] += total[k].colour[c] / total[k].weight;
            store_pixel<CHANNELS>(band, x, y + k, centre[k]);
        }
    }
}

template <int CHANNELS>
static int launch_tiles(const struct bilateral_band &band, cudaStream_t stream)
{
    const int strips = (band.rows + TILE_ROWS - 1) / TILE_ROWS;
    const dim3 grid((band.width + TILE_COLUMNS - 1) / TILE_COLUMNS,
                    strips < GRID_Y ? strips : GRID_Y);
    bilateral_kernel<CHANNELS><<<grid, THREADS, 0, stream>>>(band);
    return cudaGetLastError();
}

extern "C" int gf_bilateral_cuda(const struct gf_launch *launch)
{
    const struct gf_bilateral_weights *const weights =
        (const struct gf_bilateral_weights *)launch->stage->constants;
    struct bilateral_band band = {};
    band.in = launch->in.data;
    band.in_pitch = launch->in.pitch;
    band.in_first = launch->in.y;
    band.out = launch->out.data;
    band.out_pitch = launch->out.pitch;
    band.first = launch->out.y;
    band.rows = launch->out.rows;
    band.width = launch->in.format.width;
    band.height = launch->in.format.height;
    band.bits = launch->in.format.bits;
    band.radius = weights->radius;
    band.border = weights->border;
    band.colour = weights->colour;
    band.space = ((const struct gf_bilateral_weights *)launch->constants)->space;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    switch (launch->in.format.channels) {
    case 1:
        return launch_tiles<1>(band, stream);
    case 2:
        return launch_tiles<2>(band, stream);
    case 3:
        return launch_tiles<3>(band, stream);
    default:
        return launch_tiles<4>(band, stream);
    }
}
