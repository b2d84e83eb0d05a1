/* Between straight alpha and premultiplied colour of 16 bits, in which stencils mix pixels. */
#ifndef GF_PIXEL_POINT_PREMULTIPLY_H
#define GF_PIXEL_POINT_PREMULTIPLY_H

#include "base/c_linkage.h"
#include "stage/stage.h"

GF_C_BEGIN

/* The planner puts these point filters around stencils of pictures with alpha. The colour becomes
 * v * 65535/M * a/M, alpha a * 65535/M. */
struct gf_unpremultiply {
    int bits; /* of the straight picture */
};
extern const struct gf_filter gf_premultiply; /* has no params */
extern const struct gf_filter gf_unpremultiply;
/* Premultiplied colour that exceeds its alpha becomes that alpha; has no params. */
extern const struct gf_filter gf_limit_to_alpha;
/* An alpha of M where there is no alpha; has no params. */
extern const struct gf_filter gf_opaque;

GF_C_END
#endif
