#include <stdio.h>
#include <stdlib.h>

#include "base/start_times.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "pipeline/pipeline_state.h"

void gf_pipeline_begin_next_profile(struct gf_pipeline *pipeline)
{
    if (pipeline->has_begun)
        gf_spans_restart(&pipeline->spans, pipeline->options.profile || pipeline->options.spans);
    pipeline->has_begun = true;
    *pipeline->profile.found = '\0';
}

void gf_pipeline_begin_profile(struct gf_pipeline *pipeline)
{
    gf_pipeline_begin_next_profile(pipeline);
    pipeline->own_progress.cancelled = false;
}

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
    if (pipeline->backend && pipeline->described != pipeline->backend)
        pipeline->backend->calls->describe(pipeline->backend, profile->device,
                                           sizeof profile->device);
    pipeline->described = pipeline->backend;
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
    profile->frames = task->frames > 1 && !task->each ? task->frames : 1;
    return GF_OK;
}

void gf_pipeline_describe_files(struct gf_pipeline *pipeline, const struct gf_picture_task *task)
{
    struct gf_profile *const profile = &pipeline->profile;
    snprintf(profile->in_file, sizeof profile->in_file, "%s",
             gf_file_format_name(task->own_format));
    snprintf(profile->out_file, sizeof profile->out_file, "%s",
             gf_file_format_name(task->file_format));
    profile->out = gf_format_in_file(task->file_format, profile->out);
    profile->in_bytes = gf_input_size(task->input);
    profile->out_bytes = gf_output_size(task->output);
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

void gf_pipeline_set_reason(struct gf_pipeline *pipeline, const char *reason)
{
    snprintf(pipeline->profile.reason, sizeof pipeline->profile.reason, "%.159s", reason);
}

const struct gf_profile *gf_pipeline_profile(const struct gf_pipeline *pipeline)
{
    return pipeline ? &pipeline->profile : NULL;
}
