/* Runs the whole chain from memory to memory, once for each setting of the pipeline. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "chain/chain.h"
#include "pipeline/pipeline_internal.h"
#include "study/compare/compare.h"

static const double device_budget_s = 0.1, cpu_budget_s = 0.4;

/* The state that all rows share. */
struct runs {
    const char *chain;
    const struct gf_options *options;
    const struct gf_image *picture;
    struct gf_comparison *comparison;
};

/* The sums of a run's spans. */
struct summary {
    double window_s, overlap, kernels_s, copies_s;
};

double gf_compare_estimate(double kernels_s, double copies_s, int streams)
{
    return fmax(kernels_s, copies_s) + fmin(kernels_s, copies_s) / streams;
}

/* Returns the busy time of the spans of one kind and stage. `interval` is scratch memory for all
 * spans. */
static double busy(const struct gf_profile *profile, int kind, int stage,
                   struct gf_interval *interval)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->span_count; i++) {
        const struct gf_span *const span = &profile->spans[i];
        if ((int)span->kind == kind && span->stage == stage)
            interval[count++] = (struct gf_interval){span->begin_s, span->end_s};
    }
    return gf_intervals_union(interval, count);
}

static struct summary summarise(const struct gf_profile *profile, struct gf_interval *interval)
{
    struct summary summary = {.overlap = NAN};
    double begin_s = INFINITY, end_s = 0;
    size_t count = 0;
    for (int stage = 0; stage < profile->stage_count; stage++)
        summary.kernels_s += busy(profile, GF_SPAN_STAGE, stage, interval) +
                             busy(profile, GF_SPAN_STATISTIC, stage, interval);
    summary.copies_s =
        busy(profile, GF_SPAN_UPLOAD, -1, interval) + busy(profile, GF_SPAN_DOWNLOAD, -1, interval);
    for (size_t i = 0; i < profile->span_count; i++) {
        const struct gf_span *const span = &profile->spans[i];
        if (span->kind == GF_SPAN_START)
            continue;
        interval[count++] = (struct gf_interval){span->begin_s, span->end_s};
        begin_s = fmin(begin_s, span->begin_s);
        end_s = fmax(end_s, span->end_s);
    }
    const double sum_s = summary.kernels_s + summary.copies_s;
    if (count)
        summary.window_s = end_s - begin_s;
    if (sum_s > 0)
        summary.overlap = fmax(0, 1 - gf_intervals_union(interval, count) / sum_s);
    return summary;
}

static enum gf_status run_once(struct gf_pipeline *pipeline, const struct runs *runs,
                               struct gf_image *out, double *total_s, struct summary *summary,
                               struct gf_error *error)
{
    const double begin_s = gf_now();
    GF_TRY(gf_pipeline_run_image(pipeline, runs->picture, out, error));
    const struct gf_profile *const profile = gf_pipeline_profile(pipeline);
    struct gf_interval *const interval = malloc((profile->span_count + 1) * sizeof *interval);
    GF_ALLOCATED(interval, error);
    *total_s = gf_now() - begin_s;
    *summary = summarise(profile, interval);
    free(interval);
    return GF_OK;
}

static enum gf_status repeat(struct gf_pipeline *pipeline, const struct runs *runs,
                             struct gf_image *out, struct gf_compare_run *run,
                             struct gf_error *error)
{
    const double budget_s = runs->comparison->on_cuda ? device_budget_s : cpu_budget_s;
    double total_s[GF_TIMING_RUNS_MAX], window_s[GF_TIMING_RUNS_MAX];
    struct summary summary;
    enum gf_status status = run_once(pipeline, runs, out, &total_s[0], &summary, error);
    /* The first call also measured the machine's peaks, so that its window counts as its time. */
    total_s[0] = window_s[0] = status ? 0 : summary.window_s;
    const int count = gf_timing_runs(window_s[0], budget_s);
    for (int i = 0; !status && count > 1 && i < count; i++) {
        status = run_once(pipeline, runs, out, &total_s[i], &summary, error);
        window_s[i] = summary.window_s;
    }
    if (status)
        return status;
    const struct gf_profile *const profile = gf_pipeline_profile(pipeline);
    run->total = gf_timing_of(total_s, count);
    run->window = gf_timing_of(window_s, count);
    run->lanes = profile->lanes;
    run->band_rows = profile->band_rows;
    run->overlap = summary.overlap;
    run->kernels_s = summary.kernels_s;
    run->copies_s = summary.copies_s;
    return GF_OK;
}

static size_t image_bytes(const struct gf_image *image)
{
    return image->pitch * (size_t)image->format.height;
}

/* Repeats a run. Both pictures are pinned once, because pinning them in each run would take as long
 * as a copy. */
static enum gf_status repeat_pinned(struct gf_pipeline *pipeline, const struct runs *runs,
                                    struct gf_compare_run *run, struct gf_error *error)
{
    struct gf_backend *backend = NULL;
    struct gf_image out = {0};
    bool on_cuda, pinned_in = false, pinned_out = false;
    enum gf_status status = gf_pipeline_start(pipeline, &backend, &on_cuda, error);
    GF_THEN(status, gf_image_alloc(&out, runs->comparison->out, error));
    if (!status) {
        pinned_in = backend->calls->pin(backend, runs->picture->data, image_bytes(runs->picture)) ==
                    GF_PINNED;
        pinned_out = backend->calls->pin(backend, out.data, image_bytes(&out)) == GF_PINNED;
        status = repeat(pipeline, runs, &out, run, error);
    }
    if (pinned_in)
        backend->calls->unpin(backend, runs->picture->data);
    if (pinned_out)
        backend->calls->unpin(backend, out.data);
    gf_image_free(&out);
    return status;
}

/* Measures a setting. If the setting is not possible here, its row says why. */
static enum gf_status measure(const struct runs *runs, struct gf_compare_run *run,
                              struct gf_error *error)
{
    struct gf_pipeline *pipeline = NULL;
    struct gf_error why = {0};
    run->options.profile = true;
    run->overlap = run->estimate_s = run->kernels_s = run->copies_s = NAN;
    enum gf_status status = gf_pipeline_open(runs->chain, &run->options, &pipeline, &why);
    GF_THEN(status, repeat_pinned(pipeline, runs, run, &why));
    gf_pipeline_close(pipeline);
    if (status == GF_ERROR_USAGE || status == GF_ERROR_DEVICE_MEMORY) {
        snprintf(run->refused, sizeof run->refused, "%.159s", why.text);
        return GF_OK;
    }
    if (status && error)
        *error = why;
    return status;
}

static struct gf_compare_run *new_run(struct gf_comparison *comparison, const char *name, int value)
{
    if (!GF_GROW(comparison->run, comparison->runs))
        return NULL;
    struct gf_compare_run *const run = &comparison->run[comparison->runs++];
    *run = (struct gf_compare_run){0};
    snprintf(run->name, sizeof run->name, value ? "%s%d" : "%s", name, value);
    return run;
}

static enum gf_status add_run(const struct runs *runs, const char *name, int value,
                              const struct gf_options *options, struct gf_error *error)
{
    struct gf_compare_run *const run = new_run(runs->comparison, name, value);
    GF_ALLOCATED(run, error);
    run->options = *options;
    return measure(runs, run, error);
}

static enum gf_status add_refused(const struct runs *runs, const char *name, const char *why,
                                  struct gf_error *error)
{
    struct gf_compare_run *const run = new_run(runs->comparison, name, 0);
    GF_ALLOCATED(run, error);
    run->options = *runs->options;
    run->overlap = run->estimate_s = run->kernels_s = run->copies_s = NAN;
    snprintf(run->refused, sizeof run->refused, "%s", why);
    return GF_OK;
}

static enum gf_status add_lanes(const struct runs *runs, struct gf_error *error)
{
    struct gf_options options = *runs->options;
    for (int lanes = 1; lanes <= 8; lanes *= 2) {
        options.lanes = lanes;
        GF_TRY(add_run(runs, "lanes=", lanes, &options, error));
    }
    return GF_OK;
}

static enum gf_status add_threads(const struct runs *runs, struct gf_error *error)
{
    struct gf_options options = *runs->options;
    const int all = runs->comparison->threads;
    options.lanes = 0;
    for (int threads = 1; threads <= all;
         threads = threads < all && 2 * threads > all ? all : 2 * threads) {
        options.threads = threads;
        GF_TRY(add_run(runs, "threads=", threads, &options, error));
    }
    return GF_OK;
}

static enum gf_status add_memory(const struct runs *runs, struct gf_error *error)
{
    struct gf_options options = *runs->options;
    options.host_memory = GF_HOST_PAGEABLE;
    options.transfer = GF_TRANSFER_COPY;
    enum gf_status status = add_run(runs, "host-memory=pageable", 0, &options, error);
    options.host_memory = GF_HOST_PINNED;
    options.transfer = GF_TRANSFER_ZERO_COPY;
    if (status)
        return status;
    if ((gf_row_bytes(runs->comparison->in) | gf_row_bytes(runs->comparison->out)) % 16)
        return add_refused(runs, "transfer=zero-copy",
                           "the picture's rows are no multiples of 16 bytes", error);
    return add_run(runs, "transfer=zero-copy", 0, &options, error);
}

/* Counts the steps of a plan. Without fusing, separate kernels count histograms on a device. */
static int count_steps(const struct gf_plan *plan, bool counts)
{
    int steps = plan->stage_count;
    for (int s = 0; counts && s < plan->segment_count; s++)
        steps += plan->segment[s].count && plan->segment[s].statistic;
    return steps;
}

static enum gf_status count_stages(const struct runs *runs, bool no_fuse, int *count,
                                   struct gf_error *error)
{
    struct gf_chain chain;
    struct gf_plan plan;
    GF_TRY(gf_chain_parse(runs->chain, &chain, error));
    chain.no_fuse = no_fuse;
    const struct gf_plan_request request = {.orientation = 1,
                                            .on_device = runs->comparison->on_cuda};
    const enum gf_status status =
        gf_plan_make_for(&chain, runs->picture->format, &request, &plan, error);
    *count = status ? 0 : count_steps(&plan, no_fuse && runs->comparison->on_cuda);
    if (!status)
        gf_plan_free(&plan);
    gf_chain_free(&chain);
    return status;
}

static enum gf_status add_fusion(const struct runs *runs, struct gf_error *error)
{
    struct gf_options options = *runs->options;
    int fused = 0, no_fuse = 0;
    GF_TRY(count_stages(runs, false, &fused, error));
    GF_TRY(count_stages(runs, true, &no_fuse, error));
    if (fused == no_fuse)
        return add_refused(runs, "no-fuse", "nothing in the chain is fused", error);
    options.no_fuse = !options.no_fuse;
    return add_run(runs, options.no_fuse ? "no-fuse" : "fused", 0, &options, error);
}

static enum gf_status add_bands(const struct runs *runs, struct gf_error *error)
{
    const int chosen = runs->comparison->run[0].band_rows, height = runs->comparison->out.height;
    struct gf_options options = *runs->options;
    for (int sixteenths = 4; sixteenths <= 64; sixteenths *= 2) {
        const int rows = (int)((int64_t)chosen * sixteenths / 16);
        if (rows < 1 || rows > height || rows == chosen)
            continue;
        options.band_rows = rows;
        GF_TRY(add_run(runs, "band-rows=", rows, &options, error));
    }
    return GF_OK;
}

/* Measures the options with one lane, where kernels and copies do not overlap. */
static enum gf_status measure_one_lane(const struct runs *runs, const struct gf_options *options,
                                       struct gf_compare_run *alone, struct gf_error *error)
{
    *alone = (struct gf_compare_run){.options = *options};
    alone->options.lanes = 1;
    alone->options.band_rows = 0;
    return measure(runs, alone, error);
}

static bool same_copies(const struct gf_options *a, const struct gf_options *b)
{
    return a->host_memory == b->host_memory && a->transfer == b->transfer &&
           a->no_fuse == b->no_fuse;
}

/* Adds the estimates. There are none on the CPU, which has no copies, nor with zero copy, whose
 * kernels do the copies. */
static enum gf_status estimate(const struct runs *runs, struct gf_error *error)
{
    struct gf_comparison *const comparison = runs->comparison;
    struct gf_compare_run alone = {0};
    for (int i = 0; i < comparison->runs; i++) {
        struct gf_compare_run *const run = &comparison->run[i];
        run->kernels_s = run->copies_s = NAN;
        if (!comparison->on_cuda || run->options.transfer == GF_TRANSFER_ZERO_COPY || *run->refused)
            continue;
        if (!alone.total.runs || !same_copies(&alone.options, &run->options)) {
            GF_TRY(measure_one_lane(runs, &run->options, &alone, error));
        }
        run->kernels_s = alone.kernels_s;
        run->copies_s = alone.copies_s;
        run->estimate_s = gf_compare_estimate(alone.kernels_s, alone.copies_s, run->lanes);
    }
    return GF_OK;
}

enum gf_status gf_compare_runs(const char *chain, const struct gf_options *options,
                               const struct gf_image *picture, struct gf_comparison *comparison,
                               struct gf_error *error)
{
    const struct runs runs = {chain, options, picture, comparison};
    GF_TRY(add_run(&runs, "as asked", 0, options, error));
    GF_TRY(comparison->on_cuda ? add_lanes(&runs, error) : add_threads(&runs, error));
    if (comparison->on_cuda)
        GF_TRY(add_memory(&runs, error));
    GF_TRY(add_fusion(&runs, error));
    GF_TRY(add_bands(&runs, error));
    return estimate(&runs, error);
}
