/* tile: repeats the picture side by side. */
#include "filters/pad/pad.h"
#include "base/image.h"
#include "stage/filter.h"

extern const struct gf_filter gf_pad_filter;

struct tile {
    struct gf_length w, h;
};

static const struct gf_param params[] = {
    GF_PARAM_LENGTH(struct tile, w, 0.001, GF_SIDE_MAX,
                    "columns of the result: 300% is three pictures; default 200%"),
    GF_PARAM_LENGTH(struct tile, h, 0.001, GF_SIDE_MAX, "rows of the result; default 200%"),
    {0},
};

static struct gf_length twice(struct gf_length length)
{
    return length.unit == GF_UNSET ? (struct gf_length){200, GF_PERCENT} : length;
}

static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct tile *const tile = params_;
    const struct gf_pad_params pad = {
        .w = twice(tile->w),
        .h = twice(tile->h),
        .gravity = GF_GRAVITY_NORTHWEST,
        .colour.word = GF_PAD_REPEAT,
    };
    gf_parts_add(parts, &gf_pad_filter, &pad, sizeof pad);
}

const struct gf_filter gf_tile_filter = {
    .name = "tile",
    .synonyms = "repeat pattern wallpaper replicate mosaic",
    .summary = "the picture repeated side by side",
    .definition = "The pixel (x, y) of the result is (x mod width, y mod height) of the picture; "
                  "the last copies are cut where the\nsize asks for it. A side never gets shorter.",
    .example = "tile",
    GF_PARAMS(struct tile, params),
    .kind = GF_GEOMETRY,
    .takes_no_region = true,
    .expand = expand,
};
