#include "cuda/filters/resize/resize.cuh"

static int resize_by_walking(const struct gf_launch *launch, const struct gf_resample *resample)
{
    const struct gf_resample_walk *const plan = &resample->walk;
    const struct gf_format format = launch->out.format;
    const void *const block = launch->constants;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    struct resize_walk walk = {};
    walk.in = launch->in.data;
    walk.in_pitch = launch->in.pitch;
    walk.in_first = launch->in.y;
    walk.in_row_bytes = (int)gf_row_bytes(launch->in.format);
    walk.out = launch->out.data;
    walk.out_pitch = launch->out.pitch;
    walk.first = launch->out.y;
    walk.rows = launch->out.rows;
    walk.width = format.width;
    walk.groups = (format.width + plan->group - 1) / plan->group;
    walk.window = plan->window;
    walk.reach = plan->reach;
    walk.gathers = plan->gathers;
    walk.width_kind = plan->width_kind;
    walk.max = gf_resample_most(resample, format.bits) / (resample->linear   ? 1.0f
                                                          : format.bits == 8 ? 256.0f
                                                                             : 65536.0f);
    walk.decode = gf_resample_floats(block, resample->decode);
    walk.column_start = gf_resample_ints(block, plan->column_start);
    walk.column_weight = gf_resample_floats(block, plan->column_weight);
    walk.row_start = gf_resample_ints(block, resample->rows.start);
    walk.row_count = gf_resample_ints(block, resample->rows.count);
    walk.row_first = gf_resample_ints(block, plan->row_first);
    walk.row_weight = gf_resample_floats(block, plan->row_weight);
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

static struct resize_band band_of(const struct gf_launch *launch,
                                  const struct gf_resample *resample)
{
    const struct gf_format format = launch->out.format;
    const void *const block = launch->constants;
    const bool nearest = resample->kernel == GF_RESAMPLE_NEAREST;
    const struct gf_resample_table *const columns = &resample->columns, *const rows =
                                                                            &resample->rows;
    struct resize_band band = {};
    band.in = launch->in.data;
    band.in_pitch = launch->in.pitch;
    band.in_first = launch->in.y;
    band.in_width = launch->in.format.width;
    band.out = launch->out.data;
    band.out_pitch = launch->out.pitch;
    band.first = launch->out.y;
    band.rows = launch->out.rows;
    band.width = format.width;
    band.bits = format.bits;
    band.linear = resample->linear;
    band.max = gf_resample_most(resample, format.bits);
    band.decode = gf_resample_floats(block, resample->decode);
    band.column_start = gf_resample_ints(block, nearest ? columns->start : columns->group_start);
    band.column_count = gf_resample_ints(block, columns->group_count);
    band.column_weight = gf_resample_floats(block, columns->group_weight);
    band.column_taps = columns->group_taps;
    band.row_start = gf_resample_ints(block, rows->start);
    band.row_count = gf_resample_ints(block, rows->count);
    band.group_start = gf_resample_ints(block, rows->group_start);
    band.group_count = gf_resample_ints(block, rows->group_count);
    band.group_weight = gf_resample_floats(block, rows->group_weight);
    band.group_taps = rows->group_taps;
    return band;
}

extern "C" int gf_resize_cuda(const struct gf_launch *launch)
{
    const struct gf_resample *const resample = (const struct gf_resample *)launch->stage->constants;
    const struct gf_format format = launch->out.format;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    if (resample->walk.group)
        return resize_by_walking(launch, resample);
    const struct resize_band band = band_of(launch, resample);
    if (resample->kernel == GF_RESAMPLE_NEAREST)
        return gf_resize_nearest(band, format.channels * format.bits / 8, stream);
    return gf_resize_tiles(band, resample, format.channels, stream);
}

extern "C" int gf_resize_shared_cuda(const struct gf_launch *launch)
{
    const struct gf_resample *const resample = (const struct gf_resample *)launch->stage->constants;
    return gf_resize_tiles(band_of(launch, resample), resample, launch->out.format.channels,
                           (cudaStream_t)launch->stream);
}
