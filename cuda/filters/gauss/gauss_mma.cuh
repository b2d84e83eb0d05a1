/* The Gaussian of 8-bit pictures of one or three channels on tensor cores, with a radius up to
 * GF_GAUSS_TENSOR_MAX: both passes in one kernel. */
#pragma once

#include "cuda/filters/gauss/gauss_mma_passes.cuh"

/* Finishes all channels of four pixels of a row. */
template <class Shape, class Finish, class Table>
static __device__ __forceinline__ void finish_pixels(const Finish &finish,
                                                     const unsigned (*sum)[2][4], int half,
                                                     const Table &after, unsigned *to)
{
    constexpr int CHANNELS = Shape::CHANNELS;
#pragma unroll
    for (int word = 0; word < CHANNELS; word++) {
        unsigned four[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int pixel = (4 * word + i) / CHANNELS, c = (4 * word + i) % CHANNELS;
            four[i] = sum[c][pixel % 2][2 * half + pixel / 2];
        }
        to[word] = look_up(after, finish.four(four, Finish::ORIGINAL ? to[word] : 0));
    }
}

/* Finishes 16 x 16 pixels of one channel. `to` points to the sample of pixel g and row 2 t. */
template <class Shape, class Finish, class Table>
static __device__ __forceinline__ void finish_channel(const Finish &finish,
                                                      const unsigned sum[2][4], const Table &after,
                                                      unsigned char *to)
{
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int tile = i / 4, e = i % 4;
        unsigned char *const at =
            to + (8 * tile + e % 2) * Shape::GROUP_BYTES + e / 2 * 8 * Shape::CHANNELS;
        const unsigned v =
            finish.sample8(sum[tile][e], Finish::ORIGINAL ? *at : 0) >> 8 * Finish::BYTE & 255;
        *at = (unsigned char)look_up_sample(after, v);
    }
}

/* The state that a warp keeps in registers from chunk to chunk if there are few blocks of taps. */
template <class Shape, class Args, class Fuse_> struct mma_few {
    typedef typename Args::Finish Finish;
    typedef Fuse_ Fuse;
    typedef mma_taps<Shape> tables;
    static constexpr bool ORIGINAL = Finish::ORIGINAL;
    mma_matrix<Shape> matrix;
    mma_ring_weights<Shape> weights;
    mma_ring<Shape> ring[Shape::CHANNELS];

    static __device__ __forceinline__ void fill(const Args &args, tables *taps)
    {
        list_taps(args, taps);
    }
    __device__ __forceinline__ void begin(const tables &taps)
    {
        set_matrix(taps.tap, matrix);
        set_ring_weights(taps.tap, weights);
#pragma unroll
        for (int c = 0; c < Shape::CHANNELS; c++)
            ring[c] = {};
    }
    __device__ __forceinline__ void chunk(const Args &args, const struct strip_walk &walk,
                                          const unsigned *operands,
                                          const struct sample_tables<Fuse> &samples,
                                          unsigned char *stage)
    {
        constexpr int PIXELS = Shape::PIXELS;
        const int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
        const unsigned *const from = operands + (2 * warp + t) * Shape::OCTET + 4 * group;
#pragma unroll
        for (int step = 0; step < Shape::STEPS; step++) {
            unsigned sum[Shape::CHANNELS][2][4] = {};
#pragma unroll
            for (int c = 0; c < Shape::CHANNELS; c++)
                keep_in_ring(ring[c], step,
                             blur_block(args, matrix, from + 2 * (c * PIXELS + STEP_SIDE * step)));
#pragma unroll
            for (int c = 0; c < Shape::CHANNELS; c++)
                blur_ring<Shape, Finish>(ring[c], weights, step, sum[c]);
#pragma unroll
            for (int half = 0; half < 2; half++)
                finish_pixels<Shape>(
                    args.finish, sum, half, samples.after,
                    (unsigned *)result_at<Shape>(stage, step, STEP_SIDE * warp + group + 8 * half) +
                        t * Shape::CHANNELS);
        }
    }
};

/* The state that a warp keeps in registers from chunk to chunk if there are many blocks of taps. */
template <class Shape, class Args, class Fuse_> struct mma_many {
    typedef typename Args::Finish Finish;
    typedef Fuse_ Fuse;
    typedef mma_taps<Shape> tables;
    static constexpr bool ORIGINAL = Finish::ORIGINAL;
    mma_matrix<Shape> matrix;
    mma_window<Shape> window;

    static __device__ __forceinline__ void fill(const Args &args, tables *taps)
    {
        list_taps(args, taps);
    }
    __device__ __forceinline__ void begin(const tables &taps)
    {
        set_matrix(taps.tap, matrix);
        window = {};
    }
    __device__ __forceinline__ void chunk(const Args &args, const struct strip_walk &walk,
                                          const unsigned *operands,
                                          const struct sample_tables<Fuse> &samples,
                                          unsigned char *stage)
    {
        constexpr int CHANNELS = Shape::CHANNELS, PIXELS = Shape::PIXELS;
        const int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
        const int strip = warp / CHANNELS, channel = warp - strip * CHANNELS;
        const unsigned *const from =
            operands + (4 * strip + t) * Shape::QUARTET + channel * PIXELS + 2 * group;
        const bool useful = (walk.chunk + 1) * Shape::STEPS > Shape::LEAD;
#pragma unroll
        for (int step = 0; step < Shape::STEPS; step++) {
            keep_in_window(window, step, blur_block(args, matrix, from + STEP_SIDE * step));
            if (useful) {
                unsigned sum[2][4] = {};
                blur_window<Shape, Finish>(window, matrix, step, sum);
                finish_channel<Shape>(args.finish, sum, samples.after,
                                      result_at<Shape>(stage, step, STEP_SIDE * strip + 2 * t) +
                                          group * CHANNELS + channel);
            }
        }
        move_window(window);
    }
};

template <class Shape, class Args, class Fuse, bool FEW> struct mma_choice {
    typedef mma_few<Shape, Args, Fuse> type;
};
template <class Shape, class Args, class Fuse> struct mma_choice<Shape, Args, Fuse, false> {
    typedef mma_many<Shape, Args, Fuse> type;
};
template <class Shape, class Args, class Fuse>
using mma_state = typename mma_choice<Shape, Args, Fuse, Shape::TOGETHER>::type;

template <class Shape, class Finish, int EACH, class Fuse>
__global__ void __launch_bounds__(Shape::THREADS, EACH)
    blur_mma_kernel(const __grid_constant__ strip_maps maps,
                    const __grid_constant__ mma_args<Finish> args)
{
    make_strips<Shape, mma_state<Shape, mma_args<Finish>, Fuse>>(maps, args);
}

template <class Shape, int EACH, class Fuse = fuse_none, class Finish>
static int launch_mma_shape(const struct gf_launch *launch, mma_args<Finish> &args)
{
    args.above = Shape::REACH;
    return launch_strips<Shape, mma_state<Shape, mma_args<Finish>, Fuse>>(
        launch, blur_mma_kernel<Shape, Finish, EACH, Fuse>, EACH, args);
}

/* Computes the arguments. Taps whose sum is not 2^17 are doubled, which moves the bits of the sums
 * up by one. The pass along columns leaves GF_GAUSS_FRACTION fraction bits, in bits 16 and up, and
 * doubles its results if the final sums would otherwise not have 24 fraction bits. */
template <class Finish>
static mma_args<Finish> mma_args_of(const struct gf_launch *launch, const struct gf_gauss *gauss,
                                    int border, const Finish &finish)
{
    mma_args<Finish> args = {};
    args.p = view_pair_of(launch, border);
    args.finish = finish;
    args.reach = gauss->radius;
    const int doubled = gauss->shift < GF_GAUSS_SHIFT_MAX, shift = gauss->shift + doubled;
    const int drop = shift - GF_GAUSS_FRACTION, again = shift < GF_GAUSS_SHIFT_MAX;
    args.low_up = 1u << (16 + again - drop);
    args.high_up = 256 * args.low_up;
    args.half = args.low_up << (drop - 1);
    args.low_mask = again ? 0xFEFEFEFEu : 0xFFFFFFFFu;
    for (int k = 0; k <= gauss->radius; k++)
        args.fixed[k] = (unsigned short)(gauss->fixed[k] << doubled);
    return args;
}

typedef mma_shape<2, 1, true, 8, 2, 6> mma_gray_few;
typedef mma_shape<3, 1, true, 4, 2, 8> mma_gray_some;
/* If one warp has all channels, it writes whole words, and groups of 2 steps are written 96 bytes
 * of a row at once. On an H200 these shapes were the fastest of 12 and of 13. */
typedef mma_shape<2, 3, true, 4, 2, 4> mma_rgb_few;
typedef mma_shape<3, 3, true, 4, 2, 8> mma_rgb_some;

template <class Finish>
static int launch_mma(const struct gf_launch *launch, const struct gf_gauss *gauss, int border,
                      const Finish &finish)
{
    mma_args<Finish> args = mma_args_of(launch, gauss, border, finish);
    const int radius = gauss->radius;
    if (args.p.channels == 1)
        return radius <= 8    ? launch_mma_shape<mma_gray_few, 2>(launch, args)
               : radius <= 16 ? launch_mma_shape<mma_gray_some, 2>(launch, args)
               : radius <= 32 ? launch_mma_shape<mma_shape<5, 1, false, 4, 2, 8>, 1>(launch, args)
                              : launch_mma_shape<mma_shape<9, 1, false, 4, 2, 4>, 3>(launch, args);
    return radius <= 8    ? launch_mma_shape<mma_rgb_few, 2>(launch, args)
           : radius <= 16 ? launch_mma_shape<mma_rgb_some, 1>(launch, args)
           : radius <= 32 ? launch_mma_shape<mma_shape<5, 3, false, 4, 1, 5>, 1>(launch, args)
                          : launch_mma_shape<mma_shape<9, 3, false, 4, 2, 4>, 1>(launch, args);
}

template <class Finish, class Fuse = fuse_none>
static bool mma_is_faster(const struct gf_launch *launch, const struct gf_gauss *gauss)
{
    const struct gf_format format = launch->in.format;
    const auto kernel = blur_mma_kernel<mma_gray_few, Finish, 2, Fuse>;
    return format.bits == 8 && !gf_has_alpha(format) && gauss->radius <= GF_GAUSS_TENSOR_MAX &&
           gauss->shift >= GF_GAUSS_SHIFT_MAX - 2 &&
           strips_are_faster((const void *)kernel, gauss->radius > 8);
}
