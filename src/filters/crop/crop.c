/* crop, which cuts out a rectangle of the picture, and trim. */
#include "filters/crop/crop.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/image.h"
#include "pixel/float_rows.h"
#include "pixel/point/point.h"
#include "pixel/sample.h"
#include "stage/stage.h"

static const struct gf_param crop_params[] = {
    GF_PARAM_LENGTH(struct gf_crop_params, w, 0, 1e9, "columns to keep; by default all"),
    GF_PARAM_LENGTH(struct gf_crop_params, h, 0, 1e9, "rows to keep; by default all"),
    GF_PARAM_LENGTH(struct gf_crop_params, x, 0, 1e9,
                    "columns left out at the side that gravity names, else on the left; by default "
                    "gravity places the rectangle"),
    GF_PARAM_LENGTH(struct gf_crop_params, y, 0, 1e9,
                    "rows left out below if gravity says so, else above"),
    GF_PARAM_WINDOW(struct gf_crop_params, "where the rectangle lies"),
    GF_PARAM_WORD(
        struct gf_crop_params, aspect, NAN, 0.0001, 10000, GF_WORDS("any"),
        "width divided by height, as 16/9: the largest such rectangle, or with w or h the "
        "other side"),
    {0},
};

/* The rectangle's extent in one dimension, in pixels. It may be partly outside of the picture. */
struct side {
    double first, count;
};

static bool is_given(struct gf_length length)
{
    return length.unit != GF_UNSET;
}

static double pixels(struct gf_length length, int whole)
{
    return length.unit == GF_PERCENT ? length.value * whole / 100 : length.value;
}

/* Offsets are rounded down and sizes to the nearest integer, so that a size of 50 % at an offset of
 * 50 % stays inside the picture. */
static struct side side_of(struct gf_length size, struct gf_length at, int whole,
                           int (*placed)(int gravity, double room), int gravity)
{
    const double count = size.unit == GF_UNSET ? whole : floor(pixels(size, whole) + 0.5);
    const bool from_end = placed(gravity, 2) == 2;
    double first = count < whole ? placed(gravity, whole - count) : 0;
    if (is_given(at))
        first = from_end ? whole - count - floor(pixels(at, whole)) : floor(pixels(at, whole));
    return (struct side){.first = first, .count = count};
}

/* Returns the length of a side: its own, if it is given or there is no aspect, otherwise what the
 * aspect makes of the other side. If neither is given, both fit in the picture. */
static struct gf_length follow(struct gf_length own, struct gf_length other, int whole,
                               int other_whole, double aspect)
{
    const double length =
        (is_given(other) ? floor(pixels(other, other_whole) + 0.5) : other_whole) * aspect;
    if (!(aspect > 0) || is_given(own))
        return own;
    return gf_in_pixels(is_given(other) || length < whole ? fmax(floor(length + 0.5), 1) : whole);
}

static struct side columns_of(const struct gf_crop_params *crop, struct gf_format in)
{
    const struct gf_length w = follow(crop->w, crop->h, in.width, in.height, crop->aspect);
    return side_of(w, crop->x, in.width, gf_gravity_x, crop->gravity);
}

static struct side rows_of(const struct gf_crop_params *crop, struct gf_format in)
{
    const struct gf_length h = follow(crop->h, crop->w, in.height, in.width, 1 / crop->aspect);
    return side_of(h, crop->y, in.height, gf_gravity_y, crop->gravity);
}

static enum gf_status check_side(struct side side, int whole, const char *size, const char *at,
                                 const char *what, struct gf_error *error)
{
    if (side.count < 1)
        return gf_fail(error, GF_ERROR_USAGE, "%s=%.0f leaves nothing of the picture's %d %s", size,
                       side.count, whole, what);
    if (side.first < 0 || side.first + side.count > whole)
        return gf_fail(error, GF_ERROR_USAGE, "%s=%.0f at %s=%.0f is outside the picture's %d %s",
                       size, side.count, at, side.first, whole, what);
    return GF_OK;
}

static enum gf_status crop_shape(const void *params, struct gf_format in, struct gf_format *out,
                                 struct gf_error *error)
{
    const struct gf_crop_params *const crop = params;
    const struct side columns = columns_of(crop, in);
    const struct side rows = rows_of(crop, in);
    GF_TRY(check_side(columns, in.width, "w", "x", "columns", error));
    GF_TRY(check_side(rows, in.height, "h", "y", "rows", error));
    out->width = (int)columns.count;
    out->height = (int)rows.count;
    return GF_OK;
}

static enum gf_status crop_check(const void *params, struct gf_error *error)
{
    const struct gf_crop_params *const crop = params;
    if (!is_given(crop->w) && !is_given(crop->h) && !(crop->aspect > 0))
        return gf_fail(
            error, GF_ERROR_USAGE,
            "neither w nor h nor aspect is given: crop=WIDTH:HEIGHT or crop=aspect=16/9");
    if (is_given(crop->w) && is_given(crop->h) && crop->aspect > 0)
        return gf_fail(error, GF_ERROR_USAGE, "w, h and aspect are one too many: leave out one");
    if (gf_gravity_is_found(crop->gravity) && (is_given(crop->x) || is_given(crop->y)))
        return gf_fail(error, GF_ERROR_USAGE, "gravity=%s finds x and y itself: leave them out",
                       gf_window_names[crop->gravity]);
    return GF_OK;
}

/* Before the content is known, a window that it decides counts as lying in the middle. */
static struct gf_crop_origin origin(const struct gf_stage *stage)
{
    const struct gf_crop_params *const crop = stage->params;
    if (gf_gravity_is_found(crop->gravity) && stage->constants)
        return *(const struct gf_crop_origin *)stage->constants;
    return (struct gf_crop_origin){.x = (int)columns_of(crop, stage->in).first,
                                   .y = (int)rows_of(crop, stage->in).first};
}

static void crop_input_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    const int y = origin(stage).y;
    *first = y0 + y;
    *end = y1 + y;
}

static enum gf_status crop_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_crop_origin at = origin(stage);
    GF_TRY(gf_stage_constants(stage, sizeof at, error));
    memcpy(stage->constants, &at, sizeof at);
    return GF_OK;
}

static void crop_cpu(const struct gf_stage *stage, const struct gf_view *in,
                     const struct gf_view *out, void *scratch)
{
    const struct gf_crop_origin *const at = stage->constants;
    const struct gf_format format = out->format;
    const size_t skipped = (size_t)at->x * gf_pixel_bytes(format);
    for (int y = out->y; y < out->y + out->rows; y++)
        memcpy(gf_view_row(out, y), gf_view_row(in, y + at->y) + skipped, gf_row_bytes(format));
}

extern gf_launcher gf_crop_cuda;

#define CROP_KERNELS GF_CUDA({GF_VARIANT("funnel", gf_crop_cuda, "words joined by funnel shifts")})

static enum gf_statistic window_statistic(const void *params)
{
    return GF_STATISTIC_CELLS;
}

static enum gf_status window_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_crop_params *const crop = stage->params;
    struct gf_crop_origin at;
    GF_TRY(gf_window_find(stage, crop->gravity == GF_GRAVITY_ENTROPY, &at, error));
    GF_TRY(gf_stage_constants(stage, sizeof at, error));
    memcpy(stage->constants, &at, sizeof at);
    return GF_OK;
}

/* The crop whose rectangle the picture's content decides. It reads straight colour, so that the
 * choice does not depend on the filters before. */
static const struct gf_filter window_filter = {
    .name = "crop",
    .summary = "the part of the picture that matters",
    GF_PARAMS(struct gf_crop_params, crop_params),
    .kind = GF_STRAIGHT,
    .takes_floats = true,
    .shape = crop_shape,
    .input_rows = crop_input_rows,
    .statistic = window_statistic,
    .prepare = window_prepare,
    .cpu = crop_cpu,
    .cuda = CROP_KERNELS,
    .cuda_floats = GF_CUDA_FLOATS(gf_crop_cuda, NULL),
};

extern const struct gf_filter gf_crop_filter;

static void crop_expand(const void *params, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct gf_crop_params *const crop = params;
    const struct gf_format in = {.width = extent->width, .height = extent->height};
    const bool has_room =
        columns_of(crop, in).count < in.width || rows_of(crop, in).count < in.height;
    gf_parts_add(parts,
                 has_room && gf_gravity_is_found(crop->gravity) ? &window_filter : &gf_crop_filter,
                 crop, sizeof *crop);
}

const struct gf_filter gf_crop_filter = {
    .name = "crop",
    .names = "extract",
    .synonyms = "cut",
    .summary = "a rectangle of the picture",
    .definition =
        "Columns x..x+w-1 of rows y..y+h-1. A size that is not given is the picture's, an "
        "offset that is not given follows\nfrom gravity; x and y count from the sides that gravity "
        "names, else from the left and from above. The rectangle must lie within the picture.\n"
        "gravity=attention and entropy look at a copy of at most 128 x 128 square cells, means of "
        "pixels, with integers of 8 bits,\nand take the window that is worth most, all of it plus "
        "its middle half. attention: a cell's worth is the sum of its edges\n(differences of the "
        "luma of its neighbours across and down), saturation (largest minus smallest colour), "
        "likeness to skin\n(red 112/256 and green 82/256 of the sum of the colours) and half the "
        "distance from the mean colour, each 0..255,\nin proportion to alpha. entropy: a window is "
        "worth the Shannon entropy of its luma in 32 levels; transparent cells do not\ncount. Of "
        "equal windows the uppermost, then the leftmost, then the middle of those equal to it that "
        "follow to the right, and below.\nEach frame of a film has a window of its own. Floats are "
        "limited to 0..1 in the copy.",
    .example = "crop=w=50%:h=50%",
    GF_PARAMS(struct gf_crop_params, crop_params),
    .kind = GF_GEOMETRY,
    .takes_no_region = true,
    .check = crop_check,
    .takes_floats = true,
    .expand = crop_expand,
    .shape = crop_shape,
    .input_rows = crop_input_rows,
    .prepare = crop_prepare,
    .cpu = crop_cpu,
    .cuda = CROP_KERNELS,
    .cuda_floats = GF_CUDA_FLOATS(gf_crop_cuda, NULL),
};

/* trim: removes borders of one colour. */

struct trim {
    struct gf_colour colour;
    double tolerance;
};

enum { CORNER = 1, TRANSPARENT }; /* numbers of the words that the parameter colour accepts */

/* The colour that pixels are compared with, in numbers that doubles hold exactly. Where there is
 * alpha, all compared colours are multiplied by alpha, 0..M^2, and alpha is multiplied by M, the
 * largest sample. */
struct background {
    double channel[4], limit;
    int first; /* 0; with the colour "transparent" the index of alpha, the only channel compared */
};

static double sample_at(const struct gf_view *picture, int x, int y, int channel)
{
    const struct gf_format format = picture->format;
    const unsigned char *const row = gf_view_row(picture, y);
    const ptrdiff_t at = (ptrdiff_t)x * format.channels + channel;
    float v;
    if (!gf_is_float(format))
        return format.bits == 8 ? row[at] : ((const uint16_t *)(const void *)row)[at];
    gf_floats_of_row(row + at * (format.bits / 8), format, 1, &v);
    return (double)v;
}

static double value_at(const struct gf_view *picture, int x, int y, int channel)
{
    const struct gf_format format = picture->format;
    const int last = format.channels - 1;
    const double v = sample_at(picture, x, y, channel);
    if (!gf_has_alpha(format))
        return v;
    return v * (channel < last        ? sample_at(picture, x, y, last)
                : gf_is_float(format) ? 1
                                      : gf_sample_max(format));
}

static struct background background_of(const struct trim *trim, const struct gf_view *picture)
{
    const struct gf_format format = picture->format;
    const bool floats = gf_is_float(format);
    const int max = floats ? 1 : gf_sample_max(format), unit = gf_has_alpha(format) ? max : 1;
    const double limit = trim->tolerance * max;
    struct background background = {.limit = (floats ? limit : floor(limit + 0.5)) * unit};
    int sample[3];
    double part[3];
    gf_fill_samples(&trim->colour, format, sample);
    gf_point_colour_of(format, &trim->colour, part);
    if (trim->colour.word == TRANSPARENT)
        background.first = format.channels - 1;
    for (int c = 0; c < format.channels; c++) {
        const double colour = c >= gf_colour_channels(format) ? max : floats ? part[c] : sample[c];
        background.channel[c] = trim->colour.word == CORNER ? value_at(picture, 0, 0, c)
                                : trim->colour.word         ? 0
                                                            : colour * unit;
    }
    return background;
}

/* NaN is no colour. An infinity is equal to itself alone. */
static bool is_content(const struct gf_view *picture, const struct background *background, int x,
                       int y)
{
    for (int c = background->first; c < picture->format.channels; c++) {
        const double v = value_at(picture, x, y, c), colour = background->channel[c];
        if (v != colour && !(fabs(v - colour) <= background->limit))
            return true;
    }
    return false;
}

/* Returns the first of columns x0 .. x1 - 1 in which the row differs from the background, or x1. */
static int first_in_row(const struct gf_view *picture, const struct background *background, int y,
                        int x0, int x1)
{
    while (x0 < x1 && !is_content(picture, background, x0, y))
        x0++;
    return x0;
}

/* Returns the column after the last of columns x0 .. x1 - 1 in which the row differs from the
 * background, or x0. */
static int end_in_row(const struct gf_view *picture, const struct background *background, int y,
                      int x0, int x1)
{
    while (x1 > x0 && !is_content(picture, background, x1 - 1, y))
        x1--;
    return x1;
}

/* Finds the smallest rectangle that contains all pixels that differ from the background. A picture
 * without such pixels is kept whole, and so is a picture without alpha if transparent borders are
 * to be removed. */
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

/* Appends the crop filter. Before the box is known it keeps the whole picture. */
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
    GF_TAKES(struct trim,
             GF_PARAM_COLOUR(struct trim, colour, -CORNER, GF_WORDS("corner", "transparent"),
                             "what is cut off: corner, the colour of the first pixel; a colour; or "
                             "transparent pixels"),
             GF_PARAM(struct trim, tolerance, 0.04, 0, 1,
                      "how far a channel may be from the colour, as a part of the full scale")),
    .kind = GF_GEOMETRY,
    .takes_floats = true,
    .takes_no_region = true,
    .expand = expand,
    .find = find,
};
