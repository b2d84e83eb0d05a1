/* The Gaussian of 8-bit pictures of one or three channels on tensor cores, radius up to
 * GF_GAUSS_TENSOR_MAX: both passes in one kernel. */
#ifndef GF_CUDA_FILTERS_GAUSS_GAUSS_MMA_CUH
#define GF_CUDA_FILTERS_GAUSS_GAUSS_MMA_CUH

#include "cuda/filters/gauss/gauss_mma_chunks.cuh"
#include "cuda/filters/gauss/gauss_mma_passes.cuh"

/* Where a step's results stand in the stage: groups one after the other. */
template <class Shape>
static __device__ __forceinline__ unsigned char *result_at(unsigned char *stage, int step, int row)
{
    return stage + (step / Shape::GROUP * Shape::OUT_ROWS + row) * Shape::GROUP_BYTES +
           step % Shape::GROUP * (MMA_SIDE * Shape::CHANNELS);
}

/* Finishes four pixels of a row, all channels. */
template <class Shape, class Finish>
static __device__ __forceinline__ void
finish_pixels(const Finish &finish, const unsigned (*sum)[2][4], int half, unsigned *to)
{
    constexpr int CHANNELS = Shape::CHANNELS;
#pragma unroll
    for (int word = 0; word < CHANNELS; word++) {
        const unsigned original = Finish::ORIGINAL ? to[word] : 0;
        unsigned result[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int pixel = (4 * word + i) / CHANNELS, c = (4 * word + i) % CHANNELS;
            result[i] =
                finish.sample8(sum[c][pixel % 2][2 * half + pixel / 2], original >> 8 * i & 255);
        }
        to[word] = pack_bytes<Finish::BYTE>(result[0], result[1], result[2], result[3]);
    }
}

/* Finishes 16 x 16 pixels of one channel. to: the sample of pixel g and row 2 t. */
template <class Shape, class Finish>
static __device__ __forceinline__ void finish_channel(const Finish &finish,
                                                      const unsigned sum[2][4], unsigned char *to)
{
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int tile = i / 4, e = i % 4;
        unsigned char *const at =
            to + (8 * tile + e % 2) * Shape::GROUP_BYTES + e / 2 * 8 * Shape::CHANNELS;
        *at = (unsigned char)(finish.sample8(sum[tile][e], Finish::ORIGINAL ? *at : 0) >>
                              8 * Finish::BYTE);
    }
}

/* What a warp keeps in registers from chunk to chunk, in the form for few blocks of taps. */
template <class Shape> struct mma_few {
    mma_matrix<Shape> matrix;
    mma_ring_weights<Shape> weights;
    mma_ring<Shape> ring[Shape::CHANNELS];

    __device__ __forceinline__ void begin(const mma_taps<Shape> &taps)
    {
        set_matrix(taps.tap, matrix);
        set_ring_weights(taps.tap, weights);
#pragma unroll
        for (int c = 0; c < Shape::CHANNELS; c++)
            ring[c] = {};
    }
    template <class Finish>
    __device__ __forceinline__ void chunk(const mma_args<Finish> &args, const struct mma_walk &walk,
                                          const unsigned *operands, unsigned char *stage)
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
                             blur_block(args, matrix, from + 2 * (c * PIXELS + MMA_SIDE * step)));
#pragma unroll
            for (int c = 0; c < Shape::CHANNELS; c++)
                blur_ring<Shape, Finish>(ring[c], weights, step, sum[c]);
#pragma unroll
            for (int half = 0; half < 2; half++)
                finish_pixels<Shape>(
                    args.finish, sum, half,
                    (unsigned *)result_at<Shape>(stage, step, MMA_SIDE * warp + group + 8 * half) +
                        t * Shape::CHANNELS);
        }
    }
};

/* The same for many. */
template <class Shape> struct mma_many {
    mma_matrix<Shape> matrix;
    mma_window<Shape> window;

    __device__ __forceinline__ void begin(const mma_taps<Shape> &taps)
    {
        set_matrix(taps.tap, matrix);
        window = {};
    }
    template <class Finish>
    __device__ __forceinline__ void chunk(const mma_args<Finish> &args, const struct mma_walk &walk,
                                          const unsigned *operands, unsigned char *stage)
    {
        constexpr int CHANNELS = Shape::CHANNELS, PIXELS = Shape::PIXELS;
        const int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
        const int strip = warp / CHANNELS, channel = warp - strip * CHANNELS;
        const unsigned *const from =
            operands + (4 * strip + t) * Shape::QUARTET + channel * PIXELS + 2 * group;
        const bool useful = (walk.chunk + 1) * Shape::STEPS > Shape::LEAD;
#pragma unroll
        for (int step = 0; step < Shape::STEPS; step++) {
            keep_in_window(window, step, blur_block(args, matrix, from + MMA_SIDE * step));
            if (useful) {
                unsigned sum[2][4] = {};
                blur_window<Shape, Finish>(window, matrix, step, sum);
                finish_channel<Shape>(args.finish, sum,
                                      result_at<Shape>(stage, step, MMA_SIDE * strip + 2 * t) +
                                          group * CHANNELS + channel);
            }
        }
        move_window(window);
    }
};

template <class Shape, bool FEW> struct mma_state : mma_few<Shape> {
};
template <class Shape> struct mma_state<Shape, false> : mma_many<Shape> {
};

/* The block's shared memory; two of each, for the chunk that is worked on and the next. Stages that
 * are filled with the picture's samples before are three. */
template <class Shape, class Finish> struct mma_shared {
    static constexpr int STAGES = Finish::ORIGINAL ? 3 : 2;
    unsigned char raw[2][Shape::ROWS * Shape::BOX_BYTES];
    unsigned char stage[STAGES][Shape::OUT_ROWS * Shape::PIXELS * Shape::CHANNELS];
    unsigned operands[2][Shape::OPERAND_WORDS];
    box_bar raw_bar[2], stage_bar[STAGES];
    mma_taps<Shape> taps;
};

/* All threads: completes chunk k at the picture's borders. */
template <class Shape, class Args, class Shared>
static __device__ __forceinline__ void complete_chunk(const Args &args, const struct mma_walk &walk,
                                                      Shared &s, unsigned k)
{
    const struct box_place box = box_of<Shape>(args, walk);
    if (!needs_border<Shape>(args.p, box))
        return;
    box_wait(&s.raw_bar[k % 2], k / 2 % 2);
    fill_columns<Shape>(args.p, args.in_rows, box, s.raw[k % 2]);
    __syncthreads();
    fill_rows<Shape>(args.p, box, s.raw[k % 2]);
    __syncthreads();
}

/* While some warps make chunk k from its operands, others turn chunk k + 1 into operands, and the
 * copy engine brings chunk k + 2. */
template <class Shape, class Finish, int BLOCKS_EACH>
__global__ void __launch_bounds__(Shape::THREADS, BLOCKS_EACH)
    blur_mma_kernel(const __grid_constant__ struct mma_maps maps,
                    const __grid_constant__ mma_args<Finish> args)
{
#if GF_HAS_BOXES
    extern __shared__ __align__(128) uint4 shared[];
    mma_shared<Shape, Finish> &s = *(mma_shared<Shape, Finish> *)shared;
    constexpr int STAGES = mma_shared<Shape, Finish>::STAGES;
    const bool loads = threadIdx.x == 0, stores = threadIdx.x == Shape::THREADS - WARP;
    struct mma_walk at = {};
    at.at = blockIdx.x * args.share;
    at.end = min(at.at + args.share, args.steps);
    open_strip<Shape>(args, at);
    struct mma_walk next = at;
    bool more = advance<Shape>(args, next);
    struct mma_walk after = next;
    bool more_after = more && advance<Shape>(args, after);
    if (loads) {
        for (int i = 0; i < 2; i++)
            box_bar_init(&s.raw_bar[i]);
        for (int i = 0; i < STAGES; i++)
            box_bar_init(&s.stage_bar[i]);
        fetch_chunk<Shape>(args, maps, at, s.raw[0], &s.raw_bar[0]);
        if (more)
            fetch_chunk<Shape>(args, maps, next, s.raw[1], &s.raw_bar[1]);
        if (Finish::ORIGINAL)
            fetch_originals<Shape>(args, maps, at, s.stage[0], &s.stage_bar[0]);
        if (Finish::ORIGINAL && more)
            fetch_originals<Shape>(args, maps, next, s.stage[1], &s.stage_bar[1]);
    }
    list_taps(args, &s.taps);
    __syncthreads();
    mma_state<Shape, Shape::TOGETHER> state;
    state.begin(s.taps);
    complete_chunk<Shape>(args, at, s, 0);
    box_wait(&s.raw_bar[0], 0);
    turn_box<Shape>(s.raw[0], s.operands[0]);
    box_fence();
    __syncthreads();
    if (loads && more_after)
        fetch_chunk<Shape>(args, maps, after, s.raw[0], &s.raw_bar[0]);
    const bool turns_first = threadIdx.x / 128 % 2 == 0;
    for (unsigned k = 0;; k++) {
        unsigned char *const stage = s.stage[k % STAGES];
        if (more)
            complete_chunk<Shape>(args, next, s, k + 1);
#pragma unroll 1
        for (int phase = 0; phase < 2; phase++) {
            if (turns_first != (phase == 0)) {
                if (Finish::ORIGINAL)
                    box_wait(&s.stage_bar[k % STAGES], k / STAGES % 2);
                state.chunk(args, at, s.operands[k % 2], stage);
            } else if (more) {
                box_wait(&s.raw_bar[(k + 1) % 2], (k + 1) / 2 % 2);
                turn_box<Shape>(s.raw[(k + 1) % 2], s.operands[(k + 1) % 2]);
            }
        }
        box_fence();
        if (stores)
            box_store_wait(); /* chunk k - 1, whose place in the stage is free then */
        __syncthreads();
        if (stores)
            store_chunk<Shape>(args, maps, at, stage);
        if (!more)
            break;
        at = next;
        next = after;
        more = more_after;
        if (Finish::ORIGINAL && stores && more)
            fetch_originals<Shape>(args, maps, next, s.stage[(k + 2) % STAGES],
                                   &s.stage_bar[(k + 2) % STAGES]);
        more_after = more && advance<Shape>(args, after);
        if (loads && more_after)
            fetch_chunk<Shape>(args, maps, after, s.raw[(k + 1) % 2], &s.raw_bar[(k + 1) % 2]);
    }
    if (stores)
        box_store_wait();
#endif
}

template <class Shape, class Finish>
static cudaError_t map_views(const struct gf_launch *launch, struct mma_maps *maps)
{
    const struct gf_view &in = launch->in, &out = launch->out;
    const size_t bytes = gf_row_bytes(in.format);
    cudaError_t status =
        box_map_of(&maps->chunk, in.data, in.pitch, bytes, in.rows, Shape::BOX_BYTES, Shape::ROWS);
    if (status == cudaSuccess && Finish::ORIGINAL)
        status = box_map_of(&maps->original, in.data, in.pitch, bytes, in.rows, Shape::GROUP_BYTES,
                            Shape::OUT_ROWS);
    if (status == cudaSuccess)
        status = box_map_of(&maps->result, out.data, out.pitch, bytes, out.rows, Shape::GROUP_BYTES,
                            Shape::OUT_ROWS);
    return status;
}

template <class Shape, int BLOCKS_EACH, class Finish>
static int launch_mma_shape(const struct gf_launch *launch, mma_args<Finish> &args)
{
    const auto kernel = blur_mma_kernel<Shape, Finish, BLOCKS_EACH>;
    const int shared = (int)sizeof(mma_shared<Shape, Finish>);
    struct mma_maps maps = {};
    cudaError_t status = map_views<Shape, Finish>(launch, &maps);
    if (status == cudaSuccess)
        status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    int device = 0, multiprocessors = 0;
    if (status == cudaSuccess)
        status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (status != cudaSuccess)
        return status;
    constexpr int GROUP = Shape::GROUP;
    args.across = ceil_div(args.p.width, MMA_SIDE * GROUP) * GROUP;
    args.steps = args.across * ceil_div(args.p.rows, Shape::OUT_ROWS);
    args.share = ceil_div(args.steps, multiprocessors * BLOCKS_EACH * GROUP) * GROUP;
    blur_mma_kernel<Shape, Finish, BLOCKS_EACH>
        <<<ceil_div(args.steps, args.share), Shape::THREADS, shared,
           (cudaStream_t)launch->stream>>>(maps, args);
    return cudaGetLastError();
}

/* Taps whose sum is not 2^17 are doubled: the sums' bits are the same, but for one more. The pass
 * along columns leaves GF_GAUSS_FRACTION fraction bits, in bits 16 and up, doubled if the final
 * sums would not have 24 of them yet. */
template <class Finish>
static mma_args<Finish> mma_args_of(const struct gf_launch *launch, const struct gf_gauss *gauss,
                                    int border, const Finish &finish)
{
    mma_args<Finish> args = {};
    args.p = view_pair_of(launch, border);
    args.finish = finish;
    args.radius = gauss->radius;
    args.in_rows = launch->in.rows;
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

typedef mma_shape<2, 1, true, 4, 2, 4> mma_gray_few;

template <class Finish>
static int launch_mma(const struct gf_launch *launch, const struct gf_gauss *gauss, int border,
                      const Finish &finish)
{
    mma_args<Finish> args = mma_args_of(launch, gauss, border, finish);
    const int radius = gauss->radius;
    if (args.p.channels == 1)
        return radius <= 8    ? launch_mma_shape<mma_gray_few, 4>(launch, args)
               : radius <= 16 ? launch_mma_shape<mma_shape<3, 1, true, 4, 2, 8>, 2>(launch, args)
               : radius <= 32 ? launch_mma_shape<mma_shape<5, 1, false, 4, 2, 8>, 1>(launch, args)
                              : launch_mma_shape<mma_shape<9, 1, false, 4, 2, 7>, 1>(launch, args);
    return radius <= 8    ? launch_mma_shape<mma_shape<2, 3, true, 4, 1, 4>, 2>(launch, args)
           : radius <= 16 ? launch_mma_shape<mma_shape<3, 3, true, 4, 1, 4>, 2>(launch, args)
           : radius <= 32 ? launch_mma_shape<mma_shape<5, 3, false, 4, 1, 4>, 1>(launch, args)
                          : launch_mma_shape<mma_shape<9, 3, false, 4, 1, 4>, 1>(launch, args);
}

/* Known from measurements on compute capability 9.0. On others the rate of products of bytes or the
 * shared memory is less, or is not known (data sheets: 8.0 has no copy engine for boxes, 8.6, 8.9
 * and 12.0 have 99 KB a block, and 10.3 has a small part of the rate of 10.0). Code for an older
 * architecture, which the driver compiles from PTX, has no such kernel. */
template <class Finish>
static bool mma_is_faster(const struct gf_launch *launch, const struct gf_gauss *gauss)
{
    const struct gf_format format = launch->in.format;
    int device = 0, major = 0, minor = 0;
    struct cudaFuncAttributes code = {};
    const auto kernel = blur_mma_kernel<mma_gray_few, Finish, 4>;
    if (format.bits != 8 || gf_has_alpha(format) || gauss->radius > GF_GAUSS_TENSOR_MAX ||
        gauss->shift < GF_GAUSS_SHIFT_MAX - 2)
        return false;
    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) ==
               cudaSuccess &&
           cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) ==
               cudaSuccess &&
           major == 9 && minor == 0 &&
           cudaFuncGetAttributes(&code, (const void *)kernel) == cudaSuccess &&
           code.ptxVersion >= 90;
}

#endif
