/* Point filters: a table look-up if the whole list is one table, otherwise a program on unrounded
 * floats. Frequent lists have kernels of their own. All except saturation are limited by memory:
 * every access to a picture has 16 bytes, next to the accesses of the neighbouring threads (Best
 * Practices Guide 9.2.1). */
#include "cuda/common/view_pair.cuh"
#include "cuda/filters/point/point_launch.cuh"
#include "pixel/point/point_program.h"

extern "C" gf_launcher gf_point_pixel_cuda;

extern "C" int gf_point_cuda(const struct gf_launch *launch)
{
    const struct gf_point_program *const program =
        (const struct gf_point_program *)launch->stage->constants;
    /* Two tables for 16-bit samples need the whole L1 cache, so that no tiles fit in shared
     * memory. */
    if (launch->stage->in.bits == 16 && program->level_at)
        return gf_point_pixel_cuda(launch);
    return launch_point<uint4>(launch);
}

extern "C" int gf_point_stacked_cuda(const struct gf_launch *launch)
{
    const struct gf_point_program *const program =
        (const struct gf_point_program *)launch->stage->constants;
    for (int i = 0; i < program->count; i++) {
        if (program->op[i].kind >= GF_POINT_MIX) /* it depends on the pixel's position */
            return cudaErrorNotSupported;
    }
    return launch_tall(launch, gf_point_cuda);
}
