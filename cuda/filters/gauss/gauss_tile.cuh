/* The Gaussian of 8-bit pictures, radius up to GF_GAUSS_FUSED_MAX: both passes in one kernel. */
#ifndef GF_CUDA_FILTERS_GAUSS_GAUSS_TILE_CUH
#define GF_CUDA_FILTERS_GAUSS_GAUSS_TILE_CUH

#include "cuda/filters/gauss/gauss_common.cuh"
#include "stage/border.h"

template <class Finish> struct tile_args {
    struct view_pair p;
    int radius; /* of the taps, at most RADIUS */
    int drop;   /* bits that the vertical pass drops */
    /* even[u]: taps 2u and 2u + 1 counted from the topmost, odd[u]: taps 2u - 1 and 2u, low half
     * first; tap[k]: by distance, for sums with 24 fraction bits. */
    unsigned even[GF_GAUSS_FUSED_MAX + 1], odd[GF_GAUSS_FUSED_MAX + 1], tap[GF_GAUSS_FUSED_MAX + 1];
    Finish finish;
};

/* The tile between the passes. A word holds the samples of two rows, the upper row in its lower
 * half. Each channel has a plane of its own, so that the samples under the taps are adjacent. */
struct tile_shape {
    int width; /* pixels */
    int plane; /* words from one channel to the next */
    int pair;  /* words from one pair of rows to the next */
};

template <int RADIUS> struct tile_extent {
    static constexpr int GROUPS =
        (2 * RADIUS + 3) / 4 + 1; /* of four input rows, for four output rows */
    static constexpr int ROWS = 4 * (GROUPS + TILE_ROWS / 4 - 1);
    static constexpr int SPAN = (RUN + 2 * RADIUS + 3) / 4 * 4; /* samples that a run is made of */
};

static __host__ __device__ __forceinline__ struct tile_shape shape_of_tile(int channels, int radius)
{
    struct tile_shape shape;
    shape.width = TILE_SAMPLES / channels;
    shape.plane = (shape.width + 2 * radius + 3) / 4 * 4;
    shape.pair = channels * shape.plane;
    /* Eight threads read 16 bytes each at once, 32 bytes apart in four runs of two pairs of rows:
     * with an odd number of 16-byte units from pair to pair they meet every bank once. */
    if (shape.pair % 8 == 0)
        shape.pair += 4;
    return shape;
}

/* The words of the planes that a thread's four columns go to; nullptr for columns that are not the
 * tile's. */
static __device__ __forceinline__ void find_targets(const struct view_pair &p,
                                                    const struct tile_shape &shape, int pixels,
                                                    int sample, unsigned *words, unsigned *to[4])
{
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const int pixel = pixel_of(p, max(sample + j, 0));
        const int channel = sample + j - pixel * p.channels;
        to[j] = sample + j >= 0 && pixel < pixels ? words + channel * shape.plane + pixel : nullptr;
    }
}

/* Sources of four columns that are not all within the row: the sample for each, and a mask, which
 * is 0 if the border's constant replaces it. */
struct edge_columns {
    unsigned from[4], mask[4];
};

static __device__ __forceinline__ struct edge_columns edge_columns_at(const struct view_pair &p,
                                                                      int left, int sample)
{
    struct edge_columns edge;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const int pixel = pixel_of(p, max(sample + j, 0));
        const int channel = max(sample + j, 0) - pixel * p.channels;
        const int index = gf_border_index(left + pixel, p.width, p.border);
        edge.from[j] = (unsigned)max(index, 0) * p.channels + channel;
        edge.mask[j] = index < 0 ? 0u : 0xFFu << 8 * j;
    }
    return edge;
}

/* Four rows of four columns, from row y on. All threads of a block take the same branches. */
static __device__ __forceinline__ void load_columns(const struct view_pair &p,
                                                    const long long *rows, int y, bool inside,
                                                    long long byte, const struct edge_columns &edge,
                                                    unsigned r[4])
{
    if (inside) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            r[i] = __ldg((const unsigned *)(p.in + rows[i] + byte));
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            r[i] = 0;
#pragma unroll
            for (int j = 0; j < 4; j++)
                r[i] |= (unsigned)__ldg(p.in + rows[i] + edge.from[j]) << 8 * j & edge.mask[j];
        }
    }
    if (p.border == GF_BORDER_CONSTANT) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (y + i < 0 || y + i >= p.height)
                r[i] = 0;
        }
    }
}

/* Output rows 4 step .. 4 step + 3 of one column, in two words. */
template <int RADIUS, class Args>
static __device__ __forceinline__ void blur_column(const Args &args, const unsigned (*window)[4],
                                                   int c, unsigned *to, int pair)
{
    unsigned sum[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        sum[i] = 1u << (args.drop - 1);
#pragma unroll
        for (int u = 0; u <= RADIUS; u++) {
            const int two = u + i / 2; /* pair of rows of the window */
            const unsigned tap = i % 2 ? args.odd[u] : args.even[u];
            const unsigned bytes = window[two / 2][c];
            sum[i] = two % 2 ? __dp2a_hi(tap, bytes, sum[i]) : __dp2a_lo(tap, bytes, sum[i]);
        }
        sum[i] >>= args.drop;
    }
    if (to) {
        to[0] = sum[0] | sum[1] << 16;
        to[pair] = sum[2] | sum[3] << 16;
    }
}

/* The vertical pass: a thread makes four neighbouring columns of the tile. It transposes four rows
 * at a time into four columns of bytes, of which dp2a multiplies two by two taps, while the next
 * four rows are being loaded. */
template <int RADIUS, class Args>
static __device__ __forceinline__ void
blur_columns(const Args &args, const struct tile_shape &shape, const long long *rows,
             unsigned *words, int x0, int y0)
{
    constexpr int GROUPS = tile_extent<RADIUS>::GROUPS, STEPS = TILE_ROWS / 4;
    const struct view_pair &p = args.p;
    const int left = x0 - RADIUS, top = y0 - RADIUS;
    const int pixels = min(shape.width, p.width - x0) + 2 * RADIUS;
    const long long start = (long long)left * p.channels & ~3LL;
    const int slack = (int)((long long)left * p.channels - start);
    const int count = (slack + pixels * p.channels + 3) / 4;
    const bool inside = start >= 0 && start + 4 * count <= (long long)p.width * p.channels;
    for (int w = threadIdx.x; w < count; w += GAUSS_THREADS) {
        const long long byte = start + 4 * w;
        struct edge_columns edge;
        if (!inside)
            edge = edge_columns_at(p, left, 4 * w - slack);
        unsigned *to[4];
        find_targets(p, shape, pixels, 4 * w - slack, words, to);
        unsigned raw[GROUPS][4], window[GROUPS + STEPS - 1][4];
#pragma unroll
        for (int group = 0; group < GROUPS; group++)
            load_columns(p, rows + 4 * group, top + 4 * group, inside, byte, edge, raw[group]);
#pragma unroll
        for (int group = 0; group < GROUPS; group++)
            transpose_bytes(raw[group], window[group]);
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            const int next = GROUPS + step;
            if (step + 1 < STEPS)
                load_columns(p, rows + 4 * next, top + 4 * next, inside, byte, edge, raw[0]);
#pragma unroll
            for (int c = 0; c < 4; c++) {
                blur_column<RADIUS>(args, window + step, c, to[c], shape.pair);
                to[c] += to[c] ? 2 * shape.pair : 0;
            }
            if (step + 1 < STEPS)
                transpose_bytes(raw[0], window[next]);
        }
    }
}

/* Interleaves four pixels. plane[0] holds the bytes of the last channel, plane[1] those of the one
 * before. */
static __device__ __forceinline__ void interleave_bytes(unsigned char *to, const unsigned plane[4],
                                                        int channels)
{
    unsigned *const out = (unsigned *)to;
    if (channels == 1) {
        out[0] = plane[0];
    } else if (channels == 2) {
        out[0] = __byte_perm(plane[1], plane[0], 0x5140);
        out[1] = __byte_perm(plane[1], plane[0], 0x7362);
    } else if (channels == 3) {
        const unsigned low = __byte_perm(plane[2], plane[1], 0x5140);
        const unsigned high = __byte_perm(plane[2], plane[1], 0x7362);
        out[0] = __byte_perm(low, plane[0], 0x2410);
        out[1] = __byte_perm(__byte_perm(low, plane[0], 0x0053), high, 0x5410);
        out[2] = __byte_perm(high, plane[0], 0x7326);
    } else {
        const unsigned a = __byte_perm(plane[3], plane[2], 0x5140);
        const unsigned b = __byte_perm(plane[1], plane[0], 0x5140);
        const unsigned c = __byte_perm(plane[3], plane[2], 0x7362);
        const unsigned d = __byte_perm(plane[1], plane[0], 0x7362);
        out[0] = __byte_perm(a, b, 0x5410);
        out[1] = __byte_perm(a, b, 0x7632);
        out[2] = __byte_perm(c, d, 0x5410);
        out[3] = __byte_perm(c, d, 0x7632);
    }
}

/* A run of one channel in two rows. One addition adds the samples to the left and right in both
 * rows (the sums stay below 2^16), then each row has its own multiplication; these run in different
 * pipes. The multiplication for the upper row, in the lower half of the word, is not masked: it
 * adds 2^16 times the lower row's sum, which is subtracted at the end. This is exact, since the
 * sums are modulo 2^32. What lies behind the columns of the tile and of the picture is in no sum
 * that is written. */
template <int RADIUS, class Args>
static __device__ __forceinline__ void blur_run(const Args &args, const unsigned *words,
                                                unsigned start, unsigned upper[RUN],
                                                unsigned lower[RUN])
{
    constexpr int SPAN = tile_extent<RADIUS>::SPAN;
    unsigned v[SPAN];
#pragma unroll
    for (int i = 0; i < SPAN; i += 4) {
        unpack(*(const uint4 *)(words + i), v + i);
    }
#pragma unroll
    for (int i = 0; i < RUN; i++) {
        upper[i] = lower[i] = 0;
#pragma unroll
        for (int k = 0; k <= RADIUS; k++) {
            const unsigned both = k ? v[i + RADIUS - k] + v[i + RADIUS + k] : v[i + RADIUS];
            upper[i] += args.tap[k] * both;
            lower[i] += args.tap[k] * (both >> 16);
        }
        upper[i] += start - (lower[i] << 16);
        lower[i] += start;
    }
}

template <int RADIUS, class Args>
static __device__ __forceinline__ void blur_rows(const Args &args, const struct tile_shape &shape,
                                                 const unsigned *words, unsigned char *staging,
                                                 int x0, int y0, int lines)
{
    const struct view_pair &p = args.p;
    const int quarter = shape.width / RUN / 4;
    for (int item = threadIdx.x; item < quarter * 4 * TILE_ROWS / 2; item += GAUSS_THREADS) {
        const int rest = item >> 3, high = rest / quarter;
        const int run = (rest - high * quarter) * 4 + (item & 3);
        const int pair = 2 * high + (item >> 2 & 1);
        const int x = x0 + run * RUN, y = y0 + 2 * pair;
        if (x >= p.width || 2 * pair >= lines)
            continue;
        unsigned plane[2][2][4] = {}; /* [row][half of the run][channel, the latest first] */
        for (int channel = 0; channel < p.channels; channel++) {
            unsigned sum[2][RUN], word[2];
            blur_run<RADIUS>(args, words + pair * shape.pair + channel * shape.plane + run * RUN,
                             decltype(args.finish)::START, sum[0], sum[1]);
#pragma unroll
            for (int row = 0; row < 2; row++) {
                finish_run(args, sum[row], x, min(y + row, y0 + lines - 1), channel, word);
#pragma unroll
                for (int half = 0; half < 2; half++) {
#pragma unroll
                    for (int i = 3; i > 0; i--)
                        plane[row][half][i] = plane[row][half][i - 1];
                    plane[row][half][0] = word[half];
                }
            }
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            interleave_bytes(staging + (2 * pair + i / 2) * STAGING_PITCH +
                                 (2 * run + i % 2) * RUN / 2 * p.channels,
                             plane[i / 2][i % 2], p.channels);
    }
}

template <int RADIUS, class Finish>
__global__ void __launch_bounds__(GAUSS_THREADS, RADIUS > 6 ? 2 : Finish::BLOCKS)
    blur_tile_kernel(const tile_args<Finish> args)
{
    extern __shared__ uint4 shared[];
    const struct view_pair &p = args.p;
    const struct tile_shape shape = shape_of_tile(p.channels, RADIUS);
    long long *const rows = (long long *)shared;
    unsigned *const words = (unsigned *)(rows + tile_extent<RADIUS>::ROWS);
    unsigned char *const staging = (unsigned char *)(words + TILE_ROWS / 2 * shape.pair);
    const struct tile_origin origin = block_tile(p.width, shape.width, TILE_ROWS);
    const int x0 = origin.x, y0 = p.out_y + origin.row;
    const int lines = min(TILE_ROWS, p.out_y + p.rows - y0);
    list_rows(p, rows, tile_extent<RADIUS>::ROWS, y0 - RADIUS, y0 - args.radius,
              y0 + lines - 1 + args.radius);
    __syncthreads();
    blur_columns<RADIUS>(args, shape, rows, words, x0, y0);
    __syncthreads();
    blur_rows<RADIUS>(args, shape, words, staging, x0, y0, lines);
    __syncthreads();
    store_tile(p, staging, STAGING_PITCH, TILE_SAMPLES, lines, y0, (long long)x0 * p.channels,
               (long long)p.width * p.channels);
}

template <int RADIUS, class Finish>
static int launch_tile(const struct gf_launch *launch, const struct view_pair &p,
                       const struct gf_gauss *gauss, const Finish &finish)
{
    const struct tile_shape shape = shape_of_tile(p.channels, RADIUS);
    struct tile_args<Finish> args = {
    };
    args.p = p;
    args.radius = gauss->radius;
    args.drop = gauss->shift - GF_GAUSS_FRACTION;
    args.finish = finish;
    for (int u = 0; u <= RADIUS; u++) {
        const unsigned before = gf_gauss_tap(gauss, 2 * u - 1 - RADIUS);
        const unsigned tap = gf_gauss_tap(gauss, 2 * u - RADIUS);
        const unsigned after = gf_gauss_tap(gauss, 2 * u + 1 - RADIUS);
        args.even[u] = tap | after << 16;
        args.odd[u] = before | tap << 16;
        args.tap[u] = (unsigned)gf_gauss_tap(gauss, u) << (GF_GAUSS_SHIFT_MAX - gauss->shift);
    }
    const size_t shared = tile_extent<RADIUS>::ROWS * sizeof(long long) +
                          TILE_ROWS / 2 * shape.pair * sizeof(unsigned) + TILE_ROWS * STAGING_PITCH;
    const int tiles = tile_blocks(p.width, p.rows, shape.width, TILE_ROWS);
    blur_tile_kernel<RADIUS, Finish>
        <<<tiles, GAUSS_THREADS, shared, (cudaStream_t)launch->stream>>>(args);
    return cudaGetLastError();
}

#endif
