/* Converts pixels to samples: colour conversion and downsampling as in libjpeg-turbo. A warp
 * processes two squares of 8 x 8 pixels. A row of a square has 24 bytes, which are a row of a
 * matrix of bytes. The other matrix of the product has columns for the samples of the eight pixels.
 * A factor of libjpeg's is COLOUR_RADIX * high + low, so that a sample needs two columns, which are
 * in one lane. Lane i has row i / 4 of both squares. */
#pragma once

#include "cuda/jpeg/byte_product.cuh"
#include "cuda/jpeg/encode_group.cuh"

enum { SQUARE = 8, SQUARES = 2 };

/* The position of a square's first pixel. */
struct square {
    int x, y;
};

static __device__ __forceinline__ bool is_inside(const struct encode_picture &picture,
                                                 struct square square)
{
    return square.x + SQUARE <= picture.width && square.y + SQUARE <= picture.height;
}

/* Loads word i of a row of a square at the picture's edge. The last column and the last row are
 * repeated. */
template <int CHANNELS>
static __device__ unsigned load_edge(const struct encode_picture &picture, struct square square,
                                     int row, int i)
{
    const unsigned char *const from =
        picture.pixels + min(square.y + row, picture.height - 1) * picture.pitch;
    unsigned word = 0;
#pragma unroll 1
    for (int j = 0; j < 4; j++) {
        const int at = 4 * i + j, column = min(square.x + at / CHANNELS, picture.width - 1);
        word |= (unsigned)from[(size_t)column * CHANNELS + at % CHANNELS] << 8 * j;
    }
    return word;
}

template <int CHANNELS>
static __device__ __forceinline__ const unsigned *row_of(const struct encode_picture &picture,
                                                         struct square square, int row)
{
    return (const unsigned *)(picture.pixels + (square.y + row) * picture.pitch +
                              (size_t)square.x * CHANNELS);
}

/* Loads the lane's words of the two squares as a matrix of 16 rows of 32 bytes: a row has 24 bytes
 * of pixels, and CONSTANT_BYTES twice. */
static __device__ __forceinline__ void load_squares(const struct encode_picture &picture,
                                                    const struct square squares[SQUARES],
                                                    unsigned words[4])
{
    const int lane = threadIdx.x % WARP, row = lane / 4;
    words[2] = words[3] = CONSTANT_BYTES;
    if (is_inside(picture, squares[0]) && is_inside(picture, squares[1])) {
#pragma unroll
        for (int i = 0; i < SQUARES; i++) {
            const unsigned *const from = row_of<3>(picture, squares[i], row) + lane % 4;
            words[i] = __ldg(from);
            if (!(lane & 2))
                words[2 + i] = __ldg(from + 4);
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (i < 2 || !(lane & 2))
            words[i] = load_edge<3>(picture, squares[i % 2], row, i / 2 * 4 + lane % 4);
    }
}

/* Loads the lane's word of row lane / 4 of gray squares: of square a in lanes with lane % 4 < 2, of
 * square b in the other lanes. */
static __device__ __forceinline__ unsigned load_gray(const struct encode_picture &picture,
                                                     struct square a, struct square b)
{
    const int lane = threadIdx.x % WARP;
    const struct square square = lane & 2 ? b : a;
    return is_inside(picture, square) ? __ldg(row_of<1>(picture, square, lane / 4) + lane % 2)
                                      : load_edge<1>(picture, square, lane / 4, lane % 2);
}

/* Joins byte 2 of each of four words to a word. */
static __device__ __forceinline__ unsigned gather(unsigned a, unsigned b, unsigned c, unsigned d)
{
    return __byte_perm(__byte_perm(a, b, 0x62), __byte_perm(c, d, 0x62), 0x5410);
}

/* Computes samples of row lane / 4 of each of the two squares, in bits 16 to 23. */
static __device__ __forceinline__ void convert(const unsigned pixels[4], const unsigned parts[2],
                                               unsigned samples[SQUARES])
{
    const int zero[4] = {0, 0, 0, 0};
    int sums[4];
    multiply_long(pixels, parts, zero, sums);
    samples[0] = (unsigned)(COLOUR_RADIX * sums[0] + sums[1]);
    samples[1] = (unsigned)(COLOUR_RADIX * sums[2] + sums[3]);
}

/* Computes luma of the columns 4 * (lane % 4) .. + 3 in lanes with lane % 4 < 2, and blue chroma of
 * the columns 4 * (lane % 4 - 2) .. + 3 in the other lanes. */
static __device__ __forceinline__ void convert_luma_blue(const unsigned pixels[4],
                                                         const struct lane_colours &colours,
                                                         unsigned words[SQUARES])
{
    unsigned samples[4][SQUARES];
#pragma unroll
    for (int i = 0; i < 4; i++)
        convert(pixels, colours.parts[i], samples[i]);
#pragma unroll
    for (int i = 0; i < SQUARES; i++)
        words[i] = gather(samples[0][i], samples[1][i], samples[2][i], samples[3][i]);
}

/* Computes red chroma of the columns 4 * (lane % 4) .. + 3 in lanes with lane % 4 < 2. */
static __device__ __forceinline__ void
convert_red(const unsigned pixels[4], const struct lane_colours &colours, unsigned words[SQUARES])
{
    unsigned samples[4][SQUARES];
#pragma unroll
    for (int i = 0; i < 4; i++)
        convert(pixels, colours.parts[4 + i], samples[i]);
#pragma unroll
    for (int i = 0; i < SQUARES; i++)
        words[i] = gather(samples[0][i], samples[1][i], samples[2][i], samples[3][i]);
}

/* Computes red chroma of the columns 2 * (lane % 4) and + 1. Bytes 0 and 1 of the result belong to
 * the first square, bytes 2 and 3 to the second. */
static __device__ __forceinline__ unsigned convert_red_pairs(const unsigned pixels[4],
                                                             const struct lane_colours &colours)
{
    unsigned samples[2][SQUARES];
#pragma unroll
    for (int i = 0; i < 2; i++)
        convert(pixels, colours.parts[4 + i], samples[i]);
    return gather(samples[0][0], samples[1][0], samples[0][1], samples[1][1]);
}

/* ---- downsampling: halves are rounded down and up in turns along a row ---- */

/* Stores means of 2 x 2 samples of two squares, one above the other: `samples` is their part of the
 * chroma block, 8 rows of 4 columns. Lanes of even rows compute the means of their left columns or
 * of the first square; lanes of odd rows compute the other means. */
static __device__ __forceinline__ unsigned char mean_of_four(unsigned word, unsigned half,
                                                             unsigned odd_column)
{
    const unsigned other = __shfl_xor_sync(~0u, word, 4);
    return (unsigned char)(__dp4a(word, half, __dp4a(other, half, 1 + odd_column)) >> 2);
}

static __device__ __forceinline__ void downsample_both(const unsigned blue[SQUARES], unsigned red,
                                                       const struct lane_colours &colours,
                                                       unsigned char *samples)
{
    const unsigned char upper = mean_of_four(blue[0], colours.half, colours.odd),
                        lower = mean_of_four(blue[1], colours.half, colours.odd);
    if (threadIdx.x & 2) {
        samples[colours.blue] = upper;
        samples[colours.blue + 4 * 8] = lower;
    }
    samples[colours.red] = mean_of_four(red, colours.half, threadIdx.x & 1);
}

/* Stores means of 2 x 1 samples of two squares side by side: `samples` are the chroma blocks. */
static __device__ __forceinline__ unsigned char mean_of_two(unsigned word, unsigned half,
                                                            unsigned odd_column)
{
    return (unsigned char)(__dp4a(word, half, odd_column) >> 1);
}

static __device__ __forceinline__ void downsample_columns(const unsigned blue[SQUARES],
                                                          unsigned red,
                                                          const struct lane_colours &colours,
                                                          unsigned char *samples)
{
    const unsigned left = 0x0101, right = 0x01010000;
#pragma unroll
    for (int i = 0; i < SQUARES; i++) {
        if (threadIdx.x & 2)
            *(uchar2 *)(samples + colours.blue + 4 * i) =
                make_uchar2(mean_of_two(blue[i], left, 0), mean_of_two(blue[i], right, 1));
        samples[colours.red + 4 * i] = mean_of_two(red, i ? right : left, threadIdx.x & 1);
    }
}
