/* Shapes as weights of pixels: a weight is the part of the pixel that the shape covers. */
#pragma once

#include <math.h>
#include <stdbool.h>

enum { GF_COVERAGE_POINTS = 8 }; /* points along each side of a pixel */

/* A disc, or a line that is one pixel wide, around the middle of a pixel. */
struct gf_coverage {
    bool is_line;
    double half;         /* the disc's radius, or half the line's length, in pixels */
    double cosine, sine; /* the line's direction */
};

/* Whether the shape covers the point (x, y), in pixels from the shape's middle. */
static inline bool gf_coverage_has(const struct gf_coverage *shape, double x, double y)
{
    if (!shape->is_line)
        return x * x + y * y <= shape->half * shape->half;
    const double along = x * shape->cosine + y * shape->sine;
    const double across = y * shape->cosine - x * shape->sine;
    return fabs(along) <= shape->half && fabs(across) <= 0.5;
}

/* Returns the number of pixels on each side of the middle pixel that a shape touches. `reach` is
 * half the shape's extent. */
static inline int gf_coverage_pixels(double reach)
{
    const int pixels = (int)ceil(reach - 0.5 - 1e-9);
    return pixels < 0 ? 0 : pixels;
}

/* Return the number of columns and rows on each side of the middle pixel. */
static inline int gf_coverage_columns(const struct gf_coverage *shape)
{
    return gf_coverage_pixels(
        shape->is_line ? shape->half * fabs(shape->cosine) + fabs(shape->sine) / 2 : shape->half);
}

static inline int gf_coverage_rows(const struct gf_coverage *shape)
{
    return gf_coverage_pixels(
        shape->is_line ? shape->half * fabs(shape->sine) + fabs(shape->cosine) / 2 : shape->half);
}

/* Returns the weight of the pixel (x, y), in pixels from the middle one: the number of its points,
 * of 64, that the shape covers. */
static inline int gf_coverage_weight(const struct gf_coverage *shape, int x, int y)
{
    int points = 0;
    for (int i = 0; i < GF_COVERAGE_POINTS * GF_COVERAGE_POINTS; i++) {
        const double u = (i % GF_COVERAGE_POINTS + 0.5) / GF_COVERAGE_POINTS - 0.5;
        const double v = (i / GF_COVERAGE_POINTS + 0.5) / GF_COVERAGE_POINTS - 0.5;
        points += gf_coverage_has(shape, x + u, y + v);
    }
    return points;
}
