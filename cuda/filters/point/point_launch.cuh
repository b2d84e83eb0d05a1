/* Launches the kernel for a run of point filters on a band. The kernel reads an ACCESS (16, 4 or 1
 * bytes) at a time. */
#pragma once

#include "cuda/filters/point/point_alpha.cuh"
#include "cuda/filters/point/point_lab.cuh"
#include "cuda/filters/point/point_luma.cuh"
#include "cuda/filters/point/point_program.cuh"
#include "cuda/filters/point/point_table.cuh"
#include "pixel/point/point_program.h"

extern "C" gf_launcher gf_point_wide_cuda;

template <class ACCESS>
static int launch_rows(const struct gf_launch *launch, struct view_pair band)
{
    const struct gf_stage *const stage = launch->stage;
    const struct gf_point_program *const host = (const struct gf_point_program *)stage->constants;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    band = join_rows(band, gf_row_bytes(stage->in), gf_row_bytes(stage->out));
    const unsigned char *const block = (const unsigned char *)launch->constants;
    const unsigned char *const host_table =
        (const unsigned char *)gf_point_block(host, host->table_at);
    if (host->table == GF_POINT_SAMPLES && is_negative(host_table, stage->in, host->tables))
        return launch_invert8<ACCESS>(&band, stage->in, stream);
    if (host->table == GF_POINT_SAMPLES)
        return launch_tables<ACCESS>(&band, stage->in, block + host->table_at, host->tables,
                                     stream);
    bool step, fine;
    if (is_luma8(stage, host, &step, &fine))
        return launch_luma8<ACCESS>(&band, step, fine, host->op[1].a, stream);
    if (sizeof(ACCESS) == VECTOR && is_luma16(stage, host))
        return launch_luma16(&band, host->op[0], stream);
    if (is_lab8(stage, host))
        return launch_lab8<ACCESS>(&band, stage->in.channels, host, block, stream);
    if (sizeof(ACCESS) == VECTOR && is_alpha(stage, host))
        return launch_alpha(&band, stage, host->op[0], stream);
    if (sizeof(ACCESS) == VECTOR && is_opaque(stage, host))
        return launch_opaque(&band, stream);
    struct program program;
    fill_program(&program, launch, &band);
    return launch_program<ACCESS>(&program, stage->in.bits, stage->out.bits, stream);
}

/* A band is one launch, unless it has more than LAUNCH_BYTES in accesses of less than 16 bytes. */
enum { LAUNCH_BYTES = 1 << 30 };

template <class ACCESS> static int launch_point(const struct gf_launch *launch)
{
    if (gf_point_is_wide((const struct gf_point_program *)launch->stage->constants))
        return gf_point_wide_cuda(launch);
    const struct view_pair band = aligned_views(launch);
    const unsigned most = sizeof(ACCESS) == VECTOR
                              ? band.rows
                              : LAUNCH_BYTES / (unsigned)gf_row_bytes(launch->stage->in);
    return for_parts_of_rows(band, most, [&](const struct view_pair &part) {
        return launch_rows<ACCESS>(launch, part);
    });
}
