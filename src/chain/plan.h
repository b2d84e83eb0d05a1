/* The plan of a chain for pictures of one format: stages, segments, and the rows of each band. A
 * segment is stages in order that can go band by band. A new segment begins at a stage that needs
 * the whole picture, and at a stage that needs a histogram of its input; between two segments the
 * picture is whole in memory. A band is a range of rows of the segment's result. Going backwards
 * through the stages, each stage adds the rows that it needs, clamped to the picture, so that bands
 * do not depend on each other. */
#pragma once

#include <stdbool.h>

#include "base/host_device.h"
#include "chain/chain.h"
#include "chain/region.h"
#include "pixel/point/point.h"
#include "pixel/region/region.h"
#include "stage/stage.h"

GF_C_BEGIN

struct gf_segment {
    int first, count; /* the stages; with a count of 0 the picture is only read */
    /* The histogram of this segment's result that the first stage of the next segment needs. */
    enum gf_statistic statistic;
    struct gf_format in, out;
};

/* Parameters of a stage; `loaded` is the filter whose unload() frees what they refer to, or
 * NULL. */
struct gf_owned {
    void *params;
    const struct gf_filter *loaded;
};

struct gf_plan {
    struct gf_format in, out;
    struct gf_stage *stage;
    int stage_count;
    struct gf_segment *segment;
    int segment_count;
    struct gf_icc icc;      /* the profile of the result */
    bool recoloured;        /* whether a filter has set the profile */
    bool linked;            /* a device link has converted the colours last: they have no profile */
    bool flattened;         /* the picture is laid on white, since inks have no alpha */
    bool fuses;             /* stencils apply adjacent tables, now or after the plan has been cut */
    bool on_device;         /* the plan is for a device with kernels (gf_plan_request) */
    struct gf_owned *owned; /* parameters that the planner allocated, for lists of point filters,
                             * parts of filters and conversions of alpha */
    int owned_count;
};

/* The input of the planner, besides the chain and the picture's format. */
struct gf_plan_request {
    int orientation; /* EXIF's orientation, 1..8; the plan undoes it before the first filter */
    /* The profile of the picture's colours, which fits its format. Without data it is sRGB. Its
     * bytes must outlive the plan. */
    struct gf_icc icc;
    bool to_srgb;  /* after the last filter the colours are converted to sRGB */
    bool from_hdr; /* HDR becomes sRGB before the first filter, whose colours are then those of sRGB
                    */
    bool opaque;   /* the output's format has no alpha: the plan ends with flatten */
    int levels;    /* the plan ends with a dither to so many levels; 0: without */
    int bits;      /* bits of a sample of the input, as struct gf_metadata has them */
    /* Set if the file was decoded at a fraction of its size: `reduction` is 2, 4 or 8; width and
     * height are the size of the whole picture. */
    int reduction, width, height;
    bool apart; /* the plan will be cut, and fuses stencils only after the cut */
    /* The plan is for a device with kernels. Its filters whose bands may depend on most of the
     * input then convert alpha themselves, which on the CPU every band would do again. */
    bool on_device;
    const struct gf_facts_of_picture *facts; /* for texts on the picture; NULL: nothing is known */
    struct gf_found found; /* what the first filter's find() has found, if it has such a function */
};

/* Makes a plan. The chain must outlive the plan. */
enum gf_status gf_plan_make_for(const struct gf_chain *chain, struct gf_format in,
                                const struct gf_plan_request *request, struct gf_plan *plan,
                                struct gf_error *error) GF_CHECKED;
/* Makes a plan without a profile, for a result that may have alpha. */
enum gf_status gf_plan_make(const struct gf_chain *chain, struct gf_format in, int orientation,
                            struct gf_plan *plan, struct gf_error *error) GF_CHECKED;
/* Returns the number by which the picture's sides may be divided when it is decoded for this chain:
 * 1, 2, 4 or 8, and not above `most` of the decoder. */
int gf_plan_reduction(const struct gf_chain *chain, struct gf_format in, int orientation, int most);
void gf_plan_free(struct gf_plan *plan);
/* Allocates zeroed parameters for a stage; the plan owns and frees them. */
void *gf_plan_own(struct gf_plan *plan, size_t size);

/* Makes `plan` the owner of all parameters that `part` owns. */
enum gf_status gf_plan_adopt(struct gf_plan *plan, struct gf_plan *part,
                             struct gf_error *error) GF_CHECKED;

/* Returns the number of stages that the two plans have in common, from stages first_a and first_b
 * on: the same filters with the same parameters on the same formats. Both plans must be made with
 * request.apart, since fused stages are not compared. */
int gf_plan_common(const struct gf_plan *a, int first_a, const struct gf_plan *b, int first_b);
/* Moves the constants that an earlier plan `from` has prepared to the same stages of `plan`, unless
 * the constants depend on a histogram or a profile. The pictures of both plans, and the data of
 * their requests, may have been freed. */
void gf_plan_take_constants(struct gf_plan *plan, struct gf_plan *from);
/* Makes a plan of stages first .. end - 1 of a plan that was made with request.apart. The stages of
 * the part have the same bits as in the whole plan. Free the part before the whole plan. */
enum gf_status gf_plan_cut(const struct gf_plan *plan, int first, int end, struct gf_plan *part,
                           struct gf_error *error) GF_CHECKED;
/* Cuts the plan's stages into segments, as gf_plan_make_for() does. */
enum gf_status gf_plan_cut_segments(struct gf_plan *plan, struct gf_error *error) GF_CHECKED;

/* gf_plan_stage_filter() returns filter i of the filters that the stage runs, in the order of the
 * chain, including conversions that the planner added; NULL after the last. gf_plan_stage_filters()
 * returns their number. */
const struct gf_filter *gf_plan_stage_filter(const struct gf_stage *stage, int i);
int gf_plan_stage_filters(const struct gf_stage *stage);
/* Writes the stage's name: "blur", "gamma+invert", "gamma+blur+invert". */
void gf_plan_stage_name(const struct gf_stage *stage, char *name, size_t size);

enum { GF_CUTS_MAX = 128 };
/* Finds the rows of one band at every cut of a segment: cut 0 is the segment's input, cut k the
 * result of its k-th stage. */
void gf_segment_rows(const struct gf_plan *plan, const struct gf_segment *segment, int y0, int y1,
                     struct gf_rows *cut /* count + 1 elements */);

/* Fuses stages of a plan, which is the planner's last step before it cuts segments. */

/* Merges a stencil and the tables before and after it into one stage (pixel/point/fused.h);
 * likewise a stencil and the conversions of alpha around it. A table between two stencils goes to
 * the first one, which writes fewer samples than the second one reads. */
enum gf_status gf_plan_fuse(struct gf_plan *plan, struct gf_error *error) GF_CHECKED;

/* Estimates what stages cost from the declarations of their filters. */

/* Returns the ratio of a filter's measured time to its declared time. */
typedef double gf_filter_times(const void *context, const struct gf_filter *filter);

/* Returns the nanoseconds that one thread takes for all pixels of a stage. If `times` is NULL, each
 * filter takes the time that it declares. With look_ups_are_free, only the stencil of a fused stage
 * counts. */
double gf_stage_ns(const struct gf_stage *stage, gf_filter_times *times, const void *context,
                   bool look_ups_are_free);

/* Returns the number of threads, at most `most`, that save more time than their start takes for
 * pictures in memory: one for each millisecond that the plan's stages cost. */
int gf_plan_useful_threads(const struct gf_plan *plan, int most);

/* Where a result lies in the picture that a chain began with, for what belongs to that picture and
 * has another size, such as its gain map. */

enum { GF_PLACE_NAME_SIZE = 64 };
struct gf_place {
    int width, height; /* of the picture, as it was decoded */
    int reduction;     /* its sides in the file are so many times as long */
    bool turned;       /* the result's columns are rows of the picture */
    /* Where the result's first column and first row begin in the picture, and the width of a column
     * and a row; all in the picture's pixels. */
    double first[2], step[2];
    /* The first stage that moves pixels in a way that has no such numbers, and the first that
     * changes colours; "": there is none. */
    char lost[GF_PLACE_NAME_SIZE], recoloured[GF_PLACE_NAME_SIZE];
};

void gf_place_begin(struct gf_place *place, struct gf_format picture, int reduction);
/* Follows the plan's stages, which must be those after the stages that were followed before. */
enum gf_status gf_place_follow(struct gf_place *place, const struct gf_plan *plan,
                               struct gf_error *error) GF_CHECKED;
/* Whether the result is the whole picture, unmoved and of the same size. */
bool gf_place_is_same(const struct gf_place *place, struct gf_format result);

/* ---- the plan of a filter that is limited to a region ---- */

/* gf_plan_make_for(), which itself calls gf_region_plan(). */
typedef enum gf_status gf_planner(const struct gf_chain *chain, struct gf_format in,
                                  const struct gf_plan_request *request, struct gf_plan *plan,
                                  struct gf_error *error);

struct gf_region_request {
    gf_planner *plan;
    const struct gf_chain_item *item;
    struct gf_icc icc;                       /* the profile of the picture's colours */
    const struct gf_facts_of_picture *facts; /* of struct gf_plan_request */
    bool no_fuse;
};

/* Makes the parameters of gf_region for a picture with straight alpha; NULL if the filter changes
 * nothing there. *wider is set if the filter may make more channels than the picture has: the
 * picture needs them before gf_region. `plan` owns both. */
enum gf_status gf_region_plan(const struct gf_region_request *request, struct gf_format in,
                              struct gf_plan *plan, struct gf_channels **wider,
                              struct gf_region_parts **parts, struct gf_error *error) GF_CHECKED;

GF_C_END
