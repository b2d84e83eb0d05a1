/* crop: cuts out a rectangle of the picture. */
#include "filters/crop/crop.h"

#include <string.h>

#include "base/fail.h"
#include "base/image.h"
#include "stage/stage.h"

static const char *const any[] = {"any", NULL};

static const struct gf_param crop_params[] = {
    GF_PARAM_LENGTH(struct gf_crop_params, w, 0, 1e9, "columns to keep; by default all"),
    GF_PARAM_LENGTH(struct gf_crop_params, h, 0, 1e9, "rows to keep; by default all"),
    GF_PARAM_LENGTH(struct gf_crop_params, x, 0, 1e9,
                    "columns left out at the side that gravity names, else on the left; by default "
                    "gravity places the rectangle"),
    GF_PARAM_LENGTH(struct gf_crop_params, y, 0, 1e9,
                    "rows left out below if gravity says so, else above"),
    GF_PARAM_GRAVITY(struct gf_crop_params, "where the rectangle lies"),
    GF_PARAM_WORD(
        struct gf_crop_params, aspect, NAN, 0.0001, 10000, any,
        "width divided by height, as 16/9: the largest such rectangle, or with w or h the "
        "other side"),
    {0},
};

/* The rectangle's extent in one dimension. The rectangle may be partly outside of the picture. */
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

/* Returns the length of a side that follows from the other side by the aspect; if no side is given,
 * at most the picture's. */
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
    return GF_OK;
}

static struct gf_crop_origin origin(const struct gf_stage *stage)
{
    const struct gf_crop_params *const crop = stage->params;
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

const struct gf_filter gf_crop_filter = {
    .name = "crop",
    .names = "extract",
    .synonyms = "cut",
    .summary = "a rectangle of the picture",
    .definition =
        "Columns x..x+w-1 of rows y..y+h-1. A size that is not given is the picture's, an "
        "offset that is not given follows\nfrom gravity; x and y count from the sides that gravity "
        "names, else from the left and from above. The rectangle must lie within the picture.",
    .example = "crop=w=50%:h=50%",
    GF_PARAMS(struct gf_crop_params, crop_params),
    .kind = GF_GEOMETRY,
    .takes_no_region = true,
    .check = crop_check,
    .shape = crop_shape,
    .input_rows = crop_input_rows,
    .prepare = crop_prepare,
    .cpu = crop_cpu,
    .cuda = GF_CUDA({GF_VARIANT("funnel", gf_crop_cuda, "words joined by funnel shifts")}),
};
