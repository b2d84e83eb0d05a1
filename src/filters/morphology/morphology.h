/* What the declarations of dilate, erode and morphology have in common. */
#pragma once

#include "filters/morphology/element.h"
#include "stage/stage.h"

struct gf_element_params {
    struct gf_element element;
    int border;
};

extern const struct gf_param gf_element_params[];
enum gf_status gf_element_params_check(const void *params, struct gf_error *error) GF_CHECKED;
int gf_element_params_radius(const void *params);
enum gf_status gf_element_prepare(struct gf_stage *stage, struct gf_error *error) GF_CHECKED;
enum gf_fusing gf_element_params_fuses(const void *params);
size_t gf_element_cpu_scratch(const struct gf_stage *stage, int rows);
size_t gf_element_cuda_scratch(const struct gf_stage *stage, int rows);

#define GF_ELEMENT_KERNELS \
    "rectangles by columns, then rows, in runs in registers and shared memory; other elements by " \
    "chords of 2^n samples; four samples a word"

#define GF_ELEMENT_FILTER \
    GF_PARAMS(struct gf_element_params, gf_element_params), \
        .kind = GF_STENCIL, .within_alpha = true, .cost = {.pixel = 0.6, .row = 0.006}, \
        .check = gf_element_params_check, .radius = gf_element_params_radius, \
        .constants_size = sizeof(struct gf_morphology), .prepare = gf_element_prepare, \
        .cpu_scratch = gf_element_cpu_scratch, .cuda_scratch = gf_element_cuda_scratch
