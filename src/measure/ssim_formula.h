/* The arithmetic of SSIM that the CPU and CUDA devices share, so that a value has the same bits
 * from both: additions, multiplications and divisions of doubles in a fixed order. */
#pragma once

#include <stdbool.h>

#include "base/host_device.h"
#include "measure/ssim.h"

enum {
    GF_SSIM_RADIUS = GF_SSIM_SIDE / 2,
    /* The values of windows are added in this order: those of a tile's column from top to bottom;
     * the columns in pairs of neighbours, then the sums likewise until one is left; and the tiles,
     * row by row. */
    GF_SSIM_ACROSS = 256, /* columns of samples that a tile's windows cover */
    GF_SSIM_COLUMNS = GF_SSIM_ACROSS - GF_SSIM_SIDE + 1,
    GF_SSIM_ROWS = 16
};

struct gf_ssim_constants {
    double tap[GF_SSIM_RADIUS + 1]; /* the weight of a sample at each distance from the centre */
    double c1, c2;
};

/* Sums over windows: `whole` adds the SSIM, and `contrast` the SSIM without its factor for the
 * means, which the finer scales of MS-SSIM use. */
struct gf_ssim_sums {
    double whole, contrast;
};

/* Always inlined: what a clone for newer processors calls would be code for old ones. */
#define GF_SSIM_FORMULA GF_HOST_DEVICE __attribute__((always_inline))

/* The numbers of a plane's tiles. */
GF_SSIM_FORMULA int gf_ssim_tiles_across(int width)
{
    return (width - GF_SSIM_SIDE + GF_SSIM_COLUMNS) / GF_SSIM_COLUMNS;
}

GF_SSIM_FORMULA int gf_ssim_tiles_down(int height)
{
    return (height - GF_SSIM_SIDE + GF_SSIM_ROWS) / GF_SSIM_ROWS;
}

GF_SSIM_FORMULA int gf_ssim_tiles(int width, int height)
{
    return gf_ssim_tiles_across(width) * gf_ssim_tiles_down(height);
}

/* What is weighed of two pictures a and b: a, b, a^2 + b^2 and a b. */
enum { GF_SSIM_QUANTITIES = 4 };

/* Returns the weighted sum of the 11 values at v. */
GF_SSIM_FORMULA double gf_ssim_weigh(const struct gf_ssim_constants *constants, const double *v)
{
    double sum = constants->tap[0] * v[GF_SSIM_RADIUS];
    sum += constants->tap[1] * (v[GF_SSIM_RADIUS - 1] + v[GF_SSIM_RADIUS + 1]);
    sum += constants->tap[2] * (v[GF_SSIM_RADIUS - 2] + v[GF_SSIM_RADIUS + 2]);
    sum += constants->tap[3] * (v[GF_SSIM_RADIUS - 3] + v[GF_SSIM_RADIUS + 3]);
    sum += constants->tap[4] * (v[GF_SSIM_RADIUS - 4] + v[GF_SSIM_RADIUS + 4]);
    sum += constants->tap[5] * (v[GF_SSIM_RADIUS - 5] + v[GF_SSIM_RADIUS + 5]);
    return sum;
}

GF_SSIM_FORMULA double gf_ssim_squares(double a, double b)
{
    return a * a + b * b;
}

/* Computes the values of a window from its weighted quantities. */
GF_SSIM_FORMULA struct gf_ssim_sums gf_ssim_window(const struct gf_ssim_constants *constants,
                                                   double a, double b, double squares,
                                                   double product)
{
    const double of_means = a * a + b * b, both = a * b;
    const double contrast =
                     (2 * (product - both) + constants->c2) / (squares - of_means + constants->c2),
                 whole = contrast * (2 * both + constants->c1) / (of_means + constants->c1);
    return (struct gf_ssim_sums){whole, contrast};
}

/* Returns a sample of the next scale: the mean of two pixels and of the two below. */
GF_SSIM_FORMULA float gf_ssim_mean(float a, float b, float c, float d)
{
    return 0.25f * ((a + b) + (c + d));
}

GF_C_BEGIN

struct gf_ssim_constants gf_ssim_constants_make(double max);

/* Returns how many scales pictures have: 0, if they are too small, 1, or, where MS-SSIM is wanted
 * and they are large enough, GF_SSIM_SCALES. */
int gf_ssim_scales(int width, int height, bool ms_ssim);

/* Returns the means of a plane's windows, of the sums of its tiles. */
struct gf_ssim_sums gf_ssim_means(const struct gf_ssim_sums *tiles, int width, int height);

/* Adds the values of one of the channels to *ssim and *ms_ssim, of the means of its scales. */
void gf_ssim_add_channel(const struct gf_ssim_sums *mean, int scales, int channels, double *ssim,
                         double *ms_ssim);

GF_C_END
