/* hflip: exchanges left and right. */
#include "pixel/orient/orient.h"

static enum gf_status hflip_prepare(struct gf_stage *stage, struct gf_error *error)
{
    return gf_orient_prepare((struct gf_orient){.mirror_x = true}, stage, error);
}

const struct gf_filter gf_hflip_filter = {
    .name = "hflip",
    .synonyms = "mirror",
    .alias = "flop",
    .summary = "left and right exchanged",
    .definition = "Pixel (x, y) of the result is pixel (width - 1 - x, y) of the picture.",
    .kind = GF_GEOMETRY,
    .prepare = hflip_prepare,
    .cpu = gf_orient_cpu,
    .cpu_intrinsics = true,
    .cuda = GF_CUDA({GF_VARIANT("words", gf_orient_cuda, "words reversed")}),
};
