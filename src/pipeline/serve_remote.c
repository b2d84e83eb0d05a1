/* Filters a picture for another process, which has opened the files. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/named_file.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "pipeline/pipeline_state.h"

uint64_t gf_pipeline_held_bytes(const struct gf_pipeline *pipeline)
{
    return gf_buffer_pool_held_bytes(&pipeline->buffers);
}

static void sum_spans(const struct gf_spans *spans, struct gf_times *times)
{
    for (size_t i = 0; i < spans->count; i++) {
        const struct gf_span *const span = &spans->item[i];
        if (span->kind != GF_SPAN_START) /* the start of the device is not a part of the picture */
            gf_times_add(&times[span->kind], span->begin_s, span->end_s);
    }
}

static void fill_result(struct gf_pipeline *pipeline, const struct gf_picture_task *task,
                        struct gf_remote_result *result)
{
    const struct gf_profile *const profile = &pipeline->profile;
    *result = (struct gf_remote_result){.in_end = gf_input_position(task->input),
                                        .out_bytes = gf_output_size(task->output),
                                        .lanes = profile->lanes,
                                        .band_rows = profile->band_rows,
                                        .device_decoded = profile->device_decoded,
                                        .device_encoded = profile->device_encoded,
                                        .quality = profile->quality,
                                        .frames = profile->frames};
    memcpy(result->device, profile->device, sizeof result->device);
    sum_spans(&pipeline->spans, result->spans);
    result->run_s = gf_now() - pipeline->spans.origin_s;
}

static enum gf_status open_files(const struct gf_remote_work *work, struct gf_picture_task *task,
                                 struct gf_error *error)
{
    enum gf_status status =
        gf_output_open_descriptor(work->out, work->out_name, &task->output, error);
    if (status) {
        close(work->in);
        return status;
    }
    return gf_input_open_descriptor(work->in, work->in_offset, work->in_pages, work->in_name,
                                    &task->input, error);
}

/* A client sends many pictures with one chain. The chain is therefore kept, with the constants of
 * the last plan, unless it names files. */
static enum gf_status configure(struct gf_pipeline *pipeline, const struct gf_remote_work *work,
                                const struct gf_options *options, struct gf_error *error)
{
    const char *const chain = work->chain ? work->chain : "";
    if (!work->files && pipeline->chain_text && !strcmp(pipeline->chain_text, chain))
        return gf_pipeline_set_options(pipeline, options, error);
    free(pipeline->chain_text);
    pipeline->chain_text = NULL;
    GF_TRY(gf_pipeline_configure(pipeline, chain, options, error));
    if (!work->files)
        pipeline->chain_text = strdup(chain);
    return GF_OK;
}

enum gf_status gf_pipeline_filter_remote_work(struct gf_pipeline *pipeline,
                                              const struct gf_remote_work *work,
                                              struct gf_remote_result *result,
                                              struct gf_error *error)
{
    const struct gf_options own = pipeline->options;
    struct gf_options options = work->options;
    const struct gf_destination nowhere = {.number = work->number};
    struct gf_picture_task task = {
        .destination = &nowhere, .number = 1, .file_format = options.format};
    options.device = own.device;
    options.device_index = own.device_index;
    options.device_memory_bytes = own.device_memory_bytes;
    options.host_memory = own.host_memory;
    options.transfer = own.transfer;
    options.sandbox_program = own.sandbox_program;
    options.sandbox = own.sandbox > options.sandbox ? own.sandbox : options.sandbox;
    atomic_uint missed = ~0u; /* the client has warned of facts that the picture lacks */
    const struct gf_handed_files handed = {work->files, work->file_name, work->file};
    gf_pipeline_share_progress(pipeline, work->progress);
    gf_pipeline_share_missed(pipeline, &missed);
    gf_named_files_hand(&handed);
    enum gf_status status = open_files(work, &task, error);
    if (!status)
        status = configure(pipeline, work, &options, error);
    if (!status) {
        gf_pipeline_limit_output(pipeline, &task);
        gf_spans_restart(&pipeline->spans, options.spans);
        status = gf_input_format(task.input, &task.own_format, error);
    }
    if (!status)
        status = gf_pipeline_filter_task(pipeline, &task, error);
    if (!status)
        status = gf_output_commit(task.output, error);
    if (!status)
        fill_result(pipeline, &task, result);
    gf_output_close(task.output);
    gf_input_close(task.input);
    gf_named_files_hand(NULL);
    gf_pipeline_share_progress(pipeline, NULL);
    gf_pipeline_share_missed(pipeline, NULL);
    return status;
}
