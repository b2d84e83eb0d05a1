/* The eight symmetries of the rectangle, for the filters transpose, rotate, hflip and vflip and for
 * EXIF's orientation. A filter passes its symmetry to the functions below; prepare() stores it in
 * stage->constants, where both backends read it. */
#ifndef GF_PIXEL_ORIENT_ORIENT_H
#define GF_PIXEL_ORIENT_ORIENT_H

#include "base/c_linkage.h"
#include "stage/stage.h"

GF_C_BEGIN

/* Rows and columns are exchanged first, then left and right, then top and bottom. */
struct gf_orient {
    bool transpose, mirror_x, mirror_y;
};
extern const struct gf_filter gf_orient; /* with params of struct gf_orient */

void gf_orient_shape(struct gf_orient orient, struct gf_format in, struct gf_format *out);
/* Whether the first rows of the result need the last rows or columns of the input. */
bool gf_orient_needs_whole(struct gf_orient orient);
void gf_orient_input_rows(struct gf_orient orient, const struct gf_stage *stage, int y0, int y1,
                          int *first, int *end);
enum gf_status gf_orient_prepare(struct gf_orient orient, struct gf_stage *stage,
                                 struct gf_error *error) GF_CHECKED;

void gf_orient_cpu(const struct gf_stage *stage, const struct gf_view *in,
                   const struct gf_view *out, void *scratch);
extern gf_launcher gf_orient_cuda;
/* These kernels accept only symmetries that transpose. */
extern gf_launcher gf_transpose_naive_cuda, gf_transpose_blocks_cuda, gf_transpose_narrow_cuda,
    gf_transpose_shared_cuda, gf_transpose_padded_cuda;

/* The kernels of a filter that transposes, for its .cuda. refuses_ is a function that gives the
 * reason why a stage does not transpose. */
#define GF_TRANSPOSE_KERNELS(refuses_) \
    {GF_VARIANT("tiled", gf_orient_cuda, \
                "padded tile in shared memory, 16 bytes an access, 4 x 4 pixels turned in " \
                "registers (Best Practices 9.2.3.3)")}, \
        {GF_STUDIED("naive", gf_transpose_naive_cuda, \
                    "one thread a pixel along the rows, scattered writes (CME 213 1D)"), \
         .refuses = refuses_}, \
        {GF_STUDIED("blocks", gf_transpose_blocks_cuda, \
                    "one thread a pixel in blocks of 32 x 32 (Programming Guide 2.2.4.1.1)"), \
         .refuses = refuses_}, \
        {GF_STUDIED("blocks-8x32", gf_transpose_narrow_cuda, \
                    "one thread a pixel in blocks of 8 x 32 (CME 213 2D)"), \
         .refuses = refuses_}, \
        {GF_STUDIED("shared", gf_transpose_shared_cuda, \
                    "tile of 32 x 32 in shared memory, unpadded (CME 213, Programming Guide " \
                    "2.2.4.2.1)"), \
         .refuses = refuses_}, \
    { \
        GF_STUDIED("padded", gf_transpose_padded_cuda, \
                   "tile of 32 x 33, without bank conflicts (CME 213, Programming Guide " \
                   "2.2.4.2.2)"), \
            .refuses = refuses_ \
    }

GF_C_END
#endif
