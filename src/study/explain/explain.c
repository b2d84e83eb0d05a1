/* Explains a run: its segments, its stages, the kernels that they would launch, and the bytes
 * that they move. */
#include "study/explain/explain.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "chain/chain.h"
#include "codec/codec.h"
#include "codec/common/checks.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "engine/device_codec.h"
#include "pipeline/pipeline_internal.h"
#include "server/server.h"

/* The run that is explained. */
struct explainer {
    const struct gf_schedule *schedule;
    const struct gf_layout *layout;
    struct gf_lane *lane; /* NULL on the CPU, which has no kernels */
};

static void name_variant(const struct gf_stage *stage, bool counts,
                         struct gf_explained_stage *found)
{
    const struct gf_variant *const usual = gf_filter_variant_at(gf_stage_variants(stage), 0);
    const struct gf_variant *const asked = stage->variant;
    const struct gf_variant *const variant =
        asked && (counts ? !!asked->count : !!asked->launch) ? asked : usual;
    found->variant = variant ? variant->name : NULL;
    found->technique = variant ? variant->summary : NULL;
    /* The counter that all filters share is not a variant of this filter. */
    if (counts && variant == usual)
        found->variant = found->technique = NULL;
}

/* Returns the bytes that the stage reads for a band. If it needs the whole picture, each band
 * counts its share of the picture. */
static double bytes_read(const struct gf_stage *stage, struct gf_rows in, struct gf_rows out)
{
    const double row_bytes = (double)gf_row_bytes(stage->in);
    return gf_stage_needs_whole(stage)
               ? row_bytes * (double)stage->in.height * (double)(out.end - out.first) /
                     (double)stage->out.height
               : row_bytes * (double)(in.end - in.first);
}

/* Returns the bytes that the segment's i-th stage reads and writes for all bands. */
static double stage_bytes(const struct gf_plan *plan, const struct gf_segment *segment,
                          const struct gf_bands *bands, int i)
{
    const struct gf_stage *const stage = &plan->stage[segment->first + i];
    double bytes = 0;
    for (int b = 0; b < bands->count; b++) {
        struct gf_rows cut[GF_CUTS_MAX + 1];
        const struct gf_rows rows = gf_bands_rows(bands, segment, b);
        gf_segment_rows(plan, segment, rows.first, rows.end, cut);
        bytes += bytes_read(stage, cut[i], cut[i + 1]) +
                 (double)(cut[i + 1].end - cut[i + 1].first) * (double)gf_row_bytes(stage->out);
    }
    return bytes;
}

/* Returns the bytes of all bands before the segment's i-th stage, which are uploaded if the device
 * begins there. */
static double cut_bytes(const struct gf_plan *plan, const struct gf_segment *segment,
                        const struct gf_bands *bands, int i, struct gf_format format)
{
    double bytes = 0;
    for (int b = 0; b < bands->count; b++) {
        struct gf_rows cut[GF_CUTS_MAX + 1];
        const struct gf_rows rows = gf_bands_rows(bands, segment, b);
        gf_segment_rows(plan, segment, rows.first, rows.end, cut);
        bytes += (double)(cut[i].end - cut[i].first) * (double)gf_row_bytes(format);
    }
    return bytes;
}

static enum gf_status explain_stage(const struct explainer *explainer, const struct gf_bands *bands,
                                    const struct gf_segment *segment, int i,
                                    const struct gf_rows *cut, struct gf_explained_stage *found,
                                    struct gf_error *error)
{
    const struct gf_plan *const plan = explainer->schedule->plan;
    struct gf_stage *const stage = &plan->stage[segment->first + i];
    gf_plan_stage_name(stage, found->name, sizeof found->name);
    found->filters = gf_plan_stage_filters(stage);
    found->bytes = stage_bytes(plan, segment, bands, i);
    if (explainer->schedule->backend->calls->unified)
        return GF_OK;
    name_variant(stage, false, found);
    if (!explainer->lane)
        return GF_OK;
    const bool may_count =
        segment->statistic && i + 1 == segment->count && !explainer->schedule->options->no_fuse;
    return gf_explain_stage_kernels(explainer->lane, stage, may_count ? stage + 1 : NULL, cut[i],
                                    cut[i + 1], found, error);
}

static enum gf_status explain_histogram(const struct explainer *explainer,
                                        const struct gf_segment *segment, struct gf_rows rows,
                                        struct gf_explained_stage *found, struct gf_error *error)
{
    const struct gf_stage *const wanting =
        &explainer->schedule->plan->stage[segment->first + segment->count];
    char name[sizeof found->name - 12];
    gf_plan_stage_name(wanting, name, sizeof name);
    snprintf(found->name, sizeof found->name, "%s histogram", name);
    found->statistic = true;
    found->bytes = (double)gf_row_bytes(segment->out) * (double)segment->out.height;
    found->filters = 1;
    if (explainer->schedule->backend->calls->unified)
        return GF_OK;
    name_variant(wanting, true, found);
    if (!explainer->lane)
        return GF_OK;
    return gf_explain_histogram_kernels(explainer->lane, wanting, rows, found, error);
}

/* Counts the segment's bytes on PCIe and in device memory. An upload is also written to device
 * memory, and a download is also read from it. With zero copy the first and the last stage access
 * host memory instead of device memory. */
static void add_copies(const struct explainer *explainer, int s, struct gf_explained_segment *found)
{
    const struct gf_schedule *const schedule = explainer->schedule;
    const struct gf_segment *const segment = &schedule->plan->segment[s];
    const struct gf_bands *const bands = &explainer->layout->bands[s];
    const bool last = s + 1 == schedule->plan->segment_count;
    for (int i = 0; i < found->stages; i++)
        found->device_bytes += found->stage[i].bytes;
    if (schedule->backend->calls->unified)
        return;
    if (!s || !explainer->layout->on_device[s - 1])
        found->up_bytes = found->first_on_host
                              ? cut_bytes(schedule->plan, segment, bands, 1,
                                          schedule->plan->stage[segment->first].out)
                              : cut_bytes(schedule->plan, segment, bands, 0, segment->in);
    if (last || !found->keeps_on_device)
        found->down_bytes = (double)gf_row_bytes(segment->out) * (double)segment->out.height;
    const double copied = found->up_bytes + found->down_bytes;
    if (schedule->options->transfer == GF_TRANSFER_COPY || !segment->count)
        found->device_bytes += copied;
    else
        found->device_bytes -= copied;
}

static enum gf_status explain_stages(const struct explainer *explainer, int s,
                                     struct gf_explained_segment *found, struct gf_error *error)
{
    const struct gf_plan *const plan = explainer->schedule->plan;
    const struct gf_segment *const segment = &plan->segment[s];
    const struct gf_bands *const bands = &explainer->layout->bands[s];
    const struct gf_rows rows = gf_bands_rows(bands, segment, (bands->count - 1) / 2);
    struct gf_rows cut[GF_CUTS_MAX + 1];
    gf_segment_rows(plan, segment, rows.first, rows.end, cut);
    found->stage = calloc((size_t)segment->count + 1, sizeof *found->stage);
    GF_ALLOCATED(found->stage, error);
    for (int i = 0; i < segment->count; i++)
        GF_TRY(explain_stage(explainer, bands, segment, i, cut, &found->stage[found->stages++],
                             error));
    const bool counted = found->stages && found->stage[found->stages - 1].counts;
    if (segment->statistic && !counted)
        GF_TRY(explain_histogram(explainer, segment, rows, &found->stage[found->stages++], error));
    return GF_OK;
}

static enum gf_status explain_segment(const struct explainer *explainer, int s,
                                      struct gf_explained_segment *found, struct gf_error *error)
{
    const struct gf_schedule *const schedule = explainer->schedule;
    const struct gf_segment *const segment = &schedule->plan->segment[s];
    const struct gf_bands *const bands = &explainer->layout->bands[s];
    *found = (struct gf_explained_segment){
        .in = segment->in,
        .out = segment->out,
        .bands = bands->count,
        .band_rows = bands->rows,
        .in_rows = bands->in_rows,
        .whole = segment->count && gf_stage_needs_whole(&schedule->plan->stage[segment->first]),
        .keeps_on_device = explainer->layout->on_device[s],
        .first_on_host = gf_layout_first_stage_on_host(schedule, explainer->layout, s),
    };
    const enum gf_status status = explain_stages(explainer, s, found, error);
    add_copies(explainer, s, found);
    return status;
}

static enum gf_status explain_segments(const struct explainer *explainer,
                                       struct gf_explanation *explanation, struct gf_error *error)
{
    const int count = explainer->schedule->plan->segment_count;
    explanation->segment = calloc((size_t)count, sizeof *explanation->segment);
    GF_ALLOCATED(explanation->segment, error);
    for (int s = 0; s < count; s++)
        GF_TRY(
            explain_segment(explainer, s, &explanation->segment[explanation->segments++], error));
    return GF_OK;
}

enum gf_status gf_explain_plan(const struct gf_schedule *schedule,
                               struct gf_explanation *explanation, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = schedule->backend->calls;
    struct gf_layout layout;
    struct explainer explainer = {.schedule = schedule, .layout = &layout};
    enum gf_status status = gf_layout_make(schedule, &layout, error);
    if (!status && !calls->unified)
        gf_layout_place_pictures(schedule, &layout);
    if (!status && calls->inspect)
        status = calls->lane_open(schedule->backend, 0, schedule->spans, &explainer.lane, error);
    if (explainer.lane)
        calls->lane_enter(explainer.lane);
    GF_THEN(status, explain_segments(&explainer, explanation, error));
    if (explainer.lane)
        calls->lane_close(explainer.lane);
    if (!status) {
        calls->describe(schedule->backend, explanation->device, sizeof explanation->device);
        explanation->options = *schedule->options;
        explanation->in = schedule->plan->in;
        explanation->out = schedule->plan->out;
        explanation->inks = schedule->plan->icc.inks;
        explanation->lanes = gf_layout_lanes(schedule, &layout);
        explanation->lane_bytes = layout.in_bytes + 2 * layout.between_bytes + layout.scratch_bytes;
    }
    gf_layout_free(&layout);
    return status;
}

double gf_explain_seconds(const struct gf_explanation *explanation, bool together)
{
    double seconds = 0;
    for (int s = 0; s < explanation->segments; s++) {
        const struct gf_explained_segment *const segment = &explanation->segment[s];
        const double up = segment->up_bytes ? segment->up_bytes / explanation->upload_peak : 0;
        const double down =
            segment->down_bytes ? segment->down_bytes / explanation->download_peak : 0;
        const double device = segment->device_bytes / explanation->copy_peak;
        seconds += together ? fmax(fmax(up, down), device) : up + down + device;
    }
    return seconds;
}

/* Returns the format that the output's name says, or GF_FILE_AUTO. */
static enum gf_file_format named_format(const char *output, const struct gf_options *options,
                                        enum gf_file_format content)
{
    enum gf_file_format format;
    return output && !gf_sink_format(output, options, content, &format, NULL) ? format
                                                                              : GF_FILE_AUTO;
}

/* Makes the plan, again if the result has HDR colours that the format cannot name. */
static enum gf_status make_plan(struct gf_pipeline *pipeline, struct gf_format in,
                                enum gf_file_format format, struct gf_plan_request *request,
                                struct gf_plan *plan, struct gf_error *error)
{
    const struct gf_chain *const chain = gf_pipeline_chain(pipeline);
    GF_TRY(gf_plan_make_for(chain, in, request, plan, error));
    if (!plan->icc.hdr[1] || gf_format_names_hdr(format) || gf_pipeline_options(pipeline)->lossless)
        return GF_OK;
    gf_plan_free(plan);
    request->from_hdr = true;
    return gf_plan_make_for(chain, in, request, plan, error);
}

/* ---- a GPU that is not here: layouts ask for nothing but these answers and the CPU's scratch ----
 */

static enum gf_status planned_ready(struct gf_backend *backend, struct gf_error *error)
{
    (void)backend, (void)error;
    return GF_OK;
}

static void planned_close(struct gf_backend *backend)
{
    (void)backend;
}

static void planned_describe(struct gf_backend *backend, char *text, size_t size)
{
    (void)backend;
    snprintf(text, size, "cuda, not here: the plan for a GPU with 8 GiB of free memory");
}

static uint64_t planned_free_bytes(struct gf_backend *backend)
{
    (void)backend;
    return (uint64_t)8 << 30;
}

static void planned_measure(struct gf_backend *backend, struct gf_profile *peaks)
{
    (void)backend, (void)peaks;
}

/* Gives the pipeline such a GPU in place of the CPU's backend. */
static struct gf_backend *plan_for_cuda(struct gf_pipeline *pipeline, const struct gf_backend *cpu)
{
    static struct gf_backend_calls calls;
    static struct gf_backend planned = {.calls = &calls};
    calls = (struct gf_backend_calls){.band_bytes_least = (size_t)1 << 20,
                                      .band_bytes_most = (size_t)16 << 20,
                                      .ready = planned_ready,
                                      .close = planned_close,
                                      .describe = planned_describe,
                                      .free_bytes = planned_free_bytes,
                                      .scratch = cpu->calls->scratch,
                                      .measure = planned_measure};
    gf_pipeline_replace_backend(pipeline, &planned, true);
    return &planned;
}

/* Makes the source give only the part of its picture that the chain needs, as a run does. */
static enum gf_status take_window(struct gf_pipeline *pipeline, struct gf_source *source,
                                  const char *name, struct gf_plan_request *request,
                                  struct gf_explanation *explanation, struct gf_error *error)
{
    const struct gf_rectangle window =
        gf_plan_window(gf_pipeline_chain(pipeline), source->format, request);
    if (!source->window ||
        (explanation->on_cuda && gf_device_decodes_whole(source, gf_pipeline_options(pipeline))))
        return GF_OK;
    if (window.width < source->format.width || window.height < source->format.height) {
        GF_TRY(source->window(source, window, 0, error));
        request->window = explanation->window = window;
        explanation->blocks = source->blocks;
    }
    return gf_size_check(name, (uint64_t)source->format.width, (uint64_t)source->format.height,
                         gf_pipeline_options(pipeline), error);
}

static enum gf_status explain_source(struct gf_pipeline *pipeline, struct gf_source *source,
                                     const char *name, enum gf_file_format format,
                                     struct gf_explanation *explanation, struct gf_error *error)
{
    const struct gf_format rgba = {.width = 1, .height = 1, .channels = 4, .bits = 8};
    static struct gf_sink unused; /* the layout only tests that there is a sink */
    struct gf_backend *backend = NULL;
    struct gf_plan plan;
    struct gf_spans spans;
    struct gf_profile peaks = {0};
    enum gf_status status = gf_pipeline_start(pipeline, &backend, &explanation->on_cuda, error);
    if (!status && explanation->planned) {
        backend = plan_for_cuda(pipeline, backend);
        explanation->on_cuda = true;
    }
    const struct gf_options options = gf_pipeline_resolved(pipeline);
    struct gf_plan_request request;
    GF_THEN(status, gf_pipeline_request(pipeline, source, &request, error));
    if (status)
        return status;
    request.opaque = !gf_has_alpha(gf_format_in_file(format, rgba));
    request.on_device = explanation->on_cuda;
    explanation->reduction = request.reduction;
    explanation->level = gf_source_level(source, request.reduction);
    explanation->tiles = source->level[explanation->level].tiles;
    const struct gf_format in = source->format;
    GF_THEN(status, take_window(pipeline, source, name, &request, explanation, error));
    GF_THEN(status, make_plan(pipeline, in, format, &request, &plan, error));
    if (status)
        return status;
    gf_spans_init(&spans);
    struct gf_schedule schedule = {.plan = &plan,
                                   .backend = backend,
                                   .options = &options,
                                   .memory_is_limit =
                                       gf_pipeline_options(pipeline)->memory_bytes != 0,
                                   .spans = &spans,
                                   .lanes = gf_pipeline_lanes(pipeline, &plan),
                                   .band_rows = options.band_rows,
                                   .source = source,
                                   .sink = &unused};
    status = gf_explain_plan(&schedule, explanation, error);
    if (!status) {
        backend->calls->measure(backend, &peaks);
        snprintf(explanation->reason, sizeof explanation->reason, "%s",
                 gf_pipeline_profile(pipeline)->reason);
        explanation->copy_peak = peaks.device_copy_peak;
        explanation->upload_peak = peaks.upload_peak;
        explanation->download_peak = peaks.download_peak;
    }
    gf_plan_free(&plan);
    gf_spans_free(&spans);
    return status;
}

/* Returns the options with the device that a run with device=auto would choose. Adds the
 * estimate. */
static struct gf_options settle_device(const char *input, const char *output, const char *chain,
                                       const struct gf_options *options,
                                       const struct gf_figures *figures,
                                       struct gf_explanation *explanation, char *reason,
                                       size_t size)
{
    struct gf_options settled = *options;
    struct gf_input_name name = {.path = (char *)input};
    const struct gf_inputs inputs = {.item = &name, .count = 1};
    const struct gf_template template = {.text = (char *)(output ? output : "")};
    const struct gf_batch_request request = {.chain = chain,
                                             .options = *options,
                                             .inputs = &inputs,
                                             .output = &template,
                                             .figures = figures};
    const char *why_not;
    const enum gf_cost_server server =
        gf_server_may_run(chain, options) && gf_server_present(options->device_index)
            ? GF_COST_SERVER_WORKS
            : GF_COST_NO_SERVER;
    explanation->gpu = (server != GF_COST_NO_SERVER || gf_backend_cuda_likely(&why_not)) &&
                       !gf_batch_check_kernels(&request, NULL);
    if (!gf_cost_look(&request, server, &explanation->work))
        explanation->work.files = 0;
    if (options->device == GF_DEVICE_AUTO && options->codec != GF_CODEC_GPU &&
        gf_cost_choose(&request, server, reason, size).device == GF_DEVICE_CPU)
        settled.device = GF_DEVICE_CPU;
    return settled;
}

/* Opens the picture, or the first frame of an animation that becomes one. */
static enum gf_status open_source(struct gf_input *input, const char *output,
                                  const struct gf_options *options, struct gf_source **source,
                                  struct gf_explanation *explanation, struct gf_error *error)
{
    enum gf_file_format format;
    enum gf_status status = gf_input_format(input, &format, error);
    const bool frames = !status && output && gf_input_page(input) < 0 &&
                        gf_output_animates(output, options, format);
    if (frames)
        gf_input_choose_pages(input, (struct gf_pages){0, -1});
    gf_input_set_windowed(input);
    GF_THEN(status, gf_source_open(input, options, source, error));
    if (!status && frames)
        explanation->frames = (*source)->stored.pages;
    return status;
}

static enum gf_status explain_file(const char *input, const char *output, const char *chain,
                                   const struct gf_options *options,
                                   const struct gf_figures *figures,
                                   struct gf_explanation *explanation, struct gf_error *error)
{
    struct gf_pipeline *pipeline = NULL;
    struct gf_input *opened = NULL;
    struct gf_source *source = NULL;
    char reason[sizeof explanation->reason] = "";
    struct gf_options settled =
        settle_device(input, output, chain, options, figures, explanation, reason, sizeof reason);
    if (explanation->planned) {
        settled.device = GF_DEVICE_CPU;
        explanation->gpu = true;
    }
    enum gf_status status = gf_pipeline_open(chain, &settled, &pipeline, error);
    if (!status && *reason)
        gf_pipeline_set_reason(pipeline, reason);
    GF_THEN(status, gf_input_open(input, false, &opened, error));
    GF_THEN(status, open_source(opened, output, &settled, &source, explanation, error));
    GF_THEN(status,
            explain_source(pipeline, source, input, named_format(output, &settled, source->file),
                           explanation, error));
    if (source)
        source->close(source);
    gf_input_close(opened);
    gf_pipeline_close(pipeline);
    if (status)
        gf_explain_free(explanation);
    return status;
}

/* Whether every filter of the chain has CUDA kernels. */
static bool has_kernels(const char *text)
{
    struct gf_chain chain = {0};
    const bool has =
        !gf_chain_parse(text ? text : "", &chain, NULL) && !gf_chain_check_kernels(&chain, NULL);
    gf_chain_free(&chain);
    return has;
}

enum gf_status gf_explain_file(const char *input, const char *output, const char *chain,
                               const struct gf_options *options, const struct gf_figures *figures,
                               struct gf_explanation *explanation, struct gf_error *error)
{
    struct gf_error missing = {0};
    *explanation = (struct gf_explanation){0};
    enum gf_status status =
        explain_file(input, output, chain, options, figures, explanation, &missing);
    if (status == GF_ERROR_UNAVAILABLE && options->device == GF_DEVICE_CUDA &&
        options->codec != GF_CODEC_GPU && has_kernels(chain)) {
        *explanation = (struct gf_explanation){.planned = true};
        status = explain_file(input, output, chain, options, figures, explanation, &missing);
        snprintf(explanation->reason, sizeof explanation->reason, "asked for; nothing is measured");
    }
    if (status && error)
        *error = missing;
    return status;
}

void gf_explain_free(struct gf_explanation *explanation)
{
    for (int s = 0; s < explanation->segments; s++)
        free(explanation->segment[s].stage);
    free(explanation->segment);
    *explanation = (struct gf_explanation){0};
}

/* ---- the stages that the outputs of one picture have in common, by their plans ---- */

/* The plan of one chain, and the fraction of its size at which the picture is decoded. */
struct way {
    struct gf_pipeline *pipeline;
    struct gf_input *input;
    struct gf_source *source; /* owns the ICC profile to which the plan refers */
    struct gf_plan plan;
    int reduction;
};

static enum gf_status plan_way(const char *input, const char *chain,
                               const struct gf_options *options, struct way *way,
                               struct gf_error *error)
{
    struct gf_options own = *options;
    own.device = GF_DEVICE_CPU;
    own.codec = GF_CODEC_CPU;
    own.warn = NULL;
    GF_TRY(gf_pipeline_open(chain, &own, &way->pipeline, error));
    GF_TRY(gf_input_open(input, false, &way->input, error));
    GF_TRY(gf_source_open(way->input, &own, &way->source, error));
    struct gf_plan_request request;
    GF_TRY(gf_pipeline_request(way->pipeline, way->source, &request, error));
    way->reduction = request.reduction;
    request.apart = true;
    return gf_plan_make_for(gf_pipeline_chain(way->pipeline), way->source->format, &request,
                            &way->plan, error);
}

static void close_way(struct way *way)
{
    gf_plan_free(&way->plan);
    if (way->source)
        way->source->close(way->source);
    gf_input_close(way->input);
    gf_pipeline_close(way->pipeline);
}

enum gf_status gf_explain_sharing(const char *input, const char *const *chain, int last,
                                  const struct gf_options *options, struct gf_sharing *sharing,
                                  struct gf_error *error)
{
    struct way own = {.pipeline = NULL};
    enum gf_status status = plan_way(input, chain[last], options, &own, error);
    *sharing = (struct gf_sharing){.with = -1};
    for (int i = 0; !status && i < last; i++) {
        struct way other = {.pipeline = NULL};
        status = plan_way(input, chain[i], options, &other, error);
        const int common = status ? 0 : gf_plan_common(&own.plan, 0, &other.plan, 0);
        if (!status && own.reduction == other.reduction &&
            (sharing->with < 0 || common > sharing->stages))
            *sharing = (struct gf_sharing){.with = i, .stages = common};
        close_way(&other);
    }
    close_way(&own);
    return status;
}
