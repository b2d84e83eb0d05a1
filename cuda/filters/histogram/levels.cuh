/* Computes the levels of every pixel of a band, for kernels that count histograms or find the
 * lowest and the highest level. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "pixel/colour.h"
#include "pixel/histogram/histogram.h"
#include "pixel/sample.h"

/* The levels of a pixel that are counted: each of its colour samples, or one level that is computed
 * from three of them. */
enum mixture { EACH, LUMA_OF_3, LIGHTNESS_OF_3 };

struct level_task {
    struct view_pair p;
    unsigned full, tail; /* the number of items in a row; the number of pixels after the items */
    /* the number of counters between two colour channels; 0: the channels share their counters */
    unsigned stride;
    const struct gf_lightness *lightness;
    cudaStream_t stream;
};

/* An item is the pixels that a thread loads together: whole pixels in whole vectors, three vectors
 * for RGB and one for other formats. Except for RGB, a thread processes two items at a time. */
template <int BITS, int COUNT> struct item {
    static constexpr int vectors = COUNT == 3 ? 3 : 1, groups = COUNT == 3 ? 1 : 2;
    static constexpr int bytes = vectors * VECTOR, words = bytes / 4;
    static constexpr int pixels = bytes * 8 / (BITS * COUNT);
};

/* The number of levels of one pixel. */
template <int COUNT, int MIXTURE> constexpr int levels_of = MIXTURE == EACH &&COUNT >= 3 ? 3 : 1;

template <int BITS, int COUNT>
static __device__ __forceinline__ void load_item(const unsigned char *in, unsigned *w)
{
#pragma unroll
    for (int i = 0; i < item<BITS, COUNT>::vectors; i++) {
        unpack(((const uint4 *)in)[i], w + 4 * i);
    }
}

template <int BITS, int COUNT>
static __device__ __forceinline__ void load_pixel(const unsigned char *in, unsigned w[2])
{
    w[0] = w[1] = 0;
#pragma unroll
    for (int c = 0; c < COUNT; c++) {
        const unsigned v = BITS == 8 ? in[c] : ((const unsigned short *)in)[c];
        w[c * BITS / 32] |= v << c * BITS % 32;
    }
}

/* Returns sample i of the words; i is a constant. */
template <int BITS> static __device__ __forceinline__ unsigned sample_at(const unsigned *w, int i)
{
    return w[i * BITS / 32] >> i * BITS % 32 & (BITS == 8 ? 255u : 65535u);
}

/* Returns gf_luma601() of the three samples from i on. For bytes it is one instruction, after the
 * bytes are moved into one word. */
template <int BITS> static __device__ __forceinline__ unsigned luma_at(const unsigned *w, int i)
{
    if (BITS == 8) {
        const int word = i / 4, shift = i % 4 * 8;
        const unsigned rgb =
            shift > 8 ? __funnelshift_r(w[word], w[word + 1], shift) : w[word] >> shift;
        return __dp4a(rgb, 0x001d964du, 128u) >> 8;
    }
    return (unsigned)gf_luma601_16((int)sample_at<BITS>(w, i), (int)sample_at<BITS>(w, i + 1),
                                   (int)sample_at<BITS>(w, i + 2));
}

/* Returns level c of the pixel whose samples begin at sample i. */
template <int BITS, int COUNT, int MIXTURE>
static __device__ __forceinline__ unsigned level_at(const unsigned *w, int i, int c,
                                                    const struct gf_lightness *lightness)
{
    const int green = COUNT >= 3 ? 1 : 0;
    if (MIXTURE == EACH)
        return sample_at<BITS>(w, i + c);
    if (MIXTURE == LUMA_OF_3)
        return luma_at<BITS>(w, i);
    const struct gf_rgb linear = {lightness->linear[sample_at<BITS>(w, i)],
                                  lightness->linear[sample_at<BITS>(w, i + green)],
                                  lightness->linear[sample_at<BITS>(w, i + 2 * green)]};
    return (unsigned)gf_lightness_bin(linear, lightness->curve);
}

template <int BITS, int COUNT, int MIXTURE, class ACCUMULATOR>
static __device__ __forceinline__ void add_pixel(const unsigned *w, int i, bool there,
                                                 const struct gf_lightness *lightness,
                                                 ACCUMULATOR &accumulator)
{
    const bool counted = there && (COUNT % 2 == 1 || sample_at<BITS>(w, i + COUNT - 1));
#pragma unroll
    for (int c = 0; c < levels_of<COUNT, MIXTURE>; c++) {
        /* Lightness is looked up in tables only if the pixel exists, because its samples must be
         * valid indices. */
        unsigned level = 0;
        if (MIXTURE != LIGHTNESS_OF_3 || there)
            level = level_at<BITS, COUNT, MIXTURE>(w, i, c, lightness);
        accumulator.add(c, level, counted);
    }
}

/* Processes the pixels after the last item of each row one by one. */
template <int BITS, int COUNT, int MIXTURE, class ACCUMULATOR>
static __device__ __forceinline__ void add_tails(const struct level_task &task,
                                                 ACCUMULATOR &accumulator)
{
    const struct view_pair &p = task.p;
    const unsigned pixels = p.rows * task.tail;
    for (unsigned first = blockIdx.x * blockDim.x; first < pixels;
         first += gridDim.x * blockDim.x) {
        const unsigned index = first + threadIdx.x;
        const struct position at = position_of(index, p.rows, task.tail);
        unsigned w[2] = {0, 0};
        if (index < pixels)
            load_pixel<BITS, COUNT>(p.in + at.row * p.in_pitch +
                                        (size_t)task.full * item<BITS, COUNT>::bytes +
                                        at.column * (COUNT * BITS / 8),
                                    w);
        add_pixel<BITS, COUNT, MIXTURE>(w, 0, index < pixels, task.lightness, accumulator);
    }
}

/* Adds the pixels of an item; `there` tells whether the item exists. */
template <int BITS, int COUNT, int MIXTURE, class ACCUMULATOR>
static __device__ __forceinline__ void add_item(const unsigned *w, bool there,
                                                const struct gf_lightness *lightness,
                                                ACCUMULATOR &accumulator)
{
    if constexpr (ACCUMULATOR::takes_words) {
        accumulator.add_words(w);
    } else {
#pragma unroll
        for (int i = 0; i < item<BITS, COUNT>::pixels; i++)
            add_pixel<BITS, COUNT, MIXTURE>(w, i * COUNT, there, lightness, accumulator);
    }
}

/* Calls accumulator.add(channel, level, counted) for every level of the pixels. The blocks along x
 * share the work. `counted` tells whether the pixel's alpha is not zero; the level is always in
 * range. With ACCUMULATOR::together all threads of a block make the same number of calls together,
 * so that add() may exchange values within a warp; threads without a pixel pass counted == false.
 * With ACCUMULATOR::takes_words whole items are passed to accumulator.add_words(words) instead. */
template <int BITS, int COUNT, int MIXTURE, class ACCUMULATOR>
static __device__ __forceinline__ void for_each_level(const struct level_task &task,
                                                      ACCUMULATOR &accumulator)
{
    typedef item<BITS, COUNT> item;
    const struct view_pair &p = task.p;
    const unsigned items = p.rows * task.full, step = blockDim.x * item::groups;
    for (unsigned first = blockIdx.x * step; first < items; first += gridDim.x * step) {
        unsigned w[item::groups][item::words];
        bool there[item::groups];
#pragma unroll
        for (int k = 0; k < item::groups; k++) {
            const unsigned index = first + (unsigned)k * blockDim.x + threadIdx.x;
            const struct position at = position_of(index, p.rows, task.full);
            there[k] = index < items;
            if (there[k])
                load_item<BITS, COUNT>(p.in + at.row * p.in_pitch + (size_t)at.column * item::bytes,
                                       w[k]);
        }
#pragma unroll
        for (int k = 0; k < item::groups; k++) {
            if (ACCUMULATOR::together)
                add_item<BITS, COUNT, MIXTURE>(w[k], there[k], task.lightness, accumulator);
            else if (there[k])
                add_item<BITS, COUNT, MIXTURE>(w[k], true, task.lightness, accumulator);
        }
    }
    add_tails<BITS, COUNT, MIXTURE>(task, accumulator);
}

static inline struct level_task task_of(const struct gf_view *view, enum gf_statistic statistic,
                                        const void *tables, cudaStream_t stream)
{
    const unsigned channels = (unsigned)view->format.channels;
    const unsigned pixels =
        (channels == 3 ? 3 : 1) * VECTOR * 8 / ((unsigned)view->format.bits * channels);
    struct level_task task;
    task.p = join_rows(input_view(view), gf_row_bytes(view->format), 0);
    task.full = task.p.width / pixels;
    task.tail = task.p.width % pixels;
    task.stride = statistic == GF_STATISTIC_CHANNELS ? 1u << view->format.bits : 0;
    task.lightness = (const struct gf_lightness *)tables;
    task.stream = stream;
    return task;
}

static inline enum mixture mixture_of(enum gf_statistic statistic, struct gf_format format)
{
    if (statistic == GF_STATISTIC_LIGHTNESS)
        return LIGHTNESS_OF_3;
    return statistic == GF_STATISTIC_LUMA && gf_colour_channels(format) == 3 ? LUMA_OF_3 : EACH;
}

/* Returns the number of blocks with which each thread processes one item, or one of the pixels
 * after the items. */
static inline unsigned blocks_of(const struct level_task &task, int threads)
{
    const unsigned most = task.full > task.tail ? task.full : task.tail;
    return blocks_for(task.p.rows * most, (unsigned)threads);
}

/* Chooses the kernel that counts a histogram for the format of the picture. */

/* A task and its counters in device memory. */
struct counting {
    struct level_task task;
    unsigned counters;
    unsigned long long *count;
};

/* The threads of a block. Tables for 16 bits are large, so that a multiprocessor holds only one or
 * two blocks. */
template <int BITS> constexpr int count_threads = BITS == 8 ? 512 : 1024;

template <class METHOD, int BITS, int COUNT>
static cudaError_t launch_mixture(const struct counting &counting, enum mixture mixture)
{
    constexpr int luma = COUNT >= 3 ? LUMA_OF_3 : EACH;
    if (mixture == LIGHTNESS_OF_3)
        return METHOD::template launch<BITS, COUNT, LIGHTNESS_OF_3>(counting);
    return mixture == EACH ? METHOD::template launch<BITS, COUNT, EACH>(counting)
                           : METHOD::template launch<BITS, COUNT, luma>(counting);
}

static inline struct counting counting_of(const struct gf_view *view, enum gf_statistic statistic,
                                          unsigned long long *count, const void *tables,
                                          cudaStream_t stream)
{
    const unsigned histograms = (unsigned)gf_statistic_channels(statistic, view->format);
    return {task_of(view, statistic, tables, stream), histograms << view->format.bits, count};
}

/* A gf_counter (stage/variant.h), which calls METHOD::launch<BITS, COUNT, MIXTURE>. */
template <class METHOD>
static int count_by(const struct gf_view *view, enum gf_statistic statistic,
                    unsigned long long *count, const void *tables, cudaStream_t stream)
{
    const struct counting counting = counting_of(view, statistic, count, tables, stream);
    const enum mixture mixture = mixture_of(statistic, view->format);
    if (!view->rows)
        return cudaSuccess;
    return for_samples(view->format, [&](auto sample, auto channels) -> int {
        return launch_mixture<METHOD, 8 * sizeof sample, decltype(channels)::value>(counting,
                                                                                    mixture);
    });
}
