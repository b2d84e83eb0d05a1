/* vflip: exchanges top and bottom. */
#include "pixel/orient/orient.h"

static struct gf_orient flipped(const void *params)
{
    return (struct gf_orient){.mirror_y = true};
}

GF_ORIENT_FUNCTIONS(flipped)

const struct gf_filter gf_vflip_filter = {
    .name = "vflip",
    .alias = "flip",
    .summary = "top and bottom exchanged",
    .definition = "Pixel (x, y) of the result is pixel (x, height - 1 - y) of the picture.",
    .kind = GF_GEOMETRY,
    GF_ORIENT_FILTER,
    .cuda = GF_CUDA({GF_VARIANT("rows", gf_orient_cuda, "rows of 16-byte words")}),
};
