#include "pixel/stencil.h"

#include <string.h>

#include "base/cpu.h"
#include "base/image.h"
#include "pixel/sample.h"
#include "stage/border.h"

void gf_stencil_rows(const struct gf_view *in, int first, int count, int border,
                     const unsigned char *zeros, const unsigned char **rows)
{
    for (int i = 0; i < count; i++) {
        const int row = gf_border_index(first + i, in->format.height, border);
        rows[i] = row < 0 ? zeros : gf_view_row(in, row);
    }
}

static void pad_pixel(unsigned char *row, int at, int width, size_t pixel_bytes, int border)
{
    const int from = gf_border_index(at, width, border);
    unsigned char *const pixel = row + (ptrdiff_t)at * (ptrdiff_t)pixel_bytes;
    if (from < 0)
        memset(pixel, 0, pixel_bytes);
    else
        memcpy(pixel, row + (size_t)from * pixel_bytes, pixel_bytes);
}

void gf_stencil_pad(void *row, int width, int pad, size_t pixel_bytes, int border)
{
    for (int i = 0; i < pad; i++) {
        pad_pixel(row, -1 - i, width, pixel_bytes, border);
        pad_pixel(row, width + i, width, pixel_bytes, border);
    }
}

static void copy_pixel(const unsigned char *row, struct gf_format format, int at, int border,
                       unsigned char *to)
{
    const size_t pixel_bytes = gf_pixel_bytes(format);
    const int from = gf_border_index(at, format.width, border);
    if (from < 0)
        memset(to, 0, pixel_bytes);
    else
        memcpy(to, row + (size_t)from * pixel_bytes, pixel_bytes);
}

void gf_stencil_columns(const unsigned char *row, struct gf_format format, int first, int count,
                        int border, unsigned char *to)
{
    const size_t pixel_bytes = gf_pixel_bytes(format);
    const int end = first + count, begin = first < 0 ? 0 : first;
    const int last = end < format.width ? end : format.width;
    memcpy(to + (size_t)(begin - first) * pixel_bytes, row + (size_t)begin * pixel_bytes,
           (size_t)(last - begin) * pixel_bytes);
    for (int x = first; x < begin; x++)
        copy_pixel(row, format, x, border, to + (size_t)(x - first) * pixel_bytes);
    for (int x = last; x < end; x++)
        copy_pixel(row, format, x, border, to + (size_t)(x - first) * pixel_bytes);
}

/* Converts a row to floats. It is static, since compilers export the clones of global functions. */
GF_TARGET_CLONES static void to_floats(const unsigned char *row, int bits, size_t count,
                                       float *restrict to)
{
    if (bits == 8) {
        for (size_t i = 0; i < count; i++)
            to[i] = row[i];
    } else {
        for (size_t i = 0; i < count; i++)
            to[i] = ((const gf_u16_any *)row)[i];
    }
}

void gf_samples_to_floats(const unsigned char *row, int bits, size_t count, float *restrict to)
{
    if (bits == 32)
        memcpy(to, row, count * sizeof *to);
    else
        to_floats(row, bits, count, to);
}

GF_TARGET_CLONES static void to_samples(const float *from, int bits, size_t count,
                                        unsigned char *restrict row)
{
    if (bits == 8) {
        for (size_t i = 0; i < count; i++)
            row[i] = (unsigned char)gf_round_flat(from[i], 255.0f);
    } else {
        for (size_t i = 0; i < count; i++)
            ((gf_u16_any *)row)[i] = (uint16_t)gf_round_flat(from[i], 65535.0f);
    }
}

void gf_floats_to_samples(const float *from, int bits, size_t count, unsigned char *restrict row)
{
    if (bits == 32)
        memcpy(row, from, count * sizeof *from);
    else
        to_samples(from, bits, count, row);
}

/* Defines a function that copies the bits of pixels in a mask. A pixel has the size of `type`. */
#define KEEP(type) \
    GF_TARGET_CLONES static void keep_##type(const unsigned char *from, unsigned char *to, \
                                             const unsigned char *mask_bytes, size_t count) \
    { \
        type mask, kept, other; \
        memcpy(&mask, mask_bytes, sizeof mask); \
        for (size_t i = 0; i < count; i++) { \
            memcpy(&kept, from + i * sizeof kept, sizeof kept); \
            memcpy(&other, to + i * sizeof other, sizeof other); \
            other = (type)((kept & mask) | (other & (type)~mask)); \
            memcpy(to + i * sizeof other, &other, sizeof other); \
        } \
    }
KEEP(uint16_t)
KEEP(uint32_t)
KEEP(uint64_t)

void gf_keep_alpha(const unsigned char *from, unsigned char *to, struct gf_format format,
                   size_t bytes)
{
    const size_t sample = (size_t)(format.bits / 8);
    const size_t pixel = sample * (size_t)format.channels;
    for (size_t at = pixel; format.bits == 32 && at <= bytes; at += pixel)
        memcpy(to + at - sample, from + at - sample, sample);
    if (format.bits == 32)
        return;
    unsigned char mask[sizeof(uint64_t)] = {0};
    memset(mask + pixel - sample, 255, sample);
    (pixel == 2   ? keep_uint16_t
     : pixel == 4 ? keep_uint32_t
                  : keep_uint64_t)(from, to, mask, bytes / pixel);
}

struct gf_column_sums gf_column_sums_carve(struct gf_carver *carver, struct gf_format format,
                                           int radius, int border)
{
    const size_t samples = gf_samples(format);
    return (struct gf_column_sums){.radius = radius,
                                   .border = border,
                                   .channels = format.channels,
                                   .samples = (int)samples,
                                   .row = -1,
                                   .column = gf_carve(carver, samples * sizeof(int32_t)),
                                   .square = gf_carve(carver, samples * sizeof(double))};
}

/* Adds a row of samples to the columns' sums (sign 1), or subtracts it (sign -1). */
GF_TARGET_CLONES static void add_samples(const unsigned char *row, int bits, int sign, int samples,
                                         int32_t *restrict column, double *restrict square)
{
    if (bits == 8) {
        for (int i = 0; i < samples; i++) {
            const int v = row[i];
            column[i] += sign * v;
            square[i] += (double)(sign * v * v);
        }
    } else {
        for (int i = 0; i < samples; i++) {
            const int v = ((const gf_u16_any *)row)[i];
            column[i] += sign * v;
            square[i] += (double)sign * v * v;
        }
    }
}

static void add_row(struct gf_column_sums *sums, int row, int sign)
{
    const int from = gf_border_index(row, sums->in->format.height, sums->border);
    if (from >= 0)
        add_samples(gf_view_row(sums->in, from), sums->in->format.bits, sign, sums->samples,
                    sums->column, sums->square);
}

void gf_column_sums_go_to(struct gf_column_sums *sums, int row)
{
    const int radius = sums->radius;
    if (sums->row >= 0 && row == sums->row + 1) {
        add_row(sums, row + radius, 1);
        add_row(sums, row - radius - 1, -1);
    } else if (sums->row >= 0 && row == sums->row - 1) {
        add_row(sums, row - radius, 1);
        add_row(sums, row + radius + 1, -1);
    } else if (row != sums->row) {
        memset(sums->column, 0, (size_t)sums->samples * sizeof *sums->column);
        memset(sums->square, 0, (size_t)sums->samples * sizeof *sums->square);
        for (int i = -radius; i <= radius; i++)
            add_row(sums, row + i, 1);
    }
    sums->row = row;
}
