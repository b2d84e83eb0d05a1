/* Sobel's magnitude, by strips (cuda/common/strip.cuh). Of each row two numbers a sample are kept
 * for the rows below: the slope, right - left, and the smoothed sample, left + 2 here + right. */
#ifndef GF_CUDA_FILTERS_SOBEL_SOBEL_ROLLING_CUH
#define GF_CUDA_FILTERS_SOBEL_SOBEL_ROLLING_CUH

#include "cuda/common/early.cuh"
#include "cuda/common/square_root.cuh"
#include "cuda/common/strip.cuh"
#include "filters/sobel/sobel.h"

enum {
    ROWS = 12, /* of a strip */
};

struct sobel_args {
    struct view_pair p;
    float scale;
    int kernel; /* enum gf_gradient, where it is no constant */
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
 * The weights are 1, MIDDLE, 1. */
template <int CHANNELS, class ROOT, int MIDDLE>
static __device__ __forceinline__ void advance8(const unsigned word[6], int parity, float scale,
                                                struct sobel8_state *state, unsigned out[4])
{
    const __half2 middle = __floats2half2_rn((float)MIDDLE, (float)MIDDLE);
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
            const __half2 smooth = __hfma2(middle, pair[w + 1][odd], __hadd2(left, right));
            const float2 x = __half22float2(__hadd2(state->slopes[w][odd], slope));
            const float2 y = __half22float2(__hsub2(smooth, state->smooth[parity][w][odd]));
            result[0][odd] = magnitude8<ROOT>(x.x, y.x, scale);
            result[1][odd] = magnitude8<ROOT>(x.y, y.y, scale);
            state->slopes[w][odd] = __hfma2(middle, slope, state->slope[w][odd]);
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

/* BLOCKS: that a multiprocessor's registers are to hold. More hide the loads, fewer spill. */
template <int CHANNELS, class ROOT, int MIDDLE = 2> struct sobel8 {
    typedef unsigned char sample;
    typedef struct sobel8_state state;
    static constexpr int BESIDE = 1, BLOCKS = MIDDLE == 2 ? 6 : 4;

    static __device__ __forceinline__ void advance(const unsigned *word, int parity, float scale,
                                                   state *state, unsigned out[4])
    {
        advance8<CHANNELS, ROOT, MIDDLE>(word, parity, scale, state, out);
    }
    static __device__ __forceinline__ void keep_alpha(const unsigned here[4], unsigned out[4])
    {
        keep_alpha8<CHANNELS>(here, out);
    }
};

/* Scharr's weights, 3 10 3: halves hold the differences and the sums of two exactly, floats what
 * is made of them. The sums are those of the sample to the left and to the right. */
struct scharr8_state {
    __half2 slope[2][4][2], sides[2][4][2], here[2][4][2]; /* of the last two rows */
};

static __device__ __forceinline__ float2 weighted(__half2 sides, __half2 middle)
{
    const float2 a = __half22float2(sides), b = __half22float2(middle);
    return make_float2(__fmaf_rn(3.0f, a.x, 10.0f * b.x), __fmaf_rn(3.0f, a.y, 10.0f * b.y));
}

template <int CHANNELS, class ROOT> struct scharr8 {
    typedef unsigned char sample;
    typedef struct scharr8_state state;
    static constexpr int BESIDE = 1, BLOCKS = 4;

    static __device__ __forceinline__ void advance(const unsigned *word, int parity, float scale,
                                                   state *state, unsigned out[4])
    {
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
                const __half2 here = pair[w + 1][odd];
                const __half2 slope = __hsub2(right, left), sides = __hadd2(left, right);
                const float2 x = weighted(__hadd2(state->slope[parity][w][odd], slope),
                                          state->slope[1 - parity][w][odd]);
                const float2 y = weighted(__hsub2(sides, state->sides[parity][w][odd]),
                                          __hsub2(here, state->here[parity][w][odd]));
                result[0][odd] = magnitude8<ROOT>(x.x, y.x, scale);
                result[1][odd] = magnitude8<ROOT>(x.y, y.y, scale);
                state->slope[parity][w][odd] = slope;
                state->sides[parity][w][odd] = sides;
                state->here[parity][w][odd] = here;
            }
            out[w] = __byte_perm(__byte_perm(result[0][0], result[0][1], 0x0051),
                                 __byte_perm(result[1][0], result[1][1], 0x0051), 0x5410);
        }
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

template <int CHANNELS, class ROOT, int SIDE, int MIDDLE>
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
        const float smooth = SIDE * (v[at + CHANNELS] + v[at - CHANNELS]) + MIDDLE * v[at];
        result[i] = magnitude16<ROOT>(state->slopes[i] + SIDE * slope,
                                      smooth - state->smooth[parity][i], scale);
        state->slopes[i] = SIDE * state->slope[i] + MIDDLE * slope;
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

template <int CHANNELS, class ROOT, int SIDE, int MIDDLE> struct sobel16 {
    typedef unsigned short sample;
    typedef struct sobel16_state state;
    static constexpr int BESIDE = CHANNELS > 2 ? 2 : 1, BLOCKS = MIDDLE == 2 ? 6 : 4;

    static __device__ __forceinline__ void advance(const unsigned *word, int parity, float scale,
                                                   state *state, unsigned out[4])
    {
        advance16<CHANNELS, ROOT, SIDE, MIDDLE>(word, parity, scale, state, out);
    }
    static __device__ __forceinline__ void keep_alpha(const unsigned here[4], unsigned out[4])
    {
        keep_alpha16<CHANNELS>(here, out);
    }
};

template <class Depth, class Fuse = fuse_none>
__global__ void __launch_bounds__(STRIP_THREADS, Depth::BLOCKS)
    sobel_kernel(const struct sobel_args args)
{
    constexpr int BESIDE = Depth::BESIDE;
    typedef typename Depth::sample sample;
    __shared__ struct strip_tables<sample, BESIDE, ROWS * STRIP_WARPS + 2> tables;
    __shared__ struct sample_tables<Fuse> samples;
    fill_tables<Fuse>(args.p, samples);
    early_next();
    struct strip strip = find_strip(args.p, tables, ROWS, 1, 1);
    early_wait();
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

template <class Depth, class Fuse = fuse_none>
static int launch_depth(const struct sobel_args &args, cudaStream_t stream)
{
    const int blocks = strip_blocks(args.p, (int)sizeof(typename Depth::sample), ROWS);
    return launch_early(sobel_kernel<Depth, Fuse>, (unsigned)blocks, STRIP_THREADS, 0, stream,
                        args);
}

/* ROOT is exact; ESTIMATE takes its place for 8 bits where it makes the same samples. */
template <class ESTIMATE, class ROOT, int CHANNELS>
static int launch_channels(const struct gf_launch *launch, const struct gf_sobel *sobel)
{
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    const int kernel = sobel->kernel;
    const struct sobel_args args = sobel_args_of(launch, false);
    if constexpr (!ESTIMATE::EXACT) { /* the variant without an estimate takes Sobel's alone */
        if (args.p.bits == 16 && kernel == GF_GRADIENT_SCHARR)
            return launch_depth<sobel16<CHANNELS, ROOT, 3, 10>>(args, stream);
        if (args.p.bits == 16 && kernel == GF_GRADIENT_PREWITT)
            return launch_depth<sobel16<CHANNELS, ROOT, 1, 1>>(args, stream);
        if (kernel == GF_GRADIENT_SCHARR)
            return launch_depth<scharr8<CHANNELS, ROOT>>(args, stream);
        if (kernel == GF_GRADIENT_PREWITT)
            return launch_depth<sobel8<CHANNELS, ROOT, 1>>(args, stream);
    }
    if (kernel != GF_GRADIENT_SOBEL)
        return cudaErrorNotSupported;
    if (args.p.bits == 16)
        return launch_depth<sobel16<CHANNELS, ROOT, 1, 2>>(args, stream);
    if (ESTIMATE::EXACT || !gf_sobel_estimate_suffices(sobel->scale))
        return launch_depth<sobel8<CHANNELS, ROOT>>(args, stream);
    return launch_depth<sobel8<CHANNELS, ESTIMATE>>(sobel_args_of(launch, true), stream);
}

template <class ESTIMATE, class ROOT> static int launch_rolling(const struct gf_launch *launch)
{
    const struct gf_sobel *const sobel = (const struct gf_sobel *)launch->stage->constants;
    return for_channels(launch->in.format.channels, [&](auto channels) -> int {
        return launch_channels<ESTIMATE, ROOT, decltype(channels)::value>(launch, sobel);
    });
}

#endif
