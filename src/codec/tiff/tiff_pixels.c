#include <string.h>

#include "codec/common/samples.h"
#include "codec/tiff/tiff_layout.h"

#define CONVERT(name, type, most) \
    static void name(const struct gf_tiff_layout *layout, const type *src, type *dst, int pixels) \
    { \
        const int colours = layout->colours, alpha_at = layout->alpha_at; \
        for (int i = 0; i < pixels; i++, src += layout->samples, dst += colours + !!alpha_at) { \
            for (int c = 0; c < colours; c++) \
                dst[c] = (type)(layout->inverted ? (most)-src[c] : src[c]); \
            if (alpha_at) \
                dst[colours] = src[alpha_at]; \
        } \
    }
CONVERT(convert8, uint8_t, 255u)
CONVERT(convert16, uint16_t, 65535u)

/* Converts palettes, and samples of fewer than 8 bits. */
static void convert_packed(const struct gf_tiff_layout *layout, const unsigned char *src,
                           unsigned char *dst, int pixels)
{
    const unsigned bits = (unsigned)layout->bits, most = (1u << bits) - 1,
                   step = (unsigned)layout->samples;
    for (size_t i = 0; i < (size_t)pixels; i++) {
        const size_t bit = i * step * bits;
        const unsigned value = src[bit / 8] >> (8 - bits - bit % 8) & most;
        if (layout->has_palette)
            memcpy(dst + 3 * i, layout->palette[value], 3);
        else
            dst[i] = (unsigned char)((layout->inverted ? most - value : value) * 255 / most);
    }
}

void gf_tiff_convert(const struct gf_tiff_layout *layout, const unsigned char *src,
                     unsigned char *dst, int pixels)
{
    const bool same =
        layout->samples == layout->format.channels && !layout->inverted && !layout->associated;
    if (layout->has_palette || layout->bits < 8)
        convert_packed(layout, src, dst, pixels);
    else if (same)
        memcpy(dst, src, (size_t)pixels * (size_t)layout->samples * (size_t)(layout->bits / 8));
    else if (layout->bits == 8)
        convert8(layout, src, dst, pixels);
    else
        convert16(layout, (const uint16_t *)(const void *)src, (uint16_t *)(void *)dst, pixels);
    if (layout->associated)
        gf_pixels_unpremultiply(dst, (size_t)pixels, layout->format.channels, layout->bits);
}

void gf_tiff_interleave(const struct gf_tiff_layout *layout, const unsigned char *planes,
                        size_t plane_bytes, unsigned char *dst, int pixels)
{
    const size_t bytes = (size_t)layout->bits / 8, step = bytes * (size_t)layout->samples;
    for (int p = 0; p < layout->samples; p++) {
        const unsigned char *from = planes + (size_t)p * plane_bytes;
        unsigned char *to = dst + (size_t)p * bytes;
        for (int i = 0; i < pixels; i++, from += bytes, to += step)
            memcpy(to, from, bytes);
    }
}
