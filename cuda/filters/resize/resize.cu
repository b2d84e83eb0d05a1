#include "cuda/filters/resize/resize.cuh"

static int resize_by_walking(const struct gf_launch *launch, const struct gf_resample *resample)
{
    const struct gf_resample_walk *const plan = &resample->walk;
    const struct gf_format format = launch->stage->out;
    const void *const block = launch->constants;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    struct resize_walk walk = {};
    walk.p = view_pair_of(launch, 0);
    walk.stack = launch->stack;
    for (int i = 0; walk.stack.in && i < walk.stack.count; i++)
        walk.listed[i] = walk.stack.in[i];
    walk.in_row_bytes = (int)gf_row_bytes(launch->in.format);
    walk.out_width = format.width;
    walk.groups = (format.width + plan->group - 1) / plan->group;
    walk.window = plan->window;
    walk.reach = plan->reach;
    walk.gathers = plan->gathers;
    walk.width_kind = plan->width_kind;
    walk.max = gf_resample_most(resample, format.bits) / (resample->linear   ? 1.0f
                                                          : format.bits == 8 ? 256.0f
                                                                             : 65536.0f);
    walk.decode = gf_resample_floats(block, resample->decode);
    walk.encode = (const unsigned *)gf_resample_ints(block, plan->encode);
    walk.column_start = gf_resample_ints(block, plan->column_start);
    walk.column_weight = gf_resample_floats(block, plan->column_weight);
    walk.row_start = gf_resample_ints(block, resample->rows.start);
    walk.row_count = gf_resample_ints(block, resample->rows.count);
    walk.row_first = gf_resample_ints(block, plan->row_first);
    walk.row_weight = gf_resample_floats(block, plan->row_weight);
    if (walk.p.straight)
        return gf_resize_walk_straight(walk, stream);
    if (resample->linear)
        return gf_resize_walk_light(walk, stream);
    if (format.channels == 1)
        return format.bits == 8 ? gf_resize_walk_gray8(walk, stream)
                                : gf_resize_walk_gray16(walk, stream);
    if (format.channels == 3)
        return format.bits == 8 ? gf_resize_walk_rgb8(walk, stream)
                                : gf_resize_walk_rgb16(walk, stream);
    return gf_resize_walk_rgba16(walk, stream);
}

static struct resize_args args_of(const struct gf_launch *launch,
                                  const struct gf_resample *resample)
{
    const struct gf_format format = launch->out.format;
    const void *const block = launch->constants;
    const bool nearest = resample->kernel == GF_RESAMPLE_NEAREST;
    const struct gf_resample_table *const columns = &resample->columns, *const rows =
                                                                            &resample->rows;
    struct resize_args args = {};
    args.p = view_pair_of(launch, 0);
    args.stack = launch->stack;
    args.out_width = format.width;
    args.linear = resample->linear;
    args.max = gf_resample_most(resample, format.bits);
    args.decode = gf_resample_floats(block, resample->decode);
    args.column_start = gf_resample_ints(block, nearest ? columns->start : columns->group_start);
    args.column_count = gf_resample_ints(block, columns->group_count);
    args.column_weight = gf_resample_floats(block, columns->group_weight);
    args.column_taps = columns->group_taps;
    args.row_start = gf_resample_ints(block, rows->start);
    args.row_count = gf_resample_ints(block, rows->count);
    args.group_start = gf_resample_ints(block, rows->group_start);
    args.group_count = gf_resample_ints(block, rows->group_count);
    args.group_weight = gf_resample_floats(block, rows->group_weight);
    args.group_taps = rows->group_taps;
    return args;
}

extern "C" int gf_resize_cuda(const struct gf_launch *launch)
{
    const struct gf_resample *const resample = (const struct gf_resample *)launch->stage->constants;
    const struct gf_format format = launch->out.format;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    if (gf_resize_is_half(launch, resample))
        return gf_resize_halves(launch, resample);
    if (resample->walk.group)
        return resize_by_walking(launch, resample);
    const struct resize_args args = args_of(launch, resample);
    if (resample->kernel == GF_RESAMPLE_NEAREST)
        return gf_resize_nearest(args, format.channels * format.bits / 8, stream);
    return gf_resize_tiles(args, resample, stream);
}

extern "C" int gf_resize_stacked_cuda(const struct gf_launch *launch)
{
    const struct gf_resample *const resample = (const struct gf_resample *)launch->stage->constants;
    return resample->kernel == GF_RESAMPLE_NEAREST || gf_resize_is_half(launch, resample) ||
                   launch->stack.count > GRID_ROWS_MAX ||
                   (launch->stack.in && !resample->walk.group)
               ? (int)cudaErrorNotSupported
               : gf_resize_cuda(launch);
}

/* Resizes straight RGBA. */
extern "C" int gf_resize_fused_cuda(const struct gf_launch *launch)
{
    const struct gf_resample *const resample = (const struct gf_resample *)launch->stage->constants;
    if (resample->kernel == GF_RESAMPLE_NEAREST)
        return gf_resize_nearest(args_of(launch, resample), launch->straight / 2,
                                 (cudaStream_t)launch->stream);
    return resample->walk.group && resample->walk.width_kind == GF_RESAMPLE_HALVES
               ? resize_by_walking(launch, resample)
               : (int)cudaErrorNotSupported;
}

extern "C" int gf_resize_shared_cuda(const struct gf_launch *launch)
{
    const struct gf_resample *const resample = (const struct gf_resample *)launch->stage->constants;
    return gf_resize_tiles(args_of(launch, resample), resample, (cudaStream_t)launch->stream);
}
