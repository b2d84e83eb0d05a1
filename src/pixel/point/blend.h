/* The blend modes of W3C's "Compositing and Blending Level 1" (2024), chapter 9, for both
 * compilers. A mode computes a colour from a source on a backdrop, which are straight (not
 * premultiplied) colours in 0..1. */
#pragma once

#include <math.h>

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

GF_HOST_DEVICE float gf_blend_hard_light(float b, float s)
{
    const float twice = s + s, over = twice - 1.0f;
    return s <= 0.5f ? b * twice : b + over - b * over;
}

GF_HOST_DEVICE float gf_blend_dodge(float b, float s)
{
    const float room = 1.0f - s, lit = b / (room > 0.0f ? room : 1.0f);
    const float v = room > 0.0f && lit < 1.0f ? lit : 1.0f;
    return b > 0.0f ? v : 0.0f;
}

GF_HOST_DEVICE float gf_blend_burn(float b, float s)
{
    const float rest = (1.0f - b) / (s > 0.0f ? s : 1.0f);
    const float v = s > 0.0f && rest < 1.0f ? 1.0f - rest : 0.0f;
    return b < 1.0f ? v : 1.0f;
}

/* What the backdrop b becomes where the layer of SOFT_LIGHT is white. */
GF_HOST_DEVICE float gf_blend_lighter(float b)
{
    const float cubic = ((16.0f * b - 12.0f) * b + 4.0f) * b, root = sqrtf(b);
    return b <= 0.25f ? cubic : root;
}

/* `lighter` is gf_blend_lighter(b). */
GF_HOST_DEVICE float gf_blend_soft_light(float b, float s, float lighter)
{
    const float over = s + s - 1.0f;
    const float low = b + over * b * (1.0f - b), high = b + over * (lighter - b);
    return s <= 0.5f ? low : high;
}

/* Blends one channel by a separable mode or NORMAL. */
GF_HOST_DEVICE float gf_blend_channel(int mode, float b, float s)
{
    switch (mode) {
    case GF_BLEND_MULTIPLY:
        return b * s;
    case GF_BLEND_SCREEN:
        return b + s - b * s;
    case GF_BLEND_OVERLAY:
        return gf_blend_hard_light(s, b);
    case GF_BLEND_DARKEN:
        return b < s ? b : s;
    case GF_BLEND_LIGHTEN:
        return b > s ? b : s;
    case GF_BLEND_COLOR_DODGE:
        return gf_blend_dodge(b, s);
    case GF_BLEND_COLOR_BURN:
        return gf_blend_burn(b, s);
    case GF_BLEND_HARD_LIGHT:
        return gf_blend_hard_light(b, s);
    case GF_BLEND_SOFT_LIGHT:
        return gf_blend_soft_light(b, s, gf_blend_lighter(b));
    case GF_BLEND_DIFFERENCE:
        return b > s ? b - s : s - b;
    case GF_BLEND_EXCLUSION:
        return b + s - 2.0f * b * s;
    default:
        return s;
    }
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

/* Computes the specification's Lum(). */
GF_HOST_DEVICE float gf_blend_lum(struct gf_rgb p)
{
    return fmaf(0.3f, p.r, fmaf(0.59f, p.g, 0.11f * p.b));
}

/* Computes the specification's SetLum() with ClipColor(): gives the colour the luminosity l, and
 * moves it towards gray if a channel would leave 0..1. */
GF_HOST_DEVICE struct gf_rgb gf_blend_set_lum(struct gf_rgb p, float l)
{
    const float d = l - gf_blend_lum(p);
    const struct gf_rgb moved = {p.r + d, p.g + d, p.b + d};
    const float least = gf_blend_least(moved), most = gf_blend_most(moved);
    const float below = l - least, above = most - l;
    const float low = l / (below > 0.0f ? below : 1.0f);
    const float high = (1.0f - l) / (above > 0.0f ? above : 1.0f);
    const float by_low = least < 0.0f ? low : 1.0f, by_high = most > 1.0f ? high : 1.0f;
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

/* Blends by a mode that needs all channels. */
GF_HOST_DEVICE struct gf_rgb gf_blend_colour(int mode, struct gf_rgb b, struct gf_rgb s)
{
    const struct gf_rgb from = mode == GF_BLEND_SATURATION || mode == GF_BLEND_LUMINOSITY ? b : s;
    const float lum = gf_blend_lum(mode == GF_BLEND_LUMINOSITY ? s : b);
    const struct gf_rgb other = mode == GF_BLEND_HUE ? b : s;
    const struct gf_rgb set = gf_blend_set_sat(from, gf_blend_most(other) - gf_blend_least(other));
    return gf_blend_set_lum(mode == GF_BLEND_HUE || mode == GF_BLEND_SATURATION ? set : from, lum);
}
