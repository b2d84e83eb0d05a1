/* dilate: takes the largest sample under a structuring element. */
#include "filters/morphology/morphology.h"

extern gf_launcher gf_dilate_cuda;

static void dilate_cpu(const struct gf_stage *stage, const struct gf_view *in,
                       const struct gf_view *out, void *scratch)
{
    gf_morphology_cpu(stage->constants, true, in, out, scratch);
}

const struct gf_filter gf_dilate_filter = {
    .name = "dilate",
    .synonyms = "dilation maximum max grow",
    .summary = "the largest sample under a structuring element",
    .example = "dilate=3",
    .definition = "The largest of the samples at p - s for all s of the structuring element, every "
                  "channel by itself. With border=edge the result is that of OpenCV's dilate and "
                  "erode with their default border.",
    GF_ELEMENT_FILTER,
    .cpu = dilate_cpu,
    .cuda = GF_CUDA({GF_VARIANT("packed", gf_dilate_cuda, GF_ELEMENT_KERNELS)}),
    .fuses = gf_element_params_fuses,
    .cuda_fused = GF_LAUNCHER(gf_dilate_cuda),
};
