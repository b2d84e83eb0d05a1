/* Layers and masks on planes of floats. A second picture of any samples is read as floats; its
 * alpha and what a mask lets through are limited to 0..1, colours are not. */
#include <string.h>

#include "base/cpu.h"
#include "pixel/float_rows.h"
#include "pixel/point/point_planes.h"

/* Reads pixels of row y of a second picture into planes, from column x on. Pixels outside of it are
 * 0. A gray sample goes into all three colours. Alpha is 1 if the picture has none. Returns false
 * if no pixel is within it. */
static bool read_piece(const struct gf_picture *picture, int x, int y, struct gf_planes *p)
{
    const struct gf_image *const image = picture->floats.data ? &picture->floats : &picture->image;
    const struct gf_format format = image->format;
    const int channels = format.channels, colours = gf_colour_channels(format);
    const int begin = x < 0 ? 0 : x, at = begin - x;
    const int left = format.width - begin, room = GF_PIECE - at, n = left < room ? left : room;
    float row[4 * GF_PIECE];
    memset(p, 0, sizeof *p);
    if (y < 0 || y >= format.height || n <= 0)
        return false;
    const size_t pixel_bytes = (size_t)channels * (size_t)(format.bits / 8);
    gf_floats_of_row(image->data + (size_t)y * image->pitch + (size_t)begin * pixel_bytes, format,
                     (size_t)n * (size_t)channels, row);
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < 3; c++)
            p->colour[c][at + i] = row[i * channels + (c < colours ? c : 0)];
        p->alpha[at + i] = gf_has_alpha(format) ? row[i * channels + channels - 1] : 1.0f;
    }
    return true;
}

/* Limits v to 0..1. NaN stays NaN. */
GF_INLINE float limited(float v)
{
    const float low = v < 0.0f ? 0.0f : v;
    return low > 1.0f ? 1.0f : low;
}

/* Sets the plane to the mask's values. */
GF_TARGET_CLONES static void find_mask(const struct gf_layer layer,
                                       const struct gf_planes *restrict mask, float *restrict part)
{
    for (int i = 0; i < GF_PIECE; i++) {
        const struct gf_rgb p = {mask->colour[0][i], mask->colour[1][i], mask->colour[2][i]};
        part[i] = limited(gf_layer_mask_of(&layer, p, mask->alpha[i]));
    }
}

/* Makes as of the source's alpha: limits it, and multiplies it by the opacity and the mask. */
GF_TARGET_CLONES static void find_alpha(const float opacity, const float *restrict mask,
                                        float *restrict alpha)
{
    for (int i = 0; i < GF_PIECE; i++)
        alpha[i] = limited(alpha[i]) * opacity * mask[i];
}

GF_TARGET_CLONES static void multiply(const float *restrict by, float *restrict v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_layer_share(by[i], v[i]);
}

/* Defines a function for one blend mode, so that compilers vectorise its loop. */
#define BLEND_CHANNELS(name) \
    GF_TARGET_CLONES static void blend_##name(int colours, const struct gf_planes *restrict v, \
                                              const struct gf_planes *restrict s, \
                                              struct gf_planes *restrict to) \
    { \
        for (int c = 0; c < colours; c++) { \
            for (int i = 0; i < GF_PIECE; i++) \
                to->colour[c][i] = \
                    gf_blend_float(GF_BLEND_##name, v->colour[c][i], s->colour[c][i]); \
        } \
    }
#define BLEND_COLOUR(name) \
    GF_TARGET_CLONES static void blend_##name(int colours, const struct gf_planes *restrict v, \
                                              const struct gf_planes *restrict s, \
                                              struct gf_planes *restrict to) \
    { \
        for (int i = 0; i < GF_PIECE; i++) { \
            const struct gf_rgb b = {v->colour[0][i], v->colour[1][i], v->colour[2][i]}; \
            const struct gf_rgb t = {s->colour[0][i], s->colour[1][i], s->colour[2][i]}; \
            const struct gf_rgb mixed = gf_blend_colour_float(GF_BLEND_##name, b, t); \
            to->colour[0][i] = mixed.r; \
            to->colour[1][i] = mixed.g; \
            to->colour[2][i] = mixed.b; \
        } \
    }
GF_BLEND_SEPARABLE(BLEND_CHANNELS)
GF_BLEND_JOINT(BLEND_COLOUR)

#define BLEND_ENTRY(name) [GF_BLEND_##name] = blend_##name,
static void (*const blend[])(int colours, const struct gf_planes *v, const struct gf_planes *s,
                             struct gf_planes *to) = {GF_BLEND_SEPARABLE(BLEND_ENTRY)
                                                          GF_BLEND_JOINT(BLEND_ENTRY)};

GF_TARGET_CLONES static void mix(const float *restrict blended, const float *restrict as,
                                 float *restrict v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_layer_mix_float(v[i], blended[i], as[i]);
}

GF_TARGET_CLONES static void over(const float *restrict s, const float *restrict blended,
                                  const float *restrict as, const float *restrict alpha,
                                  float *restrict v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_layer_over_float(v[i], s[i], blended[i], as[i], alpha[i]);
}

GF_TARGET_CLONES static void unite_alpha(const float *restrict as, float *restrict alpha)
{
    for (int i = 0; i < GF_PIECE; i++)
        alpha[i] = as[i] == 0.0f ? alpha[i] : gf_layer_union(as[i], alpha[i]);
}

void gf_floats_layer(const struct gf_layer *layer, const struct gf_picture *const *pictures,
                     int colours, int x, int y, struct gf_planes *p)
{
    _Alignas(64) struct gf_planes source, made;
    float part[GF_PIECE];
    for (int i = 0; i < GF_PIECE; i++)
        part[i] = 1.0f;
    if (layer->mask >= 0) {
        read_piece(pictures[layer->mask], x - layer->mask_x, y - layer->mask_y, &source);
        find_mask(*layer, &source, part);
    }
    if (layer->source < 0) {
        multiply(part, p->alpha);
        return;
    }
    if (!read_piece(pictures[layer->source], x - layer->x, y - layer->y, &source))
        return;
    const struct gf_planes *blended = &source;
    find_alpha(layer->opacity, part, source.alpha);
    if (layer->mode != GF_BLEND_NORMAL) {
        for (int c = 1; c < 3 && colours == 1; c++)
            memcpy(p->colour[c], p->colour[0], sizeof p->colour[0]);
        blend[layer->mode](colours, p, &source, &made);
        blended = &made;
    }
    for (int c = 0; c < colours; c++) {
        if (layer->over_alpha)
            over(source.colour[c], blended->colour[c], source.alpha, p->alpha, p->colour[c]);
        else
            mix(blended->colour[c], source.alpha, p->colour[c]);
    }
    if (layer->over_alpha)
        unite_alpha(source.alpha, p->alpha);
}
