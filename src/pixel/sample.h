/* Rounds numbers to samples, computes luma, and makes samples of a colour, for host and device. */
#pragma once

#include <string.h>

#include "base/host_device.h"
#include "gpufilter/filter.h"
#include "gpufilter/image.h"

/* Returns M, the largest sample; 1 of floats. */
static inline int gf_sample_max(struct gf_format format)
{
    return gf_is_float(format) ? 1 : format.bits == 8 ? 255 : 65535;
}

/* Rounds v (a half up) and clamps it to 0..max; max is 255 or 65535. NaN gives 0. */
GF_HOST_DEVICE int gf_round_sample(float v, float max)
{
    if (!(v > 0.0f))
        return 0;
    return v >= max ? (int)max : (int)(v + 0.5f);
}

/* Computes gf_round_sample() without branches, so that compilers vectorise loops that call it. */
GF_HOST_DEVICE int gf_round_flat(float v, float max)
{
    const float floored = v > 0.0f ? v : 0.0f;
    return (int)((floored < max ? floored : max) + 0.5f);
}

/* The weights of luma by ITU-R BT.601, 0.299 R + 0.587 G + 0.114 B, for 16-bit samples, in units of
 * 1/65536. gf_luma601_8() has weights in units of 1/256. */
enum { GF_LUMA601_R = 19595, GF_LUMA601_G = 38470, GF_LUMA601_B = 7471 };

GF_HOST_DEVICE int gf_luma601_8(int r, int g, int b)
{
    return (77 * r + 150 * g + 29 * b + 128) >> 8;
}

GF_HOST_DEVICE int gf_luma601_16(int r, int g, int b)
{
    return (int)((GF_LUMA601_R * (unsigned)r + GF_LUMA601_G * (unsigned)g +
                  GF_LUMA601_B * (unsigned)b + 32768u) >>
                 16);
}

GF_HOST_DEVICE int gf_luma601(int bits, int r, int g, int b)
{
    return bits == 8 ? gf_luma601_8(r, g, b) : gf_luma601_16(r, g, b);
}

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

/* One pixel, repeated, from which rows of one colour are copied piece by piece. */
struct gf_pattern {
    unsigned char bytes[192]; /* whole pixels of 1 to 4 samples with 8, 16 or 32 bits */
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
