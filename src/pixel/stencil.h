/* Functions for stencils on the CPU: rows above and below the picture, columns beside it, samples
 * as floats, and scratch memory divided into arrays. */
#pragma once

#include <stdint.h>

#include "stage/stage.h"

/* A sample of 16 bits at any address, since rows of 16-bit pictures may start anywhere. */
#if defined(__GNUC__)
typedef uint16_t gf_u16_any __attribute__((aligned(1), may_alias));
#else
typedef uint16_t gf_u16_any;
#endif

/* Divides a block of scratch memory into arrays, each at a multiple of 64 bytes. If base is NULL,
 * the same calls add up the size of the block. */
struct gf_carver {
    unsigned char *base;
    size_t used;
};

static inline void *gf_carve(struct gf_carver *carver, size_t size)
{
    void *const array = carver->base ? carver->base + carver->used : NULL;
    carver->used += (size + 63) / 64 * 64;
    return array;
}

/* Sets rows[i] to row first + i of the picture, which the border extends. With a constant border,
 * `zeros` replaces rows outside of the picture. */
void gf_stencil_rows(const struct gf_view *in, int first, int count, int border,
                     const unsigned char *zeros, const unsigned char **rows);

/* Fills `pad` pixels on both sides of the `width` pixels at `row`. */
void gf_stencil_pad(void *row, int width, int pad, size_t pixel_bytes, int border);

/* Copies columns first .. first + count - 1 of a row of the picture, which the border extends. */
void gf_stencil_columns(const unsigned char *row, struct gf_format format, int first, int count,
                        int border, unsigned char *to);

/* Convert `count` samples of a row to floats, and floats to samples, which are rounded (a half up)
 * and clamped. */
void gf_samples_to_floats(const unsigned char *row, int bits, size_t count, float *restrict to);
void gf_floats_to_samples(const float *from, int bits, size_t count, unsigned char *restrict row);

/* Copies the alpha samples of pixels that have `bytes` bytes together. */
void gf_keep_alpha(const unsigned char *from, unsigned char *to, struct gf_format format,
                   size_t bytes);

static inline size_t gf_samples(struct gf_format format)
{
    return (size_t)format.width * (size_t)format.channels;
}

/* Sums over square windows on the CPU, for filters whose time does not depend on the radius: a
 * column's sum over the window's rows changes by one row at a time, and a window's sum is updated
 * as the window moves along a row. All sums are exact integers. */

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
