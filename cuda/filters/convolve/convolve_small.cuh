/* Convolution with small matrices, in registers. */
#pragma once

#include "cuda/common/stencil.cuh"
#include "cuda/common/walk.cuh"
#include "filters/convolve/convolve.h"

/* Computes 8-bit results from sums of fused operations. gf_convolve_doubt() bounds the difference
 * between such a sum and the CPU's. Both ends of the interval of possible sums are rounded. If the
 * rounded ends are equal, they are the CPU's result, since rounding never decreases; otherwise the
 * sum is computed again as on the CPU. */

/* How sums are computed. APART: each product is rounded, as on the CPU. WHOLE: fused, where fusing
 * rounds nothing. NEAR: fused, and doubtful results are computed again. FLOATS: as APART, and a
 * weight of 0 multiplies nothing. */
enum convolve_way { CONVOLVE_APART, CONVOLVE_WHOLE, CONVOLVE_NEAR, CONVOLVE_FLOATS };

/* The largest share of doubtful results. With more, computing them again would take too long. */
static const double NEAR_DOUBT_MAX = 0.04;

/* Returns one end of the interval of possible results, rounded, in byte 1: floats from 2^15 on have
 * a last bit of 2^-8, so that the units begin with bit 8. */
static __device__ __forceinline__ unsigned near_end(float sum, float scale, float end)
{
    return __float_as_uint(__fmaf_rz(__saturatef(__fmaf_rn(sum, scale, end)), 255.0f, 32768.5f));
}

/* Convolution of 8-bit pictures without alpha, of 16-bit pictures, and of floats, with matrices up
 * to 5x5, which are padded with zeros to 3x3 or 5x5. The sums stay in registers: row i of the
 * picture is multiplied by row j of the matrix for output row i - j, so that each sum takes its
 * products row by row and from left to right, as on the CPU. */

enum { SMALL_SIDE_MAX = 5 };

struct small_args {
    int reach;   /* rows that the matrix reaches above and below, without its padding */
    bool divide; /* quotient() is needed: a product with `inverse` would differ */
    bool keep_alpha;
    float divisor, inverse, bias;
    struct gf_convolve_near near;
    /* The weights; for 8 bits times 2^24: see tiny_halves. */
    float weight[SMALL_SIDE_MAX * SMALL_SIDE_MAX];
};

/* Converts the words of a row to floats. v[HALO] is the lane's first own sample; HALO samples on
 * either side of its own ones are converted, too. Samples of 8 bits become 2^-24 times their value
 * (see tiny_halves()). */
template <class Sample, int BESIDE, int HALO>
static __device__ __forceinline__ void widen(const unsigned word[4 + 2 * BESIDE],
                                             float v[STRIP_CHUNK / sizeof(Sample) + 2 * HALO])
{
    if constexpr (is_float_type<Sample>::value) {
        constexpr int COUNT = STRIP_CHUNK / (int)sizeof(Sample);
#pragma unroll
        for (int i = 0; i < COUNT + 2 * HALO; i++)
            v[i] = float_in<Sample>(word, i + BESIDE * COUNT / 4 - HALO);
    } else if constexpr (sizeof(Sample) == 2) {
#pragma unroll
        for (int i = 0; i < STRIP_CHUNK / 2 + 2 * HALO; i++) {
            const int at = i + 2 * BESIDE - HALO;
            v[i] = at % 2 ? float_of_high(word[at / 2]) : float_of_low(word[at / 2]);
        }
    } else {
#pragma unroll
        for (int i = 0; i < 2 * (4 + 2 * BESIDE); i++) {
            const float2 two = __half22float2(tiny_halves(word[i / 2], i % 2));
            const int at = i / 2 * 4 + i % 2 - (4 * BESIDE - HALO);
            if (at >= 0 && at < STRIP_CHUNK + 2 * HALO)
                v[at] = two.x;
            if (at + 2 >= 0 && at + 2 < STRIP_CHUNK + 2 * HALO)
                v[at + 2] = two.y;
        }
    }
}

/* Adds the products of one row of weights to the sums of one output row. */
template <int SIDE, int CHANNELS, convolve_way WAY, int COUNT>
static __device__ __forceinline__ void add_products(const float weight[SIDE],
                                                    const float v[COUNT + (SIDE - 1) * CHANNELS],
                                                    const float *before, float (&sum)[COUNT])
{
#pragma unroll
    for (int k = 0; k < SIDE; k++) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const float sample = v[i + k * CHANNELS], so_far = k        ? sum[i]
                                                               : before ? before[i]
                                                                        : 0.0f;
            if (WAY == CONVOLVE_FLOATS && weight[k] == 0.0f)
                sum[i] = so_far;
            else
                sum[i] = WAY == CONVOLVE_APART || WAY == CONVOLVE_FLOATS
                             ? so_far + weight[k] * sample
                             : __fmaf_rn(weight[k], sample, so_far);
        }
    }
}

/* Returns sum / divisor, correctly rounded (Markstein): if the inverse is rounded to nearest and a
 * quotient is wrong by at most one unit in the last place, one step gives the nearest float. The
 * first step makes the quotient that accurate. small_fits() excludes divisors whose significand is
 * all ones. */
static __device__ __forceinline__ float quotient(float sum, float divisor, float inverse)
{
    float result = sum * inverse;
    result = __fmaf_rn(__fmaf_rn(-result, divisor, sum), inverse, result);
    return __fmaf_rn(__fmaf_rn(-result, divisor, sum), inverse, result);
}

static __device__ __forceinline__ float finish_sum(const struct small_args &args, float sum)
{
    return (args.divide ? quotient(sum, args.divisor, args.inverse) : sum * args.inverse) +
           args.bias;
}

/* Divides the sums of a row, adds the bias, rounds, and packs the samples: 16 of 8 bits or 8 of
 * 16. */
template <int COUNT>
static __device__ __forceinline__ void finish_row(const struct small_args &args,
                                                  const float (&sum)[COUNT], unsigned out[4])
{
#pragma unroll
    for (int w = 0; w < 4 && COUNT < STRIP_CHUNK; w++)
        out[w] = __byte_perm(round_bits(finish_sum(args, sum[2 * w]), 65535.0f),
                             round_bits(finish_sum(args, sum[2 * w + 1]), 65535.0f), 0x5410);
#pragma unroll
    for (int w = 0; w < 4 && COUNT == STRIP_CHUNK; w++) {
        unsigned result[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            result[i] = round_bits(finish_sum(args, sum[4 * w + i]), 255.0f);
        out[w] = __byte_perm(__byte_perm(result[0], result[1], 0x0040),
                             __byte_perm(result[2], result[3], 0x0040), 0x5410);
    }
}

/* Does so for floats, of which no sum is too large or too small. */
template <class Float, int COUNT>
static __device__ __forceinline__ void finish_floats(const struct small_args &args,
                                                     const float (&sum)[COUNT], unsigned (&out)[4])
{
    float v[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        v[i] = (args.divide ? sum[i] / args.divisor : sum[i] * args.inverse) + args.bias;
    pack_floats<Float>(v, out);
}

/* Rounds both ends of the intervals around a row's sums. A byte of `doubt` is not 0 if the two
 * rounded ends differ. */
static __device__ __forceinline__ void finish_near(const struct gf_convolve_near &args,
                                                   const float sum[STRIP_CHUNK], unsigned out[4],
                                                   unsigned doubt[4])
{
#pragma unroll
    for (int w = 0; w < 4; w++) {
        unsigned low[4], high[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            low[i] = near_end(sum[4 * w + i], args.scale, args.low);
            high[i] = near_end(sum[4 * w + i], args.scale, args.high);
        }
        out[w] = __byte_perm(__byte_perm(low[0], low[1], 0x0051),
                             __byte_perm(low[2], low[3], 0x0051), 0x5410);
        doubt[w] = out[w] ^ __byte_perm(__byte_perm(high[0], high[1], 0x0051),
                                        __byte_perm(high[2], high[3], 0x0051), 0x5410);
    }
}

/* The doubtful samples of a warp's strip, as line * STRIP_BYTES + byte. They wait until every lane
 * has one. */
struct small_doubts {
    unsigned short at[2 * STRIP_LANES];
};

/* Computes a sample as the CPU does, before tables are applied. `at` is its place in the row, and
 * `line` its row in the strip. */
template <int REACH, int CHANNELS, class Walk>
static __device__ __forceinline__ unsigned sample_again(const struct small_args &args,
                                                        const Walk &walk, int line, int at)
{
    const struct view_pair &p = walk.p;
    const int pixel = at / CHANNELS, channel = at - pixel * CHANNELS;
    float sum = 0.0f;
#pragma unroll 1
    for (int j = 0; j < 2 * REACH + 1; j++) {
        const long long row = walk.strip.row[line + j];
#pragma unroll
        for (int k = 0; k < 2 * REACH + 1; k++) {
            const int x = gf_border_index(pixel + k - REACH, p.width, p.border);
            const unsigned v =
                x < 0 || row < 0 ? 0u : __ldg(p.in + row + (long long)x * CHANNELS + channel);
            sum =
                sum + args.weight[j * (2 * REACH + 1) + k] *
                          (float_of(look_up_sample(walk.samples.before, v)) * (1.0f / 16777216.0f));
        }
    }
    return round_bits(finish_sum(args, sum), 255.0f) & 255;
}

/* Lists the doubtful samples of a line. It computes listed samples again as soon as every lane has
 * one, and all of them after the last line. strip.out points after the line. */
template <int REACH, int CHANNELS, class Walk>
static __device__ __forceinline__ void
settle_doubts(const struct small_args &args, const Walk &walk, int line, const unsigned doubt[4],
              struct small_doubts &doubts, int *count)
{
    const struct strip &strip = walk.strip;
    const int left = walk.p.width * CHANNELS - strip.rest - strip.lane * STRIP_CHUNK;
    const bool last = line == strip.lines - 1;
    unsigned mine = 0;
#pragma unroll
    for (int i = 0; i < STRIP_CHUNK; i++)
        mine |= (doubt[i / 4] >> 8 * (i % 4) & 255) && i < strip.rest ? 1u << i : 0;
    do {
        const unsigned lanes = __ballot_sync(0xFFFFFFFFu, mine != 0);
        if (mine)
            doubts.at[*count + __popc(lanes & ((1u << strip.lane) - 1))] =
                (unsigned short)(line * STRIP_BYTES + strip.lane * STRIP_CHUNK + __ffs((int)mine) -
                                 1);
        mine &= mine - 1;
        *count += __popc(lanes);
        __syncwarp();
        if (*count >= STRIP_LANES || (last && !__any_sync(0xFFFFFFFFu, mine != 0))) {
            const int taken = min(*count, (int)STRIP_LANES), from = *count - taken;
            if (strip.lane < taken) {
                const int at = doubts.at[from + strip.lane], own = at / STRIP_BYTES;
                const int byte = at % STRIP_BYTES;
                unsigned char *const to =
                    strip.out + (long long)(own - line - 1) * (long long)walk.p.out_pitch;
                to[byte - strip.lane * STRIP_CHUNK] = (unsigned char)look_up_sample(
                    walk.samples.after,
                    sample_again<REACH, CHANNELS>(args, walk, own, left + byte));
            }
            *count = from;
            __syncwarp();
        }
    } while (__any_sync(0xFFFFFFFFu, mine != 0) || (last && *count));
}

/* The stencil has a loop of its own, so that the first rows, which few rows of the matrix multiply,
 * use the same code as the others. */
template <class Sample, int REACH_, int CHANNELS, convolve_way WAY>
struct convolve_small : walk_stencil<typename bits_of<Sample>::type, CHANNELS> {
    static constexpr int REACH = REACH_, SIDE = 2 * REACH + 1, HALO = REACH * CHANNELS;
    static constexpr int COUNT = STRIP_CHUNK / (int)sizeof(Sample);
    static constexpr int BESIDE = (HALO * (int)sizeof(Sample) + 3) / 4, BLOCKS = 4;
    static constexpr bool EARLY = false, PADDED = true, OWN_LOOP = true;
    typedef struct small_args constants;

    const struct small_args &args;

    __device__ __forceinline__ explicit convolve_small(const struct small_args &args) : args(args)
    {
    }
    /* Drops the uppermost row and appends another one. */
    static __device__ __forceinline__ void keep_words(const unsigned *own,
                                                      unsigned (&middle)[REACH + 1][4])
    {
#pragma unroll
        for (int w = 0; w < 4; w++) {
#pragma unroll
            for (int k = 0; k < REACH; k++)
                middle[k][w] = middle[k + 1][w];
            middle[REACH][w] = own[w];
        }
    }
    template <class Walk> __device__ __forceinline__ void go_down(Walk &walk) const
    {
        __shared__ struct small_doubts doubts[STRIP_WARPS];
        const int lines = walk.lines();
        int doubtful = 0;
        /* sum[j] belongs to the output row whose next row of weights is j + 1. */
        float sum[SIDE][COUNT];
        /* The lane's own words of the rows from the middle of the window on, for alpha. */
        unsigned middle[REACH + 1][4];
        walk.load(0, 0);
#pragma unroll 1
        for (int i = 0; i < lines + 2 * REACH; i++) {
            unsigned word[4 + 2 * BESIDE], out[4], doubt[4] = {};
            float v[COUNT + 2 * HALO];
            walk.take(0, i + 1 < lines + 2 * REACH, i + 1, word);
            widen<Sample, BESIDE, HALO>(word, v);
            if (CHANNELS % 2 == 0)
                keep_words(word + BESIDE, middle);
#pragma unroll
            for (int j = SIDE - 1; j >= 0; j--) {
                if (i - j >= 0 && i - j < lines)
                    add_products<SIDE, CHANNELS, WAY>(args.weight + j * SIDE, v,
                                                      j ? sum[j - 1] : nullptr, sum[j]);
            }
            if (i < 2 * REACH)
                continue;
            if constexpr (WAY == CONVOLVE_NEAR)
                finish_near(args.near, sum[SIDE - 1], out, doubt);
            else if constexpr (WAY == CONVOLVE_FLOATS)
                finish_floats<Sample>(args, sum[SIDE - 1], out);
            else
                finish_row(args, sum[SIDE - 1], out);
            if (CHANNELS % 2 == 0 && args.keep_alpha) {
                constexpr int PIXEL = CHANNELS % 2 ? 4 : CHANNELS * (int)sizeof(Sample) / 4;
#pragma unroll
                for (int w = PIXEL - 1; w < 4; w += PIXEL)
                    out[w] =
                        __byte_perm(out[w], middle[0][w], sizeof(Sample) == 4 ? 0x7654 : 0x7610);
            }
            walk.store(out);
            const bool any = (doubt[0] | doubt[1] | doubt[2] | doubt[3]) != 0;
            const int line = i - 2 * REACH;
            if (WAY == CONVOLVE_NEAR && sizeof(Sample) == 1 &&
                (__any_sync(0xFFFFFFFFu, any) || (doubtful && line == lines - 1)))
                settle_doubts<REACH, CHANNELS>(args, walk, line, doubt,
                                               doubts[threadIdx.x / STRIP_LANES], &doubtful);
        }
    }
};

/* Whether these kernels accept the picture and the matrix: a small matrix, alpha only beside 16-bit
 * colour and without a bias, and no number so large or so small that scaling by 2^24 or a step
 * of quotient() would leave the range of float. */
static inline bool small_fits(const struct gf_convolve *convolve, struct gf_format format)
{
    int exponent;
    return convolve->width <= SMALL_SIDE_MAX && convolve->height <= SMALL_SIDE_MAX &&
           (format.channels % 2 == 1 || ((format.channels == 4 || gf_is_float(format)) &&
                                         format.bits >= 16 && convolve->bias == 0.0f)) &&
           frexpf(fabsf(convolve->divisor), &exponent) != 1.0f - 1.0f / 16777216.0f &&
           gf_convolve_is_normal(convolve);
}

/* Whether all sums are integers below 2^24 for every picture with samples up to `max`. */
static inline bool small_is_exact(const struct gf_convolve *convolve, double max)
{
    double sum = 0;
    for (int i = 0; i < convolve->width * convolve->height; i++) {
        if (convolve->weight[i] != rintf(convolve->weight[i]))
            return false;
        sum += fabs((double)convolve->weight[i]);
    }
    return sum * max < 16777216;
}

static inline struct small_args small_args_of(const struct gf_convolve *convolve, int reach,
                                              float scale)
{
    const int left = reach - convolve->width / 2, top = reach - convolve->height / 2;
    int exponent;
    struct small_args args = {};
    args.reach = convolve->height / 2;
    args.divisor = convolve->divisor;
    args.inverse = 1.0f / convolve->divisor;
    args.bias = convolve->bias;
    args.keep_alpha = convolve->keep_alpha;
    args.divide = fabsf(frexpf(convolve->divisor, &exponent)) != 0.5f;
    args.near = gf_convolve_near_of(convolve);
    for (int j = 0; j < convolve->height; j++) {
        for (int i = 0; i < convolve->width; i++)
            args.weight[(top + j) * (2 * reach + 1) + left + i] =
                convolve->weight[j * convolve->width + i] * scale;
    }
    return args;
}

template <int REACH, convolve_way WAY, class Fuse>
static int launch_small_as(const struct gf_launch *launch, const struct gf_convolve *convolve)
{
    const struct view_pair p = view_pair_of(launch, convolve->border);
    const struct small_args args = small_args_of(convolve, REACH, 16777216.0f);
    typedef unsigned char byte;
    return p.channels == 1
               ? walk_strips<convolve_small<byte, REACH, 1, WAY>, Fuse>(p, args, launch->stream)
               : walk_strips<convolve_small<byte, REACH, 3, WAY>, Fuse>(p, args, launch->stream);
}

template <int REACH, convolve_way WAY>
static int launch_small_16(const struct gf_launch *launch, const struct gf_convolve *convolve)
{
    const struct view_pair p = view_pair_of(launch, convolve->border);
    const struct small_args args = small_args_of(convolve, REACH, 1.0f);
    const cudaStream_t stream = launch->stream;
    typedef unsigned short wide;
    return p.channels == 1   ? walk_strips<convolve_small<wide, REACH, 1, WAY>>(p, args, stream)
           : p.channels == 3 ? walk_strips<convolve_small<wide, REACH, 3, WAY>>(p, args, stream)
                             : walk_strips<convolve_small<wide, REACH, 4, WAY>>(p, args, stream);
}

static int launch_small_floats(const struct gf_launch *launch, const struct gf_convolve *convolve)
{
    const struct view_pair p = view_pair_of(launch, convolve->border);
    const cudaStream_t stream = launch->stream;
    const int reach = convolve->width <= 3 && convolve->height <= 3 ? 1 : 2;
    const struct small_args args = small_args_of(convolve, reach, 1.0f);
    return for_float_stencil<false>(p, [&](auto sample, auto channels, auto fuse) -> int {
        typedef decltype(sample) Float;
        typedef decltype(fuse) Fuse;
        constexpr int CHANNELS = decltype(channels)::value;
        constexpr convolve_way WAY = CONVOLVE_FLOATS;
        return reach == 1
                   ? walk_strips<convolve_small<Float, 1, CHANNELS, WAY>, Fuse>(p, args, stream)
                   : walk_strips<convolve_small<Float, 2, CHANNELS, WAY>, Fuse>(p, args, stream);
    });
}

template <convolve_way WAY, class Fuse>
static int launch_small_way(const struct gf_launch *launch, const struct gf_convolve *convolve)
{
    return convolve->width <= 3 && convolve->height <= 3
               ? launch_small_as<1, WAY, Fuse>(launch, convolve)
               : launch_small_as<2, WAY, Fuse>(launch, convolve);
}

static int launch_small(const struct gf_launch *launch, const struct gf_convolve *convolve)
{
    const bool is_narrow = convolve->width <= 3 && convolve->height <= 3;
    if (launch->stage->in.bits == 16 && small_is_exact(convolve, 65535))
        return is_narrow ? launch_small_16<1, CONVOLVE_WHOLE>(launch, convolve)
                         : launch_small_16<2, CONVOLVE_WHOLE>(launch, convolve);
    if (launch->stage->in.bits == 16)
        return is_narrow ? launch_small_16<1, CONVOLVE_APART>(launch, convolve)
                         : launch_small_16<2, CONVOLVE_APART>(launch, convolve);
    return small_is_exact(convolve, 255)
               ? launch_small_way<CONVOLVE_WHOLE, fuse_none>(launch, convolve)
           : gf_convolve_doubt(convolve) <= NEAR_DOUBT_MAX
               ? launch_small_way<CONVOLVE_NEAR, fuse_none>(launch, convolve)
               : launch_small_way<CONVOLVE_APART, fuse_none>(launch, convolve);
}
