/* Every pixel of a band, taken apart for kernels that differ only in what they do with its levels: the
 * variants that count histograms and those that look for the lowest and the highest level. */
#ifndef GF_BINS_CUH
#define GF_BINS_CUH

#include "band.cuh"
#include "colour.h"

/* What is counted of a pixel: each of its colour samples, or one level that is made of them. */
enum mixture { EACH, LUMA_OF_3, LIGHTNESS_OF_3 };

/* A thread takes pixels by fours; what does not fill the last four of a row is taken one by one. */
enum { FOUR = 4, GROUPS = 2 };

struct bins_task {
    struct band band;
    unsigned full, tail; /* fours in a row; pixels behind them */
    unsigned stride;     /* counters from one colour channel's to the next's; 0: they share them */
    const struct gf_lightness *lightness;
    cudaStream_t stream;
};

template <int BITS, int COUNT> struct four {
    static constexpr int bytes = FOUR * COUNT * BITS / 8;
    static constexpr int access = bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : 4;
    static constexpr int words = bytes / 4;
    static constexpr unsigned max = BITS == 8 ? 255u : 65535u;
};

/* The levels that a mixture makes of one pixel: that many. */
template <int COUNT, int MIXTURE> constexpr int levels_of = MIXTURE == EACH && COUNT >= 3 ? 3 : 1;

template <int BITS, int COUNT>
static __device__ __forceinline__ void load_four(const unsigned char *in,
                                                 unsigned w[four<BITS, COUNT>::words])
{
    constexpr int access = four<BITS, COUNT>::access;
#pragma unroll
    for (int i = 0; i < four<BITS, COUNT>::bytes / access; i++) {
        if (access == 16) {
            const uint4 v = ((const uint4 *)in)[i];
            w[4 * i] = v.x, w[4 * i + 1] = v.y, w[4 * i + 2] = v.z, w[4 * i + 3] = v.w;
        } else if (access == 8) {
            const uint2 v = ((const uint2 *)in)[i];
            w[2 * i] = v.x, w[2 * i + 1] = v.y;
        } else {
            w[i] = ((const unsigned *)in)[i];
        }
    }
}

template <int BITS, int COUNT>
static __device__ __forceinline__ void load_one(const unsigned char *in,
                                                unsigned w[four<BITS, COUNT>::words])
{
    w[0] = 0;
    if (COUNT * BITS > 32)
        w[COUNT * BITS > 32] = 0;
#pragma unroll
    for (int c = 0; c < COUNT; c++) {
        const unsigned v = BITS == 8 ? in[c] : ((const unsigned short *)in)[c];
        w[c * BITS / 32] |= v << c * BITS % 32;
    }
}

/* Sample i of words; i is known when compiling. */
template <int BITS> static __device__ __forceinline__ unsigned sample_at(const unsigned *w, int i)
{
    return w[i * BITS / 32] >> i * BITS % 32 & (BITS == 8 ? 255u : 65535u);
}

/* Level number c of pixel p. */
template <int BITS, int COUNT, int MIXTURE>
static __device__ __forceinline__ unsigned level_of(const unsigned *w, int p, int c,
                                                    const struct gf_lightness *lightness)
{
    const int at = p * COUNT, green = COUNT >= 3 ? 1 : 0;
    if (MIXTURE == EACH)
        return sample_at<BITS>(w, at + c);
    const unsigned r = sample_at<BITS>(w, at), g = sample_at<BITS>(w, at + green),
                   b = sample_at<BITS>(w, at + 2 * green);
    if (MIXTURE == LUMA_OF_3)
        return (unsigned)gf_luma601((int)r, (int)g, (int)b);
    const struct gf_rgb linear = {lightness->linear[r], lightness->linear[g], lightness->linear[b]};
    return (unsigned)gf_lightness_bin(linear, lightness->curve);
}

/* Gives tally.add(channel, level, counted) every level of the block's pixels. All threads of a block call it
 * equally often and together, with counted == false where a thread has no pixel or one of zero alpha, so that
 * add() may speak to the warp's other lanes. A block's threads are all of blockDim.x; the blocks of a row of
 * the grid share the work. */
template <int BITS, int COUNT, int MIXTURE, class TALLY>
static __device__ __forceinline__ void for_each_level(const struct bins_task &task, TALLY &tally)
{
    const struct band &band = task.band;
    const unsigned row_items = task.full + task.tail;
    const unsigned items = band.rows * row_items, step = blockDim.x * GROUPS;
    for (unsigned first = blockIdx.x * step; first < items; first += gridDim.x * step) {
        unsigned w[GROUPS][four<BITS, COUNT>::words];
        int pixels[GROUPS];
#pragma unroll
        for (int k = 0; k < GROUPS; k++) {
            const unsigned item = first + (unsigned)k * blockDim.x + threadIdx.x;
            const struct place at = place_of(item, band.rows, row_items);
            const unsigned char *const row = band.in + at.row * band.in_pitch;
            pixels[k] = item >= items ? 0 : at.column < task.full ? FOUR : 1;
            if (pixels[k] == FOUR)
                load_four<BITS, COUNT>(row + (size_t)at.column * four<BITS, COUNT>::bytes, w[k]);
            else if (pixels[k])
                load_one<BITS, COUNT>(row + ((size_t)task.full * FOUR + (at.column - task.full)) *
                                                (COUNT * BITS / 8),
                                      w[k]);
        }
#pragma unroll
        for (int k = 0; k < GROUPS; k++) {
#pragma unroll
            for (int p = 0; p < FOUR; p++) {
                bool counted = pixels[k] > p;
                if (COUNT % 2 == 0)
                    counted = counted && sample_at<BITS>(w[k], p * COUNT + COUNT - 1);
#pragma unroll
                for (int c = 0; c < levels_of<COUNT, MIXTURE>; c++) {
                    /* A level made of what was never loaded could lie outside the tables. */
                    unsigned level = 0;
                    if (MIXTURE != LIGHTNESS_OF_3 || counted)
                        level = level_of<BITS, COUNT, MIXTURE>(w[k], p, c, task.lightness);
                    tally.add(c, level, counted);
                }
            }
        }
    }
}

static inline struct bins_task task_of(const struct gf_view *view, enum gf_statistic statistic,
                                       const void *tables, void *stream)
{
    struct bins_task task;
    task.band.in = view->data;
    task.band.out = NULL;
    task.band.in_pitch = task.band.out_pitch = view->pitch;
    task.band.width = (unsigned)view->format.width;
    task.band.rows = (unsigned)view->rows;
    task.band = join_rows(task.band, gf_row_bytes(view->format), 0);
    task.full = task.band.width / FOUR;
    task.tail = task.band.width % FOUR;
    task.stride = statistic == GF_STATISTIC_CHANNELS ? 1u << view->format.bits : 0;
    task.lightness = (const struct gf_lightness *)tables;
    task.stream = (cudaStream_t)stream;
    return task;
}

static inline enum mixture mixture_of(enum gf_statistic statistic, struct gf_format format)
{
    if (statistic == GF_STATISTIC_LIGHTNESS)
        return LIGHTNESS_OF_3;
    return statistic == GF_STATISTIC_LUMA && gf_colour_channels(format) == 3 ? LUMA_OF_3 : EACH;
}

/* Blocks for that many threads each to go once over the task. */
static inline unsigned blocks_of(const struct bins_task &task, int threads)
{
    return blocks_for(task.band.rows * (task.full + task.tail), (unsigned)threads * GROUPS);
}

#endif
