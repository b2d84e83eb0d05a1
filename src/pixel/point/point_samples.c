/* Converts samples of pixels to planes of floats and back. */
#include <string.h>

#include "base/target_clones.h"
#include "pixel/point/point_planes.h"

/* The plane in which a channel is stored. */
#define PLANE_OF(planes, channels, c) \
    ((channels) % 2 == 0 && (c) == (channels)-1 ? (planes)->alpha : (planes)->colour[c])

/* Stores the samples of pixels first..n-1 in planes. */
GF_INLINE void split(const void *in, int bits, int first, int n, const int channels,
                     struct gf_planes *planes)
{
    const uint8_t *const bytes = in;
    const uint16_t *const words = in;
    for (int c = 0; c < channels; c++) {
        float *const plane = PLANE_OF(planes, channels, c);
        if (bits == 8) {
            for (int i = first; i < n; i++)
                plane[i] = bytes[i * channels + c];
        } else {
            for (int i = first; i < n; i++)
                plane[i] = words[i * channels + c];
        }
    }
}

/* Whether a pixel of four channels can be loaded as an integer whose lowest bits are the first
 * channel. Compilers vectorise loops over such integers. */
enum { PIXELS_ARE_NUMBERS = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

#define SPLIT_NUMBERS(type, bits) \
    for (int c = 0; c < 4; c++) { \
        float *const plane = PLANE_OF(planes, 4, c); \
        for (int i = first; i < n; i++) { \
            type v; \
            memcpy(&v, (const uint8_t *)in + (size_t)i * sizeof v, sizeof v); \
            plane[i] = (float)(int)(v >> (bits)*c & ((1u << (bits)) - 1)); \
        } \
    }

#define JOIN_NUMBERS(type, bits) \
    for (int i = first; i < n; i++) { \
        type v = (type)(int)(planes->alpha[i] + 0.5f) << 3 * (bits); \
        for (int c = 0; c < 3; c++) \
            v |= (type)(int)(planes->colour[c][i] + 0.5f) << (bits)*c; \
        memcpy((uint8_t *)out + (size_t)i * sizeof v, &v, sizeof v); \
    }

GF_TARGET_CLONES static void split_planes(const void *in, struct gf_format format, int first, int n,
                                          struct gf_planes *planes)
{
    if (PIXELS_ARE_NUMBERS && format.channels == 4 && format.bits == 8) {
        SPLIT_NUMBERS(uint32_t, 8)
    } else if (PIXELS_ARE_NUMBERS && format.channels == 4) {
        SPLIT_NUMBERS(uint64_t, 16)
    } else {
        GF_BY_CHANNELS(format.channels, CHANNELS,
                       split(in, format.bits, first, n, CHANNELS, planes));
    }
}

GF_INLINE void join(void *out, int bits, int first, int n, const int channels,
                    const struct gf_planes *planes)
{
    uint8_t *const bytes = out;
    uint16_t *const words = out;
    for (int c = 0; c < channels; c++) {
        const float *const plane = PLANE_OF(planes, channels, c);
        if (bits == 8) {
            for (int i = first; i < n; i++)
                bytes[i * channels + c] = (uint8_t)(int)(plane[i] + 0.5f);
        } else {
            for (int i = first; i < n; i++)
                words[i * channels + c] = (uint16_t)(int)(plane[i] + 0.5f);
        }
    }
}

/* Stores the planes as samples. Every operation has clamped the values to 0..M. */
GF_TARGET_CLONES static void join_planes(void *out, struct gf_format format, int first, int n,
                                         const struct gf_planes *planes)
{
    if (PIXELS_ARE_NUMBERS && format.channels == 4 && format.bits == 8) {
        JOIN_NUMBERS(uint32_t, 8)
    } else if (PIXELS_ARE_NUMBERS && format.channels == 4) {
        JOIN_NUMBERS(uint64_t, 16)
    } else {
        GF_BY_CHANNELS(format.channels, CHANNELS,
                       join(out, format.bits, first, n, CHANNELS, planes));
    }
}

void gf_planes_split(const uint8_t *from, struct gf_format format, int n, struct gf_planes *p)
{
    split_planes(
        from, format,
        gf_is_rgb8(format) && gf_cpu_has(GF_CPU_AVX2) ? gf_planes_split_rgb8(from, n, p) : 0, n, p);
}

void gf_planes_join(uint8_t *to, struct gf_format format, int n, const struct gf_planes *p)
{
    join_planes(to, format,
                gf_is_rgb8(format) && gf_cpu_has(GF_CPU_AVX2) ? gf_planes_join_rgb8(to, n, p) : 0,
                n, p);
}
