/* Lets another process filter a picture. This process opens the files and commits the output. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/named_file.h"
#include "base/start_times.h"
#include "codec/common/checks.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "pipeline/pipeline_state.h"

/* Whether the remote may have the input. Pictures and frames of a stream are written before the
 * next ones have come, which may take any time: only a stream that ends at once is read to its end.
 */
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

/* Opens the files that the chain names, for the remote. Returns whether all are plain files. */
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
 * name. The remote opens no such file. */
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
                                  .in = -1,
                                  .out = task->output ? gf_output_descriptor(task->output) : -1,
                                  .progress = pipeline->progress};
    work.options.warn = pipeline->remote_warn;
    struct gf_remote_result result = {0};
    enum gf_status status = GF_OK;
    if (may_hand_over(task))
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
    if (pipeline->remote->own) /* the caller falls back to other devices */
        return status == GF_ERROR_DEVICE ? GF_ERROR_DEVICE : GF_ERROR_DEVICE_MEMORY;
    if (outcome == GF_REMOTE_ABSENT)
        *error = (struct gf_error){0};
    task->remote_failed = true;
    return GF_ERROR_UNAVAILABLE;
}

/* The remote may still hold the output's descriptor and write to the file. Therefore the next
 * attempt opens another file. */
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

void gf_pipeline_set_cpu_for_remote(struct gf_pipeline *pipeline)
{
    pipeline->cpu_for_remote = true;
}
