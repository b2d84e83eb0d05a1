/* Runs of point filters with operations that the other kernels do not contain: operations that mix
 * channels, read curves or tables, make alpha, or need a pixel's position. Short programs have
 * kernels of their own; all others share one kernel, for every variant. Rows are not joined,
 * because a joined row has no positions. */
#include "cuda/filters/point/point_program.cuh"

extern "C" gf_launcher gf_point_layers_cuda;
extern "C" gf_launcher gf_point_noise_cuda;
extern "C" gf_launcher gf_point_short_cuda;
extern "C" gf_launcher gf_point_table3d_cuda;

extern "C" int gf_point_wide_cuda(const struct gf_launch *launch)
{
    const struct gf_stage *const stage = launch->stage;
    const struct view_pair band = aligned_views(launch);
    if (((const struct gf_point_program *)stage->constants)->layers)
        return gf_point_layers_cuda(launch);
    if (!band.rows)
        return cudaSuccess;
    int status = gf_point_noise_cuda(launch);
    if (status == cudaErrorNotSupported)
        status = gf_point_short_cuda(launch);
    if (status == cudaErrorNotSupported)
        status = gf_point_table3d_cuda(launch);
    if (status != cudaErrorNotSupported)
        return status;
    struct program program;
    fill_program(&program, launch, &band);
    return launch_program<uint4, POINT_WIDE>(&program, stage->in.bits, stage->out.bits,
                                             (cudaStream_t)launch->stream);
}
