/* rotate: quarter turns. */
#include "pixel/orient.h"

struct rotate {
    int angle; /* index into angles */
};

static const char *const angles[] = {"90", "180", "270", NULL};

static const struct gf_param rotate_params[] = {
    GF_PARAM_CHOICE(struct rotate, angle, 0, angles, "degrees, clockwise"),
    {0},
};

static struct gf_orient rotation(const void *params)
{
    static const struct gf_orient turn[] = {
        {.transpose = true, .mirror_x = true},
        {.mirror_x = true, .mirror_y = true},
        {.transpose = true, .mirror_y = true},
    };
    return turn[((const struct rotate *)params)->angle];
}

static enum gf_status rotate_shape(const void *params, struct gf_format in, struct gf_format *out,
                                   struct gf_error *error)
{
    (void)error;
    gf_orient_shape(rotation(params), in, out);
    return GF_OK;
}

static bool rotate_needs_whole(const void *params)
{
    return gf_orient_needs_whole(rotation(params));
}

static void rotate_input_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    gf_orient_input_rows(rotation(stage->params), stage, y0, y1, first, end);
}

static enum gf_status rotate_prepare(struct gf_stage *stage, struct gf_error *error)
{
    return gf_orient_prepare(rotation(stage->params), stage, error);
}

static const char *refuses(const struct gf_stage *stage)
{
    return rotation(stage->params).transpose ? NULL : "takes angles of 90 and 270 only";
}

const struct gf_filter gf_rotate_filter = {
    .name = "rotate",
    .synonyms = "turn",
    .summary = "rotation by quarter turns, clockwise",
    .definition = "An exact permutation of the pixels: 90 moves the top row to the right edge.",
    .params = rotate_params,
    .params_size = sizeof(struct rotate),
    .kind = GF_GEOMETRY,
    .cost = {.pixel = 1.2},
    .shape = rotate_shape,
    .needs_whole = rotate_needs_whole,
    .input_rows = rotate_input_rows,
    .prepare = rotate_prepare,
    .cpu = gf_orient_cpu,
    .cuda = GF_CUDA(GF_TRANSPOSE_KERNELS(refuses)),
};
