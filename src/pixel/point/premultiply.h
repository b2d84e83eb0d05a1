/* Conversion between straight alpha and 16-bit premultiplied colour. Stencils mix premultiplied
 * pixels. */
#pragma once

/* The filters that the planner puts before and after a stencil of a picture with alpha. A colour v
 * becomes v * 65535/M * a/M, alpha a becomes a * 65535/M. */
struct gf_unpremultiply {
    int bits; /* the bits of the straight picture */
};
extern const struct gf_filter gf_premultiply; /* has no params */
extern const struct gf_filter gf_unpremultiply;
/* Limits premultiplied colour to its alpha. The filter has no params. */
extern const struct gf_filter gf_limit_to_alpha;
/* Makes three equal colours of gray, and adds an alpha of M, where the result has more channels. */
struct gf_channels {
    int count; /* the channels of the result */
};
extern const struct gf_filter gf_channels;
/* Adds an alpha of M to a picture without alpha. The filter has no params. */
extern const struct gf_filter gf_opaque;
