/* Schedules a plan on the engine, and has the GPU's coders decode the input and encode the result
 * in device memory where they can. */
#include "base/fail.h"
#include "base/process/machine.h"
#include "base/threads/times.h"
#include "chain/plan.h"
#include "codec/common/rows/source.h"
#include "engine/device_pyramid.h"
#include "engine/engine.h"
#include "engine/layout.h"
#include "gpufilter/pipeline_batch.h"
#include "pipeline/pipeline_state.h"

enum gf_status gf_pipeline_alloc_image(const struct gf_pipeline *pipeline, struct gf_format format,
                                       struct gf_image *image, struct gf_error *error)
{
    struct gf_backend *const backend = pipeline->backend;
    const size_t pitch = gf_band_pitch(backend, format);
    *image = (struct gf_image){.format = format, .pitch = pitch};
    image->data = backend->calls->alloc(backend, pitch * (size_t)format.height);
    return image->data ? GF_OK
                       : gf_fail(error, GF_ERROR_DEVICE_MEMORY,
                                 "out of device memory for a picture of %dx%d", format.width,
                                 format.height);
}

void gf_pipeline_free_images(struct gf_pipeline *pipeline, struct gf_image *images, int count)
{
    if (!pipeline || !images || !pipeline->backend || !pipeline->backend->calls->settle)
        return;
    struct gf_backend *const backend = pipeline->backend;
    backend->calls->settle(backend); /* waits, since another picture may get the memory at once */
    for (int i = 0; i < count; i++) {
        struct gf_image *const image = &images[i];
        if (image->data)
            backend->calls->release(backend, image->data,
                                    image->pitch * (size_t)image->format.height);
        image->data = NULL;
    }
}

/* Decoding and encoding pictures in device memory by the GPU's coders. */

/* A file may take half of the budget of host memory, since the encoded result may be as large as
 * the input. */
uint64_t gf_pipeline_file_bytes_most(const struct gf_pipeline *pipeline)
{
    return gf_pipeline_resolved(pipeline).memory_bytes / 2;
}

/* Without a limit, the file of a picture that is alone may take a part of the machine's memory. */
static uint64_t lone_file_bytes_most(const struct gf_pipeline *pipeline)
{
    const uint64_t half = gf_pipeline_file_bytes_most(pipeline),
                   part = gf_memory_machine_bytes() / 16;
    const bool alone = !pipeline->options.memory_bytes && !pipeline->options.serial;
    return alone && part > half ? part : half;
}

static enum gf_status decode_on_device(struct gf_pipeline *pipeline,
                                       struct gf_device_coders *coders, struct gf_device_file *file,
                                       struct gf_format format, struct gf_image *image,
                                       struct gf_error *error)
{
    const double begin_s = gf_now();
    GF_TRY(gf_device_file_decode(coders, file, format, &pipeline->buffers, image, error));
    if (image->data)
        gf_spans_add(&pipeline->spans, GF_SPAN_DECODE, -1, -1, begin_s, gf_now(),
                     gf_pipeline_image_bytes(format));
    return GF_OK;
}

static GF_CHECKED enum gf_status
pipeline_encode_on_device(struct gf_pipeline *pipeline, const struct gf_picture_task *task,
                          struct gf_sink *sink, const struct gf_device_images *device_images,
                          struct gf_error *error)
{
    const double begin_s = gf_now();
    double coded_s = begin_s;
    const enum gf_status status =
        sink->pyramid ? gf_device_encode_pyramid(device_images->coders, &device_images->out, sink,
                                                 &pipeline->buffers, error)
        : sink->search
            ? gf_device_search(device_images->coders, task->file_format, &device_images->out, sink,
                               &pipeline->buffers, error)
            : gf_device_encode(device_images->coders, task->file_format, &device_images->out, sink,
                               &pipeline->options, &coded_s, error);
    gf_spans_add(&pipeline->spans, GF_SPAN_ENCODE, -1, -1, begin_s, coded_s,
                 gf_pipeline_image_bytes(device_images->out.format));
    gf_spans_add(&pipeline->spans, GF_SPAN_ENCODE, -1, -1, coded_s, gf_now(), 0);
    /* The time is checked only here, since kernels and coders cannot be interrupted. */
    return status ? status : gf_time_check(error);
}

/* Decodes the file on the device, and takes device memory for the result if `encodes` is true. */
static enum gf_status take_images(struct gf_pipeline *pipeline, struct gf_device_file *file,
                                  const struct gf_plan *plan, bool encodes,
                                  struct gf_device_images *images, struct gf_error *error)
{
    if (file->data)
        GF_TRY(decode_on_device(pipeline, images->coders, file, plan->in, &images->in, error));
    if (!encodes)
        return GF_OK;
    if (!plan->stage_count) {
        images->out = images->in;
        return GF_OK;
    }
    images->out = (struct gf_image){.format = plan->out,
                                    .pitch = gf_band_pitch(pipeline->backend, plan->out)};
    images->out.data =
        gf_buffer_pool_take(&pipeline->buffers, images->out.pitch * (size_t)plan->out.height);
    return GF_OK;
}

/* Decodes the input on the device if its coders can, and takes device memory for the result if they
 * can encode it for the sink. Without stages, input and result are the same image. */
static GF_CHECKED enum gf_status
pipeline_take_device_images(struct gf_pipeline *pipeline, const struct gf_picture_task *task,
                            const struct gf_plan *plan, struct gf_source *source,
                            const struct gf_sink *sink, struct gf_device_images *device_images,
                            struct gf_error *error)
{
    const struct gf_backend_calls *const calls = pipeline->backend->calls;
    const bool is_pyramid = sink && sink->pyramid;
    const uint64_t encoded = is_pyramid ? 0 : gf_device_encoded_bytes(task->file_format, plan->out);
    const bool encodes =
        is_pyramid
            ? gf_device_encodes_pyramid(sink)
            : sink && (sink->splice || sink->search) && encoded <= lone_file_bytes_most(pipeline) &&
                  gf_device_encodes(task->file_format, plan->out, &pipeline->options);
    struct gf_device_file file = {.data = NULL};
    enum gf_status status = GF_OK;
    *device_images = (struct gf_device_images){.encoded_bytes = encoded};
    pipeline->device_codec_used = false;
    if (task->in_on_device)
        device_images->in = *task->image_in;
    if (!calls->coders || pipeline->options.codec == GF_CODEC_CPU ||
        (!task->input && !task->in_on_device) || pipeline->no_device_codec ||
        (!plan->stage_count && !encodes && !task->out_on_device))
        return GF_OK;
    if (!task->image_in)
        status =
            gf_device_file_read(task->input, task->own_format, source, pipeline->options.serial,
                                !pipeline->keeps_slow_files, plan->in,
                                lone_file_bytes_most(pipeline), &pipeline->buffers, &file, error);
    if (status || (!file.data && (!encodes || (!plan->stage_count && !task->in_on_device))))
        return status; /* failures are reported without waiting for the start of the device */
    const double begin_s = gf_now();
    status = calls->ready(pipeline->backend, error);
    /* Waiting for the device's start does not count as the picture's time. */
    gf_time_limit_excuse(begin_s);
    GF_THEN(status, calls->coders(pipeline->backend, &device_images->coders, error));
    pipeline->device_codec_used = !status;
    if (!status && file.data)
        gf_device_decoder_prepare(device_images->coders, &file);
    if (!status && encodes)
        gf_device_encoder_prepare(device_images->coders,
                                  is_pyramid ? sink->tile_file : task->file_format);
    GF_THEN(status, take_images(pipeline, &file, plan, encodes, device_images, error));
    if (!status && file.end && source && source->leave)
        status = source->leave(source, (int64_t)file.end, error);
    gf_buffer_pool_return(&pipeline->buffers, file.data);
    return status;
}

/* Returns the memory of the images to the pool, except that of the task's own images. */
static void pipeline_drop_device_images(struct gf_pipeline *pipeline,
                                        const struct gf_picture_task *task,
                                        const struct gf_device_images *device_images)
{
    const unsigned char *const held = task->in_on_device ? task->image_in->data : NULL;
    if (device_images->in.data != held)
        gf_buffer_pool_return(&pipeline->buffers, device_images->in.data);
    if (device_images->out.data != held)
        gf_buffer_pool_return(&pipeline->buffers, device_images->out.data);
}

/* Scheduling a plan on the engine: where its pictures lie, what memory they get, and its
 * profile. */

static enum gf_status describe_schedule(struct gf_pipeline *pipeline,
                                        const struct gf_picture_task *task,
                                        const struct gf_plan *plan,
                                        const struct gf_schedule *schedule, struct gf_error *error)
{
    struct gf_profile *const profile = &pipeline->profile;
    profile->lanes = schedule->lanes;
    if (!pipeline->segments_done)
        profile->band_rows = schedule->first_band_rows;
    return gf_pipeline_describe_plan(pipeline, task, plan, error);
}

/* Takes device memory for a result that stays on the device. The caller returns it to the pool. */
static enum gf_status take_device_result(struct gf_pipeline *pipeline, struct gf_format format,
                                         struct gf_image *image, struct gf_error *error)
{
    const size_t pitch = gf_band_pitch(pipeline->backend, format);
    GF_TRY(pipeline->backend->calls->ready(pipeline->backend, error));
    *image = (struct gf_image){.format = format, .pitch = pitch};
    image->data = gf_buffer_pool_take(&pipeline->buffers, pitch * (size_t)format.height);
    return image->data ? GF_OK
                       : gf_fail(error, GF_ERROR_DEVICE_MEMORY,
                                 "out of device memory for a picture of %dx%d", format.width,
                                 format.height);
}

static enum gf_status schedule_on_backend(struct gf_pipeline *pipeline, struct gf_plan *plan,
                                          struct gf_source *source, struct gf_sink *sink,
                                          const struct gf_picture_task *task,
                                          struct gf_error *error)
{
    if (!pipeline->buffers.backend)
        gf_buffer_pool_open(&pipeline->buffers, pipeline->backend);
    /* Shared memory grows by more than a picture's file, which a limit of memory may not hold. */
    pipeline->buffers.shares = pipeline->options.serial && !pipeline->options.memory_bytes;
    struct gf_device_images device_images;
    enum gf_status status =
        pipeline_take_device_images(pipeline, task, plan, source, sink, &device_images, error);
    struct gf_options options = gf_pipeline_resolved(pipeline);
    const uint64_t encoded = device_images.out.data ? device_images.encoded_bytes : 0,
                   taken = task->codec_bytes + task->second_bytes + task->image_bytes +
                           gf_pipeline_whole_bytes(pipeline, plan) + encoded;
    if (pipeline->options.memory_bytes)
        options.memory_bytes = gf_pipeline_band_bytes(pipeline, taken);
    /* If the device decodes and encodes, threads would have nothing to do meanwhile. */
    const bool on_device =
        device_images.in.data && (device_images.out.data || task->out_is_callers);
    const bool serial = options.serial || (!options.lanes && on_device);
    /* A serial schedule waits for the device after each band, so that large bands are best, unless
     * a time limit has to be checked between bands. */
    const int large_rows =
        (int)(pipeline->backend->calls->band_bytes_most / gf_row_bytes(plan->in)) + 1;
    struct gf_schedule schedule = {
        .plan = plan,
        .backend = pipeline->backend,
        .buffers = &pipeline->buffers,
        .serial = serial,
        .options = &options,
        .memory_is_limit = pipeline->options.memory_bytes != 0,
        .spans = &pipeline->spans,
        .progress = pipeline->progress ? pipeline->progress : &pipeline->own_progress,
        .lanes = serial ? 1 : gf_pipeline_lanes(pipeline, plan),
        .band_rows = !pipeline->band_rows && serial && pipeline->on_cuda && gf_time_limit() <= 0
                         ? large_rows
                         : pipeline->band_rows,
        .source = device_images.in.data ? NULL : source,
        .sink = device_images.out.data ? NULL : sink,
        .image_in = device_images.in.data ? &device_images.in : task->image_in,
        .image_out = device_images.out.data ? &device_images.out : task->image_out,
        .in_on_device = device_images.in.data,
        .out_on_device = device_images.out.data || task->out_on_device || task->out_is_callers};
    const size_t spans = pipeline->spans.count;
    /* Without stages the decoded picture is the result, and is not copied. */
    const bool is_result = !plan->stage_count && device_images.in.data &&
                           (device_images.out.data || task->out_on_device);
    if (!status && task->out_on_device && !is_result)
        status = take_device_result(pipeline, plan->out, task->image_out, error);
    if (!status && !is_result && schedule.memory_is_limit)
        status = gf_pipeline_fit_bands(pipeline, task, taken, &options, &schedule, error);
    if (!status && !is_result)
        status = gf_schedule_plan(&schedule, error);
    for (size_t i = spans; i < pipeline->spans.count; i++) {
        if (pipeline->spans.item[i].stage >= 0)
            pipeline->spans.item[i].stage += pipeline->stages_done;
    }
    if (!status && device_images.out.data)
        status = pipeline_encode_on_device(pipeline, task, sink, &device_images, error);
    if (!status && is_result && pipeline->progress)
        gf_schedule_tell_whole(pipeline->progress);
    if (!task->in_on_device)
        pipeline->profile.device_decoded = device_images.in.data;
    pipeline->profile.device_encoded = device_images.out.data;
    const struct gf_fit fit = sink ? sink->fit : (struct gf_fit){0};
    pipeline->profile.quality = fit.quality;
    pipeline->profile.tries = fit.tries;
    pipeline->profile.score = fit.score;
    if (!status && task->out_on_device && is_result) {
        *task->image_out = device_images.in;
        device_images.in.data = NULL;
    }
    pipeline_drop_device_images(pipeline, task, &device_images);
    if (status == GF_ERROR_DEVICE_MEMORY && !pipeline->device_codec_used)
        pipeline->band_rows = schedule.first_band_rows / 2;
    if (status && !pipeline->holds_buffers)
        gf_buffer_pool_close(&pipeline->buffers);
    else if (!status)
        gf_buffer_pool_trim(&pipeline->buffers);
    return status ? status : describe_schedule(pipeline, task, plan, &schedule, error);
}

/* Schedules the plan, and takes the memory that the picture needs from the shared budget
 * meanwhile. */
enum gf_status gf_pipeline_schedule(struct gf_pipeline *pipeline, struct gf_plan *plan,
                                    struct gf_source *source, struct gf_sink *sink,
                                    const struct gf_picture_task *task, struct gf_error *error)
{
    const bool takes = !pipeline->budget_taken;
    const uint64_t bytes =
        gf_pipeline_whole_bytes(pipeline, plan) + task->codec_bytes + task->image_bytes;
    if (takes)
        gf_pipeline_take_memory(pipeline, bytes);
    const enum gf_status status = schedule_on_backend(pipeline, plan, source, sink, task, error);
    if (takes)
        gf_pipeline_return_memory(pipeline, bytes);
    return status;
}
