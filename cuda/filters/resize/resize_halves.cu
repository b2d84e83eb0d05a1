/* Resizes 8-bit pictures to half their width and height by area, linearly and by nearest pixels. A
 * lane loads vectors of 16 bytes of all rows that it needs first. Sums are exact integers, and
 * equal to those of the weights. Linearly, the weights are 1, 3, 3, 1 in both directions, except at
 * the edges of the picture, whose pixels have threads of their own. */
#include "cuda/common/launch.cuh"
#include "cuda/filters/resize/resize.cuh"
#include "pixel/sample.h"

constexpr int WARPS = 4; /* warps of a block, which compute rows below each other */
constexpr int THREADS = WARPS * WARP;
constexpr int ROWS = 2; /* the rows of the result that a lane computes */

/* Weights along an axis, from the tables of resampling; the pixels at the edges need them. */
struct edge_weights {
    const int *start, *count;
    const float *weight;
    int taps;
};

struct halves {
    struct view_pair p;
    int out_width, out_height;
    /* Pieces of a row of the result: what a lane computes, what a warp computes. */
    unsigned groups, tiles;
    unsigned edge_blocks; /* the number of blocks that compute the pixels at the edges; they come
                             first */
    struct edge_weights column, row;
};

/* What a lane computes in a row of the result, of pictures with C channels. */
template <int C> struct group_of {
    static constexpr int WORDS = C == 3 ? 12 : 8; /* words of a row that the lane reads */
    static constexpr int OUT = WORDS / 2;         /* words of the result that the lane writes */
    static constexpr int PIXELS = 4 * OUT / C;
};

static __device__ __forceinline__ uint32_t even_bytes(uint32_t word)
{
    return word & 0x00ff00ff;
}

static __device__ __forceinline__ uint32_t odd_bytes(uint32_t word)
{
    return __byte_perm(word, 0, 0x4341);
}

/* Returns the sums of the columns of bytes `a` and `b`, counted from the lane's first byte, in the
 * halves of a word. sum[2 i] has the sums of bytes 4 i - 4 and 4 i - 2, and sum[2 i + 1] those of
 * bytes 4 i - 3 and 4 i - 1. `a` and `b` are constants when this is inlined. */
static __device__ __forceinline__ uint32_t pair_of(const uint32_t *sum, int a, int b)
{
    const int i = (a + 4) / 4 * 2 + (a + 4) % 2, j = (b + 4) / 4 * 2 + (b + 4) % 2;
    const int upper_a = (a + 4) % 4 / 2, upper_b = (b + 4) % 4 / 2;
    if (i == j && !upper_a && upper_b)
        return sum[i];
    return __byte_perm(sum[i], sum[j], (upper_a ? 0x32 : 0x10) | (upper_b ? 0x7600 : 0x5400));
}

/* Returns bytes `at` and at + 2 of the result, in the upper bytes of the halves of a word. */
template <int KERNEL, int C>
static __device__ __forceinline__ uint32_t result_pair(const uint32_t *sum, int at)
{
    const int a = at / C * 2 * C + at % C, b = (at + 2) / C * 2 * C + (at + 2) % C;
    const uint32_t near = pair_of(sum, a, b) + pair_of(sum, a + C, b + C);
    if (KERNEL == GF_RESAMPLE_AREA)
        return near * 64 + 0x00800080;
    const uint32_t far = pair_of(sum, a - C, b - C) + pair_of(sum, a + 2 * C, b + 2 * C);
    return near * 12 + (far * 4 + 0x00800080);
}

/* Computes a row of the result from sums of the columns. */
template <int KERNEL, int C>
static __device__ __forceinline__ void add_columns(const uint32_t *sum, uint32_t *out)
{
#pragma unroll
    for (int i = 0; i < group_of<C>::OUT; i++)
        out[i] = __byte_perm(result_pair<KERNEL, C>(sum, 4 * i),
                             result_pair<KERNEL, C>(sum, 4 * i + 1), 0x7351);
}

/* Picks the second of every two pixels, for nearest. */
template <int C>
static __device__ __forceinline__ void pick_pixels(const uint32_t *word, uint32_t *out)
{
#pragma unroll
    for (int i = 0; i < group_of<C>::OUT; i++) {
        if (C == 4)
            out[i] = word[2 * i + 1];
        else if (C < 3)
            out[i] = __byte_perm(word[2 * i], word[2 * i + 1], C == 1 ? 0x7531 : 0x7632);
        else if (i % 3 == 0)
            out[i] = __byte_perm(__byte_perm(word[2 * i], word[2 * i + 1], 0x0543), word[2 * i + 2],
                                 0x5210);
        else if (i % 3 == 1)
            out[i] = __byte_perm(__byte_perm(word[2 * i], word[2 * i + 1], 0x0732), word[2 * i + 2],
                                 0x4210);
        else
            out[i] = __byte_perm(word[2 * i], word[2 * i + 1], 0x7651);
    }
}

/* Loads a lane's words of a row, from word[1] on. Linearly, the first lane of a warp loads the word
 * before them and the last one the word behind them into word[0]. */
template <int KERNEL, int C>
static __device__ __forceinline__ void load_words(const unsigned char *row, unsigned group,
                                                  unsigned groups, uint32_t *word)
{
    constexpr int WORDS = group_of<C>::WORDS;
    const unsigned char *const from = row + (size_t)group * 4 * WORDS;
#pragma unroll
    for (int i = 0; i < WORDS / 4; i++) {
        const uint4 four = __ldg((const uint4 *)from + i);
        word[4 * i + 1] = four.x, word[4 * i + 2] = four.y;
        word[4 * i + 3] = four.z, word[4 * i + 4] = four.w;
    }
    if (KERNEL != GF_RESAMPLE_LINEAR)
        return;
    const unsigned lane = threadIdx.x % WARP;
    word[0] = 0;
    if (lane == 0 && group > 0)
        word[0] = __ldg((const uint32_t *)from - 1);
    if (lane == WARP - 1 && group + 1 < groups)
        word[0] = __ldg((const uint32_t *)from + WORDS);
}

/* Adds the bytes of a lane's columns in two rows for area, or in four rows with the weights 1, 3,
 * 3, 1. */
template <int KERNEL, int C>
static __device__ __forceinline__ void add_rows(const uint32_t (*word)[group_of<C>::WORDS + 1],
                                                uint32_t *sum)
{
    constexpr int WORDS = group_of<C>::WORDS;
#pragma unroll
    for (int i = KERNEL == GF_RESAMPLE_AREA; i <= WORDS; i++) {
        uint32_t *const to = sum + 2 * i;
        if (KERNEL == GF_RESAMPLE_AREA) {
            to[0] = even_bytes(word[0][i]) + even_bytes(word[1][i]);
            to[1] = odd_bytes(word[0][i]) + odd_bytes(word[1][i]);
            continue;
        }
        to[0] = 3 * (even_bytes(word[1][i]) + even_bytes(word[2][i])) +
                (even_bytes(word[0][i]) + even_bytes(word[3][i]));
        to[1] = 3 * (odd_bytes(word[1][i]) + odd_bytes(word[2][i])) +
                (odd_bytes(word[0][i]) + odd_bytes(word[3][i]));
    }
    if (KERNEL == GF_RESAMPLE_AREA)
        return;
    const unsigned lane = threadIdx.x % WARP;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const uint32_t before = __shfl_up_sync(~0u, sum[2 * WORDS + i], 1);
        const uint32_t behind = __shfl_down_sync(~0u, sum[2 + i], 1);
        sum[2 * WORDS + 2 + i] = lane < WARP - 1 ? behind : sum[i];
        sum[i] = lane ? before : sum[i];
    }
}

/* Stores a vector of the result, without the pixel at the row's edge. */
template <int C, class VECTOR_TYPE>
static __device__ __forceinline__ void store(unsigned char *row, unsigned at, unsigned row_bytes,
                                             bool whole, const VECTOR_TYPE &v)
{
    constexpr unsigned SIZE = sizeof(VECTOR_TYPE);
    if (whole || (at > 0 && at + SIZE < row_bytes)) {
        *(VECTOR_TYPE *)(row + at) = v;
        return;
    }
    const unsigned char *const bytes = (const unsigned char *)&v;
#pragma unroll
    for (unsigned i = 0; i < SIZE; i++) {
        if (at + i >= C && at + i + C < row_bytes)
            row[at + i] = bytes[i];
    }
}

/* Stores the rows of a warp. Lanes exchange words so that neighbours store neighbouring vectors. */
template <int KERNEL, int C>
static __device__ __forceinline__ void store_rows(const struct halves &args, unsigned tile,
                                                  int first, uint32_t (*out)[group_of<C>::OUT])
{
    constexpr int OUT = group_of<C>::OUT, VECTORS = OUT / 2;
    __shared__ uint2 exchanged[WARPS][WARP * VECTORS];
    const unsigned lane = threadIdx.x % WARP, row_bytes = args.out_width * C;
    uint2 *const mine = exchanged[threadIdx.x / WARP];
    constexpr bool WHOLE = KERNEL != GF_RESAMPLE_LINEAR;
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const int row = first + k, y = args.p.out_y + row;
        unsigned char *const to = args.p.out + row * args.p.out_pitch;
        if (row >= args.p.rows || (!WHOLE && (y == 0 || y == args.out_height - 1)))
            continue;
        if (OUT == 4) {
            if (tile * WARP + lane < args.groups)
                store<C>(to, (tile * WARP + lane) * 16, row_bytes, WHOLE,
                         make_uint4(out[k][0], out[k][1], out[k][2], out[k][3]));
            continue;
        }
        __syncwarp();
#pragma unroll
        for (int i = 0; i < VECTORS; i++)
            mine[lane * VECTORS + i] = make_uint2(out[k][2 * i], out[k][2 * i + 1]);
        __syncwarp();
#pragma unroll
        for (int i = 0; i < VECTORS; i++) {
            const unsigned at = (tile * WARP * VECTORS + i * WARP + lane) * sizeof(uint2);
            if (at < row_bytes)
                store<C>(to, at, row_bytes, WHOLE, mine[i * WARP + lane]);
        }
    }
}

/* Computes pixel (x, y) at an edge of the result, in the CPU's order. */
template <int C> static __device__ void edge_pixel(const struct halves &args, int x, int y)
{
    const struct view_pair &p = args.p;
    const float *const row_weight = args.row.weight + y * args.row.taps;
    const float *const column_weight = args.column.weight + x * args.column.taps;
    const unsigned char *row =
        p.in + (args.row.start[y] - p.in_y) * (ptrdiff_t)p.in_pitch + args.column.start[x] * C;
    float sum[C] = {};
    for (int j = 0; j < args.row.count[y]; j++, row += p.in_pitch) {
        float part[C] = {};
        for (int i = 0; i < args.column.count[x]; i++) {
#pragma unroll
            for (int c = 0; c < C; c++)
                part[c] += (float)row[i * C + c] * column_weight[i];
        }
#pragma unroll
        for (int c = 0; c < C; c++)
            sum[c] += part[c] * row_weight[j];
    }
    unsigned char *const out = p.out + (y - p.out_y) * p.out_pitch + x * C;
#pragma unroll
    for (int c = 0; c < C; c++)
        out[c] = (unsigned char)gf_round_sample(sum[c], 255.0f);
}

/* Computes edge pixel `index`: two of each row of the band, then those of the picture's first and
 * last row. */
template <int C> static __device__ void edge_pixel_at(const struct halves &args, int index)
{
    const struct view_pair &p = args.p;
    if (index < 2 * p.rows) {
        edge_pixel<C>(args, index % 2 ? args.out_width - 1 : 0, p.out_y + index / 2);
        return;
    }
    const int at = index - 2 * p.rows, y = at < args.out_width ? 0 : args.out_height - 1;
    if (at < 2 * args.out_width && y >= p.out_y && y < p.out_y + p.rows)
        edge_pixel<C>(args, at % args.out_width, y);
}

/* Five blocks on a multiprocessor hide more latency than four. Without this number the compiler
 * gives a thread of linear so many registers that only four fit. */
template <int KERNEL, int C>
static __global__ void __launch_bounds__(THREADS, KERNEL == GF_RESAMPLE_LINEAR ? 5 : 1)
    halves_kernel(const __grid_constant__ struct halves args)
{
    constexpr bool LINEAR = KERNEL == GF_RESAMPLE_LINEAR, NEAREST = KERNEL == GF_RESAMPLE_NEAREST;
    constexpr int IN = NEAREST ? ROWS : LINEAR ? 2 * ROWS + 2 : 2 * ROWS;
    constexpr int WORDS = group_of<C>::WORDS;
    const struct view_pair &p = args.p;
    early_next();
    early_wait();
    if (LINEAR && blockIdx.x < args.edge_blocks) {
        edge_pixel_at<C>(args, blockIdx.x * THREADS + threadIdx.x);
        return;
    }
    const unsigned block = blockIdx.x - (LINEAR ? args.edge_blocks : 0);
    const unsigned down = block / args.tiles, tile = block - down * args.tiles;
    const int first = (down * WARPS + threadIdx.x / WARP) * ROWS;
    if (first >= p.rows)
        return;
    const unsigned group = min(tile * WARP + threadIdx.x % WARP, args.groups - 1);
    const int above = 2 * (p.out_y + first) - LINEAR + NEAREST;
    const int last = min(2 * (p.out_y + p.rows) - !LINEAR, 2 * args.out_height - 1);
    uint32_t word[IN][WORDS + 1], out[ROWS][WORDS / 2];
#pragma unroll
    for (int i = 0; i < IN; i++) {
        /* Rows beyond the picture or the band are needed for results that are not stored. */
        const int y = max(min(above + (NEAREST ? 2 * i : i), last), 0);
        load_words<KERNEL, C>(p.in + (y - p.in_y) * (ptrdiff_t)p.in_pitch, group, args.groups,
                              word[i]);
    }
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        uint32_t sum[2 * (WORDS + 2)];
        if (NEAREST) {
            pick_pixels<C>(word[k] + 1, out[k]);
        } else {
            add_rows<KERNEL, C>(word + 2 * k, sum);
            add_columns<KERNEL, C>(sum, out[k]);
        }
    }
    store_rows<KERNEL, C>(args, tile, first, out);
}

static bool is_half(const struct gf_resample_axis *axis)
{
    return axis->scale == 2 && axis->offset == 0 && axis->in == 2 * axis->out;
}

/* Returns the pixels that a lane computes in a row of the result. */
static int pixels_of(int channels)
{
    return channels == 1   ? group_of<1>::PIXELS
           : channels == 2 ? group_of<2>::PIXELS
           : channels == 3 ? group_of<3>::PIXELS
                           : group_of<4>::PIXELS;
}

bool gf_resize_is_half(const struct gf_launch *launch, const struct gf_resample *resample)
{
    const struct gf_format format = launch->out.format;
    const uintptr_t in = (uintptr_t)launch->in.data | launch->in.pitch;
    const uintptr_t out = (uintptr_t)launch->out.data | launch->out.pitch;
    return format.bits == 8 && !resample->linear && resample->kernel >= GF_RESAMPLE_LINEAR &&
           is_half(&resample->column_axis) && is_half(&resample->row_axis) &&
           format.width % pixels_of(format.channels) == 0 && (in | out) % VECTOR == 0;
}

static struct edge_weights weights_of(const struct gf_resample_table *table, const void *block)
{
    return {gf_resample_ints(block, table->start), gf_resample_ints(block, table->count),
            gf_resample_floats(block, table->weight), table->taps};
}

template <int KERNEL, int C> static int launch_halves(struct halves args, cudaStream_t stream)
{
    args.groups = (unsigned)(args.out_width / group_of<C>::PIXELS);
    args.tiles = blocks_for(args.groups, WARP);
    if (KERNEL == GF_RESAMPLE_LINEAR)
        args.edge_blocks = blocks_for(2 * (unsigned)(args.p.rows + args.out_width), THREADS);
    const unsigned bands = blocks_for((unsigned)args.p.rows, WARPS * ROWS);
    return launch_early(halves_kernel<KERNEL, C>, args.edge_blocks + args.tiles * bands, THREADS, 0,
                        stream, args);
}

template <int KERNEL> static int launch_channels(const struct halves &args, cudaStream_t stream)
{
    return for_channels(args.p.channels, [&](auto channels) -> int {
        return launch_halves<KERNEL, decltype(channels)::value>(args, stream);
    });
}

int gf_resize_halves(const struct gf_launch *launch, const struct gf_resample *resample)
{
    struct halves args = {};
    args.p = view_pair_of(launch, 0);
    args.out_width = launch->out.format.width;
    args.out_height = launch->out.format.height;
    args.column = weights_of(&resample->columns, launch->constants);
    args.row = weights_of(&resample->rows, launch->constants);
    return resample->kernel == GF_RESAMPLE_LINEAR
               ? launch_channels<GF_RESAMPLE_LINEAR>(args, launch->stream)
           : resample->kernel == GF_RESAMPLE_AREA
               ? launch_channels<GF_RESAMPLE_AREA>(args, launch->stream)
               : launch_channels<GF_RESAMPLE_NEAREST>(args, launch->stream);
}
