/* A region of a picture: the stages of a filter run for the rows that the region touches, and their
 * result replaces the picture's pixels as far as the region covers them. All other pixels are
 * copied. */
#pragma once

#include "base/c_linkage.h"
#include "pixel/region/coverage.h"
#include "stage/stage.h"

GF_C_BEGIN

enum { GF_REGION_STAGES_MAX = 64 };

/* A rectangle within the picture that contains shapes of the region. Boxes do not overlap. The
 * stages first .. first + count - 1 of the run get columns from .. from + columns - 1 of the
 * picture, as a picture of its own. */
struct gf_region_box {
    struct gf_rectangle at;
    int first, count;
    int from, columns;
    bool covered; /* each pixel of the box is replaced entirely */
};

/* The parameters of gf_region. The planner makes them (chain/region_plan.h). */
struct gf_region_run {
    struct gf_region_cover cover;
    const struct gf_picture *mask;   /* one channel, 16 bits; the region's shapes are then unused */
    const struct gf_filter *written; /* the filter of the chain */
    int boxes, stages;
    struct gf_region_box box[GF_REGION_SHAPES_MAX];
    struct gf_stage stage[GF_REGION_STAGES_MAX];
};

/* The constants of gf_region: the offsets of the stages' constants, each a multiple of 256. */
struct gf_region_constants {
    size_t at[GF_REGION_STAGES_MAX];
};

extern const struct gf_filter gf_region;

/* The rows of one box in a band. cut[0] are the rows that the box's stages read, cut[i + 1] those
 * that its stage i makes; the last ones are replaced in the result. */
struct gf_region_band {
    const struct gf_region_box *box;
    struct gf_rows cut[GF_REGION_STAGES_MAX + 1];
    /* Parts of the scratch memory: columns of the input, the results of the stages in turn, and the
     * scratch memory of the stages. */
    unsigned char *columns, *made[2], *scratch;
};

/* Finds the rows of a box in a band of the result. Returns false if there are none. `scratch` is
 * the memory that gf_region's cpu_scratch() or cuda_scratch() asks for. */
bool gf_region_band(const struct gf_stage *stage, int box, const struct gf_view *out, void *scratch,
                    struct gf_region_band *band);
/* Returns stage i of the box with its constants, and sets the view of its result. */
struct gf_stage gf_region_stage(const struct gf_stage *stage, const struct gf_region_band *band,
                                int i, struct gf_view *out);
/* Returns the number of bytes between the rows of views in scratch memory. */
size_t gf_region_pitch(struct gf_format format);
/* Returns the mask, whose samples are those of `view`. */
struct gf_region_mask gf_region_mask_of(const struct gf_region_run *run, struct gf_format picture,
                                        const struct gf_view *view);

/* Reads a mask's file: one channel of 16 bits, its luma times its alpha. A file is read once and
 * shared. The caller returns the picture by gf_region_mask_release(). */
enum gf_status gf_region_mask_load(const char *path, const struct gf_picture **mask,
                                   struct gf_error *error) GF_CHECKED;
void gf_region_mask_release(const struct gf_picture *mask);

GF_C_END
