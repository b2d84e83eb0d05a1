/* How the samples of a picture become numbers, on the host and on a device. */
#pragma once

#include "base/elementary.h"
#include "base/host_device.h"
#include "gpufilter/image.h"

GF_C_BEGIN

struct gf_float_form {
    enum gf_number type;
    enum gf_floats layout;
    int channels; /* numbers of a pixel: as many as the picture's channels, or 3 of a gray one */
    float scale, mean[4], deviation[4];
    int patch, merge, temporal; /* patch is 0, and the others 1, without the layout PATCHES */
};

/* Checks the arguments of gf_image_to_numbers() for pictures of that format, and makes *form. */
enum gf_status gf_float_form_make(struct gf_format format, const struct gf_numbers *numbers,
                                  struct gf_float_form *form, struct gf_error *error) GF_CHECKED;

GF_HOST_DEVICE size_t gf_number_bytes(enum gf_number type)
{
    return type == GF_NUMBER_FLOAT32 ? 4 : type == GF_NUMBER_UINT8 ? 1 : 2;
}

/* Returns how many numbers a picture of that format becomes. */
GF_HOST_DEVICE size_t gf_float_count(const struct gf_float_form *form, struct gf_format format)
{
    return (size_t)format.width * (size_t)format.height * (size_t)(form->channels * form->temporal);
}

/* Returns the place of the first number of pixel (x, y) in a picture of patches. */
GF_HOST_DEVICE size_t gf_patch_place(int patch, int merge, int numbers, int width, int x, int y)
{
    const int column = x / patch, row = y / patch, block = column / merge, line = row / merge;
    const size_t before = (size_t)line * (size_t)(width / patch) + (size_t)(block * merge),
                 at = before * (size_t)merge +
                      (size_t)((row - line * merge) * merge + column - block * merge);
    return at * (size_t)numbers * (size_t)patch * (size_t)patch +
           (size_t)(y - row * patch) * (size_t)patch + (size_t)(x - column * patch);
}

/* Returns the nearest half; v is not NaN. The sum with 0.5 rounds a number below the least normal
 * one as its result needs it. */
GF_HOST_DEVICE uint32_t gf_half_of_float(float v)
{
    const uint32_t bits = gf_bits_of_float(v), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    if (size >= 0x47800000)
        return sign | 0x7c00;
    if (size < 0x38800000)
        return sign | (gf_bits_of_float(gf_float_of_bits(size) + 0.5f) - 0x3f000000);
    return sign | (size + 0xfff + (size >> 13 & 1) - 0x38000000) >> 13;
}

/* Returns the bits of the number of a type for v, which is not NaN. Those of a byte are of v x 1.
 */
GF_HOST_DEVICE uint32_t gf_number_of_float(enum gf_number type, float v)
{
    const uint32_t bits = gf_bits_of_float(v);
    return type == GF_NUMBER_FLOAT32   ? bits
           : type == GF_NUMBER_FLOAT16 ? gf_half_of_float(v)
           : type == GF_NUMBER_UINT8   ? (uint32_t)(v + 0.5f)
                                       : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/* Returns the bits of the number of a type for a float, which has no limits, NaN included. A byte
 * is the nearest one in 0..255, the even one between two; that of NaN is 0. */
GF_HOST_DEVICE uint32_t gf_number_of_any(enum gf_number type, float v)
{
    const float low = v > 0.0f ? v : 0.0f, limited = low < 255.0f ? low : 255.0f;
    if (type == GF_NUMBER_UINT8)
        return gf_bits_of_float(limited + GF_ROUNDING_SHIFT) & 255;
    if (v != v)
        return type == GF_NUMBER_FLOAT32 ? 0x7fc00000 : type == GF_NUMBER_FLOAT16 ? 0x7e00 : 0x7fc0;
    return gf_number_of_float(type, v);
}

/* Numbers of floats that become samples, as gf_image_from_numbers() says. */
struct gf_float_source {
    const void *values;
    enum gf_number type;
    float black, white;
};

/* Checks the arguments of gf_image_from_numbers(). */
enum gf_status gf_float_source_check(const struct gf_float_source *source,
                                     const struct gf_image *image,
                                     struct gf_error *error) GF_CHECKED;
/* Fails, since number `at` is far outside the range. */
enum gf_status gf_float_source_far(const struct gf_float_source *source,
                                   const struct gf_image *image, size_t at, float number,
                                   struct gf_error *error) GF_CHECKED;

/* Returns a half as a float. */
GF_HOST_DEVICE float gf_float_of_half(uint32_t half)
{
    const uint32_t size = (half & 0x7fff) << 13, sign = (half & 0x8000) << 16;
    const float scaled = gf_float_of_bits(size) * 0x1p112f;
    return gf_float_of_bits(sign |
                            (size >= 0x0f800000 ? size | 0x7f800000 : gf_bits_of_float(scaled)));
}

/* Returns the float that the bits of a number of a type are. */
GF_HOST_DEVICE float gf_float_of_number(enum gf_number type, uint32_t bits)
{
    return type == GF_NUMBER_FLOAT16
               ? gf_float_of_half(bits)
               : gf_float_of_bits(type == GF_NUMBER_FLOAT32 ? bits : bits << 16);
}

/* Returns number `i` of a type. */
GF_HOST_DEVICE float gf_number_at(const void *values, enum gf_number type, size_t i)
{
    if (type == GF_NUMBER_FLOAT32)
        return ((const float *)values)[i];
    return gf_float_of_number(type, ((const uint16_t *)values)[i]);
}

/* Returns what a number is as a sample that is not limited. */
GF_HOST_DEVICE double gf_float_position(float number, double black, double range)
{
    return 65535 * ((double)number - black) / range;
}

/* Whether a position is farther outside than the range is wide, or NaN. */
GF_HOST_DEVICE bool gf_float_is_far(double v)
{
    return !(v >= -65535 && v <= 2 * 65535);
}

/* Returns the nearest sample to a position. */
GF_HOST_DEVICE uint16_t gf_float_sample(double v)
{
    const double low = v > 0 ? v : 0, limited = low < 65535 ? low : 65535;
    return (uint16_t)gf_bits_of_double(limited + GF_ROUNDING_SHIFT_DOUBLE);
}

GF_C_END
