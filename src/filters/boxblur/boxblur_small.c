/* boxblur of 8 bits where column sums fit in 16 bits. With a small radius the sums of windows fit
 * in 16 bits, too, and are computed directly from the columns. */
#include <string.h>

#include "base/target_clones.h"
#include "filters/boxblur/boxblur.h"
#include "pixel/stencil.h"

GF_TARGET_CLONES static void move_columns(uint16_t *restrict columns, const unsigned char *enter,
                                          const unsigned char *leave, size_t count)
{
    for (size_t i = 0; i < count; i++)
        columns[i] = (uint16_t)(columns[i] + enter[i] - leave[i]);
}

/* Divides by a multiplication, which gives the exact integer quotient for all sums of up to 15 x 15
 * samples. Each caller passes a constant radius. */
GF_INLINE void mean_of(const int radius, const uint16_t *restrict columns, size_t step,
                       size_t count, const struct gf_box_mean *mean, unsigned char *restrict row)
{
    const uint16_t half = (uint16_t)mean->half;
    const uint32_t multiplier = mean->multiplier_small;
    const int shift = mean->shift;
    for (size_t i = 0; i < count; i++) {
        uint16_t sum = half;
        for (int k = 0; k <= 2 * radius; k++)
            sum = (uint16_t)(sum + columns[i + (size_t)k * step]);
        row[i] = (unsigned char)((uint16_t)(sum * multiplier >> 16) >> shift);
    }
}

#define MEAN(radius_) \
    GF_TARGET_CLONES static void mean_##radius_(const uint16_t *columns, size_t step, \
                                                size_t count, const struct gf_box_mean *mean, \
                                                unsigned char *row) \
    { \
        mean_of(radius_, columns, step, count, mean, row); \
    }
MEAN(1)
MEAN(2)
MEAN(3)
MEAN(4)
MEAN(5)
MEAN(6)
MEAN(7)

static const unsigned char *row_of(const struct gf_box *box, const struct gf_view *in, int y,
                                   const unsigned char *zeros)
{
    const unsigned char *row;
    gf_stencil_rows(in, y, 1, box->border, zeros, &row);
    return row;
}

void gf_box_small_cpu(const struct gf_box *box, const struct gf_view *in, const struct gf_view *out,
                      const unsigned char *zeros, uint16_t *padded)
{
    static void (*const means[])(const uint16_t *columns, size_t step, size_t count,
                                 const struct gf_box_mean *mean, unsigned char *row) = {
        mean_1, mean_2, mean_3, mean_4, mean_5, mean_6, mean_7};
    const int radius = box->radius;
    const size_t channels = (size_t)in->format.channels, samples = gf_samples(in->format);
    uint16_t *const columns = padded + (size_t)radius * channels;
    memset(columns, 0, samples * sizeof *columns);
    for (int y = out->y - radius; y < out->y + radius; y++)
        move_columns(columns, row_of(box, in, y, zeros), zeros, samples);
    for (int y = out->y; y < out->y + out->rows; y++) {
        move_columns(columns, row_of(box, in, y + radius, zeros),
                     y == out->y ? zeros : row_of(box, in, y - radius - 1, zeros), samples);
        gf_stencil_pad(columns, in->format.width, radius, channels * sizeof *columns, box->border);
        if (radius <= GF_BOX_SMALL_MAX)
            means[radius - 1](padded, channels, samples, &box->mean, gf_view_row(out, y));
        else
            gf_box_slide_simd(padded, radius, in->format.channels, samples, &box->mean,
                              gf_view_row(out, y));
    }
}
