/* The strips of 16-bit pictures that a block of gauss_strip16.cuh blurs: their shape, and how a
 * thread loads its samples of them. */
#pragma once

#include "cuda/filters/gauss/gauss_common.cuh"
#include "stage/border.h"

enum {
    STRIP16_THREADS = 128,
    STRIP16_STEPS = 6,       /* the most steps of a block; a step computes a row for each tap */
    STRIP16_STEPS_LEAST = 2, /* the least number of steps; with fewer the rows above the first step
                              * would cost too much */
    /* The intended number of blocks: four times as many as 132 multiprocessors hold at once. Larger
     * blocks that filled the GPU a whole number of times were slower. */
    STRIP16_BLOCKS = 2112,
};

/* Pixels are loaded from a multiple of ALIGNED on, so that four samples are one access. A strip has
 * COLUMNS pixels, of which OUT pixels, from LEFT on, are results. Each channel of a row has a PLANE
 * of floats, with its first pixel at SHIFT. A thread reads SPAN floats; the first LEAD floats are
 * beyond its taps. If STRAIGHT is not 0, the pixels are straight RGBA of so many bits. */
template <int CHANNELS_, int RADIUS_, int STRAIGHT_> struct strip16 {
    static constexpr int CHANNELS = CHANNELS_, RADIUS = RADIUS_, TAPS = 2 * RADIUS + 1;
    static constexpr int STRAIGHT = STRAIGHT_, SAMPLE_BYTES = STRAIGHT == 8 ? 1 : 2;
    static constexpr int ALIGNED = CHANNELS == 4 ? 1 : CHANNELS == 2 ? 2 : 4;
    static constexpr int LEFT = (RADIUS + ALIGNED - 1) / ALIGNED * ALIGNED;
    static constexpr int COLUMNS = 4 * STRIP16_THREADS / CHANNELS;
    static constexpr int OUT = (COLUMNS - LEFT - RADIUS) / 4 * 4, RUNS = OUT / 4;
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
    float tap[Shape::RADIUS + 1]; /* zeros follow the last tap: adding 0 changes nothing */
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

/* Four samples of a row, in the format of the picture. */
struct __align__(8) four_samples
{
    unsigned word[2];
};

/* Loads the thread's samples of a row one by one, by the offsets in the list. */
template <class Shape>
static __device__ __forceinline__ struct four_samples load_by_list(const unsigned char *row,
                                                                   const int sample[4])
{
    struct four_samples four = {};
#pragma unroll
    for (int j = 0; j < 4; j++) {
        if (sample[j] < 0)
            continue;
        if (Shape::STRAIGHT == 8)
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
           bool inside, int first, int y, struct four_samples *spare, struct four_samples to[COUNT])
{
    const int at = 4 * threadIdx.x;
    if (inside) {
        const unsigned char *const from =
            p.in + ((long long)left * Shape::CHANNELS + at) * Shape::SAMPLE_BYTES;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            if (Shape::STRAIGHT == 8) {
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
        const struct four_samples none = {};
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
static __device__ __forceinline__ void convert_four(const struct four_samples &four, float v[4])
{
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
