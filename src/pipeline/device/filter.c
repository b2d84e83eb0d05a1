/* Filters pictures in a device's memory: the caller's without waiting, many to pictures that are
 * complete, pictures to floating-point numbers, and such numbers to pictures. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/image.h"
#include "gpufilter/pipeline_batch.h"
#include "pipeline/pipeline_state.h"
#include "pixel/floats.h"

static enum gf_status check_device(const struct gf_pipeline *pipeline, struct gf_error *error)
{
    return pipeline->options.device == GF_DEVICE_CUDA && pipeline->backend->calls->owns
               ? GF_OK
               : gf_fail(error, GF_ERROR_USAGE,
                         "pictures in a device's memory need options.device=GF_DEVICE_CUDA");
}

static enum gf_status check_chain(const struct gf_pipeline *pipeline, struct gf_error *error)
{
    const int box = gf_chain_next_box(&pipeline->chain, 0);
    GF_TRY(check_device(pipeline, error));
    return box == pipeline->chain.count
               ? GF_OK
               : gf_fail(error, GF_ERROR_UNFIT,
                         "%s: looks for a box in a picture in the host's memory: use "
                         "gf_pipeline_run_image()",
                         gf_filter_name(pipeline->chain.item[box].filter));
}

enum gf_status gf_pipeline_check_stream(const struct gf_pipeline *pipeline, void *stream,
                                        struct gf_error *error)
{
    struct gf_backend *const backend = pipeline->backend;
    return backend->calls->is_captured(backend, stream)
               ? gf_fail(error, GF_ERROR_USAGE,
                         "stream: it is being captured, and a CUDA graph would outlive the memory "
                         "that the call uses")
               : GF_OK;
}

/* The first call opens what the others find. */
static enum gf_status open_resident(struct gf_pipeline *pipeline, struct gf_error *error)
{
    if (pipeline->resident)
        return GF_OK;
    GF_TRY(pipeline->backend->calls->ready(pipeline->backend, error));
    return gf_resident_open(pipeline->backend, &pipeline->options, &pipeline->resident, error);
}

/* Whether somebody follows the run, which then takes the way of all other pictures. */
static bool is_followed(const struct gf_pipeline *pipeline)
{
    const struct gf_options *const options = &pipeline->options;
    return options->profile || options->spans || options->timeout_s > 0 || pipeline->progress ||
           pipeline->facts.tell;
}

/* Makes a plan ready for pictures of the input's format. *ready becomes NULL if none can stay. */
static enum gf_status make_ready(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                 struct gf_ready_plan **ready, struct gf_error *error)
{
    const struct gf_plan_request request = {.orientation = 1};
    struct gf_plan plan = {0};
    struct gf_error why = {0};
    *ready = NULL;
    gf_pipeline_note_facts(pipeline, task, NULL);
    if (is_followed(pipeline))
        return GF_OK;
    enum gf_status status = gf_pipeline_plan_part(pipeline, task, &pipeline->chain,
                                                  task->image_in->format, &request, &plan, error);
    GF_THEN(status, gf_pipeline_check_memory(pipeline, task, NULL, &plan, error));
    if (!status && plan.icc.inks)
        status = gf_fail(error, GF_ERROR_UNFIT, "a picture in memory is not CMYK: write a file");
    if (status) {
        gf_plan_free(&plan);
        return status;
    }
    pipeline->described_plan = NULL;
    status = gf_resident_add(pipeline->resident, &plan, ready, &why);
    /* With bands, the ordinary way may need less memory. */
    if (status == GF_ERROR_UNFIT || status == GF_ERROR_DEVICE_MEMORY)
        return GF_OK;
    if (status && error)
        *error = why;
    return status;
}

/* Filters by the ordinary way, which waits for the results. */
static enum gf_status run_and_wait(struct gf_pipeline *pipeline, const struct gf_image *in,
                                   const struct gf_image *out, int count, void *stream, int *failed,
                                   struct gf_error *error)
{
    enum { VECTOR = 16 };
    GF_TRY(gf_resident_wait(pipeline->resident, stream, error));
    for (int i = 0; i < count; i++) {
        *failed = i;
        struct gf_image result = out[i];
        struct gf_picture_task task = {
            .image_in = &in[i],
            .image_out = &result,
            .in_on_device = ((uintptr_t)in[i].data | in[i].pitch) % VECTOR == 0,
            .out_is_callers = ((uintptr_t)out[i].data | out[i].pitch) % VECTOR == 0};
        GF_TRY(gf_pipeline_filter_task(pipeline, &task, error));
    }
    return GF_OK;
}

static enum gf_status run_ready(struct gf_pipeline *pipeline, struct gf_ready_plan *ready,
                                const struct gf_image *in, const struct gf_image *out, int count,
                                void *stream, struct gf_error *error)
{
    const struct gf_picture_task task = {.image_in = in};
    GF_TRY(gf_resident_run(pipeline->resident, ready, in, out, count, stream, error));
    if (pipeline->described_plan == ready)
        return GF_OK;
    pipeline->stages_done = pipeline->segments_done = 0;
    pipeline->described_plan = ready;
    return gf_pipeline_describe_plan(pipeline, &task, gf_ready_plan_of(ready), error);
}

/* Adds the picture's number to the message of a failure, as in "[3]: ", unless it is the only one.
 * Returns the status. */
static GF_CHECKED enum gf_status pipeline_number(enum gf_status status, int i, int count,
                                                 struct gf_error *error)
{
    if (!status || !error || count < 2)
        return status;
    const struct gf_error whole = *error;
    return gf_fail(error, status, "[%d]: %s", i, whole.text);
}

static enum gf_status check_pictures(const struct gf_pipeline *pipeline, const char *name,
                                     const struct gf_image *image, int count,
                                     struct gf_error *error)
{
    struct gf_memory_range known = {0};
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < count; i++) {
        status = gf_image_check(&image[i], name, error);
        GF_THEN(status,
                gf_resident_check(pipeline->resident, &image[i], count > 1 ? &known : NULL, error));
        status = pipeline_number(status, i, count, error);
    }
    return status;
}

static enum gf_status check_outputs(struct gf_pipeline *pipeline, const struct gf_ready_plan *ready,
                                    const struct gf_image *in, const struct gf_image *out,
                                    int count, int *failed, struct gf_error *error)
{
    struct gf_format format = ready ? gf_ready_plan_of(ready)->out : (struct gf_format){0};
    if (!ready)
        GF_TRY(gf_pipeline_format(pipeline, in->format, &format, error));
    for (int i = 0; i < count; i++) {
        *failed = i;
        GF_TRY(gf_pipeline_check_output(&in[i], &out[i], format, error));
    }
    return GF_OK;
}

/* Filters pictures of one format. *failed becomes the number of the one that has failed. */
static enum gf_status run_alike(struct gf_pipeline *pipeline, const struct gf_image *in,
                                const struct gf_image *out, int count, void *stream, int *failed,
                                struct gf_error *error)
{
    struct gf_image result = *out;
    struct gf_picture_task task = {.image_in = in, .image_out = &result};
    struct gf_ready_plan *ready =
        is_followed(pipeline) ? NULL : gf_resident_find(pipeline->resident, in->format);
    *failed = 0;
    if (!ready)
        GF_TRY(make_ready(pipeline, &task, &ready, error));
    GF_TRY(check_outputs(pipeline, ready, in, out, count, failed, error));
    return ready ? run_ready(pipeline, ready, in, out, count, stream, error)
                 : run_and_wait(pipeline, in, out, count, stream, failed, error);
}

static enum gf_status run_bound(struct gf_pipeline *pipeline, const struct gf_image *in,
                                const struct gf_image *out, int count, void *stream,
                                struct gf_error *error)
{
    GF_TRY(gf_pipeline_check_stream(pipeline, stream, error));
    GF_TRY(open_resident(pipeline, error));
    GF_TRY(check_pictures(pipeline, "input", in, count, error));
    GF_TRY(check_pictures(pipeline, "output", out, count, error));
    gf_pipeline_begin_profile(pipeline);
    for (int i = 0, end, failed; i < count; i = end) {
        for (end = i + 1;
             end < count && !memcmp(&in[end].format, &in[i].format, sizeof in->format);)
            end++;
        const enum gf_status status =
            run_alike(pipeline, in + i, out + i, end - i, stream, &failed, error);
        GF_TRY(pipeline_number(status, i + failed, count, error));
    }
    gf_pipeline_end_profile(pipeline);
    return GF_OK;
}

enum gf_status gf_pipeline_run_device_batch(struct gf_pipeline *pipeline,
                                            const struct gf_image *inputs,
                                            const struct gf_image *outputs, int count, void *stream,
                                            struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    GF_NOT_NULL(inputs, error);
    GF_NOT_NULL(outputs, error);
    if (count < 0)
        return gf_fail(error, GF_ERROR_USAGE, "count=%d is negative", count);
    GF_TRY(check_chain(pipeline, error));
    const int before = pipeline->backend->calls->bind(pipeline->backend);
    const enum gf_status status = run_bound(pipeline, inputs, outputs, count, stream, error);
    if (pipeline->backend)
        pipeline->backend->calls->unbind(pipeline->backend, before);
    return status;
}

enum gf_status gf_pipeline_run_device(struct gf_pipeline *pipeline, const struct gf_image *input,
                                      const struct gf_image *output, void *stream,
                                      struct gf_error *error)
{
    GF_NOT_NULL(input, error);
    GF_NOT_NULL(output, error);
    return gf_pipeline_run_device_batch(pipeline, input, output, 1, stream, error);
}

/* Filters many pictures in a device's memory to pictures that are complete, and are allocated where
 * the caller has no memory for them. */

/* Allocates the pictures without memory, in the formats of the results. */
static enum gf_status allocate(struct gf_pipeline *pipeline, const struct gf_image *inputs,
                               struct gf_image *images, int count, struct gf_error *error)
{
    struct gf_format format = {0};
    for (int i = 0; i < count; i++) {
        if (!i || memcmp(&inputs[i].format, &inputs[i - 1].format, sizeof format))
            GF_TRY(pipeline_number(gf_pipeline_format(pipeline, inputs[i].format, &format, error),
                                   i, count, error));
        if (!images[i].data)
            GF_TRY(pipeline_number(gf_pipeline_alloc_image(pipeline, format, &images[i], error), i,
                                   count, error));
    }
    return GF_OK;
}

enum gf_status gf_filter_batch(struct gf_pipeline *pipeline, int count,
                               const struct gf_image *inputs, struct gf_image *outputs,
                               void *stream, struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    GF_NOT_NULL(inputs, error);
    GF_NOT_NULL(outputs, error);
    /* This checks the chain, and starts the device. */
    enum gf_status status = gf_pipeline_run_device_batch(pipeline, inputs, outputs,
                                                         count < 0 ? count : 0, stream, error);
    if (status || !count)
        return status;
    struct gf_image *const images = malloc((size_t)count * sizeof *images);
    GF_ALLOCATED(images, error);
    memcpy(images, outputs, (size_t)count * sizeof *images);
    const struct gf_backend_calls *const calls = pipeline->backend->calls;
    const int before = calls->bind(pipeline->backend);
    status = allocate(pipeline, inputs, images, count, error);
    GF_THEN(status, gf_pipeline_run_device_batch(pipeline, inputs, images, count, stream, error));
    GF_THEN(status, gf_resident_wait(pipeline->resident, stream, error));
    if (pipeline->backend)
        calls->unbind(pipeline->backend, before);
    for (int i = 0; status && i < count; i++) {
        if (!outputs[i].data)
            gf_pipeline_free_images(pipeline, &images[i], 1);
    }
    if (!status)
        memcpy(outputs, images, (size_t)count * sizeof *images);
    free(images);
    return status;
}

/* Pictures in a device's memory as the floating-point numbers that networks take, and such numbers
 * as pictures. */

/* Checks the pictures, which have one format, though as patches several sizes, and makes *form. */
static enum gf_status form_of_images(const struct gf_image *images, int count,
                                     const struct gf_numbers *numbers, struct gf_float_form *form,
                                     struct gf_error *error)
{
    if (count < 1)
        return gf_fail(error, GF_ERROR_USAGE, "count=%d is below 1", count);
    const struct gf_format first = images[0].format;
    const bool has_patches = numbers->layout == GF_FLOATS_PATCHES;
    for (int i = 0; i < count; i++) {
        const struct gf_format format = images[i].format;
        struct gf_error why;
        GF_TRY(gf_image_check(&images[i], "picture", error));
        if (format.channels != first.channels || !gf_same_samples(format, first) ||
            (!has_patches && (format.width != first.width || format.height != first.height)))
            return gf_fail(error, GF_ERROR_UNFIT, "[%d]: its format is not that of [0]", i);
        if (i && !has_patches)
            continue;
        const enum gf_status status = gf_float_form_make(format, numbers, form, &why);
        if (status)
            return gf_fail(error, status, "[%d]: %s", i, why.text);
    }
    return GF_OK;
}

enum gf_status gf_pipeline_to_floats(struct gf_pipeline *pipeline, int count,
                                     const struct gf_image *images, enum gf_floats layout,
                                     int channels, const float *mean, const float *deviation,
                                     float *values, void *stream, struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    GF_NOT_NULL(images, error);
    GF_NOT_NULL(values, error);
    const struct gf_numbers numbers = {
        .layout = layout, .channels = channels, .mean = mean, .deviation = deviation};
    return gf_pipeline_to_numbers(pipeline, count, images, &numbers, values, stream, error);
}

enum gf_status gf_pipeline_to_numbers(struct gf_pipeline *pipeline, int count,
                                      const struct gf_image *images,
                                      const struct gf_numbers *numbers, void *values, void *stream,
                                      struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    GF_NOT_NULL(images, error);
    GF_NOT_NULL(numbers, error);
    GF_NOT_NULL(values, error);
    struct gf_float_form form;
    GF_TRY(form_of_images(images, count, numbers, &form, error));
    GF_TRY(check_device(pipeline, error));
    struct gf_backend *const backend = pipeline->backend;
    const int before = backend->calls->bind(backend);
    enum gf_status status = backend->calls->ready(backend, error);
    GF_THEN(status,
            backend->calls->to_floats(backend, images, count, &form, values, stream, error));
    backend->calls->unbind(backend, before);
    return status;
}

enum gf_status gf_pipeline_from_numbers(struct gf_pipeline *pipeline, const void *values,
                                        enum gf_number type, float black, float white,
                                        const struct gf_image *image, void *stream,
                                        struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    GF_NOT_NULL(values, error);
    GF_NOT_NULL(image, error);
    const struct gf_float_source source = {values, type, black, white};
    GF_TRY(gf_float_source_check(&source, image, error));
    GF_TRY(check_device(pipeline, error));
    struct gf_backend *const backend = pipeline->backend;
    const int before = backend->calls->bind(backend);
    enum gf_status status = gf_pipeline_check_stream(pipeline, stream, error);
    GF_THEN(status, backend->calls->ready(backend, error));
    GF_THEN(status, backend->calls->from_floats(backend, &source, image, stream, error));
    backend->calls->unbind(backend, before);
    return status;
}
