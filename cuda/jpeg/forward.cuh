/* From pixels to the quantised coefficients of a chunk. */
#pragma once

#include "cuda/jpeg/byte_product.cuh"
#include "cuda/jpeg/chunk.cuh"

/* Converts samples to quantised coefficients: libjpeg-turbo's integer DCT and its division, both
 * exact.
 *
 * Each of the DCT's two passes multiplies by a matrix of integers C, adds half a unit and shifts to
 * the right. Tensor cores multiply bytes: an element of C is 256 * high + low with low in
 * -128..127, and a value of the first pass is made positive and split into two bytes. */

enum { PASS1_SHIFT = 11, PASS2_SHIFT = 15, CENTRE = 128 };
/* The number that is added to values of the first pass. Their absolute values are at most 4096. */
enum { PASS1_BIAS = 8192 };
/* Element (0, i) of C. A row of such elements computes a scaled sum of samples. */
enum { UNIT = 8192 };

/* Quantises a value, rounding to nearest, and away from zero where two integers are as near. `half`
 * holds half of 2^15 and half of the quantiser; a negative value is first made smaller by one.
 * Quantiser and value are multiples of 8, or their lowest three bits have no effect; `reciprocal`
 * is 2^20 divided by an eighth of the quantiser, rounded up, and `excess` corrects negative values
 * for that rounding. */
static __device__ __forceinline__ int quantise(int value, int half, int reciprocal, int excess)
{
    const int rounded = value < half ? value - (1 << PASS2_SHIFT) : value;
    return ((rounded >> (PASS2_SHIFT + 3)) * reciprocal + excess) >> 20;
}

/* Computes the first pass, over the rows of one block. The samples of the block are in one half of
 * the lanes. The lane gets frequency lane / 4 of rows 2 * (lane % 4) and 2 * (lane % 4) + 1, each
 * as a low and a high byte. CENTRE is subtracted from samples, which changes only the sums. */
static __device__ __forceinline__ unsigned transform_rows(const struct lane_cosines &cosines,
                                                          int half, unsigned samples)
{
    int sums[4];
    multiply_bytes<true>(cosines.rows[half].high, cosines.rows[half].low, samples, cosines.start,
                         sums);
    const unsigned a = (unsigned)(256 * sums[0] + sums[2]) >> PASS1_SHIFT,
                   b = (unsigned)(256 * sums[1] + sums[3]) >> PASS1_SHIFT;
    return __byte_perm(a, b, 0x5410);
}

/* Computes the second pass, over the columns of blocks a and b, whose rows have been
 * transformed. */
static __device__ __forceinline__ void transform_columns(unsigned rows_a, unsigned rows_b,
                                                         const struct lane_cosines &cosines,
                                                         const struct lane_quantiser &quantiser,
                                                         short *a, short *b)
{
    const int zero[4] = {0, 0, 0, 0};
    int high[4], mixed[4], low[4];
    multiply_bytes<false>(rows_a, rows_b, cosines.columns_high, zero, high);
    multiply_bytes<false>(rows_a, rows_b, cosines.columns_mixed, zero, mixed);
    multiply_bytes<false>(rows_a, rows_b, cosines.columns_low, quantiser.start, low);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const unsigned value =
            ((unsigned)high[i] << 16) + ((unsigned)mixed[i] << 8) + (unsigned)low[i];
        (i < 2 ? a : b)[quantiser.place[i % 2]] =
            (short)quantise((int)value, quantiser.half[i % 2], quantiser.reciprocal[i % 2],
                            quantiser.excess[i % 2]);
    }
}

/* Converts pixels to samples: colour conversion and downsampling as in libjpeg-turbo. A warp
 * processes two squares of 8 x 8 pixels. A row of a square has 24 bytes, which are a row of a
 * matrix of bytes. The other matrix of the product has columns for the samples of the eight pixels.
 * A factor of libjpeg's is COLOUR_RADIX * high + low, so that a sample needs two columns, which are
 * in one lane. Lane i has row i / 4 of both squares. */

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

/* Computes the quantised coefficients of a chunk from its pixels. */

/* Two luma blocks that a warp converts and transforms together. */
struct luma_pair {
    struct square square[SQUARES];
    int mcu;            /* the number in the chunk of the first block's MCU */
    int block[SQUARES]; /* the numbers of the blocks in the chunk */
};

template <class SHAPE>
static __device__ __forceinline__ struct luma_pair find_pair(const struct encode_picture &picture,
                                                             const struct chunk &chunk, int i)
{
    struct luma_pair pair;
    pair.mcu = SHAPE::LUMA == 4 ? i / 2 : SHAPE::LUMA == 2 ? i : 2 * i;
    const int column = SHAPE::LUMA == 4 ? i % 2 : 0;
    const int2 place = mcu_place(picture, chunk, pair.mcu);
    const struct square first = {(place.x * SHAPE::H + column) * SQUARE,
                                 place.y * SHAPE::V * SQUARE};
    pair.block[0] = pair.mcu * SHAPE::BLOCKS + column;
    pair.block[1] = pair.block[0] + (SHAPE::LUMA == 1 ? SHAPE::BLOCKS : SHAPE::LUMA / 2);
    pair.square[0] = pair.square[1] = first;
    if (SHAPE::LUMA == 4)
        pair.square[1].y += SQUARE;
    else if (SHAPE::LUMA == 2)
        pair.square[1].x += SQUARE;
    else {
        const int2 next = mcu_place(picture, chunk, pair.mcu + 1);
        pair.square[1] = {next.x * SQUARE, next.y * SQUARE};
    }
    return pair;
}

static __device__ __forceinline__ short *block_at(short *coefficients, int block)
{
    return coefficients + block * COEFFICIENTS_PITCH;
}

/* Transforms two blocks. Half `half` of the lanes has the samples of both blocks. */
static __device__ __forceinline__ void transform_words(const unsigned words[SQUARES], int half,
                                                       const struct lane_cosines &cosines,
                                                       const struct lane_quantiser &quantiser,
                                                       short *a, short *b)
{
    transform_columns(transform_rows(cosines, half, words[0]),
                      transform_rows(cosines, half, words[1]), cosines, quantiser, a, b);
}

/* Transforms two blocks. One half of the lanes has the samples of block a, the other half has the
 * samples of block b. */
static __device__ __forceinline__ void transform_halves(unsigned samples,
                                                        const struct lane_cosines &cosines,
                                                        const struct lane_quantiser &quantiser,
                                                        short *a, short *b)
{
    transform_columns(transform_rows(cosines, 0, samples), transform_rows(cosines, 1, samples),
                      cosines, quantiser, a, b);
}

static __device__ __forceinline__ void forward_gray(const struct encode_picture &picture,
                                                    const struct luma_pair &pair,
                                                    const struct lane_cosines &cosines,
                                                    const struct lane_quantiser &quantiser,
                                                    short *coefficients)
{
    transform_halves(load_gray(picture, pair.square[0], pair.square[1]), cosines, quantiser,
                     block_at(coefficients, pair.block[0]), block_at(coefficients, pair.block[1]));
}

/* Transforms luma. Downsampled chroma is written to `samples`; other chroma is transformed, too. */
template <class SHAPE>
static __device__ __forceinline__ void
forward_colour(const struct encode_picture &picture, const struct luma_pair &pair,
               const unsigned pixels[4], const struct lane_cosines &cosines,
               const struct lane_colours &colours, const struct lane_quantiser &luma,
               unsigned char *samples, short *coefficients)
{
    unsigned words[SQUARES];
    convert_luma_blue(pixels, colours, words);
    short *const a = block_at(coefficients, pair.block[0]);
    short *const b = block_at(coefficients, pair.block[1]);
    if (SHAPE::DOWNSAMPLED) {
        unsigned char *const chroma = samples + pair.mcu * 2 * BLOCK_SAMPLES;
        const unsigned red = convert_red_pairs(pixels, colours);
        if (SHAPE::V == 2)
            downsample_both(words, red, colours, chroma + (pair.block[0] & 1) * 4);
        else
            downsample_columns(words, red, colours, chroma);
    }
    transform_words(words, 0, cosines, luma, a, b);
    if (SHAPE::DOWNSAMPLED)
        return;
    const struct lane_quantiser chroma = picture.tables->quantisers[1][threadIdx.x % WARP];
    transform_words(words, 1, cosines, chroma, a + COEFFICIENTS_PITCH, b + COEFFICIENTS_PITCH);
    convert_red(pixels, colours, words);
    transform_words(words, 0, cosines, chroma, a + 2 * COEFFICIENTS_PITCH,
                    b + 2 * COEFFICIENTS_PITCH);
}

/* Returns the last row of downsampled chroma in the picture. This row is repeated below the
 * picture. */
template <class SHAPE>
static __device__ __forceinline__ int last_chroma_row(const struct encode_picture &picture,
                                                      const struct chunk &chunk, int mcu)
{
    if (SHAPE::V == 1)
        return SQUARE - 1;
    return min(SQUARE - 1, (picture.height - 1) / 2 - mcu_place(picture, chunk, mcu).y * SQUARE);
}

/* Transforms the downsampled chroma. */
template <class SHAPE>
static __device__ __forceinline__ void
forward_chroma(const struct encode_picture &picture, const struct chunk &chunk,
               const struct lane_cosines &cosines, const unsigned char *samples,
               short *coefficients)
{
    const int lane = threadIdx.x % WARP;
    const struct lane_quantiser quantiser = picture.tables->quantisers[1][lane];
    for (int mcu = threadIdx.x / WARP; mcu < chunk.mcus; mcu += WARPS) {
        const int row = min(lane / 4, last_chroma_row<SHAPE>(picture, chunk, mcu));
        const unsigned char *const blocks = samples + mcu * 2 * BLOCK_SAMPLES;
        const unsigned words =
            ((const unsigned *)blocks)[lane / 2 % 2 * (BLOCK_SAMPLES / 4) + 2 * row + lane % 2];
        short *const to = block_at(coefficients, mcu * SHAPE::BLOCKS + SHAPE::LUMA);
        transform_halves(words, cosines, quantiser, to, to + COEFFICIENTS_PITCH);
    }
}

/* Converts a warp's pairs of luma blocks and their chroma. The pixels of the next pair are loaded
 * before the present pair is transformed. */
template <class SHAPE>
static __device__ __forceinline__ void
forward_pairs(const struct encode_picture &picture, const struct chunk &chunk,
              const struct lane_cosines &cosines, unsigned char *samples, short *coefficients)
{
    const int lane = threadIdx.x % WARP;
    const struct lane_colours colours = picture.tables->colours[SHAPE::DOWNSAMPLING][lane];
    const struct lane_quantiser luma = picture.tables->quantisers[0][lane];
    const int pairs = (chunk.mcus * SHAPE::LUMA + 1) / 2;
    struct luma_pair next = find_pair<SHAPE>(picture, chunk, threadIdx.x / WARP);
    unsigned loaded[4] = {0, 0, 0, 0};
    if (SHAPE::COMPONENTS == 3 && threadIdx.x / WARP < pairs)
        load_squares(picture, next.square, loaded);
    for (int i = threadIdx.x / WARP; i < pairs; i += WARPS) {
        const struct luma_pair pair = next;
        const unsigned pixels[4] = {loaded[0], loaded[1], loaded[2], loaded[3]};
        if (i + WARPS < pairs) {
            next = find_pair<SHAPE>(picture, chunk, i + WARPS);
            if (SHAPE::COMPONENTS == 3)
                load_squares(picture, next.square, loaded);
        }
        if (SHAPE::COMPONENTS == 1)
            forward_gray(picture, pair, cosines, luma, coefficients);
        else
            forward_colour<SHAPE>(picture, pair, pixels, cosines, colours, luma, samples,
                                  coefficients);
    }
}

/* Computes the chunk's coefficients, which can be read after the next barrier. All threads call
 * this function. */
template <class SHAPE>
static __device__ __forceinline__ void forward_chunk(const struct encode_picture &picture,
                                                     const struct chunk &chunk,
                                                     unsigned char *samples, short *coefficients)
{
    const struct lane_cosines cosines = picture.tables->cosines[threadIdx.x % WARP];
    forward_pairs<SHAPE>(picture, chunk, cosines, samples, coefficients);
    if (!SHAPE::DOWNSAMPLED)
        return;
    __syncthreads();
    forward_chroma<SHAPE>(picture, chunk, cosines, samples, coefficients);
}
