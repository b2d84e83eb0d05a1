/* The division of the tensor-core Gaussian's work among blocks, warps and steps. */
#pragma once

#include "cuda/common/byte_strips.cuh"
#include "cuda/filters/gauss/gauss_common.cuh"

/* The template's parameters. BLOCKS is the number of blocks of 16 taps, so that 8 (BLOCKS - 1) is
 * the largest radius. With TOGETHER a warp computes all channels of its rows; otherwise each
 * channel has a warp. STEPS is the number of steps of a chunk, which is even. GROUP is the number
 * of steps that are written together; a chunk and a warp's share are whole groups. */
template <int BLOCKS_, int CHANNELS_, bool TOGETHER_, int STEPS_, int GROUP_, int STRIPS_>
struct mma_shape {
    static constexpr int BLOCKS = BLOCKS_, CHANNELS = CHANNELS_, STEPS = STEPS_, STRIPS = STRIPS_;
    static constexpr bool TOGETHER = TOGETHER_;
    static constexpr int GROUP = GROUP_, LEAD = (BLOCKS - 1 + GROUP - 1) / GROUP * GROUP;
    static constexpr int REACH = 8 * (BLOCKS - 1), AROUND = REACH;
    static constexpr int WARPS = STRIPS * (TOGETHER ? 1 : CHANNELS), THREADS = 32 * WARPS;
    static constexpr int OUT_ROWS = STEP_SIDE * STRIPS, ROWS = STEP_SIDE * (STRIPS + BLOCKS - 1);
    /* PIXELS of a row are in a chunk, and BEFORE more precede them in the chunk's box, which begins
     * at a multiple of 16 bytes. BOX_BYTES and GROUP_BYTES are the bytes of a row in the box and in
     * a group. */
    static constexpr int PIXELS = STEP_SIDE * STEPS, SKIPPED = REACH % 16;
    static constexpr int BEFORE = STEP_SIDE * (LEAD - (BLOCKS - 1)) + REACH + SKIPPED;
    static constexpr int BOX_BYTES = ((SKIPPED + PIXELS) * CHANNELS + 15) / 16 * 16;
    static constexpr int GROUP_BYTES = STEP_SIDE * GROUP * CHANNELS;
    /* The range of blocks of taps with high bytes. If there are many blocks, the outermost blocks
     * have none. */
    static constexpr int HIGH = BLOCKS >= 9 ? 1 : 0, HIGH_END = BLOCKS - HIGH;
    /* The order of the operands. A word has four rows of a column; with OCTETS two words for eight
     * rows are adjacent. The lanes read 16 bytes each of four octets (or 8 bytes of four quartets)
     * at once; with 8 words of padding they access every bank once. */
    static constexpr bool OCTETS = TOGETHER;
    static constexpr int OCTET = 2 * PIXELS * CHANNELS + 8, QUARTET = PIXELS * CHANNELS + 8;
    static constexpr int OPERAND_WORDS = OCTETS ? ROWS / 8 * OCTET : ROWS / 4 * QUARTET;
};

template <class Finish_> struct mma_args : strip_args {
    typedef Finish_ Finish;
    Finish finish;
    /* The columns' sums of high and of low bytes, multiplied by high_up and low_up, plus `half`,
     * have the intermediate result in bits 16 and up. */
    unsigned high_up, low_up, half;
    unsigned low_mask;               /* selects the low bytes of the intermediate results */
    unsigned short fixed[8 * 8 + 1]; /* the taps, by distance */
};
