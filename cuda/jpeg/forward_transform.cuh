/* From samples to quantised coefficients: libjpeg-turbo's integer DCT and its division, both exact.
 *
 * Each of the DCT's two passes multiplies by one matrix of integers C, adds half a unit and shifts
 * to the right. Tensor cores multiply bytes: an element of C is 256 * high + low, with low in
 * -128..127, and a value of the first pass is made positive and divided in two bytes. */
#ifndef GF_CUDA_JPEG_FORWARD_TRANSFORM_CUH
#define GF_CUDA_JPEG_FORWARD_TRANSFORM_CUH

#include "cuda/jpeg/byte_product.cuh"
#include "cuda/jpeg/encode_group.cuh"

/* int16 from one block to the next: with 72, eight threads that read 16 bytes each of the same
 * place of eight blocks meet no bank twice. */
enum { COEFFICIENTS_PITCH = 72 };

enum { PASS1_SHIFT = 11, PASS2_SHIFT = 15, CENTRE = 128 };
/* What is added to values of the first pass, whose absolute values are at most 4096. */
enum { PASS1_BIAS = 8192 };
/* Element (0, i) of C: a sum of samples, scaled. */
enum { UNIT = 8192 };

/* Half of 2^15 and the quantiser's half are in `half`. The quotient is rounded to nearest, and away
 * from zero where two are as near: a negative value is made smaller by one first. Quantiser and
 * value are multiples of 8 or lose what is below 8 without effect; `reciprocal` is 2^20 by an
 * eighth of the quantiser, rounded up, and `excess` makes up for that in negative values. */
static __device__ __forceinline__ int quantise(int value, int half, int reciprocal, int excess)
{
    const int rounded = value < half ? value - (1 << PASS2_SHIFT) : value;
    return ((rounded >> (PASS2_SHIFT + 3)) * reciprocal + excess) >> 20;
}

/* The first pass, of the rows of one block: the lane has the frequency lane / 4 of the rows
 * 2 * (lane % 4) and + 1, a byte for low and one for high each. */
static __device__ __forceinline__ unsigned transform_rows(unsigned high, unsigned low,
                                                          unsigned samples, int first)
{
    const int start[4] = {0, 0, first, first};
    int sums[4];
    multiply_bytes<true>(high, low, samples, start, sums);
    const unsigned a = (unsigned)(256 * sums[0] + sums[2]) >> PASS1_SHIFT,
                   b = (unsigned)(256 * sums[1] + sums[3]) >> PASS1_SHIFT;
    return __byte_perm(a, b, 0x5410);
}

/* Transforms and quantises two blocks of one table. */
static __device__ __forceinline__ void transform_pair(const unsigned char *samples, int a, int b,
                                                      const struct lane_cosines &cosines,
                                                      const struct lane_quantiser &quantiser,
                                                      short *coefficients)
{
    const int lane = threadIdx.x % WARP;
    const bool second = lane & 2;
    const unsigned pixels = *(const unsigned *)(samples + (second ? b : a) * BLOCK_SAMPLES +
                                                lane / 4 * 8 + lane % 2 * 4);
    /* Samples count from CENTRE; that changes only the sums. */
    const int first =
        (1 << (PASS1_SHIFT - 1)) + (PASS1_BIAS << PASS1_SHIFT) - (lane < 4 ? UNIT * CENTRE * 8 : 0);
    const unsigned rows_a = transform_rows(second ? 0 : cosines.rows_high,
                                           second ? 0 : cosines.rows_low, pixels, first),
                   rows_b = transform_rows(second ? cosines.rows_high : 0,
                                           second ? cosines.rows_low : 0, pixels, first);
    const int bias = lane % 4 ? 0 : UNIT * PASS1_BIAS * 8;
    const int zero[4] = {0, 0, 0, 0};
    const int start[4] = {quantiser.half[0] + (1 << (PASS2_SHIFT - 1)) - bias,
                          quantiser.half[1] + (1 << (PASS2_SHIFT - 1)),
                          quantiser.half[0] + (1 << (PASS2_SHIFT - 1)) - bias,
                          quantiser.half[1] + (1 << (PASS2_SHIFT - 1))};
    int high[4], mixed[4], low[4];
    multiply_bytes<false>(rows_a, rows_b, cosines.columns_high, zero, high);
    multiply_bytes<false>(rows_a, rows_b, cosines.columns_mixed, zero, mixed);
    multiply_bytes<false>(rows_a, rows_b, cosines.columns_low, start, low);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const unsigned value =
            ((unsigned)high[i] << 16) + ((unsigned)mixed[i] << 8) + (unsigned)low[i];
        coefficients[(i < 2 ? a : b) * COEFFICIENTS_PITCH + quantiser.place[i % 2]] =
            (short)quantise((int)value, quantiser.half[i % 2], quantiser.reciprocal[i % 2],
                            quantiser.excess[i % 2]);
    }
}

/* The two blocks of a pair have one table, so that a warp need not choose. */
struct block_pair {
    int a, b;
};

template <class SHAPE> static __device__ __forceinline__ struct block_pair luma_pair(int i)
{
    if (SHAPE::LUMA == 1)
        return {2 * i * SHAPE::BLOCKS, (2 * i + 1) * SHAPE::BLOCKS};
    constexpr int EACH = SHAPE::LUMA > 1 ? SHAPE::LUMA / 2 : 1; /* of an MCU */
    const int a = i / EACH * SHAPE::BLOCKS + i % EACH * 2;
    return {a, a + 1};
}

template <class SHAPE> static __device__ __forceinline__ struct block_pair chroma_pair(int i)
{
    const int a = i * SHAPE::BLOCKS + SHAPE::LUMA;
    return {a, a + 1};
}

/* All blocks of the chunk; the threads of the block share them. */
template <class SHAPE>
static __device__ __forceinline__ void transform_chunk(const unsigned char *samples, int blocks,
                                                       const struct encode_tables *tables,
                                                       short *coefficients)
{
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const struct lane_cosines cosines = tables->cosines[lane];
    const struct lane_quantiser luma = tables->quantisers[0][lane];
    for (int i = warp; i < SHAPE::CHUNK_MCUS * SHAPE::LUMA / 2; i += ENCODE_THREADS / WARP) {
        const struct block_pair pair = luma_pair<SHAPE>(i);
        if (pair.a < blocks)
            transform_pair(samples, pair.a, pair.b, cosines, luma, coefficients);
    }
    if (SHAPE::COMPONENTS == 1)
        return;
    const struct lane_quantiser chroma = tables->quantisers[1][lane];
    for (int i = warp; i < SHAPE::CHUNK_MCUS; i += ENCODE_THREADS / WARP) {
        const struct block_pair pair = chroma_pair<SHAPE>(i);
        if (pair.a < blocks)
            transform_pair(samples, pair.a, pair.b, cosines, chroma, coefficients);
    }
}

#endif
