/* Sums over square windows on the CPU, for filters whose time does not depend on the radius: a
 * column's sum over the window's rows changes by one row at a time, and a window's sum is updated
 * as the window moves along a row. All sums are exact integers. */
#pragma once

#include <stdint.h>

#include "pixel/stencil.h"

/* The sums of samples and of their squares in each column, over 2 radius + 1 rows. Doubles hold the
 * squares' sums exactly. */
struct gf_column_sums {
    const struct gf_view *in;
    int radius, border;
    int channels, samples; /* channels; samples of a row */
    int row;               /* the middle row of the sums; -1: there are no sums yet */
    int32_t *column;
    double *square;
};

/* Takes the arrays from scratch memory. The caller sets `in` before the first sums. */
struct gf_column_sums gf_column_sums_carve(struct gf_carver *carver, struct gf_format format,
                                           int radius, int border);
/* Computes the sums around a row of the picture. From the sums of a neighbouring row that takes two
 * rows of samples. */
void gf_column_sums_go_to(struct gf_column_sums *sums, int row);

/* Returns the numbers in a row that has room for the columns that a window reaches beyond the
 * picture, and for one more in front of them. */
static inline size_t gf_window_room(struct gf_format format, int radius)
{
    return gf_samples(format) + (size_t)(2 * radius + 2) * (size_t)format.channels;
}

/* Defines a function that computes the sums of windows along a row, over samples that are
 * `channels` apart. `room` has gf_window_room() numbers. The first sum is added up; each later sum
 * is the sum before it, plus one column and minus one column. */
#define GF_WINDOW_SLIDE(name, type) \
    static void name(const struct gf_column_sums *sums, const type *column, type *room, type *sum) \
    { \
        const int channels = sums->channels, radius = sums->radius; \
        type *const first = room + (radius + 1) * channels; \
        memcpy(first, column, (size_t)sums->samples * sizeof *column); \
        gf_stencil_pad(first, sums->samples / channels, radius, (size_t)channels * sizeof *column, \
                       sums->border); \
        for (int c = 0; c < channels; c++) { \
            type total = 0; \
            for (int i = -radius; i < radius; i++) \
                total += first[i * channels + c]; \
            const type *ahead = first + radius * channels + c, \
                       *behind = first - radius * channels + c; \
            for (int i = c; i < sums->samples; i += channels) { \
                total += *ahead; \
                sum[i] = total; \
                total -= *behind; \
                ahead += channels; \
                behind += channels; \
            } \
        } \
    }
