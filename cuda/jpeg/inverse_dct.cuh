/* The inverse DCT on tensor cores. */
#pragma once

#include "cuda/jpeg/byte_product.cuh"

/* Wraps instructions that C does not have, for the inverse DCT and colour. */

/* Returns start plus the first 16-bit number of `pair` times the first byte of `factors`, plus the
 * second number times the second byte. */
static __device__ __forceinline__ int scale_low(unsigned pair, unsigned factors, int start)
{
    int sum;
    asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(pair), "r"(factors), "r"(start));
    return sum;
}

/* Does what scale_low() does, with the third and the fourth byte of `factors`. */
static __device__ __forceinline__ int scale_high(unsigned pair, unsigned factors, int start)
{
    int sum;
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(pair), "r"(factors), "r"(start));
    return sum;
}

/* Packs two numbers as 16 bits each, with saturation. */
static __device__ __forceinline__ unsigned pack16(int low, int high)
{
    unsigned pair;
    asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(pair) : "r"(high), "r"(low));
    return pair;
}

/* Returns the address in a form that the compiler does not combine with other addresses. The
 * compiler would otherwise compute the addresses of neighbours separately, with three additions
 * each. */
static __device__ __forceinline__ const unsigned char *as_it_is(const unsigned char *address)
{
    asm("" : "+l"(address));
    return address;
}

/* Returns the second byte of a word as a signed number. */
static __device__ __forceinline__ int signed_second_byte(unsigned word)
{
    int byte;
    asm("prmt.b32 %0, %1, 0, 0x9991;" : "=r"(byte) : "r"(word));
    return byte;
}

/* Returns max(min(x + offset, most), 0) for each half x of the word. */
static __device__ __forceinline__ unsigned clamp_pair(unsigned pair, unsigned offsets, int most)
{
    return __viaddmin_s16x2_relu(pair, offsets, (unsigned)most * 0x10001u);
}

/* Computes d[0], d[1] = start + left * right[0] and d[2], d[3] = start + left * right[1] by a warp.
 * The matrix `left` has 8 rows of 16 signed bytes; each matrix of `right` has 8 columns of 16
 * unsigned bytes. Lanes hold the matrices as in multiply_bytes(). The words of `left` are the
 * matrix, zero, zero, and the matrix again, since the function computes one product of 16 x 32
 * bytes. */
static __device__ __forceinline__ void multiply_left(int d[4], const unsigned left[4],
                                                     const unsigned right[2], const int start[4])
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]),
          "r"(start[0]), "r"(start[1]), "r"(start[2]), "r"(start[3]));
#else
    asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
        : "=r"(d[0]), "=r"(d[1])
        : "r"(left[0]), "r"(right[0]), "r"(start[0]), "r"(start[1]));
    asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
        : "=r"(d[2]), "=r"(d[3])
        : "r"(left[0]), "r"(right[1]), "r"(start[2]), "r"(start[3]));
#endif
}

/* libjpeg's accurate inverse DCT ("islow", jidctint.c) by tensor cores, with exactly its bits.
 *
 * Before it rounds, each of its two passes is linear with integer factors, so that it equals a
 * product with the matrix of islow_factor(). Factors have 15 bits and samples 14 (see below), which
 * is too much for the tensor cores' 8 bits: with factor = 256 F + f and sample = 256 S + s, factor
 * * sample = 65536 FS + 256 (Fs + fS) + fs, three products that are added up afterwards.
 *
 * The fragments are chosen so that nothing is transposed: the coefficients of a block lie column by
 * column, lane l has word l, and the results that the first pass leaves in a lane are those that
 * the second pass needs there.
 *
 * The DC coefficient adds the same number to all samples, even before the passes round, and takes
 * no part in the products.
 *
 * libjpeg's C code and its SIMD code differ in how they treat values beyond 16 bits (and beyond 10
 * bits at the end). The limits that are tested here keep every value that either code computes
 * within those bits: -8192 <= AC <= 8191 and |DC| <= 4095 after dequantisation, and -8192 <= w <=
 * 8191 for the results w of the first pass from the AC coefficients. The DC coefficient adds 4 DC
 * to w in one column, so that no sum of two values of a pass exceeds 8192 + 4 * 4095 + 8192 =
 * 32764. */

enum {
    DCT_BITS = 13,                  /* the fraction bits of the factors */
    DCT_FIRST_SHIFT = DCT_BITS - 2, /* the workspace has two more bits than samples have */
    DCT_SECOND_SHIFT = DCT_BITS + 2 + 3,
    DCT_BIAS = 8192, /* the bias that makes values within the limits 0..2^14-1 */
    DCT_BLOCKS = 4,  /* the blocks that a warp transforms at a time */
    DCT_DC_MOST = 4095,
    /* The number that is added to samples during the computation. Samples that libjpeg clamps
     * correctly then are 0..1023. libjpeg itself adds 128, so that the excess is 384. */
    DCT_SAMPLE_BIAS = 512,
    DCT_SAMPLE_EXCESS = 512 - 128
};

static constexpr unsigned DCT_BEYOND_14_BITS = 0xC000C000u, DCT_BEYOND_12_BITS = 0xF000F000u;

/* Returns the factor by which input k of a pass is multiplied for the pass's output i. */
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

/* Returns the column of the sample that is output n of the second pass. With `spread` the two
 * samples of a lane are in columns c and c + 4, as upsampling needs them. */
static constexpr int dct_column(int n, bool spread)
{
    return spread ? n / 2 + n % 2 * 4 : n;
}

/* A lane's part of the matrix of a pass. Its bytes, multiplied by a pair of samples, give Fs + fS,
 * fs and FS. */
struct dct_factors {
    unsigned middle, low, high;
};

/* The constants of a lane, which computes one output of the first pass and two of the second. They
 * are loaded so that they stay in registers; the compiler would compute others again for each
 * block. start: the number to which products are added; it removes the bias of the samples, and
 * adds half of the last digit that is kept and the bias of the result. clamping: offsets for
 * clamp_pair(). half: COLOUR_HALF. */
struct __align__(16) dct_constants
{
    unsigned first_middle[4], first_low[4], first_high[4]; /* the operands of multiply_left() */
    struct dct_factors second;
    int first_start;
    int second_start[2];
    unsigned clamping, half;
};

static constexpr dct_factors dct_make_factors(int output, int input)
{
    dct_factors factors = {};
    for (int k = 0; k < 2; k++) {
        const int factor = islow_factor(output, input + k);
        const int high = (factor + 128) >> 8, low = factor - high * 256;
        const unsigned upper = high & 255, lower = low & 255;
        factors.middle |= (upper | lower << 8) << 16 * k;
        factors.low |= lower << 16 * k;
        factors.high |= upper << 8 << 16 * k;
    }
    return factors;
}

static constexpr int dct_make_start(int output, int shift, int bias)
{
    int start = (1 << (shift - 1)) + (bias << shift);
    for (int k = 0; k < 8; k++)
        start -= DCT_BIAS * islow_factor(output, k);
    return start;
}

static constexpr dct_constants dct_make_constants(int lane, bool spread)
{
    const int output = lane / 4, input = lane % 4 * 2;
    const dct_factors first = dct_make_factors(output, input);
    dct_constants constants = {};
    for (int k = 0; k < 4; k += 3) { /* the matrix between zeros */
        constants.first_middle[k] = first.middle;
        constants.first_low[k] = first.low;
        constants.first_high[k] = first.high;
    }
    constants.first_start = dct_make_start(output, DCT_FIRST_SHIFT, DCT_BIAS);
    constants.second = dct_make_factors(dct_column(output, spread), input);
    for (int k = 0; k < 2; k++)
        constants.second_start[k] =
            dct_make_start(dct_column(input + k, spread), DCT_SECOND_SHIFT, DCT_SAMPLE_BIAS);
    constants.half = 1u << 15;
    constants.clamping = (unsigned)(-4 * DCT_SAMPLE_EXCESS & 0xFFFF) * 0x10001u;
    return constants;
}

struct dct_table {
    dct_constants lanes[32];
};

static constexpr dct_table dct_make_table(bool spread)
{
    dct_table table = {};
    for (int lane = 0; lane < 32; lane++)
        table.lanes[lane] = dct_make_constants(lane, spread);
    return table;
}

static __device__ const struct dct_table dct_plain = dct_make_table(false);
static __device__ const struct dct_table dct_spread = dct_make_table(true);

/* The registers that a lane keeps for all blocks of a component. */
struct dct_lane {
    struct dct_constants constants;
    unsigned scale, scale_high; /* the low and high bytes of the quantisers, as operands of
                                 * scale_low() */
    unsigned beyond;            /* the bits that values beyond the limits have set */
};

/* Sets the quantisers of the component, given in natural order. libjpeg treats quantisers above
 * 32767 as negative numbers. */
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

/* Returns the DC coefficient's part of the middle products of the second pass, whose sum is
 * multiplied by 256. */
static __device__ __forceinline__ int dct_dc_term(struct dct_lane &dct, int coefficient,
                                                  int quantiser)
{
    const int value = coefficient * quantiser;
    if (value < -DCT_DC_MOST || value > DCT_DC_MOST)
        dct.beyond |= 0x8000;
    return (int)((unsigned)value << (DCT_BITS + 2 - 8));
}

/* Dequantises words of coefficients of DCT_BLOCKS blocks and adds the bias. `wide` tells that some
 * quantisers are above 255. */
static __device__ __forceinline__ void dct_dequantise(const struct dct_lane &dct, bool wide,
                                                      const unsigned pair[DCT_BLOCKS],
                                                      unsigned word[DCT_BLOCKS])
{
    int upper[DCT_BLOCKS], lower[DCT_BLOCKS];
#pragma unroll
    for (int b = 0; b < DCT_BLOCKS; b++) {
        upper[b] = scale_low(pair[b], dct.scale, DCT_BIAS);
        lower[b] = scale_high(pair[b], dct.scale, DCT_BIAS);
    }
    if (wide) {
#pragma unroll
        for (int b = 0; b < DCT_BLOCKS; b++) {
            upper[b] += scale_low(pair[b], dct.scale_high, 0) * 256;
            lower[b] += scale_high(pair[b], dct.scale_high, 0) * 256;
        }
    }
#pragma unroll
    for (int b = 0; b < DCT_BLOCKS; b++)
        word[b] = pack16(upper[b], lower[b]);
}

/* Multiplies a sum by 256 and adds `start`, so that products of less weight can be added. The sum
 * overflows only if values are beyond the limits. */
static __device__ __forceinline__ int dct_shift_in(int sum, int start)
{
    return (int)((unsigned)sum * 256u + (unsigned)start);
}

/* Computes the first pass: words of coefficients become words of the workspace. Steps for both
 * pairs of blocks alternate, since a product takes longer than a few instructions. */
static __device__ __forceinline__ void dct_first_pass(const struct dct_constants &constants,
                                                      unsigned word[DCT_BLOCKS])
{
    const int zero[4] = {0, 0, 0, 0};
    int sum[DCT_BLOCKS / 2][4];
#pragma unroll
    for (int p = 0; p < DCT_BLOCKS / 2; p++)
        multiply_left(sum[p], constants.first_high, word + 2 * p, zero);
#pragma unroll
    for (int p = 0; p < DCT_BLOCKS / 2; p++) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            sum[p][i] = dct_shift_in(sum[p][i], 0);
        multiply_left(sum[p], constants.first_middle, word + 2 * p, sum[p]);
    }
#pragma unroll
    for (int p = 0; p < DCT_BLOCKS / 2; p++) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            sum[p][i] = dct_shift_in(sum[p][i], constants.first_start);
        multiply_left(sum[p], constants.first_low, word + 2 * p, sum[p]);
    }
#pragma unroll
    for (int b = 0; b < DCT_BLOCKS; b++)
        word[b] = pack16(sum[b / 2][b % 2 * 2] >> DCT_FIRST_SHIFT,
                         sum[b / 2][b % 2 * 2 + 1] >> DCT_FIRST_SHIFT);
}

/* Computes the second pass: words of the workspace become samples. `dc` has the results of
 * dct_dc_term(). */
static __device__ __forceinline__ void dct_second_pass(const struct dct_constants &constants,
                                                       const unsigned word[DCT_BLOCKS],
                                                       const int dc[DCT_BLOCKS],
                                                       int sum[DCT_BLOCKS / 2][4])
{
    const int zero[4] = {0, 0, 0, 0};
#pragma unroll
    for (int p = 0; p < DCT_BLOCKS / 2; p++)
        multiply_bytes<false>(word[2 * p], word[2 * p + 1], constants.second.high, zero, sum[p]);
#pragma unroll
    for (int p = 0; p < DCT_BLOCKS / 2; p++) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            sum[p][i] = dct_shift_in(sum[p][i], dc[2 * p + i / 2]);
        multiply_bytes<false>(word[2 * p], word[2 * p + 1], constants.second.middle, sum[p],
                              sum[p]);
    }
#pragma unroll
    for (int p = 0; p < DCT_BLOCKS / 2; p++) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            sum[p][i] = dct_shift_in(sum[p][i], constants.second_start[i % 2]);
        multiply_bytes<false>(word[2 * p], word[2 * p + 1], constants.second.low, sum[p], sum[p]);
    }
}

/* Transforms blocks. `pair` has words of coefficients. samples[b] becomes two samples of block b in
 * row lane / 4, each of 16 bits with two fraction bits; dct_column() gives their columns. */
static __device__ __forceinline__ void dct_transform(struct dct_lane &dct, bool wide,
                                                     const unsigned pair[DCT_BLOCKS],
                                                     const int dc[DCT_BLOCKS],
                                                     unsigned samples[DCT_BLOCKS])
{
    unsigned word[DCT_BLOCKS], beyond = 0;
    int sum[DCT_BLOCKS / 2][4];
    dct_dequantise(dct, wide, pair, word);
#pragma unroll
    for (int b = 0; b < DCT_BLOCKS; b++)
        beyond |= word[b];
    dct_first_pass(dct.constants, word);
#pragma unroll
    for (int b = 0; b < DCT_BLOCKS; b++)
        beyond |= word[b];
    dct.beyond |= beyond & DCT_BEYOND_14_BITS;
    dct_second_pass(dct.constants, word, dc, sum);
    beyond = 0;
#pragma unroll
    for (int b = 0; b < DCT_BLOCKS; b++) {
        /* The lowest 16 of the 18 fraction bits are dropped here; the caller drops the other
         * two. */
        const unsigned fours = __byte_perm((unsigned)sum[b / 2][b % 2 * 2],
                                           (unsigned)sum[b / 2][b % 2 * 2 + 1], 0x7632);
        beyond |= fours;
        samples[b] = clamp_pair(fours, dct.constants.clamping, 1023);
    }
    dct.beyond |= beyond & DCT_BEYOND_12_BITS;
}
