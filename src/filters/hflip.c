/* hflip: exchanges left and right. */
#include "pixel/orient/orient.h"

static struct gf_orient mirrored(const void *params)
{
    return (struct gf_orient){.mirror_x = true};
}

GF_ORIENT_FUNCTIONS(mirrored)

const struct gf_filter gf_hflip_filter = {
    .name = "hflip",
    .names = "mirror",
    .alias = "flop",
    .summary = "left and right exchanged",
    .definition = "Pixel (x, y) of the result is pixel (width - 1 - x, y) of the picture.",
    .kind = GF_GEOMETRY,
    GF_ORIENT_FILTER,
    .cuda = GF_CUDA({GF_VARIANT("words", gf_orient_cuda, "words reversed")}),
    .cuda_stacked = GF_LAUNCHER(gf_orient_stacked_cuda),
};
