/* The shape of the tensor-core Gaussian's work, and how its blocks walk through the picture.
 *
 * The picture is cut into strips of 16 rows a warp, and strips into steps of 16 pixels. A block
 * takes its share of all steps, laid end to end, and goes along each strip in chunks of some steps.
 * A step's results need the columns of `LEAD` steps before it, so that a block begins a strip so
 * many steps early. */
#ifndef GF_CUDA_FILTERS_GAUSS_GAUSS_MMA_SHAPE_CUH
#define GF_CUDA_FILTERS_GAUSS_GAUSS_MMA_SHAPE_CUH

#include "cuda/common/boxes.cuh"
#include "cuda/common/byte_operands.cuh"
#include "cuda/filters/gauss/gauss_common.cuh"

enum { MMA_SIDE = 16 }; /* rows and pixels of a step */

/* BLOCKS: blocks of 16 taps, so that 8 (BLOCKS - 1) is the largest radius. TOGETHER: a warp makes
 * all channels of its rows, else there is a warp for each. STEPS: of a chunk, an even number.
 * GROUP: steps that are written together, of which a chunk and a share have a whole number. */
template <int BLOCKS_, int CHANNELS_, bool TOGETHER_, int STEPS_, int GROUP_, int STRIPS_>
struct mma_shape {
    static constexpr int BLOCKS = BLOCKS_, CHANNELS = CHANNELS_, STEPS = STEPS_, STRIPS = STRIPS_;
    static constexpr bool TOGETHER = TOGETHER_;
    static constexpr int GROUP = GROUP_, LEAD = (BLOCKS - 1 + GROUP - 1) / GROUP * GROUP;
    static constexpr int REACH = 8 * (BLOCKS - 1);
    static constexpr int WARPS = STRIPS * (TOGETHER ? 1 : CHANNELS), THREADS = 32 * WARPS;
    static constexpr int OUT_ROWS = MMA_SIDE * STRIPS, ROWS = MMA_SIDE * (STRIPS + BLOCKS - 1);
    /* Pixels of a row in a chunk, and before them in its box, which begins at a multiple of 16
     * bytes; bytes of a row in the box and in a group. */
    static constexpr int PIXELS = MMA_SIDE * STEPS, SKIPPED = REACH % 16;
    static constexpr int BOX_BYTES = ((SKIPPED + PIXELS) * CHANNELS + 15) / 16 * 16;
    static constexpr int GROUP_BYTES = MMA_SIDE * GROUP * CHANNELS;
    /* High bytes of the taps: the outermost blocks of many have none. */
    static constexpr int HIGH = BLOCKS >= 9 ? 1 : 0, HIGH_END = BLOCKS - HIGH;
    /* The operands' order: words of four rows of a column, two of them of eight rows side by side
     * or not. Lanes read 16 (8) bytes each of four octets (quartets) at once; the 8 words more make
     * them meet every bank once. */
    static constexpr bool OCTETS = TOGETHER;
    static constexpr int OCTET = 2 * PIXELS * CHANNELS + 8, QUARTET = PIXELS * CHANNELS + 8;
    static constexpr int OPERAND_WORDS = OCTETS ? ROWS / 8 * OCTET : ROWS / 4 * QUARTET;
};

/* The kernel's maps: chunks of the input, groups of the input and of the output. */
struct mma_maps {
    box_map chunk, original, result;
};

template <class Finish> struct mma_args {
    struct view_pair p;
    Finish finish;
    int radius, in_rows;
    int across, share, steps; /* of a strip, of a block, of all strips */
    /* The columns' sums of high and low bytes times these, plus a half, have the intermediate in
     * bits 16 and up. */
    unsigned high_up, low_up, half;
    unsigned low_mask;               /* of the intermediate's low bytes */
    unsigned short fixed[8 * 8 + 1]; /* by distance */
};

/* A chunk of a block's share. */
struct mma_walk {
    int at, end;             /* steps of the strips laid end to end: the strip's part, the share */
    int strip, first, count; /* the steps first .. first + count - 1 of the strip are the block's */
    int chunk, chunks;
};

template <class Shape, class Args>
static __device__ __forceinline__ void open_strip(const Args &args, struct mma_walk &walk)
{
    walk.strip = walk.at / args.across;
    walk.first = walk.at - walk.strip * args.across;
    walk.count = min(walk.end - walk.at, args.across - walk.first);
    walk.chunk = 0;
    walk.chunks = (walk.count + Shape::LEAD + Shape::STEPS - 1) / Shape::STEPS;
}

/* To the next chunk. False: there is no more. */
template <class Shape, class Args>
static __device__ __forceinline__ bool advance(const Args &args, struct mma_walk &walk)
{
    if (++walk.chunk < walk.chunks)
        return true;
    walk.at += walk.count;
    if (walk.at >= walk.end)
        return false;
    open_strip<Shape>(args, walk);
    return true;
}

#endif
