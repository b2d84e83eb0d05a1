/* Brings one picture through a pipeline, in as many attempts as its device needs. */
#include "pipeline/pipeline_state.h"

#include <stdlib.h>
#include <string.h>

#include "codec/common/checks.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "engine/bands.h"
#include "engine/schedule.h"

static enum gf_status describe_run(struct gf_pipeline *pipeline, const struct gf_picture_task *task,
                                   const struct gf_plan *plan, const struct gf_run *run,
                                   struct gf_error *error)
{
    struct gf_profile *const profile = &pipeline->profile;
    struct gf_profile_stage *const stages =
        realloc(pipeline->stages, ((size_t)plan->stage_count + 1) * sizeof *stages);
    if (!stages)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    pipeline->stages = stages;
    for (int s = 0; s < plan->segment_count; s++) {
        for (int i = 0; i < plan->segment[s].count; i++) {
            const int index = plan->segment[s].first + i;
            stages[index].segment = s;
            gf_plan_stage_name(&plan->stage[index], stages[index].name, sizeof stages[index].name);
        }
    }
    pipeline->backend->calls->describe(pipeline->backend, profile->device, sizeof profile->device);
    profile->stages = stages;
    profile->stage_count = plan->stage_count;
    profile->lanes = run->lanes;
    profile->segments = plan->segment_count;
    profile->band_rows = run->first_band_rows;
    profile->in = plan->in;
    profile->reduction = task->reduction > 1 ? task->reduction : 1;
    if (task->reduction > 1) {
        profile->in.width = task->width;
        profile->in.height = task->height;
    }
    profile->out = plan->out;
    return GF_OK;
}

static enum gf_status schedule(struct gf_pipeline *pipeline, struct gf_plan *plan,
                               struct gf_source *source, struct gf_sink *sink,
                               const struct gf_picture_task *task, struct gf_error *error)
{
    if (!pipeline->buffers.backend)
        gf_buffer_pool_open(&pipeline->buffers, pipeline->backend);
    struct gf_device_images device_images;
    enum gf_status status =
        gf_pipeline_take_device_images(pipeline, task, plan, &device_images, error);
    struct gf_options options = gf_pipeline_resolved(pipeline);
    if (pipeline->options.memory_bytes)
        options.memory_bytes -= task->codec_bytes < options.memory_bytes / 2
                                    ? task->codec_bytes
                                    : options.memory_bytes / 2;
    /* A serial run waits for the device after each band, so that large bands are best. */
    const int large_rows =
        (int)(pipeline->backend->calls->band_bytes_most / gf_row_bytes(plan->in)) + 1;
    struct gf_run run = {.plan = plan,
                         .backend = pipeline->backend,
                         .buffers = &pipeline->buffers,
                         .serial = options.serial,
                         .options = &options,
                         .memory_is_limit = pipeline->options.memory_bytes != 0,
                         .spans = &pipeline->spans,
                         .progress = pipeline->progress,
                         .lanes = gf_pipeline_lanes(pipeline),
                         .band_rows = !pipeline->band_rows && options.serial && pipeline->on_cuda
                                          ? large_rows
                                          : pipeline->band_rows,
                         .source = device_images.in.data ? NULL : source,
                         .sink = device_images.out.data ? NULL : sink,
                         .image_in = device_images.in.data ? &device_images.in : task->image_in,
                         .image_out = device_images.out.data ? &device_images.out : task->image_out,
                         .in_on_device = device_images.in.data,
                         .out_on_device = device_images.out.data};
    if (!status && (plan->stage_count || !device_images.in.data))
        status = gf_schedule(&run, error);
    if (!status && device_images.out.data)
        status = gf_pipeline_encode_on_device(pipeline, sink, &device_images, error);
    pipeline->profile.device_decoded = device_images.in.data;
    pipeline->profile.device_encoded = device_images.out.data;
    gf_pipeline_drop_device_images(pipeline, &device_images);
    if (status == GF_ERROR_DEVICE_MEMORY && !pipeline->device_codec_used)
        pipeline->band_rows = run.first_band_rows / 2;
    if (status)
        gf_buffer_pool_close(&pipeline->buffers);
    else
        gf_buffer_pool_trim(&pipeline->buffers);
    return status ? status : describe_run(pipeline, task, plan, &run, error);
}

static enum gf_status open_bytes(const struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                 struct gf_error *error)
{
    const enum gf_file_format wanted = task->destination->bytes->format;
    struct gf_options options = pipeline->options;
    options.format = wanted ? wanted : options.format;
    const enum gf_status status =
        gf_sink_format(NULL, &options, task->own_format, &task->file_format, error);
    return status ? status : gf_output_open_memory(task->destination->bytes->name, &task->output, error);
}

/* Called when the format of the result is known, since the output's name may depend on its size. */
static enum gf_status open_output(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                  struct gf_format result, struct gf_error *error)
{
    const struct gf_destination *const destination = task->destination;
    if (destination->bytes)
        return open_bytes(pipeline, task, error);
    enum gf_status status = destination->choose(destination->context, task->number,
                                                task->own_format, result, &task->path, error);
    if (!status)
        status = gf_sink_format(task->path, &pipeline->options, task->own_format,
                                &task->file_format, error);
    if (!status)
        status = gf_output_open(task->path, &task->output, error);
    if (!status)
        gf_output_set_options(task->output,
                              (struct gf_output_options){.no_clobber = pipeline->options.no_clobber,
                                                         .sync = pipeline->options.sync});
    return status;
}

/* The most bytes of whole pictures that are in host memory at one time: the one that a segment
 * reads and the one that it writes. */
static uint64_t whole_bytes(const struct gf_pipeline *pipeline, const struct gf_plan *plan)
{
    uint64_t most = 0, before = 0;
    if (pipeline->on_cuda) /* they are in device memory, as far as there is room */
        return 0;
    for (int s = 0; s + 1 < plan->segment_count; s++) {
        const struct gf_format format = plan->segment[s].out;
        const uint64_t bytes = (uint64_t)gf_row_bytes(format) * (uint64_t)format.height;
        most = before + bytes > most ? before + bytes : most;
        before = bytes;
    }
    return most;
}

/* Refuses a picture whose codec alone needs more than the caller's budget; a worker of a batch may
 * use that of all pictures. */
static enum gf_status check_codec_memory(const struct gf_pipeline *pipeline, const char *name,
                                         struct gf_codec_memory memory, struct gf_error *error)
{
    const uint64_t own = pipeline->options.memory_bytes,
                   shared = pipeline->memory_budget ? pipeline->memory_budget->limit : 0,
                   limit = shared > own ? shared : own;
    if (!own || memory.bytes <= limit)
        return GF_OK;
    return gf_fail(error, GF_ERROR_INPUT,
                   "%s: %s: that takes %llu MiB of memory, over the %llu MiB of "
                   "options.memory_bytes",
                   name, memory.why, (unsigned long long)(memory.bytes >> 20),
                   (unsigned long long)(limit >> 20));
}

/* Takes what the picture needs from the budget that the pipeline shares, while it is scheduled. */
static enum gf_status schedule_within_budget(struct gf_pipeline *pipeline, struct gf_plan *plan,
                                             struct gf_source *source, struct gf_sink *sink,
                                             const struct gf_picture_task *task,
                                             struct gf_error *error)
{
    const uint64_t bytes =
        pipeline->memory_budget ? whole_bytes(pipeline, plan) + task->codec_bytes : 0;
    if (bytes)
        gf_memory_budget_acquire(pipeline->memory_budget, bytes);
    const enum gf_status status = schedule(pipeline, plan, source, sink, task, error);
    if (bytes > 0 && bytes > pipeline->memory_budget->share)
        /* What every pipeline keeps would add up to more than the budget. */
        gf_buffer_pool_clear(&pipeline->buffers);
    if (bytes)
        gf_memory_budget_release(pipeline->memory_budget, bytes);
    return status;
}

static enum gf_status check_codecs(const struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                   const struct gf_source *source, struct gf_format result,
                                   struct gf_error *error)
{
    struct gf_codec_memory in = {0}, out = {0};
    if (source)
        in = source->memory;
    if (task->output)
        out = gf_sink_memory(task->file_format, result, &pipeline->options);
    task->codec_bytes = in.bytes + out.bytes;
    enum gf_status status = GF_OK;
    if (source)
        status = check_codec_memory(pipeline, gf_input_name(task->input), in, error);
    if (!status && task->output)
        status = check_codec_memory(pipeline, gf_output_name(task->output), out, error);
    return status;
}

struct gf_plan_request gf_pipeline_request(const struct gf_pipeline *pipeline,
                                           struct gf_source *source)
{
    struct gf_plan_request request = {
        .orientation = pipeline->options.autorotate ? source->metadata.orientation : 1,
        .width = source->format.width,
        .height = source->format.height,
        .reduction = 1};
    if (source->reduce)
        request.reduction =
            gf_plan_reduction(&pipeline->chain, source->format, request.orientation);
    if (request.reduction > 1)
        source->reduce(source, request.reduction);
    return request;
}

static enum gf_status check_sizes(const struct gf_pipeline *pipeline, const char *name,
                                  const struct gf_plan *plan, struct gf_error *error)
{
    for (int i = 0; i < plan->stage_count; i++) {
        const struct gf_format out = plan->stage[i].out;
        const unsigned long long most = pipeline->options.max_pixels,
                                 pixels = (unsigned long long)out.width * (unsigned)out.height;
        char stage[96];
        gf_plan_stage_name(&plan->stage[i], stage, sizeof stage);
        if (pixels > most)
            return gf_fail(error, GF_ERROR_INPUT,
                           "%s: %s makes %dx%d, %llu pixels, over options.max_pixels=%llu", name,
                           stage, out.width, out.height, pixels, most);
    }
    return GF_OK;
}

static bool holds_alpha(enum gf_file_format file_format, struct gf_format format)
{
    return gf_format_in_file(file_format, format).channels == format.channels;
}

/* Plans the picture and opens its output. What the output cannot hold is known only when it has its
 * name, which may depend on the plan: then the picture is planned again. */
static enum gf_status plan_picture(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                   struct gf_source *source, struct gf_plan *plan,
                                   struct gf_error *error)
{
    struct gf_plan_request request = {.orientation = 1};
    if (source)
        request = gf_pipeline_request(pipeline, source);
    const struct gf_format in = source ? source->format : task->image_in->format;
    task->reduction = request.reduction;
    task->width = request.width;
    task->height = request.height;
    enum gf_status status = gf_plan_make_for(&pipeline->chain, in, &request, plan, error);
    if (!status)
        status =
            check_sizes(pipeline, source ? gf_input_name(task->input) : "picture", plan, error);
    if (!status && task->destination && !task->output)
        status = open_output(pipeline, task, plan->out, error);
    if (status || !task->output || holds_alpha(task->file_format, plan->out))
        return status;
    gf_plan_free(plan);
    request.opaque = true;
    gf_warn(&pipeline->options,
            "%s: its format has no alpha channel: the picture is laid on white (flatten=white)",
            gf_output_name(task->output));
    return gf_plan_make_for(&pipeline->chain, in, &request, plan, error);
}

/* One attempt, with a source and a sink of its own. */
static enum gf_status attempt(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                              struct gf_error *error)
{
    struct gf_source *source = NULL;
    struct gf_sink *sink = NULL;
    struct gf_plan plan = {0};
    enum gf_status status = GF_OK;
    if (task->input)
        status = gf_source_open(task->input, &pipeline->options, &source, error);
    if (status)
        return status;
    status = plan_picture(pipeline, task, source, &plan, error);
    if (!status)
        status = check_codecs(pipeline, task, source, plan.out, error);
    if (!status && task->output)
        status = gf_sink_open(task->output, task->file_format, plan.out, &source->metadata,
                              &pipeline->options, &sink, error);
    if (!status)
        status = schedule_within_budget(pipeline, &plan, source, sink, task, error);
    if (sink)
        sink->close(sink);
    if (source)
        source->close(source);
    gf_plan_free(&plan);
    return status;
}

static enum gf_status rewind_task(const struct gf_picture_task *task, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    if (task->input)
        status = gf_input_rewind(task->input, error);
    if (!status && task->output)
        status = gf_output_rewind(task->output, error);
    return status;
}

enum gf_status gf_pipeline_run_task(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                    struct gf_error *error)
{
    struct gf_error failure = {0};
    pipeline->band_rows = pipeline->options.band_rows;
    pipeline->device_codec_used = pipeline->no_device_codec = false;
    enum gf_status status = attempt(pipeline, task, &failure);
    while (status && gf_pipeline_recover(pipeline, status, &failure, &failure)) {
        status = rewind_task(task, &failure);
        pipeline->spans.count = 0; /* the profile shows the attempt that succeeds */
        if (!status)
            status = attempt(pipeline, task, &failure);
    }
    if (!status || !error)
        return status;
    *error = failure;
    /* An error of the device does not name the picture yet. */
    if (task->input && (status == GF_ERROR_DEVICE || status == GF_ERROR_DEVICE_MEMORY))
        (void)gf_fail(error, status, "%s: %s", gf_input_name(task->input), failure.text);
    return status;
}

void gf_pipeline_begin_profile(struct gf_pipeline *pipeline)
{
    if (pipeline->has_run)
        gf_spans_restart(&pipeline->spans, pipeline->options.profile || pipeline->options.spans);
    pipeline->has_run = true;
}

void gf_pipeline_end_profile(struct gf_pipeline *pipeline)
{
    pipeline->profile.wall_s = gf_now() - pipeline->spans.origin_s;
    pipeline->profile.spans = pipeline->spans.item;
    pipeline->profile.span_count = pipeline->spans.count;
    if (pipeline->options.profile && !pipeline->profile.device_copy_peak)
        pipeline->backend->calls->measure(pipeline->backend, &pipeline->profile);
}
