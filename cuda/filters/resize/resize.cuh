/* The parameters of the kernels of resize. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "pixel/resample/resample.h"

/* The pictures of a launch: blocks (., ., z) work on picture z. */
struct stacked {
    int count, in_rows, out_rows;
    bool is_listed;
    const unsigned char *listed[GF_LISTED_MOST]; /* where the pictures begin */
};

static inline struct stacked stacked_of(const struct gf_launch *launch)
{
    const struct gf_stack *const stack = &launch->stack;
    struct stacked stacked = {stack->count > 1 ? stack->count : 1,
                              stack->in_rows,
                              stack->out_rows,
                              stack->in != NULL,
                              {}};
    for (int i = 0; stack->in && i < stack->count; i++)
        stacked.listed[i] = stack->in[i];
    return stacked;
}

/* Returns where the view of a picture begins. */
static __device__ __forceinline__ const unsigned char *
picture_in(const struct view_pair &p, const struct stacked &stack, int picture)
{
    return stack.is_listed ? stack.listed[picture]
                           : p.in + picture * stack.in_rows * (ptrdiff_t)p.in_pitch;
}

struct resize_args {
    struct view_pair p;
    int out_width;
    bool linear;
    float max; /* the first pass is clamped to 0..max */
    const float *decode;
    /* Arrays of struct gf_resample_table in device memory: for groups of columns (for single
     * columns with the nearest kernel), for rows, and for groups of rows. */
    const int *column_start, *column_count, *row_start, *row_count, *group_start, *group_count;
    const float *column_weight, *group_weight;
    int column_taps, group_taps;
    struct stacked stack;
};

/* The parameters of the kernels of resize_walk.cuh, with arrays of struct gf_resample_walk. */
struct resize_walk {
    struct view_pair p;
    int in_row_bytes, out_width, group, groups;
    int window, reach;
    bool gathers;
    enum gf_resample_width width_kind;
    float max; /* the first pass is clamped to 0..max, in the units of its sums */
    int tall;  /* rows of a thread, set at the launch */
    /* For halves of 8-bit RGB by 8 or 12 pixels: the weights of a column that is not at an edge;
     * set at the launch: the first group at the right edge, the number of groups at edges, the rows
     * of a thread and of blocks there. */
    float taps[12];
    int right, edge_tall;
    unsigned edges, edge_blocks;
    struct stacked stack;
    const float *decode;
    const unsigned *encode;
    const int *column_start, *row_start, *row_count, *row_first;
    const float *column_weight, *row_weight;
};

/* Whether gf_resize_halves() computes the picture, and its launch, of resize_halves.cu. */
bool gf_resize_is_half(const struct gf_launch *launch, const struct gf_resample *resample);
int gf_resize_halves(const struct gf_launch *launch, const struct gf_resample *resample);

/* Launches the kernel of nearest pixels, of resize.cu; a cudaError_t. */
int gf_resize_pick(const struct resize_args &args, int pixel_bytes, cudaStream_t stream);

/* Launches the kernels of resize_tile.cu; a cudaError_t. */
int gf_resize_tiles(const struct resize_args &args, const struct gf_resample *resample,
                    cudaStream_t stream);
