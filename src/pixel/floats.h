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

GF_C_END
