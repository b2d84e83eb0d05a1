/* erode: takes the smallest sample under a structuring element. */
#include "filters/morphology/morphology.h"

extern gf_launcher gf_erode_cuda;

static void erode_cpu(const struct gf_stage *stage, const struct gf_view *in,
                      const struct gf_view *out, void *scratch)
{
    gf_morphology_cpu(stage->constants, false, in, out, scratch);
}

const struct gf_filter gf_erode_filter = {
    .name = "erode",
    .synonyms = "erosion minimum min shrink",
    .summary = "the smallest sample under a structuring element",
    .example = "erode=3",
    .definition = "The smallest of the samples at p + s for all s of the structuring element, "
                  "every channel by itself. With border=edge the result is that of OpenCV's dilate "
                  "and erode with their default border.",
    GF_ELEMENT_FILTER,
    .cpu = erode_cpu,
    .cuda = GF_CUDA({GF_VARIANT("packed", gf_erode_cuda, GF_ELEMENT_KERNELS)}),
    .fuses = gf_element_params_fuses,
    .cuda_fused = GF_LAUNCHER(gf_erode_cuda),
};
