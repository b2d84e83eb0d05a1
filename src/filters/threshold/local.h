/* The parts of threshold whose threshold depends on the pixels around a pixel. */
#ifndef GF_FILTERS_THRESHOLD_LOCAL_H
#define GF_FILTERS_THRESHOLD_LOCAL_H

#include "stage/filter.h"

extern const struct gf_param gf_threshold_params[];
extern const struct gf_filter gf_threshold_local, gf_threshold_sauvola;

#endif
