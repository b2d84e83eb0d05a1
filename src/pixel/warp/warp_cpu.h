/* The parts of a warp on the CPU: stretches of 8-bit pixels by vectors, stretches outside of the
 * picture, neighbouring pixels that are close together in the input, and positions by steps. */
#pragma once

#include <string.h>

#include "base/cpu.h"
#include "base/image.h"
#include "pixel/stencil.h"
#include "pixel/warp/warp.h"

struct gf_warp_sampler {
    const struct gf_warp *warp;
    const struct gf_view *in;
    const int16_t *weights;
    size_t pixel_bytes;
    const unsigned char *beyond; /* a pixel outside of the picture */
};

/* Computes pixels first .. end - 1 of the stretch, wherever they lie in the input. A pixel is
 * stored at its place in `out` or, if a pixel has several samples, added to the sums, int64_t[] or,
 * of floats, float[]. */
typedef void gf_warp_maker(const struct gf_warp_sampler *s, const struct gf_warp_stretch *stretch,
                           int first, int end, unsigned char *out, void *sums);
/* Returns the function for floats. */
gf_warp_maker *gf_warp_float_maker(const struct gf_warp *warp, int channels);

/* The pixels of the input around a position, from which the value there is computed. */
struct gf_warp_window {
    const unsigned char *at; /* NULL: all of them are outside of the picture */
    ptrdiff_t pitch;         /* the bytes from one row to the next */
};
enum { GF_WARP_WINDOW_BYTES = 6 * 6 * 4 * 4 };
/* Copies a window that is not entirely inside the picture to `to`; its first pixel is (x, y). */
static inline struct gf_warp_window gf_warp_copy_window(const struct gf_warp_sampler *s, int x,
                                                        int y, unsigned char *to)
{
    const struct gf_warp *const warp = s->warp;
    const size_t size = s->pixel_bytes;
    for (int j = 0; j < warp->taps; j++) {
        for (int i = 0; i < warp->taps; i++) {
            const int column = gf_border_index(x + i, warp->in_width, GF_BORDER_EDGE);
            const int row = gf_border_index(y + j, warp->in_height, GF_BORDER_EDGE);
            const bool inside = warp->edge || (column == x + i && row == y + j);
            memcpy(to + (size_t)(j * warp->taps + i) * size,
                   inside ? gf_view_row(s->in, row) + (size_t)column * size : s->beyond, size);
        }
    }
    return (struct gf_warp_window){to, (ptrdiff_t)(size * (size_t)warp->taps)};
}

/* Returns the window of pixel k of the stretch; `copy` has room for it. */
static inline struct gf_warp_window gf_warp_window_of(const struct gf_warp_sampler *s,
                                                      const struct gf_warp_stretch *stretch, int k,
                                                      unsigned char *copy)
{
    const struct gf_warp *const warp = s->warp;
    const int taps = warp->taps, before = taps / 2 - (taps > 1);
    const int x = stretch->x[k] - before, y = stretch->y[k] - before;
    if (x >= 0 && y >= 0 && x <= warp->in_width - taps && y <= warp->in_height - taps)
        return (struct gf_warp_window){gf_view_row(s->in, y) + (size_t)x * s->pixel_bytes,
                                       (ptrdiff_t)s->in->pitch};
    if (warp->edge || (x > -taps && y > -taps && x < warp->in_width && y < warp->in_height))
        return gf_warp_copy_window(s, x, y, copy);
    return (struct gf_warp_window){NULL, 0};
}

/* Computes `count` pixels of a stretch of gray or RGB with 8 bits and one sample a pixel. Calls
 * `maker` for the pixels for which there is no faster way. */
void gf_warp_stretches(const struct gf_warp_sampler *s, gf_warp_maker *maker,
                       const struct gf_warp_stretch *stretch, int count, unsigned char *out);

enum { GF_WARP_NEAR = 16 };

/* Compute pixels first .. first + count - 1 of the stretch, if 16 neighbours are close together in
 * the input (GF_CPU_VBMI), and store them at `out`; their windows must be inside the picture. The
 * functions are for linear interpolation of gray, and for the nearest pixel of gray and of RGB,
 * with 8 bits. They return the number of computed pixels, a multiple of GF_WARP_NEAR: they stop
 * where the next ones are too far apart, or too close to the last available row. */
GF_X86_ONLY int gf_warp_near_linear_gray8(const struct gf_view *in,
                                          const struct gf_warp_stretch *stretch, int first,
                                          int count, uint8_t *out);
GF_X86_ONLY int gf_warp_near_gray8(const struct gf_view *in, const struct gf_warp_stretch *stretch,
                                   int first, int count, uint8_t *out);
GF_X86_ONLY int gf_warp_near_rgb8(const struct gf_view *in, const struct gf_warp_stretch *stretch,
                                  int first, int count, uint8_t *out);

/* Computes the positions of pixels (x, y) .. (x + count - 1, y) with one sample each, equal to
 * those of gf_warp_at(), by additions: along a row a map is almost a polynomial of third degree.
 * For the nearest kernel it may leave out f and g. Up to GF_WARP_STRETCH positions are overwritten.
 * Returns false, with the positions undefined, if the map is too far from such a polynomial. Needs
 * GF_CPU_AVX2. */
GF_X86_ONLY bool gf_warp_steps(const struct gf_warp *warp, int x, int y, int count,
                               struct gf_warp_stretch *stretch);
