/* Straight colour to premultiplied colour, and back. */
#ifndef GF_PIXEL_PREMULTIPLY_H
#define GF_PIXEL_PREMULTIPLY_H

#include "stage/stage.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Internal point filters that the planner puts around stencils of pictures with alpha. The colour
 * is held premultiplied in 16 bits: p = v * 65535/M * a/M, alpha a * 65535/M. */
struct gf_unpremultiply {
    int bits; /* of the straight picture */
};
extern const struct gf_filter gf_premultiply; /* no params: NULL */
extern const struct gf_filter gf_unpremultiply;

#ifdef __cplusplus
}
#endif
#endif
