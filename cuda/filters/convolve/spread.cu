/* Sums of pixels with weights of one byte on tensor cores, for matrices of any size (see
 * filters/convolve/spread.h). A block goes down a strip of columns, 16 rows a step, and keeps the
 * rows that a step needs in shared memory, in a ring of octets: a word pair there has eight rows of
 * a column. A warp computes 16 x 64 results of a channel. Pixel 8 n + j of its columns is column n
 * of tile j, so that the samples of tile j for column i of the weights are the samples of tile j +
 * 1 for column i - 1: twelve neighbouring columns serve eight tiles and four columns of weights.
 * The samples of 16 bits are two planes of bytes. */
#include "cuda/common/mma.cuh"
#include "cuda/common/stencil.cuh"
#include "filters/convolve/spread.h"

enum {
    SPREAD_TILES = 8,
    SPREAD_PIXELS = 8 * SPREAD_TILES, /* columns of a warp */
    SPREAD_THREADS = 256,             /* the most threads of a block */
    SPREAD_COLUMNS = SPREAD_TILES + GF_SPREAD_GROUP,
};

/* The weights of a step's matrices, in the order of mma's operands: four columns of 32 lanes for
 * each window. */
struct spread_matrices {
    uint4 *at; /* the matrices for the windows of `all`, then for those of `next` */
    const struct gf_spread_windows *all, *next; /* in device memory */
    int lead;
};

template <class Finish> struct spread_args {
    struct view_pair p;
    struct spread_matrices matrices;
    int reach_x, reach_y;
    int octets, columns, pitch; /* of the ring: octets, columns, words of an octet */
    int planes, parts;          /* channels of a block, and blocks for all channels */
    int steps;                  /* steps of 16 rows that a block does */
    Finish finish;
};

/* Returns the number of bytes of shared memory of a block whose warps are `across` side by side. */
template <class Args> static size_t spread_shared(const Args &args, int across, int bytes)
{
    return (size_t)args.octets * 8 * sizeof(long long) +
           (size_t)args.planes * bytes *
               ((size_t)args.octets * args.pitch * sizeof(unsigned) +
                (size_t)GF_SPREAD_ROWS * SPREAD_PIXELS * across);
}

/* Returns four weights of row m of the matrix of a column, from row k on. */
static __device__ __forceinline__ unsigned
spread_word(const struct gf_spread_weights &weights, int column, int m, int k, int lead, bool next)
{
    unsigned word = 0;
    for (int i = 0; i < 4; i++) {
        const int weight = gf_spread_weight(&weights, k + i - lead - m, column) -
                           (next ? gf_spread_weight(&weights, k + i, column) : 0);
        word |= ((unsigned)weight & 255) << 8 * i;
    }
    return word;
}

/* Block x makes the four matrices of window x. Lane 4 g + t has rows g and g + 8 of a matrix, for
 * the eight rows of the picture in octet t of the window. */
static __global__ void __launch_bounds__(WARP *GF_SPREAD_GROUP)
    spread_matrix_kernel(const struct gf_spread_weights *weights, struct spread_matrices matrices)
{
    const int lane = threadIdx.x % WARP, column = threadIdx.x / WARP, g = lane / 4, t = lane % 4;
    const int all = matrices.all->count, at = (int)blockIdx.x;
    const bool next = at >= all;
    if (at >= all + (matrices.lead ? matrices.next->count : 0))
        return;
    const int window = next ? matrices.next->window[at - all] : matrices.all->window[at];
    const int i = window % 64 * GF_SPREAD_GROUP + column, k = (window / 64 + t) * 8;
    const int lead = matrices.lead;
    matrices.at[at * (WARP * GF_SPREAD_GROUP) + threadIdx.x] = make_uint4(
        spread_word(*weights, i, g, k, lead, next), spread_word(*weights, i, g + 8, k, lead, next),
        spread_word(*weights, i, g, k + 4, lead, next),
        spread_word(*weights, i, g + 8, k + 4, lead, next));
}

/* A block's shared memory, and its tile of the output. */
template <int BYTES> struct spread_block {
    long long *row; /* offsets of the ring's rows in the input */
    unsigned *ring; /* for each channel and byte an array of octets */
    unsigned char *stage;
    /* across: warps side by side; first: the first channel that the block computes. */
    int across, first;
    int x, top, rows; /* the tile in the output */
};

template <int BYTES>
static __device__ __forceinline__ unsigned spread_sample(const unsigned char *row, long long at)
{
    return BYTES == 1 ? __ldg(row + at) : __ldg((const unsigned short *)row + at);
}

/* Brings octets first .. end - 1, counted from the tile's first row, to the ring. */
template <int BYTES, class Args>
static __device__ __forceinline__ void
load_octets(const Args &args, const struct spread_block<BYTES> &block, int first, int end)
{
    const struct view_pair &p = args.p;
    const int top = p.out_y + block.top - args.reach_y - args.matrices.lead;
    list_rows(p, block.row, 8 * (end - first), top + 8 * first, p.out_y - args.reach_y,
              p.out_y + p.rows - 1 + args.reach_y);
    __syncthreads();
    for (int i = threadIdx.x; i < (end - first) * args.columns; i += blockDim.x) {
        const int octet = i / args.columns, column = i - octet * args.columns;
        const int x = gf_border_index(block.x - args.reach_x + column, p.width, p.border);
        unsigned *to = block.ring + (first + octet) % args.octets * args.pitch + 2 * column;
        for (int c = block.first; c < block.first + args.planes; c++) {
            unsigned sample[8];
#pragma unroll
            for (int r = 0; r < 8; r++) {
                const int y = top + 8 * (first + octet) + r;
                sample[r] = x < 0 || row_is_zero(p, y)
                                ? 0
                                : spread_sample<BYTES>(p.in + block.row[8 * octet + r],
                                                       (long long)x * p.channels + c);
            }
#pragma unroll
            for (int b = 0; b < BYTES; b++) {
                unsigned word[2];
#pragma unroll
                for (int w = 0; w < 2; w++) {
                    const unsigned pick = b ? 0x0051 : 0x0040;
                    word[w] = __byte_perm(__byte_perm(sample[4 * w], sample[4 * w + 1], pick),
                                          __byte_perm(sample[4 * w + 2], sample[4 * w + 3], pick),
                                          0x5410);
                }
                *(uint2 *)to = make_uint2(word[0], word[1]);
                to += args.octets * args.pitch;
            }
        }
    }
    __syncthreads();
}

/* Adds the products of a step's windows to the warp's sums. `ring` is the lane's first word. */
template <int BYTES, class Args>
static __device__ __forceinline__ void
add_windows(const Args &args, const struct gf_spread_windows &windows, const uint4 *matrix,
            const unsigned *ring, int slot, unsigned (&sum)[BYTES][SPREAD_TILES][4])
{
#pragma unroll 1
    for (int i = 0; i < windows.count; i++) {
        const int window = windows.window[i];
        int octet = slot + window / 64;
        while (octet >= args.octets)
            octet -= args.octets;
        const unsigned *const from =
            ring + octet * args.pitch + window % 64 * (2 * GF_SPREAD_GROUP);
        unsigned column[BYTES][SPREAD_COLUMNS][2];
#pragma unroll
        for (int k = 0; k < BYTES * SPREAD_COLUMNS / 2; k++) {
            const int b = k / (SPREAD_COLUMNS / 2), two = k % (SPREAD_COLUMNS / 2) * 2;
            const uint4 v = *(const uint4 *)(from + b * args.octets * args.pitch + 2 * two);
            column[b][two][0] = v.x, column[b][two][1] = v.y;
            column[b][two + 1][0] = v.z, column[b][two + 1][1] = v.w;
        }
#pragma unroll
        for (int k = 0; k < GF_SPREAD_GROUP; k++) {
            unsigned a[4];
            unpack(matrix[(i * GF_SPREAD_GROUP + k) * WARP], a);
#pragma unroll
            for (int t = 0; t < BYTES * SPREAD_TILES; t++) {
                const int b = t / SPREAD_TILES, tile = t % SPREAD_TILES;
                mma_signed_k32(sum[b][tile], a, column[b][tile + k][0], column[b][tile + k][1]);
            }
        }
    }
}

/* Writes the warp's results to the stage, whose first pixel for the warp is `to`. */
template <int BYTES, class Args>
static __device__ __forceinline__ void stage_results(const Args &args, unsigned char *to, int pitch,
                                                     const unsigned (&sum)[BYTES][SPREAD_TILES][4])
{
    const int lane = threadIdx.x % WARP, g = lane / 4, t = lane % 4;
#pragma unroll
    for (int k = 0; k < 4; k++) {
#pragma unroll
        for (int tile = 0; tile < SPREAD_TILES; tile++) {
            const int x = 8 * (2 * t + k % 2) + tile;
            unsigned char *const at = to + (g + k / 2 * 8) * pitch + x * args.planes * BYTES;
            if (BYTES == 1)
                *at = (unsigned char)args.finish((double)(int)sum[0][tile][k]);
            else
                *(unsigned short *)at = (unsigned short)args.finish(
                    (double)(int)sum[BYTES - 1][tile][k] * 256.0 + (double)(int)sum[0][tile][k]);
        }
    }
}

/* Writes a step's rows of the stage to the output. */
template <int BYTES, class Args>
static __device__ __forceinline__ void
store_step(const Args &args, const struct spread_block<BYTES> &block, int pitch, int row)
{
    const struct view_pair &p = args.p;
    const int lines = min((int)GF_SPREAD_ROWS, block.rows - row);
    const int pixel = p.channels * BYTES;
    if (args.planes == p.channels) {
        store_tile(p, block.stage, pitch, pitch, lines, p.out_y + block.top + row,
                   (long long)block.x * pixel, (long long)p.width * pixel);
        return;
    }
    const int width = min(SPREAD_PIXELS * block.across, p.width - block.x);
    for (int i = threadIdx.x; i < lines * width; i += blockDim.x) {
        const int line = i / width, x = i - line * width;
        const unsigned char *const from = block.stage + line * pitch + x * BYTES;
        unsigned char *const to = p.out + (size_t)(block.top + row + line) * p.out_pitch +
                                  ((size_t)(block.x + x) * p.channels + block.first) * BYTES;
#pragma unroll
        for (int b = 0; b < BYTES; b++)
            to[b] = from[b];
    }
}

template <int BYTES, class Finish>
__global__ void __launch_bounds__(SPREAD_THREADS)
    spread_kernel(const __grid_constant__ spread_args<Finish> args)
{
    extern __shared__ uint4 shared[];
    const struct view_pair &p = args.p;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    struct spread_block<BYTES> block;
    block.across = (int)blockDim.x / WARP / args.planes;
    const int part = (int)blockIdx.x % args.parts, tile = (int)blockIdx.x / args.parts;
    const int tiles = (p.width + SPREAD_PIXELS * block.across - 1) / (SPREAD_PIXELS * block.across);
    block.first = part * args.planes;
    block.x = tile % tiles * SPREAD_PIXELS * block.across;
    block.top = tile / tiles * args.steps * GF_SPREAD_ROWS;
    block.rows = min(args.steps * (int)GF_SPREAD_ROWS, p.rows - block.top);
    block.row = (long long *)shared;
    block.ring = (unsigned *)(block.row + 8 * args.octets);
    block.stage = (unsigned char *)(block.ring + args.planes * BYTES * args.octets * args.pitch);
    const int channel = warp % args.planes, left = warp / args.planes * SPREAD_PIXELS;
    const int pitch = SPREAD_PIXELS * block.across * args.planes * BYTES;
    const unsigned *const ring =
        block.ring + channel * BYTES * args.octets * args.pitch + 2 * (left + 8 * (lane / 4));
    unsigned char *const to = block.stage + (left * args.planes + channel) * BYTES;
    unsigned sum[BYTES][SPREAD_TILES][4] = {};
#pragma unroll 1
    for (int step = 0; step * GF_SPREAD_ROWS < block.rows; step++) {
        load_octets<BYTES>(args, block, step ? 2 * step + args.octets - 2 : 0,
                           2 * step + args.octets);
        const bool next = args.matrices.lead && step;
        const int all = args.matrices.all->count;
        add_windows<BYTES>(args, next ? *args.matrices.next : *args.matrices.all,
                           args.matrices.at + (next ? all * WARP * GF_SPREAD_GROUP : 0) + lane,
                           ring, 2 * step % args.octets + lane % 4, sum);
        stage_results<BYTES>(args, to, pitch, sum);
        __syncthreads();
        store_step<BYTES>(args, block, pitch, step * GF_SPREAD_ROWS);
        /* With `lead` the next step begins with the sums of this step's last row; otherwise with
         * 0. */
#pragma unroll
        for (int i = 0; i < BYTES * SPREAD_TILES * 2; i++) {
            unsigned *const four = sum[i / (2 * SPREAD_TILES)][i / 2 % SPREAD_TILES];
            const unsigned last = __shfl_sync(0xFFFFFFFFu, four[2 + i % 2], WARP - 4 + lane % 4);
            four[i % 2] = four[2 + i % 2] = args.matrices.lead ? last : 0;
        }
    }
}

/* Chooses how many warps a block has, and whether it computes all channels or one. Returns the
 * number of warps side by side, or 0 if no block fits. */
template <class Args> static int spread_block_of(Args &args, int bytes, int most)
{
    const int channels = args.p.channels, width = 2 * args.reach_x + 1;
    const int groups = ceil_div(width, GF_SPREAD_GROUP);
    for (int part = 0; part < 2; part++) {
        args.planes = part ? 1 : channels;
        args.parts = channels / args.planes;
        const int warps = SPREAD_THREADS / WARP / args.planes;
        for (int across = warps; across > (part ? 0 : warps - 1); across /= 2) {
            args.columns = SPREAD_PIXELS * across + GF_SPREAD_GROUP * (groups + 1);
            args.pitch = (2 * args.columns + 31) / 32 * 32 + 4;
            if (spread_shared(args, across, bytes) <= (size_t)most)
                return across;
        }
    }
    return 0;
}

/* Chooses the number of steps of a block, so that all blocks end at about the same time. The first
 * step takes as much time as 1 + `extra` others. */
template <class Kernel>
static cudaError_t spread_steps(Kernel kernel, int threads, size_t shared, int across, int all,
                                int extra, int *steps)
{
    unsigned places = 0;
    const cudaError_t status = resident_blocks(kernel, threads, shared, ~0u, &places);
    long long best = 0;
    *steps = all;
    for (int n = 1; status == cudaSuccess && places && n <= all; n++) {
        const long long blocks = (long long)across * ceil_div(all, n);
        const long long time = (blocks + places - 1) / places * (n + extra);
        if (n > 1 && time >= best)
            continue;
        best = time;
        *steps = n;
    }
    return status;
}

/* Launches the kernel. windows: the most windows that a step may have. extra: see
 * spread_steps(). */
template <int BYTES, class Finish>
static int launch_spread(const struct gf_launch *launch, spread_args<Finish> &args,
                         const struct gf_spread_weights *weights, int windows, int extra)
{
    const auto kernel = spread_kernel<BYTES, Finish>;
    const cudaStream_t stream = launch->stream;
    int most = 0;
    LAUNCH_TRY(shared_most(&most));
    args.octets = gf_spread_octets(2 * args.reach_y + 1, args.matrices.lead);
    const int across = spread_block_of(args, BYTES, most);
    if (!across)
        return cudaErrorNotSupported;
    const size_t shared = spread_shared(args, across, BYTES);
    const int threads = across * args.planes * WARP;
    LAUNCH_TRY(allow_shared(kernel, (int)shared));
    const int tiles = ceil_div(args.p.width, SPREAD_PIXELS * across);
    const int all = ceil_div(args.p.rows, GF_SPREAD_ROWS);
    LAUNCH_TRY(spread_steps(kernel, threads, shared, tiles * args.parts, all, extra, &args.steps));
    LAUNCH_TRY(launch_kernel(spread_matrix_kernel, windows, WARP * GF_SPREAD_GROUP, 0, stream,
                             weights, args.matrices));
    return launch_kernel(kernel, tiles * args.parts * ceil_div(all, args.steps), threads, shared,
                         stream, args);
}

/* Makes the mean of the pixels under a large shape from their weighted sum. */

struct spread_finish {
    double half, scale;
    __device__ __forceinline__ int operator()(double sum) const
    {
        return gf_spread_mean(sum, half, scale);
    }
};

enum { PLAIN_THREADS = 256 };

/* The kernel for shapes whose rows do not fit in the device's shared memory, which are of 16 bits:
 * those of 8 bits fit in 64 KiB. Each thread adds all weights of a sample. */
__global__ void __launch_bounds__(PLAIN_THREADS)
    spread_plain_kernel(const struct view_pair p, const struct gf_spread *spread)
{
    const struct gf_spread_weights &weights = spread->weights;
    const int samples = p.width * p.channels;
    const struct tile_origin at = block_tile(samples, PLAIN_THREADS, 1);
    const int sample = at.x + (int)threadIdx.x, pixel = sample / p.channels;
    unsigned long long sum = 0;
    if (sample >= samples)
        return;
    for (int j = 0; j < weights.height; j++) {
        const int y =
            gf_border_index(p.out_y + at.row + j - weights.height / 2, p.height, p.border);
        if (y < 0)
            continue;
        const unsigned short *const row =
            (const unsigned short *)(p.in + (long long)(y - p.in_y) * (long long)p.in_pitch);
        unsigned line = 0;
        for (int i = 0; i < weights.width; i++) {
            const unsigned weight = (unsigned)weights.weight[j * weights.width + i];
            const int x = gf_border_index(pixel + i - weights.width / 2, p.width, p.border);
            if (weight && x >= 0)
                line +=
                    weight * __ldg(row + (long long)x * p.channels + (sample - pixel * p.channels));
        }
        sum += line;
    }
    ((unsigned short *)(p.out + (size_t)at.row * p.out_pitch))[sample] =
        (unsigned short)gf_spread_mean((double)sum, spread->half, spread->scale);
}

static int launch_plain(const struct gf_launch *launch, int border)
{
    const struct view_pair p = view_pair_of(launch, border);
    const int blocks = tile_blocks(p.width * p.channels, p.rows, PLAIN_THREADS, 1);
    return launch_kernel(spread_plain_kernel, blocks, PLAIN_THREADS, 0, launch->stream, p,
                         (const struct gf_spread *)launch->constants);
}

extern "C" int gf_spread_cuda(const struct gf_launch *launch)
{
    const struct gf_spread *const spread = (const struct gf_spread *)launch->stage->constants;
    const struct gf_spread *const there = (const struct gf_spread *)launch->constants;
    const int bits = launch->in.format.bits, all = spread->all.count;
    const int next = spread->lead ? spread->next.count : 0;
    spread_args<spread_finish> args = {};
    args.p = view_pair_of(launch, spread->border);
    args.matrices = {(uint4 *)launch->scratch, &there->all, &there->next, spread->lead};
    args.reach_x = spread->weights.width / 2;
    args.reach_y = spread->weights.height / 2;
    args.finish = {spread->half, spread->scale};
    const int extra = next ? ceil_div(all, next) : 1;
    if (bits == 8)
        return launch_spread<1>(launch, args, &there->weights, all + next, extra);
    const int status = launch_spread<2>(launch, args, &there->weights, all + next, extra);
    return status == cudaErrorNotSupported ? launch_plain(launch, spread->border) : status;
}
