/* Sobel's magnitude, by a walk down strips (cuda/common/walk.cuh). For each sample of a row two
 * numbers are kept for the rows below: the slope, right - left, and the smoothed sample, left + 2
 * here + right. */
#pragma once

#include "cuda/common/square_root.cuh"
#include "cuda/common/walk.cuh"
#include "filters/sobel/sobel.h"

/* Shared members of the gradients' stencils. BLOCKS is the number of blocks that a multiprocessor's
 * registers must hold: more blocks hide the latency of loads better, fewer spill fewer
 * registers. */
template <class Sample, int CHANNELS, int BLOCKS_>
struct gradient : walk_stencil<Sample, CHANNELS> {
    static constexpr int BESIDE = (CHANNELS * (int)sizeof(Sample) + 3) / 4;
    static constexpr int WORDS = 4 + 2 * BESIDE, PIXEL_WORDS = CHANNELS * (int)sizeof(Sample) / 4;
    static constexpr int ROWS = 12, PERIOD = 2, BLOCKS = BLOCKS_;
    typedef float constants; /* the only constant is the scale */

    float scale;
    unsigned above[4], here[4]; /* the lane's own words of the last two rows */
    unsigned result[4];

    __device__ __forceinline__ explicit gradient(float scale) : scale(scale)
    {
    }
    __device__ __forceinline__ void keep(const unsigned (&word)[WORDS])
    {
#pragma unroll
        for (int w = 0; w < 4; w++) {
            above[w] = here[w];
            here[w] = word[w + BESIDE];
        }
    }
    /* Computes the result, with the alpha of its row. */
    __device__ __forceinline__ void make(int, unsigned (&out)[4]) const
    {
#pragma unroll
        for (int w = 0; w < 4; w++) {
            const bool has_alpha = CHANNELS % 2 == 0 && (w + 1) % max(PIXEL_WORDS, 1) == 0;
            const unsigned alpha = !has_alpha ? 0 : sizeof(Sample) == 4 ? ~0u : 0xFFFF0000u;
            out[w] = (result[w] & ~alpha) | (above[w] & alpha);
        }
    }
};

/* Returns sqrt(x^2 + y^2) scale, clamped and rounded, in byte 1. The sum of squares is exact. With
 * an estimated root, the multiplication also clamps to 0..1, and the addition, which includes a
 * half, truncates to 8 fraction bits. With an exact root every step is the CPU's. */
template <class ROOT>
static __device__ __forceinline__ unsigned magnitude8(float x, float y, float scale)
{
    const float v = ROOT::root(__fmaf_rn(x, x, y * y)) * scale;
    if (ROOT::EXACT)
        return __float_as_uint(__fadd_rz(fminf(v, 255.0f) + 0.5f, 32768.0f));
    return __float_as_uint(__fmaf_rz(__saturatef(v), 255.0f, 32768.5f));
}

/* Finds the samples one pixel to the left and to the right. w counts from the words next to the
 * lane's own words. */
template <int CHANNELS>
static __device__ __forceinline__ void neighbours8(const __half2 pair[6][2], int w, int odd,
                                                   __half2 *left, __half2 *right)
{
    if (CHANNELS == 3) {
        *left = odd ? between(pair[w - 1][0], pair[w][0]) : pair[w - 1][1];
        *right = odd ? pair[w + 1][0] : between(pair[w][1], pair[w + 1][1]);
    } else {
        *left = odd ? pair[w][0] : between(pair[w - 1][1], pair[w][1]);
        *right = odd ? between(pair[w][0], pair[w + 1][0]) : pair[w][1];
    }
}

/* Joins bytes 0 and 2, then 1 and 3, of a word of results. Each result is in byte 1. */
static __device__ __forceinline__ unsigned joined8(const unsigned (&even)[2],
                                                   const unsigned (&odd)[2])
{
    return __byte_perm(__byte_perm(even[0], odd[0], 0x0051), __byte_perm(even[1], odd[1], 0x0051),
                       0x5410);
}

/* The stencil for 8 bits with weights 1, MIDDLE, 1. Rows use the elements of `smooth` in turn, so
 * that nothing is copied. Element [w][0] has the even samples of word w as tiny_halves(), [w][1]
 * the odd samples. */
template <int CHANNELS, class ROOT, int MIDDLE = 2>
struct sobel8 : gradient<unsigned char, CHANNELS, MIDDLE == 2 ? 6 : 4> {
    typedef gradient<unsigned char, CHANNELS, MIDDLE == 2 ? 6 : 4> base;
    __half2 slope[4][2] = {}; /* the slopes of the last row */
    /* The slopes of the row before, plus MIDDLE times the slopes of the last row. */
    __half2 slopes[4][2] = {};
    __half2 smooth[2][4][2] = {};

    using base::base;
    __device__ __forceinline__ void take(const unsigned (&word)[base::WORDS], int phase)
    {
        const __half2 middle = __floats2half2_rn((float)MIDDLE, (float)MIDDLE);
        const int parity = phase & 1;
        __half2 pair[6][2];
#pragma unroll
        for (int i = 0; i < 12; i++)
            pair[i / 2][i % 2] = tiny_halves(word[i / 2], i % 2);
#pragma unroll
        for (int w = 0; w < 4; w++) {
            unsigned even[2], odd[2];
#pragma unroll
            for (int k = 0; k < 2; k++) {
                __half2 left, right;
                neighbours8<CHANNELS>(pair, w + 1, k, &left, &right);
                const __half2 rise = __hsub2(right, left);
                const __half2 sum = __hfma2(middle, pair[w + 1][k], __hadd2(left, right));
                const float2 x = __half22float2(__hadd2(slopes[w][k], rise));
                const float2 y = __half22float2(__hsub2(sum, smooth[parity][w][k]));
                (k ? odd : even)[0] = magnitude8<ROOT>(x.x, y.x, this->scale);
                (k ? odd : even)[1] = magnitude8<ROOT>(x.y, y.y, this->scale);
                slopes[w][k] = __hfma2(middle, rise, slope[w][k]);
                slope[w][k] = rise;
                smooth[parity][w][k] = sum;
            }
            this->result[w] = joined8(even, odd);
        }
        this->keep(word);
    }
};

static __device__ __forceinline__ float2 weighted(__half2 sides, __half2 middle)
{
    const float2 a = __half22float2(sides), b = __half22float2(middle);
    return make_float2(__fmaf_rn(3.0f, a.x, 10.0f * b.x), __fmaf_rn(3.0f, a.y, 10.0f * b.y));
}

/* The stencil for 8 bits with Scharr's weights, 3 10 3. Half floats hold the differences and the
 * sums of two samples exactly; floats hold the results of further arithmetic. `sides` has the sums
 * of the samples to the left and to the right. */
template <int CHANNELS, class ROOT> struct scharr8 : gradient<unsigned char, CHANNELS, 4> {
    typedef gradient<unsigned char, CHANNELS, 4> base;
    /* The sums of the last two rows. */
    __half2 slope[2][4][2] = {}, sides[2][4][2] = {}, middle[2][4][2] = {};

    using base::base;
    __device__ __forceinline__ void take(const unsigned (&word)[base::WORDS], int phase)
    {
        const int parity = phase & 1;
        __half2 pair[6][2];
#pragma unroll
        for (int i = 0; i < 12; i++)
            pair[i / 2][i % 2] = tiny_halves(word[i / 2], i % 2);
#pragma unroll
        for (int w = 0; w < 4; w++) {
            unsigned even[2], odd[2];
#pragma unroll
            for (int k = 0; k < 2; k++) {
                __half2 left, right;
                neighbours8<CHANNELS>(pair, w + 1, k, &left, &right);
                const __half2 own = pair[w + 1][k];
                const __half2 rise = __hsub2(right, left), sum = __hadd2(left, right);
                const float2 x =
                    weighted(__hadd2(slope[parity][w][k], rise), slope[1 - parity][w][k]);
                const float2 y =
                    weighted(__hsub2(sum, sides[parity][w][k]), __hsub2(own, middle[parity][w][k]));
                (k ? odd : even)[0] = magnitude8<ROOT>(x.x, y.x, this->scale);
                (k ? odd : even)[1] = magnitude8<ROOT>(x.y, y.y, this->scale);
                slope[parity][w][k] = rise;
                sides[parity][w][k] = sum;
                middle[parity][w][k] = own;
            }
            this->result[w] = joined8(even, odd);
        }
        this->keep(word);
    }
};

/* Returns the magnitude of 16-bit samples in the lower half. */
template <class ROOT>
static __device__ __forceinline__ unsigned magnitude16(float x, float y, float scale)
{
    const float result = fminf(ROOT::root(x * x + y * y) * scale, 65535.0f);
    return __float_as_uint(__fadd_rz(result + 0.5f, 8388608.0f));
}

/* The stencil for 16 bits with weights SIDE, MIDDLE, SIDE, in float, where the gradients are exact:
 * they are below 2^24. */
template <int CHANNELS, class ROOT, int SIDE, int MIDDLE>
struct sobel16 : gradient<unsigned short, CHANNELS, MIDDLE == 2 ? 6 : 4> {
    typedef gradient<unsigned short, CHANNELS, MIDDLE == 2 ? 6 : 4> base;
    float slope[8] = {}, slopes[8] = {}, smooth[2][8] = {};

    using base::base;
    __device__ __forceinline__ void take(const unsigned (&word)[base::WORDS], int phase)
    {
        const int parity = phase & 1;
        float v[2 * base::WORDS];
        unsigned made[8];
#pragma unroll
        for (int w = 0; w < base::WORDS; w++) {
            v[2 * w] = float_of_low(word[w]);
            v[2 * w + 1] = float_of_high(word[w]);
        }
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const int at = 2 * base::BESIDE + i;
            const float rise = v[at + CHANNELS] - v[at - CHANNELS];
            const float sum = SIDE * (v[at + CHANNELS] + v[at - CHANNELS]) + MIDDLE * v[at];
            made[i] =
                magnitude16<ROOT>(slopes[i] + SIDE * rise, sum - smooth[parity][i], this->scale);
            slopes[i] = SIDE * slope[i] + MIDDLE * rise;
            slope[i] = rise;
            smooth[parity][i] = sum;
        }
#pragma unroll
        for (int w = 0; w < 4; w++)
            this->result[w] = __byte_perm(made[2 * w], made[2 * w + 1], 0x5410);
        this->keep(word);
    }
};

/* Returns the rounded root of a sum of squares. The least one of halves other than 0 is 2^-48. */
template <class Float> static __device__ __forceinline__ float float_root(float v)
{
    if constexpr (sizeof(Float) == 4)
        return sqrtf(v);
    return v > 0.0f && v < INFINITY ? corrected_root::root(v) : v;
}

/* The stencil for floats, with the operations of the CPU: down the columns first. */
template <class Float, int CHANNELS, int SIDE, int MIDDLE>
struct sobel_floats : gradient<typename bits_of<Float>::type, CHANNELS, 4> {
    typedef gradient<typename bits_of<Float>::type, CHANNELS, 4> base;
    static constexpr int COUNT = STRIP_CHUNK / (int)sizeof(Float), WIDE = COUNT + 2 * CHANNELS;
    float row[2][WIDE] = {}; /* the last two rows, which use the elements in turn */

    using base::base;
    __device__ __forceinline__ void take(const unsigned (&word)[base::WORDS], int phase)
    {
        constexpr int FIRST = base::BESIDE * 4 / (int)sizeof(Float) - CHANNELS;
        float(&above)[WIDE] = row[phase & 1], (&here)[WIDE] = row[1 - (phase & 1)];
        float smooth[WIDE], slope[WIDE], made[COUNT];
#pragma unroll
        for (int i = 0; i < WIDE; i++) {
            const float below = float_in<Float>(word, FIRST + i);
            smooth[i] = SIDE * above[i] + MIDDLE * here[i] + SIDE * below;
            slope[i] = below - above[i];
            above[i] = below;
        }
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const float x = smooth[i + 2 * CHANNELS] - smooth[i];
            const float y =
                SIDE * (slope[i] + slope[i + 2 * CHANNELS]) + MIDDLE * slope[i + CHANNELS];
            const bool is_alpha = CHANNELS % 2 == 0 && i % CHANNELS == CHANNELS - 1;
            made[i] = is_alpha ? 0.0f : float_root<Float>(x * x + y * y) * this->scale;
        }
        pack_floats<Float>(made, this->result);
        this->keep(word);
    }
};

/* Returns the factor for estimated roots of 8 bits: the samples are 2^-24 of their values, and the
 * result is divided by 255. */
static inline float estimate_scale(const struct gf_sobel *sobel)
{
    return sobel->scale * (16777216.0f / 255.0f);
}

/* Launches the kernel with the root ROOT, which is exact, or for 8 bits with ESTIMATE if both give
 * the same samples. */
template <class ESTIMATE, class ROOT, int CHANNELS>
static int launch_8(const struct view_pair &p, const struct gf_sobel *sobel, cudaStream_t stream)
{
    const float scale = sobel->scale * 16777216.0f;
    /* The variant without an estimate accepts only Sobel's weights. */
    if constexpr (!ESTIMATE::EXACT) {
        if (sobel->kernel == GF_GRADIENT_SCHARR)
            return walk_strips<scharr8<CHANNELS, ROOT>>(p, scale, stream);
        if (sobel->kernel == GF_GRADIENT_PREWITT)
            return walk_strips<sobel8<CHANNELS, ROOT, 1>>(p, scale, stream);
    }
    if (sobel->kernel != GF_GRADIENT_SOBEL)
        return cudaErrorNotSupported;
    if (ESTIMATE::EXACT || !gf_sobel_estimate_suffices(sobel->scale))
        return walk_strips<sobel8<CHANNELS, ROOT>>(p, scale, stream);
    return walk_strips<sobel8<CHANNELS, ESTIMATE>>(p, estimate_scale(sobel), stream);
}

template <class ESTIMATE, class ROOT, int CHANNELS>
static int launch_16(const struct view_pair &p, const struct gf_sobel *sobel, cudaStream_t stream)
{
    const float scale = sobel->scale;
    if constexpr (!ESTIMATE::EXACT) {
        if (sobel->kernel == GF_GRADIENT_SCHARR)
            return walk_strips<sobel16<CHANNELS, ROOT, 3, 10>>(p, scale, stream);
        if (sobel->kernel == GF_GRADIENT_PREWITT)
            return walk_strips<sobel16<CHANNELS, ROOT, 1, 1>>(p, scale, stream);
    }
    return sobel->kernel == GF_GRADIENT_SOBEL
               ? walk_strips<sobel16<CHANNELS, ROOT, 1, 2>>(p, scale, stream)
               : (int)cudaErrorNotSupported;
}

template <class ESTIMATE, class ROOT> static int launch_rolling(const struct gf_launch *launch)
{
    const struct gf_sobel *const sobel = (const struct gf_sobel *)launch->stage->constants;
    const struct view_pair p = view_pair_of(launch, sobel->border);
    return for_stencil_samples(p, [&](auto sample, auto channels) -> int {
        constexpr int CHANNELS = decltype(channels)::value;
        if constexpr (sizeof sample == 1)
            return launch_8<ESTIMATE, ROOT, CHANNELS>(p, sobel, launch->stream);
        else
            return launch_16<ESTIMATE, ROOT, CHANNELS>(p, sobel, launch->stream);
    });
}
