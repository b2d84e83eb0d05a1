/* border: adds a border of the same width on each side. */
#include "base/image.h"
#include "filters/pad/pad.h"
#include "stage/filter.h"

extern const struct gf_filter gf_pad_filter;

struct border {
    struct gf_length width;
    struct gf_colour colour;
};

static const struct gf_param params[] = {
    GF_PARAM_LENGTH(struct border, width, 0, GF_SIDE_MAX,
                    "pixels that are added on each side; per cent are of the picture's shorter "
                    "side; default 5%"),
    GF_PARAM_COLOUR(struct border, colour, 0xffffff, gf_pad_words, "what is added, as with pad"),
    {0},
};

static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct border *const border = params_;
    const int shorter = extent->width < extent->height ? extent->width : extent->height;
    const struct gf_length width = border->width;
    const double part = width.unit == GF_UNSET ? 5 : width.value,
                 added = width.unit == GF_PIXELS ? part : floor(part * shorter / 100 + 0.5);
    const struct gf_pad_params pad = {
        .w = {.value = extent->width + 2 * added, .unit = GF_PIXELS},
        .h = {.value = extent->height + 2 * added, .unit = GF_PIXELS},
        .colour = border->colour,
    };
    if (added > 0)
        gf_parts_add(parts, &gf_pad_filter, &pad, sizeof pad);
}

const struct gf_filter gf_border_filter = {
    .name = "border",
    .synonyms = "margin splice",
    .summary = "a border added on each side",
    .definition = "The picture in the middle of one that is larger by twice the width; pad makes a "
                  "picture of a given size, frame\ndraws over the edges.",
    .example = "border=10:orange",
    GF_PARAMS(struct border, params),
    .kind = GF_GEOMETRY,
    .takes_no_region = true,
    .expand = expand,
};
