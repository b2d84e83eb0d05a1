#include "orient.cuh"
#include "rows.cuh"

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
    const struct gf_view *const in = &launch->in, *const out = &launch->out;
    if (!orient->transpose && !orient->mirror_x)
        return flip_rows(launch, orient->mirror_y);
    struct turn turn = {};
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
    const int pixel_bytes = out->format.channels * out->format.bits / 8;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    return orient->transpose ? gf_turn_transpose(turn, pixel_bytes, stream)
                             : gf_turn_mirror(turn, pixel_bytes, stream);
}
