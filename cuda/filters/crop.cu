#include "filters/crop/crop.h"

#include "base/image.h"
#include "cuda/common/row_copy.cuh"
#include "stage/stage.h"

extern "C" int gf_crop_cuda(const struct gf_launch *launch)
{
    const struct gf_crop_origin *const at = (const struct gf_crop_origin *)launch->stage->constants;
    const struct gf_view *const in = &launch->in, *const out = &launch->out;
    const struct gf_format format = out->format;
    const struct gf_row_copy copy = {
        gf_view_row(in, out->y + at->y),
        (ptrdiff_t)in->pitch,
        out->data,
        out->pitch,
        gf_row_bytes(in->format),
        (size_t)at->x * gf_pixel_bytes(format),
        gf_row_bytes(format),
        out->rows,
    };
    return gf_rows_copy_cuda(&copy, launch->stream);
}
