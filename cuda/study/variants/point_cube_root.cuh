/* Runs a program of point filters with the cube roots that the including file selects. */
#pragma once

#include "cuda/filters/point/point_program.cuh"
#include "pixel/point/point_program.h"

extern "C" gf_launcher gf_point_cuda;

static int launch_cube_root_program(const struct gf_launch *launch)
{
    const struct gf_stage *const stage = launch->stage;
    const struct gf_point_program *const host = (const struct gf_point_program *)stage->constants;
    if (host->table == GF_POINT_SAMPLES) /* a table computes no roots */
        return gf_point_cuda(launch);
    struct view_pair band = aligned_views(launch);
    if (!band.rows)
        return cudaSuccess;
    band = join_rows(band, gf_row_bytes(stage->in), gf_row_bytes(stage->out));
    struct program program;
    fill_program(&program, launch, &band);
    return launch_program<uint4>(&program, stage->in.bits, stage->out.bits, launch->stream);
}
