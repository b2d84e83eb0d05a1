/* Windows of 5x5 to 9x9 of two parts of a row at a time. A half of a register has a sample in its
 * upper byte, and anything in its lower byte: lower halves are samples of the left part, upper
 * halves samples of the right part. A shift along the row is therefore another register, or a
 * register of another lane, and from sm_90 on one instruction finds the least or largest of three
 * such registers. The extreme of three samples is found first, then that of two or three of
 * these. */
#pragma once

#include "cuda/filters/morphology/window.cuh"

template <int REACH_, int CHANNELS_> struct pairs_layout {
    static constexpr int REACH = REACH_, CHANNELS = CHANNELS_;
    static constexpr int EACH = 8; /* a lane's samples in each part */
    /* Lanes on either side of the warp that have no results. */
    static constexpr int BESIDE = (2 * REACH * CHANNELS + EACH - 1) / EACH;
    static constexpr int PART = (WARP - 2 * BESIDE) * EACH; /* results of a part in a row */
    /* A window joins THREES extremes of three samples, which are APART samples apart. */
    static constexpr int THREES = REACH == 2 ? 2 : 3, APART = REACH == 4 ? 3 : 2;
    static constexpr int RING = (THREES - 1) * APART;
    /* Rows of the unrolled loop, and rows that are being loaded, a part of PERIOD. */
    static constexpr int PERIOD = REACH == 4 ? 6 : 4, AHEAD = REACH == 4 ? 3 : 4;
    /* Blocks that the registers must hold. */
    static constexpr int BLOCKS = REACH == 2 ? 20 : REACH == 3 ? 16 : 12;
};

template <bool LEAST> static __device__ __forceinline__ unsigned extreme(unsigned a, unsigned b)
{
    return LEAST ? __vminu2(a, b) : __vmaxu2(a, b);
}

template <bool LEAST, int THREES>
static __device__ __forceinline__ unsigned extreme(unsigned a, unsigned b, unsigned c)
{
    const unsigned both = extreme<LEAST>(a, b);
    return THREES == 2 ? both : extreme<LEAST>(both, c);
}

/* The samples of two registers in one. */
static __device__ __forceinline__ unsigned join_pairs(unsigned even, unsigned odd)
{
    return __byte_perm(even, odd, 0x7351);
}

/* A row of samples that is kept for later rows. */
template <int EACH> struct kept_pairs {
    unsigned joined[EACH / 2];
    __device__ __forceinline__ void set(const unsigned (&v)[EACH])
    {
#pragma unroll
        for (int i = 0; i < EACH / 2; i++)
            joined[i] = join_pairs(v[2 * i], v[2 * i + 1]);
    }
    __device__ __forceinline__ unsigned operator[](int i) const
    {
        return i % 2 ? joined[i / 2] : joined[i / 2] << 8;
    }
};

/* Goes down the rows: the extremes of three rows join those of APART and 2 APART rows before. */
template <bool LEAST, class Layout> struct pairs_down {
    static constexpr int EACH = Layout::EACH, RING = Layout::RING;
    struct kept_pairs<EACH> last[2] = {}, three[RING] = {
    };

    /* The phase is the number of the row modulo RING; `kept` has the same samples as v. */
    __device__ __forceinline__ void take(int phase, const unsigned (&v)[EACH],
                                         const struct kept_pairs<EACH> &kept, unsigned (&out)[EACH])
    {
        unsigned here[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            here[i] = extreme<LEAST, 3>(v[i], last[0][i], last[1][i]);
            out[i] = extreme<LEAST, Layout::THREES>(
                here[i], three[phase][i], three[(phase + RING - Layout::APART) % RING][i]);
        }
        last[phase % 2] = kept;
        three[phase].set(here);
    }
};

/* Joins a lane's samples with the neighbours' D samples on either side. */
template <int D, int EACH>
static __device__ __forceinline__ void with_neighbours(const unsigned (&v)[EACH],
                                                       unsigned (&all)[EACH + 2 * D])
{
#pragma unroll
    for (int i = 0; i < EACH; i++)
        all[D + i] = v[i];
#pragma unroll
    for (int i = 0; i < D; i++) {
        const int lanes = i / EACH + 1;
        all[D - 1 - i] = __shfl_up_sync(0xFFFFFFFFu, v[EACH - 1 - i % EACH], lanes);
        all[D + EACH + i] = __shfl_down_sync(0xFFFFFFFFu, v[i % EACH], lanes);
    }
}

/* Replaces the samples by the extremes of the windows around them, along the row. */
template <bool LEAST, class Layout>
static __device__ __forceinline__ void pairs_along(unsigned (&v)[Layout::EACH])
{
    constexpr int EACH = Layout::EACH, NEAR = Layout::CHANNELS;
    constexpr int FAR = (Layout::REACH - 1) * Layout::CHANNELS;
    unsigned near[EACH + 2 * NEAR], far[EACH + 2 * FAR];
    with_neighbours<NEAR>(v, near);
#pragma unroll
    for (int i = 0; i < EACH; i++)
        v[i] = extreme<LEAST, 3>(near[i], near[i + NEAR], near[i + 2 * NEAR]);
    with_neighbours<FAR>(v, far);
#pragma unroll
    for (int i = 0; i < EACH; i++)
        v[i] = extreme<LEAST, Layout::THREES>(far[i], far[i + 2 * FAR], far[i + FAR]);
}
