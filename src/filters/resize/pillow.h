/* Resizing with Pillow's very samples: the stages that like=pillow appends, and the arithmetic that
 * CPU and device share. Pillow's passes are columns first, then rows (tall pictures are two stages,
 * rows first), with samples of the picture's depth between them. Sums of 8 bits are integers of
 * weights with 22 bits of fraction; those of 16 bits are doubles, added in the order of the input.
 * Colour is straight before and after the stage, and premultiplied between, as Pillow's modes RGBa
 * and La. */
#pragma once

#include <stdint.h>

#include "pixel/resample/resample.h"

GF_C_BEGIN

/* The part of the picture within `box` (left, top, right, bottom; floats, as in Pillow) becomes
 * width x height pixels. Between two stages of a picture colour stays premultiplied. */
struct gf_pillow_params {
    enum gf_resample_kernel kernel;
    int width, height;
    float box[4];
    bool from_premultiplied, to_premultiplied;
};

/* The blocks of x by y pixels in the box become their means; those at its right and lower edge may
 * be smaller. Pillow calls this Image.reduce(). Colour is premultiplied after it. */
struct gf_reduce_params {
    int x, y;
    int box[4];
};

extern const struct gf_filter gf_pillow_filter, gf_reduce_filter;

/* What Image.resize() of Pillow 12 or 13 does to a picture of width x height pixels. With `gap`
 * above 0 it is reducing_gap. */
void gf_pillow_parts(const struct gf_pillow_params *resize, int width, int height, double gap,
                     int version, struct gf_parts *parts);

/* The tables of one axis, as offsets in bytes from the block of constants: output i is the sum over
 * k < count[i] of weight[i * taps + k] times input start[i] + k. Weights are int32_t for 8 bits and
 * double for 16. With the nearest kernel it is input start[i]. */
struct gf_pillow_axis {
    int taps;
    bool is_kept; /* the pass would change nothing */
    size_t start, count, weight;
};

struct gf_pillow {
    struct gf_pillow_axis columns, rows;
};

enum { GF_PILLOW_BITS = 22 };

/* Rounds a sum that began with 1 << (GF_PILLOW_BITS - 1), and clamps it to a byte. */
GF_HOST_DEVICE int gf_pillow_byte(int sum)
{
    const int v = sum >> GF_PILLOW_BITS;
    return v < 0 ? 0 : v > 255 ? 255 : v;
}

/* Rounds a sum of 16 bits, and clamps it. Before 12.3 Pillow clamped its bytes one by one, so that
 * a sum above 65535 kept its lower byte. */
GF_HOST_DEVICE int gf_pillow_word(double sum)
{
    const int v = (int)(sum >= 0 ? sum + 0.5 : sum - 0.5);
    return v < 0 ? 0 : v > 65535 ? 65535 : v;
}

GF_HOST_DEVICE int gf_pillow_premultiplied(int colour, int alpha)
{
    const int product = colour * alpha + 128;
    return ((product >> 8) + product) >> 8;
}

/* Colour that alpha does not cover stays as it is. An alpha of 255 needs no case of its own; with
 * one, ptxas 13 takes the comparison from the minimum above it, and the device left all colour
 * premultiplied. */
GF_HOST_DEVICE int gf_pillow_straight(int colour, int alpha)
{
    const int v = alpha == 0 ? colour : 255 * colour / alpha;
    return v < 255 ? v : 255;
}

/* Returns the factor of a block's rounded sum, in units of 2^-24: Pillow computes it in floats. */
GF_HOST_DEVICE uint32_t gf_reduce_factor(int pixels)
{
    return (uint32_t)(4294967296.0f / (float)(256u * (uint32_t)pixels));
}

/* Returns the first input of block i, and the number of inputs that it has. */
GF_HOST_DEVICE int gf_reduce_block(int i, int size, int first, int end, int *count)
{
    const int at = first + i * size;
    *count = end - at < size ? end - at : size;
    return at;
}

GF_C_END
