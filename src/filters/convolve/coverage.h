/* Convolution kernels in the form of a shape: a weight is the part of the pixel that the shape
 * covers. */
#ifndef GF_FILTERS_CONVOLVE_COVERAGE_H
#define GF_FILTERS_CONVOLVE_COVERAGE_H

#include <math.h>
#include <stdbool.h>

#include "gpufilter/filter.h"

enum { GF_COVERAGE_POINTS = 8 }; /* points along each side of a pixel */

/* Whether the shape covers the point (x, y), in pixels from the centre of the kernel's middle
 * pixel. */
typedef bool gf_shape(const void *context, double x, double y);

/* Returns the number of pixels on each side of the middle pixel that a shape touches. `reach` is
 * half the shape's extent. */
static inline int gf_coverage_reach(double reach)
{
    const int pixels = (int)ceil(reach - 0.5 - 1e-9);
    return pixels < 0 ? 0 : pixels;
}

/* Fills a kernel with a shape, whose half extents are `across` and `down`. Each weight is the
 * number of points of the pixel, of 64, that the shape covers. */
static inline void gf_coverage_weights(struct gf_matrix *kernel, double across, double down,
                                       gf_shape *shape, const void *context)
{
    const int columns = gf_coverage_reach(across), rows = gf_coverage_reach(down);
    kernel->width = 2 * columns + 1;
    kernel->height = 2 * rows + 1;
    for (int y = 0; y < kernel->height; y++) {
        for (int x = 0; x < kernel->width; x++) {
            int points = 0;
            for (int i = 0; i < GF_COVERAGE_POINTS * GF_COVERAGE_POINTS; i++) {
                const double u = (i % GF_COVERAGE_POINTS + 0.5) / GF_COVERAGE_POINTS - 0.5;
                const double v = (i / GF_COVERAGE_POINTS + 0.5) / GF_COVERAGE_POINTS - 0.5;
                points += shape(context, x - columns + u, y - rows + v);
            }
            kernel->value[y * kernel->width + x] = (float)points;
        }
    }
}

#endif
