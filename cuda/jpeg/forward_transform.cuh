/* Converts samples to quantised coefficients: libjpeg-turbo's integer DCT and its division, both
 * exact.
 *
 * Each of the DCT's two passes multiplies by a matrix of integers C, adds half a unit and shifts to
 * the right. Tensor cores multiply bytes: an element of C is 256 * high + low with low in
 * -128..127, and a value of the first pass is made positive and split into two bytes. */
#pragma once

#include "cuda/jpeg/byte_product.cuh"
#include "cuda/jpeg/encode_group.cuh"

/* The distance between two blocks, in int16. With 72, eight threads that read the same 16 bytes of
 * eight blocks have no bank conflict. */
enum { COEFFICIENTS_PITCH = 72 };

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
