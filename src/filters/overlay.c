/* overlay: another picture on the picture. */
#include "pixel/point/blend.h"
#include "pixel/files/picture_file.h"
#include "pixel/point/point.h"

struct overlay {
    char file[GF_FILE_NAME_SIZE];
    int gravity, mode;
    struct gf_length x, y;
    double opacity, scale;
    const struct gf_picture *picture;
};

static const char *const modes[] = GF_BLEND_NAMES;

static const struct gf_param params[] = {
    GF_PARAM_FILE(struct overlay, file, NULL,
                  "the other picture, of any format that is read; without one a badge"),
    GF_PARAM_GRAVITY(struct overlay, "where it lies"),
    GF_PARAM_LENGTH(struct overlay, x, -1e6, 1e6,
                    "how far from that side; per cent are of the picture's width"),
    GF_PARAM_LENGTH(struct overlay, y, -1e6, 1e6, "the same, of its height"),
    GF_PARAM(struct overlay, opacity, 1, 0, 1, "its alpha is multiplied by it"),
    GF_PARAM(struct overlay, scale, 1, 0.01, 16, "its size is multiplied by it (resize)"),
    GF_PARAM_CHOICE(struct overlay, mode, GF_BLEND_NORMAL, modes,
                    "how its colours mix with the picture's"),
    {0},
};

static enum gf_status load(void *params_, struct gf_error *error)
{
    struct overlay *const overlay = params_;
    return gf_picture_load(overlay->file, overlay->scale, &overlay->picture, error);
}

static void unload(void *params_)
{
    gf_picture_release(((const struct overlay *)params_)->picture);
}

static int pictures(const void *params_, const struct gf_picture **list)
{
    list[0] = ((const struct overlay *)params_)->picture;
    return 1;
}

static enum gf_status shape(const void *params_, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    gf_point_layer_shape(((const struct overlay *)params_)->picture, out);
    return GF_OK;
}

static enum gf_status point(const struct gf_stage *stage, struct gf_point_builder *builder,
                            struct gf_error *error)
{
    const struct overlay *const overlay = stage->params;
    const struct gf_point_place place = {overlay->gravity, overlay->x, overlay->y};
    gf_point_overlay(builder, overlay->picture, NULL, place, overlay->mode, overlay->opacity);
    return GF_OK;
}

const struct gf_filter gf_overlay_filter = {
    .name = "overlay",
    .synonyms = "composite watermark blend merge layer multiply screen over logo stamp",
    .summary = "another picture on the picture",
    .definition =
        "Compositing and Blending Level 1 (W3C, 2024): co = as ((1 - ab) Cs + ab B(Cb, Cs)) + (1 - "
        "as) ab Cb, ao = as + ab\n"
        "(1 - as), C = co / ao; b is the picture, s the other, as its alpha times opacity, B the "
        "mode. The other lies upright as\n"
        "its EXIF orientation says; its samples are taken as parts of the full scale, whatever its "
        "profile. A gray picture under\n"
        "one with colour becomes colour. One file is read once for all pictures of a run.",
    .example = "overlay=gravity=southeast:x=4:y=4:opacity=0.9:scale=0.6",
    .params = params,
    .params_size = sizeof(struct overlay),
    .kind = GF_POINT,
    .cost = {.pixel = 2.5},
    .load = load,
    .unload = unload,
    .pictures = pictures,
    .shape = shape,
    .point = point,
};
