/* A stage: a filter with its parameters, bound to the format of its input. */
#pragma once

#include "base/host_device.h"
#include "icc/icc.h"
#include "stage/filter.h"

GF_C_BEGIN

struct gf_stage {
    const struct gf_filter *filter;
    const void *params;               /* the parameters, a struct of the filter */
    const struct gf_variant *variant; /* the variant that the user chose; NULL: the default */
    const struct gf_filter *written;  /* the filter of the user's chain of which this one does a
                                       * part, for messages; may be NULL */
    struct gf_format in, out;
    /* GF_COLOUR: the profile of the input; its bytes are valid as long as the stage. */
    struct gf_icc icc;
    const struct gf_histogram *histogram; /* the histogram of the stage's input, if it needs one */
    /* What prepare() computes once for both backends, such as taps and tables: one block without
     * pointers, since the CUDA backend copies it to the device. The stage frees it. */
    void *constants;
    size_t constants_size;
};

/* Whether the stage reads or makes floats. */
static inline bool gf_stage_has_floats(const struct gf_stage *stage)
{
    return gf_is_float(stage->in) || gf_is_float(stage->out);
}

/* Binds a filter to the format of its input, and lets its shape() set the format of the result. */
enum gf_status gf_stage_bind(struct gf_stage *stage, const struct gf_filter *filter,
                             const void *params, struct gf_format in,
                             struct gf_error *error) GF_CHECKED;
enum gf_status gf_stage_prepare(struct gf_stage *stage, struct gf_error *error) GF_CHECKED;
void gf_stage_release(struct gf_stage *stage); /* frees stage->constants */
/* Returns the bytes, a multiple of 256, that one part of a stage of several parts takes in a block
 * of constants or of scratch memory. */
static inline size_t gf_part_bytes(size_t size)
{
    return (size + 255) / 256 * 256;
}
/* Prepares a stage that runs the stages part[0 .. parts - 1], of which those without a filter are
 * left out. Its constants begin with a head of at_bytes bytes, in which at[i] becomes the offset of
 * the constants of part i; these follow. */
enum gf_status gf_stage_prepare_parts(struct gf_stage *stage, struct gf_stage *part, int parts,
                                      size_t *at, size_t at_bytes,
                                      struct gf_error *error) GF_CHECKED;
/* Returns the bytes of scratch memory on a device for `rows` rows of the result, by the stage's
 * variant or else its filter. */
size_t gf_stage_cuda_scratch(const struct gf_stage *stage, int rows);
/* Allocates stage->constants, zeroed. */
enum gf_status gf_stage_constants(struct gf_stage *stage, size_t size,
                                  struct gf_error *error) GF_CHECKED;

/* The functions from here on evaluate the filter's declaration (stage/filter.h) for this stage. */
void gf_stage_input_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end);
bool gf_stage_needs_whole(const struct gf_stage *stage);
/* Whether the number of input rows that some rows of the result depend on has a known limit;
 * otherwise they may be all. */
bool gf_stage_rows_known(const struct gf_stage *stage);
/* Lists the second pictures that the stage reads, in the order of launch->pictures. Returns how
 * many. */
int gf_stage_pictures(const struct gf_stage *stage,
                      const struct gf_picture *list[GF_STAGE_PICTURES_MAX]);
int gf_stage_radius(const struct gf_stage *stage); /* 0 if the filter declares none */
int gf_stage_border(const struct gf_stage *stage); /* enum gf_border; EDGE if the filter has no
                                                    * border */
/* Returns the number of a film's frames whose histograms are added for the filter. */
int gf_filter_smooth(const struct gf_filter *filter, const void *params);
/* What the stage counts of its input. */
enum gf_statistic gf_stage_statistic(const struct gf_stage *stage);

GF_C_END
