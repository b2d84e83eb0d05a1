#include "codec/common/rows/samples.h"

#include <stdint.h>
#include <string.h>

#include "base/cpu.h"
#include "pixel/colour.h"

void gf_rows_clear(unsigned char *data, size_t pitch, int rows, size_t row_bytes)
{
    for (int y = 0; y < rows; y++)
        memset(data + (size_t)y * pitch, 0, row_bytes);
}

GF_TARGET_CLONES static void narrow(const uint16_t *src, uint8_t *dst, size_t count)
{
    /* Computes round(v * 255 / 65535), exactly for all v. */
    for (size_t i = 0; i < count; i++)
        dst[i] = (uint8_t)((src[i] * 255u + 32895u) >> 16);
}

void gf_samples_narrow(const void *src, void *dst, size_t count)
{
    narrow(src, dst, count);
}

GF_TARGET_CLONES static void to_depth(const uint16_t *src, uint16_t *dst, size_t count,
                                      uint32_t most)
{
    for (size_t i = 0; i < count; i++)
        dst[i] = (uint16_t)((src[i] * most + 32767) / 65535);
}

void gf_samples_to_depth(const void *src, void *dst, size_t count, int depth)
{
    to_depth(src, dst, count, (1u << depth) - 1);
}

GF_TARGET_CLONES static void widen(const uint8_t *src, uint16_t *dst, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dst[i] = (uint16_t)(src[i] * 257);
}

void gf_samples_widen(const void *src, void *dst, size_t count)
{
    widen(src, dst, count);
}

void gf_samples_to_bits(const void *src, void *dst, size_t count, int bits)
{
    const uint8_t *const narrow = src;
    const uint16_t *const wide = src;
    uint8_t *const packed = dst;
    memset(dst, 0, (count + 7) / 8);
    for (size_t i = 0; i < count; i++) {
        const unsigned bit = bits == 16 ? wide[i] >> 15 : narrow[i] >> 7;
        packed[i / 8] |= (uint8_t)(bit << (7 - i % 8));
    }
}

/* A 16-bit sample at any address. The samples in a row of a PNG file are at odd addresses, because
 * one byte precedes the row. */
typedef uint16_t __attribute__((aligned(1))) loose_sample;

GF_TARGET_CLONES static void swap_bytes(const loose_sample *src, loose_sample *dst, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dst[i] = (uint16_t)(src[i] << 8 | src[i] >> 8);
}

void gf_samples_swap(void *samples, size_t count)
{
    swap_bytes(samples, samples, count);
}

void gf_samples_big_endian(const void *src, void *dst, size_t count)
{
    const uint16_t one = 1;
    if (*(const unsigned char *)&one)
        swap_bytes(src, dst, count);
    else if (src != dst)
        memcpy(dst, src, count * 2);
}

#define DROP_ALPHA(name, type, channels) \
    static void name(const type *src, type *dst, size_t pixels) \
    { \
        for (size_t i = 0; i < pixels; i++, src += (channels), dst += (channels)-1) \
            for (int c = 0; c < (channels)-1; c++) \
                dst[c] = src[c]; \
    }
DROP_ALPHA(drop_gray8, uint8_t, 2)
DROP_ALPHA(drop_gray16, uint16_t, 2)
DROP_ALPHA(drop_rgb8, uint8_t, 4)
DROP_ALPHA(drop_rgb16, uint16_t, 4)

void gf_pixels_drop_alpha(const void *src, void *dst, size_t pixels, int channels, int bits)
{
    if (channels == 2 && bits == 8)
        drop_gray8(src, dst, pixels);
    else if (channels == 2)
        drop_gray16(src, dst, pixels);
    else if (bits == 8)
        drop_rgb8(src, dst, pixels);
    else
        drop_rgb16(src, dst, pixels);
}

#define GRAY_TO_RGB(name, type) \
    static void name(const type *src, type *dst, size_t pixels, int channels) \
    { \
        for (size_t i = 0; i < pixels; i++, src += channels, dst += channels + 2) { \
            const type gray = src[0], last = src[channels - 1]; \
            dst[0] = dst[1] = dst[2] = gray; \
            dst[channels + 1] = last; /* alpha, or the gray value a third time */ \
        } \
    }
GRAY_TO_RGB(spread8, uint8_t)
GRAY_TO_RGB(spread16, uint16_t)

void gf_pixels_gray_to_rgb(const void *src, void *dst, size_t pixels, int channels, int bits)
{
    if (bits == 8)
        spread8(src, dst, pixels, channels);
    else
        spread16(src, dst, pixels, channels);
}

#define RGB_TO_GRAY(name, type) \
    static void name(const type *src, type *dst, size_t pixels, int channels) \
    { \
        for (size_t i = 0; i < pixels; i++, src += channels) { \
            *dst++ = src[0]; \
            if (channels == 4) \
                *dst++ = src[3]; \
        } \
    }
RGB_TO_GRAY(take8, uint8_t)
RGB_TO_GRAY(take16, uint16_t)

void gf_pixels_rgb_to_gray(const void *src, void *dst, size_t pixels, int channels, int bits)
{
    if (bits == 8)
        take8(src, dst, pixels, channels);
    else
        take16(src, dst, pixels, channels);
}

static unsigned divided(unsigned value, unsigned alpha, unsigned most)
{
    const uint64_t result = alpha ? ((uint64_t)value * most + alpha / 2) / alpha : 0;
    return result < most ? (unsigned)result : most;
}

#define UNPREMULTIPLY(name, type, most) \
    static void name(type *pixel, size_t count, int channels) \
    { \
        for (size_t i = 0; i < count; i++, pixel += channels) \
            for (int c = 0; c < channels - 1; c++) \
                pixel[c] = (type)divided(pixel[c], pixel[channels - 1], most); \
    }
UNPREMULTIPLY(unpremultiply8, uint8_t, 255)
UNPREMULTIPLY(unpremultiply16, uint16_t, 65535)

void gf_pixels_unpremultiply(void *pixels, size_t count, int channels, int bits)
{
    if (bits == 8)
        unpremultiply8(pixels, count, channels);
    else
        unpremultiply16(pixels, count, channels);
}

void gf_floats_unpremultiply(float *pixels, size_t count, int channels)
{
    for (; count; count--, pixels += channels) {
        const float alpha = pixels[channels - 1];
        for (int c = 0; alpha != 0 && c < channels - 1; c++)
            pixels[c] /= alpha;
    }
}

static int64_t clamped(int64_t scaled, int64_t most)
{
    const int64_t value = (scaled + (1 << 15)) >> 16;
    return value < 0 ? 0 : value > most ? most : value;
}

/* The factors are in units of 1/65536. */
#define YCC_TO_RGB(name, type, most) \
    static void name(type *pixel, size_t count, int channels) \
    { \
        enum { CR_RED = 91881, CB_GREEN = 22554, CR_GREEN = 46802, CB_BLUE = 116130 }; \
        for (; count; count--, pixel += channels) { \
            const int64_t y = (int64_t)pixel[0] << 16, cb = (int64_t)pixel[1] - ((most) + 1) / 2, \
                          cr = (int64_t)pixel[2] - ((most) + 1) / 2; \
            pixel[0] = (type)clamped(y + CR_RED * cr, most); \
            pixel[1] = (type)clamped(y - CB_GREEN * cb - CR_GREEN * cr, most); \
            pixel[2] = (type)clamped(y + CB_BLUE * cb, most); \
        } \
    }
YCC_TO_RGB(ycc_to_rgb8, uint8_t, 255)
YCC_TO_RGB(ycc_to_rgb16, uint16_t, 65535)

void gf_pixels_ycc_to_rgb(void *pixels, size_t count, int channels, int bits)
{
    if (bits == 8)
        ycc_to_rgb8(pixels, count, channels);
    else
        ycc_to_rgb16(pixels, count, channels);
}

/* The matrix from XYZ relative to the white point D50 to linear light of sRGB's primaries, whose
 * white point D65 is adapted by Bradford's method, as profiles of sRGB have it. */
static const float from_lab[3][3] = {{3.0219825f, -1.6172090f, -0.40477353f},
                                     {-0.94370931f, 1.9161301f, 0.027579211f},
                                     {0.069387619f, -0.22899387f, 1.1596063f}};

void gf_lab_to_srgb(float l, float a, float b, float rgb[3])
{
    const float fy = (l + 16.0f) / 116.0f;
    const float x = gf_lab_inverse(fy + a / 500.0f), y = gf_lab_inverse(fy),
                z = gf_lab_inverse(fy - b / 200.0f);
    for (int c = 0; c < 3; c++) {
        const float *const row = from_lab[c];
        const float linear = row[0] * x + row[1] * y + row[2] * z;
        rgb[c] = gf_srgb_encode(gf_clamp(linear, 1.0f));
    }
}
