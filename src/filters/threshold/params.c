/* The parameters of threshold, which its parts share. */
#include "filters/threshold/threshold.h"

static const char *const words[] = {"otsu", "adaptive", "gaussian", "sauvola", NULL};

const struct gf_param gf_threshold_params[] = {
    GF_PARAM_WORD(
        struct gf_threshold, value, 0.5, 0, 1, words,
        "a part of the full scale; otsu, the level that separates dark from light pixels best; or "
        "a threshold for each pixel by the pixels around it: adaptive, their mean; gaussian, their "
        "mean that weighs near ones more; sauvola, their mean and deviation"),
    GF_PARAM_INT(struct gf_threshold, radius, 12, 1, GF_THRESHOLD_RADIUS_MAX,
                 "of the window around a pixel, 2 radius + 1 on a side: larger than the strokes"),
    GF_PARAM(struct gf_threshold, offset, 0.03, -1, 1,
             "how far below the mean the threshold lies (adaptive, gaussian), as a part of the "
             "full scale: 3%"),
    GF_PARAM(struct gf_threshold, k, 0.2, 0, 1,
             "how much the deviation counts (sauvola): the threshold lies k below the mean where "
             "all pixels are alike"),
    GF_PARAM_BORDER(struct gf_threshold),
    {0},
};
