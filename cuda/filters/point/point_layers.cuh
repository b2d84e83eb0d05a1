/* Second pictures in runs of point filters. */
#pragma once

#include "pixel/point/layer.h"
#include "stage/stage.h"
#include "stage/view.h"

/* A second picture in device memory. */
struct layer_source {
    const unsigned char *data;
    size_t pitch;
    int width, height, channels, bits;
};

static inline struct layer_source layer_source_of(const struct gf_view &view)
{
    struct layer_source source;
    source.data = view.data;
    source.pitch = view.pitch;
    source.width = view.format.width;
    source.height = view.format.height;
    source.channels = view.format.channels;
    source.bits = view.format.bits;
    return source;
}

/* The samples of a pixel. A gray sample is in all three colours, and alpha is `opaque` if there is
 * none. Beyond the picture all samples are 0. */
struct layer_pixel {
    struct gf_rgb colour;
    float alpha;
};

template <typename SAMPLE>
static __device__ __forceinline__ struct layer_pixel samples_at(const struct layer_source &source,
                                                                int x, int y, float opaque)
{
    const SAMPLE *const at =
        (const SAMPLE *)(source.data + (size_t)y * source.pitch) + (size_t)x * source.channels;
    struct layer_pixel p;
    p.colour.r = p.colour.g = p.colour.b = (float)(int)at[0];
    if (source.channels >= 3) {
        p.colour.g = (float)(int)at[1];
        p.colour.b = (float)(int)at[2];
    }
    p.alpha = source.channels % 2 == 0 ? (float)(int)at[source.channels - 1] : opaque;
    return p;
}

static __device__ __forceinline__ struct layer_pixel pixel_at(const struct layer_source &source,
                                                              int x, int y, float opaque)
{
    if (x < 0 || y < 0 || x >= source.width || y >= source.height)
        return {{0.0f, 0.0f, 0.0f}, 0.0f};
    return source.bits == 8 ? samples_at<unsigned char>(source, x, y, opaque)
                            : samples_at<unsigned short>(source, x, y, opaque);
}

/* Returns the value of the layer's mask, whose pixel is `p`. */
static __device__ __forceinline__ float
mask_of(const struct gf_layer &layer, const struct layer_source &mask, const struct layer_pixel &p)
{
    const float scale = mask.channels % 2 == 0 ? layer.mask_scale : 1.0f;
    return gf_layer_mask_of(&layer, p.colour, p.alpha * scale);
}

/* Returns the value of the layer's mask at that pixel of the picture. */
static __device__ __forceinline__ float mask_at(const struct gf_layer &layer,
                                                const struct layer_source &mask, int x, int y)
{
    return mask_of(layer, mask, pixel_at(mask, x - layer.mask_x, y - layer.mask_y, 1.0f));
}

#define BLEND_SEPARABLE_CASE(name) \
    case GF_BLEND_##name: \
        return {gf_layer_blend(GF_BLEND_##name, &layer, v.r, s.r), \
                gf_layer_blend(GF_BLEND_##name, &layer, v.g, s.g), \
                gf_layer_blend(GF_BLEND_##name, &layer, v.b, s.b)};
#define BLEND_JOINT_CASE(name) \
    case GF_BLEND_##name: \
        return gf_layer_blend_colour(GF_BLEND_##name, &layer, v, s);

/* Returns the blended colour B; for a gray picture all three samples are equal. */
static __device__ __noinline__ struct gf_rgb blended_of(const struct gf_layer &layer,
                                                        struct gf_rgb v, struct gf_rgb s)
{
    switch (layer.mode) {
        GF_BLEND_SEPARABLE(BLEND_SEPARABLE_CASE)
        GF_BLEND_JOINT(BLEND_JOINT_CASE)
    default:
        return s;
    }
}

/* Applies the layer to a pixel, in place. `p` is the source's pixel and `part` the mask's value. */
static __device__ __forceinline__ void lay_pixel(const struct gf_layer &layer,
                                                 const struct layer_source &source,
                                                 const struct layer_pixel &p, float part,
                                                 struct gf_rgb *v, float *alpha)
{
    const struct gf_rgb s = {p.colour.r * layer.scale, p.colour.g * layer.scale,
                             p.colour.b * layer.scale};
    const float own = source.channels % 2 == 0 ? p.alpha * layer.alpha : p.alpha;
    const float as = own * part;
    const struct gf_rgb b = layer.mode == GF_BLEND_NORMAL ? s : blended_of(layer, *v, s);
    if (!layer.over_alpha) {
        v->r = gf_layer_mix(&layer, v->r, b.r, as);
        v->g = gf_layer_mix(&layer, v->g, b.g, as);
        v->b = gf_layer_mix(&layer, v->b, b.b, as);
        return;
    }
    const float ab = *alpha * layer.least, ao = gf_layer_union(as, ab);
    v->r = gf_layer_over(&layer, v->r, s.r, b.r, as, ab, ao);
    v->g = gf_layer_over(&layer, v->g, s.g, b.g, as, ab, ao);
    v->b = gf_layer_over(&layer, v->b, s.b, b.b, as, ab, ao);
    *alpha = gf_layer_alpha(&layer, *alpha, ao, as);
}

/* Runs mask on 8-bit colour (point_mask.cu). Returns cudaErrorNotSupported for other runs. */
int gf_point_mask8(const struct gf_launch *launch);

/* Runs one overlay or mask without another point filter beside it (point_layer.cu). Returns
 * cudaErrorNotSupported for other runs. */
int gf_point_layer(const struct gf_launch *launch);
