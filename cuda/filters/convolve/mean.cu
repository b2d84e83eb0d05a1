/* Weighted means on tensor cores. */
#include "cuda/common/launch.cuh"
#include "cuda/common/mma.cuh"
#include "cuda/common/stencil.cuh"
#include "cuda/filters/convolve/convolve.cuh"
#include "filters/convolve/convolve.h"

/* The arguments of the kernels: which samples each row of weights needs, and in which windows. */

enum {
    MEAN_SIDE = 31,
    MEAN_TILES = 8,
    MEAN_ROWS = 8 * MEAN_TILES,
    MEAN_WARPS = 8,
    MEAN_THREADS = 32 * MEAN_WARPS,
    MEAN_PIXELS = 16 * MEAN_WARPS, /* columns of results of a block */
    MEAN_BEFORE = 16,              /* columns that a block loads to the left of its results */
    MEAN_PITCH = MEAN_PIXELS + 48, /* bytes of a row of a channel in shared memory */
    MEAN_GAP = 32,                 /* unused bytes after every eight such rows */
    MEAN_PARTS = 2 * MEAN_SIDE,
};

/* A term: successive rows of weights whose windows of samples begin at the same column. */
struct mean_term {
    unsigned char start; /* first of the samples' columns, counted from MEAN_BEFORE columns left of
                            the block's results */
    unsigned char row, rows, is_short;
};

struct mean_args {
    struct view_pair p;
    int width, height; /* size of the matrix in weights */
    /* Half of the sum of all weights, and the factor for gf_convolve_mean(). */
    unsigned half, inverse;
    /* The numbers of terms, of rows of weights in all terms, and of tiles of the picture. */
    int count, parts, tiles;
    struct mean_term term[MEAN_PARTS];
    unsigned char weight[MEAN_SIDE * MEAN_SIDE];
};

/* Shared memory: the matrices, then offsets of rows, and the channels' rows, which the results
 * replace. */
static inline __host__ __device__ int mean_rows_bytes(int rows)
{
    return (rows + 7) / 8 * (8 * MEAN_PITCH + MEAN_GAP);
}

static inline int mean_shared(const mean_args &args)
{
    const int rows = MEAN_ROWS + args.height - 1, channels = args.p.channels;
    const int stage = MEAN_ROWS * MEAN_PIXELS + MEAN_ROWS;
    return args.parts * 512 + (rows + 1) / 2 * 16 + channels * max(mean_rows_bytes(rows), stage);
}

/* The columns where a window of samples may begin: multiples of 8. */
struct mean_window {
    int least, last;
};

/* Finds where the 32 columns may begin from which mma computes 16 results for a row of weights. A
 * row that is too wide for one window has a second one, which is short: 16 columns. Returns whether
 * the row has the window. */
static inline bool mean_window_of(const mean_args &args, int row, bool second,
                                  struct mean_window *window)
{
    const unsigned char *const weight = args.weight + row * args.width;
    int low = 0, high = args.width - 1;
    while (low <= high && !weight[low])
        low++;
    while (low <= high && !weight[high])
        high--;
    const int first = MEAN_BEFORE - args.width / 2;
    const int last = (first + low) / 8 * 8, end = first + high + 16;
    const int least = max((end - 32 + 7) / 8 * 8, 0);
    *window = second ? mean_window{last + 32, last + 32} : mean_window{min(least, last), last};
    return low <= high && (!second || end > last + 32);
}

/* Lists the terms: rows of weights, one below the other, whose windows may begin together. */
static inline void list_means(mean_args *args)
{
    int least = 0;
    for (int i = 0; i < 2 * args->height; i++) {
        const bool second = i >= args->height;
        const int row = i % args->height;
        struct mean_window window;
        if (!mean_window_of(*args, row, second, &window))
            continue;
        args->parts++;
        struct mean_term *const term = &args->term[args->count - 1];
        if (args->count && term->is_short == second && term->row + term->rows == row &&
            max(least, window.least) <= min((int)term->start, window.last)) {
            least = max(least, window.least);
            term->start = (unsigned char)min((int)term->start, window.last);
            term->rows++;
            continue;
        }
        least = window.least;
        args->term[args->count++] = {(unsigned char)window.last, (unsigned char)row, 1, second};
    }
}

/* Sets the arguments. Returns whether the kernel accepts the matrix. For such a matrix the CPU's
 * sums are exact, too, so that the results are equal. */
static inline bool means_fit(const struct gf_launch *launch, const struct gf_convolve *convolve,
                             mean_args *args)
{
    const int count = convolve->width * convolve->height;
    const struct gf_format format = launch->in.format;
    int most, sum = 0;
    if (format.bits != 8 || gf_has_alpha(format) || convolve->bias != 0.0f)
        return false;
    const int whole = gf_convolve_whole(convolve->weight, count, &most);
    if (!whole || most > 255)
        return false;
    *args = {};
    for (int i = 0; i < count; i++) {
        if (convolve->weight[i] < 0)
            return false;
        args->weight[i] = (unsigned char)(convolve->weight[i] * (float)whole);
        sum += args->weight[i];
    }
    if (sum <= 256 || sum >= 65536 || convolve->divisor * (float)whole != (float)sum)
        return false;
    args->p = view_pair_of(launch, convolve->border);
    args->width = convolve->width;
    args->height = convolve->height;
    args->half = (unsigned)sum / 2;
    args->inverse = gf_convolve_inverse((unsigned)sum);
    args->tiles = tile_blocks(args->p.width, args->p.rows, MEAN_PIXELS, MEAN_ROWS);
    list_means(args);
    return true;
}

/* Weighted means of 8-bit samples on tensor cores, for matrices of up to 31 x 31 whole numbers from
 * 0 to 255 whose divisor is their sum, such as those of lensblur and motionblur. A row of weights
 * is a banded matrix of 16 x 32 blocks: mma computes 16 neighbouring results of 8 rows from 32
 * neighbouring samples of each. Column n of tile i is row 8 n + i of the warp's 64 rows, so that
 * tile i and row j of the weights need the same samples as tile i + 1 and row j - 1: a lane loads
 * the samples of one row more for each row of the weights. Windows of 16 samples serve what a row
 * of weights has beyond 32. Sums are exact integers, so that their order does not matter. */

/* Returns four weights of row m of the matrix that a row of weights becomes, from sample `at` on.
 * Row m computes pixel 2 m of 16, or 2 m - 15 from m = 8 on. */
static __device__ __forceinline__ unsigned
mean_word(const mean_args &args, const unsigned char *weight, int row, int m, int at)
{
    const int pixel = m < 8 ? 2 * m : 2 * m - 15;
    const int first = at - MEAN_BEFORE - pixel + args.width / 2;
    unsigned word = 0;
    for (int i = 0; i < 4; i++) {
        if (first + i >= 0 && first + i < args.width)
            word |= (unsigned)weight[row * args.width + first + i] << 8 * i;
    }
    return word;
}

/* Makes the matrices in the order of mma's operands, from weights in shared memory. Lane 4 g + t
 * has rows g and g + 8 of a matrix, and samples 8 t .. 8 t + 7, or 4 t .. 4 t + 3 of a short
 * window. */
static __device__ __forceinline__ void make_means(const mean_args &args, unsigned char *weight,
                                                  uint4 *matrix)
{
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, g = lane / 4, t = lane % 4;
    int part = 0;
    for (int i = threadIdx.x; i < args.width * args.height; i += MEAN_THREADS)
        weight[i] = args.weight[i];
    __syncthreads();
    for (int k = 0; k < args.count; k++) {
        const struct mean_term term = args.term[k];
        for (int j = 0; j < term.rows; j++, part++) {
            if (part % MEAN_WARPS != warp)
                continue;
            const int row = term.row + j, at = term.start + (term.is_short ? 4 : 8) * t;
            matrix[part * WARP + lane] = make_uint4(
                mean_word(args, weight, row, g, at), mean_word(args, weight, row, g + 8, at),
                term.is_short ? 0 : mean_word(args, weight, row, g, at + 4),
                term.is_short ? 0 : mean_word(args, weight, row, g + 8, at + 4));
        }
    }
}

/* 16 pixels of a row, four to a word of each channel. */
template <int CHANNELS> struct mean_pixels {
    unsigned word[CHANNELS][4];
};

/* Returns 16 pixels of a row from column x on, which may be beyond the row: the border's rule
 * replaces those that are. */
template <int CHANNELS>
static __device__ __noinline__ mean_pixels<CHANNELS> load_beyond(const struct view_pair &p,
                                                                 const unsigned char *row, int x)
{
    mean_pixels<CHANNELS> to = {};
#pragma unroll
    for (int i = 0; i < 16; i++) {
        const int from = gf_border_index(x + i, p.width, p.border);
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            const unsigned sample = from < 0 ? 0 : row[(long long)from * CHANNELS + c];
            to.word[c][i / 4] |= sample << 8 * (i % 4);
        }
    }
    return to;
}

template <int CHANNELS>
static __device__ __forceinline__ mean_pixels<CHANNELS> load_inside(const unsigned char *from)
{
    mean_pixels<CHANNELS> to;
    unsigned word[4 * CHANNELS];
#pragma unroll
    for (int i = 0; i < CHANNELS; i++)
        unpack(__ldg((const uint4 *)from + i), word + 4 * i);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (CHANNELS == 1) {
            to.word[0][i] = word[i];
        } else {
            const unsigned a = word[3 * i], b = word[3 * i + 1], c = word[3 * i + 2];
            to.word[0][i] = __byte_perm(__byte_perm(a, b, 0x0630), c, 0x5210);
            to.word[CHANNELS / 2][i] = __byte_perm(__byte_perm(a, b, 0x0741), c, 0x6210);
            to.word[CHANNELS - 1][i] = __byte_perm(__byte_perm(a, b, 0x0052), c, 0x7410);
        }
    }
    return to;
}

template <int CHANNELS>
static __device__ __forceinline__ void keep_pixels(unsigned char *planes, int rows, int row,
                                                   int group, const mean_pixels<CHANNELS> &v)
{
    unsigned char *const to = planes + row * MEAN_PITCH + row / 8 * MEAN_GAP + 16 * group;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        *(uint4 *)(to + c * mean_rows_bytes(rows)) =
            make_uint4(v.word[c][0], v.word[c][1], v.word[c][2], v.word[c][3]);
}

/* Brings the rows of a tile to shared memory, each channel by itself. Where no column is beyond the
 * picture, several loads are issued before the first result is used. */
template <int CHANNELS>
static __device__ __forceinline__ void load_means(const mean_args &args, long long *offset,
                                                  unsigned char *planes, int left, int top)
{
    constexpr int ACROSS = MEAN_PITCH / 16;
    const struct view_pair &p = args.p;
    const int rows = MEAN_ROWS + args.height - 1, reach = args.height / 2;
    const int x = left - MEAN_BEFORE, y = p.out_y + top - reach;
    const bool is_inside = x >= 0 && x + MEAN_PITCH <= p.width;
    list_rows(p, offset, rows, y, p.out_y - reach, p.out_y + p.rows - 1 + reach);
    __syncthreads();
    if (is_inside) {
#pragma unroll 2
        for (int i = threadIdx.x; i < rows * ACROSS; i += MEAN_THREADS) {
            const int row = i / ACROSS, group = i - row * ACROSS;
            const long long at = offset[row] + (long long)(x + 16 * group) * CHANNELS;
            const mean_pixels<CHANNELS> v = load_inside<CHANNELS>(p.in + at);
            keep_pixels(planes, rows, row, group,
                        row_is_zero(p, y + row) ? mean_pixels<CHANNELS>{} : v);
        }
    } else {
#pragma unroll 1
        for (int i = threadIdx.x; i < rows * ACROSS; i += MEAN_THREADS) {
            const int row = i / ACROSS, group = i - row * ACROSS, first = x + 16 * group;
            const unsigned char *const from = p.in + offset[row];
            mean_pixels<CHANNELS> v = {};
            if (!row_is_zero(p, y + row))
                v = first >= 0 && first + 16 <= p.width
                        ? load_inside<CHANNELS>(from + (long long)first * CHANNELS)
                        : load_beyond<CHANNELS>(p, from, first);
            keep_pixels(planes, rows, row, group, v);
        }
    }
    __syncthreads();
}

/* Loads the lane's samples of a row, which is `row` rows below the lane's first one. */
template <bool IS_SHORT>
static __device__ __forceinline__ void load_samples(const unsigned char *first, int row,
                                                    unsigned (&to)[2])
{
    const unsigned char *const from = first + row * MEAN_PITCH + row / 8 * MEAN_GAP;
    if (IS_SHORT) {
        to[0] = *(const unsigned *)from;
    } else {
        const uint2 both = *(const uint2 *)from;
        to[0] = both.x, to[1] = both.y;
    }
}

/* Adds the products of a term to the warp's sums. samples[(j + i) % 8] is what tile i and row j of
 * the term need. */
template <bool IS_SHORT>
static __device__ __forceinline__ void add_term(const struct mean_term &term,
                                                const unsigned char *first, const uint4 *matrix,
                                                unsigned (&sum)[MEAN_TILES][4])
{
    constexpr int TILES = MEAN_TILES;
    unsigned samples[TILES][2];
#pragma unroll
    for (int i = 0; i < TILES - 1; i++)
        load_samples<IS_SHORT>(first, term.row + i, samples[i]);
#pragma unroll 1
    for (int begin = 0; begin < term.rows; begin += TILES) {
#pragma unroll
        for (int k = 0; k < TILES; k++) {
            const int j = begin + k;
            if (k && j >= term.rows)
                break;
            load_samples<IS_SHORT>(first, term.row + j + TILES - 1,
                                   samples[(k + TILES - 1) % TILES]);
            unsigned a[4];
            unpack(matrix[j * WARP], a);
#pragma unroll
            for (int i = 0; i < TILES; i++) {
                const unsigned(&b)[2] = samples[(k + i) % TILES];
                if (IS_SHORT)
                    mma_k16(sum[i], a, b[0]);
                else
                    mma_k32(sum[i], a, b[0], b[1]);
            }
        }
    }
}

/* Computes a channel of the warp's tile. Word i has results of tile i: those of rows 2 t and 2 t +
 * 1 of pixel 2 g, then those of pixel 2 g + 1. */
static __device__ __forceinline__ void mean_channel(const mean_args &args,
                                                    const unsigned char *first, const uint4 *matrix,
                                                    unsigned (&result)[MEAN_TILES])
{
    const int t = threadIdx.x % 4;
    unsigned sum[MEAN_TILES][4];
#pragma unroll
    for (int i = 0; i < 4 * MEAN_TILES; i++)
        sum[i / 4][i % 4] = args.half;
#pragma unroll 1
    for (int k = 0; k < args.count; k++) {
        const struct mean_term term = args.term[k];
        if (term.is_short)
            add_term<true>(term, first + term.start + 4 * t, matrix, sum);
        else
            add_term<false>(term, first + term.start + 8 * t, matrix, sum);
        matrix += term.rows * WARP;
    }
#pragma unroll
    for (int i = 0; i < MEAN_TILES; i++)
        result[i] = __byte_perm(__byte_perm(gf_convolve_mean(sum[i][0], args.inverse),
                                            gf_convolve_mean(sum[i][1], args.inverse), 0x0051),
                                __byte_perm(gf_convolve_mean(sum[i][2], args.inverse),
                                            gf_convolve_mean(sum[i][3], args.inverse), 0x0051),
                                0x5410);
}

/* Returns where a row of results is in shared memory. Padding after each 16 rows keeps the rows
 * that a warp writes at once in different banks. */
template <int CHANNELS>
static __device__ __forceinline__ unsigned char *mean_stage(unsigned char *stage, int row)
{
    return stage + (row * MEAN_PIXELS + row / 16 * 16) * CHANNELS;
}

/* Writes the results of all channels of the warp's tile to the stage. */
template <int CHANNELS>
static __device__ __forceinline__ void stage_means(unsigned char *stage,
                                                   const unsigned (&result)[CHANNELS][MEAN_TILES])
{
    const int lane = threadIdx.x % WARP, g = lane / 4, t = lane % 4;
#pragma unroll
    for (int i = 0; i < MEAN_TILES; i++) {
        unsigned pair[CHANNELS];
        if (CHANNELS == 1) {
            pair[0] = __byte_perm(result[0][i], 0, 0x3120);
        } else {
            const unsigned r = result[0][i], v = result[CHANNELS / 2][i];
            const unsigned b = result[CHANNELS - 1][i];
            pair[0] = __byte_perm(r, v, 0x5140);
            pair[CHANNELS / 2] = __byte_perm(b, r, 0x7160);
            pair[CHANNELS - 1] = __byte_perm(v, b, 0x7362);
        }
#pragma unroll
        for (int k = 0; k < 2 * CHANNELS; k++) {
            unsigned char *const to = mean_stage<CHANNELS>(stage, 16 * t + 8 * (k / CHANNELS) + i);
            *(unsigned short *)(to + 2 * (g * CHANNELS + k % CHANNELS)) =
                (unsigned short)(pair[k % CHANNELS] >> 16 * (k / CHANNELS));
        }
    }
}

/* Writes a tile's results to the output. */
template <int CHANNELS>
static __device__ __forceinline__ void store_means(const struct view_pair &p, unsigned char *stage,
                                                   int left, int top)
{
    constexpr int CHUNKS = MEAN_PIXELS * CHANNELS / 16;
    const int lines = min((int)MEAN_ROWS, p.rows - top);
    const long long row_bytes = (long long)p.width * CHANNELS;
    for (int i = threadIdx.x; i < lines * CHUNKS; i += MEAN_THREADS) {
        const int row = i / CHUNKS, byte = (i - row * CHUNKS) * 16;
        const unsigned char *const from = mean_stage<CHANNELS>(stage, row) + byte;
        const long long at = (long long)left * CHANNELS + byte;
        unsigned char *const to = p.out + (long long)(top + row) * (long long)p.out_pitch + at;
        if (at + 16 <= row_bytes) {
            *(uint4 *)to = *(const uint4 *)from;
        } else {
#pragma unroll 1
            for (int b = 0; at + b < row_bytes; b++)
                to[b] = from[b];
        }
    }
}

template <int CHANNELS>
__global__ void __launch_bounds__(MEAN_THREADS, 3)
    mean_kernel(const __grid_constant__ mean_args args)
{
    extern __shared__ uint4 shared[];
    const struct view_pair &p = args.p;
    const int rows = MEAN_ROWS + args.height - 1, warp = threadIdx.x / WARP;
    uint4 *const matrix = shared;
    long long *const offset = (long long *)(matrix + args.parts * WARP);
    unsigned char *const planes = (unsigned char *)(offset + (rows + 1) / 2 * 2);
    const int lane = threadIdx.x % WARP, across = (p.width + MEAN_PIXELS - 1) / MEAN_PIXELS;
    const unsigned char *const first = planes + lane / 4 * (8 * MEAN_PITCH + MEAN_GAP) + 16 * warp;
    make_means(args, planes, matrix);
    early_next();
    early_wait();
    for (int tile = (int)blockIdx.x; tile < args.tiles; tile += (int)gridDim.x) {
        const int down = tile / across, left = (tile - down * across) * MEAN_PIXELS;
        unsigned result[CHANNELS][MEAN_TILES];
        load_means<CHANNELS>(args, offset, planes, left, down * MEAN_ROWS);
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            mean_channel(args, first + c * mean_rows_bytes(rows), matrix + lane, result[c]);
        __syncthreads();
        stage_means<CHANNELS>(planes + 16 * warp * CHANNELS, result);
        __syncthreads();
        store_means<CHANNELS>(p, planes, left, down * MEAN_ROWS);
        __syncthreads();
    }
}

template <int CHANNELS> static int launch_means_of(const struct gf_launch *launch, mean_args &args)
{
    return launch_resident(mean_kernel<CHANNELS>, (unsigned)args.tiles, MEAN_THREADS,
                           mean_shared(args), launch->stream, args);
}

/* Whether the device has enough shared memory for a block. */
static bool means_may_run(const mean_args &args)
{
    int most = 0;
    return shared_most(&most) == cudaSuccess && mean_shared(args) <= most;
}

int gf_convolve_means(const struct gf_launch *launch, const struct gf_convolve *convolve)
{
    mean_args args;
    if (convolve->width * convolve->height <= 25 || !means_fit(launch, convolve, &args) ||
        !means_may_run(args))
        return cudaErrorNotSupported;
    return args.p.channels == 1 ? launch_means_of<1>(launch, args)
                                : launch_means_of<3>(launch, args);
}
