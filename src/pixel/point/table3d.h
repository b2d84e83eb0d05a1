/* Looks up colours in a table that is a cube of RGB with nodes, for host and device. */
#pragma once

#include <stdint.h>

#include "pixel/colour.h"

/* The least and the most nodes along a side of the cube. */
enum { GF_TABLE3D_MIN = 2, GF_TABLE3D_MAX = 129 };

/* The nodes of a table before they are packed: [size][size][size][3], where red changes fastest.
 * Their numbers 0..65535 stand for least..greatest, which are parts of the full scale. */
struct gf_table3d_nodes {
    uint16_t *node;
    double least, greatest;
};

/* Returns the number of 32-bit words of a packed table. A node is two words: green (upper half)
 * with red, and blue, each 0..65535. The node of red r, green g and blue b is at ((b * size + g) *
 * size + r) * 2. */
GF_HOST_DEVICE int gf_table3d_words(int size)
{
    return 2 * size * size * size;
}

GF_HOST_DEVICE struct gf_rgb gf_table3d_node(const uint32_t *nodes, int at)
{
    const uint32_t first = nodes[at], second = nodes[at + 1];
    const struct gf_rgb v = {(float)(int)(first & 65535u), (float)(int)(first >> 16),
                             (float)(int)second};
    return v;
}

/* Four nodes between which a colour lies, as indices of words, and their weights. */
struct gf_table3d_place {
    int n0, n1, n2, n3;
    float w0, w1, w2, w3;
};

/* Finds the four nodes around a position with coordinates 0..size-1, the corners of a tetrahedron
 * (Kasson, Nin, Plouffe, Hafner: Performing color space conversions with three-dimensional linear
 * interpolation, Journal of Electronic Imaging 4(3), 1995). It is one of six in the cube of eight
 * nodes. Its edges lead from the cube's first corner along the axis with the largest fraction, then
 * along the second, then along the last. If two fractions are equal, the corner that depends on
 * their order has weight 0. */
GF_HOST_DEVICE struct gf_table3d_place gf_table3d_place_of(int size, float r, float g, float b)
{
    const float last = (float)(size - 2);
    const int ri = (int)(r < last ? r : last), gi = (int)(g < last ? g : last);
    const int bi = (int)(b < last ? b : last);
    const float fr = r - (float)ri, fg = g - (float)gi, fb = b - (float)bi;
    const int step_r = 2, step_g = 2 * size, step_b = 2 * size * size;
    const int all = step_r + step_g + step_b;
    const float rg_most = fr > fg ? fr : fg, rg_least = fr > fg ? fg : fr;
    const int rg_most_step = fr > fg ? step_r : step_g, rg_least_step = fr > fg ? step_g : step_r;
    const float most = rg_most > fb ? rg_most : fb, least = rg_least < fb ? rg_least : fb;
    const float rest = rg_most < fb ? rg_most : fb;
    const float middle = rest > rg_least ? rest : rg_least;
    const int most_step = rg_most > fb ? rg_most_step : step_b;
    const int least_step = rg_least < fb ? rg_least_step : step_b;
    const int corner = ri * step_r + gi * step_g + bi * step_b;
    const struct gf_table3d_place place = {corner,
                                           corner + most_step,
                                           corner + (all - least_step),
                                           corner + all,
                                           1.0f - most,
                                           most - middle,
                                           middle - least,
                                           least};
    return place;
}

/* Returns the interpolated colour, 0..65535. */
GF_HOST_DEVICE struct gf_rgb gf_table3d_mix(const uint32_t *nodes, struct gf_table3d_place p)
{
    const struct gf_rgb v0 = gf_table3d_node(nodes, p.n0), v1 = gf_table3d_node(nodes, p.n1);
    const struct gf_rgb v2 = gf_table3d_node(nodes, p.n2), v3 = gf_table3d_node(nodes, p.n3);
    const struct gf_rgb result = {
        fmaf(p.w3, v3.r, fmaf(p.w2, v2.r, fmaf(p.w1, v1.r, p.w0 * v0.r))),
        fmaf(p.w3, v3.g, fmaf(p.w2, v2.g, fmaf(p.w1, v1.g, p.w0 * v0.g))),
        fmaf(p.w3, v3.b, fmaf(p.w2, v2.b, fmaf(p.w1, v1.b, p.w0 * v0.b))),
    };
    return result;
}

GF_HOST_DEVICE struct gf_rgb gf_table3d_of(const uint32_t *nodes, int size, float r, float g,
                                           float b)
{
    return gf_table3d_mix(nodes, gf_table3d_place_of(size, r, g, b));
}
