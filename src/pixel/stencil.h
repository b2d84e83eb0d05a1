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

/* The largest radii, in pixels, of variants of blur and boxblur: of variants that read each window
 * from global memory, and of variants that hold tiles in shared memory. */
enum { GF_WINDOW_REACH_MAX = 60, GF_WINDOW_TILE_REACH_MAX = 16 };

static inline size_t gf_samples(struct gf_format format)
{
    return (size_t)format.width * (size_t)format.channels;
}
