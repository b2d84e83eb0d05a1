/* The public pipeline: which device runs, and what happens when one fails. */
#include "gpufilter/pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "codec.h"
#include "formats.h"
#include "pipeline_internal.h"
#include "plan.h"
#include "schedule.h"
#include "version.h"

enum { CUDA_LANES = 4, LEAST_BAND_ROWS = 16 };

struct gf_pipeline {
    struct gf_chain chain;
    struct gf_options options;
    struct gf_backend *backend;
    bool on_cuda;
    int band_rows; /* of the next attempt; 0: chosen */
    bool has_run;
    struct gf_spans spans;
    struct gf_profile profile;
    struct gf_profile_stage *stages;
};

/* One picture from somewhere to somewhere; an attempt that a device failed is made again. */
struct transfer {
    struct gf_input *input;
    struct gf_output *output;
    enum gf_file_format file_format;
    const struct gf_image *image_in, *image_out;
};

const char *gf_version(void)
{
    return GF_VERSION;
}

struct gf_options gf_options_default(void)
{
    return (struct gf_options){
        .max_pixels = 1000000000,
        .autorotate = true,
        .quality = 90,
        .png_level = 1,
    };
}

static void warn(const struct gf_pipeline *pipeline, const char *text)
{
    if (pipeline->options.warn)
        pipeline->options.warn(pipeline->options.warn_context, text);
}

static void warn_of_variants(const struct gf_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->chain.count; i++) {
        const struct gf_chain_item *const item = &pipeline->chain.item[i];
        char text[200];
        if (!item->kernel)
            continue;
        snprintf(text, sizeof text, "%s: variant=%s names CUDA kernels; the CPU makes the same picture its own way",
                 item->filter->name, item->kernel->name);
        warn(pipeline, text);
    }
}

static enum gf_status use_cpu(struct gf_pipeline *pipeline, const char *reason, struct gf_error *error)
{
    if (pipeline->backend)
        pipeline->backend->calls->close(pipeline->backend);
    pipeline->backend = NULL;
    pipeline->on_cuda = false;
    pipeline->band_rows = pipeline->options.band_rows;
    snprintf(pipeline->profile.reason, sizeof pipeline->profile.reason, "%.159s", reason);
    warn_of_variants(pipeline);
    return gf_backend_cpu_open(pipeline->options.threads, &pipeline->backend, error);
}

static enum gf_status use_cuda(struct gf_pipeline *pipeline, const char *reason, struct gf_error *error)
{
    pipeline->on_cuda = true;
    snprintf(pipeline->profile.reason, sizeof pipeline->profile.reason, "%.159s", reason);
    const struct gf_cuda_options options = {
        .device = pipeline->options.device_index,
        .budget = pipeline->options.device_memory_bytes,
        .pageable = pipeline->options.host_memory == GF_HOST_PAGEABLE,
        .zero_copy = pipeline->options.transfer == GF_TRANSFER_ZERO_COPY,
    };
    return gf_backend_cuda_open(&options, &pipeline->spans, &pipeline->backend, error);
}

static enum gf_status choose_device(struct gf_pipeline *pipeline, struct gf_error *error)
{
    const char *why_not = "";
    switch (pipeline->options.device) {
    case GF_DEVICE_CPU:
        return use_cpu(pipeline, "asked for", error);
    case GF_DEVICE_CUDA:
        return use_cuda(pipeline, "asked for", error);
    case GF_DEVICE_AUTO:
        break;
    }
    if (!pipeline->chain.count)
        return use_cpu(pipeline, "there is nothing to filter", error);
    if (!gf_backend_cuda_likely(&why_not))
        return use_cpu(pipeline, why_not, error);
    return use_cuda(pipeline, "there is a GPU", error);
}

enum gf_status gf_pipeline_open(const char *chain, const struct gf_options *options,
                                struct gf_pipeline **pipeline, struct gf_error *error)
{
    struct gf_pipeline *const opened = calloc(1, sizeof *opened);
    if (!opened)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    opened->options = *options;
    if (opened->options.threads <= 0)
        opened->options.threads = gf_cpu_count();
    gf_spans_init(&opened->spans);
    enum gf_status status = gf_chain_parse(chain, &opened->chain, error);
    opened->chain.apart = options->apart;
    if (!status && options->transfer == GF_TRANSFER_ZERO_COPY && options->host_memory == GF_HOST_PAGEABLE)
        status = gf_fail(error, GF_ERROR_USAGE, "zero copy needs pinned host memory, not pageable");
    if (!status) {
        gf_spans_restart(&opened->spans, options->profile);
        status = choose_device(opened, error);
    }
    if (status) {
        gf_pipeline_close(opened);
        return status;
    }
    *pipeline = opened;
    return GF_OK;
}

void gf_pipeline_close(struct gf_pipeline *pipeline)
{
    if (!pipeline)
        return;
    if (pipeline->backend)
        pipeline->backend->calls->close(pipeline->backend);
    gf_chain_free(&pipeline->chain);
    gf_spans_free(&pipeline->spans);
    free(pipeline->stages);
    free(pipeline);
}

int gf_pipeline_lanes(const struct gf_pipeline *pipeline)
{
    if (pipeline->options.lanes)
        return pipeline->options.lanes;
    return pipeline->on_cuda ? CUDA_LANES : pipeline->options.threads;
}

static enum gf_status describe_run(struct gf_pipeline *pipeline, const struct gf_plan *plan,
                                   const struct gf_run *run, struct gf_error *error)
{
    struct gf_profile *const profile = &pipeline->profile;
    struct gf_profile_stage *const stages =
        realloc(pipeline->stages, ((size_t)plan->stage_count + 1) * sizeof *stages);
    if (!stages)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    pipeline->stages = stages;
    for (int s = 0; s < plan->segment_count; s++) {
        for (int i = 0; i < plan->segment[s].count; i++) {
            const int index = plan->segment[s].first + i;
            stages[index].segment = s;
            gf_plan_stage_name(&plan->stage[index], stages[index].name, sizeof stages[index].name);
        }
    }
    pipeline->backend->calls->describe(pipeline->backend, profile->device, sizeof profile->device);
    profile->stages = stages;
    profile->stage_count = plan->stage_count;
    profile->lanes = run->lanes;
    profile->segments = plan->segment_count;
    profile->band_rows = run->first_band_rows;
    profile->in = plan->in;
    profile->out = plan->out;
    return GF_OK;
}

struct gf_options gf_pipeline_resolved(const struct gf_pipeline *pipeline)
{
    struct gf_options options = pipeline->options;
    if (!options.memory_bytes)
        options.memory_bytes = pipeline->on_cuda ? (uint64_t)512 << 20 : (uint64_t)128 << 20;
    return options;
}

static enum gf_status schedule(struct gf_pipeline *pipeline, struct gf_plan *plan, struct gf_source *source,
                               struct gf_sink *sink, const struct transfer *transfer,
                               struct gf_error *error)
{
    const struct gf_options options = gf_pipeline_resolved(pipeline);
    struct gf_run run = {.plan = plan,
                         .backend = pipeline->backend,
                         .options = &options,
                         .memory_is_limit = pipeline->options.memory_bytes != 0,
                         .spans = &pipeline->spans,
                         .lanes = gf_pipeline_lanes(pipeline),
                         .band_rows = pipeline->band_rows,
                         .source = source,
                         .sink = sink,
                         .image_in = transfer->image_in,
                         .image_out = transfer->image_out};
    enum gf_status status = gf_schedule(&run, error);
    if (status == GF_ERROR_DEVICE_MEMORY)
        pipeline->band_rows = run.first_band_rows / 2;
    return status ? status : describe_run(pipeline, plan, &run, error);
}

/* Opens what the attempt needs afresh, runs it, closes it. */
static enum gf_status attempt(struct gf_pipeline *pipeline, const struct transfer *transfer,
                              struct gf_error *error)
{
    struct gf_source *source = NULL;
    struct gf_sink *sink = NULL;
    struct gf_plan plan = {0};
    enum gf_status status = GF_OK;
    if (transfer->input)
        status = gf_source_open(transfer->input, &pipeline->options, &source, error);
    if (status)
        return status;
    const int orientation = source && pipeline->options.autorotate ? source->metadata.orientation : 1;
    status = gf_plan_make(&pipeline->chain, source ? source->format : transfer->image_in->format, orientation,
                          &plan, error);
    if (!status && transfer->output)
        status = gf_sink_open(transfer->output, transfer->file_format, plan.out, &source->metadata,
                              &pipeline->options, &sink, error);
    if (!status)
        status = schedule(pipeline, &plan, source, sink, transfer, error);
    if (sink)
        sink->close(sink);
    if (source)
        source->close(source);
    gf_plan_free(&plan);
    return status;
}

static enum gf_status rewind_transfer(const struct transfer *transfer, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    if (transfer->input)
        status = gf_input_rewind(transfer->input, error);
    if (!status && transfer->output)
        status = gf_output_rewind(transfer->output, error);
    return status;
}

/* After a failure of the device: smaller bands, then, under `auto`, the CPU. False: give up. */
static bool recover(struct gf_pipeline *pipeline, enum gf_status failure, const struct gf_error *why,
                    struct gf_error *error)
{
    char text[sizeof why->text + 80];
    if (!pipeline->on_cuda)
        return false;
    if (failure == GF_ERROR_DEVICE_MEMORY && pipeline->band_rows >= LEAST_BAND_ROWS) {
        snprintf(text, sizeof text, "%s; trying with bands of %d rows", why->text, pipeline->band_rows);
        warn(pipeline, text);
        return true;
    }
    const bool device_failed = failure == GF_ERROR_DEVICE || failure == GF_ERROR_DEVICE_MEMORY;
    if (pipeline->options.device != GF_DEVICE_AUTO || (!device_failed && failure != GF_ERROR_UNAVAILABLE))
        return false;
    if (device_failed) {
        snprintf(text, sizeof text, "%s; the picture is done on the CPU", why->text);
        warn(pipeline, text);
    }
    char reason[sizeof pipeline->profile.reason];
    snprintf(reason, sizeof reason, "%.150s", why->text);
    return use_cpu(pipeline, reason, error) == GF_OK;
}

static enum gf_status run_transfer(struct gf_pipeline *pipeline, const struct transfer *transfer,
                                   struct gf_error *error)
{
    struct gf_error failure = {0};
    pipeline->band_rows = pipeline->options.band_rows;
    enum gf_status status = attempt(pipeline, transfer, &failure);
    while (status && recover(pipeline, status, &failure, &failure)) {
        status = rewind_transfer(transfer, &failure);
        pipeline->spans.count = 0; /* the profile is of the attempt that succeeds */
        if (!status)
            status = attempt(pipeline, transfer, &failure);
    }
    if (status && error)
        *error = failure;
    return status;
}

/* The spans' origin is where pipeline_open started for the first run, so that the start-up is in the profile. */
static void begin_profile(struct gf_pipeline *pipeline)
{
    if (pipeline->has_run)
        gf_spans_restart(&pipeline->spans, pipeline->options.profile);
    pipeline->has_run = true;
}

static void end_profile(struct gf_pipeline *pipeline)
{
    pipeline->profile.wall_s = gf_now() - pipeline->spans.origin_s;
    pipeline->profile.spans = pipeline->spans.item;
    pipeline->profile.span_count = pipeline->spans.count;
    if (pipeline->options.profile && !pipeline->profile.device_copy_peak)
        pipeline->backend->calls->measure(pipeline->backend, &pipeline->profile);
}

static const char *file_format_name(enum gf_file_format format)
{
    static const char *const names[] = {[GF_FILE_AUTO] = "",
                                        [GF_FILE_PNG] = "PNG",
                                        [GF_FILE_JPEG] = "JPEG",
                                        [GF_FILE_PNM] = "PNM",
                                        [GF_FILE_PAM] = "PAM"};
    return names[format];
}

static enum gf_status recognise(struct gf_input *input, enum gf_file_format *format, struct gf_error *error)
{
    unsigned char head[16];
    size_t got;
    const enum gf_status status = gf_input_peek(input, head, sizeof head, &got, error);
    *format = status ? GF_FILE_AUTO : gf_file_format_of(head, got);
    return status;
}

enum gf_status gf_pipeline_run_file(struct gf_pipeline *pipeline, const char *input, const char *output,
                                    struct gf_error *error)
{
    struct transfer transfer = {0};
    enum gf_file_format own_format = GF_FILE_AUTO;
    begin_profile(pipeline);
    enum gf_status status = gf_input_open(input, pipeline->on_cuda, &transfer.input, error);
    if (!status)
        status = recognise(transfer.input, &own_format, error);
    if (!status)
        status = gf_sink_format(output, &pipeline->options, own_format, &transfer.file_format, error);
    snprintf(pipeline->profile.in_file, sizeof pipeline->profile.in_file, "%s", file_format_name(own_format));
    snprintf(pipeline->profile.out_file, sizeof pipeline->profile.out_file, "%s",
             file_format_name(transfer.file_format));
    if (!status)
        status = gf_output_open(output, &transfer.output, error);
    if (!status)
        status = run_transfer(pipeline, &transfer, error);
    if (!status)
        status = gf_output_commit(transfer.output, error);
    if (transfer.output)
        gf_output_close(transfer.output);
    if (transfer.input)
        gf_input_close(transfer.input);
    if (!status)
        end_profile(pipeline);
    return status;
}

enum gf_status gf_pipeline_format(struct gf_pipeline *pipeline, struct gf_format input,
                                  struct gf_format *output, struct gf_error *error)
{
    struct gf_plan plan;
    enum gf_status status = gf_format_check(input, "input", error);
    if (!status)
        status = gf_plan_make(&pipeline->chain, input, 1, &plan, error);
    if (status)
        return status;
    *output = plan.out;
    gf_plan_free(&plan);
    return GF_OK;
}

static enum gf_status check_image(const struct gf_image *image, const char *name, struct gf_error *error)
{
    const enum gf_status status = gf_format_check(image->format, name, error);
    if (status)
        return status;
    if (!image->data || image->pitch < gf_row_bytes(image->format))
        return gf_fail(error, GF_ERROR_USAGE, "%s: no pixels, or rows that overlap", name);
    if (image->format.bits == 16 && ((uintptr_t)image->data | image->pitch) % 2)
        return gf_fail(error, GF_ERROR_USAGE, "%s: samples of 16 bits at odd addresses", name);
    return GF_OK;
}

static uintptr_t end_of(const struct gf_image *image)
{
    return (uintptr_t)image->data + image->pitch * (size_t)(image->format.height - 1) +
           gf_row_bytes(image->format);
}

/* Bands of the result are written while others of the input are still to be read. Side by side in one larger
 * picture they may lie. */
static bool overlap(const struct gf_image *a, const struct gf_image *b)
{
    const struct gf_image *const low = a->data < b->data ? a : b, *const high = low == a ? b : a;
    if ((uintptr_t)high->data >= end_of(low))
        return false;
    const size_t column = (size_t)(high->data - low->data) % low->pitch;
    return low->pitch != high->pitch || column < gf_row_bytes(low->format) ||
           column + gf_row_bytes(high->format) > low->pitch;
}

enum gf_status gf_pipeline_run_image(struct gf_pipeline *pipeline, const struct gf_image *input,
                                     struct gf_image *output, struct gf_error *error)
{
    struct gf_format format;
    enum gf_status status = check_image(input, "input", error);
    if (!status)
        status = gf_pipeline_format(pipeline, input->format, &format, error);
    if (status)
        return status;
    const bool own = !output->data;
    if (own)
        status = gf_image_alloc(output, format, error);
    else if (memcmp(&output->format, &format, sizeof format))
        status = gf_fail(error, GF_ERROR_USAGE, "output: its format is not that of the result");
    else
        status = check_image(output, "output", error);
    if (!status && overlap(input, output))
        status = gf_fail(error, GF_ERROR_USAGE, "output: overlaps the input");
    if (status)
        return status;
    begin_profile(pipeline);
    const struct transfer transfer = {.image_in = input, .image_out = output};
    status = run_transfer(pipeline, &transfer, error);
    if (!status)
        end_profile(pipeline);
    else if (own)
        gf_image_free(output);
    return status;
}

const struct gf_profile *gf_pipeline_profile(const struct gf_pipeline *pipeline)
{
    return &pipeline->profile;
}

void gf_pipeline_replace_backend(struct gf_pipeline *pipeline, struct gf_backend *backend, bool on_cuda)
{
    pipeline->backend->calls->close(pipeline->backend);
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

enum gf_status gf_pipeline_start(struct gf_pipeline *pipeline, struct gf_backend **backend, bool *on_cuda,
                                 struct gf_error *error)
{
    struct gf_error failure = {0};
    enum gf_status status = pipeline->backend->calls->ready(pipeline->backend, &failure);
    while (status && recover(pipeline, status, &failure, &failure))
        status = pipeline->backend->calls->ready(pipeline->backend, &failure);
    if (status && error)
        *error = failure;
    *backend = pipeline->backend;
    *on_cuda = pipeline->on_cuda;
    return status;
}
