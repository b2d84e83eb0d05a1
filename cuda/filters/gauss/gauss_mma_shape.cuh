/* The shape of the tensor-core Gaussian's work. */
#ifndef GF_CUDA_FILTERS_GAUSS_GAUSS_MMA_SHAPE_CUH
#define GF_CUDA_FILTERS_GAUSS_GAUSS_MMA_SHAPE_CUH

#include "cuda/common/byte_strips.cuh"
#include "cuda/filters/gauss/gauss_common.cuh"

/* BLOCKS: blocks of 16 taps, so that 8 (BLOCKS - 1) is the largest radius. TOGETHER: a warp makes
 * all channels of its rows, else there is a warp for each. STEPS: of a chunk, an even number.
 * GROUP: steps that are written together, of which a chunk and a share have a whole number. */
template <int BLOCKS_, int CHANNELS_, bool TOGETHER_, int STEPS_, int GROUP_, int STRIPS_>
struct mma_shape {
    static constexpr int BLOCKS = BLOCKS_, CHANNELS = CHANNELS_, STEPS = STEPS_, STRIPS = STRIPS_;
    static constexpr bool TOGETHER = TOGETHER_;
    static constexpr int GROUP = GROUP_, LEAD = (BLOCKS - 1 + GROUP - 1) / GROUP * GROUP;
    static constexpr int REACH = 8 * (BLOCKS - 1), AROUND = REACH;
    static constexpr int WARPS = STRIPS * (TOGETHER ? 1 : CHANNELS), THREADS = 32 * WARPS;
    static constexpr int OUT_ROWS = STEP_SIDE * STRIPS, ROWS = STEP_SIDE * (STRIPS + BLOCKS - 1);
    /* Pixels of a row in a chunk, and before them in its box, which begins at a multiple of 16
     * bytes; bytes of a row in the box and in a group. */
    static constexpr int PIXELS = STEP_SIDE * STEPS, SKIPPED = REACH % 16;
    static constexpr int BEFORE = STEP_SIDE * (LEAD - (BLOCKS - 1)) + REACH + SKIPPED;
    static constexpr int BOX_BYTES = ((SKIPPED + PIXELS) * CHANNELS + 15) / 16 * 16;
    static constexpr int GROUP_BYTES = STEP_SIDE * GROUP * CHANNELS;
    /* High bytes of the taps: the outermost blocks of many have none. */
    static constexpr int HIGH = BLOCKS >= 9 ? 1 : 0, HIGH_END = BLOCKS - HIGH;
    /* The operands' order: words of four rows of a column, two of them of eight rows side by side
     * or not. Lanes read 16 (8) bytes each of four octets (quartets) at once; the 8 words more make
     * them meet every bank once. */
    static constexpr bool OCTETS = TOGETHER;
    static constexpr int OCTET = 2 * PIXELS * CHANNELS + 8, QUARTET = PIXELS * CHANNELS + 8;
    static constexpr int OPERAND_WORDS = OCTETS ? ROWS / 8 * OCTET : ROWS / 4 * QUARTET;
};

template <class Finish_> struct mma_args : strip_args {
    typedef Finish_ Finish;
    Finish finish;
    /* The columns' sums of high and low bytes times these, plus a half, have the intermediate in
     * bits 16 and up. */
    unsigned high_up, low_up, half;
    unsigned low_mask;               /* of the intermediate's low bytes */
    unsigned short fixed[8 * 8 + 1]; /* by distance */
};

#endif
