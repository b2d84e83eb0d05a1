/* The Gaussian of 8-bit pictures of one or three channels on tensor cores, radius up to
 * GF_GAUSS_MMA_MAX: both passes in one kernel. */
#ifndef GF_CUDA_FILTERS_GAUSS_GAUSS_MMA_CUH
#define GF_CUDA_FILTERS_GAUSS_GAUSS_MMA_CUH

#include "cuda/filters/gauss/gauss_mma_chunks.cuh"
#include "cuda/filters/gauss/gauss_mma_passes.cuh"

/* Where a lane is in a step: the step of the picture's row, and the warp's rows in the block's. */
struct mma_place {
    int strip, step; /* of the picture */
    int rows, local; /* the warp's first row in the strip; the step in the chunk */
};

/* Four samples of the picture that a result is compared with, 0 where there are none. */
template <class Shape, class Args>
static __device__ __forceinline__ unsigned load_original(const Args &args, int strip, int row,
                                                         int at)
{
    const struct view_pair &p = args.p;
    const int y = p.out_y + min(strip * Shape::OUT_ROWS + row, p.rows - 1);
    return at < 0 ? 0
                  : load_bytes(p.in + (size_t)(y - p.in_y) * p.in_pitch, at,
                               (long long)p.width * Shape::CHANNELS);
}

/* Finishes four pixels of a row, all channels. */
template <class Shape, class Finish>
static __device__ __forceinline__ void
finish_pixels(const mma_args<Finish> &args, const struct mma_place &place,
              const unsigned (*sum)[2][4], int half, unsigned char *stage)
{
    constexpr int CHANNELS = Shape::CHANNELS;
    const int group = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const int row = place.rows + group + 8 * half;
    unsigned *const to =
        (unsigned *)(stage + row * Shape::PITCH) + (place.local * MMA_SIDE / 4 + t) * CHANNELS;
#pragma unroll
    for (int word = 0; word < CHANNELS; word++) {
        unsigned original = 0, result[4];
        if (Finish::ORIGINAL)
            original = load_original<Shape>(
                args, place.strip, row, (place.step * MMA_SIDE + 4 * t) * CHANNELS + 4 * word);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int pixel = (4 * word + i) / CHANNELS, c = (4 * word + i) % CHANNELS;
            result[i] = args.finish.sample8(sum[c][pixel / 2][2 * half + pixel % 2],
                                            original >> 8 * i & 255);
        }
        to[word] = pack_bytes<Finish::BYTE>(result[0], result[1], result[2], result[3]);
    }
}

/* Finishes 16 x 16 pixels of one channel. */
template <class Shape, class Finish>
static __device__ __forceinline__ void
finish_channel(const mma_args<Finish> &args, const struct mma_place &place, int channel,
               const unsigned sum[2][4], unsigned char *stage)
{
    const int group = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int tile = i / 4, e = i % 4, pixel = group + e / 2 * 8;
        const int row = place.rows + 8 * tile + 2 * t + e % 2;
        const int at = pixel * Shape::CHANNELS + channel;
        unsigned original = 0;
        if (Finish::ORIGINAL) {
            const struct view_pair &p = args.p;
            const int y = p.out_y + min(place.strip * Shape::OUT_ROWS + row, p.rows - 1);
            const int x = min(max(place.step * MMA_SIDE + pixel, 0), p.width - 1);
            original =
                p.in[(size_t)(y - p.in_y) * p.in_pitch + (size_t)(x * Shape::CHANNELS + channel)];
        }
        stage[row * Shape::PITCH + place.local * MMA_SIDE * Shape::CHANNELS + at] =
            (unsigned char)(args.finish.sample8(sum[tile][e], original) >> 8 * Finish::BYTE);
    }
}

/* What a warp keeps in registers from chunk to chunk, in the form for few blocks of taps. */
template <class Shape> struct mma_few {
    mma_matrix<Shape> matrix;
    mma_ring_weights<Shape> weights;
    mma_ring<Shape> ring[Shape::CHANNELS];

    __device__ __forceinline__ void begin(const mma_taps<Shape> &taps)
    {
        set_matrix(taps.column, matrix);
        set_ring_weights(taps.row, weights);
#pragma unroll
        for (int c = 0; c < Shape::CHANNELS; c++)
            ring[c] = {};
    }
    template <class Finish>
    __device__ __forceinline__ void chunk(const mma_args<Finish> &args,
                                          const struct mma_walk &walk, const unsigned *operands,
                                          unsigned char *stage)
    {
        constexpr int PLANE = Shape::PLANE;
        const int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
        const unsigned *const from = operands + (2 * warp + t) * Shape::OCTET + 4 * group;
#pragma unroll
        for (int step = 0; step < Shape::STEPS; step++) {
            const struct mma_place place = {
                walk.strip, walk.first + walk.chunk * Shape::STEPS - Shape::LEAD + step,
                MMA_SIDE * warp, step};
            unsigned sum[Shape::CHANNELS][2][4] = {};
#pragma unroll
            for (int c = 0; c < Shape::CHANNELS; c++)
                keep_in_ring(ring[c], step,
                             blur_block(args, matrix, from + 2 * (c * PLANE + MMA_SIDE * step)));
#pragma unroll
            for (int c = 0; c < Shape::CHANNELS; c++)
                blur_ring<Shape, Finish>(ring[c], weights, step, sum[c]);
#pragma unroll
            for (int half = 0; half < 2; half++)
                finish_pixels<Shape>(args, place, sum, half, stage);
        }
    }
};

/* The same for many. */
template <class Shape> struct mma_many {
    mma_matrix<Shape> matrix;
    mma_window<Shape> window;

    __device__ __forceinline__ void begin(const mma_taps<Shape> &taps)
    {
        set_matrix(taps.column, matrix);
        window = {};
    }
    template <class Finish>
    __device__ __forceinline__ void chunk(const mma_args<Finish> &args,
                                          const struct mma_walk &walk, const unsigned *operands,
                                          unsigned char *stage)
    {
        constexpr int CHANNELS = Shape::CHANNELS, PLANE = Shape::PLANE;
        const int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
        const int strip = warp / CHANNELS, channel = warp - strip * CHANNELS;
        const unsigned *const from =
            operands + (4 * strip + t) * Shape::QUARTET + channel * PLANE + 2 * group;
        const bool useful = (walk.chunk + 1) * Shape::STEPS > Shape::LEAD;
#pragma unroll
        for (int step = 0; step < Shape::STEPS; step++) {
            const struct mma_place place = {
                walk.strip, walk.first + walk.chunk * Shape::STEPS - Shape::LEAD + step,
                MMA_SIDE * strip, step};
            keep_in_window(window, step, blur_block(args, matrix, from + MMA_SIDE * step));
            if (useful) {
                unsigned sum[2][4] = {};
                blur_window<Shape, Finish>(window, matrix, step, sum);
                finish_channel<Shape>(args, place, channel, sum, stage);
            }
        }
        move_window(window);
    }
};

template <class Shape, bool FEW> struct mma_state : mma_few<Shape> {};
template <class Shape> struct mma_state<Shape, false> : mma_many<Shape> {};

/* The block's shared memory; two of each, for the chunk that is worked on and the next. */
template <class Shape> struct mma_shared {
    unsigned char raw[2][Shape::RAW_BYTES], stage[2][Shape::STAGE_BYTES];
    unsigned operands[2][Shape::OPERAND_WORDS];
    int lists[MMA_LISTS * Shape::ROWS];
    mma_taps<Shape> taps;
};

/* While some warps make chunk i from its operands, others turn chunk i + 1 into operands, and copies
 * bring chunk i + 2. */
template <class Shape, class Finish, int BLOCKS_EACH>
__global__ void __launch_bounds__(Shape::THREADS, BLOCKS_EACH)
    blur_mma_kernel(const __grid_constant__ mma_args<Finish> args)
{
#if GF_HAS_MMA
    extern __shared__ uint4 shared[];
    mma_shared<Shape> &s = *(mma_shared<Shape> *)shared;
    struct mma_walk at = {};
    at.at = blockIdx.x * args.share;
    at.end = min(at.at + args.share, args.steps);
    open_strip<Shape>(args, at);
    for (int i = 0; i < MMA_LISTED + 2; i++)
        list_strip<Shape>(args, at.strip + i, s.lists);
    list_taps(args, &s.taps);
    __syncthreads();
    struct mma_walk next = at;
    bool more = advance<Shape>(args, next);
    struct mma_walk after = next;
    bool more_after = more && advance<Shape>(args, after);
    fetch_chunk<Shape>(args, at, s.lists, s.raw[0]);
    if (more)
        fetch_chunk<Shape>(args, next, s.lists, s.raw[1]);
    mma_state<Shape, Shape::TOGETHER> state;
    state.begin(s.taps);
    copy_async_wait();
    __syncthreads();
    turn_chunk<Shape>(args, at, s.lists, s.raw[0], s.operands[0]);
    __syncthreads();
    if (more_after)
        fetch_chunk<Shape>(args, after, s.lists, s.raw[0]);
    struct mma_walk before = {};
    const bool turns_first = threadIdx.x / 128 % 2 == 0;
    for (int i = 0;; i ^= 1) {
        store_chunk<Shape>(args, before, s.stage[i ^ 1]);
#pragma unroll 1
        for (int phase = 0; phase < 2; phase++) {
            if (turns_first != (phase == 0))
                state.chunk(args, at, s.operands[i], s.stage[i]);
            else if (more)
                turn_chunk<Shape>(args, next, s.lists, s.raw[i ^ 1], s.operands[i ^ 1]);
        }
        copy_async_wait();
        __syncthreads();
        before = at;
        if (!more) {
            store_chunk<Shape>(args, before, s.stage[i]);
            break;
        }
        at = next;
        next = after;
        more = more_after;
        more_after = more && advance<Shape>(args, after);
        if (more_after) {
            fetch_chunk<Shape>(args, after, s.lists, s.raw[i ^ 1]);
            if (after.chunk == 0)
                list_strip<Shape>(args, after.strip + MMA_LISTED - 1, s.lists);
        }
    }
#endif
}

template <class Shape, int BLOCKS_EACH, class Finish>
static int launch_mma_shape(const struct gf_launch *launch, mma_args<Finish> &args)
{
    const void *const kernel = (const void *)blur_mma_kernel<Shape, Finish, BLOCKS_EACH>;
    const int shared = (int)sizeof(mma_shared<Shape>);
    cudaError_t status =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    int device = 0, multiprocessors = 0;
    if (status == cudaSuccess)
        status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (status != cudaSuccess)
        return status;
    args.across = ceil_div(args.p.width, MMA_SIDE);
    args.steps = args.across * ceil_div(args.p.rows, Shape::OUT_ROWS);
    args.share = ceil_div(args.steps, multiprocessors * BLOCKS_EACH);
    blur_mma_kernel<Shape, Finish, BLOCKS_EACH>
        <<<ceil_div(args.steps, args.share), Shape::THREADS, shared,
           (cudaStream_t)launch->stream>>>(args);
    return cudaGetLastError();
}

/* The pass along columns leaves GF_GAUSS_FRACTION fraction bits, which the kernel wants in bits 16
 * and up. Sums with fewer than 24 fraction bits in the end are doubled by the taps of the rows and,
 * if that is not enough, by the intermediate. */
template <class Finish>
static mma_args<Finish> mma_args_of(const struct gf_launch *launch, const struct gf_gauss *gauss,
                                    int border, const Finish &finish)
{
    mma_args<Finish> args = {};
    args.p = view_pair_of(launch, border);
    args.finish = finish;
    args.radius = gauss->radius;
    const int missing = GF_GAUSS_SHIFT_MAX - gauss->shift, doubled = missing > 1;
    const int drop = gauss->shift - GF_GAUSS_FRACTION;
    args.low_up = 1u << (16 + doubled - drop);
    args.high_up = 256 * args.low_up;
    args.half = args.low_up << (drop - 1);
    args.low_mask = doubled ? 0xFEFEFEFEu : 0xFFFFFFFFu;
    args.row_lift = missing ? 2 : 1;
    for (int k = 0; k <= gauss->radius; k++)
        args.fixed[k] = gauss->fixed[k];
    return args;
}

template <class Finish>
static int launch_mma(const struct gf_launch *launch, const struct gf_gauss *gauss, int border,
                      const Finish &finish)
{
    mma_args<Finish> args = mma_args_of(launch, gauss, border, finish);
    const int radius = gauss->radius;
    if (args.p.channels == 1)
        return radius <= 8    ? launch_mma_shape<mma_shape<2, 1, true, 6, 8>, 2>(launch, args)
               : radius <= 16 ? launch_mma_shape<mma_shape<3, 1, true, 4, 8>, 2>(launch, args)
               : radius <= 32 ? launch_mma_shape<mma_shape<5, 1, false, 8, 8>, 1>(launch, args)
                              : launch_mma_shape<mma_shape<9, 1, false, 4, 8>, 1>(launch, args);
    return radius <= 8    ? launch_mma_shape<mma_shape<2, 3, true, 4, 5>, 2>(launch, args)
           : radius <= 16 ? launch_mma_shape<mma_shape<3, 3, true, 4, 4>, 2>(launch, args)
           : radius <= 32 ? launch_mma_shape<mma_shape<5, 3, false, 4, 5>, 1>(launch, args)
                          : launch_mma_shape<mma_shape<9, 3, false, 4, 4>, 1>(launch, args);
}

#endif
