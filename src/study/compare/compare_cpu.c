/* Times a stage on the CPU. The picture is divided into bands, which the threads take one after the
 * other, as the CPU backend's lanes do. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/pages.h"
#include "study/compare/compare.h"
#include "pixel/histogram/histogram.h"
#include "selftest/difference.h"

enum { BAND_BYTES = 1 << 20, THREADS_MAX = 1024 };

/* The runs of one stage, which are repeated on the same threads. */
struct timed_runs {
    const struct gf_compare_subject *subject;
    struct gf_view in, out;
    int threads, band_rows, bands;
    double budget_s;
    struct worker *worker;
    int workers; /* the number of threads that could be started */
    atomic_int next_band;
    pthread_mutex_t start; /* held until `workers` and the barrier are set */
    pthread_barrier_t barrier;
    bool done;
    double seconds[GF_TIMING_RUNS_MAX + 1];
    int runs, wanted;
};

struct worker {
    struct timed_runs *timed;
    pthread_t thread;
    int index;
    void *scratch;
    size_t scratch_bytes;
    struct gf_histogram histogram;
    double begin_s, end_s; /* the times of the thread's part of the current run */
};

static void run_band(struct worker *worker, int band)
{
    const struct timed_runs *const timed = worker->timed;
    const struct gf_stage *const stage = timed->subject->stage;
    const struct gf_view *const cut = timed->subject->counts ? &timed->in : &timed->out;
    const int first = band * timed->band_rows, end = first + timed->band_rows;
    const struct gf_view view =
        gf_view_part(cut, (struct gf_rows){first, end < cut->rows ? end : cut->rows});
    if (timed->subject->counts)
        gf_histogram_add(&view, gf_stage_statistic(stage), &worker->histogram);
    else
        stage->filter->cpu(stage, &timed->in, &view, worker->scratch);
}

/* Returns the time from the beginning of the first worker to the end of the last. Any worker may be
 * the first or the last: with more threads than processors, a thread that wakes up late may find no
 * band left. */
static double run_seconds(const struct timed_runs *timed)
{
    double begin_s = timed->worker[0].begin_s, end_s = timed->worker[0].end_s;
    for (int i = 1; i < timed->workers; i++) {
        begin_s = fmin(begin_s, timed->worker[i].begin_s);
        end_s = fmax(end_s, timed->worker[i].end_s);
    }
    return end_s - begin_s;
}

/* Ends a run. Worker 0 calls it while the others wait. The first run warms up caches and pages; it
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

static void *worker_main(void *argument)
{
    struct worker *const worker = argument;
    struct timed_runs *const timed = worker->timed;
    pthread_mutex_lock(&timed->start);
    pthread_mutex_unlock(&timed->start);
    while (!timed->done) {
        struct gf_histogram *const histogram = &worker->histogram;
        if (histogram->count)
            memset(histogram->count, 0,
                   gf_histogram_counters(histogram) * sizeof *histogram->count);
        pthread_barrier_wait(&timed->barrier);
        int band;
        worker->begin_s = gf_now();
        while ((band = atomic_fetch_add(&timed->next_band, 1)) < timed->bands)
            run_band(worker, band);
        worker->end_s = gf_now();
        pthread_barrier_wait(&timed->barrier);
        if (!worker->index)
            end_run(timed);
        pthread_barrier_wait(&timed->barrier);
    }
    return NULL;
}

static enum gf_status open_worker(struct worker *worker, struct gf_error *error)
{
    const struct gf_stage *const stage = worker->timed->subject->stage;
    const struct gf_filter *const filter = stage->filter;
    if (worker->timed->subject->counts)
        return gf_histogram_alloc(&worker->histogram, gf_stage_statistic(stage), stage->in, error);
    worker->scratch_bytes =
        filter->cpu_scratch ? filter->cpu_scratch(stage, worker->timed->band_rows) : 0;
    worker->scratch = gf_pages_alloc(worker->scratch_bytes);
    return worker->scratch ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
}

/* Closes a worker. `sum` is the histogram to which its counts are added, or NULL. */
static void close_worker(struct worker *worker, struct gf_histogram *sum)
{
    const struct gf_histogram *const own = &worker->histogram;
    for (size_t i = 0; sum && own->count && i < gf_histogram_counters(own); i++)
        sum->count[i] += own->count[i];
    free(own->count);
    gf_pages_free(worker->scratch, worker->scratch_bytes);
}

/* Runs the workers. Worker 0 is the calling thread. If a thread cannot be started, there are fewer
 * workers. */
static void run_workers(struct timed_runs *timed, struct worker *worker)
{
    int started = 1;
    pthread_mutex_lock(&timed->start);
    while (started < timed->threads &&
           !pthread_create(&worker[started].thread, NULL, worker_main, &worker[started]))
        started++;
    timed->worker = worker;
    timed->workers = started;
    pthread_barrier_init(&timed->barrier, NULL, (unsigned)started);
    pthread_mutex_unlock(&timed->start);
    worker_main(&worker[0]);
    for (int i = 1; i < started; i++)
        pthread_join(worker[i].thread, NULL);
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
    struct worker *const worker = calloc((size_t)timed.threads, sizeof *worker);
    if (!worker)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    if (!subject->counts)
        timed.out = gf_image_view(out);
    timed.bands = (cut->format.height + timed.band_rows - 1) / timed.band_rows;
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < timed.threads; i++) {
        worker[i] = (struct worker){.timed = &timed, .index = i};
        status = open_worker(&worker[i], error);
    }
    if (!status)
        run_workers(&timed, worker);
    for (int i = 0; i < timed.threads; i++)
        close_worker(&worker[i], status ? NULL : histogram);
    free(worker);
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
    struct gf_compare_row *const row = gf_compare_add_row(group, name);
    if (!row)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
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
        if (!status)
            status = add_cpu_row(setup, subject, intrinsics, all, &out, &histogram, group, error);
    }
    group->naive = group->rows ? 0 : -1;
    free(histogram.count);
    gf_image_free(&out);
    return status;
}
