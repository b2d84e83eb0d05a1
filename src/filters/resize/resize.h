/* The parameters of resize, and what the filter thumbnail, which sets them, shares with it. */
#pragma once

#include "gpufilter/filter.h"
#include "stage/filter.h"

enum { GF_RESIZE_SIDE_MAX = 65535 };

enum gf_fit { GF_FIT_FILL, GF_FIT_INSIDE, GF_FIT_COVER, GF_FIT_CONTAIN };
enum gf_resize_only { GF_RESIZE_ANY, GF_RESIZE_SHRINK, GF_RESIZE_ENLARGE };
enum gf_resize_load { GF_LOAD_FULL, GF_LOAD_REDUCED };
enum gf_resize_like {
    GF_LIKE_NONE,
    GF_LIKE_PILLOW,
    GF_LIKE_PIL,
    GF_LIKE_PILLOW13,
    GF_LIKE_OPENCV,
    GF_LIKE_CV2,
};

/* A picture of in_w x in_h pixels is scaled to full_w x full_h pixels, of which w x h pixels,
 * placed by gravity, are computed. */
struct gf_resize_size {
    double w, h, full_w, full_h, in_w, in_h;
};

struct gf_resize_params {
    struct gf_length w, h;
    int kernel, light, fit, only, gravity;
    struct gf_colour colour;
    int load, like;
    double reducing_gap;
    struct gf_matrix box;
    /* The sizes in pixels, which replace those above if w is above 0. resize sets them in the part
     * that it appends. */
    struct gf_resize_size size;
};

/* Returns the size that the user requests for a picture of width x height pixels. */
struct gf_resize_size gf_resize_asked(const struct gf_resize_params *resize, int width, int height);
/* Returns the sizes that such a picture gets. */
struct gf_resize_size gf_resize_size_of(const struct gf_resize_params *resize, int width,
                                        int height);
/* Appends the padding of fit=contain. */
void gf_resize_pad(const struct gf_resize_params *resize, const struct gf_extent *extent,
                   struct gf_parts *parts);
int gf_resize_reduction(const void *params, int width, int height);
enum gf_status gf_resize_check_gravity(int gravity, bool keeps_all,
                                       struct gf_error *error) GF_CHECKED;
