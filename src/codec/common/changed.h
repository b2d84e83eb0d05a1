/* What a frame of an animation changes. */
#pragma once

#include "base/rectangle.h"
#include "gpufilter/image.h"

/* Returns the least rectangle that has all pixels in which two frames of one format differ; its
 * height is 0 if there are none. */
struct gf_rectangle gf_changed_between(const struct gf_image *before, const struct gf_image *after);
