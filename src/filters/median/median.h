/* The median filter's parameters, for both backends. */
#pragma once

#include <stddef.h>

enum {
    GF_MEDIAN_RADIUS_MAX = 15,
    GF_MEDIAN_NETWORK_MAX = 2, /* largest radius of the kernels with a sorting network */
    GF_MEDIAN_LOCAL_MAX = 5,   /* largest radius of the variant that sorts in local memory */
};

struct gf_median {
    int radius, border;
};

struct gf_stage;
struct gf_view;

/* The functions cpu() and cpu_scratch() for radii up to GF_MEDIAN_NETWORK_MAX. */
void gf_median_small_cpu(const struct gf_stage *stage, const struct gf_view *in,
                         const struct gf_view *out, void *scratch);
size_t gf_median_small_scratch(const struct gf_stage *stage);
