/* Computes the outputs of one picture: first the stages that several outputs share, then the rest
 * of each, to its file or image. */
#include "pipeline/picture/branches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/common/rows/source.h"
#include "codec/formats.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "codec/layouts/layouts.h"
#include "engine/engine.h"

/* Keeps the profile of the output that has just ended in its task. Work that outputs share counts
 * for the first of them. */
static enum gf_status keep_profile(struct gf_attempt *attempt, struct gf_picture_task *task,
                                   struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    struct gf_profile profile = pipeline->profile;
    const size_t bytes = (size_t)profile.stage_count * sizeof *profile.stages;
    struct gf_profile_stage *const stages = malloc(bytes + 1);
    GF_ALLOCATED(stages, error);
    if (bytes)
        memcpy(stages, profile.stages, bytes);
    const double now_s = gf_now();
    profile.stages = stages;
    profile.wall_s = now_s - attempt->begin_s;
    profile.span_count = pipeline->spans.count - attempt->first_span;
    task->first_span = attempt->first_span;
    task->profile = profile;
    attempt->first_span = pipeline->spans.count;
    attempt->begin_s = now_s;
    return GF_OK;
}

/* Whether the failure is one of the device, after which another attempt may succeed. */
static bool is_of_device(const struct gf_attempt *attempt, enum gf_status status)
{
    return attempt->pipeline->on_cuda &&
           (status == GF_ERROR_DEVICE || status == GF_ERROR_DEVICE_MEMORY ||
            status == GF_ERROR_UNAVAILABLE);
}

bool gf_attempt_is_of_level(const struct gf_attempt *attempt, enum gf_status status)
{
    const struct gf_source *const source = attempt->source;
    return status == GF_ERROR_INPUT && source && source->failed && source->take_level &&
           gf_source_level(source, source->reduction);
}

enum gf_status gf_branch_end(struct gf_attempt *attempt, struct gf_branch *branch,
                             enum gf_status status, const struct gf_error *why,
                             struct gf_error *error)
{
    struct gf_picture_task *const task = branch->task;
    if (is_of_device(attempt, status) || gf_attempt_is_of_level(attempt, status)) {
        *error = *why;
        return status;
    }
    branch->pending = false;
    task->ended = true;
    task->status = status;
    if (status)
        task->error = *why;
    else if (attempt->pipeline->outputs)
        task->status = keep_profile(attempt, task, &task->error);
    return GF_OK;
}

enum gf_status gf_group_fail(struct gf_attempt *attempt, const struct gf_group *group,
                             enum gf_status status, const struct gf_error *why,
                             struct gf_error *error)
{
    for (int i = 0; i < group->count; i++) {
        if (group->member[i]->pending)
            GF_TRY(gf_branch_end(attempt, group->member[i], status, why, error));
    }
    return GF_OK;
}

/* Returns a task for some stages of the branch whose result is held, since other stages follow. */
static struct gf_picture_task inner_task(const struct gf_branch *branch)
{
    struct gf_picture_task task = *branch->task;
    task.destination = NULL;
    task.output = NULL;
    task.file_format = GF_FILE_AUTO;
    return task;
}

enum gf_status gf_branch_plan(struct gf_attempt *attempt, struct gf_branch *branch,
                              struct gf_format in, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    const struct gf_chain *const chain = &pipeline->chain;
    const int begin = branch->end;
    branch->end = gf_chain_next_box(chain, begin + (branch->parts++ > 0));
    struct gf_picture_task inner = inner_task(branch);
    struct gf_picture_task *const task = branch->end < chain->count ? &inner : branch->task;
    const struct gf_chain part = gf_chain_part(chain, begin, branch->end);
    struct gf_plan plan = {0};
    enum gf_status status =
        gf_pipeline_plan_part(pipeline, task, &part, in, &branch->request, &plan, error);
    if (!status && branch->place.width)
        status = gf_place_follow(&branch->place, &plan, error);
    gf_plan_free(&branch->plan);
    branch->plan = plan;
    branch->done = 0;
    return status;
}

/* Lets the next filter find what it needs (trim, deskew) in the picture with which the present part
 * of the chain has ended, and plans the next part. */
static enum gf_status enter_next_part(struct gf_attempt *attempt, struct gf_branch *branch,
                                      const struct gf_image *image, struct gf_error *error)
{
    struct gf_profile *const profile = &attempt->pipeline->profile;
    const struct gf_chain_item *const item = &attempt->pipeline->chain.item[branch->end];
    const struct gf_view view = gf_image_view(image);
    struct gf_found *const found = &branch->request.found;
    branch->request = (struct gf_plan_request){.orientation = 1,
                                               .icc = branch->plan.icc,
                                               .to_srgb = branch->request.to_srgb,
                                               .bits = branch->request.bits,
                                               .apart = branch->request.apart};
    branch->recoloured |= branch->plan.recoloured;
    branch->filtered = true;
    item->filter->find(item->params, &view, found);
    if (*found->text)
        snprintf(profile->found, sizeof profile->found, "%s", found->text);
    return gf_branch_plan(attempt, branch, image->format, error);
}

static bool has_box(const struct gf_attempt *attempt, const struct gf_branch *branch)
{
    const struct gf_chain *const chain = &attempt->pipeline->output[branch->number].chain;
    return gf_chain_next_box(chain, 0) < chain->count;
}

/* Returns the most bytes of host memory that an output of the group needs; they are computed one
 * after another. */
static uint64_t bytes_of_outputs(const struct gf_attempt *attempt, const struct gf_group *group)
{
    const struct gf_pipeline *const pipeline = attempt->pipeline;
    uint64_t most = 0;
    for (int i = 0; i < group->count; i++) {
        const struct gf_branch *const branch = group->member[i];
        const uint64_t bytes = gf_pipeline_whole_bytes(pipeline, &branch->plan) +
                               gf_pipeline_second_bytes(&branch->plan) +
                               gf_sink_memory(branch->task->file_format, branch->plan.out,
                                              &pipeline->output[branch->number].options)
                                   .bytes;
        most = bytes > most ? bytes : most;
    }
    return most;
}

uint64_t gf_group_bytes(const struct gf_attempt *attempt, const struct gf_group *group)
{
    return 2 * gf_pipeline_image_bytes(attempt->source->format) + attempt->source->memory.bytes +
           bytes_of_outputs(attempt, group);
}

/* Whether host memory has room for a picture of the format, which is shared, besides what the
 * group's outputs need. */
static bool has_room(const struct gf_attempt *attempt, const struct gf_group *group,
                     const struct gf_held *from, struct gf_format format)
{
    return from->bytes + (from->source ? from->source->memory.bytes : 0) +
               bytes_of_outputs(attempt, group) + gf_pipeline_image_bytes(format) <=
           gf_pipeline_memory_limit(attempt->pipeline);
}

/* Allocates a picture in host memory that is held. If outputs share it, the memory is the pool's,
 * which keeps it for the next picture. */
static enum gf_status take_host_image(struct gf_pipeline *pipeline, struct gf_format format,
                                      bool shared, struct gf_image *image, struct gf_error *error)
{
    const size_t pitch = gf_row_bytes(format);
    if (!shared)
        return gf_image_alloc(image, format, error);
    if (!pipeline->buffers.backend)
        gf_buffer_pool_open(&pipeline->buffers, pipeline->backend);
    *image = (struct gf_image){.format = format, .pitch = pitch};
    image->data = gf_buffer_pool_take_host(&pipeline->buffers, pitch * (size_t)format.height);
    return image->data ? GF_OK
                       : gf_fail(error, GF_ERROR_MEMORY, "out of memory for a picture of %dx%d",
                                 format.width, format.height);
}

/* Makes the task begin at the source's picture or at one that is held. */
static void begin_at(struct gf_picture_task *task, const struct gf_held *from)
{
    task->image_in = from->source ? NULL : &from->image;
    task->in_on_device = from->on_device;
    task->image_bytes = from->bytes;
}

/* Sets *part to a plan of the branch's stages from the next one up to the stage before `end`: the
 * branch's own plan, or *cut, a part of it. */
static enum gf_status cut_plan(struct gf_branch *branch, int end, struct gf_plan *cut,
                               struct gf_plan **part, struct gf_error *error)
{
    const bool apart = branch->request.apart;
    *cut = (struct gf_plan){0};
    *part = apart ? cut : &branch->plan;
    return apart ? gf_plan_cut(&branch->plan, branch->done, end, cut, error) : GF_OK;
}

/* Schedules the branch's next stages, up to the stage before `end`. Their result is held in *to. */
static enum gf_status hold_result(struct gf_attempt *attempt, struct gf_branch *branch, int end,
                                  const struct gf_held *from, bool on_device, struct gf_held *to,
                                  struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    struct gf_picture_task task = inner_task(branch);
    const bool shared = branch->request.apart;
    struct gf_plan cut, *part;
    *to = (struct gf_held){.on_device = on_device};
    begin_at(&task, from);
    task.image_out = &to->image;
    task.out_is_callers = false;
    task.out_on_device = on_device;
    GF_TRY(cut_plan(branch, end, &cut, &part, error));
    enum gf_status status = gf_pipeline_check_memory(pipeline, &task, from->source, part, error);
    if (!status && !on_device)
        status = take_host_image(pipeline, part->out, shared, &to->image, error);
    to->bytes = on_device ? 0 : gf_pipeline_image_bytes(part->out);
    if (!shared) /* for shared ones, gf_group_advance() has checked that there is room */
        task.image_bytes += to->bytes;
    GF_THEN(status, gf_pipeline_schedule(pipeline, part, from->source, NULL, &task, error));
    gf_plan_free(&cut);
    return status;
}

static void release_held(struct gf_attempt *attempt, struct gf_held *held)
{
    if (!held->image.owned)
        gf_buffer_pool_return(&attempt->pipeline->buffers, held->image.data);
    else
        gf_image_free(&held->image);
    held->image.data = NULL;
}

enum gf_status gf_pipeline_open_sink(const struct gf_pipeline *pipeline,
                                     const struct gf_picture_task *task, struct gf_format format,
                                     const struct gf_place *place, const struct gf_icc *icc,
                                     bool filtered, const struct gf_metadata *metadata,
                                     struct gf_sink **sink, struct gf_error *error)
{
    /* `changed` is a copy, whose blobs belong to the source or to the plan. */
    struct gf_metadata changed = *metadata;
    if (icc)
        gf_pipeline_recolour(&changed, icc);
    if (place->turned) {
        changed.density_x = metadata->density_y;
        changed.density_y = metadata->density_x;
    }
    if (metadata->geo.size && (*place->lost || !gf_place_is_same(place, format))) {
        changed.geo = (struct gf_blob){0};
        if (gf_file_type(task->file_format)->keeps & GF_KIND_GEO &&
            !(gf_kinds_unwanted(&pipeline->options) & GF_KIND_GEO))
            gf_warn(&pipeline->options,
                    "%s: GeoTIFF's tags are left out: the pixels are not where they were",
                    gf_output_name(task->output));
    }
    changed.filtered = filtered;
    changed.colour.has_clli &= gf_chain_keeps_light(&pipeline->chain);
    char colours[GF_COLOURS_TEXT_SIZE];
    changed.colour.told = gf_chain_converts(&pipeline->chain) &&
                          gf_colour_tags_unsaid(&changed.colour, changed.icc.size, colours);
    if (changed.colour.told)
        gf_warn(&pipeline->options,
                "%s: nothing converts %s: the samples keep it and count as sRGB",
                gf_output_name(task->output), colours);
    if (filtered)
        changed.palette = (struct gf_blob){0};
    const struct gf_options options = gf_pipeline_sink_options(pipeline, task);
    enum gf_status status = gf_pipeline_move_gain_map(
        pipeline, task, place, format, &metadata->gain_map, &changed.gain_map, error);
    if (!status && task->sink)
        status = gf_sink_turn(task->sink, task->output, task->file_format, format, &changed,
                              &options, error);
    else if (!status)
        status = (task->path ? gf_tiles_sink_open : gf_sink_open)(
            task->output, task->file_format, format, &changed, &options, sink, error);
    free(changed.gain_map.data);
    return status;
}

/* Returns the length of the name before its last such character, which is part of the length if it
 * is a slash. */
static int length_to(const char *name, char end)
{
    const char *const last = strrchr(name, end);
    return last ? (int)(last - name) + (end == '/') : 0;
}

/* Fails unless a frame has the format of those before it. Warns if its profile is another one. */
static enum gf_status check_frame(const struct gf_pipeline *pipeline,
                                  const struct gf_picture_task *task, struct gf_format frame,
                                  uint64_t profile, struct gf_error *error)
{
    const struct gf_format first = task->frame;
    if (memcmp(&frame, &first, sizeof first) != 0)
        return gf_fail(
            error, GF_ERROR_UNFIT,
            "%s: a frame becomes %dx%dx%d of %d bits and the first one %dx%dx%d of %d: an "
            "animation has one format (-o '%.*s{stem}-{n}.%s' makes pictures)",
            gf_output_name(task->output), frame.width, frame.height, frame.channels, frame.bits,
            first.width, first.height, first.channels, first.bits,
            length_to(gf_output_name(task->output), '/'), gf_output_name(task->output),
            gf_file_format_extension(task->file_format));
    if (profile != task->frame_profile)
        gf_warn(&pipeline->options,
                "%s: a frame has another profile than the first one, whose profile is that of all: "
                "its colours will look wrong (icc=srgb)",
                gf_output_name(task->output));
    return GF_OK;
}

/* Returns the profile that a filter has given the result; NULL: the picture has its own profile. */
static const struct gf_icc *new_profile(const struct gf_branch *branch, const struct gf_plan *plan)
{
    return branch->recoloured || plan->recoloured ? &plan->icc : NULL;
}

/* Refuses several pictures of a file for an output that takes one. */
static enum gf_status fail_frames(const struct gf_picture_task *task, struct gf_error *error)
{
    const char *const input = gf_input_name(task->input), *const output =
                                                              gf_output_name(task->output);
    const int plain = length_to(input, '[');
    if (task->destination->bytes && plain)
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: takes one picture of each input, and %s are several: -i '%.*s[0]' -i "
                       "'%.*s[1]'",
                       output, input, plain, input, plain, input);
    return gf_fail(error, GF_ERROR_USAGE,
                   "%s: %s files hold one picture here: choose one of %s by its number, or number "
                   "the outputs of one input by {n}, as in -o '%.*s{stem}-{n}.%s'",
                   output, gf_file_format_name(task->file_format), input, length_to(output, '/'),
                   output, gf_file_format_extension(task->file_format));
}

/* Opens the sink of the result, or returns the one to which the frames before were written. */
static enum gf_status take_sink(const struct gf_attempt *attempt, const struct gf_branch *branch,
                                const struct gf_plan *plan, const struct gf_metadata *metadata,
                                struct gf_sink **sink, struct gf_error *error)
{
    const struct gf_pipeline *const pipeline = attempt->pipeline;
    const struct gf_source *const source = attempt->source;
    struct gf_picture_task *const task = branch->task;
    const bool is_frame = source && source->next && !task->each;
    struct gf_metadata own = *metadata; /* a copy; its blobs belong to the source */
    own.animated = is_frame && gf_format_animates(task->file_format) &&
                   !gf_tiles_named(task->path, &pipeline->options);
    const struct gf_bytes *const bytes = task->destination ? task->destination->bytes : NULL;
    if (bytes && bytes->y4m && !own.y4m.size)
        own.y4m = (struct gf_blob){(unsigned char *)bytes->y4m, strlen(bytes->y4m) + 1};
    const struct gf_icc *const icc = new_profile(branch, plan);
    const uint64_t profile =
        gf_hash(GF_HASH_START, icc ? icc->data : own.icc.data, icc ? icc->size : own.icc.size);
    *sink = task->sink;
    if (task->sink && !task->sink->turn)
        return check_frame(pipeline, task, plan->out, profile, error);
    if (is_frame && !own.animated)
        return fail_frames(task, error);
    GF_TRY(gf_pipeline_open_sink(pipeline, task, plan->out, &branch->place, icc,
                                 branch->filtered || plan->stage_count || !source, &own, sink,
                                 error));
    if (own.animated && !task->sink) {
        (*sink)->duration = &source->duration;
        task->sink = *sink;
        task->frame = plan->out;
        task->frame_profile = profile;
    }
    return GF_OK;
}

/* Allocates the memory of the caller's image, or checks the memory that the caller has given. */
static enum gf_status check_or_allocate(const struct gf_pipeline *pipeline,
                                        const struct gf_picture_task *task, struct gf_format format,
                                        struct gf_error *error)
{
    struct gf_image *const image = task->image_out;
    if (!image->data)
        return task->out_is_callers ? gf_pipeline_alloc_image(pipeline, format, image, error)
                                    : gf_image_alloc(image, format, error);
    return !memcmp(&image->format, &format, sizeof format)
               ? GF_OK
               : gf_fail(error, GF_ERROR_USAGE,
                         "output: the result is %dx%dx%d of %d bits, which depends on the picture: "
                         "leave the memory to the library",
                         format.width, format.height, format.channels, format.bits);
}

/* Warns if the result is an image in memory with PQ or HLG colours, of which it says nothing. */
static void warn_of_unsaid(const struct gf_pipeline *pipeline, const struct gf_picture_task *task,
                           const struct gf_metadata *metadata)
{
    char colours[GF_COLOURS_TEXT_SIZE];
    if (gf_colour_tags_unsaid(&metadata->colour, metadata->icc.size, colours))
        gf_warn(&pipeline->options, "%s: nothing converts %s: its samples are taken as they are",
                gf_input_name(task->input), colours);
}

/* Prepares the caller's image for the result: its memory and its metadata. */
static enum gf_status prepare_image(const struct gf_pipeline *pipeline,
                                    const struct gf_branch *branch, const struct gf_plan *plan,
                                    const struct gf_metadata *metadata, struct gf_error *error)
{
    if (plan->icc.inks)
        return gf_fail(error, GF_ERROR_UNFIT, "a picture in memory is not CMYK: write a file");
    GF_TRY(check_or_allocate(pipeline, branch->task, plan->out, error));
    if (!new_profile(branch, plan))
        warn_of_unsaid(pipeline, branch->task, metadata);
    return GF_OK;
}

/* Keeps the plan for the next picture, which can use its tables if it has the same format. */
static void keep_plan(struct gf_pipeline *pipeline, struct gf_plan *plan)
{
    gf_plan_free(&pipeline->last_plan);
    pipeline->last_plan = *plan;
    *plan = (struct gf_plan){0};
}

static long long count_tiles(const struct gf_sink *sink)
{
    long long tiles = 0;
    for (int i = 0; i < sink->level_count; i++)
        tiles += sink->levels[i].tiles;
    return tiles;
}

/* Lets the sink of a pyramid count its tiles for the progress. */
static void begin_levels(struct gf_pipeline *pipeline, struct gf_sink *sink)
{
    if (!pipeline->progress)
        return;
    pipeline->progress->tiles += count_tiles(sink);
    sink->tiles_done = &pipeline->progress->tiles_done;
}

/* Takes the tiles of a failed attempt from the progress, in which `before` were done before it. */
static void drop_levels(struct gf_pipeline *pipeline, const struct gf_sink *sink, long long before)
{
    if (!pipeline->progress)
        return;
    pipeline->progress->tiles -= count_tiles(sink);
    pipeline->progress->tiles_done = before;
}

/* Tells the profile of the pyramid that the sink has written. */
static void end_levels(struct gf_pipeline *pipeline, const struct gf_sink *sink)
{
    if (!sink->level_count)
        return;
    pipeline->profile.written_levels = sink->level_count;
    pipeline->profile.written =
        memcpy(pipeline->written, sink->levels, (size_t)sink->level_count * sizeof *sink->levels);
}

/* Schedules the plan of the branch's last stages in this process, not in a remote. */
static enum gf_status write_here(struct gf_attempt *attempt, struct gf_branch *branch,
                                 struct gf_plan *plan, const struct gf_metadata *metadata,
                                 struct gf_source *source, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    struct gf_picture_task *const task = branch->task;
    struct gf_sink *sink = NULL;
    enum gf_status status =
        task->output ? take_sink(attempt, branch, plan, metadata, &sink, error) : GF_OK;
    const long long before = pipeline->progress ? pipeline->progress->tiles_done : 0;
    const bool whole = plan == &branch->plan;
    if (whole)
        gf_plan_take_constants(plan, &pipeline->last_plan);
    if (!status && sink)
        begin_levels(pipeline, sink);
    if (!status) {
        status = gf_pipeline_schedule(pipeline, plan, source, sink, task, error);
        if (sink && status)
            drop_levels(pipeline, sink, before);
        else if (sink)
            end_levels(pipeline, sink);
    }
    if (!status && task->image_out && !task->out_on_device)
        status = gf_pipeline_keep_metadata(pipeline, plan->out, new_profile(branch, plan), metadata,
                                           error);
    if (sink && sink != task->sink)
        sink->close(sink);
    if (whole)
        keep_plan(pipeline, plan);
    return status;
}

/* Schedules the last stages of the branch, from *from to the branch's file or image. */
static enum gf_status write_result(struct gf_attempt *attempt, struct gf_branch *branch,
                                   const struct gf_held *from, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    struct gf_picture_task *const task = branch->task;
    const struct gf_metadata *const metadata =
        attempt->source ? &attempt->source->metadata : &pipeline->given;
    const struct gf_image *const image_in = task->image_in;
    const bool in_on_device = task->in_on_device;
    struct gf_plan cut, *plan;
    GF_TRY(cut_plan(branch, branch->plan.stage_count, &cut, &plan, error));
    begin_at(task, from);
    enum gf_status status = gf_pipeline_check_memory(pipeline, task, from->source, plan, error);
    if (!status && task->image_out)
        status = prepare_image(pipeline, branch, plan, metadata, error);
    GF_THEN(status, pipeline->remote
                        ? gf_pipeline_attempt_remotely(pipeline, task, plan, error)
                        : write_here(attempt, branch, plan, metadata, from->source, error));
    gf_plan_free(&cut);
    task->image_in = image_in;
    task->in_on_device = in_on_device;
    task->image_bytes = 0;
    return status;
}

/* A picture held between two parts of the chain is freed as soon as the second part is done. */
enum gf_status gf_branch_finish(struct gf_attempt *attempt, struct gf_branch *branch,
                                const struct gf_held *from, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    struct gf_held held[2] = {{.source = NULL}, {.source = NULL}};
    enum gf_status status = GF_OK;
    gf_pipeline_select(pipeline, branch->number);
    for (int i = 0; !status && branch->end < pipeline->chain.count; i = !i) {
        status =
            hold_result(attempt, branch, branch->plan.stage_count, from, false, &held[i], error);
        release_held(attempt, &held[!i]);
        from = &held[i];
        GF_THEN(status, enter_next_part(attempt, branch, &from->image, error));
    }
    GF_THEN(status, write_result(attempt, branch, from, error));
    release_held(attempt, &held[0]);
    release_held(attempt, &held[1]);
    return status;
}

static enum gf_status finish_alone(struct gf_attempt *attempt, struct gf_branch *branch,
                                   const struct gf_held *from, struct gf_error *error)
{
    struct gf_error why = {0};
    const enum gf_status status = gf_branch_finish(attempt, branch, from, &why);
    return gf_branch_end(attempt, branch, status, &why, error);
}

/* For each member whose present part of the chain ends at this picture, plans the next part. */
static enum gf_status enter_parts(struct gf_attempt *attempt, const struct gf_group *group,
                                  const struct gf_held *from, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    for (int i = 0; i < group->count; i++) {
        struct gf_branch *const branch = group->member[i];
        struct gf_error why = {0};
        gf_pipeline_select(pipeline, branch->number);
        if (branch->done < branch->plan.stage_count || branch->end == pipeline->chain.count)
            continue;
        const enum gf_status status = enter_next_part(attempt, branch, &from->image, &why);
        if (status)
            GF_TRY(gf_branch_end(attempt, branch, status, &why, error));
    }
    return GF_OK;
}

/* Takes out of the group its first pending member, and all members whose next stage is the same. */
static struct gf_group take_alike(struct gf_group *group)
{
    struct gf_group alike = {.count = 0}, rest = {.count = 0};
    for (int i = 0; i < group->count; i++) {
        struct gf_branch *const branch = group->member[i], *const first = alike.member[0];
        if (!branch->pending)
            continue;
        if (!first || gf_plan_common(&first->plan, first->done, &branch->plan, branch->done) > 0)
            alike.member[alike.count++] = branch;
        else
            rest.member[rest.count++] = branch;
    }
    *group = rest;
    return alike;
}

/* Computes the remaining stages of all members of the group from a picture that they share. */
static enum gf_status advance_members(struct gf_attempt *attempt, struct gf_group group,
                                      const struct gf_held *from, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
    const int stages = pipeline->stages_done, segments = pipeline->segments_done;
    GF_TRY(enter_parts(attempt, &group, from, error));
    for (struct gf_group alike; (alike = take_alike(&group)).count;) {
        pipeline->stages_done = stages;
        pipeline->segments_done = segments;
        GF_TRY(alike.count > 1 ? gf_group_advance(attempt, &alike, from, error)
                               : finish_alone(attempt, alike.member[0], from, error));
    }
    return GF_OK;
}

enum gf_status gf_group_advance(struct gf_attempt *attempt, const struct gf_group *group,
                                const struct gf_held *from, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = attempt->pipeline;
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
        on_device &= !has_box(attempt, branch);
    }
    const struct gf_format format =
        first->done + common ? first->plan.stage[first->done + common - 1].out : first->plan.in;
    if (!on_device && !has_room(attempt, group, from, format)) {
        for (int i = 0; !from->source && i < group->count; i++)
            GF_TRY(finish_alone(attempt, group->member[i], from, error));
        return GF_OK; /* the branches stay pending, since nothing has been shared yet */
    }
    enum gf_status status =
        hold_result(attempt, first, first->done + common, from, on_device, &held, &why);
    pipeline->holds_buffers = true;
    for (int i = 0; i < group->count; i++) {
        group->member[i]->done += common;
        group->member[i]->filtered |= common > 0;
    }
    status = status ? gf_group_fail(attempt, group, status, &why, error)
                    : advance_members(attempt, *group, &held, error);
    release_held(attempt, &held);
    return status;
}
