/* Chooses the device of a pipeline, and what is tried when the device fails. */
#include <stdio.h>

#include "base/fail.h"
#include "chain/variants.h"
#include "codec/common/checks.h"
#include "pipeline/pipeline_state.h"

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

/* Whether any output has a filter. */
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
    if (!pipeline->chain.count && !any_filters(pipeline))
        return use_cpu(pipeline, "there is nothing to filter", error);
    if (kernels)
        return use_cpu(pipeline, lacks.text, error);
    if (!gf_backend_cuda_likely(&why_not))
        return use_cpu(pipeline, why_not, error);
    return use_cuda(pipeline, "there is a GPU", error);
}

/* Four lanes keep both directions of the bus busy. Between codecs, each further lane would only
 * need more pinned memory. */
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
