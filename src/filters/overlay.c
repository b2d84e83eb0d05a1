/* Point filters with a second picture: overlay and mask. */
#include <string.h>

#include "pixel/files/kept_files.h"
#include "pixel/point/layer.h"
#include "pixel/point/point.h"

/* overlay: puts another picture on top. */

struct overlay {
    char file[GF_FILE_NAME_SIZE];
    int gravity, mode;
    struct gf_length x, y;
    double opacity;
    struct gf_length scale;
    const struct gf_picture *picture;
};

/* The parameters of overlay for a picture of a known size. */
struct part {
    int gravity, mode;
    struct gf_length x, y;
    double opacity, scale;
    const char *file; /* the file, if its scale depends on the size, so that the part loads and owns
                         the picture; NULL: the chain owns it */
    const struct gf_picture *picture;
};

static const char *const modes[] = GF_BLEND_NAMES;

static enum gf_status overlay_load(void *params, struct gf_error *error)
{
    struct overlay *const overlay = params;
    const struct gf_length scale = overlay->scale;
    return gf_picture_load(overlay->file, scale.unit == GF_PERCENT ? 1 : scale.value,
                           &overlay->picture, error);
}

static void overlay_unload(void *params)
{
    gf_picture_release(((const struct overlay *)params)->picture);
}

static int overlay_pictures(const void *params, const struct gf_picture **list)
{
    list[0] = ((const struct overlay *)params)->picture;
    return 1;
}

static enum gf_status load_part(void *params, struct gf_error *error)
{
    struct part *const part = params;
    return part->file ? gf_picture_load(part->file, part->scale, &part->picture, error) : GF_OK;
}

static void unload_part(void *params)
{
    const struct part *const part = params;
    if (part->file)
        gf_picture_release(part->picture);
}

static int part_pictures(const void *params, const struct gf_picture **list)
{
    list[0] = ((const struct part *)params)->picture;
    return 1;
}

static enum gf_status overlay_shape(const void *params, struct gf_format in, struct gf_format *out,
                                    struct gf_error *error)
{
    gf_point_layer_shape(((const struct part *)params)->picture, out);
    return GF_OK;
}

static void overlay_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct part *const part = stage->params;
    const struct gf_point_place place = {part->gravity, part->x, part->y};
    gf_point_overlay(builder, part->picture, NULL, place, part->mode, part->opacity);
}

static const struct gf_filter overlay_part = {
    .name = "overlay",
    .params_size = sizeof(struct part),
    .kind = GF_POINT,
    .by_place = true,
    .takes_floats = true,
    .cost = {.pixel = 2.5},
    .load = load_part,
    .unload = unload_part,
    .pictures = part_pictures,
    .shape = overlay_shape,
    .point = overlay_point,
};

static void expand(const void *params, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct overlay *const overlay = params;
    struct part part;
    memset(&part, 0, sizeof part); /* padding is 0, too, so that equal parts have equal bytes */
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
    .definition =
        "Compositing and Blending Level 1 (W3C, 2024): co = as ((1 - ab) Cs + ab B(Cb, "
        "Cs)) + (1 - as) ab Cb, ao = as + ab (1 - as), C = co / ao; b is the picture, s "
        "the overlaid picture, as its alpha times opacity, B the mode. The overlaid "
        "picture is turned upright by its EXIF orientation; its samples are parts of the "
        "full scale, and its profile is ignored. A gray picture becomes colour if the "
        "overlaid picture has colours. The file is read once for all pictures of a run.\nOn "
        "floats the alpha as is limited to 0..1, and colours are not. Where b or s is beyond 0..1, "
        "screen is the larger one, exclusion the difference, and soft-light leaves such "
        "a b; color-dodge goes up to 1 or b, whichever is larger, color-burn down to 0 "
        "or b, hard-light and overlay are multiply and this screen, and hue to "
        "luminosity keep to the range of both colours and 0..1. What has no part in a "
        "pixel, as what an opaque overlay covers, does not count, even if it is NaN. On "
        "integers an overlaid picture of floats counts with 16 bits, limited to 0..1.",
    .example = "overlay=gravity=southeast:x=4:y=4:opacity=0.9:scale=0.6",
    GF_TAKES(
        struct overlay,
        GF_PARAM_FILE(
            struct overlay, file, NULL,
            "the overlaid picture, of any format that the program reads; by default a badge"),
        GF_PARAM_GRAVITY(struct overlay, "where the overlaid picture lies"),
        GF_PARAM_LENGTH(
            struct overlay, x, -1e6, 1e6,
            "distance from the side that gravity names; per cent are of the picture's width"),
        GF_PARAM_LENGTH(struct overlay, y, -1e6, 1e6,
                        "distance downwards or upwards; per cent are of the picture's height"),
        GF_PARAM(struct overlay, opacity, 1, 0, 1, "multiplies the alpha of the overlaid picture"),
        GF_PARAM_RELATIVE(
            struct overlay, scale, 1, 0.01, 16,
            "multiplies the size of the overlaid picture (by resize); with 20% its width "
            "is a fifth of the picture's"),
        GF_PARAM_CHOICE(struct overlay, mode, GF_BLEND_NORMAL, modes,
                        "how its colours mix with the picture's")),
    .kind = GF_POINT,
    .by_place = true,
    .takes_floats = true,
    .cost = {.pixel = 2.5},
    .load = overlay_load,
    .unload = overlay_unload,
    .pictures = overlay_pictures,
    .expand = expand,
};

/* mask: shows the picture only where a second picture, the mask, is bright. */

struct mask {
    char file[GF_FILE_NAME_SIZE], base[GF_FILE_NAME_SIZE];
    int of, gravity, inverted;
    struct gf_length x, y;
    double scale;
    const struct gf_picture *mask, *under; /* under: the picture of the parameter base, or NULL */
};

static const char *const parts[] = {"luma", "alpha", NULL};

static void mask_unload(void *params)
{
    const struct mask *const mask = params;
    gf_picture_release(mask->mask);
    gf_picture_release(mask->under);
}

static enum gf_status mask_load(void *params, struct gf_error *error)
{
    struct mask *const mask = params;
    enum gf_status status = gf_picture_load(mask->file, mask->scale, &mask->mask, error);
    if (!status && *mask->base)
        status = gf_picture_load(mask->base, 1, &mask->under, error);
    if (status)
        mask_unload(params);
    return status;
}

static int mask_pictures(const void *params, const struct gf_picture **list)
{
    const struct mask *const mask = params;
    list[0] = mask->mask;
    if (mask->under)
        list[1] = mask->under;
    return mask->under ? 2 : 1;
}

static enum gf_status mask_shape(const void *params, struct gf_format in, struct gf_format *out,
                                 struct gf_error *error)
{
    const struct mask *const mask = params;
    if (mask->under)
        gf_point_layer_shape(mask->under, out);
    else
        out->channels += gf_has_alpha(in) ? 0 : 1;
    return GF_OK;
}

/* Composes the picture of the parameter base over the picture where the mask hides the picture. */
static void mask_point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct mask *const mask = stage->params;
    const struct gf_point_place place = {mask->gravity, mask->x, mask->y};
    const struct gf_mask_use use = {mask->mask, mask->of, mask->inverted != (mask->under != NULL)};
    if (mask->under)
        gf_point_overlay(builder, mask->under, &use, place, GF_BLEND_NORMAL, 1);
    else
        gf_point_mask(builder, &use, place);
}

const struct gf_filter gf_mask_filter = {
    .name = "mask",
    .synonyms = "matte copyopacity alphamask stencil select blend cutout",
    .summary = "shows the picture as far as a mask is bright",
    .definition =
        "Alpha times m; m is the mask's luma (77 R + 150 G + 29 B) / 256 times its alpha, as parts "
        "of the full scale (CSS Masking Level 1, with the luma of ITU-R BT.601), and 0 beyond the "
        "mask. With base: the base, its alpha times 1 - m, composited over the picture as overlay "
        "does, so that the mask selects between the two. A picture without alpha gets one unless "
        "there is a base. Files are read once for all pictures of a run. Of floats m is limited to "
        "0..1.",
    .example = "mask=scale=1.75",
    GF_TAKES(
        struct mask,
        GF_PARAM_FILE(
            struct mask, file, NULL,
            "the mask, a picture of any format that the program reads; by default a badge"),
        GF_PARAM_FILE(
            struct mask, base, NULL,
            "a picture that shows where the mask is dark; without one the picture becomes "
            "transparent there"),
        GF_PARAM_CHOICE(struct mask, of, GF_MASK_LUMA, parts,
                        "what of the mask counts: luma times alpha, or alpha alone"),
        GF_PARAM_CHOICE(struct mask, inverted, 0, GF_WORDS("off", "on"),
                        "on: 1 minus this value counts"),
        GF_PARAM_GRAVITY(struct mask, "where the mask and the base lie"),
        GF_PARAM_LENGTH(
            struct mask, x, -1e6, 1e6,
            "distance from the side that gravity names; per cent are of the picture's width"),
        GF_PARAM_LENGTH(struct mask, y, -1e6, 1e6,
                        "distance downwards or upwards; per cent are of the picture's height"),
        GF_PARAM(struct mask, scale, 1, 0.01, 16, "multiplies the size of the mask (by resize)")),
    .kind = GF_POINT,
    .by_place = true,
    .takes_floats = true,
    .cost = {.pixel = 2.5},
    .load = mask_load,
    .unload = mask_unload,
    .pictures = mask_pictures,
    .shape = mask_shape,
    .point = mask_point,
};
