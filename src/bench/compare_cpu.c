/* A stage on the CPU, timed on a number of threads: the picture is cut into bands which the threads
 * take, as the CPU backend's lanes do. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "bench/compare.h"
#include "bench/plain.h"
#include "pixel/histogram.h"

enum { BAND_BYTES = 1 << 20, THREADS_MOST = 1024 };

struct crew {
    const struct gf_compare_case *what;
    const struct gf_filter *filter; /* whose entries run */
    bool plain;
    struct gf_view in, out;
    int threads, band_rows, bands;
    double budget_s;
    struct member *member;
    int members;          /* that were started */
    atomic_int next;      /* band */
    pthread_mutex_t gate; /* held until the barrier is there */
    pthread_barrier_t barrier;
    bool done;
    double seconds[GF_TIMING_RUNS_MAX + 1];
    int runs, wanted;
};

struct member {
    struct crew *crew;
    pthread_t thread;
    int index;
    void *scratch;
    size_t scratch_bytes;
    struct gf_histogram histogram;
    double begin_s, end_s; /* of its part of a run */
};

static struct gf_view whole(const struct gf_image *image)
{
    return (struct gf_view){.data = image->data,
                            .pitch = image->pitch,
                            .format = image->format,
                            .rows = image->format.height};
}

static struct gf_view part(const struct gf_view *view, int first, int rows)
{
    struct gf_view band = *view;
    band.data = gf_view_row(view, first);
    band.y = first;
    band.rows = rows;
    return band;
}

static void do_band(const struct member *member, int b)
{
    const struct crew *const crew = member->crew;
    const struct gf_stage *const stage = crew->what->stage;
    const int height = crew->what->counts ? crew->in.rows : crew->out.rows;
    const int first = b * crew->band_rows;
    const int rows = first + crew->band_rows > height ? height - first : crew->band_rows;
    struct gf_histogram histogram = member->histogram;
    if (!crew->what->counts) {
        const struct gf_view band = part(&crew->out, first, rows);
        crew->filter->cpu(stage, &crew->in, &band, member->scratch);
        return;
    }
    const struct gf_view band = part(&crew->in, first, rows);
    (crew->plain ? gf_plain_histogram_add : gf_histogram_add)(&band, gf_stage_statistic(stage),
                                                              &histogram);
}

static size_t histogram_bytes(const struct gf_histogram *histogram)
{
    return (size_t)histogram->channels * (size_t)histogram->bins * sizeof *histogram->count;
}

/* From the first member's beginning to the last one's end: whoever is woken late, where there are
 * fewer processors than threads, may find that the others have done it all. */
static double run_seconds(const struct crew *crew)
{
    double begin_s = crew->member[0].begin_s, end_s = crew->member[0].end_s;
    for (int i = 1; i < crew->members; i++) {
        begin_s = fmin(begin_s, crew->member[i].begin_s);
        end_s = fmax(end_s, crew->member[i].end_s);
    }
    return end_s - begin_s;
}

/* By the first member, while the others wait: notes a run and says whether there is another. The
 * first run warms caches and pages up, and counts only where it takes all the time there is. */
static void end_run(struct crew *crew)
{
    const double seconds = run_seconds(crew);
    if (!crew->wanted) {
        crew->wanted = gf_timing_runs(seconds, crew->budget_s);
        if (crew->wanted > 1) {
            atomic_store(&crew->next, 0);
            return;
        }
    }
    crew->seconds[crew->runs++] = seconds;
    crew->done = crew->runs == crew->wanted;
    atomic_store(&crew->next, 0);
}

static void *member_main(void *argument)
{
    struct member *const member = argument;
    struct crew *const crew = member->crew;
    pthread_mutex_lock(&crew->gate);
    pthread_mutex_unlock(&crew->gate);
    while (!crew->done) {
        if (member->histogram.count)
            memset(member->histogram.count, 0, histogram_bytes(&member->histogram));
        pthread_barrier_wait(&crew->barrier);
        int b;
        member->begin_s = gf_now();
        while ((b = atomic_fetch_add(&crew->next, 1)) < crew->bands)
            do_band(member, b);
        member->end_s = gf_now();
        pthread_barrier_wait(&crew->barrier);
        if (!member->index)
            end_run(crew);
        pthread_barrier_wait(&crew->barrier);
    }
    return NULL;
}

static enum gf_status open_member(struct member *member, struct gf_error *error)
{
    const struct gf_compare_case *const what = member->crew->what;
    const struct gf_filter *const filter = member->crew->filter;
    if (what->counts) {
        const enum gf_statistic statistic = gf_stage_statistic(what->stage);
        member->histogram =
            (struct gf_histogram){.channels = gf_statistic_channels(statistic, what->stage->in),
                                  .bins = 1 << what->stage->in.bits};
        member->histogram.count = calloc(1, histogram_bytes(&member->histogram));
        return member->histogram.count ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    }
    member->scratch_bytes =
        filter->cpu_scratch ? filter->cpu_scratch(what->stage, member->crew->band_rows) : 0;
    member->scratch = gf_pages_alloc(member->scratch_bytes);
    return member->scratch ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
}

static void close_member(struct member *member, struct gf_histogram *sum)
{
    const struct gf_histogram *const own = &member->histogram;
    for (size_t i = 0; sum && own->count && i < histogram_bytes(own) / sizeof *own->count; i++)
        sum->count[i] += own->count[i];
    free(own->count);
    gf_pages_free(member->scratch, member->scratch_bytes);
}

/* The calling thread is the first member. Where a thread cannot be started there are fewer; nobody
 * passes the gate before it is known how many. */
static void run_members(struct crew *crew, struct member *member)
{
    int started = 1;
    pthread_mutex_lock(&crew->gate);
    while (started < crew->threads &&
           !pthread_create(&member[started].thread, NULL, member_main, &member[started]))
        started++;
    crew->member = member;
    crew->members = started;
    pthread_barrier_init(&crew->barrier, NULL, (unsigned)started);
    pthread_mutex_unlock(&crew->gate);
    member_main(&member[0]);
    for (int i = 1; i < started; i++)
        pthread_join(member[i].thread, NULL);
    pthread_barrier_destroy(&crew->barrier);
}

/* Bands of about a megabyte, as the CPU backend's, and two at least for each thread. */
static int band_rows(const struct gf_image *image, int threads)
{
    const int height = image->format.height;
    const size_t rows = BAND_BYTES / gf_row_bytes(image->format);
    const int most = (height + 2 * threads - 1) / (2 * threads);
    return rows < 1 ? 1 : rows > (size_t)most ? most : (int)rows;
}

enum gf_status gf_compare_cpu_time(const struct gf_compare_case *what, bool plain, int threads,
                                   double budget_s, const struct gf_image *out,
                                   struct gf_histogram *histogram, struct gf_timing *times,
                                   struct gf_error *error)
{
    const struct gf_image *const cut = what->counts ? what->in : out;
    struct crew crew = {.what = what,
                        .filter = plain ? gf_plain_filter(what->stage->filter->name)
                                        : what->stage->filter,
                        .plain = plain,
                        .in = whole(what->in),
                        .threads = threads < THREADS_MOST ? threads : THREADS_MOST,
                        .band_rows = band_rows(cut, threads),
                        .budget_s = budget_s,
                        .gate = PTHREAD_MUTEX_INITIALIZER};
    struct member *const member = calloc((size_t)crew.threads, sizeof *member);
    if (!member)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    if (!what->counts)
        crew.out = whole(out);
    crew.bands = (cut->format.height + crew.band_rows - 1) / crew.band_rows;
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < crew.threads; i++) {
        member[i] = (struct member){.crew = &crew, .index = i};
        status = open_member(&member[i], error);
    }
    if (!status)
        run_members(&crew, member);
    for (int i = 0; i < crew.threads; i++)
        close_member(&member[i], status ? NULL : histogram);
    free(member);
    *times = gf_timing_of(crew.seconds, crew.runs);
    return status;
}

/* ---- the rows without a GPU ---- */

static double difference_of(const struct gf_compare_case *what, const struct gf_image *out,
                            const struct gf_histogram *histogram)
{
    return what->counts ? gf_compare_histograms(histogram, what->histogram, false)
                        : gf_compare_images(out, what->out);
}

static enum gf_status add_cpu_row(const struct gf_bench *bench, const struct gf_compare_case *what,
                                  bool plain, int threads, const struct gf_image *out,
                                  struct gf_histogram *histogram, struct gf_compare_group *group,
                                  struct gf_error *error)
{
    char name[sizeof group->row->name];
    snprintf(name, sizeof name, "%s, %d thread%s", plain ? "scalar" : "vector", threads,
             threads == 1 ? "" : "s");
    struct gf_compare_row *const row = gf_compare_add_row(group, name);
    if (!row)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    if (out->data)
        memset(out->data, 0xa5, out->pitch * (size_t)out->format.height);
    if (histogram->count)
        memset(histogram->count, 0, histogram_bytes(histogram));
    row->summary = plain ? "compiled without vector instructions"
                         : "the widest vectors that the processor has";
    row->chosen = !plain && threads == bench->threads;
    const enum gf_status status = gf_compare_cpu_time(what, plain, threads, bench->budget_s, out,
                                                      histogram, &row->warm, error);
    if (!status)
        row->difference = difference_of(what, out, histogram);
    return status;
}

/* 1, 2, 4 ... and all; each way alone and with all threads is enough of the scalar one. */
enum gf_status gf_compare_cpu_rows(const struct gf_bench *bench, const struct gf_compare_case *what,
                                   struct gf_compare_group *group, struct gf_error *error)
{
    struct gf_image out = {0};
    struct gf_histogram histogram = {0};
    enum gf_status status = GF_OK;
    if (what->counts) {
        histogram = *what->histogram;
        histogram.count = calloc(1, histogram_bytes(&histogram));
        if (!histogram.count)
            return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    } else {
        status = gf_image_alloc(&out, what->out->format, error);
    }
    const int all = bench->threads;
    for (int plain = 1; plain >= 0; plain--) {
        for (int threads = 1; !status && threads < all; threads = plain ? all : 2 * threads)
            status = add_cpu_row(bench, what, plain, threads, &out, &histogram, group, error);
        if (!status)
            status = add_cpu_row(bench, what, plain, all, &out, &histogram, group, error);
    }
    group->naive = group->rows ? 0 : -1;
    free(histogram.count);
    gf_image_free(&out);
    return status;
}
