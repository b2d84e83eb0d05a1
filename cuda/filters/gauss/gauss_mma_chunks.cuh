/* How chunks come into shared memory, are put into the order of the operands, and leave it. */
#ifndef GF_CUDA_FILTERS_GAUSS_GAUSS_MMA_CHUNKS_CUH
#define GF_CUDA_FILTERS_GAUSS_GAUSS_MMA_CHUNKS_CUH

#include "cuda/filters/gauss/gauss_mma_shape.cuh"

/* The first row of the picture in a strip's chunks, and the first pixel of a chunk. */
template <class Shape, class Args>
static __device__ __forceinline__ int top_of(const Args &args, const struct mma_walk &walk)
{
    return args.p.out_y + walk.strip * Shape::OUT_ROWS - Shape::REACH;
}

template <class Shape>
static __device__ __forceinline__ int left_of(const struct mma_walk &walk)
{
    constexpr int EARLY = Shape::LEAD - (Shape::BLOCKS - 1);
    return (walk.first + walk.chunk * Shape::STEPS - EARLY) * MMA_SIDE - Shape::REACH;
}

/* Starts the copy of a chunk. */
template <class Shape, class Args>
static __device__ __forceinline__ void fetch_chunk(const Args &args, const struct mma_maps &maps,
                                                   const struct mma_walk &walk, unsigned char *raw,
                                                   box_bar *bar)
{
    box_expect(bar, Shape::ROWS * Shape::CHUNK);
    box_load(raw, &maps.chunk, left_of<Shape>(walk) * Shape::CHANNELS,
             top_of<Shape>(args, walk) - args.p.in_y, bar);
}

/* Calls function(x, y, place) for the groups of a chunk's results that are the block's: the group's
 * byte and row in the output, and its place in the stage. */
template <class Shape, class Args, class Function>
static __device__ __forceinline__ void for_groups(const Args &args, const struct mma_walk &walk,
                                                  const Function &function)
{
    for (int step = 0; step < Shape::STEPS; step += Shape::GROUP) {
        const int at = walk.chunk * Shape::STEPS - Shape::LEAD + step;
        if (at >= 0 && at < walk.count)
            function((walk.first + at) * MMA_SIDE * Shape::CHANNELS, walk.strip * Shape::OUT_ROWS,
                     step / Shape::GROUP * (Shape::OUT_ROWS * Shape::GROUP_BYTES));
    }
}

/* Starts to bring the picture's own samples to where a chunk's results will be. */
template <class Shape, class Args>
static __device__ __forceinline__ void
fetch_originals(const Args &args, const struct mma_maps &maps, const struct mma_walk &walk,
                unsigned char *stage, box_bar *bar)
{
    int groups = 0;
    for_groups<Shape>(args, walk, [&](int, int, int) { groups++; });
    box_expect(bar, groups * Shape::OUT_ROWS * Shape::GROUP_BYTES);
    for_groups<Shape>(args, walk, [&](int x, int y, int place) {
        box_load(stage + place, &maps.original, x, args.p.out_y + y - args.p.in_y, bar);
    });
}

template <class Shape, class Args>
static __device__ __forceinline__ void store_chunk(const Args &args, const struct mma_maps &maps,
                                                   const struct mma_walk &walk,
                                                   const unsigned char *stage)
{
    for_groups<Shape>(args, walk, [&](int x, int y, int place) {
        box_store(&maps.result, x, y, stage + place);
    });
}

/* Whether a chunk has pixels outside the picture that the border does not make zeros: those come
 * with the box. */
template <class Shape, class Args>
static __device__ __forceinline__ bool needs_border(const Args &args, const struct mma_walk &walk)
{
    const int left = left_of<Shape>(walk), top = top_of<Shape>(args, walk);
    return args.p.border != GF_BORDER_CONSTANT &&
           (left < 0 || left + Shape::PLANE > args.p.width || top < 0 ||
            top + Shape::ROWS > args.p.height);
}

/* Columns outside the picture, in the rows that are inside. */
template <class Shape, class Args>
static __device__ __forceinline__ void fill_columns(const Args &args, const struct mma_walk &walk,
                                                    unsigned char *raw)
{
    const struct view_pair &p = args.p;
    const int left = left_of<Shape>(walk), top = top_of<Shape>(args, walk) - p.in_y;
    for (int byte = threadIdx.x % 32; byte < Shape::CHUNK; byte += 32) {
        const int x = left + byte / Shape::CHANNELS;
        if (x >= 0 && x < p.width)
            continue;
        const int column = gf_border_index(x, p.width, p.border);
        const unsigned char *const from =
            p.in + (long long)column * Shape::CHANNELS + byte % Shape::CHANNELS;
        for (int row = threadIdx.x / 32; row < Shape::ROWS; row += Shape::WARPS)
            raw[row * Shape::CHUNK + byte] =
                from[(size_t)min(max(top + row, 0), args.in_rows - 1) * p.in_pitch];
    }
}

/* Rows outside the picture, of which the border makes others: mostly of rows of the same chunk. Those
 * beyond the radius meet zero taps. */
template <class Shape, class Args>
static __device__ __forceinline__ void fill_rows(const Args &args, const struct mma_walk &walk,
                                                 unsigned char *raw)
{
    const struct view_pair &p = args.p;
    const int left = left_of<Shape>(walk), top = top_of<Shape>(args, walk);
    for (int row = threadIdx.x / 32; row < Shape::ROWS; row += Shape::WARPS) {
        const int y = top + row;
        if ((y >= 0 && y < p.height) || y < p.out_y - args.radius ||
            y >= p.out_y + p.rows + args.radius)
            continue;
        const int index = gf_border_index(y, p.height, p.border);
        const bool near = index >= top && index < top + Shape::ROWS;
        const unsigned char *const far = p.in + (long long)(index - p.in_y) * (long long)p.in_pitch;
        for (int byte = threadIdx.x % 32; byte < Shape::CHUNK; byte += 32) {
            const int x = left + byte / Shape::CHANNELS;
            raw[row * Shape::CHUNK + byte] =
                near ? raw[(index - top) * Shape::CHUNK + byte]
                     : far[(long long)gf_border_index(x, p.width, p.border) * Shape::CHANNELS +
                           byte % Shape::CHANNELS];
        }
    }
}

/* a, b: sample s of four pixels of the octet's upper and lower four rows. Pixels are in the order
 * 0, 2, 1, 3, so that a lane finds the operands of two tiles together. */
template <class Shape>
static __device__ __forceinline__ void store_octet(unsigned *operands, int octet, int four,
                                                   const unsigned *a, const unsigned *b)
{
    constexpr int CHANNELS = Shape::CHANNELS, PLANE = Shape::PLANE;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        const int s0 = c, s1 = CHANNELS + c, s2 = 2 * CHANNELS + c, s3 = 3 * CHANNELS + c;
        if (Shape::OCTETS) {
            uint4 *const to =
                (uint4 *)(operands + octet * Shape::OCTET + 2 * (c * PLANE + 4 * four));
            to[0] = make_uint4(a[s0], b[s0], a[s2], b[s2]);
            to[1] = make_uint4(a[s1], b[s1], a[s3], b[s3]);
        } else {
            unsigned *const to = operands + 2 * octet * Shape::QUARTET + c * PLANE + 4 * four;
            *(uint4 *)to = make_uint4(a[s0], a[s2], a[s1], a[s3]);
            *(uint4 *)(to + Shape::QUARTET) = make_uint4(b[s0], b[s2], b[s1], b[s3]);
        }
    }
}

/* Splits the channels and makes words of four rows of a column. An item is four pixels of eight
 * rows. */
template <class Shape>
static __device__ __forceinline__ void turn_chunk(const unsigned char *raw, unsigned *operands)
{
    constexpr int CHANNELS = Shape::CHANNELS, FOURS = Shape::PLANE / 4;
    for (int item = threadIdx.x; item < Shape::ROWS / 8 * FOURS; item += Shape::THREADS) {
        const int octet = item / FOURS, four = item - octet * FOURS;
        const unsigned char *const from = raw + 8 * octet * Shape::CHUNK + 4 * CHANNELS * four;
        unsigned word[2][CHANNELS][4], column[2][CHANNELS][4];
#pragma unroll
        for (int i = 0; i < 8 * CHANNELS; i++) {
            const int row = i / CHANNELS, at = i % CHANNELS;
            word[row / 4][at][row % 4] = *(const unsigned *)(from + row * Shape::CHUNK + 4 * at);
        }
#pragma unroll
        for (int i = 0; i < 2 * CHANNELS; i++)
            transpose_bytes(word[i / CHANNELS][i % CHANNELS], column[i / CHANNELS][i % CHANNELS]);
        store_octet<Shape>(operands, octet, four, column[0][0], column[1][0]);
    }
}

#endif
