/* Brings one picture through a pipeline, in as many attempts as its device needs. */
#include "pipeline/pipeline_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/start_times.h"
#include "codec/common/checks.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "engine/bands.h"
#include "engine/schedule.h"

enum gf_status gf_pipeline_describe_plan(struct gf_pipeline *pipeline,
                                         const struct gf_picture_task *task,
                                         const struct gf_plan *plan, struct gf_error *error)
{
    struct gf_profile *const profile = &pipeline->profile;
    const int before = pipeline->stages_done, segments = pipeline->segments_done;
    struct gf_profile_stage *const stages = realloc(
        pipeline->stages, ((size_t)before + (size_t)plan->stage_count + 1) * sizeof *stages);
    if (!stages)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    pipeline->stages = stages;
    for (int s = 0; s < plan->segment_count; s++) {
        for (int i = 0; i < plan->segment[s].count; i++) {
            const int index = plan->segment[s].first + i;
            stages[before + index].segment = segments + s;
            gf_plan_stage_name(&plan->stage[index], stages[before + index].name,
                               sizeof stages[before + index].name);
        }
    }
    pipeline->stages_done += plan->stage_count;
    pipeline->segments_done += plan->segment_count;
    profile->stages = stages;
    profile->stage_count = pipeline->stages_done;
    profile->segments = pipeline->segments_done;
    if (!segments)
        profile->in = plan->in;
    profile->reduction = task->reduction > 1 ? task->reduction : 1;
    if (task->reduction > 1) {
        profile->in.width = task->width;
        profile->in.height = task->height;
    }
    profile->out = plan->out;
    return GF_OK;
}

static enum gf_status describe_run(struct gf_pipeline *pipeline, const struct gf_picture_task *task,
                                   const struct gf_plan *plan, const struct gf_run *run,
                                   struct gf_error *error)
{
    struct gf_profile *const profile = &pipeline->profile;
    pipeline->backend->calls->describe(pipeline->backend, profile->device, sizeof profile->device);
    profile->lanes = run->lanes;
    if (!pipeline->segments_done)
        profile->band_rows = run->first_band_rows;
    return gf_pipeline_describe_plan(pipeline, task, plan, error);
}

/* Memory of the device's for a result that stays there, for the caller to return to the pool. */
static enum gf_status take_device_result(struct gf_pipeline *pipeline, struct gf_format format,
                                         struct gf_image *image, struct gf_error *error)
{
    const size_t pitch = gf_band_pitch(pipeline->backend, format);
    const enum gf_status status = pipeline->backend->calls->ready(pipeline->backend, error);
    if (status)
        return status;
    *image = (struct gf_image){.format = format, .pitch = pitch};
    image->data = gf_buffer_pool_take(&pipeline->buffers, pitch * (size_t)format.height);
    return image->data ? GF_OK
                       : gf_fail(error, GF_ERROR_DEVICE_MEMORY,
                                 "out of device memory for a picture of %dx%d", format.width,
                                 format.height);
}

static enum gf_status schedule(struct gf_pipeline *pipeline, struct gf_plan *plan,
                               struct gf_source *source, struct gf_sink *sink,
                               const struct gf_picture_task *task, struct gf_error *error)
{
    if (!pipeline->buffers.backend)
        gf_buffer_pool_open(&pipeline->buffers, pipeline->backend);
    struct gf_device_images device_images;
    enum gf_status status =
        gf_pipeline_take_device_images(pipeline, task, plan, source, sink, &device_images, error);
    struct gf_options options = gf_pipeline_resolved(pipeline);
    const uint64_t encoded = device_images.out.data ? device_images.encoded_bytes : 0,
                   taken = task->codec_bytes + task->second_bytes + encoded;
    if (pipeline->options.memory_bytes)
        options.memory_bytes -= taken < options.memory_bytes / 2 ? taken : options.memory_bytes / 2;
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
                         .lanes = gf_pipeline_lanes(pipeline, !source && !sink),
                         .band_rows = !pipeline->band_rows && options.serial && pipeline->on_cuda
                                          ? large_rows
                                          : pipeline->band_rows,
                         .source = device_images.in.data ? NULL : source,
                         .sink = device_images.out.data ? NULL : sink,
                         .image_in = device_images.in.data ? &device_images.in : task->image_in,
                         .image_out = device_images.out.data ? &device_images.out : task->image_out,
                         .in_on_device = device_images.in.data,
                         .out_on_device = device_images.out.data || task->out_on_device};
    const size_t spans = pipeline->spans.count;
    /* Without a stage the result is the picture that was decoded, where it lies. */
    const bool is_result = !plan->stage_count && device_images.in.data &&
                           (device_images.out.data || task->out_on_device);
    if (!status && task->out_on_device && !is_result)
        status = take_device_result(pipeline, plan->out, task->image_out, error);
    if (!status && !is_result)
        status = gf_schedule(&run, error);
    for (size_t i = spans; i < pipeline->spans.count; i++) {
        if (pipeline->spans.item[i].stage >= 0)
            pipeline->spans.item[i].stage += pipeline->stages_done;
    }
    if (!status && device_images.out.data)
        status = gf_pipeline_encode_on_device(pipeline, task, sink, &device_images, error);
    if (!task->in_on_device)
        pipeline->profile.device_decoded = device_images.in.data;
    pipeline->profile.device_encoded = device_images.out.data;
    if (!status && task->out_on_device && is_result) {
        *task->image_out = device_images.in;
        device_images.in.data = NULL;
    }
    gf_pipeline_drop_device_images(pipeline, task, &device_images);
    if (status == GF_ERROR_DEVICE_MEMORY && !pipeline->device_codec_used)
        pipeline->band_rows = run.first_band_rows / 2;
    if (status && !pipeline->holds_buffers)
        gf_buffer_pool_close(&pipeline->buffers);
    else if (!status)
        gf_buffer_pool_trim(&pipeline->buffers);
    return status ? status : describe_run(pipeline, task, plan, &run, error);
}

uint64_t gf_pipeline_whole_bytes(const struct gf_pipeline *pipeline, const struct gf_plan *plan)
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

/* A worker of a batch may use the memory of all pictures. */
uint64_t gf_pipeline_memory_limit(const struct gf_pipeline *pipeline)
{
    const uint64_t own = pipeline->options.memory_bytes,
                   shared = pipeline->memory_budget ? pipeline->memory_budget->limit : 0;
    const uint64_t limit = shared > own ? shared : own;
    return limit ? limit : UINT64_MAX;
}

/* Refuses a picture whose codec alone needs more than the caller's budget. */
static enum gf_status check_codec_memory(const struct gf_pipeline *pipeline, const char *name,
                                         struct gf_codec_memory memory, struct gf_error *error)
{
    const uint64_t limit = gf_pipeline_memory_limit(pipeline);
    if (!pipeline->options.memory_bytes || memory.bytes <= limit)
        return GF_OK;
    return gf_fail(error, GF_ERROR_INPUT,
                   "%s: %s: that takes %llu MiB of memory, over the %llu MiB of "
                   "options.memory_bytes",
                   name, memory.why, (unsigned long long)(memory.bytes >> 20),
                   (unsigned long long)(limit >> 20));
}

/* Takes what the picture needs from the budget that the pipeline shares, while it is scheduled. */
enum gf_status gf_pipeline_schedule(struct gf_pipeline *pipeline, struct gf_plan *plan,
                                    struct gf_source *source, struct gf_sink *sink,
                                    const struct gf_picture_task *task, struct gf_error *error)
{
    const uint64_t bytes =
        pipeline->memory_budget && !pipeline->budget_taken
            ? gf_pipeline_whole_bytes(pipeline, plan) + task->codec_bytes + task->image_bytes
            : 0;
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

/* The bytes of the second pictures that the plan's filters read. */
static uint64_t second_bytes(const struct gf_plan *plan)
{
    uint64_t bytes = 0;
    for (int s = 0; s < plan->stage_count; s++) {
        const struct gf_picture *list[GF_STAGE_PICTURES_MAX];
        const int count = gf_stage_pictures(&plan->stage[s], list);
        for (int i = 0; i < count; i++)
            bytes += gf_picture_bytes(list[i]);
    }
    return bytes;
}

enum gf_status gf_pipeline_check_codecs(const struct gf_pipeline *pipeline,
                                        struct gf_picture_task *task,
                                        const struct gf_source *source, const struct gf_plan *plan,
                                        struct gf_error *error)
{
    const struct gf_codec_memory second = {second_bytes(plan), "second pictures are held whole"};
    struct gf_codec_memory in = {0}, out = {0};
    if (source)
        in = source->memory;
    if (task->output)
        out = gf_sink_memory(task->file_format, plan->out, &pipeline->options);
    task->codec_bytes = in.bytes + out.bytes;
    task->second_bytes = second.bytes;
    enum gf_status status = check_codec_memory(
        pipeline, task->input ? gf_input_name(task->input) : "picture", second, error);
    if (!status && source)
        status = check_codec_memory(pipeline, gf_input_name(task->input), in, error);
    if (!status && task->output)
        status = check_codec_memory(pipeline, gf_output_name(task->output), out, error);
    return status;
}

/* A part of the chain, from the source or the picture that the part before has made. */
struct part {
    struct gf_chain chain; /* its items are the pipeline's */
    struct gf_source *source;
    const struct gf_image *in;
    struct gf_plan_request request;
    bool recoloured; /* a filter has given it the profile of the request */
};

static struct gf_format format_before(const struct part *part)
{
    return part->source ? part->source->format : part->in->format;
}

/* Runs a part whose result another one needs whole, before that is planned. Sets the part's profile
 * to that of the result. */
static enum gf_status run_to_image(struct gf_pipeline *pipeline, const struct gf_picture_task *task,
                                   struct part *part, struct gf_image *image,
                                   struct gf_error *error)
{
    struct gf_picture_task own = *task;
    struct gf_plan plan = {0};
    own.destination = NULL;
    own.output = NULL;
    own.file_format = GF_FILE_AUTO;
    own.image_in = part->in;
    own.image_out = image;
    enum gf_status status = gf_pipeline_plan_part(pipeline, &own, &part->chain, format_before(part),
                                                  &part->request, &plan, error);
    if (!status)
        status = gf_pipeline_check_codecs(pipeline, &own, part->source, &plan, error);
    if (!status)
        status = gf_image_alloc(image, plan.out, error);
    if (!status) {
        own.image_bytes += image->pitch * (size_t)image->format.height;
        status = gf_pipeline_schedule(pipeline, &plan, part->source, NULL, &own, error);
    }
    part->request.icc = plan.icc;
    part->recoloured |= plan.recoloured;
    gf_plan_free(&plan);
    return status;
}

/* Allocates the caller's picture, or checks the one that there is. */
static enum gf_status settle_image(struct gf_image *image, struct gf_format format,
                                   struct gf_error *error)
{
    if (!image->data)
        return gf_image_alloc(image, format, error);
    return image->format.width == format.width && image->format.height == format.height
               ? GF_OK
               : gf_fail(error, GF_ERROR_USAGE,
                         "output: the result is %dx%d, which depends on the pixels: leave the "
                         "memory to the library",
                         format.width, format.height);
}

enum gf_status gf_pipeline_open_sink(const struct gf_pipeline *pipeline,
                                     const struct gf_picture_task *task, struct gf_format format,
                                     const struct gf_icc *icc, bool filtered,
                                     const struct gf_metadata *metadata, struct gf_sink **sink,
                                     struct gf_error *error)
{
    struct gf_metadata changed = *metadata; /* whose blobs are the source's, or the plan's */
    if (icc) {
        changed.icc = (struct gf_blob){(unsigned char *)icc->data, icc->size};
        changed.colour = (struct gf_colour_tags){0};
    }
    if (filtered)
        changed.palette = (struct gf_blob){0};
    return gf_sink_open(task->output, task->file_format, format, &changed, &pipeline->options, sink,
                        error);
}

static enum gf_status run_last(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                               const struct part *part, const struct gf_metadata *metadata,
                               struct gf_error *error)
{
    struct gf_sink *sink = NULL;
    struct gf_plan plan = {0};
    const struct gf_image *const image_in = task->image_in;
    task->image_in = part->in;
    enum gf_status status = gf_pipeline_plan_part(pipeline, task, &part->chain, format_before(part),
                                                  &part->request, &plan, error);
    if (!status)
        status = gf_pipeline_check_codecs(pipeline, task, part->source, &plan, error);
    if (!status && task->image_out)
        status = settle_image(task->image_out, plan.out, error);
    const bool remotely = pipeline->remote != NULL;
    if (!status && remotely)
        status = gf_pipeline_attempt_remotely(pipeline, task, &plan, error);
    if (!status && !remotely && task->output && metadata)
        status = gf_pipeline_open_sink(pipeline, task, plan.out,
                                       part->recoloured || plan.recoloured ? &plan.icc : NULL,
                                       plan.stage_count || part->in, metadata, &sink, error);
    if (!status && !remotely)
        status = gf_pipeline_schedule(pipeline, &plan, part->source, sink, task, error);
    if (sink)
        sink->close(sink);
    gf_plan_free(&plan);
    task->image_in = image_in;
    return status;
}

/* Runs the chain up to the filter that needs a finished picture, lets it find its box there, and
 * goes on with that filter and those behind it. */
enum gf_status gf_pipeline_run_parts(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                     struct gf_source *source, struct gf_error *error)
{
    const struct gf_chain *const chain = &pipeline->chain;
    struct gf_image made[2] = {{.data = NULL}, {.data = NULL}};
    struct part part = {.source = source, .in = task->image_in, .request = {.orientation = 1}};
    enum gf_status status = GF_OK;
    int begin = 0, end, parts = 0;
    if (source)
        part.request = gf_pipeline_request(pipeline, source);
    if (source && source->metadata.icc.size && !part.request.icc.size && gf_chain_converts(chain))
        gf_warn(&pipeline->options, "%s: its ICC profile is of no use: its colours count as sRGB",
                gf_input_name(task->input));
    task->reduction = part.request.reduction;
    task->width = part.request.width;
    task->height = part.request.height;
    while (!status && (end = gf_chain_next_box(chain, begin + (parts > 0))) < chain->count) {
        struct gf_image *const image = &made[parts % 2];
        part.chain = gf_chain_part(chain, begin, end);
        status = run_to_image(pipeline, task, &part, image, error);
        gf_image_free(&made[++parts % 2]);
        if (status)
            break;
        const struct gf_view view = gf_image_view(image);
        part = (struct part){.in = image,
                             .request = {.orientation = 1, .icc = part.request.icc},
                             .recoloured = part.recoloured};
        chain->item[end].filter->find_box(chain->item[end].params, &view, &part.request.box);
        task->image_bytes = image->pitch * (size_t)image->format.height;
        begin = end;
    }
    part.chain = gf_chain_part(chain, begin, chain->count);
    if (!status)
        status = run_last(pipeline, task, &part, source ? &source->metadata : NULL, error);
    gf_image_free(&made[0]);
    gf_image_free(&made[1]);
    task->image_bytes = 0;
    return status;
}

/* One attempt, with a source and a sink of its own. */
static enum gf_status attempt(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                              struct gf_error *error)
{
    struct gf_source *source = NULL;
    enum gf_status status = GF_OK;
    pipeline->stages_done = pipeline->segments_done = 0;
    if (pipeline->remote && gf_chain_next_box(&pipeline->chain, 0) < pipeline->chain.count) {
        task->remote_failed = true; /* the result's size, and with it its name, are not known yet */
        return GF_ERROR_UNAVAILABLE;
    }
    pipeline->remote_warn = pipeline->options.warn;
    if (pipeline->remote) /* it reads the header, too, and says what there is to say */
        pipeline->options.warn = NULL;
    if (task->input)
        status = gf_source_open(task->input, &pipeline->options, &source, error);
    if (!status)
        status = gf_pipeline_run_parts(pipeline, task, source, error);
    pipeline->options.warn = pipeline->remote_warn;
    if (source)
        source->close(source);
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
    if (task->remote_failed) {
        status = gf_pipeline_leave_remote(pipeline, task, &failure);
        if (!status)
            status = attempt(pipeline, task, &failure);
    }
    while (status && !pipeline->remote &&
           gf_pipeline_recover(pipeline, status, &failure, &failure)) {
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
    if (!pipeline->has_finished && pipeline->on_cuda && !pipeline->remote)
        gf_start_note(GF_START_PICTURE, pipeline->spans.origin_s);
    pipeline->has_finished = true;
    pipeline->profile.wall_s = gf_now() - pipeline->spans.origin_s;
    pipeline->profile.spans = pipeline->spans.item;
    pipeline->profile.span_count = pipeline->spans.count;
    if (pipeline->options.profile && !pipeline->profile.device_copy_peak)
        pipeline->backend->calls->measure(pipeline->backend, &pipeline->profile);
}
