/* Computes the outputs of one picture, from the stages that outputs share to the files. */
#include "pipeline/outputs/branches.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/rows/source.h"

/* Whether another attempt may succeed after such a failure. */
static bool is_of_device(const struct gf_several *several, enum gf_status status)
{
    return several->pipeline->on_cuda &&
           (status == GF_ERROR_DEVICE || status == GF_ERROR_DEVICE_MEMORY ||
            status == GF_ERROR_UNAVAILABLE);
}

/* Keeps the profile of the output that has just ended. Work that outputs share is counted for the
 * first of these outputs. */
static enum gf_status keep_profile(struct gf_several *several, struct gf_branch *branch,
                                   struct gf_error *error)
{
    struct gf_pipeline *const pipeline = several->pipeline;
    struct gf_picture_task *const task = branch->task;
    struct gf_profile profile = pipeline->profile;
    const size_t bytes = (size_t)profile.stage_count * sizeof *profile.stages;
    struct gf_profile_stage *const stages = malloc(bytes + 1);
    if (!stages)
        return gf_fail_memory(error);
    if (bytes)
        memcpy(stages, profile.stages, bytes);
    const double now_s = gf_now();
    profile.stages = stages;
    profile.wall_s = now_s - several->begin_s;
    profile.span_count = pipeline->spans.count - several->first_span;
    task->first_span = several->first_span;
    task->profile = profile;
    several->first_span = pipeline->spans.count;
    several->begin_s = now_s;
    return GF_OK;
}

void gf_branch_end(struct gf_several *several, struct gf_branch *branch, enum gf_status status,
                   const struct gf_error *error)
{
    struct gf_picture_task *const task = branch->task;
    branch->pending = false;
    task->status = status;
    if (status)
        task->error = *error;
    else
        task->status = keep_profile(several, branch, &task->error);
    task->ended = true;
}

enum gf_status gf_group_fail(struct gf_several *several, const struct gf_group *group,
                             enum gf_status status, const struct gf_error *why,
                             struct gf_error *error)
{
    if (is_of_device(several, status)) {
        *error = *why;
        return status;
    }
    for (int i = 0; i < group->count; i++) {
        if (group->member[i]->pending)
            gf_branch_end(several, group->member[i], status, why);
    }
    return GF_OK;
}

enum gf_status gf_branch_plan(struct gf_several *several, struct gf_branch *branch, int begin,
                              struct gf_format in, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = several->pipeline;
    const struct gf_chain *const chain = &pipeline->chain;
    struct gf_picture_task task = *branch->task;
    branch->end = gf_chain_next_box(chain, begin + (begin > 0 || branch->planned));
    const bool last = branch->end == chain->count;
    if (!last)
        task.destination = NULL;
    const struct gf_chain part = gf_chain_part(chain, begin, branch->end);
    struct gf_plan plan = {0};
    enum gf_status status =
        gf_pipeline_plan_part(pipeline, &task, &part, in, &branch->request, &plan, error);
    if (!status && branch->place.width)
        status = gf_place_follow(&branch->place, &plan, error);
    if (last)
        *branch->task = task; /* the branch's task ends with the output */
    if (branch->planned)
        gf_plan_free(&branch->plan);
    branch->plan = plan;
    branch->planned = true;
    branch->done = 0;
    return status;
}

/* Ends a part of the chain at `image`: finds what the next filter needs in the picture, and plans
 * the next part. */
static enum gf_status enter_next_part(struct gf_several *several, struct gf_branch *branch,
                                      const struct gf_image *image, struct gf_error *error)
{
    const struct gf_chain *const chain = &several->pipeline->chain;
    const struct gf_chain_item *const item = &chain->item[branch->end];
    const struct gf_view view = gf_image_view(image);
    branch->request = (struct gf_plan_request){.orientation = 1,
                                               .icc = branch->plan.icc,
                                               .to_srgb = branch->request.to_srgb,
                                               .bits = branch->request.bits,
                                               .apart = true};
    branch->recoloured |= branch->plan.recoloured;
    branch->filtered = true;
    gf_pipeline_find(several->pipeline, item, &view, &branch->request.found);
    return gf_branch_plan(several, branch, branch->end, image->format, error);
}

static bool has_box(const struct gf_several *several, const struct gf_branch *branch)
{
    const struct gf_chain *const chain = &several->pipeline->output[branch->number].chain;
    return gf_chain_next_box(chain, 0) < chain->count;
}

static uint64_t held_bytes(const struct gf_held *held)
{
    return held && !held->on_device
               ? (uint64_t)held->image.pitch * (uint64_t)held->image.format.height
               : 0;
}

/* Whether memory has room for a picture of the format besides what the group's outputs need. */
static bool has_room(const struct gf_several *several, const struct gf_group *group,
                     const struct gf_held *from, struct gf_format format)
{
    const struct gf_pipeline *const pipeline = several->pipeline;
    uint64_t most = 0;
    for (int i = 0; i < group->count; i++) {
        const struct gf_branch *const branch = group->member[i];
        const uint64_t bytes = gf_pipeline_whole_bytes(pipeline, &branch->plan) +
                               gf_pipeline_second_bytes(&branch->plan) +
                               gf_sink_memory(branch->task->file_format, branch->plan.out,
                                              &pipeline->output[branch->number].options)
                                   .bytes +
                               (from ? 0 : several->source->memory.bytes);
        most = bytes > most ? bytes : most;
    }
    return held_bytes(from) + most + (uint64_t)gf_row_bytes(format) * (uint64_t)format.height <=
           gf_pipeline_memory_limit(pipeline);
}

/* Allocates the image in the pool's memory. The pool keeps the memory for the next picture. */
static enum gf_status take_host_image(struct gf_pipeline *pipeline, struct gf_format format,
                                      struct gf_image *image, struct gf_error *error)
{
    const size_t pitch = gf_row_bytes(format);
    if (!pipeline->buffers.backend)
        gf_buffer_pool_open(&pipeline->buffers, pipeline->backend);
    *image = (struct gf_image){.format = format, .pitch = pitch};
    image->data = gf_buffer_pool_take_host(&pipeline->buffers, pitch * (size_t)format.height);
    return image->data ? GF_OK
                       : gf_fail(error, GF_ERROR_MEMORY, "out of memory for a picture of %dx%d",
                                 format.width, format.height);
}

/* Schedules the branch's next stages, up to the stage before `end`, and keeps their result. */
static enum gf_status hold_result(struct gf_several *several, const struct gf_branch *branch,
                                  int end, const struct gf_held *from, bool on_device,
                                  struct gf_held *to, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = several->pipeline;
    struct gf_picture_task task = *branch->task;
    struct gf_plan part;
    *to = (struct gf_held){.on_device = on_device};
    task.destination = NULL;
    task.output = NULL;
    task.file_format = GF_FILE_AUTO;
    task.image_in = from ? &from->image : NULL;
    task.in_on_device = from && from->on_device;
    task.image_out = &to->image;
    task.out_on_device = on_device;
    task.image_bytes = held_bytes(from);
    struct gf_source *const source = from ? NULL : several->source;
    GF_TRY(gf_plan_cut(&branch->plan, branch->done, end, &part, error));
    enum gf_status status = gf_pipeline_check_memory(pipeline, &task, source, &part, error);
    if (!status && !on_device)
        status = take_host_image(pipeline, part.out, &to->image, error);
    if (!status)
        status = gf_pipeline_schedule(pipeline, &part, source, NULL, &task, error);
    gf_plan_free(&part);
    return status;
}

static void release_held(struct gf_several *several, struct gf_held *held)
{
    gf_buffer_pool_return(&several->pipeline->buffers, held->image.data);
    held->image.data = NULL;
}

/* Schedules the rest of the branch's last part, from the picture `from` to the branch's output. */
static enum gf_status write_branch(struct gf_several *several, struct gf_branch *branch,
                                   const struct gf_held *from, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = several->pipeline;
    struct gf_picture_task *const task = branch->task;
    struct gf_sink *sink = NULL;
    struct gf_plan part;
    GF_TRY(gf_plan_cut(&branch->plan, branch->done, branch->plan.stage_count, &part, error));
    task->image_in = &from->image;
    task->in_on_device = from->on_device;
    task->image_bytes = held_bytes(from);
    enum gf_status status = gf_pipeline_check_memory(pipeline, task, NULL, &part, error);
    if (!status)
        status = gf_pipeline_open_sink(
            pipeline, task, part.out, &branch->place,
            branch->recoloured || branch->plan.recoloured ? &branch->plan.icc : NULL,
            branch->filtered || branch->plan.stage_count, &several->source->metadata, &sink, error);
    if (!status)
        status = gf_pipeline_schedule(pipeline, &part, NULL, sink, task, error);
    if (sink)
        sink->close(sink);
    gf_plan_free(&part);
    task->image_in = NULL;
    task->in_on_device = false;
    task->image_bytes = 0;
    return status;
}

static enum gf_status advance_alone(struct gf_several *several, struct gf_branch *branch,
                                    const struct gf_held *from, struct gf_error *error);
static enum gf_status advance_members(struct gf_several *several, const struct gf_group *group,
                                      const struct gf_held *from, struct gf_error *error);

enum gf_status gf_group_advance(struct gf_several *several, const struct gf_group *group,
                                const struct gf_held *from, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = several->pipeline;
    struct gf_branch *const first = group->member[0];
    struct gf_error why = {0};
    struct gf_held held;
    bool on_device = pipeline->on_cuda && pipeline->hold == GF_HOLD_ON_DEVICE;
    int common = first->plan.stage_count - first->done;
    gf_pipeline_select(pipeline, first->number);
    for (int i = 0; i < group->count; i++) {
        const struct gf_branch *const branch = group->member[i];
        const int same = gf_plan_common(&first->plan, first->done, &branch->plan, branch->done);
        common = same < common ? same : common;
        on_device &= !has_box(several, branch);
    }
    const struct gf_format format =
        first->done + common ? first->plan.stage[first->done + common - 1].out : first->plan.in;
    if (group->count > 1 && !on_device && !has_room(several, group, from, format)) {
        for (int i = 0; from && i < group->count; i++)
            GF_TRY(advance_alone(several, group->member[i], from, error));
        return GF_OK; /* before the first shared picture, the branches are still pending */
    }
    enum gf_status status =
        hold_result(several, first, first->done + common, from, on_device, &held, &why);
    pipeline->holds_buffers = true;
    for (int i = 0; i < group->count; i++) {
        group->member[i]->done += common;
        group->member[i]->filtered |= common > 0;
    }
    status = status ? gf_group_fail(several, group, status, &why, error)
                    : advance_members(several, group, &held, error);
    release_held(several, &held);
    return status;
}

/* Computes the rest of a branch that shares no more stages with others. */
static enum gf_status advance_alone(struct gf_several *several, struct gf_branch *branch,
                                    const struct gf_held *from, struct gf_error *error)
{
    const struct gf_group alone = {{branch}, 1};
    struct gf_error why = {0};
    gf_pipeline_select(several->pipeline, branch->number);
    if (branch->end < several->pipeline->chain.count)
        return gf_group_advance(several, &alone, from, error);
    const enum gf_status status = write_branch(several, branch, from, &why);
    if (status)
        return gf_group_fail(several, &alone, status, &why, error);
    gf_branch_end(several, branch, GF_OK, NULL);
    return GF_OK;
}

/* Whether the next stage of both branches is the same. */
static bool go_together(const struct gf_branch *a, const struct gf_branch *b)
{
    return gf_plan_common(&a->plan, a->done, &b->plan, b->done) > 0;
}

/* Computes the rest of all members of the group from a picture that they share. */
static enum gf_status advance_members(struct gf_several *several, const struct gf_group *group,
                                      const struct gf_held *from, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = several->pipeline;
    const int stages = pipeline->stages_done, segments = pipeline->segments_done;
    bool taken[GF_PIPELINE_OUTPUTS_MAX] = {0};
    for (int i = 0; i < group->count; i++) {
        struct gf_branch *const branch = group->member[i];
        struct gf_error why = {0};
        gf_pipeline_select(pipeline, branch->number);
        if (branch->done < branch->plan.stage_count || branch->end == pipeline->chain.count)
            continue;
        const enum gf_status entered = enter_next_part(several, branch, &from->image, &why);
        if (entered)
            gf_branch_end(several, branch, entered, &why);
    }
    for (int i = 0; i < group->count; i++) {
        struct gf_group same = {.member = {group->member[i]}, .count = 1};
        if (taken[i] || !group->member[i]->pending)
            continue;
        for (int k = i + 1; k < group->count; k++) {
            struct gf_branch *const branch = group->member[k];
            if (taken[k] || !branch->pending || !go_together(group->member[i], branch))
                continue;
            taken[k] = true;
            same.member[same.count++] = branch;
        }
        pipeline->stages_done = stages;
        pipeline->segments_done = segments;
        GF_TRY(same.count > 1 ? gf_group_advance(several, &same, from, error)
                              : advance_alone(several, same.member[0], from, error));
    }
    return GF_OK;
}
