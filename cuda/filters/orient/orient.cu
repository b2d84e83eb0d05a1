#include "cuda/filters/orient/orient.cuh"

#include "cuda/common/row_copy.cuh"
#include "cuda/common/stack.cuh"
#include "pixel/orient/orient.h"

static int flip_rows(const struct gf_launch *launch, bool mirror_y)
{
    const struct gf_view *const in = &launch->in, *const out = &launch->out;
    const size_t row_bytes = gf_row_bytes(out->format);
    const struct gf_row_copy copy = {
        gf_view_row(in, mirror_y ? out->format.height - 1 - out->y : out->y),
        mirror_y ? -(ptrdiff_t)in->pitch : (ptrdiff_t)in->pitch,
        out->data,
        out->pitch,
        row_bytes,
        0,
        row_bytes,
        out->rows,
    };
    return gf_rows_copy_cuda(&copy, launch->stream);
}

extern "C" int gf_orient_cuda(const struct gf_launch *launch)
{
    const struct gf_orient *const orient = (const struct gf_orient *)launch->stage->constants;
    if (!orient->transpose && !orient->mirror_x)
        return flip_rows(launch, orient->mirror_y);
    const struct orient_args args = orient_args_of(launch);
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    return orient->transpose ? gf_orient_transpose(args, stream) : gf_orient_mirror(args, stream);
}

extern "C" int gf_orient_stacked_cuda(const struct gf_launch *launch)
{
    const struct gf_orient *const orient = (const struct gf_orient *)launch->stage->constants;
    return orient->transpose || orient->mirror_y ? (int)cudaErrorNotSupported
                                                 : launch_tall(launch, gf_orient_cuda);
}
