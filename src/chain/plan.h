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
#include "pixel/point/point.h"
#include "pixel/region/region.h"
#include "stage/stage.h"

GF_C_BEGIN

struct gf_segment {
    int first, count; /* the first stage and the number of stages; if `count` is 0, the picture is
                       * only read */
    /* What the first stage of the next segment needs counted in this segment's result. */
    enum gf_statistic statistic;
    struct gf_format in, out;
};

/* Parameters of a stage that the plan frees; `loaded` is the filter whose unload() frees the
 * contents of files in them, or NULL. */
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
    struct gf_icc icc; /* the profile of the result */
    bool recoloured;   /* whether a filter has set the profile */
    bool linked; /* the last conversion of colours was by a device link, so that the result has no
                  * profile */
    const char *smaller; /* a filter's hint that its result is smaller than asked; NULL: none is */
    bool flattened;      /* alpha was laid on white, since pictures of four inks (CMYK) have none */
    /* Stencils also apply the tables beside them, in this plan or after gf_plan_cut(). */
    bool fuses;
    /* The plan is for a device with kernels (on_device of struct gf_plan_request). */
    bool on_device;
    struct gf_owned *owned; /* parameters that the planner allocated, for lists of point filters,
                             * parts of filters and conversions of alpha */
    int owned_count;
};

/* What the planner gets besides the chain and the picture's format. */
struct gf_plan_request {
    int orientation; /* EXIF's orientation, 1..8; the plan undoes it before the first filter */
    /* The profile of the picture's colours, which fits its format. Without data it is sRGB. Its
     * bytes must outlive the plan. */
    struct gf_icc icc;
    bool to_srgb;  /* after the last filter the colours are converted to sRGB */
    bool from_hdr; /* HDR colours become sRGB before the first filter, so that all filters work on
                    * sRGB */
    bool opaque;   /* the output's format has no alpha: the plan ends with flatten */
    int levels;    /* the plan ends with an ordered dither to so many levels; 0: it does not */
    int bits;      /* bits of a sample of the file that is read (struct gf_metadata) */
    /* Set if the picture is read at a fraction of its size: `reduction` is above 1; width and
     * height are the size of the whole picture. */
    int reduction, width, height;
    /* If its width is not 0: the rectangle of the picture that the source gives, which contains
     * gf_plan_window()'s. */
    struct gf_rectangle window;
    bool apart; /* the plan will be cut by gf_plan_cut(), which then fuses stencils with their
                 * neighbours */
    /* The plan is for a device with kernels. There, a filter whose bands may depend on most of its
     * input premultiplies alpha itself as it reads; on the CPU every band would do so anew, and a
     * stage before the filter does it once. */
    bool on_device;
    /* Gives facts of the picture for texts that are drawn on it; NULL: nothing is known. */
    const struct gf_facts_of_picture *facts;
    struct gf_found found; /* what the find() of the first filter has found in the picture, if it
                            * has such a function */
};

/* Makes the plan of a chain for pictures of the format `in`. The chain must outlive the plan. */
enum gf_status gf_plan_make_for(const struct gf_chain *chain, struct gf_format in,
                                const struct gf_plan_request *request, struct gf_plan *plan,
                                struct gf_error *error) GF_CHECKED;
/* Makes a plan for pictures with sRGB colours, whose result may have alpha. */
enum gf_status gf_plan_make(const struct gf_chain *chain, struct gf_format in, int orientation,
                            struct gf_plan *plan, struct gf_error *error) GF_CHECKED;
/* Returns the largest number by which the picture's sides may be divided when it is read for this
 * chain, as gf_source_reduction() takes it. */
int gf_plan_reduction(const struct gf_chain *chain, struct gf_format in, int orientation);
/* Whether the chain has a crop, so that it may need a part of a picture alone. */
bool gf_plan_may_window(const struct gf_chain *chain);
/* Returns the rectangle of the picture that the chain needs: all of it, or what its first filters
 * and a crop behind them read. */
struct gf_rectangle gf_plan_window(const struct gf_chain *chain, struct gf_format in,
                                   const struct gf_plan_request *request);
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
/* Moves the constants that the plan `from`, an earlier one, has prepared to equal stages of `plan`,
 * unless they depend on a histogram or a profile. The pictures of both plans, and the data of their
 * requests, may have been freed. */
void gf_plan_take_constants(struct gf_plan *plan, struct gf_plan *from);
/* Makes a plan of stages first .. end - 1 of a plan that was made with request.apart. The result of
 * the part has the same bits as in the whole plan. Free the part before the whole plan. */
enum gf_status gf_plan_cut(const struct gf_plan *plan, int first, int end, struct gf_plan *part,
                           struct gf_error *error) GF_CHECKED;
/* Cuts the plan's stages into segments, as gf_plan_make_for() does. */
enum gf_status gf_plan_cut_segments(struct gf_plan *plan, struct gf_error *error) GF_CHECKED;

/* gf_plan_stage_filter() returns the i-th of the filters that the stage runs, in the order of the
 * chain, including conversions that the planner has added; NULL after the last.
 * gf_plan_stage_filters() returns how many they are. */
const struct gf_filter *gf_plan_stage_filter(const struct gf_stage *stage, int i);
int gf_plan_stage_filters(const struct gf_stage *stage);
/* Writes the names of the filters that the stage runs: "blur", "gamma+invert",
 * "gamma+blur+invert". */
void gf_plan_stage_name(const struct gf_stage *stage, char *name, size_t size);

enum { GF_CUTS_MAX = 128 };
/* Finds the rows that a band needs of the segment's input (cut[0]) and of the result of its k-th
 * stage (cut[k]), if the band is rows y0 .. y1 - 1 of the segment's result. */
void gf_segment_rows(const struct gf_plan *plan, const struct gf_segment *segment, int y0, int y1,
                     struct gf_rows *cut /* segment->count + 1 elements */);

/* Fuses stages of a plan, which is the planner's last step before it cuts segments: merges a
 * stencil and the tables before and after it into one stage (pixel/point/fused.h), and a stencil
 * and the conversions of alpha around it. A table between two stencils goes to the first one, which
 * writes fewer samples than the second one reads. */
enum gf_status gf_plan_fuse(struct gf_plan *plan, struct gf_error *error) GF_CHECKED;

/* Returns the factor by which a filter's measured time differs from the time that it declares. */
typedef double gf_filter_times(const void *context, const struct gf_filter *filter);

/* Estimates the nanoseconds that one thread takes for all pixels of a stage. If `times` is NULL,
 * each filter takes the time that it declares; otherwise that is multiplied by its result. With
 * look_ups_are_free, only the stencil of a fused stage counts. */
double gf_stage_ns(const struct gf_stage *stage, gf_filter_times *times, const void *context,
                   bool look_ups_are_free);

/* Whether the picture and the result are so small that threads are worth starting for slow filters
 * alone. */
bool gf_plan_is_small(const struct gf_plan *plan);

/* Returns the number of threads, at most `most`, that is worth starting for the stages of a small
 * picture: one for each millisecond that they take. */
int gf_plan_useful_threads(const struct gf_plan *plan, int most);

/* Where the result lies in the picture that a chain began with. A gain map, which belongs to that
 * picture and has another size, is moved accordingly. */

enum { GF_PLACE_NAME_SIZE = 64 };
struct gf_place {
    int width, height; /* the size of the picture, in pixels, as it was decoded */
    int reduction;     /* the sides of the picture in its file are so many times as long */
    bool turned;       /* a column of the result is a row of the picture */
    /* For x and y: where the result's first column or row begins in the picture, and how wide a
     * column or row is; both in pixels of the picture. */
    double first[2], step[2];
    /* The names of the first stage that moves pixels in a way that these numbers cannot describe,
     * of the first that changes colours, and of the first that resizes; "": there is none. */
    char lost[GF_PLACE_NAME_SIZE], recoloured[GF_PLACE_NAME_SIZE], resampled[GF_PLACE_NAME_SIZE];
};

void gf_place_begin(struct gf_place *place, struct gf_format picture, int reduction);
/* Applies the stages of a plan to the place. The plan must continue after the stages that were
 * applied before. */
enum gf_status gf_place_follow(struct gf_place *place, const struct gf_plan *plan,
                               struct gf_error *error) GF_CHECKED;
/* Whether the result is the whole picture, not moved and of the same size. */
bool gf_place_is_same(const struct gf_place *place, struct gf_format result);

/* The plan of a filter that is limited to a region. */

/* The type of gf_plan_make_for(), which calls gf_region_plan() and is called by it. */
typedef enum gf_status gf_planner(const struct gf_chain *chain, struct gf_format in,
                                  const struct gf_plan_request *request, struct gf_plan *plan,
                                  struct gf_error *error);

struct gf_region_request {
    gf_planner *plan;
    const struct gf_chain_item *item;
    struct gf_icc icc;                       /* the profile of the picture's colours */
    const struct gf_facts_of_picture *facts; /* as in struct gf_plan_request */
    bool no_fuse;
};

/* Plans an item whose filter is limited to a region, for a picture with straight alpha: makes
 * *parts, the parameters of the filter gf_region, or NULL if the filter changes nothing there.
 * *wider becomes the parameters of a conversion that the picture needs before, if the filter may
 * make more channels than the picture has, or NULL. `plan` owns both. */
enum gf_status gf_region_plan(const struct gf_region_request *request, struct gf_format in,
                              struct gf_plan *plan, struct gf_channels **wider,
                              struct gf_region_parts **parts, struct gf_error *error) GF_CHECKED;

GF_C_END
