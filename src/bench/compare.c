#include "bench/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpufilter/pipeline.h"
#include "pipeline/pipeline_internal.h"
#include "pixel/histogram.h"

/* Seconds of a row's warm runs, and of its cold ones. A stage takes a thousandth on a GPU, a tenth
 * on two cores. */
static const double device_budget_s = 0.05, cpu_budget_s = 0.25;

/* ---- groups ---- */

struct gf_compare_row *gf_compare_add_row(struct gf_compare_group *group, const char *name)
{
    struct gf_compare_row *const row = realloc(group->row, (size_t)(group->rows + 1) * sizeof *row);
    if (!row)
        return NULL;
    group->row = row;
    row[group->rows] = (struct gf_compare_row){
        .rate = NAN, .copy_percent = NAN, .over_naive = NAN, .over_cpu = NAN, .difference = NAN};
    snprintf(row[group->rows].name, sizeof row->name, "%.39s", name);
    return &row[group->rows++];
}

static double over(const struct gf_timing *other, const struct gf_timing *own)
{
    return other->runs && own->runs && own->median_s > 0 ? other->median_s / own->median_s : NAN;
}

/* What follows from the times. */
static void finish_group(const struct gf_bench *bench, struct gf_compare_group *group)
{
    for (int i = 0; i < group->rows; i++) {
        struct gf_compare_row *const row = &group->row[i];
        if (!row->warm.runs || row->warm.median_s <= 0)
            continue;
        row->rate = group->bytes / row->warm.median_s;
        if (bench->copy_peak > 0)
            row->copy_percent = 100 * row->rate / bench->copy_peak;
        if (group->naive >= 0)
            row->over_naive = over(&group->row[group->naive].warm, &row->warm);
        row->over_cpu = over(&group->cpu, &row->warm);
    }
}

/* The input that the stage needs for the whole of its result, once, and the result, once. */
static double least_bytes(const struct gf_stage *stage, bool counts)
{
    int first = 0, end = stage->in.height;
    if (!counts)
        gf_stage_needs(stage, 0, stage->out.height, &first, &end);
    const double in = (double)gf_row_bytes(stage->in) * (double)(end - first);
    return counts ? in : in + (double)gf_row_bytes(stage->out) * (double)stage->out.height;
}

static struct gf_compare_group *add_group(struct gf_compare *compare, const struct gf_stage *stage,
                                          int segment, bool counts)
{
    struct gf_compare_group *const grown =
        realloc(compare->group, (size_t)(compare->groups + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    compare->group = grown;
    struct gf_compare_group *const group = &grown[compare->groups++];
    *group = (struct gf_compare_group){.segment = segment,
                                       .statistic = counts,
                                       .tolerance = counts ? 0 : stage->filter->tolerance,
                                       .in = stage->in,
                                       .out = stage->out,
                                       .naive = -1,
                                       .bytes = least_bytes(stage, counts)};
    char name[sizeof group->name - 12];
    gf_plan_stage_name(stage, name, sizeof name);
    snprintf(group->name, sizeof group->name, "%s%s", name, counts ? " histogram" : "");
    return group;
}

/* The CPU's result, which the rows are held against, and then the rows. */
static enum gf_status compare_case(struct gf_bench *bench, const struct gf_compare_case *what,
                                   int segment, struct gf_histogram *histogram,
                                   struct gf_compare *compare, struct gf_error *error)
{
    struct gf_compare_group *const group = add_group(compare, what->stage, segment, what->counts);
    if (!group)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    enum gf_status status = gf_compare_cpu_time(what, false, bench->threads, bench->budget_s,
                                                what->out, histogram, &group->cpu, error);
    if (!status)
        status = bench->lane ? gf_compare_device_rows(bench, what, group, error)
                             : gf_compare_cpu_rows(bench, what, group, error);
    finish_group(bench, group);
    return status;
}

static enum gf_status compare_histogram(struct gf_bench *bench, const struct gf_stage *stage,
                                        int segment, const struct gf_image *picture,
                                        struct gf_histogram *histogram, struct gf_compare *compare,
                                        struct gf_error *error)
{
    *histogram = (struct gf_histogram){
        .channels = gf_statistic_channels(gf_stage_statistic(stage), stage->in),
        .bins = 1 << stage->in.bits};
    histogram->count =
        calloc((size_t)histogram->channels * (size_t)histogram->bins, sizeof(uint64_t));
    if (!histogram->count)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    const struct gf_compare_case what = {
        .stage = stage, .counts = true, .in = picture, .histogram = histogram};
    return compare_case(bench, &what, segment, histogram, compare, error);
}

/* *picture becomes the stage's result. */
static enum gf_status compare_stage(struct gf_bench *bench, struct gf_stage *stage, int segment,
                                    struct gf_image *picture, struct gf_compare *compare,
                                    struct gf_error *error)
{
    struct gf_image result = {0};
    enum gf_status status = gf_stage_prepare(stage, error);
    if (!status)
        status = gf_image_alloc(&result, stage->out, error);
    const struct gf_compare_case what = {.stage = stage, .in = picture, .out = &result};
    if (!status)
        status = compare_case(bench, &what, segment, NULL, compare, error);
    gf_stage_release(stage);
    gf_image_free(picture);
    *picture = result;
    return status;
}

enum gf_status gf_compare_stages(struct gf_bench *bench, struct gf_plan *plan,
                                 const struct gf_image *picture, struct gf_compare *compare,
                                 struct gf_error *error)
{
    struct gf_image now = *picture; /* of each stage's input; the caller's is not owned here */
    enum gf_status status = GF_OK;
    now.owned = false;
    for (int s = 0; !status && s < plan->segment_count; s++) {
        const struct gf_segment *const segment = &plan->segment[s];
        struct gf_histogram histogram = {0};
        if (s && plan->segment[s - 1].statistic)
            status = compare_histogram(bench, &plan->stage[segment->first], s, &now, &histogram,
                                       compare, error);
        for (int i = 0; !status && i < segment->count; i++) {
            struct gf_stage *const stage = &plan->stage[segment->first + i];
            stage->histogram = i ? NULL : &histogram;
            status = compare_stage(bench, stage, s, &now, compare, error);
        }
        free(histogram.count);
    }
    gf_image_free(&now);
    return status;
}

/* ---- the whole ---- */

static enum gf_status open_bench(struct gf_pipeline *pipeline, struct gf_spans *spans,
                                 struct gf_bench *bench, struct gf_compare *compare,
                                 struct gf_error *error)
{
    enum gf_status status = gf_pipeline_start(pipeline, &bench->backend, &compare->on_cuda, error);
    if (status)
        return status;
    const struct gf_backend_calls *const calls = bench->backend->calls;
    struct gf_profile peaks = {0};
    bench->threads = compare->threads = gf_pipeline_options(pipeline)->threads;
    bench->budget_s = compare->on_cuda ? device_budget_s : cpu_budget_s;
    calls->describe(bench->backend, compare->device, sizeof compare->device);
    snprintf(compare->reason, sizeof compare->reason, "%s", gf_pipeline_profile(pipeline)->reason);
    calls->measure(bench->backend, &peaks);
    bench->copy_peak = compare->copy_peak = peaks.device_copy_peak;
    compare->upload_peak = peaks.upload_peak;
    compare->download_peak = peaks.download_peak;
    if (calls->unified)
        return GF_OK;
    status = calls->lane_open(bench->backend, 0, spans, &bench->lane, error);
    if (!status)
        calls->lane_enter(bench->lane);
    return status;
}

static enum gf_status compare_chain(struct gf_pipeline *pipeline, const struct gf_image *picture,
                                    struct gf_compare *compare, struct gf_error *error)
{
    struct gf_bench bench = {0};
    struct gf_plan plan = {0};
    struct gf_spans spans;
    gf_spans_init(&spans);
    enum gf_status status =
        gf_plan_make(gf_pipeline_chain(pipeline), picture->format, 1, &plan, error);
    if (!status) {
        compare->in = plan.in;
        compare->out = plan.out;
        status = open_bench(pipeline, &spans, &bench, compare, error);
    }
    if (!status)
        status = gf_compare_stages(&bench, &plan, picture, compare, error);
    if (bench.lane)
        bench.backend->calls->lane_close(bench.lane);
    gf_plan_free(&plan);
    gf_spans_free(&spans);
    return status;
}

enum gf_status gf_compare_file(const char *input, const char *chain,
                               const struct gf_options *options, struct gf_compare *compare,
                               struct gf_error *error)
{
    const double begin_s = gf_now();
    struct gf_pipeline *pipeline = NULL;
    struct gf_image picture = {0};
    struct gf_options settings = *options;
    *compare = (struct gf_compare){0};
    enum gf_status status = gf_pipeline_open(chain, &settings, &pipeline, error);
    if (!status)
        status = gf_compare_read(input, &settings, &picture, error);
    if (!status)
        status = compare_chain(pipeline, &picture, compare, error);
    /* What follows opens pipelines of its own: they all run on the device that was taken, and what
     * there was to warn of was said. */
    settings.device = compare->on_cuda ? GF_DEVICE_CUDA : GF_DEVICE_CPU;
    settings.warn = NULL;
    if (!status)
        status = gf_compare_runs(chain, &settings, &picture, compare, error);
    gf_pipeline_close(pipeline);
    gf_image_free(&picture);
    compare->wall_s = gf_now() - begin_s;
    if (status)
        gf_compare_free(compare);
    return status;
}

enum gf_status gf_compare_judge(const struct gf_compare *compare, struct gf_error *error)
{
    for (int g = 0; g < compare->groups; g++) {
        const struct gf_compare_group *const group = &compare->group[g];
        for (int i = 0; i < group->rows; i++) {
            const struct gf_compare_row *const row = &group->row[i];
            if (row->difference > group->tolerance)
                return gf_fail(error, GF_ERROR_DEVICE,
                               "%s: wrong result: %s differs from the CPU's by %.0f, more than %d",
                               group->name, row->name, row->difference, group->tolerance);
        }
    }
    return GF_OK;
}

void gf_compare_free(struct gf_compare *compare)
{
    for (int i = 0; i < compare->groups; i++)
        free(compare->group[i].row);
    free(compare->group);
    free(compare->run);
    *compare = (struct gf_compare){0};
}
