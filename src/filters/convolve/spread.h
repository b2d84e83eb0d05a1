/* Shapes as weights of pixels: a weight is the part of the pixel that the shape covers. */
#pragma once

#include <math.h>
#include <stdbool.h>

#include "base/host_device.h"
#include "stage/filter.h"

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

/* The mean of the pixels under a shape of up to 201 x 201 pixels: its weights, and the arithmetic
 * that both backends share. All sums are exact integers. */

/* The parameters of the filter spread, which lensblur and motionblur append. */
struct gf_spread_params {
    struct gf_coverage coverage;
    int border;
};

enum {
    GF_SPREAD_SIDE_MAX = 201,
    GF_SPREAD_ROWS = 16,  /* result rows that are computed together on the device */
    GF_SPREAD_GROUP = 4,  /* neighbouring columns of the weights that the device takes together */
    GF_SPREAD_OCTETS = 4, /* groups of eight rows that the device takes together: a window */
    GF_SPREAD_WINDOW_BYTES = GF_SPREAD_GROUP * GF_SPREAD_ROWS * 8 * GF_SPREAD_OCTETS,
    GF_SPREAD_WINDOWS_MAX = (GF_SPREAD_SIDE_MAX / GF_SPREAD_GROUP + 1) *
                            ((GF_SPREAD_SIDE_MAX + GF_SPREAD_ROWS) / 32 + 1)
};

/* The weights of a shape, row by row: each is the number of a pixel's 64 points that the shape
 * covers. */
struct gf_spread_weights {
    int width, height;
    signed char weight[GF_SPREAD_SIDE_MAX * GF_SPREAD_SIDE_MAX];
};

/* The device multiplies matrices for GF_SPREAD_ROWS result rows at a time: row m of the matrix of a
 * column of weights has the weights of result row m, beginning at picture row m + lead. Windows
 * list the parts of these matrices that are not 0: 64 * octet + group. */
struct gf_spread_windows {
    int count;
    unsigned short window[GF_SPREAD_WINDOWS_MAX];
};

struct gf_spread {
    int border;
    double half, scale; /* see gf_spread_mean() */
    /* 1: the result rows of a step continue from the last row of the step before, to which the
     * windows `next` add what changes; 0: all steps take the windows `all`. */
    int lead;
    struct gf_spread_windows all, next;
    struct gf_spread_weights weights;
};

/* Returns (sum + n / 2) / n, rounded down, where n is the sum of the weights: half = n / 2 + 1/4,
 * scale = 1 / n. The quarter keeps the product, which is rounded, further from whole numbers than
 * rounding moves it. */
GF_HOST_DEVICE int gf_spread_mean(double sum, double half, double scale)
{
    return (int)((sum + half) * scale);
}

/* Returns the weight in a row and a column of the shape, 0 outside of it. */
GF_HOST_DEVICE int gf_spread_weight(const struct gf_spread_weights *weights, int row, int column)
{
    return row < 0 || row >= weights->height || column < 0 || column >= weights->width
               ? 0
               : weights->weight[row * weights->width + column];
}

/* Returns the number of octets of rows that the results of a step depend on. */
GF_HOST_DEVICE int gf_spread_octets(int height, int lead)
{
    return (height - 1 + GF_SPREAD_ROWS + lead + 7) / 8;
}

/* Lists the windows of the weights themselves, or (`next`) of their changes from the row above the
 * step's first row. */
static inline void gf_spread_list(const struct gf_spread_weights *weights, int lead, bool next,
                                  struct gf_spread_windows *list)
{
    const int octets = gf_spread_octets(weights->height, lead);
    list->count = 0;
    for (int group = 0; group * GF_SPREAD_GROUP < weights->width; group++) {
        for (int octet = 0; octet < octets; octet++) {
            const int last = 8 * octet + 7 - (next ? 0 : lead);
            bool found = false;
            for (int i = 0; i < 23 * GF_SPREAD_GROUP && !found; i++) {
                const int row = last - i / GF_SPREAD_GROUP;
                const int column = group * GF_SPREAD_GROUP + i % GF_SPREAD_GROUP;
                found = gf_spread_weight(weights, row, column) !=
                        (next ? gf_spread_weight(weights, row - 1, column) : 0);
            }
            if (!found)
                continue;
            list->window[list->count++] = (unsigned short)(64 * octet + group);
            octet += GF_SPREAD_OCTETS - 1;
        }
    }
}

/* The functions floats() and floats_scratch(). */
void gf_spread_floats(const struct gf_stage *stage, const struct gf_view *in,
                      const struct gf_view *out, void *scratch);
size_t gf_spread_floats_scratch(const struct gf_stage *stage, int rows);
