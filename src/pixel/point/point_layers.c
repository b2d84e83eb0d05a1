/* Appends the operations of point filters that read second pictures. */
#include "pixel/point/point_builder.h"

static struct gf_layer *add_layer(struct gf_point_builder *builder)
{
    const double max = gf_sample_max(builder->format);
    struct gf_layer *const layer = &builder->layer[builder->layers++];
    *layer = (struct gf_layer){.source = -1,
                               .mask = -1,
                               .max = (float)max,
                               .least = (float)(1 / max),
                               .over_alpha = gf_has_alpha(builder->format)};
    return layer;
}

static void find_place(const struct gf_point_builder *builder, struct gf_format other,
                       struct gf_point_place place, int *x, int *y)
{
    const struct gf_format own = builder->format;
    const int right = (int)gf_length_of(place.x, own.width, 0);
    const int down = (int)gf_length_of(place.y, own.height, 0);
    const bool from_right = gf_gravity_x(place.gravity, 2) == 2;
    const bool from_below = gf_gravity_y(place.gravity, 2) == 2;
    *x = gf_gravity_x(place.gravity, own.width - other.width) + (from_right ? -right : right);
    *y = gf_gravity_y(place.gravity, own.height - other.height) + (from_below ? -down : down);
}

static void append(struct gf_point_builder *builder, int kind)
{
    gf_point_append(builder, (struct gf_point_op){.kind = kind,
                                                  .max = (float)gf_sample_max(builder->format),
                                                  .d = (float)(builder->layers - 1)});
}

static void set_mask(struct gf_point_builder *builder, struct gf_layer *layer,
                     const struct gf_mask_use *mask, struct gf_point_place place)
{
    const struct gf_format format = mask->picture->image.format;
    layer->mask = builder->pictures++;
    layer->mask_of = mask->of;
    layer->inverted = mask->inverted;
    layer->mask_scale = (float)(1.0 / gf_sample_max(format));
    find_place(builder, format, place, &layer->mask_x, &layer->mask_y);
}

void gf_point_overlay(struct gf_point_builder *builder, const struct gf_picture *picture,
                      const struct gf_mask_use *mask, struct gf_point_place place, int mode,
                      double opacity)
{
    const struct gf_format format = picture->image.format;
    const double max = gf_sample_max(format);
    if (gf_colour_channels(format) == 3)
        gf_point_colour(builder);
    struct gf_layer *const layer = add_layer(builder);
    if (mask)
        set_mask(builder, layer, mask, place);
    layer->source = builder->pictures++;
    layer->mode = mode;
    layer->opacity = (float)opacity;
    layer->alpha = (float)(opacity / max);
    layer->scale = (float)(gf_sample_max(builder->format) / max);
    find_place(builder, format, place, &layer->x, &layer->y);
    append(builder, GF_POINT_OVERLAY);
}

void gf_point_mask(struct gf_point_builder *builder, const struct gf_mask_use *mask,
                   struct gf_point_place place)
{
    gf_point_opaque(builder);
    set_mask(builder, add_layer(builder), mask, place);
    append(builder, GF_POINT_MASK);
}

void gf_point_layer_shape(const struct gf_picture *picture, struct gf_format *out)
{
    if (gf_colour_channels(picture->image.format) == 3 && gf_colour_channels(*out) == 1)
        out->channels += 2;
}
