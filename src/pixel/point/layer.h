/* Second pictures on top of the first, for host and device. The first part are the blend modes of
 * W3C's "Compositing and Blending Level 1" (2024), chapter 9. A mode computes a colour from a
 * source s on a backdrop b; both are straight (not premultiplied) colours in 0..1. */
#pragma once

#include <math.h>
#include <stdint.h>

#include "base/host_device.h"
#include "pixel/colour.h"

/* The modes in the order of GF_BLEND_NAMES: first the separable modes, which blend each channel by
 * itself, then the modes that need all channels. */
#define GF_BLEND_SEPARABLE(MODE) \
    MODE(MULTIPLY) \
    MODE(SCREEN) \
    MODE(OVERLAY) \
    MODE(DARKEN) \
    MODE(LIGHTEN) \
    MODE(COLOR_DODGE) \
    MODE(COLOR_BURN) \
    MODE(HARD_LIGHT) \
    MODE(SOFT_LIGHT) \
    MODE(DIFFERENCE) \
    MODE(EXCLUSION)
#define GF_BLEND_JOINT(MODE) \
    MODE(HUE) \
    MODE(SATURATION) \
    MODE(COLOR) \
    MODE(LUMINOSITY)
#define GF_BLEND_MODE_(name) GF_BLEND_##name,

enum gf_blend {
    GF_BLEND_NORMAL,
    GF_BLEND_SEPARABLE(GF_BLEND_MODE_) GF_BLEND_JOINT(GF_BLEND_MODE_)
};

#define GF_BLEND_NAMES \
    { \
        "normal", "multiply", "screen", "overlay", "darken", "lighten", "color-dodge", \
            "color-burn", "hard-light", "soft-light", "difference", "exclusion", "hue", \
            "saturation", "color", "luminosity", NULL \
    }

/* Where a mode goes on beyond 0..1, `floats` is set, a constant: see the definition of overlay. */

GF_HOST_DEVICE int gf_blend_beyond(float b, float s)
{
    return b < 0.0f || b > 1.0f || s < 0.0f || s > 1.0f;
}

GF_HOST_DEVICE float gf_blend_screen(float b, float s, const int floats)
{
    const float larger = b > s ? b : s, screen = b + s - b * s;
    return floats && gf_blend_beyond(b, s) ? larger : screen;
}

GF_HOST_DEVICE float gf_blend_hard_light(float b, float s, const int floats)
{
    const float twice = s + s, lit = gf_blend_screen(b, twice - 1.0f, floats);
    return s <= 0.5f ? b * twice : lit;
}

GF_HOST_DEVICE float gf_blend_dodge(float b, float s, const int floats)
{
    const float room = 1.0f - s, lit = b / (room > 0.0f ? room : 1.0f);
    const float most = floats && b > 1.0f ? b : 1.0f;
    const float v = room > 0.0f && lit < most ? lit : most;
    return b > 0.0f ? v : floats ? b : 0.0f;
}

GF_HOST_DEVICE float gf_blend_burn(float b, float s, const int floats)
{
    const float rest = (1.0f - b) / (s > 0.0f ? s : 1.0f);
    const float most = floats && b < 0.0f ? 1.0f - b : 1.0f, least = floats && b < 0.0f ? b : 0.0f;
    const float v = s > 0.0f && rest < most ? 1.0f - rest : least;
    return b < 1.0f ? v : floats ? b : 1.0f;
}

/* Returns what the backdrop b becomes under a white layer in the mode SOFT_LIGHT. */
GF_HOST_DEVICE float gf_blend_lighter(float b)
{
    const float cubic = ((16.0f * b - 12.0f) * b + 4.0f) * b, root = sqrtf(b);
    return b <= 0.25f ? cubic : root;
}

/* Blends one channel by SOFT_LIGHT; `lighter` is gf_blend_lighter(b). */
GF_HOST_DEVICE float gf_blend_soft_light(float b, float s, float lighter)
{
    const float over = s + s - 1.0f;
    const float low = b + over * b * (1.0f - b), high = b + over * (lighter - b);
    return s <= 0.5f ? low : high;
}

/* Blends one channel by a separable mode or NORMAL. */
GF_HOST_DEVICE float gf_blend_of(int mode, float b, float s, const int floats)
{
    switch (mode) {
    case GF_BLEND_MULTIPLY:
        return b * s;
    case GF_BLEND_SCREEN:
        return gf_blend_screen(b, s, floats);
    case GF_BLEND_OVERLAY:
        return gf_blend_hard_light(s, b, floats);
    case GF_BLEND_DARKEN:
        return b < s ? b : s;
    case GF_BLEND_LIGHTEN:
        return b > s ? b : s;
    case GF_BLEND_COLOR_DODGE:
        return gf_blend_dodge(b, s, floats);
    case GF_BLEND_COLOR_BURN:
        return gf_blend_burn(b, s, floats);
    case GF_BLEND_HARD_LIGHT:
        return gf_blend_hard_light(b, s, floats);
    case GF_BLEND_SOFT_LIGHT:
        return floats && gf_blend_beyond(b, 0.0f) ? b
                                                  : gf_blend_soft_light(b, s, gf_blend_lighter(b));
    case GF_BLEND_DIFFERENCE:
        return b > s ? b - s : s - b;
    case GF_BLEND_EXCLUSION:
        if (floats && gf_blend_beyond(b, s))
            return b > s ? b - s : s - b;
        return b + s - 2.0f * b * s;
    default:
        return s;
    }
}

GF_HOST_DEVICE float gf_blend_channel(int mode, float b, float s)
{
    return gf_blend_of(mode, b, s, 0);
}

/* Blends one channel of floats. NaN in b or s gives NaN. */
GF_HOST_DEVICE float gf_blend_float(int mode, float b, float s)
{
    const float v = gf_blend_of(mode, b, s, 1);
    return b == b && s == s ? v : b + s;
}

GF_HOST_DEVICE float gf_blend_most(struct gf_rgb p)
{
    const float rg = p.r > p.g ? p.r : p.g;
    return rg > p.b ? rg : p.b;
}

GF_HOST_DEVICE float gf_blend_least(struct gf_rgb p)
{
    const float rg = p.r < p.g ? p.r : p.g;
    return rg < p.b ? rg : p.b;
}

/* Returns the luminosity of a colour, Lum() in the specification. */
GF_HOST_DEVICE float gf_blend_lum(struct gf_rgb p)
{
    return fmaf(0.3f, p.r, fmaf(0.59f, p.g, 0.11f * p.b));
}

/* Computes the specification's SetLum() with ClipColor(): gives the colour the luminosity l, and
 * moves it towards gray if a channel would leave floor..ceiling, which is 0..1 there. */
GF_HOST_DEVICE struct gf_rgb gf_blend_set_lum(struct gf_rgb p, float l, float floor, float ceiling)
{
    const float d = l - gf_blend_lum(p);
    const struct gf_rgb moved = {p.r + d, p.g + d, p.b + d};
    const float least = gf_blend_least(moved), most = gf_blend_most(moved);
    const float below = l - least, above = most - l;
    const float low = (l - floor) / (below > 0.0f ? below : 1.0f);
    const float high = (ceiling - l) / (above > 0.0f ? above : 1.0f);
    const float by_low = least < floor ? low : 1.0f, by_high = most > ceiling ? high : 1.0f;
    const float factor = by_low < by_high ? by_low : by_high;
    const struct gf_rgb clipped = {fmaf(moved.r - l, factor, l), fmaf(moved.g - l, factor, l),
                                   fmaf(moved.b - l, factor, l)};
    return clipped;
}

/* Computes the specification's SetSat(): keeps the order of the channels; the smallest channel
 * becomes 0 and the largest s. */
GF_HOST_DEVICE struct gf_rgb gf_blend_set_sat(struct gf_rgb p, float s)
{
    const float least = gf_blend_least(p), range = gf_blend_most(p) - least;
    const float factor = range > 0.0f ? s / range : 0.0f;
    const struct gf_rgb set = {(p.r - least) * factor, (p.g - least) * factor,
                               (p.b - least) * factor};
    return set;
}

/* Blends a colour by a mode that needs all channels, HUE to LUMINOSITY, within floor..ceiling. */
GF_HOST_DEVICE struct gf_rgb gf_blend_colour_within(int mode, struct gf_rgb b, struct gf_rgb s,
                                                    float floor, float ceiling)
{
    const struct gf_rgb from = mode == GF_BLEND_SATURATION || mode == GF_BLEND_LUMINOSITY ? b : s;
    const float lum = gf_blend_lum(mode == GF_BLEND_LUMINOSITY ? s : b);
    const struct gf_rgb other = mode == GF_BLEND_HUE ? b : s;
    const struct gf_rgb set = gf_blend_set_sat(from, gf_blend_most(other) - gf_blend_least(other));
    return gf_blend_set_lum(mode == GF_BLEND_HUE || mode == GF_BLEND_SATURATION ? set : from, lum,
                            floor, ceiling);
}

GF_HOST_DEVICE struct gf_rgb gf_blend_colour(int mode, struct gf_rgb b, struct gf_rgb s)
{
    return gf_blend_colour_within(mode, b, s, 0.0f, 1.0f);
}

/* Blends a colour of floats by a mode that needs all channels; 0..1, to which they are limited, is
 * widened by both colours. */
GF_HOST_DEVICE struct gf_rgb gf_blend_colour_float(int mode, struct gf_rgb b, struct gf_rgb s)
{
    const float least_b = gf_blend_least(b), least_s = gf_blend_least(s);
    const float most_b = gf_blend_most(b), most_s = gf_blend_most(s);
    const float least = least_b < least_s ? least_b : least_s;
    const float most = most_b > most_s ? most_b : most_s;
    const struct gf_rgb v =
        gf_blend_colour_within(mode, b, s, least < 0.0f ? least : 0.0f, most > 1.0f ? most : 1.0f);
    const float sum = b.r + b.g + b.b + s.r + s.g + s.b;
    const int whole =
        b.r == b.r && b.g == b.g && b.b == b.b && s.r == s.r && s.g == s.g && s.b == s.b;
    const struct gf_rgb kept = {whole ? v.r : sum, whole ? v.g : sum, whole ? v.b : sum};
    return kept;
}

/* A layer is a second picture on top of the first. Compositing is that of W3C's "Compositing and
 * Blending Level 1" (2024), chapters 5 and 10: as and ab are the alphas of source and backdrop, Cs
 * and Cb their straight colours, B the blend mode; ao = as + ab (1 - as), Co ao = as ((1 - ab) Cs +
 * ab B(Cb, Cs)) + (1 - as) ab Cb. */

/* Which number of a mask's pixel limits the layer: its luma or its alpha. */
enum gf_mask_of { GF_MASK_LUMA, GF_MASK_ALPHA };

/* A layer in the constants of a point program. source and mask are indices in the stage's list of
 * second pictures (-1: none). (x, y) is where the source's first pixel lies on the picture,
 * (mask_x, mask_y) the mask's. */
struct gf_layer {
    int source, mask;
    int x, y, mask_x, mask_y;
    int mode;         /* enum gf_blend */
    int over_alpha;   /* whether the backdrop has alpha */
    int mask_of;      /* enum gf_mask_of */
    int inverted;     /* whether 1 minus the mask's value is used */
    float max, least; /* M, the largest sample of the picture, and 1 / M */
    float scale;      /* the factor from samples of the source to samples of the picture */
    float opacity;    /* the factor of the source's alpha, 0..1 */
    float alpha;      /* opacity / M of the source, the factor of its alpha in samples */
    float mask_scale; /* 1 / the largest sample of the mask */
};

/* Returns the mask's value at a pixel p with that alpha, 0..1. A gray mask has equal r, g and b, a
 * mask without alpha an alpha of 1. */
GF_HOST_DEVICE float gf_layer_mask_of(const struct gf_layer *layer, struct gf_rgb p, float alpha)
{
    const float luma = ((p.r * 77.0f + p.g * 150.0f) + p.b * 29.0f) * (1.0f / 256.0f);
    const float lit = luma * layer->mask_scale * alpha;
    const float part = layer->mask_of == GF_MASK_LUMA ? lit : alpha;
    return layer->inverted ? 1.0f - part : part;
}

/* Returns one channel v of the backdrop, 0..M, blended with s of the layer by the mode. */
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

/* Composites one channel on an opaque backdrop v, 0..M; `blended` is the blended channel, `as` the
 * layer's alpha, 0..1. */
GF_HOST_DEVICE float gf_layer_mix(const struct gf_layer *layer, float v, float blended, float as)
{
    return gf_clamp(fmaf(as, blended - v, v), layer->max);
}

GF_HOST_DEVICE float gf_layer_union(float as, float ab)
{
    return as + ab * (1.0f - as);
}

/* Composites one channel s of the layer on a backdrop v with alpha ab. The result has alpha ao. */
GF_HOST_DEVICE float gf_layer_over(const struct gf_layer *layer, float v, float s, float blended,
                                   float as, float ab, float ao)
{
    const float source = (1.0f - ab) * s + ab * blended;
    const float sum = as * source + (1.0f - as) * ab * v;
    const float straight = gf_clamp(sum / (ao > 0.0f ? ao : 1.0f), layer->max);
    return as > 0.0f ? straight : v;
}

/* Returns the part w of v; a part of 0 is 0, whatever v is. */
GF_HOST_DEVICE float gf_layer_share(float w, float v)
{
    const float product = w * v;
    return w == 0.0f ? 0.0f : product;
}

/* Do on floats what gf_layer_mix() and gf_layer_over() do on samples, without limits. */
GF_HOST_DEVICE float gf_layer_mix_float(float v, float blended, float as)
{
    return gf_layer_share(as, blended) + gf_layer_share(1.0f - as, v);
}

GF_HOST_DEVICE float gf_layer_over_float(float v, float s, float blended, float as, float ab)
{
    const float ao = gf_layer_union(as, ab);
    const float source = gf_layer_share(1.0f - ab, s) + gf_layer_share(ab, blended);
    const float sum = gf_layer_share(as, source) + gf_layer_share((1.0f - as) * ab, v);
    const float straight = ao != 0.0f ? sum / ao : 0.0f;
    return as == 0.0f ? v : straight;
}

/* Returns the alpha of the result, 0..M; `alpha` is that of the backdrop. */
GF_HOST_DEVICE float gf_layer_alpha(const struct gf_layer *layer, float alpha, float ao, float as)
{
    return as > 0.0f ? gf_clamp(ao * layer->max, layer->max) : alpha;
}
