/* Point filters: a table look-up where the whole run is one, else a program on unrounded floats;
 * kernels of their own for what is common. All but saturation are bound by memory: every access to
 * a picture is of 16 bytes, and neighbouring threads' adjoin (Best Practices Guide 9.2.1). */
#include "band.cuh"
#include "point.h"
#include "point_luma.cuh"
#include "point_program.cuh"
#include "point_saturate.cuh"
#include "point_table.cuh"

extern "C" int gf_point_cuda(const struct gf_launch *launch)
{
    const struct gf_stage *const stage = launch->stage;
    const struct gf_point_program *const host = (const struct gf_point_program *)stage->constants;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    struct band band;
    band.in = gf_view_row(&launch->in, launch->out.y);
    band.out = launch->out.data;
    band.in_pitch = launch->in.pitch;
    band.out_pitch = launch->out.pitch;
    band.width = (unsigned)stage->in.width;
    band.rows = (unsigned)launch->out.rows;
    if (!band.rows)
        return cudaSuccess;
    band = join_rows(band, gf_row_bytes(stage->in), gf_row_bytes(stage->out));
    const unsigned char *const block = (const unsigned char *)launch->constants;
    const unsigned char *const host_table = (const unsigned char *)gf_point_block(host, host->table_at);
    if (host->table == GF_POINT_SAMPLES && is_negative(host_table, stage->in, host->tables))
        return launch_invert8(&band, stage->in, stream);
    if (host->table == GF_POINT_SAMPLES)
        return launch_tables(&band, stage->in, block + host->table_at, host->tables, stream);
    bool step, fine;
    if (is_luma8(stage, host, &step, &fine))
        return launch_luma8(&band, step, fine, host->op[1].a, stream);
    if (is_saturate8(stage, host))
        return stage->in.channels == 3 ? launch_saturate8<3>(&band, host, block, stream)
                                       : launch_saturate8<4>(&band, host, block, stream);
    struct program program;
    fill_program(&program, launch, &band);
    return launch_program(&program, stage->in.bits, stage->out.bits, stream);
}
