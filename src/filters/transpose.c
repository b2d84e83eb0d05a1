/* transpose: exchanges rows and columns. */
#include "pixel/orient/orient.h"

static struct gf_orient transposed(const void *params)
{
    return (struct gf_orient){.transpose = true};
}

GF_ORIENT_FUNCTIONS(transposed)

const struct gf_filter gf_transpose_filter = {
    .name = "transpose",
    .summary = "rows become columns",
    .definition = "Pixel (x, y) of the result is pixel (y, x) of the picture.",
    .kind = GF_GEOMETRY,
    .takes_no_region = true,
    .cost = {.pixel = 1.3},
    GF_ORIENT_FILTER,
    .cuda = GF_CUDA(GF_TRANSPOSE_KERNEL),
};
