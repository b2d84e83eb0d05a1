/* Makes a comparison: measures its groups, stage by stage. */
#include "study/compare/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "gpufilter/pipeline.h"
#include "pipeline/pipeline_internal.h"
#include "pixel/histogram/histogram.h"

/* The time for a row's warm runs, and again for its cold runs. A stage takes about 1 ms on a GPU
 * and 100 ms on two processors. */
static const double device_budget_s = 0.05, cpu_budget_s = 0.25;

static double over(const struct gf_timing *other, const struct gf_timing *own)
{
    return other->runs && own->runs && own->median_s > 0 ? other->median_s / own->median_s : NAN;
}

/* Computes rates and speed-ups from the times. */
static void finish_group(const struct gf_compare_setup *setup, struct gf_compare_group *group)
{
    for (int i = 0; i < group->rows; i++) {
        struct gf_compare_row *const row = &group->row[i];
        if (!row->warm.runs || row->warm.median_s <= 0)
            continue;
        row->rate = group->bytes / row->warm.median_s;
        if (setup->copy_peak > 0)
            row->copy_percent = 100 * row->rate / setup->copy_peak;
        if (group->naive >= 0)
            row->over_naive = over(&group->row[group->naive].warm, &row->warm);
        row->over_cpu = over(&group->cpu, &row->warm);
    }
}

/* Returns the bytes of the input rows that the whole result needs, and of the result, each counted
 * once. */
static double least_bytes(const struct gf_stage *stage, bool counts)
{
    int first = 0, end = stage->in.height;
    if (!counts)
        gf_stage_input_rows(stage, 0, stage->out.height, &first, &end);
    const double in = (double)gf_row_bytes(stage->in) * (double)(end - first);
    return counts ? in : in + (double)gf_row_bytes(stage->out) * (double)stage->out.height;
}

static struct gf_compare_group *add_group(struct gf_comparison *comparison,
                                          const struct gf_stage *stage, int segment, bool counts)
{
    if (!GF_GROW(comparison->group, comparison->groups))
        return NULL;
    struct gf_compare_group *const group = &comparison->group[comparison->groups++];
    *group = (struct gf_compare_group){.segment = segment,
                                       .statistic = counts,
                                       .in = stage->in,
                                       .out = stage->out,
                                       .naive = -1,
                                       .bytes = least_bytes(stage, counts)};
    char name[sizeof group->name - 12];
    gf_plan_stage_name(stage, name, sizeof name);
    snprintf(group->name, sizeof group->name, "%s%s", name, counts ? " histogram" : "");
    return group;
}

/* Computes the CPU's result first. The result of every row is compared with it. */
static enum gf_status compare_subject(struct gf_compare_setup *setup,
                                      const struct gf_compare_subject *subject, int segment,
                                      struct gf_histogram *histogram,
                                      struct gf_comparison *comparison, struct gf_error *error)
{
    struct gf_compare_group *const group =
        add_group(comparison, subject->stage, segment, subject->counts);
    GF_ALLOCATED(group, error);
    enum gf_status status = gf_compare_cpu_time(subject, setup->threads, setup->budget_s,
                                                subject->out, histogram, &group->cpu, error);
    GF_THEN(status, setup->lane ? gf_compare_device_rows(setup, subject, group, error)
                                : gf_compare_cpu_rows(setup, subject, group, error));
    finish_group(setup, group);
    return status;
}

static enum gf_status compare_histogram(struct gf_compare_setup *setup,
                                        const struct gf_stage *stage, int segment,
                                        const struct gf_image *picture,
                                        struct gf_histogram *histogram,
                                        struct gf_comparison *comparison, struct gf_error *error)
{
    GF_TRY(gf_histogram_alloc(histogram, gf_stage_statistic(stage), stage->in, error));
    const struct gf_compare_subject subject = {
        .stage = stage, .counts = true, .in = picture, .histogram = histogram};
    return compare_subject(setup, &subject, segment, histogram, comparison, error);
}

/* Compares the variants of a stage. *picture becomes the stage's result. */
static enum gf_status compare_stage(struct gf_compare_setup *setup, struct gf_stage *stage,
                                    int segment, struct gf_image *picture,
                                    struct gf_comparison *comparison, struct gf_error *error)
{
    struct gf_image result = {0};
    enum gf_status status = gf_stage_prepare(stage, error);
    GF_THEN(status, gf_image_alloc(&result, stage->out, error));
    const struct gf_compare_subject subject = {.stage = stage, .in = picture, .out = &result};
    GF_THEN(status, compare_subject(setup, &subject, segment, NULL, comparison, error));
    gf_stage_release(stage);
    gf_image_free(picture);
    *picture = result;
    return status;
}

enum gf_status gf_compare_stages(struct gf_compare_setup *setup, struct gf_plan *plan,
                                 const struct gf_image *picture, struct gf_comparison *comparison,
                                 struct gf_error *error)
{
    struct gf_image input = *picture; /* the input of the next stage; the caller frees the first
                                       * input */
    enum gf_status status = GF_OK;
    input.owned = false;
    for (int s = 0; !status && s < plan->segment_count; s++) {
        const struct gf_segment *const segment = &plan->segment[s];
        struct gf_histogram histogram = {0};
        if (s && plan->segment[s - 1].statistic)
            status = compare_histogram(setup, &plan->stage[segment->first], s, &input, &histogram,
                                       comparison, error);
        for (int i = 0; !status && i < segment->count; i++) {
            struct gf_stage *const stage = &plan->stage[segment->first + i];
            stage->histogram = i ? NULL : &histogram;
            status = compare_stage(setup, stage, s, &input, comparison, error);
        }
        free(histogram.count);
    }
    gf_image_free(&input);
    return status;
}

static enum gf_status open_setup(struct gf_pipeline *pipeline, struct gf_spans *spans,
                                 struct gf_compare_setup *setup, struct gf_comparison *comparison,
                                 struct gf_error *error)
{
    GF_TRY(gf_pipeline_start(pipeline, &setup->backend, &comparison->on_cuda, error));
    const struct gf_backend_calls *const calls = setup->backend->calls;
    struct gf_profile peaks = {0};
    setup->threads = comparison->threads = gf_pipeline_options(pipeline)->threads;
    setup->budget_s = comparison->on_cuda ? device_budget_s : cpu_budget_s;
    calls->describe(setup->backend, comparison->device, sizeof comparison->device);
    snprintf(comparison->reason, sizeof comparison->reason, "%s",
             gf_pipeline_profile(pipeline)->reason);
    calls->measure(setup->backend, &peaks);
    setup->copy_peak = comparison->copy_peak = peaks.device_copy_peak;
    comparison->upload_peak = peaks.upload_peak;
    comparison->download_peak = peaks.download_peak;
    if (calls->unified)
        return GF_OK;
    GF_TRY(calls->lane_open(setup->backend, 0, spans, &setup->lane, error));
    calls->lane_enter(setup->lane);
    return GF_OK;
}

static enum gf_status compare_chain(struct gf_pipeline *pipeline, const struct gf_image *picture,
                                    struct gf_comparison *comparison, struct gf_error *error)
{
    struct gf_compare_setup setup = {0};
    struct gf_plan plan = {0};
    struct gf_spans spans;
    gf_spans_init(&spans);
    enum gf_status status =
        gf_plan_make(gf_pipeline_chain(pipeline), picture->format, 1, &plan, error);
    if (!status) {
        comparison->in = plan.in;
        comparison->out = plan.out;
        status = open_setup(pipeline, &spans, &setup, comparison, error);
    }
    GF_THEN(status, gf_compare_stages(&setup, &plan, picture, comparison, error));
    if (setup.lane)
        setup.backend->calls->lane_close(setup.lane);
    gf_plan_free(&plan);
    gf_spans_free(&spans);
    return status;
}

enum gf_status gf_compare_file(const char *input, const char *chain,
                               const struct gf_options *options, struct gf_comparison *comparison,
                               struct gf_error *error)
{
    const double begin_s = gf_now();
    struct gf_pipeline *pipeline = NULL;
    struct gf_reading reading = {.count = 0};
    struct gf_options settings = *options;
    *comparison = (struct gf_comparison){0};
    enum gf_status status = gf_pipeline_open(chain, &settings, &pipeline, error);
    GF_THEN(status, gf_reading_open(input, &settings, 0, &reading, error));
    if (!status)
        status = gf_reading_next(&reading, &(bool){false}, error);
    GF_THEN(status, compare_chain(pipeline, &reading.picture, comparison, error));
    /* The settings are compared on the same device, by pipelines that give no warnings. */
    settings.device = comparison->on_cuda ? GF_DEVICE_CUDA : GF_DEVICE_CPU;
    settings.warn = NULL;
    GF_THEN(status, gf_compare_runs(chain, &settings, &reading.picture, comparison, error));
    gf_pipeline_close(pipeline);
    gf_reading_close(&reading);
    comparison->wall_s = gf_now() - begin_s;
    if (status)
        gf_comparison_free(comparison);
    return status;
}
