/* mask: shows the picture only where a second picture, the mask, is bright. */
#include "pixel/point/layer.h"
#include "pixel/files/picture_file.h"
#include "pixel/point/point.h"

struct mask {
    char file[GF_FILE_NAME_SIZE], base[GF_FILE_NAME_SIZE];
    int of, gravity, inverted;
    struct gf_length x, y;
    double scale;
    const struct gf_picture *mask, *under; /* under: the picture of the parameter base, or NULL */
};

static const char *const parts[] = {"luma", "alpha", NULL};
static const char *const switches[] = {"off", "on", NULL};

static const struct gf_param params[] = {
    GF_PARAM_FILE(struct mask, file, NULL,
                  "the mask, a picture of any format that the program reads; by default a badge"),
    GF_PARAM_FILE(struct mask, base, NULL,
                  "a picture that shows where the mask is dark; without one the picture becomes "
                  "transparent there"),
    GF_PARAM_CHOICE(struct mask, of, GF_MASK_LUMA, parts,
                    "what of the mask counts: luma times alpha, or alpha alone"),
    GF_PARAM_CHOICE(struct mask, inverted, 0, switches, "on: 1 minus this value counts"),
    GF_PARAM_GRAVITY(struct mask, "where the mask and the base lie"),
    GF_PARAM_LENGTH(
        struct mask, x, -1e6, 1e6,
        "distance from the side that gravity names; per cent are of the picture's width"),
    GF_PARAM_LENGTH(struct mask, y, -1e6, 1e6,
                    "distance downwards or upwards; per cent are of the picture's height"),
    GF_PARAM(struct mask, scale, 1, 0.01, 16, "multiplies the size of the mask (by resize)"),
    {0},
};

static void unload(void *params_)
{
    const struct mask *const mask = params_;
    gf_picture_release(mask->mask);
    gf_picture_release(mask->under);
}

static enum gf_status load(void *params_, struct gf_error *error)
{
    struct mask *const mask = params_;
    enum gf_status status = gf_picture_load(mask->file, mask->scale, &mask->mask, error);
    if (!status && *mask->base)
        status = gf_picture_load(mask->base, 1, &mask->under, error);
    if (status)
        unload(params_);
    return status;
}

static int pictures(const void *params_, const struct gf_picture **list)
{
    const struct mask *const mask = params_;
    list[0] = mask->mask;
    if (mask->under)
        list[1] = mask->under;
    return mask->under ? 2 : 1;
}

static enum gf_status shape(const void *params_, struct gf_format in, struct gf_format *out,
                            struct gf_error *error)
{
    const struct mask *const mask = params_;
    if (mask->under)
        gf_point_layer_shape(mask->under, out);
    else
        out->channels += gf_has_alpha(in) ? 0 : 1;
    return GF_OK;
}

/* Composes the picture of the parameter base over the picture where the mask hides the picture. */
static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
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
        "there is a base. Files are read once for all pictures of a run.",
    .example = "mask=scale=1.75",
    GF_PARAMS(struct mask, params),
    .kind = GF_POINT,
    .cost = {.pixel = 2.5},
    .load = load,
    .unload = unload,
    .pictures = pictures,
    .shape = shape,
    .point = point,
};
