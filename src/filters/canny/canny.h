/* canny, for both backends. First hysteresis on bits: weak pixels become strong if they are
 * connected with strong ones, by any of the eight neighbours and by way of other weak pixels.
 *
 * A row of planes contains two rows of gf_bit_words() 32-bit words: first a bit for each pixel that
 * is weak or strong, then a bit for each pixel that is strong. Pixel x is bit x % 8 of byte x / 8;
 * bits beyond the width are 0. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/host_device.h"
#include "stage/picture.h"

/* The number of words in a row of bits, which is even. */
static inline int gf_bit_words(int width)
{
    return (int)(((unsigned)width + 63) / 64 * 2);
}

/* The number of nodes of the device's union-find trees. Each run of pixels within a word of two
 * rows is a node; node 0 stands for strong pixels. Any two runs of a word begin at different pairs
 * of pixels. */
static inline size_t gf_hysteresis_nodes(struct gf_format planes)
{
    const size_t words = (size_t)planes.width / 8, strips = ((size_t)planes.height + 1) / 2;
    return 1 + 16 * words * strips;
}

/* Returns the bytes of the device's scratch memory: the trees, followed by a plane of bits. */
static inline size_t gf_hysteresis_device_scratch(struct gf_format planes)
{
    const size_t plane = (size_t)planes.width / 8 * (size_t)planes.height;
    return (gf_hysteresis_nodes(planes) + plane) * sizeof(uint32_t);
}

/* Edges of one pixel's width: pixels whose gradient is larger than the gradients of both neighbours
 * across the edge. After J. Canny, A Computational Approach to Edge Detection, 1986, in the integer
 * arithmetic of OpenCV's Canny(..., apertureSize=3, L2gradient=true). */

/* The parameters of canny's last part: the size and the depth of the result. */
struct gf_canny_picture {
    int width, height, bits;
};

/* A pixel is weak if its squared gradient is above `low`, and strong if it is above `high`. */
struct gf_edge_limits {
    int64_t low, high;
};

/* The neighbours with which a pixel's gradient is compared. */
enum {
    GF_EDGE_ACROSS, /* left and right */
    GF_EDGE_DOWN,   /* above and below */
    GF_EDGE_FALL,   /* above left and below right */
    GF_EDGE_RISE    /* above right and below left */
};

/* The tangent of 22.5 degrees in units of 2^-15. The tangent of 67.5 degrees is larger by exactly
 * 2. */
enum { GF_EDGE_TANGENT = 13573 };

#define GF_EDGE_DIRECTION(name, type) \
    GF_HOST_DEVICE int name(type dx, type dy) \
    { \
        const type x = dx < 0 ? -dx : dx, y = (dy < 0 ? -dy : dy) * 32768; \
        const type low = x * GF_EDGE_TANGENT, high = low + x * 65536; \
        return y < low         ? GF_EDGE_ACROSS \
               : y > high      ? GF_EDGE_DOWN \
               : (dx ^ dy) < 0 ? GF_EDGE_RISE \
                               : GF_EDGE_FALL; \
    }
GF_EDGE_DIRECTION(gf_edge_direction, int32_t)      /* 8-bit samples: |dx|, |dy| <= 1020 */
GF_EDGE_DIRECTION(gf_edge_direction_wide, int64_t) /* 16-bit samples */
#undef GF_EDGE_DIRECTION

/* Returns a sample composed over black, rounded (a half up). */
GF_HOST_DEVICE unsigned gf_edge_over_black(unsigned v, unsigned alpha, unsigned max)
{
    return (v * alpha + max / 2) / max;
}

/* A pixel's result depends on samples up to this many rows and columns away. */
enum { GF_EDGE_REACH = 2 };
