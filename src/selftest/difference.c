#include "selftest/difference.h"

#include <math.h>
#include <stdlib.h>

static int row_difference8(const unsigned char *a, const unsigned char *b, size_t count)
{
    unsigned char worst = 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned char d = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        worst = d > worst ? d : worst;
    }
    return worst;
}

static int row_difference16(const uint16_t *a, const uint16_t *b, size_t count)
{
    uint16_t worst = 0;
    for (size_t i = 0; i < count; i++) {
        const uint16_t d = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        worst = d > worst ? d : worst;
    }
    return worst;
}

int gf_view_difference(const struct gf_view *a, const struct gf_view *b)
{
    const size_t samples = (size_t)a->format.width * (size_t)a->format.channels;
    int worst = 0;
    for (int y = a->y; y < a->y + a->rows; y++) {
        const void *const p = gf_view_row(a, y), *const q = gf_view_row(b, y);
        const int d =
            a->format.bits == 8 ? row_difference8(p, q, samples) : row_difference16(p, q, samples);
        worst = d > worst ? d : worst;
    }
    return worst;
}

/* Finds the lowest and the highest level that occur; -1 and -1 if none occurs. */
static void find_extremes(const uint64_t *count, int bins, int extreme[2])
{
    extreme[0] = extreme[1] = -1;
    for (int i = 0; i < bins; i++) {
        if (!count[i])
            continue;
        extreme[0] = extreme[0] < 0 ? i : extreme[0];
        extreme[1] = i;
    }
}

double gf_histogram_difference(const struct gf_histogram *a, const struct gf_histogram *b,
                               bool extremes_only)
{
    double worst = 0;
    for (int c = 0; c < a->channels; c++) {
        const uint64_t *const p = a->count + (size_t)c * (size_t)a->bins;
        const uint64_t *const q = b->count + (size_t)c * (size_t)a->bins;
        int x[2], y[2];
        find_extremes(p, a->bins, x);
        find_extremes(q, a->bins, y);
        for (int i = 0; extremes_only && i < 2; i++)
            worst = fmax(worst, abs(x[i] - y[i]));
        for (int i = 0; !extremes_only && i < a->bins; i++)
            worst = fmax(worst, p[i] > q[i] ? (double)(p[i] - q[i]) : (double)(q[i] - p[i]));
    }
    return worst;
}
