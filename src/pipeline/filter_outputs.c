/* Filters the pictures of an input to several outputs each. */
#include <stdlib.h>

#include "base/fail.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "pipeline/pipeline_state.h"

/* Puts one output in its place and calls done(). */
static void deliver_output(struct gf_pipeline *pipeline, struct gf_picture_task *task)
{
    const struct gf_destination *const destination = task->destination;
    pipeline->profile = task->profile;
    if (pipeline->spans.item)
        pipeline->profile.spans = pipeline->spans.item + task->first_span;
    gf_pipeline_describe_files(pipeline, task);
    task->status = gf_output_commit(task->output, &task->error);
    if (!task->status && destination->bytes)
        destination->bytes->data = gf_output_take(task->output, &destination->bytes->size);
    if (!task->status && destination->done)
        destination->done(destination->context, task->number, task->path, &pipeline->profile);
    pipeline->profile.stage_count = 0; /* the task owns the stages and the spans */
    pipeline->profile.span_count = 0;
}

/* Delivers the outputs that have succeeded, and closes the others. The status and *error are those
 * of the first output that failed, or of one that the device failed. */
static enum gf_status conclude_picture(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                       struct gf_destination *destination, struct gf_error *error)
{
    enum gf_status first = GF_OK;
    for (int i = 0; i < pipeline->outputs; i++) {
        if (destination[i].left_out)
            continue;
        if (!task[i].status)
            deliver_output(pipeline, &task[i]);
        destination[i].status = task[i].status;
        destination[i].error = task[i].error;
        destination[i].delivered = !task[i].status;
        /* A failure of the device tells the caller that another device may help. */
        const bool of_device = task[i].status == GF_ERROR_DEVICE ||
                               task[i].status == GF_ERROR_DEVICE_MEMORY ||
                               task[i].status == GF_ERROR_UNAVAILABLE;
        if (task[i].status && (!first || of_device)) {
            first = task[i].status;
            *error = task[i].error;
        }
        free((void *)task[i].profile.stages);
        task[i].bytes_before += task[i].output ? (uint64_t)gf_output_size(task[i].output) : 0;
        gf_output_close(task[i].output);
        gf_pipeline_renew_limits(&task[i]);
    }
    return first;
}

/* Looks for what follows the only picture that the outputs have names for, unless an output has
 * failed, which may have stopped before the picture's end. */
static void look_behind(struct gf_pipeline *pipeline, struct gf_picture_task *task)
{
    struct gf_error why = {0};
    bool made = false, more;
    for (int i = 0; i < pipeline->outputs; i++) {
        if (task[i].status)
            return;
        made |= task[i].output != NULL;
    }
    const enum gf_status status = made ? gf_pipeline_find_next(pipeline, task, &more, &why) : GF_OK;
    for (int i = 0; status && i < pipeline->outputs; i++) {
        task[i].status = task[i].output ? status : GF_OK;
        task[i].error = why;
    }
}

/* Filters the input's next picture to all outputs. */
static enum gf_status filter_to_all(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                    struct gf_destination *destination, bool *more,
                                    struct gf_error *error)
{
    enum gf_file_format format;
    struct gf_error why = {0};
    enum gf_status status = gf_input_format(task->input, &format, &why);
    for (int i = 0; i < pipeline->outputs; i++)
        task[i] = (struct gf_picture_task){.input = task[i].input,
                                           .destination = &destination[i],
                                           .number = task[i].number + 1,
                                           .own_format = format,
                                           .until_s = task[i].until_s,
                                           .bytes_before = task[i].bytes_before,
                                           .ended = destination[i].left_out || status,
                                           .status = status,
                                           .error = why};
    if (!status)
        gf_pipeline_filter_tasks(pipeline, task);
    *more = false;
    if (!destination->several)
        look_behind(pipeline, task);
    status = conclude_picture(pipeline, task, destination, error);
    return status || !destination->several ? status
                                           : gf_pipeline_find_next(pipeline, task, more, error);
}

enum gf_status gf_pipeline_filter_to_outputs(struct gf_pipeline *pipeline, struct gf_input *input,
                                             struct gf_destination *destination,
                                             struct gf_error *error)
{
    struct gf_picture_task *const task = calloc((size_t)pipeline->outputs, sizeof *task);
    enum gf_status status = task ? GF_OK : gf_fail_memory(error);
    bool more = !status;
    for (int i = 0; !status && i < pipeline->outputs; i++)
        task[i].input = input;
    for (bool again = false; !status && more; again = true) {
        if (again)
            gf_pipeline_begin_next_profile(pipeline);
        status = filter_to_all(pipeline, task, destination, &more, error);
    }
    free(task);
    return status;
}
