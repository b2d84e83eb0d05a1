/* What the stencils of the CPU backend share: rows above and below the picture, columns beside it,
 * samples as floats, and scratch memory cut into arrays. */
#ifndef GF_PIXEL_STENCIL_H
#define GF_PIXEL_STENCIL_H

#include <stdint.h>

#include "stage/stage.h"

/* Rows of 16-bit pictures may start at any address. */
#if defined(__GNUC__)
typedef uint16_t gf_u16_any __attribute__((aligned(1), may_alias));
#else
typedef uint16_t gf_u16_any;
#endif

/* Cuts arrays off a block of scratch memory, each on a multiple of 64. With a base of NULL the same
 * calls only add up its size. */
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

/* rows[i] is row first + i of the picture extended by the border, or `zeros` (a row of them) where
 * that is constant. */
void gf_stencil_rows(const struct gf_view *in, int first, int count, int border,
                     const unsigned char *zeros, const unsigned char **rows);

/* Fills `pad` pixels on either side of the `width` pixels that stand at `row`. */
void gf_stencil_pad(void *row, int width, int pad, size_t pixel_bytes, int border);

/* `count` samples of a row. On the way back they are rounded half up and clamped. */
void gf_samples_to_floats(const unsigned char *row, int bits, size_t count, float *restrict to);
void gf_floats_to_samples(const float *from, int bits, size_t count, unsigned char *restrict row);

/* Copies the alpha samples of `bytes` bytes, which begin with a pixel. */
void gf_keep_alpha(const unsigned char *from, unsigned char *to, struct gf_format format,
                   size_t bytes);

/* The variants of blur and boxblur read whole windows from global memory up to this reach
 * in pixels, and hold tiles in shared memory up to that one. */
enum { GF_WINDOW_REACH_MAX = 60, GF_WINDOW_TILE_REACH_MAX = 16 };

static inline size_t gf_samples(struct gf_format format)
{
    return (size_t)format.width * (size_t)format.channels;
}

#endif
