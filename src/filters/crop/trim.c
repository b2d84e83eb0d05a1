/* trim: removes borders of one colour. */
#include <stdlib.h>

#include "filters/crop/crop.h"
#include "pixel/fill.h"
#include "stage/stage.h"

struct trim {
    struct gf_colour colour;
    double tolerance;
};

enum { CORNER = 1, TRANSPARENT }; /* numbers of the words that the parameter colour accepts */
static const char *const words[] = {"corner", "transparent", NULL};

static const struct gf_param trim_params[] = {
    GF_PARAM_COLOUR(
        struct trim, colour, -CORNER, words,
        "what is cut off: corner, the colour of the first pixel; a colour; or transparent pixels"),
    GF_PARAM(struct trim, tolerance, 0.04, 0, 1,
             "how far a channel may be from the colour, as a part of the full scale"),
    {0},
};

/* The colour that pixels are compared with. Where there is alpha, all compared colours are
 * multiplied by alpha, 0..M^2, and alpha is multiplied by M, the largest sample. */
struct background {
    int64_t channel[4], limit;
    int first; /* the first channel to compare */
};

static int sample_at(const struct gf_view *picture, int x, int y, int channel)
{
    const unsigned char *const row = gf_view_row(picture, y);
    const ptrdiff_t at = (ptrdiff_t)x * picture->format.channels + channel;
    return picture->format.bits == 8 ? row[at] : ((const uint16_t *)(const void *)row)[at];
}

static int64_t value_at(const struct gf_view *picture, int x, int y, int channel)
{
    const int last = picture->format.channels - 1, v = sample_at(picture, x, y, channel);
    if (!gf_has_alpha(picture->format))
        return v;
    return (int64_t)v *
           (channel == last ? gf_sample_max(picture->format) : sample_at(picture, x, y, last));
}

static struct background background_of(const struct trim *trim, const struct gf_view *picture)
{
    const struct gf_format format = picture->format;
    const int max = gf_sample_max(format), unit = gf_has_alpha(format) ? max : 1;
    struct background background = {.limit = (int64_t)(trim->tolerance * max + 0.5) * unit};
    int sample[3];
    gf_fill_samples(&trim->colour, format, sample);
    if (trim->colour.word == TRANSPARENT)
        background.first = format.channels - 1;
    for (int c = 0; c < format.channels; c++) {
        const int colour = c < gf_colour_channels(format) ? sample[c] : max;
        background.channel[c] = trim->colour.word == CORNER ? value_at(picture, 0, 0, c)
                                : trim->colour.word         ? 0
                                                            : (int64_t)colour * unit;
    }
    return background;
}

static bool is_content(const struct gf_view *picture, const struct background *background, int x,
                       int y)
{
    for (int c = background->first; c < picture->format.channels; c++) {
        if (llabs(value_at(picture, x, y, c) - background->channel[c]) > background->limit)
            return true;
    }
    return false;
}

/* Returns the first of columns x0 .. x1 - 1 in which the row has content, or x1. */
static int first_in_row(const struct gf_view *picture, const struct background *background, int y,
                        int x0, int x1)
{
    while (x0 < x1 && !is_content(picture, background, x0, y))
        x0++;
    return x0;
}

/* Returns the column after the last of columns x0 .. x1 - 1 in which the row has content, or x0. */
static int end_in_row(const struct gf_view *picture, const struct background *background, int y,
                      int x0, int x1)
{
    while (x1 > x0 && !is_content(picture, background, x1 - 1, y))
        x1--;
    return x1;
}

/* Finds the box of the content. A picture without content is kept whole, and so is a picture
 * without alpha if transparent borders are to be removed. */
static void find_box(const void *params, const struct gf_view *picture, struct gf_rectangle *box)
{
    const struct trim *const trim = params;
    const struct background background = background_of(trim, picture);
    const int width = picture->format.width, height = picture->format.height;
    int top = 0, bottom = height, left = width, right = 0;
    *box = (struct gf_rectangle){.width = width, .height = height};
    if (trim->colour.word == TRANSPARENT && !gf_has_alpha(picture->format))
        return;
    while (top < height && first_in_row(picture, &background, top, 0, width) == width)
        top++;
    if (top == height)
        return;
    while (first_in_row(picture, &background, bottom - 1, 0, width) == width)
        bottom--;
    for (int y = top; y < bottom; y++) {
        left = first_in_row(picture, &background, y, 0, left);
        right = end_in_row(picture, &background, y, right, width);
    }
    *box = (struct gf_rectangle){left, top, right - left, bottom - top};
}

static void find(const void *params, const struct gf_view *picture, struct gf_found *found)
{
    found->is_known = true;
    find_box(params, picture, &found->box);
}

extern const struct gf_filter gf_crop_filter;

/* Appends the crop filter, which removes nothing before the box is known. */
static void expand(const void *params, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct gf_rectangle whole = {.width = extent->width, .height = extent->height};
    const struct gf_rectangle box = extent->found.is_known ? extent->found.box : whole;
    const struct gf_crop_params crop = {.x = gf_in_pixels(box.x),
                                        .y = gf_in_pixels(box.y),
                                        .w = gf_in_pixels(box.width),
                                        .h = gf_in_pixels(box.height)};
    gf_parts_add(parts, &gf_crop_filter, &crop, sizeof crop);
}

const struct gf_filter gf_trim_filter = {
    .name = "trim",
    .synonyms = "autocrop cropdetect find_trim whitespace",
    .summary = "cuts off borders of one colour",
    .definition =
        "Keeps the smallest rectangle that holds every pixel with a channel further from the "
        "colour than the tolerance. Where there is alpha, the products of colour and alpha are "
        "compared. A picture of that colour alone stays as it is. The input of trim lies whole in "
        "host memory. --explain reads no pixels and shows the picture uncut.",
    .example = "trim=tolerance=0.2",
    GF_PARAMS(struct trim, trim_params),
    .kind = GF_GEOMETRY,
    .takes_no_region = true,
    .expand = expand,
    .find = find,
};
