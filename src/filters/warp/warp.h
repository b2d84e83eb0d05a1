/* What the filters rotate, affine, perspective and lens share: the names of their parameters, and
 * the parts that they append. */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "base/image.h"
#include "filters/pad/pad.h"
#include "pixel/point/point.h"
#include "pixel/warp/warp.h"
#include "stage/picture.h"

/* Declares the parameters kernel and colour. The type must have the members int kernel and struct
 * gf_colour colour. */
#define GF_WARP_PARAMS(type_) \
    GF_PARAM_CHOICE(type_, kernel, GF_WARP_LINEAR, gf_warp_kernel_names, \
                    "what a pixel is interpolated from: 2x2 pixels (linear), 4x4 (cubic), 6x6 " \
                    "(lanczos3), or the nearest one"), \
        GF_PARAM_COLOUR(type_, colour, 0xffffff, gf_pad_words, \
                        "what lies beyond the picture: white, #ff8800; edge repeats the nearest " \
                        "pixel; transparent adds an alpha channel where there is none")

#define GF_WARP_DEFINITION \
    "Pixel centres lie at half integers. Weights are whole numbers, in tables of 4096 positions " \
    "between two pixels (linear) or 1024 (cubic with a = -1/2, Lanczos with 3 lobes). Where the " \
    "picture shrinks, a pixel is the mean of evenly spaced samples, at most 1.25 pixels apart, " \
    "as many in each cell of the result (256 x 32 pixels or more) as its corners need. Alpha " \
    "weights the colour."

/* Appends the warp as `filter`, and sets its members that depend on the picture's size. If the
 * surroundings are transparent, a part that adds alpha precedes it. */
static inline void gf_warp_parts(const struct gf_filter *filter, struct gf_warp_params *warp,
                                 const struct gf_extent *extent, struct gf_parts *parts)
{
    gf_warp_plan(warp, extent->width, extent->height);
    if (warp->colour.word == GF_WARP_TRANSPARENT)
        gf_parts_add(parts, &gf_opaque, NULL, 0);
    gf_parts_add(parts, filter, warp, sizeof *warp);
}

/* Returns the side of a result that has room for `length` pixels. Rounding errors do not add
 * another pixel. The warp's shape() refuses a side that is too large. */
static inline int gf_warp_side(double length)
{
    const double side = ceil(length - 1e-6);
    return side < 1 ? 1 : side > GF_SIDE_MAX ? GF_SIDE_MAX + 1 : (int)side;
}

struct gf_rotate_params {
    double angle; /* in degrees, clockwise */
    int fit, kernel;
    struct gf_colour colour;
};

/* The size of the result: with room for all of the picture, or the picture's own size. */
enum gf_warp_fit { GF_WARP_GROW, GF_WARP_KEEP };
extern const char *const gf_warp_fit_names[];

/* Finds the angle of the lines, level or upright, in hundredths of a degree, clockwise, -most ..
 * most. threshold: the part of the writing's contrast from which a pixel counts as ink. Returns
 * false, and an angle of 0, if the picture has no lines. The angle is also 0 if no other is clearly
 * better. All arithmetic is of integers, so that every machine finds the same angle. */
bool gf_skew_find(const struct gf_view *picture, double threshold, int most, int *angle);
