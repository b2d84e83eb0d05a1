/* Computes the size of resize's result, and its padding. */
#include "filters/resize/resize.h"

#include "filters/crop/crop.h"
#include "filters/pad/pad.h"
#include "pixel/resample/resample.h"

extern const struct gf_filter gf_pad_filter;

/* Multiplies `side` by the factor that makes `whole` as long as `length` says. Only the result is
 * rounded, so that a percentage means the same for both sides. */
static double scaled(struct gf_length length, int whole, int side)
{
    const double exact = length.value * side / (length.unit == GF_PERCENT ? 100 : (double)whole);
    return fmax(floor(exact + 0.5), 1);
}

/* Returns the size that the user requests, in pixels. A side that is not given follows from the
 * other side. */
static struct gf_resize_size asked_size(const struct gf_resize_params *resize, int width,
                                        int height)
{
    const bool has_w = resize->w.unit != GF_UNSET, has_h = resize->h.unit != GF_UNSET;
    struct gf_resize_size size = {.in_w = width, .in_h = height};
    size.w = has_w ? scaled(resize->w, width, width) : scaled(resize->h, height, width);
    size.h = has_h ? scaled(resize->h, height, height) : scaled(resize->w, width, height);
    size.full_w = size.w;
    size.full_h = size.h;
    return size;
}

static double scale_of(struct gf_length length, int whole)
{
    return length.value / (length.unit == GF_PERCENT ? 100 : whole);
}

static bool keeps_shape(const struct gf_resize_params *resize)
{
    return resize->fit != GF_FIT_FILL && resize->w.unit != GF_UNSET && resize->h.unit != GF_UNSET;
}

/* Applies the parameter only= to the scaled size. Where the proportions are kept, the picture is
 * either scaled or not scaled at all. */
static void limit_size(const struct gf_resize_params *resize, int width, int height,
                       struct gf_resize_size *size)
{
    const int sign = resize->only == GF_RESIZE_SHRINK ? 1 : -1;
    const bool w_exceeds = sign * (size->full_w - width) > 0,
               h_exceeds = sign * (size->full_h - height) > 0;
    const bool fixed =
        keeps_shape(resize) || resize->w.unit == GF_UNSET || resize->h.unit == GF_UNSET;
    if (resize->only == GF_RESIZE_ANY)
        return;
    if (w_exceeds || (fixed && h_exceeds))
        size->full_w = width;
    if (h_exceeds || (fixed && w_exceeds))
        size->full_h = height;
    const bool cuts = keeps_shape(resize) && resize->fit == GF_FIT_COVER;
    size->w = cuts && size->w < size->full_w ? size->w : size->full_w;
    size->h = cuts && size->h < size->full_h ? size->h : size->full_h;
}

struct gf_resize_size gf_resize_size_of(const struct gf_resize_params *resize, int width,
                                        int height)
{
    if (resize->size.w > 0)
        return resize->size;
    struct gf_resize_size size = asked_size(resize, width, height);
    const bool covers = resize->fit == GF_FIT_COVER;
    if (keeps_shape(resize)) {
        const bool width_is_nearer = scale_of(resize->w, width) < scale_of(resize->h, height);
        if (width_is_nearer != covers)
            size.full_h = scaled(resize->w, width, height);
        else
            size.full_w = scaled(resize->h, height, width);
        if (!covers) {
            size.w = size.full_w;
            size.h = size.full_h;
        }
    }
    limit_size(resize, width, height, &size);
    return size;
}

void gf_resize_add_padding(const struct gf_resize_params *resize, const struct gf_extent *extent,
                           struct gf_parts *parts)
{
    const struct gf_resize_size asked = asked_size(resize, extent->width, extent->height);
    const struct gf_pad_params pad = {.w = gf_in_pixels(asked.w),
                                      .h = gf_in_pixels(asked.h),
                                      .gravity = resize->gravity,
                                      .colour = resize->colour};
    if (resize->fit == GF_FIT_CONTAIN && keeps_shape(resize))
        gf_parts_add(parts, &gf_pad_filter, &pad, sizeof pad);
}

int gf_resize_reduction(const void *params, int width, int height)
{
    const struct gf_resize_params *const resize = params;
    const struct gf_resize_size size = gf_resize_size_of(resize, width, height);
    int reduction = 8;
    if (resize->load == GF_LOAD_FULL || resize->kernel == GF_RESAMPLE_NEAREST)
        return 1;
    while (reduction > 1 &&
           (width / reduction < 2 * size.full_w || height / reduction < 2 * size.full_h))
        reduction /= 2;
    return reduction;
}
