/* The eight symmetries of a rectangle, for the filters transpose, rotate, hflip and vflip and for
 * EXIF's orientation. A filter passes its symmetry to the functions below. prepare() stores it in
 * stage->constants, where both backends read it. */
#pragma once

#include "base/host_device.h"
#include "stage/stage.h"

GF_C_BEGIN

/* A symmetry: rows and columns are exchanged (transpose), then left and right (mirror_x), then top
 * and bottom (mirror_y). */
struct gf_orient {
    bool transpose, mirror_x, mirror_y;
};
extern const struct gf_filter gf_orient; /* a filter whose parameters are a struct gf_orient */

void gf_orient_shape(struct gf_orient orient, struct gf_format in, struct gf_format *out);
/* Whether the first rows of the result need the last rows or columns of the input. */
bool gf_orient_needs_whole(struct gf_orient orient);
void gf_orient_input_rows(struct gf_orient orient, const struct gf_stage *stage, int y0, int y1,
                          int *first, int *end);
void gf_orient_cpu(const struct gf_stage *stage, const struct gf_view *in,
                   const struct gf_view *out, void *scratch);
extern gf_launcher gf_orient_cuda, gf_orient_stacked_cuda;

/* Defines the functions of a filter's declaration, which pass its symmetry orient_of_(params) to
 * the functions above; GF_ORIENT_FILTER sets the members of the declaration. */
#define GF_ORIENT_FUNCTIONS(orient_of_) \
    static enum gf_status shape(const void *params, struct gf_format in, struct gf_format *out, \
                                struct gf_error *error) \
    { \
        gf_orient_shape(orient_of_(params), in, out); \
        return GF_OK; \
    } \
    static bool needs_whole(const void *params) \
    { \
        return gf_orient_needs_whole(orient_of_(params)); \
    } \
    static void input_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end) \
    { \
        gf_orient_input_rows(orient_of_(stage->params), stage, y0, y1, first, end); \
    } \
    static enum gf_status prepare(struct gf_stage *stage, struct gf_error *error) \
    { \
        *(struct gf_orient *)stage->constants = orient_of_(stage->params); \
        return GF_OK; \
    }
#define GF_ORIENT_FILTER \
    .takes_floats = true, .shape = shape, .needs_whole = needs_whole, .input_rows = input_rows, \
    .prepare = prepare, .constants_size = sizeof(struct gf_orient), .cpu = gf_orient_cpu, \
    .cpu_intrinsics = true, .cuda_floats = GF_CUDA_FLOATS(gf_orient_cuda, NULL)

/* The entry for GF_CUDA(), the list of kernels, of a filter that transposes. */
#define GF_TRANSPOSE_KERNEL \
    { \
        GF_VARIANT("tiled", gf_orient_cuda, \
                   "padded tile in shared memory, 16 bytes an access, 4 x 4 pixels turned in " \
                   "registers (Best Practices 9.2.3.3)") \
    }

GF_C_END
