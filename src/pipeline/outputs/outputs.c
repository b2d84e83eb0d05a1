/* Filters one picture to several outputs. Each output has its own plan, as if it were alone. Stages
 * with which several plans begin are computed once. Their result is a whole picture, which is held
 * in the device's memory if it has room, else in the host's. From this picture the plans go on one
 * after another, each to its own output or to the next shared picture. So the bits are those of a
 * pipeline for each output. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "pipeline/outputs/branches.h"
#include "pipeline/pipeline_state.h"

static void close_source(struct gf_several *several)
{
    if (several->source)
        several->source->close(several->source);
    several->source = NULL;
}

/* Opens the source at the start of the picture. Only the first call warns of the header. */
static enum gf_status open_source(struct gf_several *several, bool again, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = several->pipeline;
    struct gf_input *const input = several->branch[0].task->input;
    void (*const warn)(void *context, const char *text) = pipeline->options.warn;
    close_source(several);
    if (again)
        pipeline->options.warn = NULL;
    enum gf_status status = again ? gf_input_rewind(input, error) : GF_OK;
    if (!status)
        status = gf_source_open(input, &pipeline->options, &several->source, error);
    pipeline->options.warn = warn;
    for (int i = 0; !status && i < pipeline->outputs; i++)
        several->branch[i].task->own_format = several->source->file;
    return status;
}

/* Attempts one output as a pipeline with a single output would. */
static enum gf_status attempt_alone(struct gf_several *several, struct gf_branch *branch,
                                    struct gf_error *error)
{
    struct gf_error why = {0};
    struct gf_pipeline *const pipeline = several->pipeline;
    gf_pipeline_select(pipeline, branch->number);
    pipeline->stages_done = pipeline->segments_done = 0;
    pipeline->budget_taken = false;
    enum gf_status status = open_source(several, true, &why);
    if (!status)
        status = gf_pipeline_attempt(pipeline, branch->task, several->source, &why);
    /* The buffers of the next output have other sizes, so that these are freed if memory is
     * limited. */
    if (pipeline->options.memory_bytes && pipeline->buffers.backend)
        gf_buffer_pool_clear(&pipeline->buffers);
    if (status)
        return gf_group_fail(several, &(struct gf_group){{branch}, 1}, status, &why, error);
    gf_branch_end(several, branch, GF_OK, NULL);
    return GF_OK;
}

/* Plans every member from the source, and drops the members whose plan fails. */
static void plan_group(struct gf_several *several, struct gf_group *group)
{
    const struct gf_source *const source = several->source;
    int count = 0;
    for (int i = 0; i < group->count; i++) {
        struct gf_branch *const branch = group->member[i];
        struct gf_error why = {0};
        gf_pipeline_select(several->pipeline, branch->number);
        if (gf_metadata_moves(&source->metadata))
            gf_place_begin(&branch->place, source->format, source->reduction);
        branch->task->reduction = branch->request.reduction;
        branch->task->width = branch->request.width;
        branch->task->height = branch->request.height;
        const enum gf_status status = gf_branch_plan(several, branch, 0, source->format, &why);
        if (status)
            gf_branch_end(several, branch, status, &why);
        else
            group->member[count++] = branch;
    }
    group->count = count;
}

/* Returns an upper bound of the memory that the group needs from the budget that pipelines
 * share. */
static uint64_t bytes_of_group(const struct gf_several *several, const struct gf_group *group)
{
    const struct gf_pipeline *const pipeline = several->pipeline;
    uint64_t picture = 0, most = 0;
    for (int i = 0; i < group->count; i++) {
        const struct gf_branch *const branch = group->member[i];
        const struct gf_plan *const plan = &branch->plan;
        const struct gf_codec_memory sink = gf_sink_memory(
            branch->task->file_format, plan->out, &pipeline->output[branch->number].options);
        const uint64_t own =
            gf_pipeline_whole_bytes(pipeline, plan) + gf_pipeline_second_bytes(plan) + sink.bytes;
        const uint64_t in = (uint64_t)gf_row_bytes(plan->in) * (uint64_t)plan->in.height;
        most = own > most ? own : most;
        picture = in > picture ? in : picture;
    }
    return 2 * picture + most + several->source->memory.bytes;
}

/* Attempts the outputs that use the same fraction of the picture's size. */
static enum gf_status attempt_group(struct gf_several *several, struct gf_group *group,
                                    struct gf_error *error)
{
    struct gf_pipeline *const pipeline = several->pipeline;
    enum gf_status status = GF_OK;
    plan_group(several, group);
    const bool together = group->count > 1 && pipeline->hold < GF_HOLD_NOWHERE;
    const uint64_t bytes = together ? bytes_of_group(several, group) : 0;
    if (together)
        gf_pipeline_take_memory(pipeline, bytes);
    pipeline->budget_taken = together;
    pipeline->stages_done = pipeline->segments_done = 0;
    if (together)
        status = gf_group_advance(several, group, NULL, error);
    pipeline->budget_taken = pipeline->holds_buffers = false;
    if (together)
        gf_pipeline_return_memory(pipeline, bytes);
    for (int i = 0; !status && i < group->count; i++) {
        if (group->member[i]->pending)
            status = attempt_alone(several, group->member[i], error);
    }
    return status;
}

/* Notes each output's request, and warns of the outputs that cannot use the picture's profile. */
static void request_all(struct gf_several *several, int outputs, bool again)
{
    struct gf_pipeline *const pipeline = several->pipeline;
    bool no_profile = false;
    gf_pipeline_note_facts(pipeline, several->branch[0].task, several->source);
    for (int i = 0; i < outputs; i++) {
        struct gf_branch *const branch = &several->branch[i];
        gf_pipeline_select(pipeline, i);
        branch->request = gf_pipeline_request_of(pipeline, several->source);
        branch->request.apart = true;
        no_profile |= branch->pending && !again && several->source->metadata.icc.size &&
                      !branch->request.icc.size && !branch->request.icc.hdr[1] &&
                      gf_chain_converts(&pipeline->chain);
    }
    if (no_profile)
        gf_warn(&pipeline->options, "%s: its ICC profile is of no use: its colours count as sRGB",
                gf_input_name(several->branch[0].task->input));
}

/* Returns the next pending outputs: all that use the same fraction of the picture's size as the
 * first. */
static struct gf_group next_group(struct gf_several *several, int outputs)
{
    struct gf_group group = {.count = 0};
    for (int i = 0; i < outputs; i++) {
        struct gf_branch *const branch = &several->branch[i];
        if (branch->pending &&
            (!group.count || branch->request.reduction == group.member[0]->request.reduction))
            group.member[group.count++] = branch;
    }
    return group;
}

/* Whether the output is still to be made and gets several frames: the user chose a range of
 * pictures, or chose none and the output can be an animation. */
static bool takes_frames(const struct gf_several *several, const struct gf_branch *branch,
                         struct gf_pages pages)
{
    const struct gf_picture_task *const task = branch->task;
    const struct gf_options *const options = &several->pipeline->output[branch->number].options;
    return branch->pending &&
           (pages.last >= 0 || (pages.first < 0 && gf_output_animates(task->destination->pattern,
                                                                      options, task->own_format)));
}

/* Attempts the outputs that get frames, each alone. */
static enum gf_status attempt_animations(struct gf_several *several, int outputs,
                                         struct gf_pages pages, struct gf_error *error)
{
    struct gf_input *const input = several->branch[0].task->input;
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < outputs; i++) {
        if (!takes_frames(several, &several->branch[i], pages))
            continue;
        if (pages.last < 0)
            gf_input_choose_pages(input, (struct gf_pages){0, GF_PAGES_ALL});
        status = attempt_alone(several, &several->branch[i], error);
        gf_input_choose_pages(input, pages);
    }
    return status;
}

/* Opens the source for the outputs that get one picture. Nothing is said of an animation of which
 * no output takes the first picture alone. */
static enum gf_status begin_picture(struct gf_several *several, int outputs, struct gf_error *error)
{
    struct gf_input *const input = several->branch[0].task->input;
    const struct gf_pages pages = gf_input_pages(input);
    bool frames = true;
    for (int i = 0; i < outputs; i++)
        frames &= !several->branch[i].pending || takes_frames(several, &several->branch[i], pages);
    if (frames && pages.first < 0)
        gf_input_choose_pages(input, (struct gf_pages){0, -1});
    enum gf_status status = open_source(several, false, error);
    gf_input_choose_pages(input, pages);
    if (status || !several->source->stored.is_animation)
        return status;
    status = attempt_animations(several, outputs, pages, error);
    return status || !next_group(several, outputs).count ? status
                                                         : open_source(several, true, error);
}

static enum gf_status attempt_groups(struct gf_several *several, int outputs,
                                     struct gf_error *error)
{
    enum gf_status status = begin_picture(several, outputs, error);
    if (status)
        return status;
    request_all(several, outputs, false);
    struct gf_group group = next_group(several, outputs);
    for (bool again = false; !status && group.count; again = true) {
        const int reduction = group.member[0]->request.reduction;
        if (again)
            status = open_source(several, true, error);
        /* The requests refer to the profiles of the source. The source has been opened again, so
         * they are made again. */
        if (!status && again)
            request_all(several, outputs, true);
        if (!status && reduction > 1)
            several->source->reduce(several->source, reduction);
        if (!status)
            status = attempt_group(several, &group, error);
        group = next_group(several, outputs);
    }
    return status;
}

static enum gf_status rewind_all(struct gf_picture_task *task, int outputs, struct gf_error *error)
{
    GF_TRY(gf_input_rewind(task[0].input, error));
    for (int i = 0; i < outputs; i++) {
        if (task[i].output && !task[i].ended)
            GF_TRY(gf_output_rewind(task[i].output, error));
    }
    return GF_OK;
}

static enum gf_status begin_attempt(struct gf_several *several, struct gf_pipeline *pipeline,
                                    struct gf_picture_task *task, struct gf_error *error)
{
    *several = (struct gf_several){
        .pipeline = pipeline, .first_span = pipeline->spans.count, .begin_s = gf_now()};
    for (int i = 0; i < pipeline->outputs; i++)
        several->branch[i] =
            (struct gf_branch){.task = &task[i], .number = i, .pending = !task[i].ended};
    const enum gf_status status = attempt_groups(several, pipeline->outputs, error);
    for (int i = 0; i < pipeline->outputs; i++) {
        if (several->branch[i].planned)
            gf_plan_free(&several->branch[i].plan);
    }
    close_source(several);
    if (status && pipeline->buffers.backend)
        gf_buffer_pool_close(&pipeline->buffers);
    return status;
}

/* Filters the picture to the outputs that have not ended, with further attempts if the device
 * fails. Each output's task says how it ended. */
static void pipeline_filter_tasks(struct gf_pipeline *pipeline, struct gf_picture_task *task)
{
    struct gf_several *const several = malloc(sizeof *several);
    struct gf_error failure = {0};
    enum gf_status status = several ? GF_OK : gf_fail_memory(&failure);
    pipeline->band_rows = pipeline->options.band_rows;
    pipeline->device_codec_used = pipeline->no_device_codec = false;
    pipeline->hold = GF_HOLD_ON_DEVICE;
    const double outer = gf_pipeline_begin_time(pipeline, &task[0]);
    if (!status)
        status = begin_attempt(several, pipeline, task, &failure);
    while (several && status && gf_pipeline_recover(pipeline, status, &failure, &failure)) {
        status = rewind_all(task, pipeline->outputs, &failure);
        if (!status)
            status = begin_attempt(several, pipeline, task, &failure);
    }
    for (int i = 0; i < pipeline->outputs; i++) {
        if (status && !task[i].ended) {
            task[i].status = status;
            task[i].error = failure;
        }
        task[i].status = gf_pipeline_tell_time(pipeline, &task[i], task[i].status, &task[i].error);
        if (!status || task[i].ended)
            continue;
        task[i].ended = true;
        if (status == GF_ERROR_DEVICE || status == GF_ERROR_DEVICE_MEMORY)
            (void)gf_fail(&task[i].error, status, "%s: %s", gf_input_name(task[i].input),
                          failure.text);
    }
    gf_pipeline_end_time(&task[0], outer);
    free(several);
}

/* Filters the pictures of an input to several outputs each. */

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
        pipeline_filter_tasks(pipeline, task);
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
