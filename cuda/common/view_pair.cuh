/* The input and the output view of a launch, as every kernel gets them; and many pictures as one
 * tall picture. */
#pragma once

#include <cuda_runtime.h>
#include <limits.h>

#include "stage/stage.h"

/* The input and output view of a launch. Row y of the input is at in + (y - in_y) * in_pitch, and
 * row y of the output at out + (y - out_y) * out_pitch. A kernel writes `rows` rows from out_y on.
 * Kernels get it by value, alone or as the member `p` of their own arguments. */
struct view_pair {
    const unsigned char *in;
    unsigned char *out; /* NULL if the kernel only reads */
    size_t in_pitch, out_pitch;
    int in_y, out_y, rows;
    int width, height, channels; /* the size of the whole input picture; a row has fewer than 2^31
                                  * samples */
    int border;                  /* enum gf_border, for stencils */
    unsigned per_channel;        /* 65536 / channels + 1: see pixel_of() in stencil.cuh */
    int bits;
    int straight; /* the bits of both views if they are straight RGBA, and the stencil's samples
                   * their premultiplied colour (struct gf_launch); otherwise 0 */
    const unsigned *before, *after; /* look-up tables of samples, for before and after the stencil
                                       (struct gf_launch); NULL: none */
};

static inline struct view_pair view_pair_of(const struct gf_launch *launch, int border)
{
    struct view_pair p = {};
    p.in = launch->in.data;
    p.out = launch->out.data;
    p.in_pitch = launch->in.pitch;
    p.out_pitch = launch->out.pitch;
    p.in_y = launch->in.y;
    p.out_y = launch->out.y;
    p.rows = launch->out.rows;
    p.width = launch->in.format.width;
    p.height = launch->in.format.height;
    p.channels = launch->in.format.channels;
    p.border = border;
    p.per_channel = 65536 / p.channels + 1;
    p.straight = launch->straight;
    p.bits = p.straight == 8 ? 16 : launch->in.format.bits;
    p.before = (const unsigned *)launch->before;
    p.after = (const unsigned *)launch->after;
    return p;
}

/* Returns the views of a launch with `in` at row in_y, which need not be in the view. */
static inline struct view_pair view_pair_from(const struct gf_launch *launch, int in_y)
{
    struct view_pair p = view_pair_of(launch, 0);
    p.in = gf_view_row(&launch->in, in_y);
    p.in_y = in_y;
    return p;
}

/* Returns the views of a point filter's launch: `in` and `out` begin with the same row. */
static inline struct view_pair aligned_views(const struct gf_launch *launch)
{
    return view_pair_from(launch, launch->out.y);
}

/* Returns a view for kernels that only read, such as kernels that count pixels. */
static inline struct view_pair input_view(const struct gf_view *view)
{
    struct gf_launch launch = {};
    launch.in = *view;
    launch.out = *view;
    struct view_pair p = aligned_views(&launch);
    p.out = NULL;
    return p;
}

/* Calls launch(part) for parts of aligned views with at most `most` rows each, until a launch
 * fails. It is for kernels whose indices cannot hold all rows at once. */
template <class Launch>
static int for_parts_of_rows(const struct view_pair &whole, unsigned most, const Launch &launch)
{
    int status = cudaSuccess;
    for (long long first = 0; status == cudaSuccess && first < whole.rows; first += most) {
        struct view_pair part = whole;
        part.in += (size_t)first * whole.in_pitch;
        part.out += (size_t)first * whole.out_pitch;
        part.in_y += (int)first;
        part.out_y += (int)first;
        part.rows = (int)(whole.rows - first < most ? whole.rows - first : most);
        status = launch(part);
    }
    return status;
}

/* The most pixels of a joined row, so that indices of vectors fit in 32 bits. */
enum { LONG_ROW_MAX = 1 << 30 };

/* Joins aligned views to a single long row if their rows follow each other without gaps. */
static inline struct view_pair join_rows(struct view_pair p, size_t in_bytes, size_t out_bytes)
{
    const long long pixels = (long long)p.width * p.rows;
    if (p.in_pitch == in_bytes && (!p.out || p.out_pitch == out_bytes) && pixels <= LONG_ROW_MAX) {
        p.width = (int)pixels;
        p.rows = 1;
    }
    return p;
}

/* Stacks of pictures without rows between them, for kernels that take each row by itself. */

/* Runs a launcher on the stack as if it were one tall picture. */
static inline int launch_tall(const struct gf_launch *launch, gf_launcher *launcher)
{
    const struct gf_stack *const stack = &launch->stack;
    struct gf_launch tall = *launch;
    if (stack->in || stack->in_rows != launch->in.format.height ||
        stack->out_rows != launch->out.format.height ||
        (long long)stack->in_rows * stack->count > INT_MAX)
        return cudaErrorNotSupported;
    tall.in.rows = tall.in.format.height = stack->in_rows * stack->count;
    tall.out.rows = tall.out.format.height = stack->out_rows * stack->count;
    return launcher(&tall);
}
