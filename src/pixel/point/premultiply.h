/* Conversion between straight alpha and premultiplied colour of 16 bits, with which stencils mix
 * pixels. */
#ifndef GF_PIXEL_POINT_PREMULTIPLY_H
#define GF_PIXEL_POINT_PREMULTIPLY_H

#include "base/c_linkage.h"
#include "stage/stage.h"

GF_C_BEGIN

/* Point filters that the planner puts before and behind stencils of pictures with alpha. A colour v
 * becomes v * 65535/M * a/M, alpha a becomes a * 65535/M. */
struct gf_unpremultiply {
    int bits; /* of the straight picture */
};
extern const struct gf_filter gf_premultiply; /* has no params */
extern const struct gf_filter gf_unpremultiply;
/* Premultiplied colour that exceeds its alpha becomes that alpha. The filter has no params. */
extern const struct gf_filter gf_limit_to_alpha;
/* Adds an alpha of M where there is none. The filter has no params. */
extern const struct gf_filter gf_opaque;

GF_C_END
#endif
