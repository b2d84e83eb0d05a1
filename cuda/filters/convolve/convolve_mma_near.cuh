/* 8-bit convolution on tensor cores with integer weights that approximate the real ones (struct
 * gf_convolve_digits). A result is doubtful if the error of the approximation could change its
 * rounding; it is then computed again with the real weights, in the CPU's order, from the samples
 * that are the operands of the tensor cores. */
#pragma once

#include "cuda/common/byte_strips.cuh"
#include "cuda/filters/convolve/convolve_bytes.cuh"
#include "filters/convolve/convolve.h"

enum { NEAR_SIDE = 5 }; /* the side of the largest small matrix; others are padded with zeros */

/* The fewest weights of a large matrix that is done by products. At 961 weights they take half the
 * time of sums in float; that they are faster from here on is an estimate. */
enum { NEAR_LARGE_MIN = 121 };

/* The largest share of doubtful results, for each digit; with more of them, computing them again
 * would take too long. */
static const double DIGIT_DOUBT_MAX = 2.0 / 256, LARGE_DOUBT_MAX = 8.0 / 256;

/* The places of the doubtful results that a warp computes again together. */
struct near_doubts {
    unsigned short at[2 * WARP];
};

/* Returns the number of words that note_doubts() needs for `words` words of results. */
static constexpr __host__ __device__ int DOUBT_WORDS(int words)
{
    return (words + 7) / 8;
}

/* Returns the result in byte 1, and its fraction in byte 0. */
template <int DIGITS, bool BRIEF>
static __device__ __forceinline__ unsigned finish_near(const struct gf_convolve_digits &end,
                                                       unsigned first, unsigned last)
{
    float v = end.shift;
    if (DIGITS == 2)
        v = __fmaf_rn(BRIEF ? __uint_as_float(first) : (float)(int)first, end.high, v);
    v = __saturatef(__fmaf_rn(BRIEF ? __uint_as_float(last) : (float)(int)last, end.scale, v));
    return __float_as_uint(__fmaf_rz(v, 255.0f, 32768.5f));
}

/* Notes the doubtful results of word w. If byte i of `fractions` is 0xFF, result i is doubtful, and
 * bit 8 i + w % 8 of doubt[w / 8] is set. Rarely the bit of the result above a doubtful result is
 * set, too. */
static __device__ __forceinline__ void note_doubts(unsigned *doubt, int w, unsigned fractions)
{
    const unsigned found = (0xFEFEFEFEu - fractions) & fractions & 0x80808080u;
    doubt[w / 8] |= found >> (7 - w % 8);
}

/* Adds a row of samples times `count` weights, in the CPU's order. */
template <class Shape, int UNROLLED>
static __device__ __forceinline__ float add_again(float sum, const unsigned char *operands, int row,
                                                  const float *weight, int count)
{
    const unsigned char *const line = operands + row / 8 * (4 * Shape::OCTET) + row % 8;
#pragma unroll(UNROLLED)
    for (int i = 0; i < count; i++)
        sum = sum + weight[i] * (__uint_as_float(0x4B000000u | line[8 * i]) - 8388608.0f);
    return sum;
}

/* Computes the result again that bit number `bit` of `lane`'s doubts marks. Weights of 0 add
 * nothing. */
template <class Shape, class Args, class Fuse>
static __device__ __forceinline__ void make_again(const Args &args, const unsigned *operands,
                                                  const struct sample_tables<Fuse> &samples,
                                                  unsigned char *stage, int bit, int lane)
{
    constexpr int CHANNELS = Shape::CHANNELS;
    const int w = bit / 32 * 8 + bit % 8, sample = w % CHANNELS * 4 + bit % 32 / 8;
    const int step = w / CHANNELS / 2, t = lane % 4;
    const int row = threadIdx.x / WARP * STEP_SIDE + w / CHANNELS % 2 * 8 + lane / 4;
    const int column = step * STEP_SIDE + 4 * t + sample / CHANNELS + Shape::BASE +
                       (Shape::SMALL ? 0 : Shape::CENTRE - args.width / 2);
    const unsigned char *const bytes = /* turn_box() defines the order of the operands */
        (const unsigned char *)(operands + 2 * (sample % CHANNELS * Shape::PIXELS + column));
    float sum = 0.0f;
    if constexpr (Shape::SMALL) {
#pragma unroll
        for (int j = 0; j < NEAR_SIDE; j++)
            sum = add_again<Shape, NEAR_SIDE>(sum, bytes, row + j, args.fraction[j], NEAR_SIDE);
    } else {
#pragma unroll 1
        for (int j = 0; j < args.height; j++)
            sum = add_again<Shape, 8>(sum, bytes, row + j, args.real + j * args.width, args.width);
    }
    const unsigned result =
        round_bits(gf_convolve_finish(sum, args.divisor, args.bias), 255.0f) & 255;
    result_at<Shape>(stage, step, row)[t * 4 * CHANNELS + sample] =
        (unsigned char)look_up_sample(samples.after, result);
}

/* Computes the doubtful results of a warp's chunk again. */
template <class Shape, int WORDS, class Args, class Fuse>
static __device__ __forceinline__ void
settle_doubts(const Args &args, const unsigned *operands, const struct sample_tables<Fuse> &samples,
              unsigned char *stage, struct near_doubts &doubts, const unsigned *doubt)
{
    const int lane = threadIdx.x % WARP;
    int count = 0;
#pragma unroll 1
    for (int i = 0; i < DOUBT_WORDS(WORDS); i++) {
        unsigned mine = doubt[0];
#pragma unroll
        for (int k = 1; k < DOUBT_WORDS(WORDS); k++)
            mine = i == k ? doubt[k] : mine;
        for (;;) {
            const unsigned lanes = __ballot_sync(0xFFFFFFFFu, mine != 0);
            if (mine)
                doubts.at[count + __popc(lanes & ((1u << lane) - 1))] =
                    (unsigned short)((32 * i + __ffs((int)mine) - 1) * WARP + lane);
            mine &= mine - 1;
            count += __popc(lanes);
            __syncwarp();
            const bool done = !__any_sync(0xFFFFFFFFu, mine != 0);
            if (count >= WARP || (done && i + 1 == DOUBT_WORDS(WORDS))) {
                const int taken = min(count, (int)WARP), place = count - taken + lane;
                if (lane < taken)
                    make_again<Shape>(args, operands, samples, stage, doubts.at[place] / WARP,
                                      doubts.at[place] % WARP);
                count -= taken;
                __syncwarp();
            }
            if (done && !(count && i + 1 == DOUBT_WORDS(WORDS)))
                break;
        }
    }
}
