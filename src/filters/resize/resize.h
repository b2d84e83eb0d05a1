/* The parameters of resize. The filter thumbnail sets them, too. */
#pragma once

#include "gpufilter/filter.h"
#include "stage/filter.h"

enum gf_fit { GF_FIT_FILL, GF_FIT_INSIDE, GF_FIT_COVER, GF_FIT_CONTAIN };
enum gf_resize_only { GF_RESIZE_ANY, GF_RESIZE_SHRINK, GF_RESIZE_ENLARGE };
enum gf_resize_load { GF_LOAD_FULL, GF_LOAD_REDUCED };

/* A picture of in_w x in_h pixels is scaled to full_w x full_h, of which w x h is computed. */
struct gf_resize_size {
    double w, h, full_w, full_h, in_w, in_h;
};

struct gf_resize_params {
    struct gf_length w, h;
    int kernel, light, fit, only, gravity;
    struct gf_colour colour;
    int load;
    /* The sizes in pixels. They replace the sizes above where resize is a part of itself. */
    struct gf_resize_size size;
};

/* Returns the sizes for a picture of width x height pixels. */
struct gf_resize_size gf_resize_size_of(const struct gf_resize_params *resize, int width,
                                        int height);
/* Appends the padding of fit=contain. */
void gf_resize_add_padding(const struct gf_resize_params *resize, const struct gf_extent *extent,
                           struct gf_parts *parts);
int gf_resize_reduction(const void *params, int width, int height);
