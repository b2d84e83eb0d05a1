/* Opens a pipeline: which device it runs on, and what it does when that fails. */
#include "pipeline/pipeline_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/cpu.h"
#include "chain/variants.h"
#include "codec/common/checks.h"
#include "gpufilter/version.h"

enum { CUDA_LANES = 4, LEAST_BAND_ROWS = 16 };

const char *gf_version(void)
{
    return GF_VERSION;
}

static void close_backend(struct gf_pipeline *pipeline)
{
    if (!pipeline->backend)
        return;
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
    close_backend(pipeline);
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

/* Whether any of the outputs has a filter. */
static bool any_filters(const struct gf_pipeline *pipeline)
{
    bool any = false;
    for (int i = 0; i < pipeline->outputs; i++)
        any |= pipeline->output[i].chain.count > 0;
    return any;
}

/* Whether all filters of all outputs have CUDA kernels. */
static enum gf_status check_kernels(const struct gf_pipeline *pipeline, struct gf_error *error)
{
    enum gf_status status = gf_chain_check_kernels(&pipeline->chain, error);
    for (int i = 1; !status && i < pipeline->outputs; i++)
        status = gf_chain_check_kernels(&pipeline->output[i].chain, error);
    return status;
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
    if (!pipeline->chain.count && !any_filters(pipeline))
        return use_cpu(pipeline, "there is nothing to filter", error);
    if (kernels)
        return use_cpu(pipeline, lacks.text, error);
    if (!gf_backend_cuda_likely(&why_not))
        return use_cpu(pipeline, why_not, error);
    return use_cuda(pipeline, "there is a GPU", error);
}

enum gf_status gf_pipeline_configure(struct gf_pipeline *pipeline, const char *chain,
                                     const struct gf_options *options, struct gf_error *error)
{
    gf_plan_free(&pipeline->last_plan); /* its parameters are the chain's */
    gf_chain_free(&pipeline->chain);
    pipeline->chain = (struct gf_chain){0};
    enum gf_status status = gf_chain_parse(chain, &pipeline->chain, error);
    if (!status)
        status = gf_options_check(options, &pipeline->options, error);
    if (!pipeline->options.threads)
        pipeline->options.threads = gf_cpu_count();
    pipeline->chain.no_fuse = pipeline->options.no_fuse;
    return status;
}

void gf_pipeline_select(struct gf_pipeline *pipeline, int output)
{
    pipeline->chain = pipeline->output[output].chain;
    gf_options_of_output(&pipeline->options, &pipeline->output[output].options);
}

/* Reads the chains and the options of all outputs; the pipeline has those of the first already. */
static enum gf_status configure_outputs(struct gf_pipeline *pipeline,
                                        const struct gf_pipeline_output *output, int count,
                                        struct gf_error *error)
{
    pipeline->output = calloc((size_t)count, sizeof *pipeline->output);
    enum gf_status status =
        pipeline->output ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    if (status)
        return status;
    pipeline->output[0] = (struct gf_output_choice){pipeline->chain, pipeline->options};
    pipeline->outputs = 1;
    for (int i = 1; !status && i < count; i++) {
        struct gf_output_choice *const choice = &pipeline->output[i];
        status = gf_chain_parse(output[i].chain, &choice->chain, error);
        if (!status)
            status = gf_options_check(&output[i].options, &choice->options, error);
        choice->chain.no_fuse = pipeline->options.no_fuse;
        pipeline->outputs = i + 1;
    }
    return status;
}

/* `output` lists several outputs; the chain and the options are then those of the first. */
static enum gf_status open_pipeline(const char *chain, const struct gf_options *options,
                                    const struct gf_pipeline_output *output, int count,
                                    struct gf_remote *remote, struct gf_pipeline **pipeline,
                                    struct gf_error *error)
{
    struct gf_pipeline *const opened = calloc(1, sizeof *opened);
    *pipeline = NULL;
    if (!opened) {
        if (remote)
            remote->close(remote);
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    }
    opened->remote = remote;
    gf_spans_init(&opened->spans);
    enum gf_status status = gf_pipeline_configure(opened, chain, options, error);
    if (!status && count > 1)
        status = configure_outputs(opened, output, count, error);
    if (!status)
        gf_spans_restart(&opened->spans, opened->options.profile || opened->options.spans);
    if (!status && !remote)
        status = gf_pipeline_choose_device(opened, error);
    if (!status && remote) {
        opened->on_cuda = true;
        opened->chain_text = strdup(chain ? chain : "");
        if (!opened->chain_text)
            status = gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    }
    if (status) {
        gf_pipeline_close(opened);
        return status;
    }
    gf_pipeline_warn_of_pictures(opened, &opened->chain);
    for (int i = 1; i < opened->outputs; i++)
        gf_pipeline_warn_of_pictures(opened, &opened->output[i].chain);
    *pipeline = opened;
    return GF_OK;
}

enum gf_status gf_pipeline_open(const char *chain, const struct gf_options *options,
                                struct gf_pipeline **pipeline, struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    return open_pipeline(chain, options, NULL, 1, NULL, pipeline, error);
}

enum gf_status gf_pipeline_open_outputs(const struct gf_pipeline_output *output, int count,
                                        struct gf_pipeline **pipeline, struct gf_error *error)
{
    return open_pipeline(output->chain, &output->options, output, count, NULL, pipeline, error);
}

enum gf_status gf_pipeline_open_remote(const char *chain, const struct gf_options *options,
                                       struct gf_remote *remote, struct gf_pipeline **pipeline,
                                       struct gf_error *error)
{
    return open_pipeline(chain, options, NULL, 1, remote, pipeline, error);
}

void gf_pipeline_close(struct gf_pipeline *pipeline)
{
    if (!pipeline)
        return;
    if (pipeline->remote)
        pipeline->remote->close(pipeline->remote);
    free(pipeline->chain_text);
    close_backend(pipeline);
    gf_plan_free(&pipeline->last_plan);
    for (int i = 0; i < pipeline->outputs; i++)
        gf_chain_free(&pipeline->output[i].chain);
    if (!pipeline->outputs)
        gf_chain_free(&pipeline->chain);
    free(pipeline->output);
    gf_spans_free(&pipeline->spans);
    free(pipeline->stages);
    free(pipeline);
}

/* Four lanes keep both directions of the bus busy. Between codecs each lane more would only take a
 * band more of pinned memory. */
int gf_pipeline_lanes(const struct gf_pipeline *pipeline)
{
    if (pipeline->options.serial)
        return 1;
    if (pipeline->options.lanes)
        return pipeline->options.lanes;
    if (!pipeline->on_cuda)
        return pipeline->options.threads;
    return CUDA_LANES;
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
    return use_cpu(pipeline, reason, error) == GF_OK;
}

void gf_pipeline_set_reason(struct gf_pipeline *pipeline, const char *reason)
{
    snprintf(pipeline->profile.reason, sizeof pipeline->profile.reason, "%.159s", reason);
}

void gf_pipeline_share_progress(struct gf_pipeline *pipeline, struct gf_run_progress *progress)
{
    pipeline->progress = progress;
}

void gf_pipeline_share_budget(struct gf_pipeline *pipeline, struct gf_memory_budget *memory_budget)
{
    pipeline->memory_budget = memory_budget;
}

const struct gf_profile *gf_pipeline_profile(const struct gf_pipeline *pipeline)
{
    return pipeline ? &pipeline->profile : NULL;
}

void gf_pipeline_replace_backend(struct gf_pipeline *pipeline, struct gf_backend *backend,
                                 bool on_cuda)
{
    close_backend(pipeline);
    pipeline->backend = backend;
    pipeline->on_cuda = on_cuda;
}

struct gf_options *gf_pipeline_options(struct gf_pipeline *pipeline)
{
    return &pipeline->options;
}

const struct gf_chain *gf_pipeline_chain(const struct gf_pipeline *pipeline)
{
    return &pipeline->chain;
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
