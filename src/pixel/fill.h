#pragma once

#include <string.h>

#include "gpufilter/filter.h"
#include "pixel/sample.h"

/* Rounds a colour to samples of the format. A gray picture gets the colour's luma, as the filter
 * grayscale computes it. */
static inline void gf_fill_samples(const struct gf_colour *colour, struct gf_format format,
                                   int sample[3])
{
    const double max = gf_sample_max(format);
    for (int c = 0; c < 3; c++)
        sample[c] = (int)(colour->part[c] * max + 0.5);
    if (gf_colour_channels(format) == 1)
        sample[0] = gf_luma601(format.bits, sample[0], sample[1], sample[2]);
}

/* A piece of a row: one pixel, repeated. */
struct gf_pattern {
    unsigned char bytes[192]; /* whole pixels of 1 to 4 samples with 8 or 16 bits */
};

static inline void gf_pattern_make(struct gf_pattern *pattern, const void *pixel, size_t size)
{
    memcpy(pattern->bytes, pixel, size);
    for (size_t done = size, more; done < sizeof pattern->bytes; done += more) {
        more = done < sizeof pattern->bytes - done ? done : sizeof pattern->bytes - done;
        memcpy(pattern->bytes + done, pattern->bytes, more);
    }
}

static inline void gf_pattern_put(const struct gf_pattern *pattern, unsigned char *to, size_t bytes)
{
    for (; bytes > sizeof pattern->bytes; bytes -= sizeof pattern->bytes) {
        memcpy(to, pattern->bytes, sizeof pattern->bytes);
        to += sizeof pattern->bytes;
    }
    memcpy(to, pattern->bytes, bytes);
}
