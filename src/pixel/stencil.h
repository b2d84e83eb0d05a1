/* Functions for stencils on the CPU: rows and columns beyond the picture's edges, samples as
 * floats, and scratch memory divided into arrays. */
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

/* Sets rows[i] to row first + i, for `count` rows of the picture or beyond it, where `border` says
 * which row stands there. With a constant border it is `zeros`. */
void gf_stencil_rows(const struct gf_view *in, int first, int count, int border,
                     const unsigned char *zeros, const unsigned char **rows);

/* Fills `pad` pixels on each side of the `width` pixels at `row` by the rule `border`. */
void gf_stencil_pad(void *row, int width, int pad, size_t pixel_bytes, int border);

/* Copies columns first .. first + count - 1 of a row of the picture, or beyond it, where `border`
 * says which column stands there. */
void gf_stencil_columns(const unsigned char *row, struct gf_format format, int first, int count,
                        int border, unsigned char *to);

/* Convert `count` samples of a row to floats, and floats to samples, which are rounded (a half up)
 * and clamped. Samples of 32 bits are floats. */
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
 * column's sum changes by two rows from one row of windows to the next, and a window's sum by two
 * columns from one window to the next. All sums are exact integers. */

/* For each column, the sums of the samples and of their squares in 2 radius + 1 rows. Doubles hold
 * sums of squares exactly. */
struct gf_column_sums {
    const struct gf_view *in;
    int radius, border;
    int channels, samples; /* the channels of a pixel, and the samples of a row */
    int row; /* the row in the middle of the window; -1: nothing has been summed yet */
    int32_t *column;
    double *square;
};

/* Takes the two arrays from scratch memory. The caller sets `in` before gf_column_sums_go_to(). */
struct gf_column_sums gf_column_sums_carve(struct gf_carver *carver, struct gf_format format,
                                           int radius, int border);
/* Computes the sums for windows around a row of the picture. If the sums are those of a
 * neighbouring row, only two rows of samples are read. */
void gf_column_sums_go_to(struct gf_column_sums *sums, int row);

/* Returns how many numbers a row of sums has together with the columns that a window reaches beyond
 * the picture, and with one more in front of them. */
static inline size_t gf_window_room(struct gf_format format, int radius)
{
    return gf_samples(format) + (size_t)(2 * radius + 2) * (size_t)format.channels;
}

/* Defines a function that computes the sums of all windows of a row, separately for each channel.
 * `room` has space for gf_window_room() numbers. The first sum is added up; each later sum is the
 * one before it, plus one column and minus one column. */
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
