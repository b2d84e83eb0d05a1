/* How chunks come into shared memory and leave it. */
#ifndef GF_CUDA_FILTERS_GAUSS_GAUSS_MMA_CHUNKS_CUH
#define GF_CUDA_FILTERS_GAUSS_GAUSS_MMA_CHUNKS_CUH

#include "cuda/filters/gauss/gauss_mma_shape.cuh"

template <class Shape, class Args>
static __device__ __forceinline__ struct box_place box_of(const Args &args,
                                                          const struct mma_walk &walk)
{
    constexpr int EARLY = Shape::LEAD - (Shape::BLOCKS - 1);
    const struct view_pair &p = args.p;
    return {(walk.first + walk.chunk * Shape::STEPS - EARLY) * MMA_SIDE - Shape::REACH -
                Shape::SKIPPED,
            p.out_y + walk.strip * Shape::OUT_ROWS - Shape::REACH, p.out_y - args.radius,
            p.out_y + p.rows - 1 + args.radius};
}

/* Starts the copy of a chunk. */
template <class Shape, class Args>
static __device__ __forceinline__ void fetch_chunk(const Args &args, const struct mma_maps &maps,
                                                   const struct mma_walk &walk, unsigned char *raw,
                                                   box_bar *bar)
{
    const struct box_place box = box_of<Shape>(args, walk);
    box_expect(bar, Shape::ROWS * Shape::BOX_BYTES);
    box_load(raw, &maps.chunk, box.left * Shape::CHANNELS, box.top - args.p.in_y, bar);
}

/* Calls function(x, y, place) for the groups of a chunk's results that are the block's: the group's
 * byte and row in the output, and its place in the stage. */
template <class Shape, class Args, class Function>
static __device__ __forceinline__ void for_groups(const Args &args, const struct mma_walk &walk,
                                                  const Function &function)
{
    for (int step = 0; step < Shape::STEPS; step += Shape::GROUP) {
        const int at = walk.chunk * Shape::STEPS - Shape::LEAD + step;
        if (at >= 0 && at < walk.count)
            function((walk.first + at) * MMA_SIDE * Shape::CHANNELS, walk.strip * Shape::OUT_ROWS,
                     step / Shape::GROUP * (Shape::OUT_ROWS * Shape::GROUP_BYTES));
    }
}

/* Starts to bring the picture's own samples to where a chunk's results will be. */
template <class Shape, class Args>
static __device__ __forceinline__ void
fetch_originals(const Args &args, const struct mma_maps &maps, const struct mma_walk &walk,
                unsigned char *stage, box_bar *bar)
{
    int groups = 0;
    for_groups<Shape>(args, walk, [&](int, int, int) { groups++; });
    box_expect(bar, groups * Shape::OUT_ROWS * Shape::GROUP_BYTES);
    for_groups<Shape>(args, walk, [&](int x, int y, int place) {
        box_load(stage + place, &maps.original, x, args.p.out_y + y - args.p.in_y, bar);
    });
}

template <class Shape, class Args>
static __device__ __forceinline__ void store_chunk(const Args &args, const struct mma_maps &maps,
                                                   const struct mma_walk &walk,
                                                   const unsigned char *stage)
{
    for_groups<Shape>(
        args, walk, [&](int x, int y, int place) { box_store(&maps.result, x, y, stage + place); });
}

#endif
