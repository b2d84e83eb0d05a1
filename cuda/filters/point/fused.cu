/* Runs a stencil and the adjacent point filters, either by the stencil's own kernel or one stage
 * after the other. */
#include "pixel/point/fused.h"

#include <cuda_runtime.h>

#include "pixel/point/point_program.h"

/* Returns the launch of one part of the fused stage. *stage becomes the part's stage. */
static struct gf_launch part_of(const struct gf_launch *launch, enum gf_fused_part part,
                                struct gf_stage *stage)
{
    const struct gf_fused *const fused = (const struct gf_fused *)launch->stage->constants;
    struct gf_launch own = *launch;
    *stage = gf_fused_part(launch->stage, part);
    own.stage = stage;
    own.constants = (const char *)launch->constants + fused->at[part];
    return own;
}

/* Returns the launcher of a part's kernels. */
static gf_launcher *launcher_of(const struct gf_stage *part)
{
    return gf_stage_has_floats(part) ? part->filter->cuda_floats->launch
                                     : part->filter->cuda[0].launch;
}

/* Whether the part converts alpha. Otherwise it is a table. */
static bool converts_alpha(const struct gf_stage *part)
{
    return part->filter && (gf_has_alpha(part->in) || gf_has_alpha(part->out));
}

/* Returns the table of a list of point filters in device memory; NULL if there is no such part. */
static const void *table_of(const struct gf_launch *launch, enum gf_fused_part part)
{
    struct gf_stage stage;
    const struct gf_launch own = part_of(launch, part, &stage);
    const struct gf_point_program *const program = (const struct gf_point_program *)stage.constants;
    return stage.filter && !converts_alpha(&stage) ? (const char *)own.constants + program->table_at
                                                   : NULL;
}

extern "C" int gf_fused_separate_cuda(const struct gf_launch *launch)
{
    struct gf_stage before, stencil, after;
    struct gf_launch first = part_of(launch, GF_FUSED_BEFORE, &before);
    struct gf_launch second = part_of(launch, GF_FUSED_STENCIL, &stencil);
    struct gf_launch third = part_of(launch, GF_FUSED_AFTER, &after);
    struct gf_fused_middle middle;
    const size_t used = gf_fused_middle(launch->stage, &launch->out, launch->scratch, &middle);
    int status = cudaSuccess;
    first.out = middle.read;
    second.out = third.in = middle.written;
    if (before.filter) {
        status = launcher_of(&before)(&first);
        second.in = first.out;
    }
    second.scratch = (char *)launch->scratch + used;
    if (status == cudaSuccess)
        status = launcher_of(&stencil)(&second);
    if (status == cudaSuccess && after.filter)
        status = launcher_of(&after)(&third);
    return status;
}

extern "C" int gf_fused_cuda(const struct gf_launch *launch)
{
    struct gf_stage stencil;
    struct gf_launch own = part_of(launch, GF_FUSED_STENCIL, &stencil);
    struct gf_stage before;
    part_of(launch, GF_FUSED_BEFORE, &before);
    own.straight = converts_alpha(&before) ? before.in.bits : 0;
    own.before = table_of(launch, GF_FUSED_BEFORE);
    own.after = table_of(launch, GF_FUSED_AFTER);
    gf_launcher *const launch_fused = gf_stage_has_floats(&stencil)
                                          ? stencil.filter->cuda_floats->launch
                                          : stencil.filter->cuda_fused;
    const int status = launch_fused(&own);
    /* The parts can run one after the other only if the stencil's rows are known, because there is
     * no scratch memory between them otherwise. */
    return status == cudaErrorNotSupported && gf_stage_rows_known(&stencil)
               ? gf_fused_separate_cuda(launch)
               : status;
}
