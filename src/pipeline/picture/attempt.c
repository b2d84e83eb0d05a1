/* Filters one picture by a pipeline, in as many attempts as its device needs.
 *
 * Each output has a plan of its own, as if it were alone. Stages with which several plans begin are
 * computed once; their result is a whole picture, which is held in the device's memory if it has
 * room, or else in host memory. From it the plans go on one after another, each to its own output
 * or to the next picture that some of them share. So each output has the bits that a pipeline of
 * its own would give. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "pipeline/picture/branches.h"
#include "pixel/histogram/histogram.h"

static void close_source(struct gf_attempt *attempt)
{
    if (attempt->source)
        attempt->source->close(attempt->source);
    attempt->source = NULL;
}

/* Opens the source at the start of the picture; `again`: not for the first time, so that what its
 * header warns of is not repeated. */
static enum gf_status open_source(struct gf_attempt *attempt, bool again, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    struct gf_input *const input = attempt->branch[0].task->input;
    void (*const warn)(void *context, const char *text) = pipeline->options.warn;
    close_source(attempt);
    if ((again && !attempt->moves) || attempt->damaged)
        pipeline->options.warn = NULL;
    gf_input_set_coefficients(input, attempt->moves);
    for (int i = 0; i < attempt->count; i++) {
        if (gf_plan_may_window(pipeline->outputs ? &pipeline->output[i].chain : &pipeline->chain))
            gf_input_set_windowed(input);
    }
    enum gf_status status = again ? gf_input_rewind(input, error) : GF_OK;
    GF_THEN(status, gf_source_open(input, &pipeline->options, &attempt->source, error));
    pipeline->options.warn = warn;
    if (!status) {
        attempt->width = attempt->source->format.width;
        attempt->height = attempt->source->format.height;
        attempt->source->damaged = attempt->damaged;
    }
    for (int i = 0; !status && i < attempt->count; i++) {
        attempt->branch[i].task->own_format = attempt->source->file;
        attempt->branch[i].task->frames = 0;
        attempt->branch[i].task->pages = attempt->source->stored.pages;
        attempt->branch[i].task->lossless = attempt->source->stored.is_lossless &&
                                            attempt->source->next &&
                                            attempt->source->format.bits == 8;
    }
    return status;
}

/* Goes back to the start of the picture. A source that can give windows need not be opened anew,
 * unless it was reduced. */
static enum gf_status restart_source(struct gf_attempt *attempt, struct gf_error *error)
{
    struct gf_source *const source = attempt->source;
    const struct gf_rectangle all = {.width = attempt->width, .height = attempt->height};
    struct gf_error unsaid;
    const bool can_window = source && !attempt->moves && source->window && source->reduction <= 1;
    return can_window && !source->window(source, all, 0, &unsaid)
               ? GF_OK
               : open_source(attempt, true, error);
}

/* Prepares the members of a group for the picture of the source or of the caller. With `warns`,
 * warns once if outputs cannot use its profile. */
static void begin_branches(struct gf_attempt *attempt, const struct gf_group *group, bool warns)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    struct gf_source *const source = attempt->source;
    const struct gf_picture_task *const first = group->member[0]->task;
    bool no_profile = false;
    gf_pipeline_note_facts(pipeline, first, source);
    for (int i = 0; i < group->count; i++) {
        struct gf_branch *const branch = group->member[i];
        gf_pipeline_select(pipeline, branch->number);
        branch->request = source ? gf_pipeline_request_of(pipeline, source)
                                 : gf_pipeline_request_of_image(pipeline, first->image_in->format);
        no_profile |= source && source->metadata.icc.size && !branch->request.icc.size &&
                      !branch->request.icc.hdr[1] && gf_chain_converts(&pipeline->chain);
    }
    if (no_profile && warns)
        gf_warn(&pipeline->options, "%s: its ICC profile is of no use: its colours count as sRGB",
                gf_input_name(first->input));
}

static void reset_branch(struct gf_branch *branch)
{
    gf_plan_free(&branch->plan);
    *branch = (struct gf_branch){
        .task = branch->task, .number = branch->number, .pending = !branch->task->ended};
}

static uint64_t area(struct gf_rectangle window)
{
    return (uint64_t)window.width * (uint64_t)window.height;
}

/* Finds the part of the picture that the branch's chain needs. */
static void find_window(const struct gf_attempt *attempt, struct gf_branch *branch)
{
    const struct gf_pipeline *const pipeline = attempt->pipeline;
    const struct gf_source *const source = attempt->source;
    branch->window = (struct gf_rectangle){.width = 0};
    if (!source || !source->window || attempt->whole ||
        (pipeline->backend && pipeline->backend->calls->coders && !pipeline->no_device_codec &&
         gf_device_decodes_whole(source, &pipeline->options)))
        return;
    gf_pipeline_select(attempt->pipeline, branch->number);
    const struct gf_rectangle window =
        gf_plan_window(&attempt->pipeline->chain, source->format, &branch->request);
    if (window.width < source->format.width || window.height < source->format.height)
        branch->window = window;
}

/* Finds the windows of a group's members. If they add up to more than the picture, or one member
 * needs all of it, it is decoded whole. */
static void find_windows(struct gf_attempt *attempt, const struct gf_group *group)
{
    uint64_t sum = 0, whole = (uint64_t)attempt->width * (uint64_t)attempt->height;
    for (int i = 0; i < group->count; i++) {
        struct gf_branch *const branch = group->member[i];
        bool first = true;
        find_window(attempt, branch);
        for (int j = 0; j < i && first; j++)
            first = memcmp(&group->member[j]->window, &branch->window, sizeof branch->window) != 0;
        sum += !first ? 0 : branch->window.width ? area(branch->window) : whole;
    }
    attempt->whole = sum > whole;
    for (int i = 0; i < group->count && attempt->whole; i++)
        group->member[i]->window.width = 0;
}

/* Makes the source give the branch's window, `more` of which follow. What will be decoded may not
 * have more than options.max_pixels, which no page but the first was checked for. */
static enum gf_status take_window(struct gf_attempt *attempt, const struct gf_branch *branch,
                                  int more, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    struct gf_source *const source = attempt->source;
    char *const told = pipeline->profile.found;
    const struct gf_rectangle at = branch->window;
    if (!source)
        return GF_OK;
    if (at.width)
        GF_TRY(source->window(source, at, more, error));
    if (at.width)
        snprintf(told, sizeof pipeline->profile.found, "window %dx%d+%d+%d, %d %s", at.width,
                 at.height, at.x, at.y, source->blocks ? source->blocks : at.height,
                 source->blocks ? "tiles or strips" : "rows");
    return gf_size_check(gf_input_name(branch->task->input), (uint64_t)source->format.width,
                         (uint64_t)source->format.height, &pipeline->options, error);
}

/* Plans the first part of the branch's chain. */
static enum gf_status plan_branch(struct gf_attempt *attempt, struct gf_branch *branch,
                                  struct gf_error *error)
{
    const struct gf_source *const source = attempt->source;
    struct gf_picture_task *const task = branch->task;
    gf_pipeline_select(attempt->pipeline, branch->number);
    struct gf_format in = source ? source->format : task->image_in->format;
    branch->request.window = branch->window;
    if (branch->window.width) {
        in.width = attempt->width;
        in.height = attempt->height;
    }
    if (source && gf_metadata_moves(&source->metadata)) {
        gf_place_begin(&branch->place, in, source->reduction);
        branch->place.first[0] = branch->window.x;
        branch->place.first[1] = branch->window.y;
    }
    task->reduction = branch->request.reduction;
    task->level = source ? gf_source_level(source, task->reduction) : 0;
    task->width = branch->request.width;
    task->height = branch->request.height;
    return gf_branch_plan(attempt, branch, in, error);
}

static int count_pending(const struct gf_attempt *attempt)
{
    int count = 0;
    for (int i = 0; i < attempt->count; i++)
        count += attempt->branch[i].pending;
    return count;
}

/* Attempts one picture, or one frame, for an output that shares no stages with other outputs. */
static enum gf_status attempt_picture(struct gf_attempt *attempt, struct gf_branch *branch,
                                      struct gf_error *error)
{
    const struct gf_group alone = {{branch}, 1};
    const struct gf_picture_task *const task = branch->task;
    struct gf_schedule_progress *const progress = attempt->pipeline->progress;
    struct gf_source *const source = attempt->source;
    struct gf_held from = {.source = source};
    if (progress) {
        progress->frame = task->frames - 1;
        progress->frames = task->frames_wanted;
    }
    if (!source)
        from = (struct gf_held){.image = *task->image_in, .on_device = task->in_on_device};
    reset_branch(branch);
    begin_branches(attempt, &alone, true);
    if (source && source->coefficients)
        return gf_branch_move(attempt, branch, error);
    if (source)
        GF_TRY(gf_source_reduce(source, branch->request.reduction, error));
    find_window(attempt, branch);
    GF_TRY(take_window(attempt, branch, count_pending(attempt) - 1, error));
    GF_TRY(plan_branch(attempt, branch, error));
    return gf_branch_finish(attempt, branch, &from, error);
}

/* Attempts the frames after the first one, which has opened the sink. If they are pages, with
 * properties of their own, each may warn; of other frames only the first. */
static enum gf_status attempt_frames(struct gf_attempt *attempt, struct gf_branch *branch,
                                     struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    struct gf_picture_task *const task = branch->task;
    struct gf_source *const source = attempt->source;
    void (*const warn)(void *context, const char *text) = pipeline->options.warn;
    enum gf_status status = GF_OK;
    bool found = true;
    while (!status && found) {
        status = gf_source_next(source, &found, error);
        if (status || !found)
            break;
        task->frames++;
        pipeline->stages_done = pipeline->segments_done = 0;
        pipeline->options.warn = source->renews ? warn : NULL;
        status = attempt_picture(attempt, branch, error);
        pipeline->options.warn = warn;
    }
    if (status)
        return status;
    const double begin_s = gf_now();
    status = task->sink->end(task->sink, error);
    gf_spans_add(&pipeline->spans, GF_SPAN_ENCODE, -1, -1, begin_s, gf_now(), 0);
    return status;
}

/* Returns the number of frames that the source will give to the output. */
static int count_frames(const struct gf_picture_task *task, const struct gf_source *source)
{
    const struct gf_pages pages = gf_input_pages(task->input);
    const int end = pages.last < source->stored.pages ? pages.last + 1 : source->stored.pages;
    return source->next && end > pages.first ? end - pages.first : 1;
}

static enum gf_status attempt_all_frames(struct gf_attempt *attempt, struct gf_branch *branch,
                                         struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    struct gf_picture_task *const task = branch->task;
    const struct gf_source *const source = attempt->source;
    if (!task->each || !task->frames) {
        task->frames = 1;
        task->frames_wanted = source ? count_frames(task, source) : 1;
    }
    const struct gf_options options = pipeline->options;
    struct gf_said said;
    if (source && source->renews && !task->each) /* what several pages warn of is said once */
        pipeline->options = *gf_said_begin(&said, gf_input_name(task->input), &options);
    enum gf_status status = attempt_picture(attempt, branch, error);
    if (!status && task->sink)
        status = attempt_frames(attempt, branch, error);
    if (task->sink)
        task->sink->close(task->sink);
    task->sink = NULL;
    pipeline->options.warn = options.warn;
    pipeline->options.warn_context = options.warn_context;
    return status;
}

/* Attempts an output that shares nothing with other outputs, from the start of the source. */
static enum gf_status attempt_alone(struct gf_attempt *attempt, struct gf_branch *branch,
                                    bool again, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    struct gf_error why = {0};
    gf_pipeline_select(pipeline, branch->number);
    pipeline->stages_done = pipeline->segments_done = 0;
    enum gf_status status = again ? restart_source(attempt, &why) : GF_OK;
    GF_THEN(status, attempt_all_frames(attempt, branch, &why));
    /* The next output's buffers have other sizes, so that these are freed if memory is limited. */
    if (again && pipeline->options.memory_bytes && pipeline->buffers.backend)
        gf_buffer_pool_clear(&pipeline->buffers);
    return gf_branch_end(attempt, branch, status, &why, error);
}

/* Plans each member's chain from the source on. Drops members whose plan fails from the group. */
static enum gf_status plan_group(struct gf_attempt *attempt, struct gf_group *group,
                                 struct gf_error *error)
{
    int count = 0;
    for (int i = 0; i < group->count; i++) {
        struct gf_branch *const branch = group->member[i];
        struct gf_error why = {0};
        branch->request.apart = true;
        const enum gf_status status = plan_branch(attempt, branch, &why);
        if (status)
            GF_TRY(gf_branch_end(attempt, branch, status, &why, error));
        else
            group->member[count++] = branch;
    }
    group->count = count;
    return GF_OK;
}

/* Attempts the members of the group with the stages that they share computed once. Members may stay
 * pending, if memory has no room for a shared picture. */
static enum gf_status attempt_together(struct gf_attempt *attempt, struct gf_group *group,
                                       struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    const struct gf_held from = {.source = attempt->source};
    struct gf_error why = {0};
    const enum gf_status taken =
        take_window(attempt, group->member[0], count_pending(attempt) - group->count, &why);
    if (taken)
        return gf_group_fail(attempt, group, taken, &why, error);
    GF_TRY(plan_group(attempt, group, error));
    if (group->count < 2)
        return GF_OK;
    const uint64_t bytes = gf_group_bytes(attempt, group);
    gf_pipeline_take_memory(pipeline, bytes);
    pipeline->budget_taken = true;
    pipeline->stages_done = pipeline->segments_done = 0;
    const enum gf_status status = gf_group_advance(attempt, group, &from, error);
    pipeline->budget_taken = pipeline->holds_buffers = false;
    gf_pipeline_return_memory(pipeline, bytes);
    return status;
}

/* Attempts outputs that all decode the file at the same fraction of its size. */
static enum gf_status attempt_group(struct gf_attempt *attempt, struct gf_group *group,
                                    struct gf_error *error)
{
    if (group->count > 1 && attempt->pipeline->hold < GF_HOLD_NOWHERE)
        GF_TRY(attempt_together(attempt, group, error));
    for (int i = 0; i < group->count; i++) {
        if (group->member[i]->pending)
            GF_TRY(attempt_alone(attempt, group->member[i], true, error));
    }
    return GF_OK;
}

/* Whether the window begins above the other one, or to the left of it in the same row. */
static bool is_before(struct gf_rectangle window, struct gf_rectangle other)
{
    return window.y < other.y || (window.y == other.y && window.x < other.x);
}

/* Returns the next group of pending outputs: the first one, or the one whose window comes first in
 * the picture, and all that decode the same window of the file at the same fraction of its size. */
static struct gf_group next_group(struct gf_attempt *attempt)
{
    struct gf_group group = {.count = 0};
    const struct gf_branch *first = NULL;
    for (int i = 0; i < attempt->count; i++) {
        const struct gf_branch *const branch = &attempt->branch[i];
        if (branch->pending && (!first || is_before(branch->window, first->window)))
            first = branch;
    }
    for (int i = 0; i < attempt->count; i++) {
        struct gf_branch *const branch = &attempt->branch[i];
        if (branch->pending && branch->request.reduction == first->request.reduction &&
            !memcmp(&branch->window, &first->window, sizeof first->window))
            group.member[group.count++] = branch;
    }
    return group;
}

/* Whether the output is pending and gets several frames: the user chose a range of pictures, or
 * chose none and the output can be an animation. */
static bool takes_frames(const struct gf_attempt *attempt, const struct gf_branch *branch,
                         struct gf_pages pages)
{
    const struct gf_picture_task *const task = branch->task;
    const struct gf_options *const options = &attempt->pipeline->output[branch->number].options;
    return branch->pending &&
           (pages.last >= 0 || (pages.first < 0 && gf_output_animates(task->destination->pattern,
                                                                      options, task->own_format)));
}

/* Attempts each of the outputs that get several frames, one after another. */
static enum gf_status attempt_animations(struct gf_attempt *attempt, struct gf_pages pages,
                                         struct gf_error *error)
{
    struct gf_input *const input = attempt->branch[0].task->input;
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < attempt->count; i++) {
        if (!takes_frames(attempt, &attempt->branch[i], pages))
            continue;
        if (pages.last < 0)
            gf_input_choose_pages(input, (struct gf_pages){0, GF_PAGES_ALL});
        status = attempt_alone(attempt, &attempt->branch[i], true, error);
        gf_input_choose_pages(input, pages);
    }
    return status;
}

/* Attempts each of the outputs that get the input's coefficients. */
static enum gf_status attempt_moves(struct gf_attempt *attempt, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    bool moved = false;
    for (int i = 0; !status && i < attempt->count; i++) {
        struct gf_branch *const branch = &attempt->branch[i];
        gf_pipeline_select(attempt->pipeline, i);
        attempt->moves = branch->pending && gf_pipeline_moves(attempt->pipeline, branch->task);
        moved |= attempt->moves;
        if (attempt->moves)
            status = attempt_alone(attempt, branch, true, error);
    }
    attempt->moves = false;
    return status || !moved || !next_group(attempt).count
               ? status
               : gf_input_rewind(attempt->branch[0].task->input, error);
}

/* Opens the source for the outputs that get one picture. A warning that an animation is cut to its
 * first picture is given only if an output takes that picture alone. */
static enum gf_status begin_picture(struct gf_attempt *attempt, struct gf_error *error)
{
    struct gf_input *const input = attempt->branch[0].task->input;
    const struct gf_pages pages = gf_input_pages(input);
    bool frames = true;
    for (int i = 0; i < attempt->count; i++)
        frames &= !attempt->branch[i].pending || takes_frames(attempt, &attempt->branch[i], pages);
    if (frames && pages.first < 0)
        gf_input_choose_pages(input, (struct gf_pages){0, -1});
    enum gf_status status = open_source(attempt, false, error);
    gf_input_choose_pages(input, pages);
    if (status || !attempt->source->stored.is_animation)
        return status;
    status = attempt_animations(attempt, pages, error);
    return status || !next_group(attempt).count ? status : open_source(attempt, true, error);
}

/* Attempts all of several outputs. */
static enum gf_status attempt_groups(struct gf_attempt *attempt, struct gf_error *error)
{
    GF_TRY(attempt_moves(attempt, error));
    if (!next_group(attempt).count)
        return GF_OK;
    GF_TRY(begin_picture(attempt, error));
    /* The group has all outputs, since no reduction has been requested yet. */
    struct gf_group group = next_group(attempt);
    if (group.count) {
        begin_branches(attempt, &group, true);
        find_windows(attempt, &group);
    }
    for (bool again = false; (group = next_group(attempt)).count; again = true) {
        const int reduction = group.member[0]->request.reduction;
        if (again) {
            GF_TRY(restart_source(attempt, error));
            /* The requests refer to profiles of the source, which has been opened anew. */
            begin_branches(attempt, &group, false);
        }
        GF_TRY(gf_source_reduce(attempt->source, reduction, error));
        GF_TRY(attempt_group(attempt, &group, error));
    }
    return GF_OK;
}

/* Attempts a pipeline's only output. The source stays open if its next frame is the next
 * picture. */
static enum gf_status attempt_only(struct gf_attempt *attempt, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    struct gf_picture_task *const task = attempt->branch[0].task;
    enum gf_status status = GF_OK;
    if (!attempt->branch[0].pending)
        return GF_OK;
    attempt->moves = gf_pipeline_moves(pipeline, task);
    if (pipeline->remote &&
        (attempt->moves || gf_chain_next_box(&pipeline->chain, 0) < pipeline->chain.count)) {
        task->remote_failed = true; /* the remote needs the open output, whose name is not known
                                     * before the result's size; and it moves no coefficients */
        return GF_ERROR_UNAVAILABLE;
    }
    pipeline->remote_warn = pipeline->options.warn;
    if (pipeline->remote) /* the remote reads the header, too, and warns */
        pipeline->options.warn = NULL;
    attempt->source = task->source;
    task->source = NULL;
    if (task->input && !attempt->source)
        status = open_source(attempt, false, error);
    const bool each = attempt->source && attempt->source->next && task->each;
    /* For each frame, the remote would decode all frames before it again. */
    task->remote_failed = pipeline->remote && each;
    if (task->remote_failed)
        status = GF_ERROR_UNAVAILABLE;
    GF_THEN(status, attempt_alone(attempt, &attempt->branch[0], false, error));
    pipeline->options.warn = pipeline->remote_warn;
    if (each && !status && !task->status) {
        task->source = attempt->source;
        attempt->source = NULL;
    }
    return status;
}

/* Makes one attempt at the outputs that have not ended, with a new source and new sinks. */
static enum gf_status attempt_once(struct gf_attempt *attempt, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    pipeline->stages_done = pipeline->segments_done = 0;
    gf_metadata_close(gf_pipeline_take_metadata(pipeline));
    gf_smooth_attempt();
    attempt->begin_s = gf_now();
    attempt->whole = false;
    for (int i = 0; i < attempt->count; i++)
        reset_branch(&attempt->branch[i]);
    const enum gf_status status =
        attempt->count > 1 ? attempt_groups(attempt, error) : attempt_only(attempt, error);
    for (int i = 0; i < attempt->count; i++)
        reset_branch(&attempt->branch[i]);
    attempt->level = gf_attempt_is_of_level(attempt, status)
                         ? gf_source_level(attempt->source, attempt->source->reduction)
                         : 0;
    close_source(attempt);
    if (status && pipeline->buffers.backend)
        gf_buffer_pool_close(&pipeline->buffers);
    return status;
}

static enum gf_status rewind_files(const struct gf_attempt *attempt, struct gf_error *error)
{
    if (attempt->branch[0].task->input)
        GF_TRY(gf_input_rewind(attempt->branch[0].task->input, error));
    for (int i = 0; i < attempt->count; i++) {
        const struct gf_picture_task *const task = attempt->branch[i].task;
        if (task->output && !task->ended)
            GF_TRY(gf_output_rewind(task->output, error));
    }
    return GF_OK;
}

/* Prepares another attempt, which reads a larger level, after one that failed by a damaged level.
 * Returns false if it did not. */
static bool leave_level(struct gf_attempt *attempt, const struct gf_error *failure)
{
    struct gf_error gone; /* what was written to a stream cannot be taken back */
    if (!attempt->level || rewind_files(attempt, &gone))
        return false;
    int next = attempt->level;
    attempt->damaged |= 1u << next;
    while (attempt->damaged >> next & 1)
        next--;
    if (next)
        gf_warn(&attempt->pipeline->options, "%s: level %d is read", failure->text, next);
    else
        gf_warn(&attempt->pipeline->options, "%s: the full size is read", failure->text);
    return true;
}

/* Makes attempts until one succeeds or nothing is left to try. *failure is the last one's error. */
static enum gf_status attempt_all(struct gf_attempt *attempt, struct gf_error *failure)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    struct gf_picture_task *const first = attempt->branch[0].task;
    enum gf_status status = attempt_once(attempt, failure);
    if (first->remote_failed) {
        status = gf_pipeline_leave_remote(pipeline, first, failure);
        GF_THEN(status, attempt_once(attempt, failure));
    }
    while (status && !pipeline->remote &&
           (leave_level(attempt, failure) ||
            gf_pipeline_recover(pipeline, status, failure, failure))) {
        status = rewind_files(attempt, failure);
        /* The profile has only the spans of the attempt that succeeds. */
        pipeline->spans.count = attempt->first_span;
        GF_THEN(status, attempt_once(attempt, failure));
    }
    return status;
}

/* Ends a task. If its output has not ended, it fails as the last attempt did. */
static void end_task(const struct gf_pipeline *pipeline, struct gf_picture_task *task,
                     enum gf_status status, const struct gf_error *failure)
{
    const bool failed = status && !task->ended;
    if (failed) {
        task->status = status;
        task->error = *failure;
        task->ended = true;
    }
    task->status = gf_pipeline_tell_time(pipeline, task, task->status, &task->error);
    /* An error of the device does not name the picture, so that the name is added here. */
    if (failed && task->input && *failure->text &&
        (status == GF_ERROR_DEVICE || status == GF_ERROR_DEVICE_MEMORY))
        (void)gf_fail(&task->error, status, "%s: %s", gf_input_name(task->input), failure->text);
}

void gf_pipeline_filter_tasks(struct gf_pipeline *pipeline, struct gf_picture_task *task, int count)
{
    struct gf_attempt *const attempt =
        calloc(1, sizeof *attempt + (size_t)count * sizeof *attempt->branch);
    struct gf_error failure = {0};
    enum gf_status status = attempt ? GF_OK : gf_fail_memory(&failure);
    if (!status && !task[0].source)
        status = gf_pipeline_return_to_device(pipeline, &failure);
    pipeline->band_rows = pipeline->options.band_rows;
    pipeline->device_codec_used = pipeline->no_device_codec = pipeline->has_floats = false;
    pipeline->described_plan = NULL;
    pipeline->hold = GF_HOLD_ON_DEVICE;
    const double outer = gf_pipeline_begin_time(pipeline, &task[0]);
    if (!status) {
        attempt->pipeline = pipeline;
        attempt->first_span = pipeline->spans.count;
        attempt->count = count;
        for (int i = 0; i < count; i++)
            attempt->branch[i] = (struct gf_branch){.task = &task[i], .number = i};
        status = attempt_all(attempt, &failure);
    }
    for (int i = 0; i < count; i++)
        end_task(pipeline, &task[i], status, &failure);
    gf_pipeline_end_time(&task[0], outer);
    free(attempt);
}

enum gf_status gf_pipeline_filter_task(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                       struct gf_error *error)
{
    gf_pipeline_filter_tasks(pipeline, task, 1);
    if (task->status && error)
        *error = task->error;
    return task->status;
}
