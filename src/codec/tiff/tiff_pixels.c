/* Samples become gray or RGB, with or without alpha. */
#include <math.h>
#include <string.h>

#include "codec/common/samples.h"
#include "codec/tiff/tiff_layout.h"

/* The parts of the memory for a row: the samples of the file, a plane or the inks, and RGB. */
struct scratch {
    unsigned char *samples, *inks, *rgb;
};

static size_t sample_bytes(const struct gf_tiff_layout *layout)
{
    return (size_t)layout->format.bits / 8;
}

size_t gf_tiff_scratch_bytes(const struct gf_tiff_layout *layout, int pixels)
{
    return (size_t)pixels * sample_bytes(layout) * (size_t)(layout->samples + 4 + 3);
}

static struct scratch scratch_of(const struct gf_tiff_layout *layout, void *memory, int pixels)
{
    const size_t plane = (size_t)pixels * sample_bytes(layout);
    unsigned char *const inks = (unsigned char *)memory + plane * (size_t)layout->samples;
    return (struct scratch){.samples = memory, .inks = inks, .rgb = inks + 4 * plane};
}

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

/* ---- colours that become RGB ---- */

/* Converts to RGB by the palette. */
#define LOOK_UP(name, type) \
    static void name(const struct gf_tiff_layout *layout, const type *src, type *rgb, int pixels) \
    { \
        const type *const palette = layout->palette; \
        for (int i = 0; i < pixels; i++, src += layout->samples, rgb += 3) \
            memcpy(rgb, palette + 3 * (size_t)*src, 3 * sizeof *rgb); \
    }
LOOK_UP(look_up8, uint8_t)
LOOK_UP(look_up16, uint16_t)

/* Of 16 bits a* and b* have 256 steps for each unit; L* = 100 is 65280 where they are unsigned. */
#define LAB(name, type, signed_type, most, step, white) \
    static void name(const struct gf_tiff_layout *layout, const type *src, type *rgb, int pixels) \
    { \
        const bool is_signed = layout->colour == GF_TIFF_CIELAB; \
        const float scale = 100.0f / (is_signed ? (most) : (white)); \
        for (int i = 0; i < pixels; i++, src += layout->samples, rgb += 3) { \
            float colour[3], ab[2]; \
            for (int c = 0; c < 2; c++) \
                ab[c] = is_signed ? (float)(signed_type)src[c + 1] / (step) \
                                  : (float)src[c + 1] / (step)-128.0f; \
            gf_lab_to_srgb((float)src[0] * scale, ab[0], ab[1], colour); \
            for (int c = 0; c < 3; c++) \
                rgb[c] = (type)(colour[c] * (most) + 0.5f); \
        } \
    }
LAB(lab8, uint8_t, int8_t, 255.0f, 1.0f, 255.0f)
LAB(lab16, uint16_t, int16_t, 65535.0f, 256.0f, 65280.0f)

static void gather_inks(const struct gf_tiff_layout *layout, const unsigned char *src,
                        unsigned char *inks, int pixels)
{
    const size_t from = (size_t)layout->samples * sample_bytes(layout),
                 to = 4 * sample_bytes(layout);
    for (int i = 0; i < pixels; i++, src += from, inks += to)
        memcpy(inks, src, to);
}

/* Divides the stored numbers of colours by alpha; those of a* and b* may be signed. */
#define DIVIDE(name, type, signed_type, most) \
    static void name(const struct gf_tiff_layout *layout, type *pixel, int pixels) \
    { \
        for (; pixels; pixels--, pixel += layout->samples) { \
            const double alpha = pixel[layout->alpha_at]; \
            for (int c = 0; alpha > 0 && c < layout->colours; c++) { \
                const bool is_signed = c && layout->colour == GF_TIFF_CIELAB; \
                const double low = is_signed ? -((most) + 1) / 2. : 0, high = low + (most), \
                             v = floor((is_signed ? (signed_type)pixel[c] : pixel[c]) * \
                                           ((most) / alpha) + \
                                       0.5); \
                pixel[c] = (type)(int)(v < low ? low : v > high ? high : v); \
            } \
        } \
    }
DIVIDE(divide8, uint8_t, int8_t, 255)
DIVIDE(divide16, uint16_t, int16_t, 65535)

/* Returns the samples, whose colours that become RGB are no longer multiplied by alpha. */
static const unsigned char *undo_alpha(const struct gf_tiff_layout *layout,
                                       const unsigned char *samples, unsigned char *memory,
                                       int pixels)
{
    if (samples != memory)
        memcpy(memory, samples, (size_t)pixels * (size_t)layout->samples * sample_bytes(layout));
    if (layout->format.bits == 8)
        divide8(layout, memory, pixels);
    else
        divide16(layout, (uint16_t *)(void *)memory, pixels);
    return memory;
}

static void make_rgb(const struct gf_tiff_layout *layout, const struct scratch *scratch,
                     const unsigned char *samples, int pixels)
{
    const bool deep = layout->format.bits == 16;
    const uint16_t *const words = (const uint16_t *)(const void *)samples;
    uint16_t *const rgb16 = (uint16_t *)(void *)scratch->rgb;
    if (layout->colour == GF_TIFF_CMYK) {
        gather_inks(layout, samples, scratch->inks, pixels);
        gf_cmyk_convert(&layout->cmyk, scratch->inks, false, scratch->rgb, pixels);
    } else if (layout->colour == GF_TIFF_PALETTE) {
        deep ? look_up16(layout, words, rgb16, pixels)
             : look_up8(layout, samples, scratch->rgb, pixels);
    } else {
        deep ? lab16(layout, words, rgb16, pixels) : lab8(layout, samples, scratch->rgb, pixels);
    }
}

/* Scales alpha beside the index of a palette, which has kept its value as the index has. */
static void scale_alpha(const struct gf_tiff_layout *layout, void *pixels, int count)
{
    uint8_t *const narrow = pixels;
    uint16_t *const words = pixels;
    const unsigned most = (1u << layout->bits) - 1;
    for (int i = 3; i < 4 * count; i += 4) {
        if (layout->format.bits == 8)
            narrow[i] = (uint8_t)((narrow[i] * 255u + most / 2) / most);
        else
            words[i] = (uint16_t)((words[i] * 65535u + most / 2) / most);
    }
}

/* Copies RGB, and alpha from the file's samples. */
static void join_alpha(const struct gf_tiff_layout *layout, const unsigned char *rgb,
                       const unsigned char *samples, unsigned char *dst, int pixels)
{
    const size_t bytes = sample_bytes(layout), step = bytes * (size_t)layout->samples;
    if (!layout->alpha_at) {
        memcpy(dst, rgb, 3 * bytes * (size_t)pixels);
        return;
    }
    samples += bytes * (size_t)layout->alpha_at;
    for (size_t i = 0; i < (size_t)pixels; i++, samples += step) {
        memcpy(dst + 4 * bytes * i, rgb + 3 * bytes * i, 3 * bytes);
        memcpy(dst + 4 * bytes * i + 3 * bytes, samples, bytes);
    }
    if (layout->colour == GF_TIFF_PALETTE && layout->bits != layout->format.bits)
        scale_alpha(layout, dst, pixels);
}

/* Unpacks the planes of a row and interleaves their samples. */
static bool join_planes(const struct gf_tiff_layout *layout, const unsigned char *src,
                        size_t plane_bytes, const struct scratch *scratch, int pixels)
{
    const size_t bytes = sample_bytes(layout), step = bytes * (size_t)layout->samples;
    bool within = true;
    for (int p = 0; p < layout->samples; p++) {
        const unsigned char *from = scratch->inks;
        unsigned char *to = scratch->samples + (size_t)p * bytes;
        if (!gf_tiff_needs(layout, p))
            continue;
        within &=
            gf_tiff_unpack(layout, src + (size_t)p * plane_bytes, p, scratch->inks, (size_t)pixels);
        for (int i = 0; i < pixels; i++, from += bytes, to += step)
            memcpy(to, from, bytes);
    }
    return within;
}

bool gf_tiff_convert(const struct gf_tiff_layout *layout, const unsigned char *src,
                     size_t plane_bytes, void *memory, unsigned char *dst, int pixels)
{
    const struct scratch scratch = scratch_of(layout, memory, pixels);
    const size_t count = (size_t)pixels * (size_t)layout->samples;
    const bool plain = layout->colour == GF_TIFF_PLAIN && !layout->inverted &&
                       layout->samples == layout->format.channels,
               as_stored =
                   layout->number == GF_TIFF_UNSIGNED && layout->bits == layout->format.bits;
    const unsigned char *samples = scratch.samples;
    bool within = true;
    if (layout->separate)
        within = join_planes(layout, src, plane_bytes, &scratch, pixels);
    else if (as_stored)
        samples = src;
    else
        within = gf_tiff_unpack(layout, src, -1, plain ? dst : scratch.samples, count);
    const bool undone =
        layout->associated && layout->colour != GF_TIFF_PLAIN && layout->colour != GF_TIFF_PALETTE;
    if (undone)
        samples = undo_alpha(layout, samples, scratch.samples, pixels);
    if (layout->colour != GF_TIFF_PLAIN) {
        make_rgb(layout, &scratch, samples, pixels);
        join_alpha(layout, scratch.rgb, samples, dst, pixels);
    } else if (plain && (layout->separate || as_stored)) {
        memcpy(dst, samples, count * sample_bytes(layout));
    } else if (!plain && layout->format.bits == 8) {
        convert8(layout, samples, dst, pixels);
    } else if (!plain) {
        convert16(layout, (const uint16_t *)(const void *)samples, (uint16_t *)(void *)dst, pixels);
    }
    if (layout->associated && !undone)
        gf_pixels_unpremultiply(dst, (size_t)pixels, layout->format.channels, layout->format.bits);
    return within;
}
