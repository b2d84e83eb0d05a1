/* The Gaussian of 16-bit pictures, of floats and of RGBA with a small radius. */
#pragma once

#include "cuda/common/floats.cuh"
#include "cuda/common/fusing.cuh"
#include "cuda/common/straight_floats.cuh"
#include "cuda/filters/gauss/gauss_tile.cuh"
#include "stage/border.h"

/* Converts a pixel of RGBA8 to premultiplied colour and back. The results equal the results of the
 * stages that the planner puts around a stencil (pixel/point/premultiply.h), bit for bit, in fewer
 * steps. Only the steps that round are inexact. */

/* Computes premultiplied colour and alpha of 16 bits. */
static __device__ __forceinline__ void premultiply_pixel(unsigned pixel, float v[4])
{
    const float alpha = alpha_of(pixel);
    premultiply_raised(pixel, alpha, v);
    v[3] = 257.0f * alpha;
#pragma unroll
    for (int c = 0; c < 3; c++)
        v[c] -= TWO_23;
}

/* 1 / alpha as the sum of two floats; alpha is rounded and at least 1. */
struct straight_alpha {
    float high, low;
};

/* Returns 2^23 + v rounded to an integer, halves up, for 0 <= v < 65535.5. */
static __device__ __forceinline__ float raised_level(float v)
{
    return __fadd_rz(v + 0.5f, TWO_23);
}

/* Returns 8-bit alpha in the lowest byte, from the blurred alpha. */
static __device__ __forceinline__ unsigned straighten_alpha(float blurred,
                                                            struct straight_alpha *alpha)
{
    const float level = raised_level(blurred) - TWO_23, divisor = fmaxf(level, 1.0f);
    alpha->high = reciprocal_near(divisor);
    alpha->low = fmaf(-divisor, alpha->high, 1.0f) * alpha->high;
    return __float_as_uint(fmaf(level, 1.0f / 257.0f, TWO_23));
}

/* Returns 8-bit colour in the lowest byte: 255 v / alpha, rounded half up. The sums of a colour
 * never exceed the sums of alpha, because each step is monotonic, so that nothing has to be
 * clamped. The quotient plus 1/2 is an integer or at least 1/131070 below the next one. START adds
 * less than that to the half, and more than the error of the two floats of 1 / alpha. */
static __device__ __forceinline__ unsigned straighten_colour(float blurred,
                                                             const struct straight_alpha &alpha)
{
    constexpr float START = 0.5f + 1.0f / (1 << 20);
    const float scaled = fmaf(raised_level(blurred), 255.0f, -255.0f * TWO_23);
    const float quotient = __fmaf_rz(scaled, alpha.high, fmaf(scaled, alpha.low, START));
    return __float_as_uint(__fadd_rz(quotient, TWO_23));
}

/* The strips of 16-bit pictures that a block blurs: their shape, and how a thread loads its samples
 * of them. */

enum {
    STRIP16_THREADS = 128,
    STRIP16_STEPS = 6,       /* the most steps of a block; a step computes a row for each tap */
    STRIP16_STEPS_LEAST = 2, /* the least number of steps; with fewer the rows above the first step
                              * would cost too much */
    /* The intended number of blocks: four times as many as 132 multiprocessors hold at once. Larger
     * blocks that filled the GPU a whole number of times were slower. */
    STRIP16_BLOCKS = 2112,
};

/* Four samples of a row, in the format of the picture. */
template <int WORDS> struct __align__(4 * WORDS) four_samples
{
    unsigned word[WORDS];
};

/* Pixels are loaded from a multiple of ALIGNED on, so that four samples are one access. A strip has
 * COLUMNS pixels, of which OUT pixels, from LEFT on, are results. Each channel of a row has a PLANE
 * of floats, with its first pixel at SHIFT. A thread reads SPAN floats; the first LEAD floats are
 * beyond its taps. If STRAIGHT is not 0, the pixels are straight RGBA of so many bits. A Sample of
 * 16 bits is an integer, or a float as one of 32 bits is. MEAN: all taps are 1. */
template <int CHANNELS_, int RADIUS_, int STRAIGHT_, class Sample_ = unsigned short,
          bool MEAN_ = false>
struct strip16 {
    static constexpr bool MEAN = MEAN_;
    typedef Sample_ Sample;
    static constexpr int CHANNELS = CHANNELS_, RADIUS = RADIUS_, TAPS = 2 * RADIUS + 1;
    static constexpr int STRAIGHT = STRAIGHT_;
    static constexpr int SAMPLE_BYTES = STRAIGHT == 8 ? 1 : (int)sizeof(Sample);
    typedef four_samples<SAMPLE_BYTES == 4 ? 4 : 2> Four;
    static constexpr bool FLOATS = is_float_type<Sample>::value;
    /* A thread loads so many of its rows at once: all, or half of them if registers would not do.
     */
    static constexpr int PART = FLOATS ? RADIUS + 1 : TAPS;
    /* No radius of the shape is smaller. */
    static constexpr int SURE = RADIUS <= 3 ? 0 : FLOATS && STRAIGHT ? RADIUS : 4;
    /* Samples of floats that a thread writes at once. */
    static constexpr int VECTOR = SAMPLE_BYTES == 2 && CHANNELS_ % 2 == 0 ? 8 : 4;
    static constexpr int ALIGNED = CHANNELS == 4 ? 1 : CHANNELS == 2 ? 2 : 4;
    static constexpr int LEFT = (RADIUS + ALIGNED - 1) / ALIGNED * ALIGNED;
    static constexpr int COLUMNS = 4 * STRIP16_THREADS / CHANNELS;
    static constexpr int OUT = (COLUMNS - LEFT - RADIUS) / 4 * 4, STRETCHES = OUT / 4;
    static constexpr int SHIFT = CHANNELS == 3 ? (4 - (LEFT - RADIUS) % 4) % 4 : 0;
    static constexpr int LEAD = (LEFT - RADIUS + SHIFT) % 4;
    static constexpr int FIRST = LEFT - RADIUS + SHIFT - LEAD;
    static constexpr int SPAN = (LEAD + 4 + 2 * RADIUS + 3) / 4 * 4;
    static constexpr int PLANE = (COLUMNS + 1 + SHIFT + 3) / 4 * 4, ROW = CHANNELS * PLANE;
    static constexpr int LIST = STRIP16_STEPS * TAPS + 2 * RADIUS;
};

template <class Shape, class Finish_> struct strip16_args {
    typedef Finish_ Finish;
    struct view_pair p;
    int radius; /* the radius of the taps, at most RADIUS */
    int steps;
    Finish finish;
    /* From the middle tap on; zeros follow the last tap. Adding 0 changes no sum of integers;
     * floats have no such taps, since 0 times an infinity is a NaN. */
    float tap[Shape::RADIUS + 1];
};

/* The offsets of a block's rows and columns in the input. */
template <class Shape> struct strip16_source {
    long long row[Shape::LIST]; /* the offsets of rows, from list_rows() */
    /* The offset of each sample that is loaded; -1: the border's constant. */
    int sample[4 * STRIP16_THREADS];
};

template <class Shape>
static __device__ __forceinline__ void list_samples(const struct view_pair &p, int left,
                                                    int *sample)
{
    for (int i = threadIdx.x; i < 4 * STRIP16_THREADS; i += STRIP16_THREADS) {
        const int pixel = i / Shape::CHANNELS, channel = i % Shape::CHANNELS;
        const int index = gf_border_index(left + pixel, p.width, p.border);
        sample[i] = index < 0 ? -1 : index * Shape::CHANNELS + channel;
    }
}

/* Loads the thread's samples of a row one by one, by the offsets in the list. */
template <class Shape>
static __device__ __forceinline__ typename Shape::Four load_by_list(const unsigned char *row,
                                                                    const int sample[4])
{
    typename Shape::Four four = {};
#pragma unroll
    for (int j = 0; j < 4; j++) {
        if (sample[j] < 0)
            continue;
        if constexpr (Shape::SAMPLE_BYTES == 4)
            four.word[j] = __ldg((const unsigned *)row + sample[j]);
        else if (Shape::STRAIGHT == 8)
            four.word[0] |= (unsigned)__ldg(row + sample[j]) << 8 * j;
        else
            four.word[j / 2] |= (unsigned)__ldg((const unsigned short *)row + sample[j])
                                << 16 * (j % 2);
    }
    return four;
}

/* Loads the thread's samples of COUNT rows, from row y of the picture on, whose index in the list
 * is `first`. `inside` is the same for all threads: none of the block's samples is beyond the
 * picture's columns or in a row of zeros of the border. Otherwise a separate loop collects the
 * samples in `spare`, because an unrolled loop with these loads took more registers than there are.
 * No thread may use `spare` when the block's threads come here, nor before the next barrier. */
template <class Shape, int COUNT>
static __device__ __forceinline__ void
load_fours(const struct view_pair &p, const struct strip16_source<Shape> &source, int left,
           bool inside, int first, int y, typename Shape::Four *spare,
           typename Shape::Four to[COUNT])
{
    const int at = 4 * threadIdx.x;
    if (inside) {
        const unsigned char *const from =
            p.in + ((long long)left * Shape::CHANNELS + at) * Shape::SAMPLE_BYTES;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            if constexpr (Shape::SAMPLE_BYTES == 4) {
                unpack(__ldg((const uint4 *)(from + source.row[first + i])), to[i].word);
            } else if (Shape::STRAIGHT == 8) {
                to[i].word[0] = __ldg((const unsigned *)(from + source.row[first + i]));
            } else {
                const uint2 four = __ldg((const uint2 *)(from + source.row[first + i]));
                to[i].word[0] = four.x;
                to[i].word[1] = four.y;
            }
        }
        return;
    }
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < COUNT; i++) {
        const typename Shape::Four none = {};
        spare[i * STRIP16_THREADS + threadIdx.x] =
            row_is_zero(p, y + i)
                ? none
                : load_by_list<Shape>(p.in + source.row[first + i], source.sample + at);
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        to[i] = spare[i * STRIP16_THREADS + threadIdx.x];
}

template <class Shape>
static __device__ __forceinline__ void convert_four(const typename Shape::Four &four, float v[4])
{
    if constexpr (Shape::FLOATS) {
        floats_of_four((const typename Shape::Sample *)four.word, Shape::STRAIGHT != 0, v);
        return;
    }
    uint2 two = make_uint2(four.word[0], four.word[1]);
    if (Shape::STRAIGHT == 8) {
        premultiply_pixel(four.word[0], v);
        return;
    }
    if (Shape::STRAIGHT)
        two = premultiplied(two);
    v[0] = float_of_low(two.x);
    v[1] = float_of_high(two.x);
    v[2] = float_of_low(two.y);
    v[3] = float_of_high(two.y);
}

/* The Gaussian of 16-bit pictures with a small radius: both passes in one kernel, in float and in
 * the order of gauss.h. A block moves down a strip of the picture. In the vertical pass a thread
 * keeps the rows that its four neighbouring samples need in registers, as floats, so that every
 * sample is read and converted once. It computes as many rows as there are taps, after which each
 * row of the window is in the same register again. In the horizontal pass a thread computes and
 * writes all channels of four pixels. */

/* Stores a row's sums of the thread's four samples in the planes. */
template <class Shape>
static __device__ __forceinline__ void store_four(float *row, const float sum[4])
{
    const int at = 4 * threadIdx.x;
    if (Shape::CHANNELS == 1) {
        *(float4 *)(row + at) = make_float4(sum[0], sum[1], sum[2], sum[3]);
    } else if (Shape::CHANNELS == 2) {
        *(float2 *)(row + at / 2) = make_float2(sum[0], sum[2]);
        *(float2 *)(row + Shape::PLANE + at / 2) = make_float2(sum[1], sum[3]);
    } else {
#pragma unroll
        for (int j = 0; j < 4; j++)
            row[(at + j) % Shape::CHANNELS * Shape::PLANE + Shape::SHIFT +
                (at + j) / Shape::CHANNELS] = sum[j];
    }
}

/* Returns the sum of taps times the samples window(-k) and window(k). */
template <class Shape, class Args, class Window>
static __device__ __forceinline__ float sum_taps(const Args &args, const Window &window)
{
    float sum = Shape::MEAN ? window(0) : args.tap[0] * window(0);
#pragma unroll
    for (int k = 1; k <= Shape::RADIUS; k++) {
        const float both = window(-k) + window(k);
        if (!Shape::FLOATS || k <= Shape::SURE || k <= args.radius)
            sum = sum + (Shape::MEAN ? both : args.tap[k] * both);
    }
    return sum;
}

/* Does the vertical pass for rows FROM .. FROM + COUNT - 1 of a step's TAPS rows, the first of
 * which is row y of the picture, and stores them in the planes. With FROM = 0, elements 0 .. 2
 * RADIUS - 1 of `ring` have the rows above those that are loaded. */
template <class Shape, int FROM, int COUNT, class Args>
static __device__ __forceinline__ void
blur_strip_columns(const Args &args, const struct strip16_source<Shape> &source, int left,
                   bool inside, int first, int y, float ring[Shape::TAPS][4], float *planes)
{
    constexpr int TAPS = Shape::TAPS, RADIUS = Shape::RADIUS;
    typename Shape::Four next[COUNT];
    static_assert(COUNT * STRIP16_THREADS * sizeof *next <= COUNT * Shape::ROW * sizeof *planes,
                  "the planes are too small to be the spare");
    load_fours<Shape, COUNT>(args.p, source, left, inside, first + FROM + 2 * RADIUS,
                             y + FROM + RADIUS,
                             (typename Shape::Four *)(planes + FROM * Shape::ROW), next);
    if (FROM == 0 || !inside)
        __syncthreads(); /* wait before the planes are overwritten; the loads are in flight */
#pragma unroll
    for (int i = FROM; i < FROM + COUNT; i++) {
        convert_four<Shape>(next[i - FROM], ring[(i + 2 * RADIUS) % TAPS]);
        float sum[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            sum[j] = sum_taps<Shape>(
                args, [&](int k) { return ring[(i + RADIUS + k + TAPS) % TAPS][j]; });
        store_four<Shape>(planes + i * Shape::ROW, sum);
    }
}

/* Computes the blurred samples of four pixels of a channel. */
template <class Shape, class Args>
static __device__ __forceinline__ void blur_strip_stretch(const Args &args, const float *plane,
                                                          float sum[4])
{
    float v[Shape::SPAN];
#pragma unroll
    for (int i = 0; i < Shape::SPAN; i += 4) {
        unpack(*(const float4 *)(plane + i), v + i);
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        sum[i] =
            sum_taps<Shape>(args, [&](int k) { return v[Shape::LEAD + Shape::RADIUS + i + k]; });
}

/* Writes `count` samples, at most 4 CHANNELS. A word has two samples. */
template <class Shape>
static __device__ __forceinline__ void write_samples(const unsigned word[2 * Shape::CHANNELS],
                                                     int count, unsigned char *to)
{
    constexpr int CHANNELS = Shape::CHANNELS;
    if (count >= 4 * CHANNELS && CHANNELS % 2 == 0) {
#pragma unroll
        for (int i = 0; i < CHANNELS / 2; i++)
            ((uint4 *)to)[i] =
                make_uint4(word[4 * i], word[4 * i + 1], word[4 * i + 2], word[4 * i + 3]);
    } else if (count >= 4 * CHANNELS) {
#pragma unroll
        for (int i = 0; i < CHANNELS; i++)
            ((uint2 *)to)[i] = make_uint2(word[2 * i], word[2 * i + 1]);
    } else {
#pragma unroll
        for (int i = 0; i < 4 * CHANNELS; i++) {
            if (i < count)
                ((unsigned short *)to)[i] = (unsigned short)(word[i / 2] >> 16 * (i % 2));
        }
    }
}

/* Does what blur_strip_samples() does, for floats. Alpha comes first. */
template <class Shape, class Args>
static __device__ __forceinline__ void blur_strip_floats(const Args &args, const float *from, int x,
                                                         int y)
{
    constexpr int CHANNELS = Shape::CHANNELS, VECTOR = Shape::VECTOR;
    typedef typename Shape::Sample Sample;
    const struct view_pair &p = args.p;
    const int count = (p.width - x) * CHANNELS;
    const Sample *const in =
        (const Sample *)(p.in + (long long)(y - p.in_y) * (long long)p.in_pitch) +
        (long long)x * CHANNELS;
    Sample *const to = (Sample *)(p.out + (long long)(y - p.out_y) * (long long)p.out_pitch) +
                       (long long)x * CHANNELS;
    float result[4 * CHANNELS], alpha[4];
    typename Shape::Four own[4] = {}; /* pixels, whose loads overlap with the first sums */
    if (Shape::STRAIGHT && !Shape::MEAN && args.finish.compares()) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            own[i] = ((const typename Shape::Four *)in)[min(i, p.width - 1 - x)];
    }
#pragma unroll
    for (int c = CHANNELS - 1; c >= 0; c--) {
        float sum[4];
        blur_strip_stretch<Shape>(args, from + c * Shape::PLANE, sum);
        args.finish.template end<Shape::MEAN>(sum, [&](int i) {
            float pixel[4];
            convert_four<Shape>(own[i], pixel);
            return Shape::STRAIGHT ? pixel[c]
                                   : float_of(in[min(i * CHANNELS, count - CHANNELS) + c]);
        });
        if (Shape::STRAIGHT)
            round_four<Sample>(sum);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            alpha[i] = c == 3 ? sum[i] : alpha[i];
            result[i * CHANNELS + c] =
                Shape::STRAIGHT && c < 3 ? straight_sample<Sample>(sum[i], alpha[i]) : sum[i];
        }
    }
    samples_of<Sample, VECTOR> vector[4 * CHANNELS / VECTOR];
#pragma unroll
    for (int i = 0; i < 4 * CHANNELS; i += 2)
        store_pair(&vector[i / VECTOR].sample[i % VECTOR], result[i], result[i + 1]);
    if (count >= 4 * CHANNELS) {
#pragma unroll
        for (int i = 0; i < 4 * CHANNELS / VECTOR; i++)
            ((samples_of<Sample, VECTOR> *)to)[i] = vector[i];
        return;
    }
#pragma unroll
    for (int i = 0; i < 4 * CHANNELS; i++) {
        if (i < count)
            to[i] = vector[i / VECTOR].sample[i % VECTOR];
    }
}

/* Computes four pixels of a row. `from` is the row of planes, and (x, y) the first pixel. */
template <class Shape, class Args>
static __device__ __forceinline__ void blur_strip_samples(const Args &args, const float *from,
                                                          int x, int y)
{
    constexpr int CHANNELS = Shape::CHANNELS;
    const struct view_pair &p = args.p;
    const unsigned short *const in =
        (const unsigned short *)(p.in + (long long)(y - p.in_y) * (long long)p.in_pitch);
    unsigned result[4 * CHANNELS], word[2 * CHANNELS];
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        float sum[4];
        blur_strip_stretch<Shape>(args, from + c * Shape::PLANE, sum);
#pragma unroll
        for (int i = 0; i < 4; i++)
            result[i * CHANNELS + c] = args.finish.sample16_near(
                sum[i], in + (long long)min(x + i, p.width - 1) * CHANNELS + c);
    }
#pragma unroll
    for (int i = 0; i < 2 * CHANNELS; i++)
        word[i] = __byte_perm(result[2 * i], result[2 * i + 1], 0x5410);
    write_samples<Shape>(word, min(4, p.width - x) * CHANNELS,
                         p.out + (long long)(y - p.out_y) * (long long)p.out_pitch +
                             2 * (long long)x * CHANNELS);
}

/* Computes four pixels of a row of RGBA8, whose blurred colour is rounded. */
template <class Shape, class Args>
static __device__ __forceinline__ void blur_strip_rounded(const Args &args, const float *from, int,
                                                          int, unsigned pixel[4])
{
    struct straight_alpha alpha[4];
    float sum[4];
    blur_strip_stretch<Shape>(args, from + 3 * Shape::PLANE, sum);
#pragma unroll
    for (int i = 0; i < 4; i++)
        pixel[i] = straighten_alpha(sum[i], &alpha[i]);
#pragma unroll
    for (int c = 2; c >= 0; c--) {
        blur_strip_stretch<Shape>(args, from + c * Shape::PLANE, sum);
#pragma unroll
        for (int i = 0; i < 4; i++)
            pixel[i] = __byte_perm(pixel[i], straighten_colour(sum[i], alpha[i]), 0x2104);
    }
}

/* Computes four pixels of a row of RGBA, whose blurred colour is compared with their own. */
template <class Shape, class Args, class Pixel>
static __device__ __forceinline__ void blur_strip_compared(const Args &args, const float *from,
                                                           int x, int y, Pixel pixel[4])
{
    const struct view_pair &p = args.p;
    const Pixel *const in = (const Pixel *)(p.in + (long long)(y - p.in_y) * (long long)p.in_pitch);
    unsigned own[4][2], result[4][4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint2 two = premultiplied(__ldg(in + min(x + i, p.width - 1)));
        own[i][0] = two.x, own[i][1] = two.y;
    }
#pragma unroll
    for (int c = 0; c < 4; c++) {
        float sum[4];
        blur_strip_stretch<Shape>(args, from + c * Shape::PLANE, sum);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const unsigned short sample = (unsigned short)(own[i][c / 2] >> 16 * (c % 2));
            result[i][c] = args.finish.sample16_near(sum[i], &sample);
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        pixel[i] = straightened<Pixel>(make_uint2(__byte_perm(result[i][0], result[i][1], 0x5410),
                                                  __byte_perm(result[i][2], result[i][3], 0x5410)));
}

static __device__ __forceinline__ void store_pixels(unsigned *to, const unsigned (&pixel)[4])
{
    *(uint4 *)to = make_uint4(pixel[0], pixel[1], pixel[2], pixel[3]);
}

static __device__ __forceinline__ void store_pixels(uint2 *to, const uint2 (&pixel)[4])
{
    ((uint4 *)to)[0] = make_uint4(pixel[0].x, pixel[0].y, pixel[1].x, pixel[1].y);
    ((uint4 *)to)[1] = make_uint4(pixel[2].x, pixel[2].y, pixel[3].x, pixel[3].y);
}

/* Computes and stores four pixels of a row of RGBA. */
template <class Shape, class Args>
static __device__ __forceinline__ void blur_strip_straight(const Args &args, const float *from,
                                                           int x, int y)
{
    const struct view_pair &p = args.p;
    typedef typename straight_pixel<Shape::STRAIGHT>::type Pixel;
    Pixel *const to = (Pixel *)(p.out + (long long)(y - p.out_y) * (long long)p.out_pitch) + x;
    Pixel pixel[4];
    if constexpr (Args::Finish::ORIGINAL || Shape::STRAIGHT == 16)
        blur_strip_compared<Shape>(args, from, x, y, pixel);
    else
        blur_strip_rounded<Shape>(args, from, x, y, pixel);
    if (x + 4 <= p.width) {
        store_pixels(to, pixel);
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (x + i < p.width)
            to[i] = pixel[i];
    }
}

/* Whether a strip's rows and columns, including the halo, are all in the picture. Rows beyond the
 * picture are ignored unless the border makes them zeros. */
template <class Shape>
static __device__ __forceinline__ bool strip_is_inside(const struct view_pair &p, int left, int top,
                                                       int end)
{
    constexpr int READ = (4 * STRIP16_THREADS + Shape::CHANNELS - 1) / Shape::CHANNELS;
    return left >= 0 && left + READ <= p.width &&
           (p.border != GF_BORDER_CONSTANT || (top >= 0 && end <= p.height));
}

template <class Shape, class Finish>
__global__ void __launch_bounds__(STRIP16_THREADS, 4)
    blur_strip16_kernel(const strip16_args<Shape, Finish> args)
{
    constexpr int TAPS = Shape::TAPS, RADIUS = Shape::RADIUS;
    __shared__ __align__(16) float planes[TAPS * Shape::ROW];
    __shared__ struct strip16_source<Shape> source;
    const struct view_pair &p = args.p;
    const struct tile_origin origin = block_tile(p.width, Shape::OUT, args.steps * TAPS);
    const int x0 = origin.x, left = x0 - Shape::LEFT, y0 = p.out_y + origin.row;
    const int lines = min(args.steps * TAPS, p.rows - origin.row);
    const int steps = (lines + TAPS - 1) / TAPS, listed = steps * TAPS + 2 * RADIUS;
    const bool inside = strip_is_inside<Shape>(p, left, y0 - RADIUS, y0 - RADIUS + listed);
    list_rows(p, source.row, listed, y0 - RADIUS, y0 - args.radius, y0 + lines - 1 + args.radius);
    if (!inside)
        list_samples<Shape>(p, left, source.sample);
    __syncthreads();
    typedef typename Shape::Four Four;
    Four *const spare = (Four *)planes;
    float ring[TAPS][4];
    {
        Four above[2 * RADIUS];
        load_fours<Shape, 2 * RADIUS>(p, source, left, inside, 0, y0 - RADIUS, spare, above);
#pragma unroll
        for (int i = 0; i < 2 * RADIUS; i++)
            convert_four<Shape>(above[i], ring[i]);
    }
    for (int first = 0; first < lines; first += TAPS) {
        blur_strip_columns<Shape, 0, Shape::PART>(args, source, left, inside, first, y0 + first,
                                                  ring, planes);
        if constexpr (Shape::PART < TAPS)
            blur_strip_columns<Shape, Shape::PART, TAPS - Shape::PART>(
                args, source, left, inside, first, y0 + first, ring, planes);
        __syncthreads();
        for (int item = threadIdx.x; item < TAPS * Shape::STRETCHES; item += STRIP16_THREADS) {
            const int row = item / Shape::STRETCHES, stretch = item - row * Shape::STRETCHES;
            const int x = x0 + 4 * stretch, y = y0 + first + row;
            if (x >= p.width || first + row >= lines)
                continue;
            const float *const from = planes + row * Shape::ROW + Shape::FIRST + 4 * stretch;
            if constexpr (Shape::FLOATS)
                blur_strip_floats<Shape>(args, from, x, y);
            else if constexpr (Shape::STRAIGHT != 0)
                blur_strip_straight<Shape>(args, from, x, y);
            else
                blur_strip_samples<Shape>(args, from, x, y);
        }
    }
}

template <class Shape, class Finish>
static int launch_strip16_of(const struct gf_launch *launch, const struct view_pair &p,
                             const struct gf_gauss *gauss, const Finish &finish)
{
    strip16_args<Shape, Finish> args = {};
    const long long steps =
        (long long)ceil_div(p.width, Shape::OUT) * ceil_div(p.rows, Shape::TAPS) / STRIP16_BLOCKS;
    args.steps = steps < STRIP16_STEPS_LEAST ? (int)STRIP16_STEPS_LEAST
                 : steps > STRIP16_STEPS     ? (int)STRIP16_STEPS
                                             : (int)steps;
    args.p = p;
    args.radius = gauss->radius;
    args.finish = finish;
    for (int k = 0; k <= gauss->radius; k++)
        args.tap[k] = gauss->real[k];
    const int blocks = tile_blocks(p.width, p.rows, Shape::OUT, args.steps * Shape::TAPS);
    return launch_kernel(blur_strip16_kernel<Shape, Finish>, blocks, STRIP16_THREADS, 0,
                         launch->stream, args);
}

template <class Sample = unsigned short, class Finish>
static int launch_strip16(const struct gf_launch *launch, const struct view_pair &p,
                          const struct gf_gauss *gauss, const Finish &finish)
{
    return for_channels(p.channels, [&](auto channels) {
        constexpr int CHANNELS = decltype(channels)::value;
        typedef strip16<CHANNELS, 3, 0, Sample> few;
        typedef strip16<CHANNELS, GF_GAUSS_STRIP_MAX, 0, Sample> some;
        return gauss->radius <= 3 ? launch_strip16_of<few>(launch, p, gauss, finish)
                                  : launch_strip16_of<some>(launch, p, gauss, finish);
    });
}

template <int BITS, class Finish>
static int launch_straight_of(const struct gf_launch *launch, const struct view_pair &p,
                              const struct gf_gauss *gauss, const Finish &finish)
{
    return gauss->radius <= 3
               ? launch_strip16_of<strip16<4, 3, BITS>>(launch, p, gauss, finish)
               : launch_strip16_of<strip16<4, GF_GAUSS_STRIP_MAX, BITS>>(launch, p, gauss, finish);
}

/* Launches the kernel for straight RGBA. */
template <class Finish>
static int launch_straight(const struct gf_launch *launch, const struct view_pair &p,
                           const struct gf_gauss *gauss, const Finish &finish)
{
    return p.straight == 8 ? launch_straight_of<8>(launch, p, gauss, finish)
                           : launch_straight_of<16>(launch, p, gauss, finish);
}
