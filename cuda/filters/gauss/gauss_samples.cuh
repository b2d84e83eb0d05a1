/* How the Gaussian's kernels store samples between the two passes and add them. Each depth has a
 * type, which their templates call Pass. A Value is an element of shared memory and has the samples
 * of LINES rows; a Vector is four Values. A Mid is a sample of scratch memory, and pack() makes a
 * Value of the Mids of LINES rows. ROWS_PITCH is the number of Samples that a row of results takes
 * in gauss_rows.cuh. begin() adds sample i of a run times its tap to the sums of LINES rows, add()
 * adds its two neighbours at a distance, and separate() ends the sums. tap() returns the tap at
 * distance k. A shift `up`, of the tap or of the sum in finish_row(), gives sums of 8-bit samples
 * 24 fraction bits. */
#pragma once

#include "cuda/filters/gauss/gauss_common.cuh"

enum {
    STAGING_BYTES = TILE_SAMPLES + 16
}; /* the pitch of a row of results in gauss_tile.cuh; rows start in different banks */

/* A word holds the samples of two rows, the upper row in its lower half. One addition adds the
 * samples to the left and right in both rows (the sums stay below 2^16), then each row has a
 * multiplication of its own; the two multiplications run in different pipes. The multiplication for
 * the upper row, in the lower half of the word, is not masked: it adds 2^16 times the lower row's
 * sum, which separate() subtracts. The result is exact, since the sums are modulo 2^32. */
struct gauss_bytes {
    typedef unsigned char Sample;
    /* A Tap of the horizontal pass, in which the sums and not the taps are shifted. */
    typedef unsigned short Mid, Tap;
    typedef unsigned Value;
    typedef uint4 Vector;
    static constexpr int LINES = 2, ROWS_PITCH = STAGING_BYTES;

    static __device__ __forceinline__ Value pack(const Value mid[LINES])
    {
        return mid[0] | mid[1] << 16;
    }
    static Value tap(const struct gf_gauss *gauss, int k, int up)
    {
        return (Value)gauss->fixed[k] << up;
    }
    static __device__ __forceinline__ void begin(Value tap, Value centre, Value (*sum)[RUN], int i)
    {
        sum[0][i] = tap * centre;
        sum[1][i] = tap * (centre >> 16);
    }
    static __device__ __forceinline__ void add(Value tap, Value left, Value right,
                                               Value (*sum)[RUN], int i)
    {
        const Value both = left + right;
        sum[0][i] += tap * both;
        sum[1][i] += tap * (both >> 16);
    }
    static __device__ __forceinline__ void separate(Value (*sum)[RUN], int i)
    {
        sum[0][i] -= sum[1][i] << 16;
    }
};

struct gauss_shorts {
    typedef unsigned short Sample;
    typedef float Mid, Tap, Value;
    typedef float4 Vector;
    static constexpr int LINES = 1, ROWS_PITCH = TILE_SAMPLES;

    static __device__ __forceinline__ Value pack(const Value mid[LINES])
    {
        return mid[0];
    }
    static Value tap(const struct gf_gauss *gauss, int k, int)
    {
        return gauss->real[k];
    }
    static __device__ __forceinline__ void begin(Value tap, Value centre, Value (*sum)[RUN], int i)
    {
        sum[0][i] = tap * centre;
    }
    static __device__ __forceinline__ void add(Value tap, Value left, Value right,
                                               Value (*sum)[RUN], int i)
    {
        sum[0][i] = sum[0][i] + tap * (left + right);
    }
    static __device__ __forceinline__ void separate(Value (*)[RUN], int)
    {
    }
};

template <class Args>
static __device__ __forceinline__ void finish_run(const Args &args, const unsigned sum[RUN], int up,
                                                  int x, int y, int channel, unsigned word[2])
{
    const struct view_pair &p = args.p;
    const unsigned char *const in = p.in + (long long)(y - p.in_y) * (long long)p.in_pitch;
    unsigned result[RUN];
#pragma unroll
    for (int i = 0; i < RUN; i++)
        result[i] =
            args.finish.sample8((sum[i] << up) + decltype(args.finish)::START,
                                decltype(args.finish)::ORIGINAL
                                    ? in[(long long)min(x + i, p.width - 1) * p.channels + channel]
                                    : 0);
#pragma unroll
    for (int i = 0; i < 2; i++)
        word[i] = pack_bytes<decltype(args.finish)::BYTE>(result[4 * i], result[4 * i + 1],
                                                          result[4 * i + 2], result[4 * i + 3]);
}

/* Computes samples from a run of sums. (x, y) is the first sample's place in the picture, and `to`
 * its place in a row of results. */
template <class Args>
static __device__ __forceinline__ void finish_row(const Args &args, const unsigned sum[RUN], int up,
                                                  int x, int y, int channel, unsigned char *to)
{
    unsigned word[2];
    finish_run(args, sum, up, x, y, channel, word);
#pragma unroll
    for (int i = 0; i < RUN; i++)
        to[i * args.p.channels] = (unsigned char)(word[i / 4] >> 8 * (i % 4));
}

template <class Args>
static __device__ __forceinline__ void finish_row(const Args &args, const float sum[RUN], int,
                                                  int x, int y, int channel, unsigned short *to)
{
    const struct view_pair &p = args.p;
    const unsigned short *const in =
        (const unsigned short *)(p.in + (long long)(y - p.in_y) * (long long)p.in_pitch);
#pragma unroll
    for (int i = 0; i < RUN; i++)
        to[i * p.channels] = (unsigned short)args.finish.sample16(
            sum[i], in + (long long)min(x + i, p.width - 1) * p.channels + channel);
}
