/* A colour as samples of a picture. */
#ifndef GF_PIXEL_FILL_H
#define GF_PIXEL_FILL_H

#include "gpufilter/filter.h"
#include "pixel/sample.h"

/* Rounded; a gray picture gets the colour's luma, as grayscale makes it. */
static inline void gf_fill_samples(const struct gf_colour *colour, struct gf_format format,
                                   int sample[3])
{
    const double max = gf_sample_max(format);
    for (int c = 0; c < 3; c++)
        sample[c] = (int)(colour->part[c] * max + 0.5);
    if (gf_colour_channels(format) == 1)
        sample[0] = gf_luma601(sample[0], sample[1], sample[2]);
}

#endif
