/* libjpeg's accurate inverse DCT ("islow", jidctint.c) by tensor cores, with its very bits.
 *
 * Before it rounds, each of its two passes is linear with integer factors, so that it equals a
 * product with the matrix of islow_factor(). Factors have 15 bits and samples 14 (see below), which
 * is too much for the tensor cores' 8 bits: with factor = 256 F + f and sample = 256 S + s,
 * factor * sample = 65536 FS + 256 (Fs + fS) + fs, three products that are added up afterwards.
 *
 * A warp transforms a pair of blocks. The fragments are such that nothing is transposed: the
 * coefficients of a block lie column by column, lane l has word l, and what the first pass leaves
 * in a lane is what the second needs there.
 *
 * The DC coefficient adds the same to all samples, even before the passes round, and takes no part
 * in the products.
 *
 * What libjpeg's C code and its SIMD code make of values beyond 16 bits (and beyond 10 bits in the
 * end) differs. The limits that are tested here keep every value that either computes within those
 * bits: |AC| < 2^13, |DC| < 2^12 after dequantisation, |workspace without DC| < 2^13; then sums of
 * two values of a pass stay below 2^12 + 2^13 and 2^14 + 2^13 + 2^13. */
#ifndef GF_CUDA_JPEG_INVERSE_DCT_CUH
#define GF_CUDA_JPEG_INVERSE_DCT_CUH

#include "cuda/jpeg/tensor.cuh"

enum {
    DCT_BITS = 13,                  /* of the factors' fraction */
    DCT_FIRST_SHIFT = DCT_BITS - 2, /* the workspace keeps two bits more than the samples */
    DCT_SECOND_SHIFT = DCT_BITS + 2 + 3,
    DCT_BIAS = 8192, /* makes what lies within the limits 0..2^14-1 */
    DCT_BEYOND_14_BITS = (int)0xC000C000,
    DCT_BEYOND_12_BITS = (int)0xF000F000,
    DCT_DC_MOST = 4095,
    /* Samples are computed with 512 added, so that those that libjpeg clamps rightly are 0..1023,
     * and 384 too many: libjpeg's zero is -128. */
    DCT_SAMPLE_BIAS = 512,
    DCT_SAMPLE_EXCESS = 512 - 128
};

/* What input k of a pass adds to its output i. */
static constexpr int islow_factor(int i, int k)
{
    const int x0 = k == 0, x1 = k == 1, x2 = k == 2, x3 = k == 3;
    const int x4 = k == 4, x5 = k == 5, x6 = k == 6, x7 = k == 7;
    const int even = (x2 + x6) * 4433;
    const int sum = (x0 + x4) << DCT_BITS, difference = (x0 - x4) * (1 << DCT_BITS);
    const int outer = even + x2 * 6270, inner = even - x6 * 15137;
    const int odd = (x7 + x3 + x5 + x1) * 9633;
    const int z1 = (x7 + x1) * -7373, z2 = (x5 + x3) * -20995;
    const int z3 = (x7 + x3) * -16069 + odd, z4 = (x5 + x1) * -3196 + odd;
    const int from_even[4] = {sum + outer, difference + inner, difference - inner, sum - outer};
    const int from_odd[4] = {x1 * 12299 + z1 + z4, x3 * 25172 + z2 + z3, x5 * 16819 + z2 + z4,
                             x7 * 2446 + z1 + z3};
    return i < 4 ? from_even[i] + from_odd[i] : from_even[7 - i] - from_odd[7 - i];
}

/* A lane's part of the matrix: bytes for a pair of samples with which they make Fs + fS, fs, FS. */
struct dct_factors {
    unsigned middle, low, high;
};

/* The column of the sample that output n of the second pass makes. Spread: a lane's two samples are
 * those of columns c and c + 2, as the upsampling of chroma needs them. */
static constexpr int dct_column(int n, bool spread)
{
    return spread ? (n & 4) + (n & 1) * 2 + (n >> 1 & 1) : n;
}

struct dct_tables {
    dct_factors factors[32];
    int sums[8]; /* of the factors of an output */
};

static constexpr dct_tables dct_make_tables(bool spread)
{
    dct_tables tables = {};
    for (int lane = 0; lane < 32; lane++) {
        for (int k = 0; k < 2; k++) {
            const int factor = islow_factor(dct_column(lane / 4, spread), lane % 4 * 2 + k);
            const int high = (factor + 128) >> 8, low = factor - high * 256;
            const unsigned upper = high & 255, lower = low & 255;
            tables.factors[lane].middle |= (upper | lower << 8) << 16 * k;
            tables.factors[lane].low |= lower << 16 * k;
            tables.factors[lane].high |= upper << 8 << 16 * k;
        }
    }
    for (int n = 0; n < 8; n++)
        for (int k = 0; k < 8; k++)
            tables.sums[n] += islow_factor(dct_column(n, spread), k);
    return tables;
}

static __device__ const struct dct_tables dct_plain = dct_make_tables(false);
static __device__ const struct dct_tables dct_spread = dct_make_tables(true);

/* What a lane keeps in registers for all blocks of a component. */
struct dct_lane {
    struct dct_factors first, second;
    int first_start, second_start[2];
    unsigned scale, scale_high; /* quantisers, low and high bytes, as operands of dct_scale() */
    unsigned beyond;            /* bits of values that are beyond the limits */
};

static __device__ __forceinline__ void dct_set_matrix(struct dct_lane &dct, int lane,
                                                      const struct dct_tables &second)
{
    const int column = lane % 4 * 2;
    dct.first = dct_plain.factors[lane];
    dct.second = second.factors[lane];
    dct.first_start = -DCT_BIAS * dct_plain.sums[lane / 4] + (1 << (DCT_FIRST_SHIFT - 1)) +
                      DCT_BIAS * (1 << DCT_FIRST_SHIFT);
#pragma unroll
    for (int k = 0; k < 2; k++)
        dct.second_start[k] = -DCT_BIAS * second.sums[column + k] + (1 << (DCT_SECOND_SHIFT - 1)) +
                              DCT_SAMPLE_BIAS * (1 << DCT_SECOND_SHIFT);
    dct.beyond = 0;
}

/* quantisers: of the component, in natural order. libjpeg takes those above 32767 as negative. */
static __device__ __forceinline__ void dct_set_quantisers(struct dct_lane &dct, int lane,
                                                          const uint16_t *quantisers)
{
    const int column = lane / 4, row = lane % 4 * 2;
    const unsigned upper = lane == 0 ? 0 : quantisers[row * 8 + column];
    const unsigned lower = quantisers[row * 8 + 8 + column];
    dct.scale = (upper & 255) | (lower & 255) << 24;
    dct.scale_high = upper >> 8 | lower >> 8 << 24;
    dct.beyond |= (upper | lower) & 0x8000;
}

/* What the DC coefficient adds in the second pass. */
static __device__ __forceinline__ int dct_dc_term(struct dct_lane &dct, int coefficient,
                                                  int quantiser)
{
    const int value = coefficient * quantiser;
    if (value < -DCT_DC_MOST || value > DCT_DC_MOST)
        dct.beyond |= 0x8000;
    return (int)((unsigned)value << (DCT_BITS + 2));
}

/* A pair of coefficients, dequantised and biased. */
static __device__ __forceinline__ unsigned dct_dequantise(const struct dct_lane &dct, bool wide,
                                                          unsigned pair)
{
    int upper = scale_low(pair, dct.scale, DCT_BIAS);
    int lower = scale_high(pair, dct.scale, DCT_BIAS);
    if (wide) {
        upper += scale_low(pair, dct.scale_high, 0) * 256;
        lower += scale_high(pair, dct.scale_high, 0) * 256;
    }
    return pack16(upper, lower);
}

static __device__ __forceinline__ int dct_join(int high, int middle, int low)
{
    return (high * 256 + middle) * 256 + low;
}

/* Transforms two blocks. pair: words of coefficients; dc: what dct_dc_term() gave. samples[b]: two
 * samples of block b, in row lane / 4, each times 4 with a fraction in the lowest two bits; columns
 * by the tables. */
static __device__ __forceinline__ void dct_transform(struct dct_lane &dct, bool wide,
                                                     const unsigned pair[2], const int dc[2],
                                                     unsigned samples[2])
{
    unsigned word[2];
    int high[4], both[2][4];
    word[0] = dct_dequantise(dct, wide, pair[0]);
    word[1] = dct_dequantise(dct, wide, pair[1]);
    unsigned beyond = word[0] | word[1];
    multiply_two(high, dct.first.high, word);
#pragma unroll
    for (int b = 0; b < 2; b++) {
        multiply_left(both[b], dct.first.middle, dct.first.low, word[b], dct.first_start);
#pragma unroll
        for (int k = 0; k < 2; k++)
            both[b][k] = dct_join(high[2 * b + k], both[b][k], both[b][2 + k]) >> DCT_FIRST_SHIFT;
        word[b] = pack16(both[b][0], both[b][1]);
    }
    beyond |= word[0] | word[1];
    dct.beyond |= beyond & DCT_BEYOND_14_BITS;
    int middle[4], low[4];
    const int zero[4] = {0, 0, 0, 0};
    const int start[4] = {dct.second_start[0] + dc[0], dct.second_start[1] + dc[0],
                          dct.second_start[0] + dc[1], dct.second_start[1] + dc[1]};
    multiply_right(high, word, dct.second.high, zero);
    multiply_right(middle, word, dct.second.middle, zero);
    multiply_right(low, word, dct.second.low, start);
#pragma unroll
    for (int b = 0; b < 2; b++) {
        const int x = dct_join(high[2 * b], middle[2 * b], low[2 * b]);
        const int y = dct_join(high[2 * b + 1], middle[2 * b + 1], low[2 * b + 1]);
        const unsigned both_upper = __byte_perm((unsigned)x, (unsigned)y, 0x7632);
        dct.beyond |= both_upper & DCT_BEYOND_12_BITS;
        samples[b] = clamp_pair(both_upper, -4 * DCT_SAMPLE_EXCESS, 1023);
    }
}

static __device__ __forceinline__ bool dct_in_range(const struct dct_lane &dct)
{
    return !dct.beyond;
}

#endif
