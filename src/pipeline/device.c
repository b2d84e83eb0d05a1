/* Where the pictures of a pipeline are filtered: on a device of this process, with what is tried
 * after its failure, or by another process. The profile says which. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process/files.h"
#include "base/threads/times.h"
#include "chain/chain.h"
#include "codec/common/checks.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "codec/layouts/layouts.h"
#include "engine/device_score.h"
#include "pipeline/pipeline_state.h"

void gf_pipeline_begin_next_profile(struct gf_pipeline *pipeline)
{
    if (pipeline->has_begun)
        gf_spans_restart(&pipeline->spans, pipeline->options.profile || pipeline->options.spans);
    pipeline->has_begun = true;
    *pipeline->profile.found = '\0';
    pipeline->profile.written_levels = 0;
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
    GF_ALLOCATED(stages, error);
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
    profile->level = task->level;
    if (task->width) {
        profile->in.width = task->width;
        profile->in.height = task->height;
    }
    profile->out = plan->out;
    profile->frames = task->frames > 1 && !task->each ? task->frames : 1;
    return GF_OK;
}

void gf_pipeline_describe_files(struct gf_profile *profile, const struct gf_picture_task *task)
{
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

/* Choosing the device of a pipeline, and what is tried when the device fails. */

enum { CUDA_LANES = 4, LEAST_BAND_ROWS = 16 };

void gf_pipeline_close_resident(struct gf_pipeline *pipeline)
{
    gf_resident_close(pipeline->resident);
    pipeline->resident = NULL;
    pipeline->described_plan = NULL;
}

void gf_pipeline_close_backend(struct gf_pipeline *pipeline)
{
    if (!pipeline->backend)
        return;
    gf_pipeline_close_resident(pipeline);
    gf_buffer_pool_close(&pipeline->buffers);
    pipeline->backend->calls->close(pipeline->backend);
    pipeline->backend = NULL;
    pipeline->described = NULL;
}

static void warn_of_variants(const struct gf_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->chain.count; i++) {
        const struct gf_chain_item *const item = &pipeline->chain.item[i];
        if (item->variant)
            gf_warn(&pipeline->options,
                    "%s: variant=%s names CUDA kernels; the CPU makes the same picture its own way",
                    item->filter->name, item->variant->name);
    }
}

static enum gf_status use_cpu(struct gf_pipeline *pipeline, const char *reason,
                              struct gf_error *error)
{
    gf_pipeline_close_backend(pipeline);
    pipeline->on_cuda = false;
    pipeline->band_rows = pipeline->options.band_rows;
    gf_pipeline_set_reason(pipeline, reason);
    warn_of_variants(pipeline);
    return gf_backend_cpu_open(pipeline->options.threads, &pipeline->backend, error);
}

static enum gf_status use_cuda(struct gf_pipeline *pipeline, const char *reason,
                               struct gf_error *error)
{
    pipeline->on_cuda = true;
    gf_pipeline_set_reason(pipeline, reason);
    const struct gf_cuda_options options = {
        .device = pipeline->options.device_index,
        .budget = pipeline->options.device_memory_bytes,
        .pageable = pipeline->options.host_memory == GF_HOST_PAGEABLE,
        .zero_copy = pipeline->options.transfer == GF_TRANSFER_ZERO_COPY,
    };
    return gf_backend_cuda_open(&options, &pipeline->spans, &pipeline->backend, error);
}

/* Whether the chain of any output has a filter. */
static bool any_filters(const struct gf_pipeline *pipeline)
{
    bool any = false;
    for (int i = 0; i < pipeline->outputs; i++)
        any |= pipeline->output[i].chain.count > 0;
    return any;
}

/* Fails with GF_ERROR_UNAVAILABLE unless all filters of all outputs have CUDA kernels. */
static enum gf_status check_kernels(const struct gf_pipeline *pipeline, struct gf_error *error)
{
    GF_TRY(gf_chain_check_kernels(&pipeline->chain, error));
    for (int i = 1; i < pipeline->outputs; i++)
        GF_TRY(gf_chain_check_kernels(&pipeline->output[i].chain, error));
    return GF_OK;
}

enum gf_status gf_pipeline_choose_device(struct gf_pipeline *pipeline, struct gf_error *error)
{
    const char *why_not = "";
    struct gf_error lacks = {0};
    const enum gf_status kernels = check_kernels(pipeline, &lacks);
    if (pipeline->options.codec == GF_CODEC_GPU &&
        (pipeline->options.device == GF_DEVICE_CPU || kernels || !gf_backend_cuda_likely(&why_not)))
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "the GPU's codec without a GPU: %s",
                       kernels    ? lacks.text
                       : *why_not ? why_not
                                  : "the CPU was asked for");
    switch (pipeline->options.device) {
    case GF_DEVICE_CPU:
        return use_cpu(pipeline, "asked for", error);
    case GF_DEVICE_CUDA:
        if (kernels)
            return gf_fail(error, kernels, "%s", lacks.text);
        return use_cuda(pipeline, "asked for", error);
    case GF_DEVICE_AUTO:
        break;
    }
    if (!pipeline->gpu_is_sooner && !pipeline->chain.count && !any_filters(pipeline))
        return use_cpu(pipeline, "there is nothing to filter", error);
    if (kernels)
        return use_cpu(pipeline, lacks.text, error);
    if (!gf_backend_cuda_likely(&why_not))
        return use_cpu(pipeline, why_not, error);
    return use_cuda(pipeline, "there is a GPU", error);
}

/* Returns the number of lanes. Four keep both directions of the bus to a GPU busy; if a codec feeds
 * them or takes their results, more would only need more pinned memory. On the CPU, starting
 * threads takes longer than they save with a small picture, unless its filters are slow. */
int gf_pipeline_lanes(const struct gf_pipeline *pipeline, const struct gf_plan *plan)
{
    const struct gf_options *const options = &pipeline->options;
    if (options->serial)
        return 1;
    if (options->lanes)
        return options->lanes;
    if (pipeline->on_cuda)
        return CUDA_LANES;
    const bool asked = pipeline->threads_are_asked || pipeline->band_rows || options->band_rows;
    return asked || !gf_plan_is_small(plan) ? options->threads
                                            : gf_plan_useful_threads(plan, options->threads);
}

struct gf_options gf_pipeline_resolved(const struct gf_pipeline *pipeline)
{
    struct gf_options options = pipeline->options;
    if (!options.memory_bytes)
        options.memory_bytes = pipeline->on_cuda ? (uint64_t)512 << 20 : (uint64_t)128 << 20;
    return options;
}

bool gf_pipeline_recover(struct gf_pipeline *pipeline, enum gf_status failure,
                         const struct gf_error *why, struct gf_error *error)
{
    if (!pipeline->on_cuda)
        return false;
    if (failure == GF_ERROR_DEVICE_MEMORY)
        gf_score_rest(); /* earlier searches may have left their memory */
    if (pipeline->outputs && pipeline->hold < GF_HOLD_NOWHERE &&
        failure == GF_ERROR_DEVICE_MEMORY) {
        pipeline->hold++;
        pipeline->band_rows = pipeline->options.band_rows;
        return true;
    }
    if (pipeline->device_codec_used &&
        (failure == GF_ERROR_DEVICE_MEMORY || failure == GF_ERROR_DEVICE)) {
        if (failure == GF_ERROR_DEVICE)
            gf_warn(&pipeline->options, "%s; trying without the GPU's codec", why->text);
        pipeline->no_device_codec = true;
        return true;
    }
    if (failure == GF_ERROR_DEVICE_MEMORY && pipeline->band_rows >= LEAST_BAND_ROWS) {
        gf_warn(&pipeline->options, "%s; trying with bands of %d rows", why->text,
                pipeline->band_rows);
        return true;
    }
    const bool device_failed = failure == GF_ERROR_DEVICE || failure == GF_ERROR_DEVICE_MEMORY;
    if (pipeline->options.device != GF_DEVICE_AUTO ||
        (!device_failed && failure != GF_ERROR_UNAVAILABLE))
        return false;
    if (device_failed)
        gf_warn(&pipeline->options, "%s; the picture is done on the CPU", why->text);
    char reason[sizeof pipeline->profile.reason];
    snprintf(reason, sizeof reason, "%.150s", why->text);
    pipeline->returns = pipeline->has_floats;
    return use_cpu(pipeline, reason, error) == GF_OK;
}

enum gf_status gf_pipeline_return_to_device(struct gf_pipeline *pipeline, struct gf_error *error)
{
    if (!pipeline->returns)
        return GF_OK;
    pipeline->returns = false;
    gf_pipeline_close_backend(pipeline);
    return gf_pipeline_choose_device(pipeline, error);
}

enum gf_status gf_pipeline_start(struct gf_pipeline *pipeline, struct gf_backend **backend,
                                 bool *on_cuda, struct gf_error *error)
{
    struct gf_error failure = {0};
    enum gf_status status = pipeline->backend->calls->ready(pipeline->backend, &failure);
    while (status && gf_pipeline_recover(pipeline, status, &failure, &failure))
        status = pipeline->backend->calls->ready(pipeline->backend, &failure);
    if (status && error)
        *error = failure;
    *backend = pipeline->backend;
    *on_cuda = pipeline->on_cuda;
    return status;
}

void gf_pipeline_replace_backend(struct gf_pipeline *pipeline, struct gf_backend *backend,
                                 bool on_cuda)
{
    gf_pipeline_close_backend(pipeline);
    pipeline->backend = backend;
    pipeline->on_cuda = on_cuda;
}

/* Letting another process, the remote, filter a picture. This process opens and commits the
 * files. */

/* Whether the remote may get the input. A picture or frame of a stream must be written before the
 * next one comes, which may take any time; so only a stream that ends within WAIT_MS is read to its
 * end and handed over. */
static bool may_hand_over(const struct gf_picture_task *task)
{
    enum { BYTES_MOST = 32 << 20, WAIT_MS = 250 };
    return task->input && task->output &&
           (!gf_input_is_stream(task->input) ||
            gf_input_ends_within(task->input, BYTES_MOST, WAIT_MS));
}

static void close_named(struct gf_remote_work *work)
{
    while (work->files)
        close(work->file[--work->files]);
}

/* Opens the files that the chain names, for the remote. Returns whether all are regular files. */
static bool open_named(const struct gf_chain *chain, struct gf_remote_work *work)
{
    const int count = gf_chain_files(chain, work->file_name, GF_REMOTE_FILES);
    bool good = count <= GF_REMOTE_FILES;
    while (good && work->files < count) {
        struct stat file;
        const int fd = gf_named_file_open(work->file_name[work->files], O_NONBLOCK);
        good = fd >= 0;
        if (!good)
            break;
        work->file[work->files++] = fd;
        good = !fstat(fd, &file) && S_ISREG(file.st_mode);
    }
    if (!good)
        close_named(work);
    return good;
}

/* Whether a stage reads a picture that depends on files of this machine which the chain does not
 * name, such as its fonts. The remote cannot open them. */
static bool is_local(const struct gf_plan *plan)
{
    bool found = false;
    for (int i = 0; i < plan->stage_count; i++) {
        const struct gf_picture *list[GF_STAGE_PICTURES_MAX];
        int count = gf_stage_pictures(&plan->stage[i], list);
        while (count--)
            found |= list[count]->local;
    }
    return found;
}

static enum gf_status take_result(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                  const struct gf_plan *plan, const struct gf_remote_result *result,
                                  struct gf_error *error)
{
    struct gf_profile *const profile = &pipeline->profile;
    GF_TRY(gf_output_adopt(task->output, result->out_bytes, error));
    gf_input_go_to(task->input, result->in_end);
    snprintf(profile->device, sizeof profile->device, "%.80s%s", result->device,
             pipeline->remote->own ? "" : ", by the server");
    profile->lanes = result->lanes;
    profile->band_rows = result->band_rows;
    profile->device_decoded = result->device_decoded;
    profile->device_encoded = result->device_encoded;
    profile->quality = result->quality;
    profile->tries = result->tries;
    profile->score = result->score;
    task->frames = result->frames;
    const double now_s = gf_now();
    for (int kind = 0; kind < GF_SPAN_KINDS; kind++) {
        const struct gf_times *const times = &result->spans[kind];
        if (times->sum_s > 0)
            gf_spans_add(&pipeline->spans, (enum gf_span_kind)kind, -1, -1, now_s - times->sum_s,
                         now_s, 0);
        gf_start_note_times((enum gf_start_part)(GF_START_SERVER_KINDS + kind), times,
                            now_s - result->run_s);
    }
    return gf_pipeline_describe_plan(pipeline, task, plan, error);
}

enum gf_status gf_pipeline_attempt_remotely(struct gf_pipeline *pipeline,
                                            struct gf_picture_task *task,
                                            const struct gf_plan *plan, struct gf_error *error)
{
    struct gf_remote_work work = {.chain = pipeline->chain_text,
                                  .options = pipeline->options,
                                  .keeps_slow_files = pipeline->keeps_slow_files,
                                  .in = -1,
                                  .out = task->output ? gf_output_descriptor(task->output) : -1,
                                  .progress = pipeline->progress};
    work.options.warn = pipeline->remote_warn;
    struct gf_remote_result result = {0};
    enum gf_status status = GF_OK;
    if (may_hand_over(task) && !gf_tiles_named(task->path, &pipeline->options))
        status = gf_input_descriptor(task->input, &work.in, &work.in_offset, error);
    if (status)
        return status;
    enum gf_remote_outcome outcome = GF_REMOTE_ABSENT;
    if (work.in >= 0 && work.out >= 0 && !is_local(plan) && open_named(&pipeline->chain, &work)) {
        work.number = task->destination && task->destination->number ? task->destination->number
                                                                     : task->number;
        work.in_pages = gf_input_pages(task->input);
        work.in_name = gf_input_name(task->input);
        work.out_name = gf_output_name(task->output);
        work.options.format = task->file_format;
        const double begin_s = gf_now();
        outcome = pipeline->remote->filter(pipeline->remote, &work, &result, &status, error);
        gf_start_note(GF_START_SERVER, begin_s);
        close_named(&work);
    }
    if (outcome == GF_REMOTE_DONE)
        return status ? status : take_result(pipeline, task, plan, &result, error);
    /* For a GPU of this run: the caller goes on with its other devices. */
    if (pipeline->remote->own)
        return status == GF_ERROR_DEVICE ? GF_ERROR_DEVICE : GF_ERROR_DEVICE_MEMORY;
    if (outcome == GF_REMOTE_ABSENT)
        *error = (struct gf_error){0};
    task->remote_failed = true;
    return GF_ERROR_UNAVAILABLE;
}

/* Leaves the remote after a failure. It may still have the output's descriptor and write to the
 * file, so that the next attempt opens another file. */
enum gf_status gf_pipeline_leave_remote(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                        struct gf_error *error)
{
    char reason[sizeof pipeline->profile.reason];
    if (*error->text)
        gf_warn(&pipeline->options, "%s; the picture is done without the server", error->text);
    snprintf(reason, sizeof reason, "%s", pipeline->profile.reason);
    pipeline->remote->close(pipeline->remote);
    pipeline->remote = NULL;
    task->remote_failed = false;
    gf_output_close(task->output);
    task->output = NULL;
    pipeline->spans.count = 0;
    pipeline->on_cuda = false;
    if (pipeline->cpu_for_remote)
        pipeline->options.device = GF_DEVICE_CPU;
    const enum gf_status status = gf_pipeline_choose_device(pipeline, error);
    if (!status && pipeline->cpu_for_remote)
        gf_pipeline_set_reason(pipeline, "done sooner than a GPU is started");
    else if (!status && *reason && pipeline->on_cuda)
        gf_pipeline_set_reason(pipeline, reason);
    return status ? status : gf_input_rewind(task->input, error);
}

enum gf_status gf_pipeline_expect_gpu_sooner(struct gf_pipeline *pipeline, struct gf_error *error)
{
    pipeline->gpu_is_sooner = true;
    if (pipeline->remote || pipeline->on_cuda)
        return GF_OK;
    gf_pipeline_close_backend(pipeline);
    return gf_pipeline_choose_device(pipeline, error);
}

void gf_pipeline_keep_slow_files(struct gf_pipeline *pipeline)
{
    pipeline->keeps_slow_files = true;
}

bool gf_pipeline_refused_floats(const struct gf_pipeline *pipeline)
{
    return pipeline->has_floats;
}

void gf_pipeline_set_cpu_for_remote(struct gf_pipeline *pipeline)
{
    pipeline->cpu_for_remote = true;
}
