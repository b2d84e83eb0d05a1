/* What the declarations of dilate, erode and morphology have in common. */
#include "filters/morphology/morphology.h"

const struct gf_param gf_element_params[] = {
    GF_PARAM_ELEMENT(struct gf_element_params),
    GF_PARAM_BORDER(struct gf_element_params),
    {0},
};

enum gf_status gf_element_params_check(const void *params, struct gf_error *error)
{
    return gf_element_check(&((const struct gf_element_params *)params)->element, error);
}

int gf_element_params_radius(const void *params)
{
    return gf_element_radius(&((const struct gf_element_params *)params)->element);
}

/* The kernels for squares of 3x3 and 5x5 convert straight RGBA themselves. */
enum gf_fusing gf_element_params_fuses(const void *params)
{
    const struct gf_element *const element = &((const struct gf_element_params *)params)->element;
    return gf_element_is_square(element, 1) || gf_element_is_square(element, 2) ? GF_FUSES_ALPHA
                                                                                : GF_FUSES_NOTHING;
}

enum gf_status gf_element_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_element_params *const params = stage->params;
    gf_morphology_init(stage->constants, &params->element, params->border);
    return GF_OK;
}

size_t gf_element_cpu_scratch(const struct gf_stage *stage, int rows)
{
    const struct gf_element_params *const params = stage->params;
    return gf_morphology_scratch(&params->element, stage->in, rows);
}

size_t gf_element_cuda_scratch(const struct gf_stage *stage, int rows)
{
    const struct gf_element_params *const params = stage->params;
    struct gf_morphology morphology;
    gf_morphology_init(&morphology, &params->element, params->border);
    return gf_morphology_device_scratch(&morphology, stage->in, rows,
                                        gf_morphology_rows(&morphology, stage->in, rows));
}
