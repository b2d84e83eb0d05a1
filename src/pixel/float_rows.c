#include "pixel/float_rows.h"

#include <stdint.h>
#include <string.h>

#include "base/cpu.h"
#include "base/elementary.h"
#include "base/simd.h"
#include "pixel/floats.h"
#include "pixel/stencil.h"

enum { EIGHT = 8 };

#if GF_X86
#define GF_F16C __attribute__((target("avx2,fma,f16c")))

/* Converts the first of `count` halves, eight at a time, and returns how many. */
GF_F16C static size_t of_halves_by_eight(const uint8_t *row, size_t count, float *to)
{
    size_t i = 0;
    for (; i + EIGHT <= count; i += EIGHT)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(row + 2 * i))));
    return i;
}

GF_F16C static size_t to_halves_by_eight(const float *from, size_t count, uint8_t *row)
{
    size_t i = 0;
    for (; i + EIGHT <= count; i += EIGHT)
        _mm_storeu_si128((void *)(row + 2 * i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
    return i;
}

/* Every processor with AVX2 has F16C. */
static bool has_eight(void)
{
    return gf_cpu_has(GF_CPU_AVX2);
}
#else
static size_t of_halves_by_eight(const uint8_t *row, size_t count, float *to)
{
    (void)row, (void)count, (void)to;
    return 0;
}

static size_t to_halves_by_eight(const float *from, size_t count, uint8_t *row)
{
    (void)row, (void)count, (void)from;
    return 0;
}

static bool has_eight(void)
{
    return false;
}
#endif

static void of_halves(const uint8_t *row, size_t count, float *to)
{
    const gf_u16_any *const half = (const gf_u16_any *)row;
    for (size_t i = has_eight() ? of_halves_by_eight(row, count, to) : 0; i < count; i++) {
        const uint32_t bits = gf_bits_of_float(gf_float_of_half(half[i]));
        const uint32_t quiet = (bits & 0x7fffffff) > 0x7f800000 ? 0x400000 : 0;
        to[i] = gf_float_of_bits(bits | quiet);
    }
}

static uint16_t half_of(float v)
{
    const uint32_t bits = gf_bits_of_float(v);
    const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
    return (uint16_t)(is_nan ? (bits >> 16 & 0x8000) | 0x7e00 | (bits >> 13 & 0x3ff)
                             : gf_half_of_float(v));
}

static void to_halves(const float *from, size_t count, uint8_t *row)
{
    gf_u16_any *const half = (gf_u16_any *)row;
    for (size_t i = has_eight() ? to_halves_by_eight(from, count, row) : 0; i < count; i++)
        half[i] = half_of(from[i]);
}

GF_TARGET_CLONES static void of_integers(const uint8_t *row, int bits, size_t count,
                                         float *restrict to)
{
    const gf_u16_any *const words = (const gf_u16_any *)row;
    if (bits == 8) {
        for (size_t i = 0; i < count; i++)
            to[i] = (float)row[i] / 255.0f;
    } else {
        for (size_t i = 0; i < count; i++)
            to[i] = (float)words[i] / 65535.0f;
    }
}

GF_TARGET_CLONES static size_t to_integers(const float *from, int bits, size_t count,
                                           uint8_t *restrict row)
{
    gf_u16_any *const words = (gf_u16_any *)row;
    const float max = bits == 8 ? 255.0f : 65535.0f;
    size_t beyond = 0;
    for (size_t i = 0; i < count; i++) {
        const float low = from[i] > 0.0f ? from[i] : 0.0f, limited = low < 1.0f ? low : 1.0f;
        const uint32_t sample = gf_bits_of_float(limited * max + GF_ROUNDING_SHIFT) & 0xffff;
        beyond += limited != from[i];
        if (bits == 8)
            row[i] = (uint8_t)sample;
        else
            words[i] = (uint16_t)sample;
    }
    return beyond;
}

void gf_floats_of_row(const void *row, struct gf_format format, size_t count, float *to)
{
    if (!gf_is_float(format))
        of_integers(row, format.bits, count, to);
    else if (format.bits == 16)
        of_halves(row, count, to);
    else
        memmove(to, row, count * sizeof *to);
}

size_t gf_floats_to_row(const float *from, struct gf_format format, size_t count, void *row)
{
    if (!gf_is_float(format))
        return to_integers(from, format.bits, count, row);
    if (format.bits == 16)
        to_halves(from, count, row);
    else
        memmove(row, from, count * sizeof *from);
    return 0;
}

size_t gf_row_convert(const void *row, struct gf_format in, struct gf_format out, size_t count,
                      void *to)
{
    enum { PIECE = 1024 };
    const size_t from_bytes = (size_t)in.bits / 8, to_bytes = (size_t)out.bits / 8;
    float piece[PIECE];
    size_t beyond = 0;
    for (size_t done = 0, some; done < count; done += some) {
        some = count - done < PIECE ? count - done : PIECE;
        gf_floats_of_row((const uint8_t *)row + done * from_bytes, in, some, piece);
        beyond += gf_floats_to_row(piece, out, some, (uint8_t *)to + done * to_bytes);
    }
    return beyond;
}
