/* A stencil with the point filters before and after it as one stage, where each of them is one
 * table of 8-bit samples, or where they only premultiply RGBA8 and divide by alpha again: the
 * picture is read and written once. On the CPU, and on devices whose
 * stencil has no such kernel, the parts run one after the other, on the rows of a band. */
#ifndef GF_PIXEL_POINT_FUSED_H
#define GF_PIXEL_POINT_FUSED_H

#include "base/c_linkage.h"
#include "stage/stage.h"

GF_C_BEGIN

enum gf_fused_part { GF_FUSED_BEFORE, GF_FUSED_STENCIL, GF_FUSED_AFTER, GF_FUSED_PARTS };

/* The parameters of gf_fused: bound stages, of which those before and after the stencil are runs of
 * point filters (gf_point_is_table()) or have no filter. */
struct gf_fused_run {
    struct gf_stage part[GF_FUSED_PARTS];
};

/* stage->constants of gf_fused: where those of the parts begin; each begins on a multiple of 256.
 */
struct gf_fused {
    size_t at[GF_FUSED_PARTS];
};

extern const struct gf_filter gf_fused;

/* A part with its constants, of a stage that is prepared. Its filter is NULL where there is none.
 */
struct gf_stage gf_fused_part(const struct gf_stage *stage, enum gf_fused_part part);

/* What the parts leave for each other, for the rows of `out`: what the stencil reads, if there is a
 * part before it, and what it writes, which is `out` where the format is the same. */
struct gf_fused_middle {
    struct gf_view read, written;
};
/* Cuts it off the scratch memory; returns the bytes that it takes. */
size_t gf_fused_middle(const struct gf_stage *stage, const struct gf_view *out, void *scratch,
                       struct gf_fused_middle *middle);

GF_C_END
#endif
