/* The parameters region and feather, which every filter takes that keeps the picture's size. */
#pragma once

#include "pixel/region/region.h"
#include "stage/filter.h"

/* The parameters as a chain gives them. */
struct gf_region_params {
    char region[GF_FILE_NAME_SIZE]; /* "": none is given */
    struct gf_length feather;
};

/* A region as it was parsed, before it is applied to a picture of a certain size. */
struct gf_region {
    int count; /* the number of shapes in `part`; 0: the region is a mask, a picture in a file */
    struct gf_region_part {
        bool is_ellipse;
        struct gf_length x, y, w, h;
    } part[GF_REGION_SHAPES_MAX];
    struct gf_length feather;
    char file[GF_FILE_NAME_SIZE];
    const struct gf_picture *mask; /* the mask, if it was read; otherwise NULL */
    /* The smallest rectangle of the mask that contains all its samples above 0. */
    struct gf_rectangle bright;
};

/* The declarations of both parameters; the last one has a NULL name. */
extern const struct gf_param gf_region_params[];
/* Whether the filter takes the parameters region and feather. */
bool gf_filter_takes_region(const struct gf_filter *filter);

/* Makes a region from the parameters and, if `loads` is true, reads its mask. The caller frees it
 * by gf_region_free(). The error message begins with the filter's name. */
enum gf_status gf_region_read(const struct gf_filter *filter, const struct gf_region_params *params,
                              bool loads, struct gf_region **region,
                              struct gf_error *error) GF_CHECKED;
void gf_region_free(struct gf_region *region);
