/* The rows of a comparison: a stage timed on the CPU by numbers of threads, and its variants on
 * a device. Their results are compared with the CPU's, and judged. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/memory/buffers.h"
#include "base/memory/grow.h"
#include "chain/chain.h"
#include "engine/layout.h"
#include "pixel/histogram/histogram.h"
#include "selftest/selftest_case.h"
#include "study/compare/compare.h"

/* Appends an empty row; NULL when out of memory. */
static struct gf_compare_row *empty_row(struct gf_compare_group *group, const char *name)
{
    if (!GF_GROW(group->row, group->rows))
        return NULL;
    struct gf_compare_row *const row = &group->row[group->rows++];
    *row = (struct gf_compare_row){
        .rate = NAN, .copy_percent = NAN, .over_naive = NAN, .over_cpu = NAN, .difference = NAN};
    snprintf(row->name, sizeof row->name, "%.39s", name);
    return row;
}

enum gf_status gf_compare_judge(const struct gf_comparison *comparison, struct gf_error *error)
{
    for (int g = 0; g < comparison->groups; g++) {
        const struct gf_compare_group *const group = &comparison->group[g];
        for (int i = 0; i < group->rows; i++) {
            const struct gf_compare_row *const row = &group->row[i];
            if (row->difference > row->tolerance)
                return gf_fail(error, GF_ERROR_DIFFERENT,
                               "%s: wrong result: %s differs from the CPU's by %.0f, more than %d",
                               group->name, row->name, row->difference, row->tolerance);
        }
    }
    return GF_OK;
}

void gf_comparison_free(struct gf_comparison *comparison)
{
    for (int i = 0; i < comparison->groups; i++) {
        for (int k = 0; k < comparison->group[i].rows; k++)
            free(comparison->group[i].row[k].spot);
        free(comparison->group[i].row);
    }
    free(comparison->group);
    free(comparison->run);
    *comparison = (struct gf_comparison){0};
}

/* ---- times on the CPU ---- */

/* The picture is divided into bands, which the threads take one after the other, as the CPU
 * backend's lanes do. */

enum { BAND_BYTES = 1 << 20, THREADS_MAX = 1024 };

/* The runs of one stage, which are repeated on the same threads. */
struct timed_runs {
    const struct gf_compare_subject *subject;
    struct gf_view in, out;
    int threads, band_rows, bands;
    double budget_s;
    struct timer *timer;
    int timers; /* the number of threads that could be started */
    atomic_int next_band;
    pthread_mutex_t start; /* held until `timers` and the barrier are set */
    pthread_barrier_t barrier;
    bool done;
    double seconds[GF_TIMING_RUNS_MAX + 1];
    int runs, wanted;
};

struct timer {
    struct timed_runs *timed;
    pthread_t thread;
    int index;
    void *scratch;
    size_t scratch_bytes;
    struct gf_histogram histogram;
    double begin_s, end_s; /* the times of the thread's part of the current run */
};

static void run_band(struct timer *timer, int band)
{
    const struct timed_runs *const timed = timer->timed;
    const struct gf_stage *const stage = timed->subject->stage;
    const struct gf_view *const cut = timed->subject->counts ? &timed->in : &timed->out;
    const int first = band * timed->band_rows, end = first + timed->band_rows;
    const struct gf_view view =
        gf_view_part(cut, (struct gf_rows){first, end < cut->rows ? end : cut->rows});
    if (timed->subject->counts)
        gf_histogram_add(&view, gf_stage_statistic(stage), &timer->histogram);
    else
        stage->filter->cpu(stage, &timed->in, &view, timer->scratch);
}

/* Returns the time from the beginning of the first timer to the end of the last. Any timer may be
 * the first or the last: with more threads than processors, a thread that wakes up late may find no
 * band left. */
static double run_seconds(const struct timed_runs *timed)
{
    double begin_s = timed->timer[0].begin_s, end_s = timed->timer[0].end_s;
    for (int i = 1; i < timed->timers; i++) {
        begin_s = fmin(begin_s, timed->timer[i].begin_s);
        end_s = fmax(end_s, timed->timer[i].end_s);
    }
    return end_s - begin_s;
}

/* Ends a run. Timer 0 calls it while the others wait. The first run warms up caches and pages; it
 * is counted only if there is no time for another run. */
static void end_run(struct timed_runs *timed)
{
    const double seconds = run_seconds(timed);
    const bool warm_up = !timed->wanted;
    if (warm_up)
        timed->wanted = gf_timing_runs(seconds, timed->budget_s);
    if (!warm_up || timed->wanted == 1)
        timed->seconds[timed->runs++] = seconds;
    timed->done = timed->runs == timed->wanted;
    atomic_store(&timed->next_band, 0);
}

static void *timer_main(void *argument)
{
    struct timer *const timer = argument;
    struct timed_runs *const timed = timer->timed;
    pthread_mutex_lock(&timed->start);
    pthread_mutex_unlock(&timed->start);
    while (!timed->done) {
        struct gf_histogram *const histogram = &timer->histogram;
        if (histogram->count)
            memset(histogram->count, 0,
                   gf_histogram_counters(histogram) * sizeof *histogram->count);
        pthread_barrier_wait(&timed->barrier);
        int band;
        timer->begin_s = gf_now();
        while ((band = atomic_fetch_add(&timed->next_band, 1)) < timed->bands)
            run_band(timer, band);
        timer->end_s = gf_now();
        pthread_barrier_wait(&timed->barrier);
        if (!timer->index)
            end_run(timed);
        pthread_barrier_wait(&timed->barrier);
    }
    return NULL;
}

static enum gf_status open_timer(struct timer *timer, struct gf_error *error)
{
    const struct gf_stage *const stage = timer->timed->subject->stage;
    const struct gf_filter *const filter = stage->filter;
    if (timer->timed->subject->counts)
        return gf_histogram_alloc(&timer->histogram, gf_stage_statistic(stage), stage->in, error);
    timer->scratch_bytes =
        filter->cpu_scratch ? filter->cpu_scratch(stage, timer->timed->band_rows) : 0;
    timer->scratch = gf_pages_alloc(timer->scratch_bytes);
    return timer->scratch ? GF_OK : gf_fail_memory(error);
}

/* Closes a timer. `sum` is the histogram to which its counts are added, or NULL. */
static void close_timer(struct timer *timer, struct gf_histogram *sum)
{
    const struct gf_histogram *const own = &timer->histogram;
    for (size_t i = 0; sum && own->count && i < gf_histogram_counters(own); i++)
        sum->count[i] += own->count[i];
    free(own->count);
    gf_pages_free(timer->scratch, timer->scratch_bytes);
}

/* Runs the timers. Timer 0 is the calling thread. If a thread cannot be started, there are fewer
 * timers. */
static void run_timers(struct timed_runs *timed, struct timer *timer)
{
    int started = 1;
    pthread_mutex_lock(&timed->start);
    while (started < timed->threads &&
           !pthread_create(&timer[started].thread, NULL, timer_main, &timer[started]))
        started++;
    timed->timer = timer;
    timed->timers = started;
    pthread_barrier_init(&timed->barrier, NULL, (unsigned)started);
    pthread_mutex_unlock(&timed->start);
    timer_main(&timer[0]);
    for (int i = 1; i < started; i++)
        pthread_join(timer[i].thread, NULL);
    pthread_barrier_destroy(&timed->barrier);
}

/* Returns the rows of a band. A band has about a megabyte, as in the CPU backend, and each thread
 * gets at least two bands. */
static int band_rows(const struct gf_image *image, int threads)
{
    const int height = image->format.height;
    const size_t rows = BAND_BYTES / gf_row_bytes(image->format);
    const int most = (height + 2 * threads - 1) / (2 * threads);
    return rows < 1 ? 1 : rows > (size_t)most ? most : (int)rows;
}

enum gf_status gf_compare_cpu_time(const struct gf_compare_subject *subject, int threads,
                                   double budget_s, const struct gf_image *out,
                                   struct gf_histogram *histogram, struct gf_timing *timing,
                                   struct gf_error *error)
{
    const struct gf_image *const cut = subject->counts ? subject->in : out;
    struct timed_runs timed = {.subject = subject,
                               .in = gf_image_view(subject->in),
                               .threads = threads < THREADS_MAX ? threads : THREADS_MAX,
                               .band_rows = band_rows(cut, threads),
                               .budget_s = budget_s,
                               .start = PTHREAD_MUTEX_INITIALIZER};
    struct timer *const timer = calloc((size_t)timed.threads, sizeof *timer);
    GF_ALLOCATED(timer, error);
    if (!subject->counts)
        timed.out = gf_image_view(out);
    timed.bands = (cut->format.height + timed.band_rows - 1) / timed.band_rows;
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < timed.threads; i++) {
        timer[i] = (struct timer){.timed = &timed, .index = i};
        status = open_timer(&timer[i], error);
    }
    if (!status)
        run_timers(&timed, timer);
    for (int i = 0; i < timed.threads; i++)
        close_timer(&timer[i], status ? NULL : histogram);
    free(timer);
    *timing = gf_timing_of(timed.seconds, timed.runs);
    return status;
}

/* ---- the rows without a GPU ---- */

static double difference_of(const struct gf_compare_subject *subject, const struct gf_image *out,
                            const struct gf_histogram *histogram)
{
    if (subject->counts)
        return gf_histogram_difference(histogram, subject->histogram, false);
    const struct gf_view found = gf_image_view(out), expected = gf_image_view(subject->out);
    return gf_view_difference(&found, &expected);
}

static enum gf_status add_cpu_row(const struct gf_compare_setup *setup,
                                  const struct gf_compare_subject *subject, bool intrinsics,
                                  int threads, const struct gf_image *out,
                                  struct gf_histogram *histogram, struct gf_compare_group *group,
                                  struct gf_error *error)
{
    char name[sizeof group->row->name];
    snprintf(name, sizeof name, "%s%d thread%s", intrinsics ? "" : "no intrinsics, ", threads,
             threads == 1 ? "" : "s");
    struct gf_compare_row *const row = empty_row(group, name);
    GF_ALLOCATED(row, error);
    if (out->data)
        memset(out->data, 0xa5, out->pitch * (size_t)out->format.height);
    if (histogram->count)
        memset(histogram->count, 0, gf_histogram_counters(histogram) * sizeof *histogram->count);
    row->summary = intrinsics ? "the widest vectors that the processor has"
                              : "without the filter's hand-written vector instructions";
    row->chosen = intrinsics && threads == setup->threads;
    gf_cpu_allow_intrinsics(intrinsics);
    const enum gf_status status =
        gf_compare_cpu_time(subject, threads, setup->budget_s, out, histogram, &row->warm, error);
    gf_cpu_allow_intrinsics(true);
    if (!status)
        row->difference = difference_of(subject, out, histogram);
    return status;
}

/* Adds rows for 1, 2, 4 ... and all threads. Rows without intrinsics have only one and all threads;
 * a stage without intrinsics has no such rows. */
enum gf_status gf_compare_cpu_rows(const struct gf_compare_setup *setup,
                                   const struct gf_compare_subject *subject,
                                   struct gf_compare_group *group, struct gf_error *error)
{
    struct gf_image out = {0};
    struct gf_histogram histogram = {0};
    const struct gf_stage *const stage = subject->stage;
    const bool has_intrinsics = !subject->counts && stage->filter->cpu_intrinsics;
    const int all = setup->threads;
    enum gf_status status =
        subject->counts
            ? gf_histogram_alloc(&histogram, gf_stage_statistic(stage), stage->in, error)
            : gf_image_alloc(&out, subject->out->format, error);
    for (int intrinsics = !has_intrinsics; intrinsics <= 1; intrinsics++) {
        for (int threads = 1; !status && threads < all; threads = intrinsics ? 2 * threads : all)
            status =
                add_cpu_row(setup, subject, intrinsics, threads, &out, &histogram, group, error);
        GF_THEN(status,
                add_cpu_row(setup, subject, intrinsics, all, &out, &histogram, group, error));
    }
    group->naive = group->rows ? 0 : -1;
    free(histogram.count);
    gf_image_free(&out);
    return status;
}

/* ---- the variants on a device ---- */

/* Each variant runs once, and its result is compared with the CPU's. Then its kernels are
 * inspected, and it is timed with a warm and with a cold cache. */

enum { POISON = 0xa5 };

/* The group that is being measured, with its whole pictures on the device. */
struct variants {
    const struct gf_compare_setup *setup;
    const struct gf_compare_subject *subject;
    struct gf_compare_group *group;
    struct gf_buffer_pool buffers; /* the buffers of the pictures on the device */
    struct gf_placement in, out;   /* the pictures on the device */
    struct gf_image result;        /* downloaded */
    struct gf_histogram counted;   /* downloaded */
    bool pinned_in, pinned_result;
};

static size_t image_bytes(const struct gf_image *image)
{
    return image->pitch * (size_t)(image->format.height - 1) + gf_row_bytes(image->format);
}

static enum gf_status copy(const struct variants *v, bool up, const struct gf_image *image,
                           const struct gf_placement *place, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = v->setup->backend->calls;
    const struct gf_view host = gf_image_view(image);
    GF_TRY(up ? calls->upload(v->setup->lane, &place->view, &host, error)
              : calls->download(v->setup->lane, &host, &place->view, error));
    return calls->wait(v->setup->lane, error);
}

/* Overwrites the result on the device, so that the result of an earlier variant is not taken for
 * this variant's. */
static enum gf_status poison(struct variants *v, struct gf_error *error)
{
    memset(v->result.data, POISON, v->result.pitch * (size_t)v->result.format.height);
    return copy(v, true, &v->result, &v->out, error);
}

static enum gf_status check_picture(struct variants *v, const struct gf_stage_work *work,
                                    struct gf_compare_row *row, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = v->setup->backend->calls;
    enum gf_status status = poison(v, error);
    GF_THEN(status, gf_stage_work_run(v->setup->lane, work, error));
    GF_THEN(status, calls->wait(v->setup->lane, error));
    GF_THEN(status, copy(v, false, &v->result, &v->out, error));
    const struct gf_view found = gf_image_view(&v->result),
                         expected = gf_image_view(v->subject->out);
    if (!status)
        row->difference = gf_view_difference(&found, &expected);
    if (!status && row->difference > 0)
        row->spot = gf_compare_spot_make(&found, &expected);
    return status;
}

static enum gf_status check_histogram(struct variants *v, const struct gf_stage_work *work,
                                      struct gf_compare_row *row, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = v->setup->backend->calls;
    memset(v->counted.count, 0, gf_histogram_counters(&v->counted) * sizeof *v->counted.count);
    GF_TRY(gf_stage_work_run(v->setup->lane, work, error));
    GF_TRY(calls->wait(v->setup->lane, error));
    GF_TRY(calls->statistic_take(v->setup->lane, &v->counted, error));
    row->difference = gf_histogram_difference(&v->counted, v->subject->histogram,
                                              gf_stage_marks_extremes(work->stage));
    return GF_OK;
}

static enum gf_status time_runs(const struct variants *v, const struct gf_stage_work *work,
                                bool cold, int runs, struct gf_timing *timing,
                                struct gf_error *error)
{
    double seconds[GF_TIMING_RUNS_MAX];
    GF_TRY(v->setup->backend->calls->time(v->setup->lane, work, cold, runs, seconds, error));
    *timing = gf_timing_of(seconds, runs);
    return GF_OK;
}

/* Times a row. The time of one cold run determines the number of cold and of warm runs. */
static enum gf_status time_row(const struct variants *v, const struct gf_stage_work *work,
                               struct gf_compare_row *row, struct gf_error *error)
{
    if (!v->setup->backend->calls->time)
        return GF_OK;
    enum gf_status status = time_runs(v, work, true, 1, &row->cold, error);
    const int runs = gf_timing_runs(row->cold.median_s, v->setup->budget_s);
    GF_THEN(status, time_runs(v, work, false, runs, &row->warm, error));
    if (!status && runs > 1)
        status = time_runs(v, work, true, runs, &row->cold, error);
    return status;
}

static enum gf_status measure_row(struct variants *v, const struct gf_stage_work *work,
                                  struct gf_compare_row *row, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = v->setup->backend->calls;
    GF_TRY(work->counts ? check_histogram(v, work, row, error)
                        : check_picture(v, work, row, error));
    if (calls->inspect)
        GF_TRY(calls->inspect(v->setup->lane, work, row->kernel, GF_COMPARE_KERNELS, &row->kernels,
                              error));
    return time_row(v, work, row, error);
}

/* Loads the constants of this variant, which may differ from those of other variants. */
static enum gf_status load_constants(const struct variants *v, struct gf_stage *stage,
                                     const void **constants, struct gf_error *error)
{
    struct gf_backend *const backend = v->setup->backend;
    stage->constants = NULL;
    stage->constants_size = 0;
    GF_TRY(gf_stage_prepare(stage, error));
    return backend->calls->load(backend, NULL, stage, constants, error);
}

/* Measures the row with the variant's constants and scratch memory, or with an empty histogram. */
static enum gf_status prepare_and_measure_row(struct variants *v, struct gf_stage *stage,
                                              struct gf_compare_row *row, struct gf_error *error)
{
    struct gf_backend *const backend = v->setup->backend;
    const struct gf_backend_calls *const calls = backend->calls;
    struct gf_stage_work work = {
        .stage = stage, .in = v->in.view, .out = v->out.view, .counts = v->subject->counts};
    enum gf_status status = work.counts ? calls->statistic_open(v->setup->lane, stage, error)
                                        : load_constants(v, stage, &work.constants, error);
    const size_t scratch = work.counts || status ? 0 : calls->scratch(stage, stage->out.height);
    if (scratch && !(work.scratch = calls->alloc(backend, scratch)))
        status = gf_fail(error, GF_ERROR_DEVICE_MEMORY, "no device memory for its scratch");
    GF_THEN(status, measure_row(v, &work, row, error));
    if (work.scratch)
        calls->release(backend, work.scratch, scratch);
    if (work.constants)
        calls->unload(backend, work.constants);
    if (work.counts)
        calls->statistic_close(v->setup->lane);
    else
        gf_stage_release(stage);
    return status;
}

/* Adds the row of a variant. If the variant cannot run here, or not on this picture, the row says
 * why. */
static enum gf_status add_row(struct variants *v, const struct gf_variant *variant,
                              const char *name, bool chosen, struct gf_error *error)
{
    struct gf_stage stage = *v->subject->stage;
    struct gf_error why = {0};
    struct gf_compare_row *const row = empty_row(v->group, name);
    GF_ALLOCATED(row, error);
    stage.variant = variant;
    row->summary = variant->summary;
    row->tolerance = v->subject->counts ? 0 : gf_variant_tolerance(variant, stage.out.bits);
    row->chosen = chosen;
    const char *const refused = variant->refuses ? variant->refuses(&stage) : NULL;
    if (refused) {
        snprintf(row->refused, sizeof row->refused, "%s", refused);
        return GF_OK;
    }
    const enum gf_status status = prepare_and_measure_row(v, &stage, row, &why);
    if (status == GF_ERROR_UNAVAILABLE || status == GF_ERROR_DEVICE_MEMORY) {
        snprintf(row->refused, sizeof row->refused, "%.159s", why.text);
        return GF_OK;
    }
    if (status && error)
        *error = why;
    return status;
}

/* Whether the variant belongs to this group. Some variants of a filter with a histogram count it,
 * the others run the stage. */
static bool belongs(const struct variants *v, const struct gf_variant *variant)
{
    return v->subject->counts ? variant->count != NULL : variant->launch || !variant->count;
}

/* Returns the variant that a chain runs without variant=. For counting it is the counter that all
 * filters share; if the filter's list lacks it, it is the first variant. */
static const struct gf_variant *usual(const struct variants *v)
{
    const struct gf_filter *const filter = gf_stage_variants(v->subject->stage);
    struct gf_stage plain = *v->subject->stage;
    const struct gf_variant *variant;
    plain.variant = NULL;
    for (int i = 0; v->subject->counts && (variant = gf_filter_variant_at(filter, i)); i++) {
        if (variant->count && variant->count == gf_stage_counter(&plain))
            return variant;
    }
    return gf_filter_variant_at(filter, 0);
}

/* Adds the rows of all variants. The naive variant has the name "naive"; if no variant has that
 * name, it is the second. */
static enum gf_status add_rows(struct variants *v, struct gf_error *error)
{
    const struct gf_filter *const filter = gf_stage_variants(v->subject->stage);
    const struct gf_variant *const first = usual(v), *const asked = v->subject->stage->variant;
    const struct gf_variant *const chosen = asked && belongs(v, asked) ? asked : first;
    enum gf_status status = GF_OK;
    if (first)
        status =
            add_row(v, first, belongs(v, first) ? first->name : "default", first == chosen, error);
    const struct gf_variant *variant;
    for (int i = 0; !status && (variant = gf_filter_variant_at(filter, i)); i++) {
        if (variant != first && belongs(v, variant))
            status = add_row(v, variant, variant->name, variant == chosen, error);
    }
    v->group->naive = v->group->rows > 1 ? 1 : -1;
    for (int i = 0; i < v->group->rows; i++) {
        if (!strcmp(v->group->row[i].name, "naive"))
            v->group->naive = i;
    }
    return status;
}

static enum gf_status open_pictures(struct variants *v, struct gf_error *error)
{
    struct gf_backend *const backend = v->setup->backend;
    const struct gf_compare_subject *const subject = v->subject;
    gf_buffer_pool_open(&v->buffers, backend);
    GF_TRY(gf_placement_alloc(&v->buffers, subject->in->format, true, &v->in, error));
    if (!subject->counts)
        GF_TRY(gf_placement_alloc(&v->buffers, subject->out->format, true, &v->out, error));
    if (!subject->counts)
        GF_TRY(gf_image_alloc(&v->result, subject->out->format, error));
    if (subject->counts)
        GF_TRY(gf_histogram_alloc(&v->counted, gf_stage_statistic(subject->stage),
                                  subject->in->format, error));
    v->pinned_in =
        backend->calls->pin(backend, subject->in->data, image_bytes(subject->in)) == GF_PINNED;
    if (v->result.data)
        v->pinned_result =
            backend->calls->pin(backend, v->result.data, image_bytes(&v->result)) == GF_PINNED;
    return copy(v, true, subject->in, &v->in, error);
}

static void close_pictures(struct variants *v)
{
    struct gf_backend *const backend = v->setup->backend;
    if (v->pinned_in)
        backend->calls->unpin(backend, v->subject->in->data);
    if (v->pinned_result)
        backend->calls->unpin(backend, v->result.data);
    gf_buffer_pool_close(&v->buffers);
    gf_image_free(&v->result);
    free(v->counted.count);
}

/* If the device has too little memory for the picture, one row says so. */
enum gf_status gf_compare_device_rows(const struct gf_compare_setup *setup,
                                      const struct gf_compare_subject *subject,
                                      struct gf_compare_group *group, struct gf_error *error)
{
    struct variants v = {.setup = setup, .subject = subject, .group = group};
    struct gf_error why = {0};
    enum gf_status status = open_pictures(&v, &why);
    GF_THEN(status, add_rows(&v, &why));
    close_pictures(&v);
    if (status == GF_ERROR_DEVICE_MEMORY) {
        struct gf_compare_row *const row = empty_row(group, "all");
        GF_ALLOCATED(row, error);
        snprintf(row->refused, sizeof row->refused, "%.159s", why.text);
        return GF_OK;
    }
    if (status && error)
        *error = why;
    return status;
}
