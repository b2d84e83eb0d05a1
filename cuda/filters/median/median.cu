#include "cuda/filters/median/median.cuh"

#include <limits.h>

/* Windows of 3x3 and 5x5 by networks of minima and maxima. A word holds two samples of 16 bits from
 * adjacent rows, one for each of two rows of the result. From sm_90 on the minimum or maximum of
 * such pairs is one instruction, and neighbours to the left and right are always whole words. */
#define NET static __device__ __forceinline__
#define NET_TYPE uint32_t
#define NET_MIN(a, b) __vminu2(a, b)
#define NET_MAX(a, b) __vmaxu2(a, b)
#define NET_NAME(name) name
#include "pixel/median_net.h"

/* ---- 3x3, 8 bits: everything in registers ---- */

constexpr int BYTE_THREADS = 128;
constexpr int SPAN = 16; /* samples of a thread's row; beside them lies a word on either side */
constexpr int WORDS = SPAN / 4 + 2;
constexpr int BYTE_ROWS = 8; /* of a thread, two at a time */

static __device__ __noinline__ uint32_t border_word(const unsigned char *row, int at, int channels,
                                                    int width, int border)
{
    uint32_t word = 0;
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        const int from = median_column(at + i, channels, width, border, 4);
        word |= from < 0 ? 0 : (uint32_t)row[from] << (8 * i);
    }
    return word;
}

template <int CHANNELS>
static __device__ __forceinline__ void load_span(const struct view_pair &p, int y, int x,
                                                 uint32_t (&words)[WORDS])
{
    const unsigned char *const row = median_row(p, y);
    const int samples = p.width * CHANNELS;
    if (!row) {
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            words[i] = 0;
    } else if (x > 0 && x + SPAN + 4 <= samples) {
        const uint4 middle = __ldg((const uint4 *)(row + x));
        words[0] = __ldg((const uint32_t *)(row + x) - 1);
        words[1] = middle.x;
        words[2] = middle.y;
        words[3] = middle.z;
        words[4] = middle.w;
        words[5] = __ldg((const uint32_t *)(row + x) + SPAN / 4);
    } else {
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            words[i] = border_word(row, x - 4 + 4 * i, CHANNELS, p.width, p.border);
    }
}

static __device__ __forceinline__ void store_span(unsigned char *row, int x, int samples,
                                                  const uint32_t (&words)[SPAN / 4])
{
    if (x + SPAN <= samples) {
        *(uint4 *)(row + x) = make_uint4(words[0], words[1], words[2], words[3]);
        return;
    }
#pragma unroll
    for (int i = 0; i < SPAN / 4; i++) {
#pragma unroll 1
        for (int at = x + 4 * i, shift = 0; at < samples && shift < 32; at++, shift += 8)
            row[at] = (unsigned char)(words[i] >> shift);
    }
}

/* The medians of rows 1 and 2 of the four, in the upper bytes of both halves of a word. The lower
 * byte of each half repeats the sample, so that the comparison of halves orders samples alone. */
template <int CHANNELS>
static __device__ __forceinline__ void median_pairs(const uint32_t (&rows)[4][WORDS],
                                                    uint32_t (&result)[SPAN])
{
    uint32_t rank[3][WORDS * 4];
#pragma unroll
    for (int i = 4 - CHANNELS; i < SPAN + 4 + CHANNELS; i++) {
        const uint32_t both = (i % 4) * 0x1111 + 0x4400;
        uint32_t v[3];
#pragma unroll
        for (int k = 0; k < 3; k++)
            v[k] = __byte_perm(rows[k][i / 4], rows[k + 1][i / 4], both);
        net_sort3(v);
#pragma unroll
        for (int k = 0; k < 3; k++)
            rank[k][i] = v[k];
    }
#pragma unroll
    for (int i = 0; i < SPAN; i++) {
        uint32_t window[3][3];
#pragma unroll
        for (int k = 0; k < 3; k++) {
#pragma unroll
            for (int j = 0; j < 3; j++)
                window[k][j] = rank[k][i + 4 + (j - 1) * CHANNELS];
        }
        result[i] = net_median3(window);
    }
}

template <int CHANNELS>
static __global__ void __launch_bounds__(BYTE_THREADS) median3_bytes_kernel(struct view_pair p)
{
    const int x = (blockIdx.x * BYTE_THREADS + threadIdx.x) * SPAN;
    const int samples = p.width * CHANNELS;
    if (x >= samples)
        return;
    for (int start = blockIdx.y * BYTE_ROWS; start < p.rows; start += GRID_ROWS_MAX * BYTE_ROWS) {
        uint32_t rows[4][WORDS];
        load_span<CHANNELS>(p, p.out_y + start - 1, x, rows[0]);
        load_span<CHANNELS>(p, p.out_y + start, x, rows[1]);
        const int end = min(start + BYTE_ROWS, p.rows);
        for (int i = start; i < end; i += 2) {
            /* The view may end below row i + 1, which is then read twice. */
            const bool two = i + 1 < p.rows;
            load_span<CHANNELS>(p, p.out_y + i + 1, x, rows[2]);
            load_span<CHANNELS>(p, p.out_y + i + 1 + two, x, rows[3]);
            uint32_t result[SPAN], upper[SPAN / 4], lower[SPAN / 4];
            median_pairs<CHANNELS>(rows, result);
#pragma unroll
            for (int k = 0; k < SPAN / 4; k++) {
                const uint32_t left = __byte_perm(result[4 * k], result[4 * k + 1], 0x7351);
                const uint32_t right = __byte_perm(result[4 * k + 2], result[4 * k + 3], 0x7351);
                upper[k] = __byte_perm(left, right, 0x5410);
                lower[k] = __byte_perm(left, right, 0x7632);
            }
            unsigned char *const out = p.out + i * p.out_pitch;
            store_span(out, x, samples, upper);
            if (two)
                store_span(out + p.out_pitch, x, samples, lower);
#pragma unroll
            for (int k = 0; k < WORDS; k++) {
                rows[0][k] = rows[2][k];
                rows[1][k] = rows[3][k];
            }
        }
    }
}

/* ---- 3x3 in 16 bits, 5x5: sorted columns through shared memory ---- */

constexpr int THREADS = 256;
constexpr int ROWS = 32; /* of a block, two at a time */

static __device__ __forceinline__ uint32_t load_sample(const unsigned char *row, int at, int bits)
{
    if (!row || at < 0)
        return 0;
    return bits == 8 ? __ldg(row + at) : __ldg((const uint16_t *)row + at);
}

static __device__ __forceinline__ void store_sample(unsigned char *row, int at, int bits,
                                                    uint32_t v)
{
    if (bits == 8)
        row[at] = (unsigned char)v;
    else
        ((uint16_t *)row)[at] = (uint16_t)v;
}

template <int SIDES>
static __device__ __forceinline__ uint32_t window_median(uint32_t (&rank)[SIDES][SIDES]);
template <> __device__ __forceinline__ uint32_t window_median<3>(uint32_t (&rank)[3][3])
{
    return net_median3(rank);
}
template <> __device__ __forceinline__ uint32_t window_median<5>(uint32_t (&rank)[5][5])
{
    return net_median5(rank);
}

static __device__ __forceinline__ void sort_column(uint32_t (&v)[3])
{
    net_sort3(v);
}
static __device__ __forceinline__ void sort_column(uint32_t (&v)[5])
{
    net_sort5(v);
}

/* A thread sorts its column of the windows of two rows. The threads of a block exchange the sorted
 * columns, and all but the outermost find the medians of the windows around them. */
template <int RADIUS>
static __global__ void __launch_bounds__(THREADS) median_columns_kernel(struct view_pair p)
{
    constexpr int SIDES = 2 * RADIUS + 1;
    /* With two sets, which alternate, one barrier a step is enough. */
    __shared__ uint32_t planes[2][SIDES][THREADS];
    const int thread = threadIdx.x, halo = RADIUS * p.channels;
    const int samples = p.width * p.channels;
    const int sample = (int)blockIdx.x * (THREADS - 2 * halo) + thread - halo;
    const bool is_inner = thread >= halo && thread < THREADS - halo && sample < samples;
    const int column = median_column(sample, p.channels, p.width, p.border, RADIUS);
    for (int start = blockIdx.y * ROWS; start < p.rows; start += GRID_ROWS_MAX * ROWS) {
        uint32_t v[SIDES + 1];
#pragma unroll
        for (int k = 0; k < SIDES - 1; k++)
            v[k] = load_sample(median_row(p, p.out_y + start - RADIUS + k), column, p.bits);
        const int end = min(start + ROWS, p.rows);
        for (int i = start, set = 0; i < end; i += 2, set ^= 1) {
            const bool two = i + 1 < p.rows;
            const int y = p.out_y + i + RADIUS;
            v[SIDES - 1] = load_sample(median_row(p, y), column, p.bits);
            v[SIDES] = two ? load_sample(median_row(p, y + 1), column, p.bits) : 0;
            uint32_t sorted[SIDES];
#pragma unroll
            for (int k = 0; k < SIDES; k++)
                sorted[k] = v[k] | v[k + 1] << 16;
            sort_column(sorted);
#pragma unroll
            for (int k = 0; k < SIDES; k++)
                planes[set][k][thread] = sorted[k];
            __syncthreads();
            if (is_inner) {
                uint32_t rank[SIDES][SIDES];
#pragma unroll
                for (int k = 0; k < SIDES; k++) {
#pragma unroll
                    for (int j = 0; j < SIDES; j++)
                        rank[k][j] = j == RADIUS
                                         ? sorted[k]
                                         : planes[set][k][thread + (j - RADIUS) * p.channels];
                }
                const uint32_t median = window_median<SIDES>(rank);
                unsigned char *const out = p.out + i * p.out_pitch;
                store_sample(out, sample, p.bits, median & 0xffff);
                if (two)
                    store_sample(out + p.out_pitch, sample, p.bits, median >> 16);
            }
#pragma unroll
            for (int k = 0; k < SIDES - 1; k++)
                v[k] = v[k + 2];
        }
        __syncthreads(); /* the next strip begins with the first set again */
    }
}

/* ---- launchers ---- */

static dim3 grid_of(size_t samples, int samples_a_block, int rows, int rows_a_block)
{
    const size_t blocks = (samples + samples_a_block - 1) / samples_a_block;
    const int strips = (rows + rows_a_block - 1) / rows_a_block;
    return dim3((unsigned int)blocks, strips < GRID_ROWS_MAX ? strips : GRID_ROWS_MAX);
}

template <int CHANNELS> static int launch_bytes(const struct view_pair &p, cudaStream_t stream)
{
    const dim3 grid = grid_of((size_t)p.width * CHANNELS, BYTE_THREADS * SPAN, p.rows, BYTE_ROWS);
    median3_bytes_kernel<CHANNELS><<<grid, BYTE_THREADS, 0, stream>>>(p);
    return cudaGetLastError();
}

template <int RADIUS> static int launch_columns(const struct view_pair &p, cudaStream_t stream)
{
    const dim3 grid =
        grid_of((size_t)p.width * p.channels, THREADS - 2 * RADIUS * p.channels, p.rows, ROWS);
    median_columns_kernel<RADIUS><<<grid, THREADS, 0, stream>>>(p);
    return cudaGetLastError();
}

static int launch_median3(const struct view_pair &p, cudaStream_t stream)
{
    if (p.bits > 8)
        return launch_columns<1>(p, stream);
    return for_channels(p.channels, [&](auto channels) {
        return launch_bytes<decltype(channels)::value>(p, stream);
    });
}

extern "C" int gf_median_cuda(const struct gf_launch *launch)
{
    if (gf_row_bytes(launch->in.format) > INT_MAX / 2)
        return cudaErrorInvalidValue; /* samples of a row are counted in int */
    const struct gf_median *const median = (const struct gf_median *)launch->stage->params;
    const struct view_pair p = view_pair_of(launch, median->border);
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    switch (median->radius) {
    case 1:
        return launch_median3(p, stream);
    case 2:
        return launch_columns<2>(p, stream);
    default:
        return gf_median_large(p, median->radius, stream);
    }
}
