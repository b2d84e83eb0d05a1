/* The parameters region and feather, which every filter takes that keeps the picture's size. */
#pragma once

#include "pixel/region/region.h"
#include "stage/filter.h"

/* The parameters as they are given. */
struct gf_region_params {
    char region[GF_FILE_NAME_SIZE]; /* "": none is given */
    struct gf_length feather;
};

/* A region as it was parsed, before it is applied to a picture. */
struct gf_region {
    int count; /* the number of shapes; 0: the region is a mask */
    struct gf_region_part {
        bool is_ellipse;
        struct gf_length x, y, w, h;
    } part[GF_REGION_SHAPES_MAX];
    struct gf_length feather;
    char file[GF_FILE_NAME_SIZE];
    const struct gf_picture *mask; /* or NULL */
    struct gf_rectangle bright;    /* the smallest one that contains all samples above 0 */
};

/* The declarations of both parameters; the last one has a NULL name. */
extern const struct gf_param gf_region_params[];
/* Whether the filter takes these parameters. */
bool gf_filter_takes_region(const struct gf_filter *filter);

/* Makes a region of the parameters and, if it `loads`, reads its mask. The caller frees it by
 * gf_region_free(). The error message begins with the filter's name. */
enum gf_status gf_region_read(const struct gf_filter *filter, const struct gf_region_params *params,
                              bool loads, struct gf_region **region,
                              struct gf_error *error) GF_CHECKED;
void gf_region_free(struct gf_region *region);
