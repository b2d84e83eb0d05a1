/* Samples of all kinds become 8 or 16 bits. */
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "codec/tiff/tiff_layout.h"

enum { CHUNK = 256 };

bool gf_tiff_is_wide(const struct gf_tiff_layout *layout)
{
    return layout->number == GF_TIFF_FLOAT || layout->bits > 16;
}

/* Returns the sample of up to 32 bits that begins at that bit. */
static uint32_t bits_at(const unsigned char *src, size_t bit, unsigned bits)
{
    uint64_t value = 0;
    const unsigned skipped = bit % 8, bytes = (skipped + bits + 7) / 8;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | src[bit / 8 + i];
    return (uint32_t)(value >> (8 * bytes - skipped - bits) & (((uint64_t)1 << bits) - 1));
}

/* ---- wide samples, as double ---- */

/* Returns the number that such bits are in a binary format with an exponent of that many bits. */
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

/* Three bytes in the machine's order. */
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

/* Reads `count` wide samples from number `first` of a row on. */
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

/* Counts a value that is no NaN and not infinite. Several threads count at a time. */
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

/* Converts wide samples by their range. NaN becomes 0. */
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

/* ---- integers of up to 16 bits ---- */

/* Converts samples of up to 7 bits by a table. */
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

/* Converts samples of 9..15 bits. */
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

/* Copies samples of 8 or 16 bits. */
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

bool gf_tiff_unpack(const struct gf_tiff_layout *layout, const unsigned char *src, int plane,
                    void *dst, size_t count)
{
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
