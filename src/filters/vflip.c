/* vflip: exchanges top and bottom. */
#include "pixel/orient/orient.h"

static const struct gf_orient flipped = {.mirror_y = true};

static bool vflip_needs_whole(const void *params)
{
    return gf_orient_needs_whole(flipped);
}

static void vflip_input_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    gf_orient_input_rows(flipped, stage, y0, y1, first, end);
}

static enum gf_status vflip_prepare(struct gf_stage *stage, struct gf_error *error)
{
    return gf_orient_prepare(flipped, stage, error);
}

const struct gf_filter gf_vflip_filter = {
    .name = "vflip",
    .alias = "flip",
    .summary = "top and bottom exchanged",
    .definition = "Pixel (x, y) of the result is pixel (x, height - 1 - y) of the picture.",
    .kind = GF_GEOMETRY,
    .needs_whole = vflip_needs_whole,
    .input_rows = vflip_input_rows,
    .prepare = vflip_prepare,
    .cpu = gf_orient_cpu,
    .cpu_intrinsics = true,
    .cuda = GF_CUDA({GF_VARIANT("rows", gf_orient_cuda, "rows of 16-byte words")}),
};
