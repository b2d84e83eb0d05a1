/* One band of a mirror or a transposition on the device. */
#ifndef GF_CUDA_FILTERS_ORIENT_ORIENT_CUH
#define GF_CUDA_FILTERS_ORIENT_ORIENT_CUH

#include <cuda_runtime.h>
#include <stdint.h>
#include <string.h>

#include "pixel/orient.h"

/* Pixels are PIXEL bytes: 1, 2, 3, 4, 6 or 8. */
struct reorder {
    const unsigned char *in; /* row 0 of the whole input */
    unsigned char *out;      /* row out_first of the whole result */
    size_t in_pitch, out_pitch;
    int in_width, out_width, out_height;
    int out_first, out_rows;
    bool mirror_x, mirror_y;
    int first_column, column_tiles; /* transposition: the band's columns of the input, in tiles */
};

static inline struct reorder reorder_of(const struct gf_launch *launch)
{
    const struct gf_orient *const orient = (const struct gf_orient *)launch->stage->constants;
    const struct gf_view *const in = &launch->in, *const out = &launch->out;
    struct reorder turn = {};
    turn.in = gf_view_row(in, 0);
    turn.out = out->data;
    turn.in_pitch = in->pitch;
    turn.out_pitch = out->pitch;
    turn.in_width = in->format.width;
    turn.out_width = out->format.width;
    turn.out_height = out->format.height;
    turn.out_first = out->y;
    turn.out_rows = out->rows;
    turn.mirror_x = orient->mirror_x;
    turn.mirror_y = orient->mirror_y;
    return turn;
}

static inline int turn_pixel_bytes(const struct gf_launch *launch)
{
    return launch->out.format.channels * launch->out.format.bits / 8;
}

/* The first column of the input that becomes a row of the band; there are out_rows of them. */
static inline int turn_first_column(const struct reorder &turn)
{
    return turn.mirror_y ? turn.in_width - turn.out_first - turn.out_rows : turn.out_first;
}

/* cudaError_t; in mirror.cu and transpose.cu */
int gf_reorder_mirror(const struct reorder &turn, int pixel_bytes, cudaStream_t stream);
int gf_reorder_transpose(const struct reorder &turn, int pixel_bytes, cudaStream_t stream);

#endif
