/* The public pipeline: which device runs, and what happens when one fails. */
#include "gpufilter/pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "bands.h"
#include "codec.h"
#include "codec_device.h"
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
    struct gf_store store;
    struct gf_codec_device codec;
    struct gf_gate *gate; /* NULL: memory is not shared */
    struct gf_spans spans;
    struct gf_profile profile;
    struct gf_profile_stage *stages;
};

/* One picture from somewhere to somewhere; an attempt that a device failed is made again. */
struct transfer {
    struct gf_input *input;
    const struct gf_target *target;
    int number;                                  /* of the picture in the input, from 1 */
    enum gf_file_format own_format, file_format; /* the input's and the output's */
    const char *path;                            /* what the target chose */
    struct gf_output *output;                    /* opened when the result's format is known */
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

static void close_backend(struct gf_pipeline *pipeline)
{
    if (!pipeline->backend)
        return;
    if (pipeline->store.backend)
        gf_store_close(&pipeline->store);
    gf_codec_device_close(&pipeline->codec);
    pipeline->backend->calls->close(pipeline->backend);
    pipeline->backend = NULL;
}

static void warn_of_variants(const struct gf_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->chain.count; i++) {
        const struct gf_chain_item *const item = &pipeline->chain.item[i];
        char text[200];
        if (!item->kernel)
            continue;
        snprintf(text, sizeof text,
                 "%s: variant=%s names CUDA kernels; the CPU makes the same picture its own way",
                 item->filter->name, item->kernel->name);
        warn(pipeline, text);
    }
}

static enum gf_status use_cpu(struct gf_pipeline *pipeline, const char *reason,
                              struct gf_error *error)
{
    close_backend(pipeline);
    pipeline->on_cuda = false;
    pipeline->band_rows = pipeline->options.band_rows;
    snprintf(pipeline->profile.reason, sizeof pipeline->profile.reason, "%.159s", reason);
    warn_of_variants(pipeline);
    return gf_backend_cpu_open(pipeline->options.threads, &pipeline->backend, error);
}

static enum gf_status use_cuda(struct gf_pipeline *pipeline, const char *reason,
                               struct gf_error *error)
{
    pipeline->on_cuda = true;
    snprintf(pipeline->profile.reason, sizeof pipeline->profile.reason, "%.159s", reason);
    const struct gf_cuda_options options = {
        .device = pipeline->options.device_index,
        .budget = pipeline->options.device_memory_bytes,
        .pageable = pipeline->options.host_memory == GF_HOST_PAGEABLE,
        .zero_copy = pipeline->options.transfer == GF_TRANSFER_ZERO_COPY,
    };
    const enum gf_status status =
        gf_backend_cuda_open(&options, &pipeline->spans, &pipeline->backend, error);
    if (status || (pipeline->options.codec != GF_CODEC_GPU &&
                   pipeline->options.codec != GF_CODEC_GPU_IF_FAST))
        return status;
    return gf_codec_device_open(&pipeline->codec, options.device, error);
}

static enum gf_status choose_device(struct gf_pipeline *pipeline, struct gf_error *error)
{
    const char *why_not = "";
    if (pipeline->options.codec == GF_CODEC_GPU &&
        (pipeline->options.device == GF_DEVICE_CPU || !gf_backend_cuda_likely(&why_not)))
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "the GPU's codec without a GPU: %s",
                       *why_not ? why_not : "the CPU was asked for");
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
    if (!status && options->transfer == GF_TRANSFER_ZERO_COPY &&
        options->host_memory == GF_HOST_PAGEABLE)
        status = gf_fail(error, GF_ERROR_USAGE, "zero copy needs pinned host memory, not pageable");
    if (!status) {
        gf_spans_restart(&opened->spans, options->profile || options->spans);
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
    close_backend(pipeline);
    gf_chain_free(&pipeline->chain);
    gf_spans_free(&pipeline->spans);
    free(pipeline->stages);
    free(pipeline);
}

int gf_pipeline_lanes(const struct gf_pipeline *pipeline)
{
    if (pipeline->options.serial)
        return 1;
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

/* The pictures at either end that lie on the device; data is NULL where they do not. */
struct ends {
    struct gf_image in, out;
};

static enum gf_status decode_on_device(struct gf_pipeline *pipeline,
                                       const struct transfer *transfer, const struct gf_plan *plan,
                                       struct gf_image *image, struct gf_error *error)
{
    if (transfer->own_format != GF_FILE_JPEG)
        return GF_OK;
    const double begin_s = gf_now();
    const enum gf_status status = gf_codec_device_decode(&pipeline->codec, transfer->input,
                                                         plan->in, &pipeline->store, image, error);
    if (!status && image->data)
        gf_spans_add(&pipeline->spans, GF_SPAN_DECODE, -1, -1, begin_s, gf_now(),
                     gf_row_bytes(plan->in) * (size_t)plan->in.height);
    return status;
}

static enum gf_status encode_on_device(struct gf_pipeline *pipeline, struct gf_sink *sink,
                                       const struct gf_image *image, struct gf_error *error)
{
    gf_codec_device_enter(&pipeline->codec);
    const double begin_s = gf_now();
    const enum gf_status status = gf_codec_device_encode(&pipeline->codec, image, &pipeline->store,
                                                         sink, &pipeline->options, error);
    gf_spans_add(&pipeline->spans, GF_SPAN_ENCODE, -1, -1, begin_s, gf_now(),
                 gf_row_bytes(image->format) * (size_t)image->format.height);
    return status;
}

/* Decodes on the device and makes room there for the result, where the codec takes the one and the
 * other; without stages the one is the other. */
static enum gf_status take_ends(struct gf_pipeline *pipeline, const struct transfer *transfer,
                                const struct gf_plan *plan, struct ends *ends,
                                struct gf_error *error)
{
    *ends = (struct ends){0};
    if (!pipeline->codec.jpeg || !transfer->input)
        return GF_OK;
    enum gf_status status = pipeline->backend->calls->ready(pipeline->backend, error);
    if (!status)
        status = gf_codec_device_ready(&pipeline->codec,
                                       pipeline->options.codec == GF_CODEC_GPU_IF_FAST, error);
    if (status || !pipeline->codec.jpeg)
        return status;
    const bool encodes = gf_codec_device_encodes(&pipeline->codec, transfer->file_format, plan->out,
                                                 &pipeline->options);
    if (!plan->stage_count && !encodes)
        return GF_OK;
    status = decode_on_device(pipeline, transfer, plan, &ends->in, error);
    if (status || !encodes)
        return status;
    if (!plan->stage_count) {
        ends->out = ends->in;
        return GF_OK;
    }
    ends->out = (struct gf_image){.format = plan->out,
                                  .pitch = gf_band_pitch(pipeline->backend, plan->out)};
    ends->out.data = gf_store_take(&pipeline->store, ends->out.pitch * (size_t)plan->out.height);
    return GF_OK;
}

static void drop_ends(struct gf_pipeline *pipeline, const struct ends *ends)
{
    if (ends->in.data)
        gf_store_give(&pipeline->store, ends->in.data);
    if (ends->out.data)
        gf_store_give(&pipeline->store, ends->out.data);
}

static enum gf_status schedule(struct gf_pipeline *pipeline, struct gf_plan *plan,
                               struct gf_source *source, struct gf_sink *sink,
                               const struct transfer *transfer, struct gf_error *error)
{
    if (!pipeline->store.backend)
        gf_store_open(&pipeline->store, pipeline->backend);
    struct ends ends;
    enum gf_status status = take_ends(pipeline, transfer, plan, &ends, error);
    const struct gf_options options = gf_pipeline_resolved(pipeline);
    /* One band at a time: the more rows it has, the less often the device is waited for. */
    const int large_rows =
        (int)(pipeline->backend->calls->band_bytes_most / gf_row_bytes(plan->in)) + 1;
    struct gf_run run = {.plan = plan,
                         .backend = pipeline->backend,
                         .store = &pipeline->store,
                         .serial = options.serial,
                         .options = &options,
                         .memory_is_limit = pipeline->options.memory_bytes != 0,
                         .spans = &pipeline->spans,
                         .lanes = gf_pipeline_lanes(pipeline),
                         .band_rows = !pipeline->band_rows && options.serial && pipeline->on_cuda
                                          ? large_rows
                                          : pipeline->band_rows,
                         .source = ends.in.data ? NULL : source,
                         .sink = ends.out.data ? NULL : sink,
                         .image_in = ends.in.data ? &ends.in : transfer->image_in,
                         .image_out = ends.out.data ? &ends.out : transfer->image_out,
                         .in_on_device = ends.in.data,
                         .out_on_device = ends.out.data};
    if (!status && ends.in.data && ends.out.data)
        gf_codec_device_enter(&pipeline->codec); /* nothing of it is done on the host */
    if (!status && (plan->stage_count || !ends.in.data))
        status = gf_schedule(&run, error);
    if (!status && ends.out.data)
        status = encode_on_device(pipeline, sink, &ends.out, error);
    gf_codec_device_leave(&pipeline->codec);
    drop_ends(pipeline, &ends);
    if (status == GF_ERROR_DEVICE_MEMORY)
        pipeline->band_rows = run.first_band_rows / 2;
    if (status)
        gf_store_close(&pipeline->store);
    else
        gf_store_settle(&pipeline->store);
    return status ? status : describe_run(pipeline, plan, &run, error);
}

/* On the first attempt: the output's name may depend on the size of the result. */
static enum gf_status open_output(struct gf_pipeline *pipeline, struct transfer *transfer,
                                  struct gf_format result, struct gf_error *error)
{
    const struct gf_target *const target = transfer->target;
    enum gf_status status = target->choose(target->context, transfer->number, transfer->own_format,
                                           result, &transfer->path, error);
    if (!status)
        status = gf_sink_format(transfer->path, &pipeline->options, transfer->own_format,
                                &transfer->file_format, error);
    if (!status)
        status = gf_output_open(transfer->path, &transfer->output, error);
    if (!status)
        gf_output_set_manner(transfer->output,
                             (struct gf_output_manner){.no_clobber = pipeline->options.no_clobber,
                                                       .sync = pipeline->options.sync});
    return status;
}

/* Bytes of the pictures that lie whole in host memory at one time: those before and behind a
 * segment. */
static uint64_t whole_bytes(const struct gf_pipeline *pipeline, const struct gf_plan *plan)
{
    uint64_t most = 0, before = 0;
    if (pipeline->on_cuda) /* they lie on the device, where there is room */
        return 0;
    for (int s = 0; s + 1 < plan->segment_count; s++) {
        const struct gf_format format = plan->segment[s].out;
        const uint64_t bytes = (uint64_t)gf_row_bytes(format) * (uint64_t)format.height;
        most = before + bytes > most ? before + bytes : most;
        before = bytes;
    }
    return most;
}

static enum gf_status schedule_in_turn(struct gf_pipeline *pipeline, struct gf_plan *plan,
                                       struct gf_source *source, struct gf_sink *sink,
                                       const struct transfer *transfer, struct gf_error *error)
{
    const uint64_t bytes = pipeline->gate ? whole_bytes(pipeline, plan) : 0;
    if (bytes)
        gf_gate_enter(pipeline->gate, bytes);
    const enum gf_status status = schedule(pipeline, plan, source, sink, transfer, error);
    if (bytes > 0 && bytes > pipeline->gate->share)
        gf_store_drop_unused(
            &pipeline->store); /* or what is kept would add up to more than the budget */
    if (bytes)
        gf_gate_leave(pipeline->gate, bytes);
    return status;
}

/* Opens what the attempt needs afresh, runs it, closes it. */
static enum gf_status attempt(struct gf_pipeline *pipeline, struct transfer *transfer,
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
    const int orientation =
        source && pipeline->options.autorotate ? source->metadata.orientation : 1;
    status = gf_plan_make(&pipeline->chain, source ? source->format : transfer->image_in->format,
                          orientation, &plan, error);
    if (!status && transfer->target && !transfer->output)
        status = open_output(pipeline, transfer, plan.out, error);
    if (!status && transfer->output)
        status = gf_sink_open(transfer->output, transfer->file_format, plan.out, &source->metadata,
                              &pipeline->options, &sink, error);
    if (!status)
        status = schedule_in_turn(pipeline, &plan, source, sink, transfer, error);
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
static bool recover(struct gf_pipeline *pipeline, enum gf_status failure,
                    const struct gf_error *why, struct gf_error *error)
{
    char text[sizeof why->text + 80];
    if (!pipeline->on_cuda)
        return false;
    if (failure == GF_ERROR_DEVICE_MEMORY && pipeline->band_rows >= LEAST_BAND_ROWS) {
        snprintf(text, sizeof text, "%s; trying with bands of %d rows", why->text,
                 pipeline->band_rows);
        warn(pipeline, text);
        return true;
    }
    const bool device_failed = failure == GF_ERROR_DEVICE || failure == GF_ERROR_DEVICE_MEMORY;
    if (pipeline->options.device != GF_DEVICE_AUTO ||
        (!device_failed && failure != GF_ERROR_UNAVAILABLE))
        return false;
    if (device_failed) {
        snprintf(text, sizeof text, "%s; the picture is done on the CPU", why->text);
        warn(pipeline, text);
    }
    char reason[sizeof pipeline->profile.reason];
    snprintf(reason, sizeof reason, "%.150s", why->text);
    return use_cpu(pipeline, reason, error) == GF_OK;
}

static enum gf_status run_transfer(struct gf_pipeline *pipeline, struct transfer *transfer,
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

/* The spans' origin is where pipeline_open started for the first run, so that the start-up is in
 * the profile. */
static void begin_profile(struct gf_pipeline *pipeline)
{
    if (pipeline->has_run)
        gf_spans_restart(&pipeline->spans, pipeline->options.profile || pipeline->options.spans);
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

static enum gf_status recognise(struct gf_input *input, enum gf_file_format *format,
                                struct gf_error *error)
{
    unsigned char head[16];
    size_t got;
    const enum gf_status status = gf_input_peek(input, head, sizeof head, &got, error);
    *format = status ? GF_FILE_AUTO : gf_file_format_of(head, got);
    return status;
}

static enum gf_status fail_several(const char *path, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_OUTPUT,
                   "%s: the input holds more than one picture: number the outputs by {n}, without "
                   "--skip-existing and --update, or write to -",
                   path);
}

/* Whether another picture follows in the input, which then starts with it. Only PNM and PAM are
 * written one after another. */
static enum gf_status find_next(const struct gf_pipeline *pipeline, struct transfer *transfer,
                                bool *found, struct gf_error *error)
{
    unsigned char head[8];
    size_t got = 0;
    *found = false;
    if (transfer->own_format != GF_FILE_PNM && transfer->own_format != GF_FILE_PAM)
        return GF_OK;
    gf_input_start_here(transfer->input);
    enum gf_status status = gf_input_peek(transfer->input, head, sizeof head, &got, error);
    /* Behind the numbers of plain text there may be a few line breaks. */
    while (!status && got && (*head == '\n' || *head == '\r' || *head == ' ')) {
        status = gf_input_read(transfer->input, head, 1, &got, error);
        if (!status)
            status = gf_input_peek(transfer->input, head, sizeof head, &got, error);
    }
    if (status)
        return status;
    gf_input_start_here(transfer->input);
    const enum gf_file_format format = gf_file_format_of(head, got);
    *found = format == GF_FILE_PNM || format == GF_FILE_PAM;
    if (got && !*found)
        gf_warn(&pipeline->options, "%s: what follows picture %d is no PNM or PAM: left out",
                gf_input_name(transfer->input), transfer->number);
    return GF_OK;
}

static void describe_files(struct gf_pipeline *pipeline, const struct transfer *transfer)
{
    struct gf_profile *const profile = &pipeline->profile;
    snprintf(profile->in_file, sizeof profile->in_file, "%s",
             file_format_name(transfer->own_format));
    snprintf(profile->out_file, sizeof profile->out_file, "%s",
             file_format_name(transfer->file_format));
    profile->in_bytes = gf_input_size(transfer->input);
    profile->out_bytes = gf_output_size(transfer->output);
}

static enum gf_status run_picture(struct gf_pipeline *pipeline, struct transfer *transfer,
                                  bool *more, struct gf_error *error)
{
    const struct gf_target *const target = transfer->target;
    *more = false;
    enum gf_status status = recognise(transfer->input, &transfer->own_format, error);
    if (!status)
        status = run_transfer(pipeline, transfer, error);
    if (!status)
        describe_files(pipeline, transfer);
    if (!status && !target->several)
        status = find_next(pipeline, transfer, more, error);
    if (!status && *more)
        status = fail_several(transfer->path, error);
    if (!status)
        status = gf_output_commit(transfer->output, error);
    if (!status)
        end_profile(pipeline);
    if (!status && target->done)
        target->done(target->context, transfer->number, transfer->path, &pipeline->profile);
    if (transfer->output)
        gf_output_close(transfer->output);
    transfer->output = NULL;
    /* Only now: of a live stream the next one may be long in coming. */
    return status || !target->several ? status : find_next(pipeline, transfer, more, error);
}

enum gf_status gf_pipeline_run_pictures(struct gf_pipeline *pipeline, const char *input,
                                        const struct gf_target *target, struct gf_error *error)
{
    struct transfer transfer = {.target = target};
    bool more = true;
    begin_profile(pipeline);
    enum gf_status status = gf_input_open(input, pipeline->on_cuda, &transfer.input, error);
    while (!status && more) {
        if (transfer.number++)
            begin_profile(pipeline);
        status = run_picture(pipeline, &transfer, &more, error);
    }
    if (transfer.input)
        gf_input_close(transfer.input);
    return status;
}

static enum gf_status choose_fixed(void *context, int number, enum gf_file_format content,
                                   struct gf_format result, const char **path,
                                   struct gf_error *error)
{
    (void)number;
    (void)content;
    (void)result;
    (void)error;
    *path = context;
    return GF_OK;
}

enum gf_status gf_pipeline_run_file(struct gf_pipeline *pipeline, const char *input,
                                    const char *output, struct gf_error *error)
{
    const struct gf_target target = {
        .choose = choose_fixed, .several = !strcmp(output, "-"), .context = (void *)output};
    return gf_pipeline_run_pictures(pipeline, input, &target, error);
}

enum gf_status gf_pipeline_peek(struct gf_pipeline *pipeline, const char *path,
                                struct gf_peek *peek, struct gf_error *error)
{
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    struct gf_plan plan = {0};
    enum gf_status status = gf_input_open(path, false, &input, error);
    if (!status)
        status = recognise(input, &peek->content, error);
    if (!status)
        status = gf_source_open(input, &pipeline->options, &source, error);
    if (!status)
        status = gf_plan_make(&pipeline->chain, source->format,
                              pipeline->options.autorotate ? source->metadata.orientation : 1,
                              &plan, error);
    if (!status) {
        peek->in = source->format;
        peek->out = plan.out;
        gf_plan_free(&plan);
    }
    if (source)
        source->close(source);
    if (input)
        gf_input_close(input);
    return status;
}

void gf_pipeline_explain(struct gf_pipeline *pipeline, const char *reason)
{
    snprintf(pipeline->profile.reason, sizeof pipeline->profile.reason, "%.159s", reason);
}

void gf_pipeline_share_gate(struct gf_pipeline *pipeline, struct gf_gate *gate)
{
    pipeline->gate = gate;
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

static enum gf_status check_image(const struct gf_image *image, const char *name,
                                  struct gf_error *error)
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

/* Bands of the result are written while others of the input are still to be read. Side by side in
 * one larger picture they may lie. */
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
    struct transfer transfer = {.image_in = input, .image_out = output};
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
    while (status && recover(pipeline, status, &failure, &failure))
        status = pipeline->backend->calls->ready(pipeline->backend, &failure);
    if (status && error)
        *error = failure;
    *backend = pipeline->backend;
    *on_cuda = pipeline->on_cuda;
    return status;
}
