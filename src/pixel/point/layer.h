/* A layer, which is a second picture on top of the first, for both compilers. Compositing as in
 * W3C's "Compositing and Blending Level 1" (2024), chapters 5 and 10: as and ab are the alphas of
 * source and backdrop, Cs and Cb their straight colours, B the blend mode; ao = as + ab (1 - as),
 * Co ao = as ((1 - ab) Cs + ab B(Cb, Cs)) + (1 - as) ab Cb. */
#pragma once

#include <stdint.h>

#include "pixel/point/blend.h"
#include "stage/picture.h"

/* A mask's value at a pixel is the pixel's luma or its alpha. */
enum gf_mask_of { GF_MASK_LUMA, GF_MASK_ALPHA };

/* A layer as part of a point program's constants. source and mask are indices in the stage's list
 * of pictures (-1: none). (x, y) is the position of the source's first pixel on the picture. */
struct gf_layer {
    int source, mask;
    int x, y, mask_x, mask_y;
    int mode;         /* enum gf_blend */
    int over_alpha;   /* the backdrop has alpha */
    int mask_of;      /* enum gf_mask_of */
    int inverted;     /* use 1 minus the mask's value */
    float max, least; /* M of the picture, and 1 / M */
    float scale;      /* factor from the source's samples to the picture's */
    float opacity;    /* 0..1, a factor of the source's alpha */
    float alpha;      /* opacity / M of the source, for alpha in samples */
    float mask_scale; /* 1 / M of the mask */
};

/* Returns the mask's value at a pixel, 0..1. A gray mask has equal r, g and b. A mask without alpha
 * has an alpha of 1. */
GF_HOST_DEVICE float gf_layer_mask_of(const struct gf_layer *layer, struct gf_rgb p, float alpha)
{
    const float luma = ((p.r * 77.0f + p.g * 150.0f) + p.b * 29.0f) * (1.0f / 256.0f);
    const float lit = luma * layer->mask_scale * alpha;
    const float part = layer->mask_of == GF_MASK_LUMA ? lit : alpha;
    return layer->inverted ? 1.0f - part : part;
}

/* Returns the blended colour B of one channel, in 0..M. */
GF_HOST_DEVICE float gf_layer_blend(int mode, const struct gf_layer *layer, float v, float s)
{
    return gf_blend_channel(mode, v * layer->least, s * layer->least) * layer->max;
}

GF_HOST_DEVICE struct gf_rgb gf_layer_blend_colour(int mode, const struct gf_layer *layer,
                                                   struct gf_rgb v, struct gf_rgb s)
{
    const float k = layer->least, max = layer->max;
    const struct gf_rgb b = {v.r * k, v.g * k, v.b * k}, t = {s.r * k, s.g * k, s.b * k};
    const struct gf_rgb mixed = gf_blend_colour(mode, b, t);
    const struct gf_rgb scaled = {mixed.r * max, mixed.g * max, mixed.b * max};
    return scaled;
}

/* Composites one channel on an opaque backdrop v. */
GF_HOST_DEVICE float gf_layer_mix(const struct gf_layer *layer, float v, float blended, float as)
{
    return gf_clamp(fmaf(as, blended - v, v), layer->max);
}

GF_HOST_DEVICE float gf_layer_union(float as, float ab)
{
    return as + ab * (1.0f - as);
}

/* Composites one channel on a backdrop with alpha ab. The result has alpha ao. */
GF_HOST_DEVICE float gf_layer_over(const struct gf_layer *layer, float v, float s, float blended,
                                   float as, float ab, float ao)
{
    const float source = (1.0f - ab) * s + ab * blended;
    const float sum = as * source + (1.0f - as) * ab * v;
    const float straight = gf_clamp(sum / (ao > 0.0f ? ao : 1.0f), layer->max);
    return as > 0.0f ? straight : v;
}

/* Returns the alpha of the result, 0..M. `alpha` is the alpha of the backdrop, 0..M. */
GF_HOST_DEVICE float gf_layer_alpha(const struct gf_layer *layer, float alpha, float ao, float as)
{
    return as > 0.0f ? gf_clamp(ao * layer->max, layer->max) : alpha;
}
