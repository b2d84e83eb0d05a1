#include "pixel/window_sums.h"

#include <string.h>

#include "base/target_clones.h"
#include "stage/border.h"

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

/* Adds a row to the columns' sums (sign 1) or subtracts it (sign -1). */
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
