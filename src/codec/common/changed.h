/* What a frame of an animation changes. */
#pragma once

#include "gpufilter/image.h"

/* A rectangle of pixels. */
struct gf_changed {
    int left, top, width, height;
};

/* Returns the least rectangle that has all pixels in which two frames of one format differ; its
 * height is 0 if there are none. */
struct gf_changed gf_changed_between(const struct gf_image *before, const struct gf_image *after);
