/* erode: the least sample under a structuring element. */
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
    .summary = "the least sample under an element",
    .example = "erode=3",
    .definition =
        "The least of the samples at p + s for all s of the structuring element, every channel by "
        "itself. Edges count as\nOpenCV's dilate and erode do by default.",
    GF_ELEMENT_FILTER,
    .cpu = erode_cpu,
    .cuda = GF_CUDA({GF_VARIANT("packed", gf_erode_cuda, GF_ELEMENT_KERNELS)}),
};
