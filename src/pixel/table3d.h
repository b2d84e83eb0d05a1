/* Look-up in a table of colours on a cube's nodes, for both compilers. */
#ifndef GF_PIXEL_TABLE3D_H
#define GF_PIXEL_TABLE3D_H

#include <stdint.h>

#include "pixel/colour.h"

/* Nodes a side. */
enum { GF_TABLE3D_MIN = 2, GF_TABLE3D_MAX = 129 };

/* Words of the nodes of a table. A node is two words: red and, in the upper half, green; blue. Each
 * is 0..65535. The node of red r, green g and blue b is at ((b * size + g) * size + r) * 2. */
GF_HOST_DEVICE int gf_table3d_words(int size)
{
    return 2 * size * size * size;
}

GF_HOST_DEVICE struct gf_rgb gf_table3d_node(const uint32_t *node)
{
    const uint32_t first = node[0], second = node[1];
    const struct gf_rgb v = {(float)(int)(first & 65535u), (float)(int)(first >> 16),
                             (float)(int)second};
    return v;
}

/* The colour, 0..65535, at a position whose coordinates are 0..size-1: by tetrahedral interpolation
 * (Kasson, Nin, Plouffe, Hafner: Performing color space conversions with three-dimensional linear
 * interpolation, Journal of Electronic Imaging 4(3), 1995). One of six tetrahedra surrounds the
 * position: it leads from the cell's first corner along the axis with the largest fraction, then
 * the next, then the last. Where two fractions are the same, the corner that differs has weight
 * 0. */
GF_HOST_DEVICE struct gf_rgb gf_table3d_of(const uint32_t *nodes, int size, float r, float g,
                                           float b)
{
    const float last = (float)(size - 2);
    const int ri = (int)(r < last ? r : last), gi = (int)(g < last ? g : last);
    const int bi = (int)(b < last ? b : last);
    const float fr = r - (float)ri, fg = g - (float)gi, fb = b - (float)bi;
    const int step_r = 2, step_g = 2 * size, step_b = 2 * size * size;
    const float rg_most = fr > fg ? fr : fg, rg_least = fr > fg ? fg : fr;
    const int rg_most_step = fr > fg ? step_r : step_g, rg_least_step = fr > fg ? step_g : step_r;
    const float most = rg_most > fb ? rg_most : fb, least = rg_least < fb ? rg_least : fb;
    const float rest = rg_most < fb ? rg_most : fb;
    const float middle = rest > rg_least ? rest : rg_least;
    const int most_step = rg_most > fb ? rg_most_step : step_b;
    const int least_step = rg_least < fb ? rg_least_step : step_b;
    const uint32_t *const corner = nodes + (ri * step_r + gi * step_g + bi * step_b);
    const int all = step_r + step_g + step_b;
    const struct gf_rgb n0 = gf_table3d_node(corner), n1 = gf_table3d_node(corner + most_step);
    const struct gf_rgb n2 = gf_table3d_node(corner + (all - least_step));
    const struct gf_rgb n3 = gf_table3d_node(corner + all);
    const float w0 = 1.0f - most, w1 = most - middle, w2 = middle - least, w3 = least;
    const struct gf_rgb result = {
        fmaf(w3, n3.r, fmaf(w2, n2.r, fmaf(w1, n1.r, w0 * n0.r))),
        fmaf(w3, n3.g, fmaf(w2, n2.g, fmaf(w1, n1.g, w0 * n0.g))),
        fmaf(w3, n3.b, fmaf(w2, n2.b, fmaf(w1, n1.b, w0 * n0.b))),
    };
    return result;
}

#endif
