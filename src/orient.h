/* The eight symmetries of the rectangle, one implementation for transpose, rotate, hflip, vflip and
 * the EXIF orientation. The parts of a declaration that depend on the symmetry: a filter passes its
 * own, and prepare() leaves it in stage->constants, where both backends find it. */
#ifndef GF_ORIENT_H
#define GF_ORIENT_H

#include "stage.h"

#ifdef __cplusplus
extern "C" {
#endif

void gf_orient_shape(struct gf_orient orient, struct gf_format in, struct gf_format *out);
/* Rows come in reverse order, or from columns. */
bool gf_orient_whole(struct gf_orient orient);
void gf_orient_needs(struct gf_orient orient, const struct gf_stage *stage, int y0, int y1,
                     int *first, int *end);
enum gf_status gf_orient_prepare(struct gf_orient orient, struct gf_stage *stage,
                                 struct gf_error *error) GF_CHECKED;

void gf_orient_cpu(const struct gf_stage *stage, const struct gf_view *in,
                   const struct gf_view *out, void *scratch);
extern gf_launcher gf_orient_cuda;

#ifdef __cplusplus
}
#endif
#endif
