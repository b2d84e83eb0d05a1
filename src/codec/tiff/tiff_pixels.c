/* Converts a TIFF's samples of all kinds to 8 or 16 bits, and its colours to gray or RGB. */
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "codec/common/rows/samples.h"
#include "codec/tiff/tiff.h"

enum { CHUNK = 256 };

bool gf_tiff_is_wide(const struct gf_tiff_layout *layout)
{
    return layout->number == GF_TIFF_FLOAT || layout->bits > 16;
}

/* Returns the sample of `bits` bits, at most 32, that begins at bit number `bit` of src, counted
 * from the highest bit of the first byte. */
static uint32_t bits_at(const unsigned char *src, size_t bit, unsigned bits)
{
    uint64_t value = 0;
    const unsigned skipped = bit % 8, bytes = (skipped + bits + 7) / 8;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | src[bit / 8 + i];
    return (uint32_t)(value >> (8 * bytes - skipped - bits) & (((uint64_t)1 << bits) - 1));
}

/* ---- wide samples (gf_tiff_is_wide()), as double ---- */

/* Returns the value of a floating-point number, such as half floats, from its bits and the sizes of
 * its exponent and fraction. */
static double float_of_bits(uint32_t bits, int exponent_bits, int fraction_bits)
{
    const int most = (1 << exponent_bits) - 1, bias = most >> 1,
              exponent = (int)(bits >> fraction_bits) & most;
    const uint32_t fraction = bits & ((1u << fraction_bits) - 1);
    const double sign = bits >> (exponent_bits + fraction_bits) & 1 ? -1 : 1;
    if (exponent == most)
        return fraction ? NAN : sign * INFINITY;
    const uint32_t whole = exponent ? fraction | 1u << fraction_bits : fraction;
    return sign * ldexp(whole, (exponent ? exponent : 1) - bias - fraction_bits);
}

#define LOAD(name, type, value) \
    static void load_##name(const unsigned char *src, size_t first, size_t count, double *values) \
    { \
        for (size_t i = 0; i < count; i++) { \
            type v; \
            memcpy(&v, src + (first + i) * sizeof v, sizeof v); \
            values[i] = (value); \
        } \
    }
LOAD(half, uint16_t, float_of_bits(v, 5, 10))
LOAD(float, float, (double)v)
LOAD(double, double, v)
LOAD(unsigned, uint32_t, v)
LOAD(signed, int32_t, v)
LOAD(long, uint64_t, (double)v)
LOAD(signed_long, int64_t, (double)v)

/* Loads floats of 24 bits, which have three bytes in the machine's byte order. */
static void load_float24(const unsigned char *src, size_t first, size_t count, double *values)
{
    const uint16_t one = 1;
    const int last = *(const unsigned char *)&one ? 2 : 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *const bytes = src + 3 * (first + i);
        const uint32_t bits = (uint32_t)(bytes[last] << 16 | bytes[1] << 8 | bytes[2 - last]);
        values[i] = float_of_bits(bits, 7, 16);
    }
}

static const struct {
    enum gf_tiff_number number;
    int bits;
    void (*load)(const unsigned char *src, size_t first, size_t count, double *values);
} loads[] = {{GF_TIFF_FLOAT, 16, load_half},        {GF_TIFF_FLOAT, 24, load_float24},
             {GF_TIFF_FLOAT, 32, load_float},       {GF_TIFF_FLOAT, 64, load_double},
             {GF_TIFF_UNSIGNED, 32, load_unsigned}, {GF_TIFF_SIGNED, 32, load_signed},
             {GF_TIFF_UNSIGNED, 64, load_long},     {GF_TIFF_SIGNED, 64, load_signed_long}};

static int load_of(const struct gf_tiff_layout *layout)
{
    for (int i = 0; i < (int)(sizeof loads / sizeof *loads); i++) {
        if (loads[i].number == layout->number && loads[i].bits == layout->bits)
            return i;
    }
    return -1;
}

bool gf_tiff_can_unpack(const struct gf_tiff_layout *layout)
{
    const bool integer = layout->number != GF_TIFF_FLOAT;
    return (integer && layout->bits >= 1 && layout->bits <= 32) || load_of(layout) >= 0;
}

void gf_tiff_usual_range(const struct gf_tiff_layout *layout, double *low, double *high)
{
    const double values = ldexp(1, layout->bits);
    *low = layout->number == GF_TIFF_SIGNED ? -values / 2 : 0;
    *high = layout->number == GF_TIFF_FLOAT ? 1 : *low + values - 1;
}

/* Reads `count` samples, which are floats or have more than 16 bits, from sample `first` of a row
 * on. */
static void load_wide(const struct gf_tiff_layout *layout, const unsigned char *src, size_t first,
                      size_t count, double *values)
{
    const unsigned bits = (unsigned)layout->bits;
    const int load = load_of(layout);
    if (load >= 0) {
        loads[load].load(src, first, count, values);
        return;
    }
    const double below = layout->number == GF_TIFF_SIGNED ? ldexp(1, layout->bits - 1) : 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *const bytes = src + 3 * (first + i);
        const uint32_t sample = layout->is_reversed
                                    ? (uint32_t)(bytes[2] << 16 | bytes[1] << 8 | bytes[0])
                                    : bits_at(src, (first + i) * bits, bits);
        const double value = sample;
        values[i] = value >= below && below > 0 ? value - 2 * below : value;
    }
}

/* Counts a value that is no NaN and not infinite. Several threads may call it at a time. */
static void count_value(struct gf_tiff_counts *counts, double value)
{
    if (!isfinite((float)value))
        return;
    const uint32_t bits = gf_bits_of_float((float)value),
                   key = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    const uint16_t upper = (uint16_t)(key >> 16), lower = (uint16_t)key;
    if (!counts->fine)
        __atomic_fetch_add(&counts->count[0][upper], 1, __ATOMIC_RELAXED);
    for (int i = 0; counts->fine && i < 2; i++) {
        if (upper == counts->upper[i])
            __atomic_fetch_add(&counts->count[i][lower], 1, __ATOMIC_RELAXED);
    }
}

/* Converts wide samples to 16 bits: low..high becomes 0..65535, and NaN 0. Returns whether all
 * samples lie in that range. */
static bool unpack_wide(const struct gf_tiff_layout *layout, const unsigned char *src, int plane,
                        uint16_t *dst, size_t count)
{
    const size_t samples = (size_t)layout->samples, alpha_at = (size_t)layout->alpha_at;
    double values[CHUNK], low[2] = {layout->low}, high[2] = {layout->high}, scale[2];
    bool within = true;
    gf_tiff_usual_range(layout, &low[1], &high[1]);
    for (int i = 0; i < 2; i++)
        scale[i] = 65535 / (high[i] - low[i]);
    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t part = count - first < CHUNK ? count - first : CHUNK;
        load_wide(layout, src, first, part, values);
        for (size_t i = 0; i < part; i++) {
            const size_t sample = plane < 0 ? (first + i) % samples : (size_t)plane;
            const bool alpha = alpha_at && sample == alpha_at;
            const double value = values[i];
            if (layout->counts && sample < (size_t)layout->colours)
                count_value(layout->counts, value);
            const bool above = value > high[alpha];
            const bool inside = value >= low[alpha] && !above;
            within &= inside || sample >= (size_t)layout->colours;
            dst[first + i] = (uint16_t)(inside ? (value - low[alpha]) * scale[alpha] + 0.5
                                               : (above ? 65535 : 0));
        }
    }
    return within;
}

/* Converts floats to floats of the rows' bits. */
static void unpack_floats(const struct gf_tiff_layout *layout, const unsigned char *src, float *dst,
                          size_t count)
{
    double values[CHUNK];
    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t part = count - first < CHUNK ? count - first : CHUNK;
        load_wide(layout, src, first, part, values);
        for (size_t i = 0; i < part; i++)
            dst[first + i] = (float)values[i];
    }
}

/* ---- integers of up to 16 bits ---- */

/* Converts samples of 1 to 7 bits to 8 bits by a table. */
static void unpack_few(const struct gf_tiff_layout *layout, const unsigned char *src, uint8_t *dst,
                       size_t count)
{
    const unsigned bits = (unsigned)layout->bits, most = (1u << bits) - 1,
                   flip = layout->number == GF_TIFF_SIGNED ? 1u << (bits - 1) : 0;
    uint8_t table[128];
    unsigned held = 0, have = 0;
    for (unsigned v = 0; v <= most; v++)
        table[v] = (uint8_t)(layout->palette ? v : ((v ^ flip) * 255 + most / 2) / most);
    for (size_t i = 0; i < count; i++) {
        if (have < bits) {
            held = held << 8 | *src++;
            have += 8;
        }
        have -= bits;
        dst[i] = table[held >> have & most];
    }
}

/* Converts samples of 9 to 15 bits to 16 bits. */
static void unpack_many(const struct gf_tiff_layout *layout, const unsigned char *src,
                        uint16_t *dst, size_t count)
{
    const unsigned bits = (unsigned)layout->bits, most = (1u << bits) - 1,
                   flip = layout->number == GF_TIFF_SIGNED ? 1u << (bits - 1) : 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned value = bits_at(src, i * bits, bits);
        dst[i] = (uint16_t)(layout->palette ? value : ((value ^ flip) * 65535 + most / 2) / most);
    }
}

/* Copies samples of 8 or 16 bits; signed ones become unsigned. */
static void copy(const struct gf_tiff_layout *layout, const unsigned char *src, void *dst,
                 size_t count)
{
    uint8_t *const narrow = dst;
    uint16_t *const words = dst;
    memcpy(dst, src, count * (size_t)layout->bits / 8);
    if (layout->number != GF_TIFF_SIGNED)
        return;
    for (size_t i = 0; i < count && layout->bits == 8; i++)
        narrow[i] ^= 0x80;
    for (size_t i = 0; i < count && layout->bits == 16; i++)
        words[i] ^= 0x8000;
}

/* Converts a row of samples to format.bits bits. Samples of 8, 16, 24, 32 and 64 bits are in the
 * machine's byte order; others are packed from the highest bit of a byte on. Indices of a palette
 * keep their value. `plane` is the number of the plane, or -1 if samples are interleaved. Returns
 * whether all wide samples are within their range. */
static bool tiff_unpack(const struct gf_tiff_layout *layout, const unsigned char *src, int plane,
                        void *dst, size_t count)
{
    if (gf_is_float(layout->format)) {
        if (layout->bits == layout->format.bits)
            memcpy(dst, src, count * (size_t)layout->bits / 8);
        else
            unpack_floats(layout, src, dst, count);
        return true;
    }
    if (gf_tiff_is_wide(layout))
        return unpack_wide(layout, src, plane, dst, count);
    if (layout->bits == 8 || layout->bits == 16)
        copy(layout, src, dst, count);
    else if (layout->bits < 8)
        unpack_few(layout, src, dst, count);
    else
        unpack_many(layout, src, dst, count);
    return true;
}

/* ---- samples become gray or RGB, with or without alpha ---- */

/* The parts of the memory `scratch` for a row: the unpacked samples; one plane, or the inks; and
 * RGB. */
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
CONVERT(convert_floats, float, 1.0f)

/* ---- colours that are converted to RGB ---- */

/* Defines a function that converts indices to RGB by the palette. */
#define LOOK_UP(name, type) \
    static void name(const struct gf_tiff_layout *layout, const type *src, type *rgb, int pixels) \
    { \
        const type *const palette = layout->palette; \
        for (int i = 0; i < pixels; i++, src += layout->samples, rgb += 3) \
            memcpy(rgb, palette + 3 * (size_t)*src, 3 * sizeof *rgb); \
    }
LOOK_UP(look_up8, uint8_t)
LOOK_UP(look_up16, uint16_t)

/* Defines a function that converts L*a*b* to sRGB. `step` is 1 for 8 bits and 256 for 16 bits: the
 * steps of a* and b* for each unit. `white` is L* = 100 if a* and b* are unsigned, else `most`
 * is. */
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

/* Defines a function that divides the colours of pixels by alpha. a* and b* may be signed. */
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

/* Returns a copy of the samples in `memory` in which colours are no longer multiplied by alpha. */
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

/* Scales alpha to the full range for pictures with a palette, whose samples were unpacked without
 * scaling. */
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

/* Joins RGB and the alpha among the file's samples to RGBA; copies RGB if there is no alpha. */
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
            tiff_unpack(layout, src + (size_t)p * plane_bytes, p, scratch->inks, (size_t)pixels);
        for (int i = 0; i < pixels; i++, from += bytes, to += step)
            memcpy(to, from, bytes);
    }
    return within;
}

/* Whether the samples are those of the picture, in its order. */
static bool is_plain(const struct gf_tiff_layout *layout)
{
    return layout->colour == GF_TIFF_PLAIN && !layout->inverted &&
           layout->samples == layout->format.channels;
}

static bool is_as_stored(const struct gf_tiff_layout *layout)
{
    return layout->number == (gf_is_float(layout->format) ? GF_TIFF_FLOAT : GF_TIFF_UNSIGNED) &&
           layout->bits == layout->format.bits;
}

bool gf_tiff_converts_nothing(const struct gf_tiff_layout *layout)
{
    return is_plain(layout) && is_as_stored(layout) && !layout->separate && !layout->associated;
}

bool gf_tiff_convert(const struct gf_tiff_layout *layout, const unsigned char *src,
                     size_t plane_bytes, void *memory, unsigned char *dst, int pixels)
{
    const struct scratch scratch = scratch_of(layout, memory, pixels);
    const size_t count = (size_t)pixels * (size_t)layout->samples;
    const bool plain = is_plain(layout), as_stored = is_as_stored(layout);
    const unsigned char *samples = scratch.samples;
    bool within = true;
    if (layout->separate)
        within = join_planes(layout, src, plane_bytes, &scratch, pixels);
    else if (as_stored)
        samples = src;
    else
        within = tiff_unpack(layout, src, -1, plain ? dst : scratch.samples, count);
    const bool undone =
        layout->associated && layout->colour != GF_TIFF_PLAIN && layout->colour != GF_TIFF_PALETTE;
    if (undone)
        samples = undo_alpha(layout, samples, scratch.samples, pixels);
    if (layout->colour != GF_TIFF_PLAIN) {
        make_rgb(layout, &scratch, samples, pixels);
        join_alpha(layout, scratch.rgb, samples, dst, pixels);
    } else if (plain && (layout->separate || as_stored)) {
        memcpy(dst, samples, count * sample_bytes(layout));
    } else if (!plain && layout->format.bits == 32) {
        convert_floats(layout, (const float *)(const void *)samples, (float *)(void *)dst, pixels);
    } else if (!plain && layout->format.bits == 8) {
        convert8(layout, samples, dst, pixels);
    } else if (!plain) {
        convert16(layout, (const uint16_t *)(const void *)samples, (uint16_t *)(void *)dst, pixels);
    }
    if (layout->associated && gf_is_float(layout->format))
        gf_floats_unpremultiply((float *)(void *)dst, (size_t)pixels, layout->format.channels);
    else if (layout->associated && !undone)
        gf_pixels_unpremultiply(dst, (size_t)pixels, layout->format.channels, layout->format.bits);
    return within;
}
