/* Computes the quantised coefficients of a chunk from its pixels. */
#pragma once

#include "cuda/jpeg/chunk.cuh"
#include "cuda/jpeg/forward_colour.cuh"
#include "cuda/jpeg/forward_transform.cuh"

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
