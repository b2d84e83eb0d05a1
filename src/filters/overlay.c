/* overlay: puts another picture on top. */
#include <string.h>

#include "pixel/point/blend.h"
#include "pixel/files/picture_file.h"
#include "pixel/point/point.h"

struct overlay {
    char file[GF_FILE_NAME_SIZE];
    int gravity, mode;
    struct gf_length x, y;
    double opacity;
    struct gf_length scale;
    const struct gf_picture *picture;
};

/* overlay on a picture of a known size. */
struct part {
    int gravity, mode;
    struct gf_length x, y;
    double opacity, scale;
    const char *file; /* of a picture whose scale depends on the size, and which the part owns;
                       * NULL: the chain owns the picture */
    const struct gf_picture *picture;
};

static const char *const modes[] = GF_BLEND_NAMES;

static const struct gf_param params[] = {
    GF_PARAM_FILE(struct overlay, file, NULL,
                  "the overlaid picture, of any format that the program reads; by default a badge"),
    GF_PARAM_GRAVITY(struct overlay, "where the overlaid picture lies"),
    GF_PARAM_LENGTH(
        struct overlay, x, -1e6, 1e6,
        "distance from the side that gravity names; per cent are of the picture's width"),
    GF_PARAM_LENGTH(struct overlay, y, -1e6, 1e6,
                    "distance downwards or upwards; per cent are of the picture's height"),
    GF_PARAM(struct overlay, opacity, 1, 0, 1, "multiplies the alpha of the overlaid picture"),
    GF_PARAM_RELATIVE(struct overlay, scale, 1, 0.01, 16,
                      "multiplies the size of the overlaid picture (by resize); with 20% its width "
                      "is a fifth of the picture's"),
    GF_PARAM_CHOICE(struct overlay, mode, GF_BLEND_NORMAL, modes,
                    "how its colours mix with the picture's"),
    {0},
};

static enum gf_status load(void *params_, struct gf_error *error)
{
    struct overlay *const overlay = params_;
    const struct gf_length scale = overlay->scale;
    return gf_picture_load(overlay->file, scale.unit == GF_PERCENT ? 1 : scale.value,
                           &overlay->picture, error);
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

static enum gf_status load_part(void *params_, struct gf_error *error)
{
    struct part *const part = params_;
    return part->file ? gf_picture_load(part->file, part->scale, &part->picture, error) : GF_OK;
}

static void unload_part(void *params_)
{
    const struct part *const part = params_;
    if (part->file)
        gf_picture_release(part->picture);
}

static int part_pictures(const void *params_, const struct gf_picture **list)
{
    list[0] = ((const struct part *)params_)->picture;
    return 1;
}

static enum gf_status shape(const void *params_, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    gf_point_layer_shape(((const struct part *)params_)->picture, out);
    return GF_OK;
}

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct part *const part = stage->params;
    const struct gf_point_place place = {part->gravity, part->x, part->y};
    gf_point_overlay(builder, part->picture, NULL, place, part->mode, part->opacity);
}

static const struct gf_filter overlay_part = {
    .name = "overlay",
    .params_size = sizeof(struct part),
    .kind = GF_POINT,
    .cost = {.pixel = 2.5},
    .load = load_part,
    .unload = unload_part,
    .pictures = part_pictures,
    .shape = shape,
    .point = point,
};

static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct overlay *const overlay = params_;
    struct part part;
    memset(&part, 0, sizeof part); /* equal parts have equal bytes */
    part.gravity = overlay->gravity;
    part.mode = overlay->mode;
    part.x = overlay->x;
    part.y = overlay->y;
    part.opacity = overlay->opacity;
    part.picture = overlay->picture;
    if (overlay->scale.unit == GF_PERCENT) {
        part.file = overlay->file;
        part.scale =
            overlay->scale.value / 100 * extent->width / overlay->picture->image.format.width;
    }
    gf_parts_add(parts, &overlay_part, &part, sizeof part);
}

const struct gf_filter gf_overlay_filter = {
    .name = "overlay",
    .names = "composite",
    .synonyms = "watermark blend merge layer multiply screen over logo stamp",
    .summary = "another picture on the picture",
    .definition = "Compositing and Blending Level 1 (W3C, 2024): co = as ((1 - ab) Cs + ab B(Cb, "
                  "Cs)) + (1 - as) ab Cb, ao = as + ab (1 - as), C = co / ao; b is the picture, s "
                  "the overlaid picture, as its alpha times opacity, B the mode. The overlaid "
                  "picture is turned upright by its EXIF orientation; its samples are parts of the "
                  "full scale, and its profile is ignored. A gray picture becomes colour if the "
                  "overlaid picture has colours. The file is read once for all pictures of a run.",
    .example = "overlay=gravity=southeast:x=4:y=4:opacity=0.9:scale=0.6",
    GF_PARAMS(struct overlay, params),
    .kind = GF_POINT,
    .cost = {.pixel = 2.5},
    .load = load,
    .unload = unload,
    .pictures = pictures,
    .expand = expand,
};
