/* How chunks come into shared memory, are put into the order of the operands, and leave it. */
#ifndef GF_CUDA_FILTERS_GAUSS_GAUSS_MMA_CHUNKS_CUH
#define GF_CUDA_FILTERS_GAUSS_GAUSS_MMA_CHUNKS_CUH

#include "cuda/common/mma.cuh"
#include "cuda/filters/gauss/gauss_mma_shape.cuh"

/* The first row of the strip's input, and the first pixel of a chunk's. */
template <class Shape, class Args>
static __device__ __forceinline__ int top_of(const Args &args, int strip)
{
    return args.p.out_y + strip * Shape::OUT_ROWS - Shape::REACH;
}

template <class Shape>
static __device__ __forceinline__ int left_of(const struct mma_walk &walk)
{
    return (walk.first + walk.chunk * Shape::STEPS) * MMA_SIDE - Shape::REACH;
}

/* Lists which rows of the view the strip's rows are; -1 stands for a row of zeros. The view has not
 * all of them: the nearest row takes the place of those that meet only zero taps. */
template <class Shape, class Args>
static __device__ __forceinline__ void list_strip(const Args &args, int strip, int *lists)
{
    const struct view_pair &p = args.p;
    const int top = top_of<Shape>(args, strip);
    const int low = p.out_y - args.radius, high = p.out_y + p.rows - 1 + args.radius;
    for (int i = threadIdx.x; i < Shape::ROWS; i += Shape::THREADS) {
        const int index = gf_border_index(min(max(top + i, low), high), p.height, p.border);
        lists[strip % MMA_LISTS * Shape::ROWS + i] = index < 0 ? -1 : index - p.in_y;
    }
}

/* Starts the copies of a chunk: whole pieces of 16 bytes that lie within the rows. */
template <class Shape, class Args>
static __device__ __forceinline__ void fetch_chunk(const Args &args, const struct mma_walk &walk,
                                                   const int *lists, unsigned char *raw)
{
    const struct view_pair &p = args.p;
    const int piece = threadIdx.x % Shape::LANES;
    const int at = (left_of<Shape>(walk) * Shape::CHANNELS & ~15) + 16 * piece;
    if (piece >= Shape::PITCH / 16 || at < 0 || at + 16 > p.width * Shape::CHANNELS)
        return;
    const int *const list = lists + walk.strip % MMA_LISTS * Shape::ROWS;
    for (int row = threadIdx.x / Shape::LANES; row < Shape::ROWS; row += Shape::THREADS / Shape::LANES)
        copy_async(raw + row * Shape::PITCH + 16 * piece,
                   p.in + (size_t)max(list[row], 0) * p.in_pitch + at);
}

/* Puts four pixels of eight rows, from pixel x on, where copies would have brought them: those that
 * are not within the rows, or in a piece that is not. */
template <class Shape, class Args>
static __device__ __forceinline__ void patch_octet(const Args &args, const int *list, int x,
                                                   unsigned char *raw)
{
    const struct view_pair &p = args.p;
#pragma unroll 1
    for (int i = 0; i < 32; i++) {
        const int row = i / 4, index = list[row];
        const int column = gf_border_index(x + i % 4, p.width, p.border);
        const unsigned char *const from =
            p.in + (size_t)max(index, 0) * p.in_pitch + (size_t)max(column, 0) * Shape::CHANNELS;
#pragma unroll
        for (int c = 0; c < Shape::CHANNELS; c++)
            raw[row * Shape::PITCH + i % 4 * Shape::CHANNELS + c] = column < 0 ? 0 : from[c];
    }
}

/* Loads four pixels of eight rows, channels interleaved: word[half][i][k] is word i of row
 * 4 half + k. */
template <class Shape, class Args>
static __device__ __forceinline__ void load_octet(const Args &args, const int *list,
                                                  const unsigned char *raw,
                                                  unsigned word[2][Shape::CHANNELS][4])
{
#pragma unroll
    for (int row = 0; row < 8; row++) {
        const bool zero = args.p.border == GF_BORDER_CONSTANT && list[row] < 0;
#pragma unroll
        for (int i = 0; i < Shape::CHANNELS; i++)
            word[row / 4][i][row % 4] =
                zero ? 0 : *(const unsigned *)(raw + row * Shape::PITCH + 4 * i);
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

/* Splits the channels and makes words of four rows of a column. */
template <class Shape, class Args>
static __device__ __forceinline__ void turn_chunk(const Args &args, const struct mma_walk &walk,
                                                  const int *lists, unsigned char *raw,
                                                  unsigned *operands)
{
    constexpr int CHANNELS = Shape::CHANNELS, FOURS = Shape::PLANE / 4;
    const int left = left_of<Shape>(walk), row_bytes = args.p.width * CHANNELS;
    const int slack = left * CHANNELS & 15;
    const int *const list = lists + walk.strip % MMA_LISTS * Shape::ROWS;
    for (int item = threadIdx.x; item < Shape::ROWS / 8 * FOURS; item += Shape::THREADS) {
        const int octet = item / FOURS, four = item - octet * FOURS, x = left + 4 * four;
        unsigned char *const from = raw + 8 * octet * Shape::PITCH + slack + 4 * CHANNELS * four;
        if (x < 0 || (x + 4) * CHANNELS > (row_bytes & ~15))
            patch_octet<Shape>(args, list + 8 * octet, x, from);
        unsigned word[2][CHANNELS][4], column[2][CHANNELS][4];
        load_octet<Shape>(args, list + 8 * octet, from, word);
#pragma unroll
        for (int i = 0; i < 2 * CHANNELS; i++)
            transpose_bytes(word[i / CHANNELS][i % CHANNELS], column[i / CHANNELS][i % CHANNELS]);
        store_octet<Shape>(operands, octet, four, column[0][0], column[1][0]);
    }
}

/* Writes those results of a chunk that are the block's. */
template <class Shape, class Args>
static __device__ __forceinline__ void store_chunk(const Args &args, const struct mma_walk &walk,
                                                   const unsigned char *stage)
{
    const struct view_pair &p = args.p;
    const int first = walk.chunk * Shape::STEPS - Shape::LEAD, piece = threadIdx.x % Shape::LANES;
    const int step = first + piece / Shape::CHANNELS;
    if (piece >= Shape::CHUNK / 16 || step < 0 || step >= walk.count)
        return;
    const int at = (walk.first + first) * MMA_SIDE * Shape::CHANNELS + 16 * piece;
    const int top = walk.strip * Shape::OUT_ROWS, rows = min(Shape::OUT_ROWS, p.rows - top);
    const int bytes = p.width * Shape::CHANNELS - at;
    unsigned char *const to = p.out + (size_t)top * p.out_pitch + at;
    for (int row = threadIdx.x / Shape::LANES; row < rows; row += Shape::THREADS / Shape::LANES) {
        const unsigned char *const from = stage + row * Shape::PITCH + 16 * piece;
        if (bytes >= 16) {
            *(uint4 *)(to + (size_t)row * p.out_pitch) = *(const uint4 *)from;
        } else {
            for (int i = 0; i < bytes; i++)
                to[(size_t)row * p.out_pitch + i] = from[i];
        }
    }
}

#endif
