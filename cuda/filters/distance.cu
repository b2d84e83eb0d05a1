/* The two steps of distance: along the rows of the transposed picture, then across its columns. */
#include "filters/distance/distance.h"

#include "cuda/common/square_root.cuh"
#include "cuda/common/stencil.cuh"
#include "pixel/sample.h"

/* ---- the nearest background pixel of the same row: each warp computes a row ---- */

constexpr int ALONG_WARPS = 4, ALONG_THREADS = ALONG_WARPS * WARP;
constexpr int EACH = 16;         /* neighbouring pixels that a lane works on at a time */
constexpr int NOWHERE = 1 << 30; /* a column further away than all others */
constexpr unsigned WHOLE_WARP = 0xFFFFFFFFu;

/* Returns a mask: bit i is set if pixel x + i of the row is background. */
template <class Sample, int CHANNELS>
static __device__ __forceinline__ unsigned dark_pixels(const unsigned char *row, int x, int width)
{
    constexpr int PIXEL = CHANNELS * (int)sizeof(Sample);
    unsigned bits = 0;
    if (x + EACH <= width) {
        unsigned word[EACH * PIXEL / 4];
        const uint4 *const from = (const uint4 *)(row + (size_t)x * PIXEL);
#pragma unroll
        for (int i = 0; i < EACH * PIXEL / 16; i++) {
            const uint4 v = __ldg(from + i);
            word[4 * i] = v.x, word[4 * i + 1] = v.y, word[4 * i + 2] = v.z, word[4 * i + 3] = v.w;
        }
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const unsigned sample = word[i * PIXEL / 4] >> 8 * (i * PIXEL % 4);
            bits |= (unsigned)!(sample & (sizeof(Sample) == 1 ? 0xFFu : 0xFFFFu)) << i;
        }
    } else {
        for (int i = 0; x + i < width; i++)
            bits |= (unsigned)!((const Sample *)row)[(x + i) * CHANNELS] << i;
    }
    return bits;
}

static __device__ __forceinline__ unsigned near_or_none(int far)
{
    return (unsigned)min(far, (int)GF_DISTANCE_NONE);
}

/* Computes rows in two passes. The first finds the nearest background pixel to the right, starting
 * at the row's end; the second finds the nearest to the left. */
template <class Sample, int CHANNELS>
__global__ void __launch_bounds__(ALONG_THREADS) along_kernel(const struct view_pair p)
{
    const int line = blockIdx.x * ALONG_WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (line >= p.rows)
        return;
    const unsigned char *const in = p.in + (size_t)line * p.in_pitch;
    unsigned short *const out = (unsigned short *)(p.out + (size_t)line * p.out_pitch);
    const int last = (p.width - 1) / (WARP * EACH) * (WARP * EACH);
    int next = NOWHERE;
    for (int begin = last; begin >= 0; begin -= WARP * EACH) {
        const int x = begin + lane * EACH;
        const unsigned dark = x < p.width ? dark_pixels<Sample, CHANNELS>(in, x, p.width) : 0;
        const int first = dark ? x + __ffs((int)dark) - 1 : NOWHERE;
        int nearest = first; /* in the end, the leftmost background pixel of this and later lanes */
#pragma unroll
        for (int step = 1; step < WARP; step *= 2) {
            const int other = __shfl_down_sync(WHOLE_WARP, nearest, step);
            nearest = lane + step < WARP ? min(nearest, other) : nearest;
        }
        const int behind = __shfl_down_sync(WHOLE_WARP, nearest, 1);
        int right = lane < WARP - 1 ? min(behind, next) : next;
        next = min(next, __shfl_sync(WHOLE_WARP, nearest, 0));
        unsigned word[EACH / 2];
#pragma unroll
        for (int i = EACH - 1; i >= 0; i--) {
            right = dark >> i & 1 ? x + i : right;
            const unsigned v = near_or_none(right - (x + i));
            word[i / 2] = i % 2 ? v << 16 : word[i / 2] | v;
        }
        if (x + EACH <= p.width) {
#pragma unroll
            for (int i = 0; i < EACH / 8; i++)
                ((uint4 *)(out + x))[i] =
                    make_uint4(word[4 * i], word[4 * i + 1], word[4 * i + 2], word[4 * i + 3]);
        } else {
            for (int i = 0; i < EACH; i++)
                if (x + i < p.width)
                    out[x + i] = (unsigned short)(word[i / 2] >> 16 * (i % 2));
        }
    }
    int before = -NOWHERE;
    for (int begin = 0; begin < p.width; begin += WARP * EACH) {
        const int x = begin + lane * EACH;
        const unsigned dark = x < p.width ? dark_pixels<Sample, CHANNELS>(in, x, p.width) : 0;
        int nearest = dark ? x + 31 - __clz((int)dark) : -NOWHERE;
#pragma unroll
        for (int step = 1; step < WARP; step *= 2) {
            const int other = __shfl_up_sync(WHOLE_WARP, nearest, step);
            nearest = lane >= step ? max(nearest, other) : nearest;
        }
        const int ahead = __shfl_up_sync(WHOLE_WARP, nearest, 1);
        int left = lane ? max(ahead, before) : before;
        before = max(before, __shfl_sync(WHOLE_WARP, nearest, WARP - 1));
        if (x + EACH <= p.width) {
            uint4 *const to = (uint4 *)(out + x);
            unsigned word[EACH / 2];
#pragma unroll
            for (int i = 0; i < EACH / 8; i++) {
                const uint4 v = to[i];
                word[4 * i] = v.x, word[4 * i + 1] = v.y;
                word[4 * i + 2] = v.z, word[4 * i + 3] = v.w;
            }
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                left = dark >> i & 1 ? x + i : left;
                const unsigned v = near_or_none(x + i - left);
                word[i / 2] = __vminu2(word[i / 2], i % 2 ? v << 16 | 0xFFFFu : v | 0xFFFF0000u);
            }
#pragma unroll
            for (int i = 0; i < EACH / 8; i++)
                to[i] = make_uint4(word[4 * i], word[4 * i + 1], word[4 * i + 2], word[4 * i + 3]);
        } else {
            for (int i = 0; x + i < p.width; i++) {
                left = dark >> i & 1 ? x + i : left;
                out[x + i] = (unsigned short)min((unsigned)out[x + i], near_or_none(x + i - left));
            }
        }
    }
}

extern "C" int gf_distance_along_cuda(const struct gf_launch *launch)
{
    const struct view_pair p = aligned_views(launch);
    const int blocks = ceil_div(p.rows, ALONG_WARPS);
    return for_samples(p, [&](auto sample, auto channels) -> int {
        const auto kernel = along_kernel<decltype(sample), decltype(channels)::value>;
        return launch_kernel(kernel, blocks, ALONG_THREADS, 0, launch->stream, p);
    });
}

/* ---- the nearest background pixel across the columns: each block computes a row ---- */

/* Along a row, the column of the nearest background pixel never decreases, if the first of equally
 * near columns counts. The nearest columns of two pixels therefore bound the nearest columns of the
 * pixels between them. Every 4096th pixel searches the whole row; then every 512th, 64th, 8th and
 * each pixel searches only the columns between its bounds. On each level all pixels together search
 * at most seven rows of columns, whatever the picture, and fewer if background is near most
 * pixels. */
constexpr int ACROSS_THREADS = 256, ACROSS_WARPS = ACROSS_THREADS / WARP;
constexpr int FIRST_STEP = 4096, LEVEL = 8; /* the first level has every FIRST_STEP-th pixel, each
                                               further level LEVEL times as many */
constexpr int ALONE_MAX = 64;               /* the most columns that a lane searches alone */

struct across_args {
    struct view_pair p;
    /* The nearest column of each GF_DISTANCE_STEP-th pixel, in rows of `pitch` words. */
    unsigned *nearest;
    size_t pitch;
    float scale;
};

template <class Square> struct candidate {
    Square squared;
    int column;
};

template <class Square>
static __device__ __forceinline__ Square squared_to(const unsigned short *row, int column, int x)
{
    const unsigned height = __ldg(row + column);
    const int dx = x - column;
    return height == GF_DISTANCE_NONE ? ~(Square)0
                                      : (Square)dx * (Square)dx + (Square)height * height;
}

/* Finds the column, from low to high, of the background pixel that is nearest to pixel x, with all
 * lanes of the warp. */
template <class Square>
static __device__ __forceinline__ candidate<Square> find_together(const unsigned short *row, int x,
                                                                  int low, int high)
{
    candidate<Square> best = {~(Square)0, high};
#pragma unroll 4
    for (int i = low + (int)threadIdx.x % WARP; i <= high; i += WARP) {
        const Square squared = squared_to<Square>(row, i, x);
        if (squared < best.squared)
            best = {squared, i};
    }
#pragma unroll
    for (int step = WARP / 2; step; step /= 2) {
        const Square squared = __shfl_xor_sync(WHOLE_WARP, best.squared, step);
        const int column = __shfl_xor_sync(WHOLE_WARP, best.column, step);
        if (squared < best.squared || (squared == best.squared && column < best.column))
            best = {squared, column};
    }
    return best;
}

/* Finds such a column for a pixel of each lane. All lanes of the warp take part; a lane with high <
 * low finds nothing. */
template <class Square>
static __device__ __forceinline__ candidate<Square> find_each(const unsigned short *row, int x,
                                                              int low, int high)
{
    candidate<Square> best = {~(Square)0, high};
    const bool is_far = high - low >= ALONE_MAX;
#pragma unroll 4
    for (int i = low; i <= high && !is_far; i++) {
        const Square squared = squared_to<Square>(row, i, x);
        if (squared < best.squared)
            best = {squared, i};
    }
    unsigned todo = __ballot_sync(WHOLE_WARP, is_far);
    while (todo) {
        const int lane = __ffs((int)todo) - 1;
        todo &= todo - 1;
        const candidate<Square> found = find_together<Square>(row, __shfl_sync(WHOLE_WARP, x, lane),
                                                              __shfl_sync(WHOLE_WARP, low, lane),
                                                              __shfl_sync(WHOLE_WARP, high, lane));
        if ((int)threadIdx.x % WARP == lane)
            best = found;
    }
    return best;
}

/* Sets low and high to the nearest columns of the two pixels that are `step` apart around x; with
 * step 0, to the ends of the row. Columns further away than the background in the pixel's own
 * column are excluded. */
static __device__ __forceinline__ void bounds(const unsigned short *row, const unsigned *nearest,
                                              int width, int x, int step, int *low, int *high)
{
    int first = 0, last = width - 1;
    if (step) {
        const int left = x / step * step, right = left + step;
        first = (int)nearest[left / GF_DISTANCE_STEP];
        if (x == left)
            last = first;
        else if (right < width)
            last = (int)nearest[right / GF_DISTANCE_STEP];
    }
    const int far = __ldg(row + x);
    *low = max(first, x - far);
    *high = min(last, x + far);
}

template <class Square, class Sample>
__global__ void __launch_bounds__(ACROSS_THREADS) across_kernel(const struct across_args args)
{
    const struct view_pair &p = args.p;
    const unsigned short *const row =
        (const unsigned short *)(p.in + (size_t)blockIdx.x * p.in_pitch);
    Sample *const out = (Sample *)(p.out + (size_t)blockIdx.x * p.out_pitch);
    unsigned *const nearest = args.nearest + (size_t)blockIdx.x * args.pitch;
    const int warp = threadIdx.x / WARP, width = p.width;
    for (int step = FIRST_STEP; step > GF_DISTANCE_STEP; step /= LEVEL) {
        for (int x = warp * step; x < width; x += ACROSS_WARPS * step) {
            int low, high;
            bounds(row, nearest, width, x, step < FIRST_STEP ? step * LEVEL : 0, &low, &high);
            const candidate<Square> best = find_together<Square>(row, x, low, high);
            if (threadIdx.x % WARP == 0 && (step == FIRST_STEP || x % (step * LEVEL)))
                nearest[x / GF_DISTANCE_STEP] = (unsigned)best.column;
        }
        __syncthreads();
    }
    const int eights = (width + GF_DISTANCE_STEP - 1) / GF_DISTANCE_STEP;
    for (int first = warp * WARP; first < eights; first += ACROSS_THREADS) {
        const int x = (first + (int)threadIdx.x % WARP) * GF_DISTANCE_STEP;
        const bool is_new = x < width && x % (GF_DISTANCE_STEP * LEVEL);
        int low = 0, high = -1;
        if (is_new)
            bounds(row, nearest, width, x, GF_DISTANCE_STEP * LEVEL, &low, &high);
        const candidate<Square> best = find_each<Square>(row, x, low, high);
        if (is_new)
            nearest[x / GF_DISTANCE_STEP] = (unsigned)best.column;
    }
    __syncthreads();
    for (int first = warp * WARP; first < width; first += ACROSS_THREADS) {
        const int x = first + (int)threadIdx.x % WARP;
        int low = 0, high = -1;
        if (x < width)
            bounds(row, nearest, width, x, GF_DISTANCE_STEP, &low, &high);
        const candidate<Square> best = find_each<Square>(row, x, low, high);
        const float far = gf_distance_squared(best.squared, best.squared == ~(Square)0);
        const float root = far > 0.0f ? corrected_root::root(far) : 0.0f;
        if (x < width)
            out[x] =
                (Sample)gf_round_flat(root * args.scale, sizeof(Sample) == 1 ? 255.0f : 65535.0f);
    }
}

template <class Square>
static int launch_across(const struct across_args &args, int bits, cudaStream_t stream)
{
    const auto kernel =
        bits == 8 ? across_kernel<Square, unsigned char> : across_kernel<Square, unsigned short>;
    return launch_kernel(kernel, args.p.rows, ACROSS_THREADS, 0, stream, args);
}

extern "C" int gf_distance_across_cuda(const struct gf_launch *launch)
{
    const struct gf_distance_across *const across =
        (const struct gf_distance_across *)launch->stage->params;
    const struct gf_format format = launch->in.format;
    struct across_args args = {};
    args.p = aligned_views(launch);
    args.nearest = (unsigned *)launch->scratch;
    args.pitch = gf_distance_pitch(format);
    args.scale = across->scale;
    const uint64_t dx = (uint64_t)format.width, dy = (uint64_t)format.height;
    const uint64_t most = dx * dx + (dy < GF_DISTANCE_NONE ? dy * dy : (uint64_t)UINT32_MAX);
    return most < UINT32_MAX
               ? launch_across<unsigned>(args, across->bits, launch->stream)
               : launch_across<unsigned long long>(args, across->bits, launch->stream);
}
