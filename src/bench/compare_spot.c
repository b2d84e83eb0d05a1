#include "bench/compare_spot.h"

#include <stdint.h>
#include <stdlib.h>

/* Returns a sample of the row, in the range of its bits. */
static int sample_of(const struct gf_view *view, int y, int x, int channel)
{
    const unsigned char *const row = gf_view_row(view, y);
    const size_t at = (size_t)x * (size_t)view->format.channels + (size_t)channel;
    return view->format.bits == 8 ? row[at] : ((const uint16_t *)(const void *)row)[at];
}

static int difference_at(const struct gf_view *a, const struct gf_view *b, int y, int x)
{
    int most = 0;
    for (int c = 0; c < a->format.channels; c++) {
        const int d = abs(sample_of(a, y, x, c) - sample_of(b, y, x, c));
        most = d > most ? d : most;
    }
    return most;
}

/* Finds the pixel that differs most. Returns the difference. */
static int find_worst(const struct gf_view *a, const struct gf_view *b, int *x, int *y)
{
    int worst = 0;
    for (int row = a->y; row < a->y + a->rows; row++) {
        for (int column = 0; column < a->format.width; column++) {
            const int d = difference_at(a, b, row, column);
            if (d <= worst)
                continue;
            worst = d;
            *x = column;
            *y = row;
        }
    }
    return worst;
}

/* Returns the beginning of a part of that length with `at` in its middle, moved so that it stays
 * inside. */
static int begin_of(int at, int length, int whole)
{
    const int begin = at - length / 2;
    return begin < 0 ? 0 : begin + length > whole ? whole - length : begin;
}

static void put_pixel(const struct gf_view *view, int y, int x, unsigned char *rgb)
{
    const int scale = view->format.bits == 8 ? 1 : 257;
    const bool grey = view->format.channels < 3;
    for (int c = 0; c < 3; c++)
        rgb[c] = (unsigned char)(sample_of(view, y, x, grey ? 0 : c) / scale);
}

struct gf_compare_spot *gf_compare_spot_make(const struct gf_view *found,
                                             const struct gf_view *expected)
{
    int worst_x = 0, worst_y = 0;
    const int width = found->format.width, worst = find_worst(found, expected, &worst_x, &worst_y);
    struct gf_compare_spot *const spot = worst ? calloc(1, sizeof *spot) : NULL;
    if (!spot)
        return NULL;
    spot->width = width < GF_SPOT_SIDE ? width : GF_SPOT_SIDE;
    spot->height = found->rows < GF_SPOT_SIDE ? found->rows : GF_SPOT_SIDE;
    spot->x = begin_of(worst_x, spot->width, width);
    spot->y = found->y + begin_of(worst_y - found->y, spot->height, found->rows);
    for (int i = 0; i < spot->width * spot->height; i++) {
        const int x = spot->x + i % spot->width, y = spot->y + i / spot->width;
        put_pixel(found, y, x, &spot->found[3 * i]);
        put_pixel(expected, y, x, &spot->expected[3 * i]);
        for (int c = 0; c < 3; c++)
            spot->difference[3 * i + c] =
                (unsigned char)(255LL * difference_at(found, expected, y, x) / worst);
    }
    return spot;
}
