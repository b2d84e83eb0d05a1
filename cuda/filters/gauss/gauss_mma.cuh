/* The Gaussian of 8-bit pictures on tensor cores. */
#pragma once

#include "cuda/common/byte_strips.cuh"
#include "cuda/common/mma.cuh"
#include "cuda/filters/gauss/gauss_tile.cuh"

/* The division of the tensor-core Gaussian's work among blocks, warps and steps. */

/* The template's parameters. BLOCKS is the number of blocks of 16 taps, so that 8 (BLOCKS - 1) is
 * the largest radius. With TOGETHER a warp computes all channels of its rows; otherwise each
 * channel has a warp. STEPS is the number of steps of a chunk, which is even. GROUP is the number
 * of steps that are written together; a chunk and a warp's share are whole groups. */
template <int BLOCKS_, int CHANNELS_, bool TOGETHER_, int STEPS_, int GROUP_, int STRIPS_>
struct mma_shape {
    static constexpr int BLOCKS = BLOCKS_, CHANNELS = CHANNELS_, STEPS = STEPS_, STRIPS = STRIPS_;
    static constexpr bool TOGETHER = TOGETHER_;
    static constexpr int GROUP = GROUP_, LEAD = (BLOCKS - 1 + GROUP - 1) / GROUP * GROUP;
    static constexpr int REACH = 8 * (BLOCKS - 1), AROUND = REACH;
    static constexpr int WARPS = STRIPS * (TOGETHER ? 1 : CHANNELS), THREADS = 32 * WARPS;
    static constexpr int OUT_ROWS = STEP_SIDE * STRIPS, ROWS = STEP_SIDE * (STRIPS + BLOCKS - 1);
    /* PIXELS of a row are in a chunk, and BEFORE more precede them in the chunk's box, which begins
     * at a multiple of 16 bytes. BOX_BYTES and GROUP_BYTES are the bytes of a row in the box and in
     * a group. */
    static constexpr int PIXELS = STEP_SIDE * STEPS, SKIPPED = REACH % 16;
    static constexpr int BEFORE = STEP_SIDE * (LEAD - (BLOCKS - 1)) + REACH + SKIPPED;
    static constexpr int BOX_BYTES = ((SKIPPED + PIXELS) * CHANNELS + 15) / 16 * 16;
    static constexpr int GROUP_BYTES = STEP_SIDE * GROUP * CHANNELS;
    /* The range of blocks of taps with high bytes. If there are many blocks, the outermost blocks
     * have none. */
    static constexpr int HIGH = BLOCKS >= 9 ? 1 : 0, HIGH_END = BLOCKS - HIGH;
    /* The order of the operands. A word has four rows of a column; with OCTETS two words for eight
     * rows are adjacent. The lanes read 16 bytes each of four octets (or 8 bytes of four quartets)
     * at once; with 8 words of padding they access every bank once. */
    static constexpr bool OCTETS = TOGETHER;
    static constexpr int OCTET = 2 * PIXELS * CHANNELS + 8, QUARTET = PIXELS * CHANNELS + 8;
    static constexpr int OPERAND_WORDS = OCTETS ? ROWS / 8 * OCTET : ROWS / 4 * QUARTET;
};

template <class Finish_> struct mma_args : strip_args {
    typedef Finish_ Finish;
    Finish finish;
    /* The columns' sums of high and of low bytes, multiplied by high_up and low_up, plus `half`,
     * have the intermediate result in bits 16 and up. */
    unsigned high_up, low_up, half;
    unsigned low_mask;               /* selects the low bytes of the intermediate results */
    unsigned short fixed[8 * 8 + 1]; /* the taps, by distance */
};

/* Both passes of the tensor-core Gaussian for 16 rows by 16 pixels of a channel.
 *
 * W is the banded matrix of the taps, 16 x 16 BLOCKS. Weights and the intermediate are split into
 * high and low bytes; their products are added up in 32 bits, so that the sums are exact.
 *
 *     columns   mid[y][x'] = W[y][y'] pixel[y'][x']
 *     rows      sum[y][x] = mid[y][x'] W^T[x'][x]     or   sum^T[x][y] = W[x][x'] mid^T[x'][y]
 *
 * The pixels of the first product's two tiles are chosen so that its results, packed to bytes, are
 * what the lane needs as an operand of the second product. The intermediate never leaves the
 * registers. */

/* Four weights of row m of W from column k on: their high bytes and their low bytes. The taps are
 * volatile so that the compiler keeps every copy of a weight in the register where mma needs it,
 * instead of moving an existing copy. */
struct mma_weights {
    unsigned high, low;
};

static __device__ __forceinline__ struct mma_weights weights_at(const volatile unsigned short *taps,
                                                                int m, int k)
{
    struct mma_weights weights = {};
    for (int i = 0; i < 4; i++) {
        const unsigned tap = taps[k + i - m + STEP_SIDE];
        weights.high |= (tap >> 8) << 8 * i;
        weights.low |= (tap & 255) << 8 * i;
    }
    return weights;
}

/* The taps in shared memory in the order in which weights_at() reads them, with zeros on either
 * side. */
template <class Shape> struct mma_taps {
    static constexpr int COUNT = STEP_SIDE * (Shape::BLOCKS + 2);
    unsigned short tap[COUNT];
};

template <class Shape, class Args>
static __device__ __forceinline__ void list_taps(const Args &args, mma_taps<Shape> *taps)
{
    for (int i = threadIdx.x; i < mma_taps<Shape>::COUNT; i += Shape::THREADS) {
        const int distance = abs(i - STEP_SIDE - Shape::REACH);
        taps->tap[i] = distance <= args.reach ? args.fixed[distance] : 0;
    }
}

/* A lane's part of W as the first operand: pairs of blocks, four words for each pair. The index k
 * of a pair either follows the order of the rows, or gives lane t eight neighbouring rows. */
template <class Shape> struct mma_matrix {
    static constexpr int PAIRS = (Shape::BLOCKS + 1) / 2;
    unsigned high[PAIRS][4], low[PAIRS][4];
};

template <class Shape>
static __device__ __forceinline__ void set_matrix(const volatile unsigned short *taps,
                                                  mma_matrix<Shape> &matrix)
{
    const int group = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < 2 * Shape::BLOCKS; i++) {
        const int block = i / 2, half = i % 2, pair = block / 2, odd = block % 2;
        const bool octets = Shape::OCTETS && (block | 1) < Shape::BLOCKS;
        const int k = octets ? 32 * pair + 8 * t + 4 * odd : STEP_SIDE * block + 4 * t;
        const struct mma_weights weights = weights_at(taps, group + 8 * half, k);
        matrix.high[pair][2 * odd + half] = weights.high;
        matrix.low[pair][2 * odd + half] = weights.low;
    }
}

/* The sums of the columns of two tiles, for the high and the low bytes of the weights. */
struct mma_columns {
    unsigned high[2][4], low[2][4];
};

/* Adds octets of rows. `operands` points to the lane's words in the first octet of the warp's rows.
 * If a single block of 16 rows is left, it is two octets, and each lane takes half of one. */
template <class Shape>
static __device__ __forceinline__ void add_octets(const mma_matrix<Shape> &matrix,
                                                  const unsigned *operands, struct mma_columns &sum)
{
#pragma unroll
    for (int pair = 0; pair < Shape::BLOCKS / 2; pair++) {
        const uint4 b = *(const uint4 *)(operands + 4 * pair * Shape::OCTET);
        mma_k32(sum.low[0], matrix.low[pair], b.x, b.y);
        mma_k32(sum.low[1], matrix.low[pair], b.z, b.w);
        mma_k32(sum.high[0], matrix.high[pair], b.x, b.y);
        mma_k32(sum.high[1], matrix.high[pair], b.z, b.w);
    }
    if (Shape::BLOCKS % 2) {
        constexpr int LAST = Shape::BLOCKS - 1;
        const int t = threadIdx.x % 4;
        const unsigned *const from = operands + (2 * LAST - t + t / 2) * Shape::OCTET + t % 2;
        const unsigned b[2] = {from[0], from[2]};
#pragma unroll
        for (int tile = 0; tile < 2; tile++) {
            mma_k16(sum.low[tile], matrix.low[LAST / 2], b[tile]);
            mma_k16(sum.high[tile], matrix.high[LAST / 2], b[tile]);
        }
    }
}

/* Adds quartets of rows. `operands` points to the lane's words in the first four rows of the
 * warp. */
template <class Shape>
static __device__ __forceinline__ void
add_quartets(const mma_matrix<Shape> &matrix, const unsigned *operands, struct mma_columns &sum)
{
#pragma unroll
    for (int block = 0; block < Shape::BLOCKS; block++) {
        const uint2 b = *(const uint2 *)(operands + 4 * block * Shape::QUARTET);
        mma_k16(sum.low[0], matrix.low[block / 2] + block % 2 * 2, b.x);
        mma_k16(sum.low[1], matrix.low[block / 2] + block % 2 * 2, b.y);
        if (block >= Shape::HIGH && block < Shape::HIGH_END) {
            mma_k16(sum.high[0], matrix.high[block / 2] + block % 2 * 2, b.x);
            mma_k16(sum.high[1], matrix.high[block / 2] + block % 2 * 2, b.y);
        }
    }
}

/* The intermediate results that lane 4 g + t (mma.cuh) has of a block of 16 columns: rows g and g +
 * 8, columns 4 t .. 4 t + 3. */
struct mma_mid {
    unsigned high[2], low[2];
};

/* Blurs a block of columns and packs the intermediate results. */
template <class Shape, class Args>
static __device__ __forceinline__ struct mma_mid
blur_block(const Args &args, const mma_matrix<Shape> &matrix, const unsigned *operands)
{
    struct mma_columns sum = {};
    if (Shape::OCTETS)
        add_octets(matrix, operands, sum);
    else
        add_quartets(matrix, operands, sum);
    struct mma_mid mid;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        unsigned two[2];
#pragma unroll
        for (int tile = 0; tile < 2; tile++) {
            const unsigned *const high = sum.high[tile] + 2 * half;
            const unsigned *const low = sum.low[tile] + 2 * half;
            two[tile] =
                __byte_perm(high[0] * args.high_up + (low[0] * args.low_up + args.half),
                            high[1] * args.high_up + (low[1] * args.low_up + args.half), 0x7632);
        }
        mid.low[half] = __byte_perm(two[0], two[1], 0x6240) & args.low_mask;
        mid.high[half] = __byte_perm(two[0], two[1], 0x7351);
    }
    return mid;
}

/* Adds the four products of bytes. product(sum, w, mid) adds one product; w and mid tell whether
 * the high bytes of W and of mid are multiplied. Three sums in parallel make short chains. */
template <class Finish, class Product>
static __device__ __forceinline__ void add_bytes(unsigned sum[2][4], const Product &product)
{
    unsigned high[2][4] = {}, middle[2][4] = {}, low[2][4];
#pragma unroll
    for (int i = 0; i < 8; i++)
        low[i / 4][i % 4] = Finish::START;
    product(high, true, true);
    product(middle, true, false);
    product(low, false, false);
    product(middle, false, true);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int tile = i / 4, e = i % 4;
        sum[tile][e] = high[tile][e] * 65536u + (middle[tile][e] * 256u + low[tile][e]);
    }
}

/* The pass along rows for few blocks. W^T is the second operand and is stored twice, for even and
 * for odd steps, so that pairs of the ring's blocks, which are in neighbouring registers, are
 * multiplied by pairs of W's blocks. sum[tile][e] belongs to row g (g + 8 for e >= 2) and to pixel
 * 4 t + e % 2 * 2 + tile. */
template <class Shape> struct mma_ring {
    static constexpr int SLOTS =
        (Shape::BLOCKS + 1) / 2 * 2 * (Shape::BLOCKS == 2 && Shape::STEPS % 4 == 0 ? 2 : 1);
    unsigned high[SLOTS / 2][4], low[SLOTS / 2][4];
};

template <class Shape> struct mma_ring_weights {
    static constexpr int SLOTS = mma_ring<Shape>::SLOTS;
    /* The indices are the parity of the step, the tile, and the slot. */
    unsigned high[2][2][SLOTS], low[2][2][SLOTS];
};

template <class Shape>
static __device__ __forceinline__ void set_ring_weights(const volatile unsigned short *taps,
                                                        mma_ring_weights<Shape> &weights)
{
    constexpr int SLOTS = mma_ring<Shape>::SLOTS;
    const int group = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < 4 * SLOTS; i++) {
        const int odd = i / SLOTS / 2, tile = i / SLOTS % 2, slot = i % SLOTS;
        const int block = (slot + SLOTS - odd) % SLOTS;
        const int pixel = 2 * group + tile;
        if (block >= Shape::BLOCKS)
            continue;
        const struct mma_weights four = weights_at(taps, pixel, STEP_SIDE * block + 4 * t);
        weights.high[odd][tile][slot] = four.high;
        weights.low[odd][tile][slot] = four.low;
    }
}

template <class Shape>
static __device__ __forceinline__ void keep_in_ring(mma_ring<Shape> &ring, int step,
                                                    const struct mma_mid &mid)
{
    const int slot = (Shape::BLOCKS - 1 + step) % mma_ring<Shape>::SLOTS;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        ring.high[slot / 2][slot % 2 * 2 + half] = mid.high[half];
        ring.low[slot / 2][slot % 2 * 2 + half] = mid.low[half];
    }
}

/* Multiplies high or low bytes of the ring's blocks (mid) by high or low bytes of the weights. The
 * block of W for a slot is the slot's distance from the first block of the step. */
template <class Shape>
static __device__ __forceinline__ void
multiply_ring(unsigned sum[4], int step, const unsigned (*mid)[4], const unsigned *weights)
{
    constexpr int SLOTS = mma_ring<Shape>::SLOTS, BLOCKS = Shape::BLOCKS;
#pragma unroll
    for (int slot = 0; slot < SLOTS; slot += 2) {
        const int a = (slot + SLOTS - step % SLOTS) % SLOTS, b = (a + 1) % SLOTS;
        const int at_a = (a + step % 2) % SLOTS, at_b = (b + step % 2) % SLOTS;
        if (a < BLOCKS && b < BLOCKS)
            mma_k32(sum, mid[slot / 2], weights[at_a], weights[at_b]);
        else if (a < BLOCKS)
            mma_k16(sum, mid[slot / 2], weights[at_a]);
        else if (b < BLOCKS)
            mma_k16(sum, mid[slot / 2] + 2, weights[at_b]);
    }
}

template <class Shape, class Finish>
static __device__ __forceinline__ void blur_ring(const mma_ring<Shape> &ring,
                                                 const mma_ring_weights<Shape> &weights, int step,
                                                 unsigned sum[2][4])
{
    const int odd = step % 2;
    add_bytes<Finish>(sum, [&](unsigned(*part)[4], bool high_weights, bool high_mid) {
#pragma unroll
        for (int tile = 0; tile < 2; tile++)
            multiply_ring<Shape>(part[tile], step, high_mid ? ring.high : ring.low,
                                 high_weights ? weights.high[odd][tile] : weights.low[odd][tile]);
    });
}

/* The pass along rows for many blocks. W is the first operand, as in the pass along columns, and
 * the intermediate results are a window that is moved after each chunk. sum[tile][e] belongs to
 * pixel g (g + 8 for e >= 2) and to row 8 tile + 2 t + e % 2. */
template <class Shape> struct mma_window {
    static constexpr int PAIRS = (Shape::BLOCKS + Shape::STEPS) / 2;
    unsigned high[PAIRS][2][2], low[PAIRS][2][2]; /* the second index is the tile */
};

template <class Shape>
static __device__ __forceinline__ void keep_in_window(mma_window<Shape> &window, int step,
                                                      const struct mma_mid &mid)
{
    const int block = Shape::BLOCKS - 1 + step;
#pragma unroll
    for (int tile = 0; tile < 2; tile++) {
        window.high[block / 2][tile][block % 2] = mid.high[tile];
        window.low[block / 2][tile][block % 2] = mid.low[tile];
    }
}

template <class Shape> static __device__ __forceinline__ void move_window(mma_window<Shape> &window)
{
#pragma unroll
    for (int i = 0; i < 2 * (Shape::BLOCKS - 1); i++) {
        const int block = i / 2, tile = i % 2, from = block + Shape::STEPS;
        window.high[block / 2][tile][block % 2] = window.high[from / 2][tile][from % 2];
        window.low[block / 2][tile][block % 2] = window.low[from / 2][tile][from % 2];
    }
}

/* Multiplies the window's blocks. At even steps pairs of W's blocks are multiplied by pairs of the
 * window's blocks; at odd steps single blocks are, because moving registers would take longer. */
template <class Shape>
static __device__ __forceinline__ void multiply_window(unsigned sum[4], int step, int tile,
                                                       const unsigned (*matrix)[4], int first,
                                                       int end, const unsigned (*mid)[2][2])
{
#pragma unroll
    for (int block = first; block < end; block++) {
        const int at = step + block;
        const bool paired = step % 2 == 0 && block - block % 2 >= first && (block | 1) < end;
        if (!paired)
            mma_k16(sum, matrix[block / 2] + block % 2 * 2, mid[at / 2][tile][at % 2]);
        else if (block % 2 == 0)
            mma_k32(sum, matrix[block / 2], mid[at / 2][tile][0], mid[at / 2][tile][1]);
    }
}

template <class Shape, class Finish>
static __device__ __forceinline__ void blur_window(const mma_window<Shape> &window,
                                                   const mma_matrix<Shape> &matrix, int step,
                                                   unsigned sum[2][4])
{
    add_bytes<Finish>(sum, [&](unsigned(*part)[4], bool high_weights, bool high_mid) {
        const int first = high_weights ? Shape::HIGH : 0;
        const int end = high_weights ? Shape::HIGH_END : Shape::BLOCKS;
#pragma unroll
        for (int tile = 0; tile < 2; tile++)
            multiply_window<Shape>(part[tile], step, tile, high_weights ? matrix.high : matrix.low,
                                   first, end, high_mid ? window.high : window.low);
    });
}

/* The Gaussian of 8-bit pictures of one or three channels on tensor cores, with a radius up to
 * GF_GAUSS_TENSOR_MAX: both passes in one kernel. */

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

/* The least CODE_VERSION (launch.cuh) whose kernel is ever launched; 0: every one. With tables,
 * mma_is_faster() makes the choice. */
template <class Shape, class Fuse>
static constexpr int MMA_OLDEST_CODE = Shape::REACH <= 8 && (Fuse::BEFORE || Fuse::AFTER)
                                           ? STRIPS_SMALL_CODE
                                           : 0;

template <class Shape, class Finish, int EACH, class Fuse>
__global__ void __launch_bounds__(Shape::THREADS, EACH)
    blur_mma_kernel(const __grid_constant__ strip_maps maps,
                    const __grid_constant__ mma_args<Finish> args)
{
    if constexpr (CODE_VERSION >= MMA_OLDEST_CODE<Shape, Fuse>)
        make_strips<Shape, mma_state<Shape, mma_args<Finish>, Fuse>>(maps, args);
    else
        __trap();
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
