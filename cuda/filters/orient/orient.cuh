/* Shared declarations of the kernels of mirrors and transpositions. */
#pragma once

#include <string.h>

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "pixel/orient/orient.h"

struct orient_args {
    struct view_pair p; /* in_y is 0: `in` begins with row 0 of the input */
    bool mirror_x, mirror_y;
    /* For a transposition: the first column of the input that becomes a row of the band, and the
     * number of tiles across these columns. */
    int first_column, column_tiles;
};

static inline struct orient_args orient_args_of(const struct gf_launch *launch)
{
    const struct gf_orient *const orient = (const struct gf_orient *)launch->stage->constants;
    return {view_pair_from(launch, 0), orient->mirror_x, orient->mirror_y, 0, 0};
}

static inline int pixel_bytes_of(const struct view_pair &p)
{
    return p.channels * p.bits / 8;
}

/* Returns the first of the p.rows columns of the input that become rows of the band. */
static inline int first_column_of(const struct orient_args &args)
{
    const struct view_pair &p = args.p;
    return args.mirror_y ? p.width - p.out_y - p.rows : p.out_y;
}
