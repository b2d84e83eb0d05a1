/* canny on a device. This first part finds the thin edges of 8-bit pictures without alpha. A warp
 * goes down a strip of rows, and each lane computes four columns; the outer lanes only compute what
 * their neighbours need. Everything is in registers, and lanes exchange values by shuffles.
 * Gradients are pairs of halves in units of 2^-24, as in sobel, and their squares are floats in
 * units of 2^-48; both are exact. */
#include "cuda/common/stencil.cuh"
#include "cuda/filters/sobel/sobel_rolling.cuh"
#include "filters/canny/canny.h"

constexpr int THIN8_EACH = 4, THIN8_COLUMNS = THIN8_EACH * (WARP - 2), THIN8_ROWS = 30;
constexpr int THIN8_WARPS = 4;

struct thin8_args {
    struct view_pair p;
    int words;       /* the number of words of bits in a row */
    float low, high; /* limits of squared gradients, in units of 2^-48 */
};

/* What a lane knows of a row: the gradient of the channel with the largest one in each of its
 * columns, and the squares of these gradients, also of one column more on either side. */
struct thin8_row {
    float square[THIN8_EACH + 2], x[THIN8_EACH], y[THIN8_EACH];
};

/* Returns four bytes of a row, from byte `first` after column x on. The nearest columns of the
 * picture replace columns beyond it. */
template <int CHANNELS>
static __device__ __noinline__ unsigned gather_columns(const unsigned char *row, int x, int first,
                                                       int width)
{
    unsigned word = 0;
    for (int i = 0; i < 4; i++) {
        const int column = min(max(x + (first + i) / CHANNELS, 0), width - 1);
        word |= (unsigned)row[(size_t)column * CHANNELS + (first + i) % CHANNELS] << 8 * i;
    }
    return word;
}

template <int CHANNELS> struct thin8_walk {
    const struct view_pair &p;
    int x;         /* the lane's first column */
    bool is_plain; /* whether all columns of the warp are in the picture */
    /* The differences right - left of the last row, and the sum of those of the row before it and
     * twice those of the last row. */
    __half2 slope[CHANNELS][2] = {}, slopes[CHANNELS][2] = {};
    /* The sums left + 2 here + right of the last row, and of the row before it. */
    __half2 last[CHANNELS][2] = {}, before[CHANNELS][2] = {};

    /* Loads row y, or the nearest row of the picture. */
    __device__ __forceinline__ void load(int y, unsigned (&word)[CHANNELS]) const
    {
        const unsigned char *const row =
            p.in + (long long)(min(max(y, 0), p.height - 1) - p.in_y) * (int)p.in_pitch;
        if (is_plain) {
#pragma unroll
            for (int w = 0; w < CHANNELS; w++)
                word[w] = __ldg((const unsigned *)(row + (size_t)x * CHANNELS) + w);
            return;
        }
#pragma unroll
        for (int w = 0; w < CHANNELS; w++)
            word[w] = gather_columns<CHANNELS>(row, x, 4 * w, p.width);
    }

    /* Takes row y + 1, and finds the gradients of row y. */
    __device__ __forceinline__ void take(const unsigned (&word)[CHANNELS], int y,
                                         struct thin8_row *row)
    {
        const __half2 two = __floats2half2_rn(2.0f, 2.0f);
        __half2 pair[6][2];
        float dx[4 * CHANNELS], dy[4 * CHANNELS];
#pragma unroll
        for (int w = 0; w < CHANNELS + 2; w++) {
            const unsigned of = w == 0 ? __shfl_up_sync(~0u, word[CHANNELS - 1], 1)
                                : w > CHANNELS
                                    ? __shfl_down_sync(~0u, word[0], 1)
                                    : word[w - 1 < CHANNELS ? max(w - 1, 0) : CHANNELS - 1];
            pair[w][0] = tiny_halves(of, 0);
            pair[w][1] = tiny_halves(of, 1);
        }
#pragma unroll
        for (int i = 0; i < 2 * CHANNELS; i++) {
            const int w = i / 2, k = i % 2;
            __half2 left, right;
            neighbours8<CHANNELS>(pair, w + 1, k, &left, &right);
            const __half2 rise = __hsub2(right, left);
            const __half2 smooth = __hfma2(two, pair[w + 1][k], __hadd2(left, right));
            const float2 across = __half22float2(__hadd2(slopes[w][k], rise));
            const float2 down = __half22float2(__hsub2(smooth, before[w][k]));
            dx[4 * w + k] = across.x, dx[4 * w + 2 + k] = across.y;
            dy[4 * w + k] = down.x, dy[4 * w + 2 + k] = down.y;
            slopes[w][k] = __hfma2(two, rise, slope[w][k]);
            slope[w][k] = rise;
            before[w][k] = last[w][k];
            last[w][k] = smooth;
        }
#pragma unroll
        for (int j = 0; j < THIN8_EACH; j++) {
            const int first = j * CHANNELS;
            float most = __fmaf_rn(dx[first], dx[first], dy[first] * dy[first]);
            row->x[j] = dx[first];
            row->y[j] = dy[first];
#pragma unroll
            for (int i = first + 1; i < first + CHANNELS; i++) {
                const float square = __fmaf_rn(dx[i], dx[i], dy[i] * dy[i]);
                const bool is_more = square > most;
                row->x[j] = is_more ? dx[i] : row->x[j];
                row->y[j] = is_more ? dy[i] : row->y[j];
                most = is_more ? square : most;
            }
            row->square[j + 1] = most;
        }
        if (!is_plain || y < 0 || y >= p.height) {
#pragma unroll
            for (int j = 0; j < THIN8_EACH; j++) {
                if (y < 0 || y >= p.height || x + j < 0 || x + j >= p.width)
                    row->square[j + 1] = 0.0f;
            }
        }
        row->square[0] = __shfl_up_sync(~0u, row->square[THIN8_EACH], 1);
        row->square[THIN8_EACH + 1] = __shfl_down_sync(~0u, row->square[1], 1);
    }
};

/* Whether column j of `here` is an edge, as is_thin() finds it, but with gf_edge_direction() of
 * floats, whose products are exact. */
static __device__ __forceinline__ bool is_thin8(const struct thin8_row &above,
                                                const struct thin8_row &here,
                                                const struct thin8_row &below, int j)
{
    const float x = fabsf(here.x[j]), y = fabsf(here.y[j]), low = x * (GF_EDGE_TANGENT / 32768.0f);
    const bool across = low > y, down = __fmaf_rn(-2.0f, x, y) > low;
    const bool rises = (__float_as_uint(here.x[j]) ^ __float_as_uint(here.y[j])) & 1u << 31;
    const float *const a = above.square + j, *const h = here.square + j,
                       *const b = below.square + j;
    const float slanted[2] = {rises ? a[2] : a[0], rises ? b[0] : b[2]};
    const float upright[2] = {down ? a[1] : slanted[0], down ? b[1] : slanted[1]};
    const float first = across ? h[0] : upright[0], second = across ? h[2] : upright[1];
    return h[1] > first & (h[1] > second | ((across | down) & h[1] == second));
}

template <int CHANNELS>
__global__ void __launch_bounds__(THIN8_WARPS *WARP, 5) thin8_kernel(const struct thin8_args args)
{
    const struct view_pair &p = args.p;
    const int lane = (int)threadIdx.x % WARP;
    const struct tile_origin tile =
        block_tile(args.words * WARP, THIN8_COLUMNS, THIN8_ROWS * THIN8_WARPS);
    const int x = tile.x + THIN8_EACH * (lane - 1);
    struct thin8_walk<CHANNELS> walk = {
        p, x, __all_sync(~0u, x >= 0 && x + THIN8_EACH <= p.width) != 0
    };
    const int first = p.out_y + tile.row + (int)threadIdx.x / WARP * THIN8_ROWS;
    const int end = min(first + THIN8_ROWS, p.out_y + p.rows);
    /* Lanes 2 n + 1 and 2 n + 2 have the eight bits of a byte, which the first of them stores. */
    const int byte = tile.x / 8 + lane / 2;
    const bool stores = lane % 2 && lane < WARP - 1 && byte < 4 * args.words;
    unsigned char *to = p.out + (long long)(first - p.out_y) * (long long)p.out_pitch + byte;
    unsigned word[CHANNELS], next[CHANNELS];
    struct thin8_row above, here = {}, below = {};
    early_next();
    if (first >= end)
        return;
    early_wait();
    walk.load(first - 2, next);
#pragma unroll 3
    for (int y = first - 2; y <= end + 1; y++) {
#pragma unroll
        for (int w = 0; w < CHANNELS; w++)
            word[w] = next[w];
        walk.load(min(y + 1, end + 1), next);
        above = here;
        here = below;
        walk.take(word, y - 1, &below);
        if (y < first + 2)
            continue;
        unsigned bits = 0; /* bits 0 to 7: weak or strong pixels; from bit 8 on: strong pixels */
#pragma unroll
        for (int j = 0; j < THIN8_EACH; j++) {
            const float square = here.square[j + 1];
            const bool is_edge = square > args.low & is_thin8(above, here, below, j);
            bits |= is_edge ? (square > args.high ? 0x101u : 1u) << j : 0;
        }
        bits |= __shfl_down_sync(~0u, bits, 1) << THIN8_EACH;
        if (stores) {
            to[0] = (unsigned char)bits;
            to[4 * args.words] = (unsigned char)(bits >> 8);
        }
        to += p.out_pitch;
    }
}

/* Returns a limit for squares in units of 2^-48. No square is above 2^22. */
static inline float thin8_limit(int64_t limit)
{
    return (float)(limit < 1 << 22 ? limit : 1 << 22) / 16777216.0f / 16777216.0f;
}

template <int CHANNELS>
static int launch_thin8(const struct view_pair &p, int words, const struct gf_edge_limits *limits,
                        cudaStream_t stream)
{
    const struct thin8_args args = {p, words, thin8_limit(limits->low), thin8_limit(limits->high)};
    return launch_early(thin8_kernel<CHANNELS>,
                        tile_blocks(words * WARP, p.rows, THIN8_COLUMNS, THIN8_ROWS * THIN8_WARPS),
                        THIN8_WARPS * WARP, 0, stream, args);
}

/* Finds thin edges of all pictures as planes of bits, and converts bits to samples. Between these
 * two steps canny_link.cu links the edges by hysteresis. */

/* ---- thin edges: a thread for each column goes down the rows ---- */

/* The first COLUMNS threads of a block compute the gradients of COLUMNS columns; the last warp
 * computes the gradients of one more column on either side. Each of the other warps then packs the
 * results of 32 pixels into a word. The kernel does not use walk.cuh: its results are bits, and
 * neighbours exchange squared gradients of up to 64 bits. */
constexpr int COLUMNS = 256, THIN_THREADS = COLUMNS + WARP, THIN_ROWS = 32;
/* The rows of squared gradients that the block keeps in shared memory, in turn. A warp may write a
 * row while slower warps still read the three rows before it. */
constexpr int RING = 4;
constexpr unsigned WHOLE_WARP = 0xFFFFFFFFu;

struct thin_args {
    struct view_pair p;
    int words; /* the number of words of bits in a row */
};

template <class Sample> struct kinds {
    using square = long long;
};
template <> struct kinds<unsigned char> {
    using square = int;
};

static __device__ __forceinline__ int direction_of(int dx, int dy)
{
    return gf_edge_direction(dx, dy);
}

static __device__ __forceinline__ int direction_of(long long dx, long long dy)
{
    return gf_edge_direction_wide(dx, dy);
}

/* What a row contributes to the gradients of the row itself and of the rows above and below it, for
 * each channel: smooth is left + 2 here + right, and slope is right - left. */
template <int COLOURS> struct across {
    int smooth[COLOURS], slope[COLOURS];
};

template <class Sample, int CHANNELS>
static __device__ __forceinline__ int colour_at(const Sample *row, int x, int channel)
{
    const int v = __ldg(row + x * CHANNELS + channel);
    constexpr unsigned MAX = sizeof(Sample) == 1 ? 255 : 65535;
    return CHANNELS % 2 ? v
                        : (int)gf_edge_over_black((unsigned)v,
                                                  __ldg(row + x * CHANNELS + CHANNELS - 1), MAX);
}

/* Loads row y, or the nearest row of the picture, at column x, which is in the picture. */
template <class Sample, int CHANNELS, int COLOURS>
static __device__ __forceinline__ across<COLOURS> load_row(const struct view_pair &p, int x, int y)
{
    const int row = min(max(y, 0), p.height - 1);
    const Sample *const from =
        (const Sample *)(p.in + (long long)(row - p.in_y) * (long long)p.in_pitch);
    const int left = max(x - 1, 0), right = min(x + 1, p.width - 1);
    across<COLOURS> result;
#pragma unroll
    for (int c = 0; c < COLOURS; c++) {
        const int a = colour_at<Sample, CHANNELS>(from, left, c);
        const int b = colour_at<Sample, CHANNELS>(from, x, c);
        const int d = colour_at<Sample, CHANNELS>(from, right, c);
        result.smooth[c] = a + 2 * b + d;
        result.slope[c] = d - a;
    }
    return result;
}

/* Returns the square of the largest gradient of the channels, and its direction. */
template <class Square, int COLOURS>
static __device__ __forceinline__ Square largest_gradient(const across<COLOURS> &above,
                                                          const across<COLOURS> &here,
                                                          const across<COLOURS> &below,
                                                          int *direction)
{
    Square most = -1, best_x = 0, best_y = 0;
#pragma unroll
    for (int c = 0; c < COLOURS; c++) {
        const Square dx = above.slope[c] + 2 * here.slope[c] + below.slope[c];
        const Square dy = below.smooth[c] - above.smooth[c];
        const Square square = dx * dx + dy * dy;
        const bool is_more = square > most;
        best_x = is_more ? dx : best_x;
        best_y = is_more ? dy : best_y;
        most = is_more ? square : most;
    }
    *direction = direction_of(best_x, best_y);
    return most;
}

/* The three rows of squared gradients around a pixel, in shared memory. */
template <class Square> struct rows_about {
    const Square *above, *here, *below;
};

template <class Square>
static __device__ __forceinline__ bool is_thin(const rows_about<Square> &rows, int column,
                                               Square square, int direction)
{
    const int side = direction == GF_EDGE_DOWN ? 0 : direction == GF_EDGE_RISE ? -1 : 1;
    const bool level = direction == GF_EDGE_ACROSS;
    const Square first = (level ? rows.here : rows.above)[column - side];
    const Square second = (level ? rows.here : rows.below)[column + side];
    return square > first && (direction >= GF_EDGE_FALL ? square > second : square >= second);
}

template <class Sample, int CHANNELS>
__global__ void __launch_bounds__(THIN_THREADS)
    thin_kernel(const struct thin_args args, const struct gf_edge_limits *limits)
{
    using Square = typename kinds<Sample>::square;
    constexpr int COLOURS = CHANNELS < 3 ? 1 : 3;
    __shared__ Square ring[RING][COLUMNS + 2];
    const struct view_pair &p = args.p;
    const int thread = (int)threadIdx.x, lane = thread % WARP;
    const struct tile_origin tile = block_tile(args.words * WARP, COLUMNS, THIN_ROWS);
    /* The tile's columns begin at column 1 of the ring. */
    const int column = thread < COLUMNS ? thread + 1 : lane ? COLUMNS + 1 : 0;
    const int x = tile.x + column - 1, word = x / WARP;
    const bool writes = thread < COLUMNS && word < args.words;
    const bool is_column = thread < COLUMNS + 2, is_inside = is_column && x >= 0 && x < p.width;
    const int first = p.out_y + tile.row;
    const int end = min(first + THIN_ROWS, p.out_y + p.rows);
    const Square low = (Square)limits->low, high = (Square)limits->high;
    across<COLOURS> above = {}, here = {}, below = {};
    if (is_inside) {
        here = load_row<Sample, CHANNELS, COLOURS>(p, x, first - 2);
        below = load_row<Sample, CHANNELS, COLOURS>(p, x, first - 1);
    }
    Square before = 0; /* the squared gradient of the row above */
    int way_before = 0;
#pragma unroll 1
    for (int y = first - 1; y <= end; y++) {
        Square square = 0;
        int way = 0;
        if (is_inside) {
            above = here;
            here = below;
            below = load_row<Sample, CHANNELS, COLOURS>(p, x, y + 1);
            if (y >= 0 && y < p.height)
                square = largest_gradient<Square, COLOURS>(above, here, below, &way);
        }
        if (is_column)
            ring[y & (RING - 1)][column] = square;
        __syncthreads();
        if (y > first && thread < COLUMNS) {
            const rows_about<Square> rows = {ring[(y - 2) & (RING - 1)], ring[(y - 1) & (RING - 1)],
                                             ring[y & (RING - 1)]};
            const bool is_edge = before > low && is_thin<Square>(rows, column, before, way_before);
            const unsigned weak = __ballot_sync(WHOLE_WARP, is_edge);
            const unsigned strong = __ballot_sync(WHOLE_WARP, is_edge && before > high);
            unsigned *const to =
                (unsigned *)(p.out + (long long)(y - 1 - p.out_y) * (long long)p.out_pitch);
            if (writes && lane < 2)
                to[lane * args.words + word] = lane ? strong : weak;
        }
        before = square;
        way_before = way;
    }
}

extern "C" int gf_canny_thin_cuda(const struct gf_launch *launch)
{
    struct thin_args args = {};
    args.p = view_pair_of(launch, 0);
    args.words = gf_bit_words(args.p.width);
    const struct gf_edge_limits *const limits = (const struct gf_edge_limits *)launch->constants;
    const int blocks = tile_blocks(args.words * WARP, args.p.rows, COLUMNS, THIN_ROWS);
    return for_samples(args.p, [&](auto sample, auto channels) -> int {
        using Sample = decltype(sample);
        constexpr int CHANNELS = decltype(channels)::value;
        if constexpr (sizeof(Sample) == 1 && CHANNELS % 2)
            return launch_thin8<CHANNELS>(args.p, args.words,
                                          (const struct gf_edge_limits *)launch->stage->constants,
                                          launch->stream);
        else
            return launch_kernel(thin_kernel<Sample, CHANNELS>, blocks, THIN_THREADS, 0,
                                 launch->stream, args, limits);
    });
}

/* ---- bits as samples: each thread computes 16 bytes of a row ---- */

constexpr int DRAW_THREADS = 256;

struct draw_args {
    const unsigned *bits; /* the edges: rows of `words` words, with a bit for each pixel */
    unsigned char *out;   /* the result, from row y on */
    size_t pitch;
    int y, rows, width, words, chunks; /* `chunks` counts the chunks of 16 bytes in a row */
};

/* Converts the lowest four bits to bytes of 0 or 255. The factor is 1 + 2^7 + 2^14 + 2^21, so that
 * bit i also gets to bit 8 i. */
static __device__ __forceinline__ unsigned bytes_of(unsigned bits)
{
    return ((bits & 15) * 0x00204081u & 0x01010101u) * 255u;
}

/* Converts the lowest two bits to 16-bit samples of 0 or 65535. */
static __device__ __forceinline__ unsigned pair_of(unsigned bits)
{
    return ((bits & 1) | (bits & 2) << 15) * 65535u;
}

template <int BYTES>
__global__ void __launch_bounds__(DRAW_THREADS) draw_kernel(const struct draw_args args)
{
    constexpr int PIXELS = VECTOR / BYTES;
    const unsigned item = blockIdx.x * DRAW_THREADS + threadIdx.x;
    const struct position at = position_of(item, (unsigned)args.rows + 1, (unsigned)args.chunks);
    early_next();
    if (at.row >= (unsigned)args.rows)
        return;
    early_wait();
    const int x = (int)at.column * PIXELS;
    const unsigned *const bits = args.bits + (size_t)(args.y + (int)at.row) * args.words;
    const unsigned v = __ldg(bits + x / WARP) >> x % WARP;
    unsigned char *const to = args.out + at.row * args.pitch + (size_t)x * BYTES;
    unsigned word[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        word[i] = BYTES == 1 ? bytes_of(v >> 4 * i) : pair_of(v >> 2 * i);
    if (x + PIXELS <= args.width) {
        *(uint4 *)to = make_uint4(word[0], word[1], word[2], word[3]);
    } else {
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            if (x + i / BYTES < args.width)
                to[i] = (unsigned char)(word[i / 4] >> 8 * (i % 4));
    }
}

extern "C" int gf_canny_draw_cuda(const struct gf_launch *launch)
{
    const struct gf_view *const out = &launch->out;
    const int bytes = out->format.bits / 8;
    struct draw_args args = {};
    args.bits = (const unsigned *)launch->in.data;
    args.out = out->data;
    args.pitch = out->pitch;
    args.y = out->y;
    args.rows = out->rows;
    args.width = out->format.width;
    args.words = gf_bit_words(args.width);
    args.chunks = ceil_div(args.width, VECTOR / bytes);
    const long long items = (long long)args.chunks * args.rows;
    const unsigned blocks = (unsigned)((items + DRAW_THREADS - 1) / DRAW_THREADS);
    return launch_early(bytes == 1 ? draw_kernel<1> : draw_kernel<2>, blocks, DRAW_THREADS, 0,
                        launch->stream, args);
}
