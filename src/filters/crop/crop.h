/* The parameters and constants of crop. The filter resize sets the parameters, too. */
#pragma once

#include "gpufilter/filter.h"
#include "gpufilter/status.h"

struct gf_crop_params {
    struct gf_length w, h, x, y;
    int gravity;
    double aspect; /* width / height; 0 or NaN: not given */
};

/* The position of the rectangle in the picture. */
struct gf_crop_origin {
    int x, y;
};

static inline struct gf_length gf_in_pixels(double value)
{
    return (struct gf_length){.value = value, .unit = GF_PIXELS};
}

struct gf_stage;
/* Finds the window of stage->out that is worth most, by the statistic CELLS of the stage's input:
 * of interest, or, by_entropy, of entropy. */
enum gf_status gf_window_find(const struct gf_stage *stage, bool by_entropy,
                              struct gf_crop_origin *origin, struct gf_error *error) GF_CHECKED;
