/* Sobel's magnitude, by strips (cuda/common/strip.cuh). Of each row two numbers a sample are kept
 * for the rows below: the slope, right - left, and the smoothed sample, left + 2 here + right. */
#ifndef GF_CUDA_FILTERS_SOBEL_ROLLING_CUH
#define GF_CUDA_FILTERS_SOBEL_ROLLING_CUH

#include "cuda/common/square_root.cuh"
#include "cuda/common/strip.cuh"
#include "filters/sobel.h"

enum {
    ROWS = 12, /* of a strip */
    BLOCKS =
        6, /* that a multiprocessor's registers are to hold: more hide the loads, fewer spill */
};

struct sobel_args {
    struct view_pair p;
    float scale;
};

/* sqrt(x^2 + y^2) scale, clamped and rounded, in byte 1. The sum of squares is exact. By an
 * estimated root, clamping is free in a multiplication that ends in 0..1, and the addition
 * truncates to 8 fraction bits, with a half added above them; by an exact one every step is the
 * CPU's. */
template <class ROOT>
static __device__ __forceinline__ unsigned magnitude8(float x, float y, float scale)
{
    const float v = ROOT::root(__fmaf_rn(x, x, y * y)) * scale;
    if (ROOT::EXACT)
        return __float_as_uint(__fadd_rz(fminf(v, 255.0f) + 0.5f, 32768.0f));
    return __float_as_uint(__fmaf_rz(__saturatef(v), 255.0f, 32768.5f));
}

/* What is kept of the two rows above the newest. The element of `smooth` alternates with the rows,
 * so that nothing is copied. [w][0] are the even samples of word w as tiny_halves(), [w][1] the odd
 * ones. */
struct sobel8_state {
    __half2 slope[4][2];  /* of the last row */
    __half2 slopes[4][2]; /* of the row before, plus twice the last's */
    __half2 smooth[2][4][2];
};

/* The samples one pixel to the left and to the right; w counts from the words beside. */
template <int CHANNELS>
static __device__ __forceinline__ void neighbours8(const __half2 pair[6][2], int w, int odd,
                                                   __half2 *left, __half2 *right)
{
    if (CHANNELS == 4) {
        *left = pair[w - 1][odd];
        *right = pair[w + 1][odd];
    } else if (CHANNELS == 2) {
        *left = between(pair[w - 1][odd], pair[w][odd]);
        *right = between(pair[w][odd], pair[w + 1][odd]);
    } else if (CHANNELS == 3) {
        *left = odd ? between(pair[w - 1][0], pair[w][0]) : pair[w - 1][1];
        *right = odd ? pair[w + 1][0] : between(pair[w][1], pair[w + 1][1]);
    } else {
        *left = odd ? pair[w][0] : between(pair[w - 1][1], pair[w][1]);
        *right = odd ? between(pair[w][0], pair[w + 1][0]) : pair[w][1];
    }
}

/* Takes the next row, and gives the results of the row above it. parity: of the number of the row.
 */
template <int CHANNELS, class ROOT>
static __device__ __forceinline__ void advance8(const unsigned word[6], int parity, float scale,
                                                struct sobel8_state *state, unsigned out[4])
{
    const __half2 two = __floats2half2_rn(2.0f, 2.0f);
    __half2 pair[6][2];
#pragma unroll
    for (int i = 0; i < 12; i++)
        pair[i / 2][i % 2] = tiny_halves(word[i / 2], i % 2);
#pragma unroll
    for (int w = 0; w < 4; w++) {
        unsigned result[2][2];
#pragma unroll
        for (int odd = 0; odd < 2; odd++) {
            __half2 left, right;
            neighbours8<CHANNELS>(pair, w + 1, odd, &left, &right);
            const __half2 slope = __hsub2(right, left);
            const __half2 smooth = __hfma2(two, pair[w + 1][odd], __hadd2(left, right));
            const float2 x = __half22float2(__hadd2(state->slopes[w][odd], slope));
            const float2 y = __half22float2(__hsub2(smooth, state->smooth[parity][w][odd]));
            result[0][odd] = magnitude8<ROOT>(x.x, y.x, scale);
            result[1][odd] = magnitude8<ROOT>(x.y, y.y, scale);
            state->slopes[w][odd] = __hfma2(two, slope, state->slope[w][odd]);
            state->slope[w][odd] = slope;
            state->smooth[parity][w][odd] = smooth;
        }
        out[w] = __byte_perm(__byte_perm(result[0][0], result[0][1], 0x0051),
                             __byte_perm(result[1][0], result[1][1], 0x0051), 0x5410);
    }
}

template <int CHANNELS>
static __device__ __forceinline__ void keep_alpha8(const unsigned here[4], unsigned out[4])
{
    const unsigned alpha = CHANNELS == 4 ? 0xFF000000u : CHANNELS == 2 ? 0xFF00FF00u : 0;
#pragma unroll
    for (int w = 0; w < 4; w++)
        out[w] = (out[w] & ~alpha) | (here[w] & alpha);
}

template <int CHANNELS, class ROOT> struct sobel8 {
    typedef unsigned char sample;
    typedef struct sobel8_state state;
    static constexpr int BESIDE = 1;

    static __device__ __forceinline__ void advance(const unsigned *word, int parity, float scale,
                                                   state *state, unsigned out[4])
    {
        advance8<CHANNELS, ROOT>(word, parity, scale, state, out);
    }
    static __device__ __forceinline__ void keep_alpha(const unsigned here[4], unsigned out[4])
    {
        keep_alpha8<CHANNELS>(here, out);
    }
};

/* The same for 16-bit samples in float, where the gradients are exact: they are below 2^24. */
struct sobel16_state {
    float slope[8], slopes[8], smooth[2][8];
};

/* The same of 16 bits; the result is in the lower half. */
template <class ROOT>
static __device__ __forceinline__ unsigned magnitude16(float x, float y, float scale)
{
    const float result = fminf(ROOT::root(x * x + y * y) * scale, 65535.0f);
    return __float_as_uint(__fadd_rz(result + 0.5f, 8388608.0f));
}

template <int CHANNELS, class ROOT>
static __device__ __forceinline__ void advance16(const unsigned *word, int parity, float scale,
                                                 struct sobel16_state *state, unsigned out[4])
{
    constexpr int BESIDE = CHANNELS > 2 ? 2 : 1;
    float v[8 + 4 * BESIDE];
    unsigned result[8];
#pragma unroll
    for (int w = 0; w < 4 + 2 * BESIDE; w++) {
        v[2 * w] = float_of_low(word[w]);
        v[2 * w + 1] = float_of_high(word[w]);
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int at = 2 * BESIDE + i;
        const float slope = v[at + CHANNELS] - v[at - CHANNELS];
        const float smooth = v[at + CHANNELS] + v[at - CHANNELS] + 2.0f * v[at];
        result[i] =
            magnitude16<ROOT>(state->slopes[i] + slope, smooth - state->smooth[parity][i], scale);
        state->slopes[i] = state->slope[i] + 2.0f * slope;
        state->slope[i] = slope;
        state->smooth[parity][i] = smooth;
    }
#pragma unroll
    for (int w = 0; w < 4; w++)
        out[w] = __byte_perm(result[2 * w], result[2 * w + 1], 0x5410);
}

template <int CHANNELS>
static __device__ __forceinline__ void keep_alpha16(const unsigned here[4], unsigned out[4])
{
#pragma unroll
    for (int w = 0; w < 4; w++) {
        if (CHANNELS == 2 || (CHANNELS == 4 && w % 2))
            out[w] = __byte_perm(out[w], here[w], 0x7610);
    }
}

template <int CHANNELS, class ROOT> struct sobel16 {
    typedef unsigned short sample;
    typedef struct sobel16_state state;
    static constexpr int BESIDE = CHANNELS > 2 ? 2 : 1;

    static __device__ __forceinline__ void advance(const unsigned *word, int parity, float scale,
                                                   state *state, unsigned out[4])
    {
        advance16<CHANNELS, ROOT>(word, parity, scale, state, out);
    }
    static __device__ __forceinline__ void keep_alpha(const unsigned here[4], unsigned out[4])
    {
        keep_alpha16<CHANNELS>(here, out);
    }
};

template <class Depth, class Fuse = fuse_none>
__global__ void __launch_bounds__(STRIP_THREADS, BLOCKS) sobel_kernel(const struct sobel_args args)
{
    constexpr int BESIDE = Depth::BESIDE;
    typedef typename Depth::sample sample;
    __shared__ struct strip_tables<sample, BESIDE, ROWS * STRIP_WARPS + 2> tables;
    __shared__ struct sample_tables<Fuse> samples;
    fill_tables<Fuse>(args.p, samples);
    struct strip strip = find_strip(args.p, tables, ROWS, 1, 1);
    if (strip.lines <= 0)
        return;
    struct strip_row<BESIDE> next;
    typename Depth::state state = {};
    unsigned word[4 + 2 * BESIDE], here[4], out[4];
    fetch_row<sample>(args.p, strip, 0, &next);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        map_row<Fuse>(strip, samples, &next);
        join_row(strip, next, word);
        fetch_row<sample>(args.p, strip, i + 1, &next);
        Depth::advance(word, i, args.scale, &state, out);
    }
#pragma unroll 1
    for (int base = 0; base < strip.lines; base += 2) {
#pragma unroll
        for (int parity = 0; parity < 2; parity++) {
            if (base + parity >= strip.lines)
                break;
#pragma unroll
            for (int w = 0; w < 4; w++)
                here[w] = word[w + BESIDE];
            map_row<Fuse>(strip, samples, &next);
            join_row(strip, next, word);
            if (base + parity + 1 < strip.lines)
                fetch_row<sample>(args.p, strip, base + parity + 3, &next);
            Depth::advance(word, parity, args.scale, &state, out);
            Depth::keep_alpha(here, out);
            store_row<Fuse>(args.p, strip, samples, out);
        }
    }
}

static inline struct sobel_args sobel_args_of(const struct gf_launch *launch, bool estimate)
{
    const struct gf_sobel *const sobel = (const struct gf_sobel *)launch->stage->constants;
    struct sobel_args args = {};
    args.p = view_pair_of(launch, sobel->border);
    args.scale = launch->in.format.bits == 16 ? sobel->scale
                 : estimate                   ? sobel->scale * (16777216.0f / 255.0f)
                                              : sobel->scale * 16777216.0f;
    return args;
}

/* ROOT is exact; ESTIMATE takes its place for 8 bits where it makes the same samples. */
template <class ESTIMATE, class ROOT> static int launch_rolling(const struct gf_launch *launch)
{
    static void (*const kernels[3][4])(const struct sobel_args) = {
        {sobel_kernel<sobel8<1, ROOT>>, sobel_kernel<sobel8<2, ROOT>>,
         sobel_kernel<sobel8<3, ROOT>>, sobel_kernel<sobel8<4, ROOT>>},
        {sobel_kernel<sobel16<1, ROOT>>, sobel_kernel<sobel16<2, ROOT>>,
         sobel_kernel<sobel16<3, ROOT>>, sobel_kernel<sobel16<4, ROOT>>},
        {sobel_kernel<sobel8<1, ESTIMATE>>, sobel_kernel<sobel8<2, ESTIMATE>>,
         sobel_kernel<sobel8<3, ESTIMATE>>, sobel_kernel<sobel8<4, ESTIMATE>>}};
    const struct gf_sobel *const sobel = (const struct gf_sobel *)launch->stage->constants;
    const int wide = launch->in.format.bits == 16;
    const bool estimate = !wide && !ESTIMATE::EXACT && gf_sobel_estimate_suffices(sobel->scale);
    const struct sobel_args args = sobel_args_of(launch, estimate);
    kernels[estimate ? 2 : wide][args.p.channels - 1]<<<
        strip_blocks(args.p, wide ? 2 : 1, ROWS), STRIP_THREADS, 0, (cudaStream_t)launch->stream>>>(
        args);
    return cudaGetLastError();
}

#endif
