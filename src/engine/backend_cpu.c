/* The CPU backend: a lane is the thread that calls it, memory is host memory, and the work is done
 * when a call returns. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/buffers.h"
#include "base/threads/times.h"
#include "chain/plan.h"
#include "chain/chain.h"
#include "engine/backend.h"
#include "pixel/float_stage.h"
#include "pixel/histogram/histogram.h"

/* The functions of this backend leave parameters unused, because nothing is copied or queued. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

struct cpu_backend {
    struct gf_backend base;
    int threads;
};

struct cpu_lane {
    struct gf_lane base;
    enum gf_statistic statistic;
    bool extremes; /* only the lowest and the highest level that occur are counted, not all */
    struct gf_histogram histogram;
    double mark_s;
};

static enum gf_status cpu_ready(struct gf_backend *backend, struct gf_error *error)
{
    return GF_OK;
}

static void cpu_close(struct gf_backend *backend)
{
    free(backend);
}

static void cpu_describe(struct gf_backend *backend, char *text, size_t size)
{
    const int threads = ((struct cpu_backend *)backend)->threads;
    snprintf(text, size, "cpu, %d thread%s", threads, threads == 1 ? "" : "s");
}

static void *cpu_alloc(struct gf_backend *backend, size_t size)
{
    return gf_pages_alloc(size);
}

static void cpu_release(struct gf_backend *backend, void *memory, size_t size)
{
    gf_pages_free(memory, size);
}

static uint64_t cpu_free_bytes(struct gf_backend *backend)
{
    return UINT64_MAX;
}

static enum gf_pinning cpu_pin(struct gf_backend *backend, void *data, size_t size)
{
    return GF_NOT_PINNED;
}

static void cpu_unpin(struct gf_backend *backend, void *data)
{
}

static enum gf_status cpu_lane_open(struct gf_backend *backend, int index, struct gf_spans *spans,
                                    struct gf_lane **lane, struct gf_error *error)
{
    GF_NEW(struct cpu_lane, opened, error);
    opened->base = (struct gf_lane){.backend = backend, .spans = spans, .index = index};
    *lane = &opened->base;
    return GF_OK;
}

static void cpu_statistic_close(struct gf_lane *lane)
{
    struct cpu_lane *const cpu = (struct cpu_lane *)lane;
    free(cpu->histogram.count);
    cpu->histogram.count = NULL;
}

static void cpu_lane_close(struct gf_lane *lane)
{
    cpu_statistic_close(lane);
    free(lane);
}

static void cpu_lane_enter(struct gf_lane *lane)
{
}

static enum gf_status cpu_load(struct gf_backend *backend, struct gf_lane *lane,
                               const struct gf_stage *stage, const void **constants,
                               struct gf_error *error)
{
    *constants = stage->constants;
    return GF_OK;
}

static void cpu_unload(struct gf_backend *backend, const void *constants)
{
}

static size_t cpu_scratch(const struct gf_stage *stage, int rows)
{
    return gf_stage_cpu_scratch(stage, rows);
}

/* Returns how many rows of the result take about 50 ms (part_ns) by the filter's declaration.
 * Between two such parts the time limit is checked, so that a slow filter can be stopped within a
 * band. */
static int rows_at_once(const struct gf_stage *stage)
{
    const double part_ns = 50e6, ns = gf_stage_ns(stage, NULL, NULL, false);
    const double rows = part_ns * stage->out.height / (ns > 1 ? ns : 1);
    return rows < 1 ? 1 : rows > INT_MAX / 2 ? INT_MAX / 2 : (int)rows;
}

static enum gf_status cpu_run(struct gf_lane *lane, const struct gf_stage *stage,
                              const void *constants, const struct gf_view *in,
                              const struct gf_view *out, void *scratch, struct gf_error *error)
{
    const int some = gf_time_limit() > 0 ? rows_at_once(stage) : out->rows;
    for (int done = 0; done < out->rows; done += some) {
        const int y = out->y + done, left = out->rows - done;
        const struct gf_view part =
            gf_view_part(out, (struct gf_rows){y, y + (some < left ? some : left)});
        gf_stage_cpu(stage, in, &part, scratch);
        GF_TRY(gf_time_check(error));
    }
    return GF_OK;
}

static enum gf_status cpu_statistic_open(struct gf_lane *lane, const struct gf_stage *stage,
                                         struct gf_error *error)
{
    struct cpu_lane *const cpu = (struct cpu_lane *)lane;
    cpu->statistic = gf_stage_statistic(stage);
    cpu->extremes = gf_stage_needs_extremes(stage);
    return gf_histogram_alloc(&cpu->histogram, cpu->statistic, stage->in, error);
}

static enum gf_status cpu_statistic_add(struct gf_lane *lane, const struct gf_view *view,
                                        struct gf_error *error)
{
    struct cpu_lane *const cpu = (struct cpu_lane *)lane;
    if (!cpu->extremes || !gf_histogram_mark_extremes(view, cpu->statistic, &cpu->histogram))
        gf_histogram_add(view, cpu->statistic, &cpu->histogram);
    return GF_OK;
}

static enum gf_status cpu_statistic_take(struct gf_lane *lane, struct gf_histogram *into,
                                         struct gf_error *error)
{
    const struct cpu_lane *const cpu = (struct cpu_lane *)lane;
    const size_t count = (size_t)into->channels * (size_t)into->bins;
    for (size_t i = 0; i < count; i++)
        into->count[i] += cpu->histogram.count[i];
    return GF_OK;
}

static void cpu_mark(struct gf_lane *lane, enum gf_span_kind kind, int stage, size_t bytes)
{
    struct cpu_lane *const cpu = (struct cpu_lane *)lane;
    if (!lane->spans->on)
        return;
    const double now = gf_now();
    if (kind != GF_SPAN_START)
        gf_spans_add(lane->spans, kind, stage, lane->index, cpu->mark_s, now, bytes);
    cpu->mark_s = now;
}

static enum gf_status cpu_wait(struct gf_lane *lane, struct gf_error *error)
{
    return GF_OK;
}

struct copying {
    size_t size;             /* bytes that each thread copies */
    pthread_mutex_t begun;   /* held until all threads exist, so that their number is known */
    pthread_barrier_t ready; /* passed when all threads have their memory */
};
struct copier {
    struct copying *all;
    pthread_t thread;
    /* When the second copy began and ended; the first one only makes pages present. */
    struct gf_interval time;
    size_t bytes; /* bytes read and written */
};

static void *copy(void *argument)
{
    struct copier *const copier = argument;
    const size_t size = copier->all->size;
    unsigned char *const pages = gf_pages_alloc(2 * size);
    pthread_mutex_lock(&copier->all->begun);
    pthread_mutex_unlock(&copier->all->begun);
    if (pages)
        memcpy(pages + size, memset(pages, 1, size), size);
    pthread_barrier_wait(&copier->all->ready);
    copier->time.begin_s = gf_now();
    if (pages)
        memcpy(pages + size, pages, size);
    copier->time.end_s = gf_now();
    /* A byte of the copy is read, so that the compiler does not leave the copy out. */
    copier->bytes = pages && pages[2 * size - 1] ? 2 * size : 0;
    gf_pages_free(pages, 2 * size);
    return NULL;
}

/* Measures the bandwidth of memcpy() in all of the backend's threads at the same time, over more
 * memory than the caches hold. Read and written bytes both count. */
static void cpu_measure(struct gf_backend *backend, struct gf_profile *profile)
{
    enum { LEAST = 64 << 20, LEAST_OF_THREAD = 2 << 20 };
    const int threads = ((struct cpu_backend *)backend)->threads;
    const size_t part = LEAST / (size_t)threads;
    struct copying all = {.size = part > LEAST_OF_THREAD ? part : LEAST_OF_THREAD};
    struct copier *const copier = calloc((size_t)threads, sizeof *copier);
    struct gf_interval *const time = calloc((size_t)threads, sizeof *time);
    double bytes = 0;
    int started = 0;
    pthread_mutex_init(&all.begun, NULL);
    pthread_mutex_lock(&all.begun);
    while (copier && time && started < threads) {
        copier[started].all = &all;
        if (pthread_create(&copier[started].thread, NULL, copy, &copier[started]))
            break;
        started++;
    }
    if (started)
        pthread_barrier_init(&all.ready, NULL, (unsigned)started);
    pthread_mutex_unlock(&all.begun);
    for (int i = 0; i < started; i++) {
        pthread_join(copier[i].thread, NULL);
        time[i] = copier[i].time;
        bytes += (double)copier[i].bytes;
    }
    const double seconds = gf_intervals_union(time, (size_t)started);
    profile->device_copy_peak = seconds > 0 ? bytes / seconds : 0;
    if (started)
        pthread_barrier_destroy(&all.ready);
    pthread_mutex_destroy(&all.begun);
    free(time);
    free(copier);
}

static const struct gf_backend_calls cpu_calls = {
    .unified = true,
    .band_bytes_least = 64 << 10,
    .band_bytes_most = 1 << 20,
    .ready = cpu_ready,
    .close = cpu_close,
    .describe = cpu_describe,
    .alloc = cpu_alloc,
    .release = cpu_release,
    .free_bytes = cpu_free_bytes,
    .pin = cpu_pin,
    .unpin = cpu_unpin,
    .lane_open = cpu_lane_open,
    .lane_close = cpu_lane_close,
    .lane_enter = cpu_lane_enter,
    .load = cpu_load,
    .unload = cpu_unload,
    .scratch = cpu_scratch,
    .run = cpu_run,
    .statistic_open = cpu_statistic_open,
    .statistic_add = cpu_statistic_add,
    .statistic_take = cpu_statistic_take,
    .statistic_close = cpu_statistic_close,
    .mark = cpu_mark,
    .wait = cpu_wait,
    .measure = cpu_measure,
};

enum gf_status gf_backend_cpu_open(int threads, struct gf_backend **backend, struct gf_error *error)
{
    GF_NEW(struct cpu_backend, opened, error);
    *opened = (struct cpu_backend){.base.calls = &cpu_calls, .threads = threads};
    *backend = &opened->base;
    return GF_OK;
}
