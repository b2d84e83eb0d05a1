/* One band of a mirror or a transposition on the device. */
#ifndef GF_ORIENT_CUH
#define GF_ORIENT_CUH

#include <cuda_runtime.h>
#include <stdint.h>
#include <string.h>

#include "orient.h"

/* Pixels are PIXEL bytes: 1, 2, 3, 4, 6 or 8. */
struct turn {
    const unsigned char *in; /* row 0 of the whole input */
    unsigned char *out;      /* row out_first of the whole result */
    size_t in_pitch, out_pitch;
    int in_width, out_width, out_height;
    int out_first, out_rows;
    bool mirror_x, mirror_y;
    int first_column, column_tiles; /* transposition: the band's columns of the input, in tiles */
};

/* cudaError_t; in mirror.cu and transpose.cu */
int gf_turn_mirror(const struct turn &turn, int pixel_bytes, cudaStream_t stream);
int gf_turn_transpose(const struct turn &turn, int pixel_bytes, cudaStream_t stream);

#endif
