/* pixelate: replaces blocks by their mean colour. */
#include "filters/resize/resize.h"
#include "pixel/resample/resample.h"

extern const struct gf_filter gf_resize_filter;

struct pixelate {
    int size; /* the side of a block, in pixels */
};

static const struct gf_param params[] = {
    GF_PARAM_INT(struct pixelate, size, 8, 1, 10000, "side of a block, in pixels"),
    {0},
};

/* Returns the parameters of a resize that makes a pixel from each block. Blocks at the edges may be
 * partly outside of the picture. */
static struct gf_resize_params means(double size, double width, double height)
{
    return (struct gf_resize_params){
        .kernel = GF_RESAMPLE_AREA,
        .gravity = GF_GRAVITY_NORTHWEST, /* the first block begins at the picture's corner */
        .size = {.w = ceil(width / size),
                 .h = ceil(height / size),
                 .full_w = width / size,
                 .full_h = height / size,
                 .in_w = width,
                 .in_h = height},
    };
}

static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    const double size = ((const struct pixelate *)params_)->size;
    const struct gf_resize_params small = means(size, extent->width, extent->height);
    struct gf_resize_params large = small;
    large.kernel = GF_RESAMPLE_NEAREST;
    large.size = (struct gf_resize_size){
        .w = extent->width,
        .h = extent->height,
        .full_w = small.size.w * size,
        .full_h = small.size.h * size,
        .in_w = small.size.w,
        .in_h = small.size.h,
    };
    if (size == 1)
        return;
    gf_parts_add(parts, &gf_resize_filter, &small, sizeof small);
    gf_parts_add(parts, &gf_resize_filter, &large, sizeof large);
}

const struct gf_filter gf_pixelate_filter = {
    .name = "pixelate",
    .names = "pixelize pixelise",
    .synonyms = "mosaic block censor anonymise",
    .summary = "blocks of one colour",
    .definition = "Each block of size x size pixels becomes its mean; blocks at the right and "
                  "lower edge may be smaller.",
    .example = "pixelate=6",
    GF_PARAMS(struct pixelate, params),
    .kind = GF_STENCIL,
    .expand = expand,
};
