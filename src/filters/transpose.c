/* transpose: exchanges rows and columns. */
#include "pixel/orient/orient.h"

static const struct gf_orient transposed = {.transpose = true};

static enum gf_status transpose_shape(const void *params, struct gf_format in,
                                      struct gf_format *out, struct gf_error *error)
{
    gf_orient_shape(transposed, in, out);
    return GF_OK;
}

static bool transpose_needs_whole(const void *params)
{
    return gf_orient_needs_whole(transposed);
}

static void transpose_input_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    gf_orient_input_rows(transposed, stage, y0, y1, first, end);
}

static enum gf_status transpose_prepare(struct gf_stage *stage, struct gf_error *error)
{
    return gf_orient_prepare(transposed, stage, error);
}

const struct gf_filter gf_transpose_filter = {
    .name = "transpose",
    .summary = "rows become columns",
    .definition = "Pixel (x, y) of the result is pixel (y, x) of the picture.",
    .kind = GF_GEOMETRY,
    .cost = {.pixel = 1.3},
    .shape = transpose_shape,
    .needs_whole = transpose_needs_whole,
    .input_rows = transpose_input_rows,
    .prepare = transpose_prepare,
    .cpu = gf_orient_cpu,
    .cpu_intrinsics = true,
    .cuda = GF_CUDA(GF_TRANSPOSE_KERNELS(NULL)),
};
